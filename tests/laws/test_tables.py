"""What joins the rows of a table, and what files that are no such tables are told."""

import re

import numpy as np
import pytest
from scipy.interpolate import BSpline

import denoc
from denoc.laws.csv_tables import Spline

T = np.linspace(0.0, 1.0, 11)
STEP = np.where(np.arange(11) < 5, 0.0, 1.0)
# the pressure in a cylinder over a turn: a sharp peak between two flat ends
INDICATOR = np.array([1, 1, 1, 1.1, 1.6, 5, 30, 12, 5, 3, 2, 1.4, 1, 1, 1.0])


def run(folder, interpolation, values=STEP, kind="forces"):
    """A run of the planar arm with a table, and what was warned of."""
    rows = zip(np.linspace(0.0, 1.0, len(values)), values)
    (folder / "table.csv").write_text("t,f\n" + "".join(f"{t},{f}\n" for t, f in rows))
    way = f", interpolation: {interpolation}" if interpolation else ""
    task = "simulate" if kind == "forces" else "inverse"
    (folder / "s.yaml").write_text(
        f"robot: planar3r\ntask: {task}\ntime: {{end: 1, step: 0.01}}\n"
        f"{kind}: {{joint1: {{law: table, file: table.csv, column: f{way}}}}}\n"
    )
    result = denoc.run(folder / "s.yaml")
    return result.table, [one for one in result.record["warnings"] if "table.csv" in one]


def test_the_overshoot_of_a_spline_at_a_step_is_warned_of_in_numbers(tmp_path):
    """A step to 1 gives 1.126, and more than that between the first rows, which are 0: the number is the torque's own."""
    table, (warning,) = run(tmp_path, "")
    assert table["joint1.tau"].max() - 1.0 == pytest.approx(0.126, abs=1e-3)
    largest = abs(table["joint1.tau"][:10]).max()
    assert warning.startswith("forces.joint1: between 0 and 0.1 s the spline through `f` of `table.csv`")
    assert float(warning.split(" by ")[1].split(" %")[0]) == pytest.approx(100 * largest, abs=0.2)
    assert "`interpolation: pchip` or `linear`" in warning


def test_the_overshoot_of_a_spline_through_a_peak_is_warned_of(tmp_path):
    """Through an indicator diagram the spline goes to pressures of the wrong sign."""
    table, (warning,) = run(tmp_path, "", INDICATOR)
    assert table["joint1.tau"].min() < -1.0
    assert "leaves the range of the rows around by" in warning


@pytest.mark.parametrize("interpolation", ["pchip", "linear"])
@pytest.mark.parametrize("values", [STEP, INDICATOR], ids=["step", "indicator"])
def test_the_others_stay_between_neighbours(tmp_path, interpolation, values):
    table, warnings = run(tmp_path, interpolation, values)
    assert not warnings
    t, tau = np.linspace(0.0, 1.0, 101), table["joint1.tau"]
    rows = np.linspace(0.0, 1.0, len(values))
    k = np.clip(np.searchsorted(rows, t, side="right") - 1, 0, len(rows) - 2)
    assert (tau >= np.minimum(values[k], values[k + 1]) - 1e-12).all()
    assert (tau <= np.maximum(values[k], values[k + 1]) + 1e-12).all()
    if interpolation == "linear":
        np.testing.assert_allclose(tau, np.interp(t, rows, values), atol=1e-12)


def test_smooth_rows_are_not_doubted(tmp_path):
    """A sine in 12 rows a period has its peaks between the rows, too."""
    assert not run(tmp_path, "", np.sin(2 * np.pi * np.linspace(0, 2, 25) + 0.1))[1]


