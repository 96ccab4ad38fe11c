"""The papers' tables and figures: every one is made, agrees with the independent numbers, and says what it is worth."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import closed
import references
from comparing import off
from denoc.errors import InputError
from denoc.machine.program import count_operations
from denoc.mechanics.quantities import program_of_tree_quantity
from denoc.study.papers import hanzaki_2009, saha_counts
from denoc.study.papers.exhibits import EXHIBITS, exhibit
from denoc.study.papers.reproduction import PAPERS, exhibit_ranges

PRINTED_BOTH = {name: n for name, (_, _, n, _, _) in saha_counts.PRINTED_CROSSINGS.items()}
BREAK_OFF = (
    *(
        f"khan-2002-{one}"
        for one in ("fig-4.3", "fig-4.4", "fig-4.5", "fig-4.6", "fig-4.8", "fig-4.9", "table-5.1", "section-5.2")
    ),
    "saha-overview-smoothness",
)
FOUND = json.loads((Path(__file__).resolve().parents[2] / "docs" / "papers.json").read_text(encoding="utf-8"))
# what is found there hangs on times, or on the last bits
LOOSE = (
    "hanzaki-2009-table-1",
    "khan-2002-table-5.1",
    "khan-2002-fig-4.8",
    "khan-2002-fig-4.10",
    "saha-overview-smoothness",
)


@cache
def made(name):
    return EXHIBITS[name].make()


def rows_at(table, t):
    """The table's rows at these instants."""
    found = [int(np.argmin(abs(table["t"] - x))) for x in t]
    assert abs(table["t"][found] - t).max() <= 1e-12 * max(1.0, t[-1])
    return found


def says_the_same(one, other):
    """The same words, and numbers that differ by no more than processors do."""
    number = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
    here, there = ([float(x) for x in number.findall(text)] for text in (one, other))
    close = len(here) == len(there) and np.allclose(here, there, rtol=0.05, atol=1e-9)
    return number.sub("", one) == number.sub("", other) and close


def test_the_pages_know_what_is_found_of_each():
    assert list(FOUND) == list(EXHIBITS)
    assert says_the_same("all 3 turn back 40 times", "all 3 turn back 41 times")
    assert not says_the_same("all 3 turn back 40 times", "all 3 turn back 50 times")
    assert not says_the_same("3 fail", "3 end")


@pytest.mark.parametrize("name", EXHIBITS)
@pytest.mark.sampled(36)
def test_every_entry_is_made_and_drawn(name):
    one, it = EXHIBITS[name], made(name)
    x, *columns = it.table.values()
    assert (np.diff(x) > 0).all()
    assert all(len(column) == len(x) for column in columns)
    for column in columns:  # of a run that breaks off the rest is missing, and nothing else
        known = np.isfinite(column)
        assert known[0]
        assert known[: known.sum()].all()
        assert known.all() or name in BREAK_OFF
    assert it.rows or it.ranges
    assert it.verdict.endswith(".")
    assert name in LOOSE or says_the_same(it.verdict, FOUND[name]), "`make found` renews docs/papers.json and the pages"
    assert all(len(row) == len(it.heads) for row in it.rows)
    figure = one.figure(it)
    assert " ".join(figure.get_suptitle().split()).startswith(one.title[:40])
    assert len(figure.axes) == len(it.panels)
    for axes, panel in zip(figure.axes, it.panels):
        assert axes.get_xlabel() == (panel.across or it.across)
        assert axes.get_ylabel() == panel.shown
        assert [line.get_label() for line in axes.get_lines()]
        for low_or_high, limit in zip((panel.low, panel.high), axes.get_ylim()):
            assert low_or_high is None or limit == low_or_high
    assert figure.axes[-1].get_legend() is not None


@pytest.mark.parametrize("name", EXHIBITS)
def test_every_entry_says_what_it_is(name):
    one = EXHIBITS[name]
    assert one.paper in PAPERS
    assert one.id == name == f"{one.paper}-{one.what.lower().replace('. ', '-').replace(' ', '-')}"
    assert one.caption
    assert not one.caption.endswith(".")
    assert 60 < len(one.claim) < 320
    assert one.claim.endswith(".")
    assert "|" not in one.claim + one.caption  # they stand in a table


def test_ids_are_found_or_told():
    assert exhibit("saha-1999-fig-5").what == "Fig. 5"
    with pytest.raises(InputError, match="did you mean"):
        exhibit("saha-1999-fig-55")


# ---- serial arms


