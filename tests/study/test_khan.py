"""Khan's penalty method on his nine coordinates: denoc, and an independent model of his equations, fail where his did."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import closed
import denoc
import khan_model
from comparing import off
from denoc.study.comparison.compared import ADAPTIVE, FIXED
from denoc.study.papers import khan_2002, khan_runs

STIFFNESSES = (1e3, 1e4, 1e5, 1e6)
FAILS = {0.01: [False, True, True, True], 0.001: [False, False, False, True]}  # thesis, section 4.1, Figs. 4.5 and 4.6
MOTION = {
    f"J{k + 1}": {"law": "cycloid", "from": float(x), "to": float(x + 2 * np.pi * turn), "over": 3}
    for k, (x, turn) in enumerate(zip(khan_model.STARTS, khan_model.TURNS))
}


@pytest.fixture(scope="module")
def torques():
    """The driving torques as a function of time, by the tree whose platform hangs on leg 1."""
    found = denoc.run({"robot": "three-rrr", "task": "inverse", "time": {"end": 3, "step": 0.005}, "motion": MOTION})
    return CubicSpline(found.t, np.column_stack([found.table[f"J{k}.tau"] for k in (1, 2, 3)]))


def test_the_free_platform_is_the_same_mechanism():
    """The torques of the independent numbers for the tree whose platform hangs on leg 1."""
    _, right = closed.one_case("three_rrr", "inverse_dynamics_gravity_minus_Y")
    found = denoc.run("three-rrr-platform-idyn")
    k = [int(np.argmin(abs(found.t - t))) for t in right["t"]]
    for joint, torque in right["actuator_torque"].items():
        assert off(found.table[f"{joint}.tau"][k], torque) <= 1e-9
    for joint in ("J4", "J5", "J6"):
        assert off(found.table[f"{joint}.q"][k], right["q"][joint]) <= 1e-9
    assert denoc.load("three-rrr-platform").nv == 9  # the thesis' number of coordinates


def test_the_independent_model_begins_at_the_thesis_configuration():
    q = khan_model.closed_start()
    assert q[6:] == pytest.approx([3.916, 0.728, 0.233], abs=6e-4)
    assert q[[1, 3, 5]] - q[[0, 2, 4]] == pytest.approx([-0.865, -2.102, -0.976], abs=6e-4)


@pytest.mark.parametrize("name", khan_model.TABLEAUS)
@pytest.mark.sampled(5)
def test_the_independent_model_fails_at_long_steps_where_the_thesis_did(name, torques):
    """Whichever of Simulink's integrators with fixed steps the thesis used, ode1 to ode5."""
    with np.errstate(all="ignore"):
        errors = khan_model.largest_errors(name, STIFFNESSES, 0.01, torques)
    assert list(np.isinf(errors)) == FAILS[0.01]


@pytest.mark.parametrize("name", khan_model.TABLEAUS)
@pytest.mark.sampled(5)
def test_the_independent_model_fails_at_short_steps_where_the_thesis_did(name, torques):
    with np.errstate(all="ignore"):
        errors = khan_model.largest_errors(name, STIFFNESSES, 0.001, torques)
    assert list(np.isinf(errors)) == FAILS[0.001]


@pytest.mark.parametrize("k, step", [(k, step) for step in FAILS for k in STIFFNESSES])
@pytest.mark.sampled(8)
def test_denoc_fails_where_the_thesis_did(k, step):
    """Where the stiffest eigenvalue is, too: it decides (the limit of the classical method is 2.785)."""
    run = khan_runs.khan_run(khan_runs.khan_penalty_setting(k, FIXED, step))
    fails = FAILS[step][STIFFNESSES.index(k)]
    assert (run.ended != "done") == fails
    assert (run.stiffness / 3.0 * step > 2.785) == fails


