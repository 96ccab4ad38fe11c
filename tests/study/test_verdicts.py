"""Verdicts of `denoc paper` are made of the numbers beside them: other numbers have another verdict."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from denoc.study.comparison.compared import ADAPTIVE, FIXED, Run, RunSetting
from denoc.study.papers import hanzaki_2009, saha_1999, saha_counts, saha_smoothness
from denoc.study.papers import khan_verdicts as verdicts


def ran(value=1e3, ended="done", accuracy=0.01, **numbers):
    """A run with these numbers."""
    run = Run(RunSetting("penalty", "k", value, FIXED, accuracy), ended, reached=3.0)
    for name, x in numbers.items():
        setattr(run, name, x)
    return run


def test_runs_that_break_off():
    runs = [ran(1e3), ran(1e4, "failed")]
    assert verdicts.khan_broken_runs_verdict(("", "fails"))(runs) == "Broken off: k = 10000, exactly as in the thesis."
    assert verdicts.khan_broken_runs_verdict(("fails", "fails"))(runs).endswith(
        "in the thesis: k = 1000 and k = 10000, so that isn't confirmed."
    )
    assert verdicts.khan_broken_runs_verdict(("", ""))([ran(), ran()]) == "Broken off: none, exactly as in the thesis."


def test_errors_and_evaluations_over_a_parameter():
    runs = [ran(error_max=2.0, evaluations=10), ran(error_max=4.0, evaluations=20)]
    assert verdicts.khan_springs_verdict(runs).startswith("The errors are large whatever the constant, 2 to 4 rad")
    assert "the evaluations grow with it: 10 and 20." in verdicts.khan_springs_verdict(runs)
    assert "don't always grow" in verdicts.khan_springs_verdict(runs[::-1])
    assert "not large" in verdicts.khan_springs_verdict([ran(error_max=1e-3), ran(error_max=1.0)])
    given_up = ran(error_max=9.0, evaluations=30, ended="failed")
    assert verdicts.khan_springs_verdict([*runs, given_up]).endswith("10, 20 and more than 30.")
    assert "4 rad" in verdicts.khan_springs_verdict([*runs, given_up])  # the errors of complete runs


@pytest.mark.parametrize(
    "largest, now, words",
    [
        (2.0, 34.0, "holds if it means the largest torque"),
        (34.0, 2.0, "holds if it means the torque at that instant"),
        (2.0, 12.0, "both within"),
        (20.0, 120.0, "neither within"),
        (1e-8, 1e-7, "No correction of the thesis' size"),
    ],
)
def test_corrections(largest, now, words):
    run = ran(correction=largest, correction_now=now)
    assert words in verdicts.khan_correction_verdict(15.0)(run)
    assert (verdicts.khan_tiny_correction_verdict(run).startswith("The correction is extremely small")) == (now < 1e-3)


def test_stiffness_steps_and_orders():
    assert verdicts.khan_projection_verdict(4000.0)([ran(stiffness=100.0), ran(stiffness=30.0)]).startswith(
        "The model isn't stiff"
    )
    assert verdicts.khan_projection_verdict(400.0)([ran(stiffness=100.0), ran(stiffness=30.0)]).startswith(
        "The model is stiff"
    )
    few = [ran(evaluations=310, steps=50), ran(evaluations=330, steps=52)]
    assert "are near" in verdicts.khan_evaluations_beside_steps((301, 319))(few)
    assert "not near" in verdicts.khan_evaluations_beside_steps((101, 119))(few)
    errors = {"J1.q": np.array([0.0, 1e-6, 1e-3, 1e-2])}
    two = [ran(errors=errors, error_max=1e-2), ran(errors=errors, error_max=1e-6, accuracy=0.001)]
    assert verdicts.khan_errors_against_steps(two) == (
        "The errors grow along the motion, as the thesis describes, and shrink with the power 4.00 of the step: "
        "up to 0.01 and 1e-06 rad."
    )
    flat = {"J1.q": np.full(4, 1e-2)}
    assert "don't grow" in verdicts.khan_errors_against_steps([replace(run, errors=flat) for run in two])


def rated(name, run, cost=1e-3, exchanges=1):
    return verdicts.Rated(name, ("high",) * 7, run, cost, exchanges)


def test_ratings():
    def made(**legs):
        numbers = {"evaluations": 400, "stiffness": 17.0, "error_max": 1e-3} | legs
        cost = numbers.pop("cost", 5e-3)
        return verdicts.khan_ratings_verdict(
            [
                rated("springs", ran(evaluations=9000, stiffness=4000.0, error_max=5.0)),
                rated("kept", ran(evaluations=400, stiffness=30.0, error_max=1e-3)),
                rated("legs", ran(**numbers), cost, 16),
            ]
        )

    assert made().startswith(
        "Confirmed by the numbers: efficiency, stiffness, cost, distribution; not confirmed: accuracy."
    )
    assert "not confirmed: cost, accuracy." in made(cost=1e-3)
    assert "not confirmed: none." in made(error_max=1e-5)
    assert "not confirmed: efficiency, accuracy." in made(evaluations=8000)


def test_choices_of_coordinates():
    words = verdicts.khan_choices_verdict(83, [np.inf, 0.5, 3.0])
    assert "Of 83 choices" in words
    assert "1 of them are lost, and the others step over the place, 0.5 to 3 rad off: that may be what" in words
    assert "that isn't what happened" in verdicts.khan_choices_verdict(83, [0.5])


def test_methods_on_what_rolls():
    def made(**springs):
        numbers = {"evaluations": 9000, "error_max": 0.2} | springs
        kept = [ran(evaluations=n, error_max=1e-9) for n in (900, 1300)]
        return verdicts.khan_nonholonomic_verdict({"two-carriers-carry": [*kept, ran(**numbers)]})

    assert "DeNOC takes 900 evaluations and the projection 1300" in made()
    assert "take 10 times as many at" in made()
    assert made().endswith("The methods stand in the order that they have where nothing rolls.")
    assert "another order" in made(evaluations=1000)
    assert "another order" in made(error_max=1e-8)


def test_axes_and_falls():
    curve = [np.array([0.0, 3.0])]
    assert "fill 50 % of it" in saha_1999.saha_axis_fill(curve, (-2.0, 4.0), "torques")
    assert saha_1999.saha_axis_fill(curve, (-2.0, 2.0), "torques").endswith("leave the axis of the figure.")

    def fallen(angle):
        t = np.array([0.0, 0.5])
        return SimpleNamespace(t=t, table={"joint2.q": np.array([1.57, angle]), "joint3.q": np.array([0.0, 0.4])})

    assert "joint 2 turns beyond 90 deg, as it says" in saha_1999.saha_fall_direction(fallen(2.5))
    assert "mirror image" in saha_1999.saha_fall_direction(fallen(0.5))


def test_counts_beside_published_ones():
    published = [SimpleNamespace(at=lambda n: (100 * n, 50 * n)), SimpleNamespace(at=lambda n: (90 * n, 60 * n))]

    def words(multiplications, additions):
        counts = {"ours: multiplications": multiplications, "ours: additions": additions}
        table = {kind: np.full(6, x, dtype=float) for kind, x in counts.items()}
        return saha_counts.saha_cheapest_count(table, "ours", published, 6)

    assert words(500, 290).endswith(
        "290 additions, fewer of both than the least of the published O(n) rows (540 and 300)."
    )
    assert "300 additions, fewer multiplications only than" in words(500, 300)
    assert "290 additions, fewer additions only than" in words(541, 290)
    assert "300 additions, fewer of neither than" in words(541, 300)
    assert (saha_counts.saha_count_of_all(5, 5), saha_counts.saha_count_of_all(4, 5)) == ("all 5", "only 4 of 5")


def test_smoothness():
    """What is said of errors and evaluations changes with them."""

    def said(errors, loose, tight):
        case = saha_smoothness.SmoothnessCase(
            12,
            1e6,
            2e9,
            dict(zip(saha_smoothness.WAYS, errors)),
            {1e-8: dict(zip(saha_smoothness.WAYS, loose)), 1e-11: dict(zip(saha_smoothness.WAYS, tight))},
        )
        return saha_smoothness.saha_smoothness_verdict([case])

    even = said((1e-10, 1e-8, 1e-8), (100, 100, 102), (100, 300, 200))
    assert "is 100 to 100 times smaller" in even
    assert "At rtol 1e-08 all three need the same evaluations" in even
    assert even.endswith("At rtol 1e-11 O(n) needs fewer evaluations in 1 of 1 cases, from a condition of 2e+09 on.")
    assert "the others don't end" in said((1e-10, 1e-8, 1e-8), (9, 9, 9), (100, saha_smoothness.MOST, 3500))
    other = said((1e-10, 1e-10, 1e-10), (100, 50, 50), (100, 100, 100))
    assert "is up to 1 times smaller" in other
    assert "At rtol 1e-08 O(n) needs more evaluations in 1 of 1 cases." in other


def test_rounding_of_dense_factors_grows_with_the_condition():
    """Beside longer floats, O(n) keeps the digits that Cholesky's and LU factors lose on a chain with a heavy end."""
    robot = saha_smoothness.saha_smoothness_chain(8, 1e6)
    q, qd = np.random.default_rng(1).uniform(-1.0, 1.0, (2, 6, 8))
    right = saha_smoothness.saha_exact_accelerations(robot, q, qd)
    off = {
        name: max(abs(way(robot, *state) - x).max() / abs(x).max() for *state, x in zip(q, qd, right))
        for name, way in saha_smoothness.WAYS.items()
    }
    assert off["O(n)"] < 1e-8
    assert min(off["Cholesky"], off["LU"]) > 5 * off["O(n)"]


def test_savings():
    names = (hanzaki_2009.TREE, hanzaki_2009.INVERSE, hanzaki_2009.FORWARD)
    operations = dict(zip(names, (1.1, 0.93, 0.88)))
    times = dict.fromkeys((*names, hanzaki_2009.CALL, hanzaki_2009.WHOLE), 0.95) | {hanzaki_2009.MATRICES: 0.9}
    words = hanzaki_2009.hanzaki_verdict(0.9, operations, times, 0.4)
    assert "take 10 % more of the operations and save 5 % of the time" in words
    assert words.endswith("0.90 of that with three joints, about the paper's saving.")
    assert hanzaki_2009.hanzaki_verdict(0.9, operations, times | {hanzaki_2009.MATRICES: 1.2}, 0.4).endswith(
        "a smaller saving."
    )
    assert "save nothing of the operations" in hanzaki_2009.hanzaki_verdict(0.9, dict.fromkeys(names, 1.0), times, 0.4)


def test_a_setting_of_a_run_is_named_by_its_parameter():
    assert verdicts.khan_panel_name(RunSetting("denoc", "", None, ADAPTIVE, 1e-3)) == "rtol 0.001"