@pytest.mark.parametrize("interpolation", ["spline", "pchip", "linear"])
def test_rates_are_derivatives(interpolation):
    curve = Spline(T, np.sin(3 * T) + STEP, interpolation)
    t, h = np.linspace(0.013, 0.987, 60), 1e-6
    (ahead, faster, _), (behind, slower, _), (_, rate, second) = curve(t + h), curve(t - h), curve(t)
    np.testing.assert_allclose((ahead - behind) / (2 * h), rate, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose((faster - slower) / (2 * h), second, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(curve(T)[0], np.sin(3 * T) + STEP, atol=1e-12)


def test_a_spline_of_few_rows_is_of_lower_degree():
    """Two rows make a line, three a parabola; pchip joins two rows by a line as well."""
    line, parabola = Spline(T[:2], T[:2]), Spline(T[:3], T[:3] ** 2)
    assert (line._curves[0].k, parabola._curves[0].k) == (1, 2)
    assert isinstance(line._curves[0], BSpline)
    np.testing.assert_allclose(Spline(T[:2], T[:2], "pchip")(0.05), (0.05, 1.0, 0.0), atol=1e-12)


def test_motions_say_what_their_accelerations_become(tmp_path):
    _, warnings = run(tmp_path, "pchip", np.sin(T), "motion")
    assert warnings == ["motion.joint1: accelerations jump at the rows of `table.csv`, which are joined by `pchip`"]
    with pytest.raises(denoc.InputError, match="linear") as refused:
        run(tmp_path, "linear", np.sin(T), "motion")
    assert "spline, pchip" in str(refused.value)
    assert not run(tmp_path, "spline", np.sin(T), "motion")[1]


@pytest.mark.parametrize(
    "text, said",
    {
        "0,0\n0.5,1\n1,1\n": ("no header", "such as `t,column1`"),
        "t;f\n0;0\n1;1\n": ("separated by semicolons", "put commas between the columns"),
        "t\tf\n0\t0\n1\t1\n": ("separated by tabs", "put commas between the columns"),
        "t;f\n0,0;0,5\n1,0;1,5\n": ("separated by semicolons", "decimals have a point"),
        "t,f\n0,0,0,5\n1,0,1,5\n": ("4 entries, the header has 2 names", "decimals have a point"),
        't,f\n"0,0","0,5"\n"1,0","1,5"\n': ("not a finite number", "decimals have a point"),
    }.items(),
    ids=["headerless", "semicolons", "tabs", "decimal commas", "more entries", "quoted commas"],
)
def test_other_files_are_told_what_to_do(tmp_path, text, said):
    (tmp_path / "table.csv").write_text(text)
    (tmp_path / "s.yaml").write_text(
        "robot: planar3r\ntask: simulate\ntime: {end: 1}\nforces: {joint1: {law: table, file: table.csv, column: f}}\n"
    )
    with pytest.raises(denoc.InputError) as refused:
        denoc.run(tmp_path / "s.yaml")
    for words in said:
        assert words in str(refused.value)


# ---- units in headers

MOTION = "robot: planar3r\ntask: inverse\ntime: {end: 1, step: 0.1}\nmotion: {joint1: {law: table, file: table.csv, column: %s}}"
FORCE = "robot: planar3r\ntask: simulate\ntime: {end: 1, step: 0.1}\nforces: {joint1: {law: table, file: table.csv, column: %s}}"
WRENCH = (
    "robot: planar3r\ntask: inverse\ntime: {end: 1, step: 0.1}\n"
    "wrenches: [{link: link3, force: [0, {law: table, file: table.csv, column: %s}, 0]}]"
)
LOOKED_UP = "robot: planar3r\ntask: simulate\ntime: {end: 1, step: 0.1}\nforces: {joint1: {law: lookup, file: table.csv, column: %s}}"
DRIVE = (
    "robot: slider-crank\ntask: simulate\ntime: {end: 1, step: 0.1}\ninitial: {crank: 1}\n"
    "drives: [{name: push, link: piston, along: [1, 0, 0], law: table, file: table.csv, column: %s}]"
)


def ran(folder, scenario, header, rows):
    (folder / "table.csv").write_text("\n".join([",".join(header), *(",".join(map(repr, row)) for row in rows)]))
    (folder / "s.yaml").write_text(scenario % f'"{header[-1]}"')
    return denoc.run(folder / "s.yaml")


@pytest.mark.parametrize(
    ("scenario", "column", "factor"),
    [
        (MOTION, "q (deg)", np.pi / 180),
        (MOTION, "q [deg]", np.pi / 180),
        (MOTION, "q(Degrees)", np.pi / 180),
        (MOTION, "q (°)", np.pi / 180),
        (MOTION, "q (turn)", 2 * np.pi),
        (MOTION, "q [rad]", 1.0),
        (FORCE, "tau (N·m)", 1.0),
        (FORCE, "tau [kN mm]", 1.0),
        (FORCE, "tau [mN.m]", 1e-3),
        (WRENCH, "f [kN]", 1e3),
        (LOOKED_UP, "tau (kN m)", 1e3),
        (DRIVE, "x (mm)", 1e-3),
    ],
)
def test_units_in_headers_are_those_of_their_columns(scenario, column, factor, tmp_path):
    """The same run as with the same numbers in SI, with a time in milliseconds; an angle that is looked up in degrees."""
    t = np.linspace(0.0, 1.0, 8)
    start = 0.1 * np.cos(1) + np.sqrt(0.3**2 - (0.1 * np.sin(1)) ** 2) if scenario is DRIVE else 0.0
    y = start + 0.01 * np.sin(3 * t) * t
    plain = ran(tmp_path, scenario, ["t", "y"], zip(t.tolist(), y.tolist()))
    time, unit = ("q (deg)", np.pi / 180) if scenario is LOOKED_UP else ("t (ms)", 1e-3)
    headed = ran(tmp_path, scenario, [time, column], zip((t / unit).tolist(), (y / factor).tolist()))
    assert not [words for words in headed.record["warnings"] if "unit" in words]
    for name in plain.table:
        one, other = plain.table[name], headed.table[name]
        np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9 * (1 + abs(one).max()), err_msg=name)
    assert max(abs(np.diff(headed.table[name])).max() for name in headed.table) > 1e-4


def test_a_column_is_found_with_and_without_its_unit(tmp_path):
    from denoc.laws.csv_tables import read_law_table_columns

    path = tmp_path / "table.csv"
    path.write_text("other,t [min],q (deg),q(1),v [rpm],x (-)\n9,0,0,7,60,5\n9,1,90,8,30,6\n")
    t, columns = read_law_table_columns(path, ["q", "q (deg)", "q(1)", "v", "x (-)"])
    np.testing.assert_allclose(t, [0, 60])
    np.testing.assert_allclose(columns[1], [np.pi / 2, np.pi / 2, 8, np.pi, 6])
    path.write_text("t,q (deg),q (rad),q\n0,0,0,1\n1,90,1,2\n")
    assert read_law_table_columns(path, ["q"])[1][1] == 2
    path.write_text("t,q (deg),q (rad)\n0,0,0\n1,90,1\n")
    with pytest.raises(denoc.DenocError, match="several columns of this name"):
        read_law_table_columns(path, ["q"])


@pytest.mark.parametrize(
    ("scenario", "header", "words"),
    [
        (MOTION, ["t", "q (grad)"], "the unit in this column's header can't be read: unknown name `grad`"),
        (MOTION, ["t", "q (mm)"], "doesn't fit: `mm` is a length; an angle"),
        (MOTION, ["t", "q (deg/s)"], "doesn't fit: `deg/s` is an angular rate"),
        (MOTION, ["t (deg)", "q"], "doesn't fit: `deg` is an angle; a time"),
        (FORCE, ["t", "tau (N)"], "doesn't fit: `N` is a force; a moment"),
        (WRENCH, ["t", "f (N m)"], "doesn't fit: `N m` is a moment; a force"),
        (DRIVE, ["t", "x (rad)"], "doesn't fit: `rad` is an angle; a length"),
    ],
)
def test_units_that_do_not_fit_are_refused(scenario, header, words, tmp_path):
    with pytest.raises(denoc.DenocError) as caught:
        ran(tmp_path, scenario, header, [(0.0, 0.1), (1.0, 0.2)])
    assert words in str(caught.value)
    assert f"found: `{next(name for name in header if '(' in name)}`" in str(caught.value)


def test_the_time_of_bare_angles_may_stand_anywhere(tmp_path):
    (tmp_path / "table.csv").write_text("q,t\n90,0\n0,1\n")
    (tmp_path / "s.yaml").write_text(MOTION % "q")
    assert any("90 are 14.3 turns" in words for words in denoc.run(tmp_path / "s.yaml").record["warnings"])


@pytest.mark.parametrize(
    ("scenario", "header", "warned"),
    [
        (
            MOTION,
            ["t", "q"],
            "motion.joint1.file: the column `q` has no unit, so it is in radians, and 90 are 14.3 turns",
        ),
        (MOTION, ["t", "q (rad)"], ""),
        (
            LOOKED_UP,
            ["q", "tau"],
            "forces.joint1: the column `q` has no unit, so it is in radians, and 90 are 14.3 turns",
        ),
        (LOOKED_UP, ["q (rad)", "tau"], ""),
        (FORCE, ["t", "tau"], ""),
    ],
)
def test_bare_angles_of_many_turns_are_warned_of(scenario, header, warned, tmp_path):
    warnings = ran(tmp_path, scenario, header, [(0.0, 0.0), (90.0, 90.0)]).record["warnings"]
    found = [words for words in warnings if "turns" in words]
    assert [words[: len(warned)] for words in found] == [warned] * bool(warned)


# ---- rates and accelerations beside positions

GIVEN = (
    "robot: planar3r\ntask: inverse\ntime: {end: 1, step: 0.25}\n"
    "motion: {joint1: {law: table, file: table.csv, column: q, rates: [qd]%s}}"
)


def given(folder, more, rows, header="t,q,qd,qdd"):
    (folder / "table.csv").write_text("\n".join([header, *(",".join(map(repr, row)) for row in rows)]))
    (folder / "s.yaml").write_text(GIVEN % more)
    return denoc.run(folder / "s.yaml")


@pytest.mark.parametrize("more", [", accelerations: [qdd]", ""])
def test_rates_and_accelerations_of_a_table_are_those_of_the_motion(tmp_path, more):
    """Few rows of a motion that no spline through its positions would find, and what RIDIM makes of them."""
    t = np.linspace(0, 1, 5)
    q, qd, qdd = np.sin(9 * t), 9 * np.cos(9 * t), -81 * np.sin(9 * t)
    table = given(tmp_path, more, np.column_stack([t, q, qd, qdd]).tolist()).table
    assert table["joint1.q"] == pytest.approx(q, abs=1e-12)
    assert table["joint1.qd"] == pytest.approx(qd, abs=1e-11)
    robot = denoc.load("planar3r")
    if more:
        assert table["joint1.qdd"] == pytest.approx(qdd, abs=1e-9)
        rest = np.zeros((5, 2))
        states = [np.column_stack([x, rest]) for x in (q, qd, qdd)]
        right = denoc.inverse(robot, *states)
        found = np.column_stack([table[f"joint{k}.tau"] for k in (1, 2, 3)])
        assert found == pytest.approx(right, abs=1e-9)


def test_a_curve_between_rows_with_rates_and_accelerations_is_smooth():
    """A polynomial of fifth degree is found again between any two rows, with all of its derivatives."""
    curve = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.7, -1.5, 0.4])
    t = np.array([0.0, 0.4, 1.5])
    spline = Spline(t, curve(t), slopes=[curve.deriv()(t), curve.deriv(2)(t)])
    x = np.linspace(0, 1.5, 31)
    for found, right in zip(spline(x), (curve, curve.deriv(), curve.deriv(2))):
        assert found == pytest.approx(right(x), abs=1e-11)


