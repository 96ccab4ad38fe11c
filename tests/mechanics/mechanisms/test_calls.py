"""Calls of random mechanisms: compiled and direct, for one sample and many, they give what the plain text gives."""

import numpy as np
import pytest

import denoc
from balanced import accelerations
from comparing import off
from denoc.machine.backend import using_backend
from denoc.machine.backend.account import noted_backend_runs
from random_mechanisms import mechanism

SAMPLES = 9
CALLS = {
    "inverse": lambda robot, q, qd, x, w: denoc.inverse(robot, q, qd, x, w),
    "forward": lambda robot, q, qd, x, w: denoc.forward(robot, q, qd, x, w),
    "reactions": lambda robot, q, qd, x, w: denoc.reactions(robot, q, qd, x, w),
    "reduced": lambda robot, q, qd, x, w: denoc.reduced(robot, q, qd),
    "derivatives": lambda robot, q, qd, x, w: denoc.derivatives(robot, q, qd, x),
    "inertia": lambda robot, q, qd, x, w: denoc.inertia(robot, q),
    "bias": lambda robot, q, qd, x, w: denoc.bias(robot, q, qd, w),
    "energy": lambda robot, q, qd, x, w: denoc.energy(robot, q, qd),
    "frames": lambda robot, q, qd, x, w: denoc.frames(robot, q),
    "jacobian": lambda robot, q, qd, x, w: denoc.jacobian(robot, q, robot.links[-1].name),
}
CLOSE = {"derivatives": 1e-11}


def amplified(case):
    """How much the equations of the mechanism can amplify rounding."""
    s = np.linalg.svd(case.loops.scaled(case.loops.jacobian(case.q)[0]), compute_uv=False)
    inertia = np.linalg.svd(case.N.T @ denoc.inertia(case.robot, case.q) @ case.N, compute_uv=False)
    return s.max() / s[s > 1e-8 * s.max()].min() * max(inertia.max() / inertia.min(), 1.0)


def arrays(found):
    """A result's arrays in their order."""
    return list(found.values()) if isinstance(found, dict) else list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(72)
def test_compiled_calls_are_the_plain_ones(seed, what):
    case = mechanism(seed)
    robot, rng = case.robot, np.random.default_rng(seed)
    scales = np.linspace(0.2, 1.0, SAMPLES)[:, None]
    many = np.tile(case.q, (SAMPLES, 1)), scales * case.qd, scales * rng.standard_normal(robot.nv)
    wrenches = {robot.links[k].name: rng.standard_normal((SAMPLES, 6)) for k in (0, -1)}
    for given in (None, wrenches) if what in ("inverse", "forward", "reactions", "bias") else (None,):
        alone = given and {link: six[4] for link, six in given.items()}
        for n, w in ((slice(None), given), (4, alone)):
            state = [x[n] for x in many]
            with using_backend("plain"):
                right = CALLS[what](robot, *state, w)
            with using_backend("compiled"):
                found = CALLS[what](robot, *state, w)
            with noted_backend_runs() as notes:
                again = CALLS[what](robot, *state, w)
            assert "plain" not in notes
            size = max(np.max(np.abs(x), initial=0.0) for x in arrays(right)) or 1.0
            for x, y, z in zip(arrays(right), arrays(found), arrays(again), strict=True):
                assert np.shape(x) == np.shape(y) == np.shape(z)
                own = size if what == "reactions" else np.max(np.abs(x), initial=0.0) or 1.0
                assert np.max(np.abs(x - y), initial=0.0) <= CLOSE.get(what, 1e-13) * amplified(case) * own
                assert np.max(np.abs(y - z), initial=0.0) <= 1e-13 * amplified(case) * own


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(4)
def test_reduced_equations_by_the_null_space(seed):
    """I z̈ + h are the forces that actuators need for accelerations from the augmented system, an independent way."""
    case = mechanism(seed)
    robot, rng = case.robot, np.random.default_rng(seed)
    M, bias = denoc.inertia(robot, case.q), denoc.bias(robot, case.q, case.qd)
    u = rng.standard_normal(len(robot.driven))
    tau = np.zeros(robot.nv)
    tau[list(robot.driven)] = u
    if robot.actuators or len(robot.driven) != case.N.shape[1]:
        pytest.skip("its coordinates aren't those of the actuators")
    qdd = accelerations(robot, case.loops, case.q, case.qd, tau, M, bias)
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            I, h = denoc.reduced(robot, case.q, case.qd)
        assert off(I @ qdd[sorted(robot.driven)] + h, u[np.argsort(robot.driven)]) < 1e-13 * amplified(case)