@pytest.mark.parametrize(
    "name, case, section",
    [
        ("saha-1999-fig-5", "planar3r", "trajectory"),
        ("saha-1999-fig-6", "planar3r", "free_fall"),
        ("saha-1999-fig-8", "stanford_s001", "trajectory"),
        ("saha-1999-fig-9", "stanford_s001", "free_fall"),
        ("saha-overview-fig-6", "puma", "trajectory"),
        ("saha-overview-fig-7", "puma", "free_fall"),
        ("saha-overview-fig-8", "stanford_s000", "trajectory"),
        ("saha-overview-fig-9", "stanford_s000", "free_fall"),
    ],
)
def test_serial_arms(name, case, section):
    table, right = made(name).table, references.case(case)[section]
    falls = section == "free_fall"
    t = np.array([x for x in right["t"] if x <= table["t"][-1] + 1e-9])
    k = rows_at(table, t)
    found = np.column_stack([values[k] for name, values in table.items() if name != "t"])
    expected = np.array(right["q" if falls else "tau"])[: len(t)]
    if falls and not (expected[0] == found[0]).all():
        pytest.fail("the fall starts elsewhere")
    assert off(found, expected, 1.0 if falls else None) <= (1e-5 if falls else 1e-11)


# ---- mechanisms with loops


@pytest.mark.parametrize(
    "name, mechanism, case, columns",
    [
        ("saha-overview-fig-12", "five_bar", "inverse_dynamics_P_below", {}),
        ("saha-overview-fig-13", "five_bar", "inverse_dynamics_P_below", {}),
        ("saha-overview-fig-14", "five_bar", "free_fall_P_below", {}),
        ("saha-overview-fig-20", "carpet_scraper", "knee_left_gravity_minus_Y", {"knee-left.tau": "II-1"}),
        ("saha-overview-fig-20", "carpet_scraper", "knee_right_gravity_minus_Y", {"knee-right.tau": "II-1"}),
        ("khan-2002-fig-4.2", "three_rrr", "inverse_dynamics_gravity_minus_Y", {}),
    ],
)
@pytest.mark.sampled(8)
def test_planar_mechanisms(name, mechanism, case, columns):
    _, right = closed.one_case(mechanism, case)
    table = made(name).table
    t = np.array([x for x in right["t"] if x <= (1.2 if "fall" in case else np.inf)])
    k = rows_at(table, t)
    for column, values in table.items():
        if column == "t" or (columns and column not in columns):
            continue
        joint, kind = column.rsplit(".", 1)
        expected = right["q"][joint] if kind == "q" else right["actuator_torque"][columns.get(column, joint)]
        assert off(values[k], expected[: len(t)]) <= (1e-7 if "fall" in case else 1e-9)


def test_the_five_bar_is_singular_where_the_reference_says():
    """The paper says after about 1.4 s."""
    row = made("saha-overview-fig-14").rows[0]
    assert row[1:] == ("after about 1.4 s", "at 1.3667 s")


def test_rssr_motion_and_multipliers():
    _, right = closed.one_case("rssr", "hooke")
    motion, forces = made("hanzaki-2009-fig-7").table, made("hanzaki-2009-fig-9").table
    k = rows_at(motion, np.array(right["t"]))
    assert off(motion["joint4.q"][k], right["theta"]) <= 1e-9
    e = np.column_stack([motion[f"joint2.e{n}"][k] for n in range(4)])
    expected = np.array(right["euler_parameters_link2_wrt_link1"])
    signs = np.sign((e * expected).sum(axis=1))[:, None]
    assert off(signs * e, expected) <= 1e-9
    assert off(forces["joint1.tau"][k], right["tau"]) <= 1e-9
    found = np.column_stack([forces[f"lambda32.{axis}"][k] for axis in "xyz"])
    assert off(found, np.array(right["force_B_in_frame2"])) <= 1e-9
    assert off(forces["tau32.x"][k], right["tau_32x"], 0.03) <= 1e-9


def test_the_rack_force():
    _, right = closed.one_case("suspension_steering", "flat_road")
    table = made("hanzaki-2009-fig-12").table
    k = [n for n, t in enumerate(right["t"]) if abs(table["t"] - t).min() < 1e-12]
    rows = rows_at(table, np.array(right["t"])[k])
    assert len(k) > 5
    assert off(table["rack.tau"][rows], np.array(right["rack_force"])[k]) <= 1e-9


# ---- tables


def test_table_1_gives_the_printed_counts():
    *published, ours = made("saha-overview-table-1").rows
    assert len(published) == 7
    assert all(row[3] == row[4] for row in published)
    assert ours[1:3] == ("78n - 97", "69n - 95")


