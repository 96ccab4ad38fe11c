"""Khan's penalty method on his nine coordinates: denoc, and an independent model of his equations, fail where his did."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import closed
import denoc
import khan_model
from comparing import off
from denoc.study.compare_settings import FIXED
from denoc.study.papers import khan_runs

STIFFNESSES = (1e3, 1e4, 1e5, 1e6)
FAILS = {0.01: [False, True, True, True], 0.001: [False, False, False, True]}  # thesis, section 4.1, Figs. 4.5 and 4.6
MOTION = {
    f"J{k + 1}": {"law": "cycloid", "from": float(x), "to": float(x + 2 * np.pi * turn), "over": 3}
    for k, (x, turn) in enumerate(zip(khan_model.STARTS, khan_model.TURNS))
}


@pytest.fixture(scope="module")
def torques():
    """The driving torques as a function of time, by the tree whose platform hangs on leg 1."""
    found = denoc.run({"robot": "three-rrr", "task": "inverse", "time": {"end": 3, "step": 0.01}, "motion": MOTION})
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


def test_denoc_and_the_independent_model_move_alike(torques):
    """Up to what the dampers' axes do: denoc's are fixed in the legs' last links, the thesis' in the base."""
    k, step, end = 1e5, 1e-3, 0.6
    scenario = {
        "robot": "three-rrr-platform",
        "task": "simulate",
        "time": {"end": end, "step": end},
        "motion": MOTION,
        "forces": {"all": {"law": "feedforward"}},
        "closure": {"method": "penalty", "k": k},
        "solver": {"method": "rk4", "step": step},
    }
    ours = denoc.run(scenario).table
    theirs = khan_model.motion("ode4", [k], step, torques, end)[0]
    found = np.array([ours[f"J{i}.q"][-1] for i in (1, 2, 3)])
    wrong = abs(theirs[[0, 2, 4]] - khan_model.prescribed(end)).max()
    assert wrong > 1e-3  # the springs give way
    assert abs(found - theirs[[0, 2, 4]]).max() < 1e-3 * wrong