def test_which_choices_of_coordinates_become_singular():
    """Fig. 4.10, by the Jacobian in the thesis' own coordinates along the prescribed motion."""
    table = denoc.run("three-rrr-platform-idyn").table
    legs = [(table[f"J{k}.q"], table[f"J{k}.q"] + table[f"J{k + 3}.q"]) for k in (1, 2, 3)]
    q = np.column_stack([*(angle for leg in legs for angle in leg), *(table[f"P.q{k}"] for k in (3, 1, 2))])
    A = khan_model.constraints(q)[1]
    names = ("θ₁", "θ₄", "θ₂", "θ₅", "θ₃", "θ₆", "θ₇", "x₇", "y₇")
    right = {}
    for chosen in itertools.combinations(range(9), 3):
        d = np.linalg.det(np.delete(A, chosen, axis=2))
        begins, lasts = abs(d[0]) > 1e-9, (np.sign(d) == np.sign(d[0])).all()
        right[frozenset(names[k] for k in chosen)] = "never" if begins and lasts else "later" if begins else "at once"
    found = {
        frozenset(one.name.split(", ")): "at once"
        if not one.singular
        else "later"
        if one.singular < np.inf
        else "never"
        for one in khan_2002.khan_choices_of_coordinates()
    }
    assert found == right
    assert sorted(found.values()) == ["at once"] + 26 * ["later"] + 57 * ["never"]


LASTING = STIFFNESSES[:3]  # those that come to their end at steps of 1 ms


@pytest.fixture(scope="module")
def courses(torques):
    """The coordinates of the independent model at steps of 1 ms: time → stiffness by stiffness."""
    steps = khan_model.steps("ode4", LASTING, 0.001, torques)
    return {0.0: np.tile(khan_model.closed_start(), (3, 1))} | {round(t, 6): q for t, q in steps}


def errors(courses, case, t):
    """Those of the driven angles."""
    return courses[round(float(t), 6)][case][[0, 2, 4]] - khan_model.prescribed(t)


@pytest.mark.parametrize("case", range(3))
def test_denoc_and_the_independent_model_move_alike(case, courses):
    """Row by row up to 0.5 s, then over the whole motion, in which differences grow two hundredfold a second."""
    run = khan_runs.khan_run(khan_runs.khan_penalty_setting(LASTING[case], FIXED, 0.001))
    ours = np.array(list(run.errors.values())).T
    theirs = np.array([errors(courses, case, t) for t in run.t])
    apart = abs(ours - theirs).max(axis=1)
    early = run.t <= 0.5 + 1e-9
    assert early.sum() == 26
    assert (abs(ours)[early].max() > 1e-3).all()  # the springs give way
    assert apart[early].max() < 1e-10
    assert apart.max() < 1e-5
    assert run.t[-1] == pytest.approx(3.0)
    assert abs(ours).max() == pytest.approx((20.894, 9.2561, 5.1928)[case], rel=1e-4)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
@pytest.mark.parametrize("case", range(3))
@pytest.mark.sampled(6)
def test_the_largest_errors_are_the_same_at_both_tolerances(case, accuracy, courses):
    run = khan_runs.khan_run(khan_runs.khan_penalty_setting(LASTING[case], ADAPTIVE, accuracy))
    theirs = max(abs(errors(courses, case, t)).max() for t in courses)
    assert run.error_max == pytest.approx(theirs, rel=1e-3)


def test_how_far_the_springs_give_way(courses):
    """The rows that the exhibits print, up to 0.5 s, beside the gaps of the independent model."""
    runs = [khan_runs.khan_run(khan_runs.khan_penalty_setting(k, FIXED, 0.001)) for k in LASTING]
    printed = [row[2] for row in khan_runs.khan_spring_rows(runs) if "up to" in row[0]]
    for case, (words, run) in enumerate(zip(printed, runs, strict=True)):
        q = np.array([courses[round(float(t), 6)][case] for t in run.t if t < 0.5 + 1e-9])
        gap = np.linalg.norm(khan_model.constraints(q)[0].reshape(-1, 3, 2), axis=2).max()
        error = max(abs(errors(courses, case, t)).max() for t in run.t if t < 0.5 + 1e-9)
        assert words.startswith(f"gap {gap:.2g} m, rate ")
        assert words.endswith(f"largest error {error:.3g} rad")