def test_table_2_gives_the_printed_counts():
    rows = {row[0]: row for row in made("saha-overview-table-2").rows}
    assert not [row for row in rows.values() if "not what" in row[4]]
    assert rows["Brandle et al."][5].startswith("15;")  # the paper prints 14
    for name, (n, *_) in saha_counts.PRINTED_CROSSINGS.items():
        assert name == "Brandle et al." or rows[name][5].startswith(f"{n};")
        assert (rows[name][5].split("; ")[1] == str(PRINTED_BOTH[name])) == (name not in ("Valasek", "Brandle et al."))
    assert rows["denoc, O(n) against its own dense way"][5] == "7; 9"
    verdict = made("saha-overview-table-2").verdict
    assert "of the printed n* 4 of 5 follow from them, of the n+ 3." in verdict
    assert (
        "doesn't hold: there 2 of 5 take fewer multiplications than the O(n^3) row, and 0 fewer additions." in verdict
    )
    assert "from n* = 10 on by multiplications and from n+ = 13 on by additions, too." in verdict


def test_our_dense_way_is_dearer_by_the_bias_alone():
    """The published cubic row leaves less for it than any inverse dynamics of the papers takes."""
    n = 12
    matrix = np.subtract(saha_counts.saha_counted("forward, dense")(n), saha_counts.saha_counted("bias")(n))
    left = np.subtract(saha_counts.CUBIC.at(n), matrix)
    assert (matrix < saha_counts.CUBIC.at(n)).all()
    assert all((left < row.at(n)).all() for row in saha_counts.INVERSE)
    assert (
        f"leaves the published row {left[0]} and {left[1]} for the bias, less than"
        in saha_counts.saha_dense_explained()
    )


def test_tables_of_1999_give_the_printed_counts():
    """All but one: 480 additions are printed where the formula gives 475."""
    rows = {row[0]: row for row in made("saha-1999-table-1").rows}
    assert rows["RIDIM (Saha, 1999)"][3:] == ("676 M 527 A", "676 M 527 A", "1396 M 1109 A")
    assert made("saha-1999-table-1").verdict.startswith("The formulas give all 7 printed counts.")
    rows = {row[0]: row for row in made("saha-1999-table-2").rows}
    assert rows["Saha (1999), proposed"][3:] == ("871 M 797 A; 2077 M 1955 A", "871 M 797 A", "2077 M 1955 A")
    verdict = made("saha-1999-table-2").verdict
    assert verdict.startswith(
        "The formulas give only 5 of 6 printed counts; other than its formula has Walker and Orin"
    )
    assert "printed 633 M 480 A, computed 633 M 475 A." in verdict


def test_euler_parameters_cost_about_as_much_with_the_loop():
    """Operations, not seconds: those are for the terminal.  Forward dynamics was at 1.02 before masses moved."""
    it = made("hanzaki-2009-table-1")
    ratios = {row[0]: row[3] for row in it.rows}
    assert ratios["paper: dynamics, 1000 steps: CPU time"] == "0.90"
    assert float(ratios["denoc: operations, inverse dynamics of the tree"]) > 1
    assert float(ratios["denoc: operations, forward dynamics with the loop"]) == pytest.approx(0.97, abs=0.02)
    assert float(ratios["denoc: operations, inverse dynamics with the loop"]) == pytest.approx(1.08, abs=0.02)
    assert all(0.2 < float(ratio) < 5 for name, ratio in ratios.items() if ratio and "CPU time" not in name)
    assert all(float(ratio) > 0 for name, ratio in ratios.items() if "CPU time" in name)
    assert off(it.table["euler-parameters.tau"], it.table["three-revolutes.tau"]) <= 1e-12


def test_three_joints_with_links_between_are_larger_in_matrices_only():
    """The paper's argument: 30 rows of N_l instead of 18; the recursion leaves massless links out, and costs the same."""
    three, joints = hanzaki_2009.hanzaki_rssr(hanzaki_2009.THREE), hanzaki_2009.hanzaki_linked_rssr()
    assert len(joints.links) == len(three.links) + 2
    assert count_operations(program_of_tree_quantity(joints, "idyn").results()) == count_operations(
        program_of_tree_quantity(three, "idyn").results()
    )
    rows = {row[0]: row[1:] for row in made("hanzaki-2009-table-1").rows}
    assert rows["denoc: sizes of N_l and N_d"][:2] == ("18 × 18, 18 × 5", "30 × 30, 30 × 5")


# ---- closure methods


def said(name):
    return {row[0]: row[1:] for row in made(name).rows}


