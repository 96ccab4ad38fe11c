"""The method whose null space is computed at every evaluation: v in the state, true speeds in the rows."""

import numpy as np
import pytest

import denoc
from denoc.simulate.runner import Runner
from denoc.simulate.svd_projection import null_basis_at_state
from denoc.simulate.systems.system import System
from random_mechanisms import mechanism

FALL = {
    "robot": "five-bar",
    "task": "simulate",
    "time": {"end": 0.2, "step": 0.02},
    "closure": {"method": "projection-svd-raw", "sigma": 10},
}


@pytest.mark.parametrize("seed", range(4))
def test_the_basis_is_an_orthogonal_complement(seed):
    A = np.random.default_rng(seed).standard_normal((6, 9))
    S = null_basis_at_state(A, 3)
    assert abs(A @ S).max() < 1e-12
    assert abs(S.T @ S - np.eye(3)).max() < 1e-12


def test_its_columns_turn_and_swap_from_one_position_to_the_next():
    """All singular values of H are 0 or 1, so that rounding chooses the columns (Khan 2002, section 4.2)."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 9))
    first = null_basis_at_state(A, 3)
    kept = [abs(np.diag(first.T @ null_basis_at_state(A + 1e-9 * rng.standard_normal(A.shape), 3))) for _ in range(20)]
    assert min(min(one) for one in kept) < 0.5  # as far as another column


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(2)
def test_the_state_holds_v_and_rows_hold_the_speeds(seed):
    case = mechanism(seed, drives=False, types=("revolute", "prismatic", "universal", "spherical"))
    system = System(case.robot, loops=case.loops, closure="projection-svd-raw", smooth=1e-3)
    run = Runner(system, case.q)
    y = run.start(case.q, case.qd)
    freedoms = len(run.discrete.partition.N)
    v = y[len(system.state_coordinates) : system.measured]
    assert not v[freedoms:].any()
    assert np.linalg.norm(v) == pytest.approx(np.linalg.norm(case.qd))  # S is orthonormal
    right = denoc.forward(case.robot, case.q, case.qd, np.zeros(case.robot.nv))
    signals = run.signals(0.0)
    rows = run.many(np.array([signals]), np.array([y]), run.discrete)
    assert abs(rows["qd"][0] - case.qd).max() < 1e-9 * (1 + abs(case.qd).max())
    assert abs(rows["qdd"][0] - right).max() < 1e-8 * (1 + abs(right).max())
    rate = run.derivative(0.0, y)
    assert np.linalg.norm(rate[len(system.state_coordinates) : system.measured]) <= np.linalg.norm(right) * (1 + 1e-9)


def test_nothing_is_compiled_and_one_freedom_runs_well():
    """A single column can only change its sign: the thesis' table says that the method suits one freedom."""
    slider = {**FALL, "robot": "slider-crank", "closure": {"method": "projection-svd-raw"}}
    with denoc.machine.backend.choice.using_backend("compiled"):
        found = denoc.run(slider)
    right = denoc.run({**slider, "closure": {}})
    assert found.ended == right.ended == "done"
    assert not found.record["code"]["cached"]
    for name in ("crank.q", "crank.qd", "crank.qdd", "energy.total"):
        if name in right.table:
            assert found.table[name] == pytest.approx(right.table[name], rel=1e-5, abs=1e-5)


def test_several_freedoms_cost_evaluations():
    solver = {"rtol": 1e-3, "max_steps": 100}
    raw = denoc.run({**FALL, "solver": solver})
    kept = denoc.run({**FALL, "solver": solver, "closure": {"method": "projection-svd", "sigma": 10}})
    assert kept.ended == "done"
    assert raw.audit["evaluations"] > 3 * kept.audit["evaluations"]
