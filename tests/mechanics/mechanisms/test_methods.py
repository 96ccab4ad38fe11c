"""What closure methods make of gaps, of speeds that open the loops, and of forces that nothing can balance."""

import numpy as np
import pytest

from denoc.mechanics.closure.elimination import Elimination, pivot_order_of_constraints
from denoc.mechanics.closure.methods import METHODS, Problem
from denoc.mechanics.mechanisms.subsystems import Subsystem, eliminate_subsystem_step, solve_subsystem_steps

pytestmark = pytest.mark.smoke

A = np.array([[1.0, 2.0, -1.0, 0.5], [0.3, -1.0, 0.2, 1.0]])
N = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
M = np.array([[4.0, 1.0, 0.0, 0.2], [1.0, 3.0, 0.5, 0.0], [0.0, 0.5, 2.0, 0.1], [0.2, 0.0, 0.1, 1.0]])
LOAD = np.array([0.7, -1.1, 0.4, 2.0])  # velocity terms and weights, less the applied forces
GAP, RATE, SECOND = np.array([0.1, -0.2]), np.array([0.05, 0.3]), np.array([0.9, -0.4])
QD = np.array([1.0, -2.0, 0.5, 3.0])
SCALES = np.array([1.0, 0.25])
DAMPED = A + np.array([[0.1, 0.0, 0.2, 0.0], [0.0, -0.3, 0.0, 0.1]])  # what dampers see of gaps that are open


def accelerations(name, **given):
    K = np.concatenate([A, N])
    method = METHODS[name]
    problem = Problem(
        n=4,
        closures=2,
        A=A.tolist(),
        gap=GAP.tolist(),
        rate=RATE.tolist(),
        second=SECOND.tolist(),
        N=N.tolist(),
        K=Elimination(K.tolist(), pivot_order_of_constraints(K)),
        qd=QD.tolist(),
        bias=lambda x: (M @ x + LOAD).tolist(),
        momentum=lambda x: (M @ x).tolist(),
        response=lambda x: np.linalg.solve(M, x).tolist(),
        free=lambda: np.linalg.solve(M, -LOAD).tolist(),
        embedded=lambda wanted: (projected(wanted).tolist(), {}),
        damped=DAMPED.tolist,
        scales=SCALES.tolist(),
        parameters=method.values(given),
    )
    return np.array(method.accelerations(problem))


def projected(wanted):
    """The accelerations with these along the rows of A, by the matrices as they stand."""
    free = np.linalg.svd(A)[2][2:]
    return np.linalg.solve(np.concatenate([A, free @ M]), np.concatenate([wanted, -free @ LOAD]))


def pushing(qdd):
    """The forces of the constraints; on motions that keep them they do no work."""
    return M @ qdd + LOAD


@pytest.mark.parametrize(
    ("name", "given", "second"),
    [
        ("denoc", {}, SECOND),
        ("denoc-extended", {}, SECOND),
        ("projection-qr", {"sigma": 7.0}, SECOND - 7 * (A @ QD - RATE)),
        ("projection-svd", {"sigma": 0.0}, SECOND),
        ("multipliers", {"alpha": 3.0, "beta": 5.0}, SECOND - 2 * 3 * (A @ QD - RATE) - 5**2 * GAP),
        ("multipliers", {"alpha": 0.0, "beta": 2.0}, SECOND - 2**2 * GAP),
    ],
)
def test_corrections_close_what_is_open(name, given, second):
    qdd = accelerations(name, **given)
    assert A @ qdd == pytest.approx(second, abs=1e-12)
    free = np.linalg.svd(A)[2][2:]
    assert free @ pushing(qdd) == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize(("given", "d"), [({"k": 40.0, "d": 3.0}, 3.0), ({"k": 100.0}, 20.0)])
def test_penalties_are_springs_with_dampers_of_critical_size(given, d):
    expected = -A.T @ (SCALES * given["k"] * GAP) - DAMPED.T @ (SCALES * d * (DAMPED @ QD - RATE))
    assert pushing(accelerations("penalty", **given)) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_elimination_solves_both_ways(seed):
    rng = np.random.default_rng(seed)
    K, b = rng.normal(size=(5, 5)) * (rng.uniform(size=(5, 5)) < 0.7) + np.eye(5), rng.normal(size=5)
    factors = Elimination(K.tolist(), pivot_order_of_constraints(K))
    assert factors.solve(b.tolist()) == pytest.approx(np.linalg.solve(K, b), rel=1e-9)
    assert factors.transposed(b.tolist()) == pytest.approx(np.linalg.solve(K.T, b), rel=1e-9)


@pytest.mark.parametrize("spins", [0, 1, 2])
def test_what_would_spin_rods_is_left_out(spins):
    """More equations than unknowns: what nothing can balance goes as it goes in least squares."""
    rng = np.random.default_rng(spins)
    own, right = rng.normal(size=(3 + spins, 3)), rng.normal(size=3 + spins)
    step = eliminate_subsystem_step(Subsystem((0,), tuple(range(3 + spins)), (0, 1, 2), True), own, own)
    found, _ = solve_subsystem_steps([step], own.tolist(), right.tolist())
    assert [found[k] for k in range(3)] == pytest.approx(np.linalg.lstsq(own, right, rcond=None)[0], rel=1e-10)


def test_rounding_errors_choose_no_pivots():
    """Noise in place of zeros, and between equal entries, changes no order of elimination."""
    random = np.random.default_rng(4)
    for _ in range(60):
        K = random.integers(-2, 3, (6, 6)) * (random.random((6, 6)) < 0.6).astype(float)
        if abs(np.linalg.det(K)) < 0.5:
            continue
        noise = K + 1e-15 * random.normal(size=K.shape)
        assert pivot_order_of_constraints(noise) == pivot_order_of_constraints(K)