def numbers(text):
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?(?:e[+-]\d+)?", text)]


def test_penalty_is_inaccurate_and_breaks_off_where_the_thesis_says():
    whole = [text for _, text in said("khan-2002-fig-4.5").values() if "evaluations, " in text and "broke" not in text]
    assert len(whole) == 1
    assert all(numbers(text)[-1] > 1 for text in whole)
    broken = [name for name, (_, ours) in said("khan-2002-fig-4.5").items() if "broke off" in ours]
    assert broken == ["k = 10000", "k = 100000", "k = 1e+06"]  # those that fail in the thesis
    assert made("khan-2002-fig-4.5").verdict.endswith("exactly as in the thesis.")


@pytest.mark.full
def test_panels_of_evaluations_and_rates():
    """Figs. 4.3e and 4.8b: over the spring constant, and what is not smooth."""
    it = made("khan-2002-fig-4.3")
    known = np.isfinite(it.table["evaluations"])
    assert it.table["power of ten of k"][known] == pytest.approx([3, 4, 5])
    assert it.table["evaluations"][known].tolist() == sorted(it.table["evaluations"][known])
    rows = said("khan-2002-fig-4.3")
    assert rows["tolerances"][1] == "rk45, rtol 0.001, atol 1e-05, steps of at most 0.06 s"
    rates = [made("khan-2002-fig-4.8").table[f"J{k}.q rate"] for k in (1, 2, 3)]
    assert max(np.isfinite(x).sum() for x in rates) < 60  # it is given up, and turns back in many of these rows
    assert numbers(made("khan-2002-fig-4.8").verdict)[-2] > 20


@pytest.mark.full
def test_denoc_needs_few_evaluations_and_no_correction():
    for row in made("khan-2002-fig-4.12").rows:
        assert numbers(row[-1])[0] < 500
        assert numbers(row[-1])[-1] < 0.01
    large, small = (numbers(row[-1])[-1] for row in made("khan-2002-fig-4.13").rows)
    assert large / small == pytest.approx(1e4, rel=0.1)  # fourth order
    for name in ("khan-2002-fig-4.11", "khan-2002-fig-4.14"):
        assert numbers(said(name)["correction, of the torque at that instant"][1])[0] < 1e-6
    largest, now = (numbers(row[-1])[0] for row in made("khan-2002-fig-4.7").rows[:2])
    assert 1 < largest < 15 < now < 50


@pytest.mark.full  # the runs of `docs/khan.csv` are looked at before a commit, too
def test_triangularization_stays_whole():
    counts = [numbers(row[-1])[0] for row in made("khan-2002-fig-4.9").rows]
    assert counts == sorted(counts)
    assert not [row for row in made("khan-2002-fig-4.10").rows if "broke off" in row[-1]]


@pytest.mark.full  # of what is compared here, the runs of `docs/khan.csv` are looked at before a commit, too
def test_ratings_beside_numbers():
    rows = {row[0]: row[1:] for row in made("khan-2002-table-5.1").rows}
    stiffness = {name: numbers(row[1])[-1] for name, row in rows.items() if numbers(row[1])}
    errors = {name: numbers(row[3])[-1] for name, row in rows.items() if numbers(row[3])}
    assert max(stiffness, key=stiffness.get) == max(errors, key=errors.get) == "penalty k = 100000"
    assert len(rows) == 5  # the thesis' five methods
    assert rows["denoc by legs"][4] == "medium; 16"  # four exchanges in each of four evaluations
    confirmed = made("khan-2002-table-5.1").verdict.split(";")[0]  # the cost is a time, which is the machine's
    assert all(word in confirmed for word in ("efficiency", "stiffness", "distribution"))


def test_the_least_time_counts():
    calls = []
    found = hanzaki_2009.hanzaki_timed(
        [{hanzaki_2009.WHOLE: lambda: calls.append("a")}, {hanzaki_2009.WHOLE: lambda: calls.append("b")}], rounds=3
    )
    assert "".join(calls) == "ababab"  # in turns
    assert set(found) == {hanzaki_2009.WHOLE}
    assert all(0 <= seconds < 1 for seconds in found[hanzaki_2009.WHOLE])


def test_ranges_tell_units_and_times():
    rows = exhibit_ranges(made("saha-1999-fig-5"))
    assert rows[0] == ("joint1.tau", "τ₁", "N m", "4.3458", "-1.8973 at 8.75 s", "4.3853 at 1.2 s", "-1.8933")
    assert not [row for row in exhibit_ranges(made("saha-1999-fig-8")) if re.search(r"e-1[5-9]|e-20", " ".join(row))]