@pytest.mark.parametrize(
    ("more", "header", "words"),
    [
        (", accelerations: [qdd, q]", "t,q,qd,qdd", "`joint1` needs 1 column"),
        (", accelerations: [qddd]", "t,q,qd,qdd", "no such column"),
        (", interpolation: pchip", "t,q,qd,qdd", "`pchip` has rates of its own"),
        ("", "t,q,qd (rad),qdd", "the unit in this column's header doesn't fit"),
        (", accelerations: [qdd]", "t,q,qd,qdd (rad/s)", "the unit in this column's header doesn't fit"),
    ],
)
def test_wrong_rates_are_told(tmp_path, more, header, words):
    with pytest.raises(denoc.InputError, match=re.escape(words)):
        given(tmp_path, more, [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]], header)


def test_accelerations_need_rates(tmp_path):
    (tmp_path / "table.csv").write_text("t,q,qdd\n0,0,0\n1,0,0\n")
    (tmp_path / "s.yaml").write_text(GIVEN.replace("rates: [qd]%s", "accelerations: [qdd]"))
    with pytest.raises(denoc.InputError, match="need `rates` beside them"):
        denoc.run(tmp_path / "s.yaml")


def test_rates_have_units_and_a_warning_where_they_do_not_fit(tmp_path):
    t = np.linspace(0, 1, 11)
    rows = np.column_stack([t, t**2, np.degrees(2 * t), 0 * t + 2]).tolist()
    right = given(tmp_path, "", rows, "t,q,qd (deg/s),qdd")
    assert right.table["joint1.qd"] == pytest.approx(2 * right.t, abs=1e-12)
    assert not [words for words in right.record["warnings"] if "the rates in" in words]
    wrong = given(tmp_path, "", rows)
    assert [words for words in wrong.record["warnings"] if "the rates in `qd` of `table.csv` are off" in words]
