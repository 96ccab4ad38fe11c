"""Forces between bounds: the conditions that define them, on problems of any rank, and against a least squares solver."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from denoc.simulate.complementarity import balance_contacts


def problem(seed, n, rank):
    """G = R Rᵀ of the rank, b that forces can balance, and bounds of all kinds."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((n, rank)) * 10.0 ** rng.uniform(-2, 2, (n, 1))
    b = R @ rng.standard_normal(rank)
    width = rng.uniform(0.0, 2.0, n) * rng.integers(0, 2, n)
    low = np.where(rng.random(n) < 0.3, -np.inf, -width)
    high = np.where((rng.random(n) < 0.3) & np.isfinite(low), np.inf, width)
    return R, b, low, high


def alone(G, b, low, high):
    """The forces of one run."""
    return [x[0] for x in balance_contacts(*(np.asarray(x)[None] for x in (G, b, low, high)))]


def conditions_hold(G, b, low, high, s, a, held, bear):
    size = abs(b) + abs(G) @ abs(s)
    assert (low <= s).all()
    assert (s <= high).all()
    np.testing.assert_allclose(a, b + G @ s, rtol=0, atol=1e-11 * size.max())
    assert (a[s > low] <= 1e-9 * size[s > low]).all()
    assert (a[s < high] >= -1e-9 * size[s < high]).all()
    assert not a[held].any()
    assert not (bear & ~held).any()
    scale = 1.0 / np.sqrt(np.diag(G))
    rank = np.linalg.matrix_rank((G * np.outer(scale, scale))[held][:, held], tol=1e-8)
    assert np.linalg.matrix_rank((G * np.outer(scale, scale))[bear][:, bear], tol=1e-12) == rank == bear.sum()


@pytest.mark.parametrize("seed", range(60))
def test_a_joint_moves_only_where_its_force_is_at_a_bound(seed):
    n = 1 + seed % 7
    R, b, low, high = problem(seed, n, 1 + seed % n)
    conditions_hold(R @ R.T, b, low, high, *alone(R @ R.T, b, low, high))


@pytest.mark.parametrize("seed", range(30))
def test_the_motion_is_that_of_least_constraint(seed):
    n = 2 + seed % 5
    R, b, low, high = problem(100 + seed, n, n)
    _, a, _, _ = alone(R @ R.T, b, low, high)
    least = lsq_linear(R.T, -np.linalg.solve(R, b), bounds=(low - 1e-300, high + 1e-300), method="bvls", tol=1e-15)
    expected = b + R @ (R.T @ least.x)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-7 * (abs(b) + abs(R @ R.T) @ abs(least.x)).max())


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (3, 1), (4, 2), (5, 5), (8, 3)])
def test_many_runs_have_the_bits_of_each_alone(n, rank):
    each = [problem(1000 * n + seed, n, rank) for seed in range(40)]
    G = np.array([R @ R.T for R, *_ in each])
    b, low, high = (np.array(x) for x in [*zip(*each)][1:])
    together = balance_contacts(G, b, low, high)
    for k in range(len(each)):
        own = alone(G[k], b[k], low[k], high[k])
        for one, all_ in zip(own, together):
            np.testing.assert_array_equal(one, all_[k])
        conditions_hold(G[k], b[k], low[k], high[k], *own)


@pytest.mark.parametrize("load", [0.0, 1.0, 2.5, 3.0 * (1 - 1e-15), 3.0])
def test_joints_that_share_a_freedom_hold_as_much_as_all_together(load):
    """Up to the last digit; one of them bears, and it is far from its bounds where there is any room."""
    G, one = np.ones((3, 3)), np.ones(3)
    s, a, held, bear = alone(G, load * one, -one, one)
    assert held.all()
    assert bear.sum() == 1
    assert not a.any()
    assert s.sum() == pytest.approx(-load, abs=1e-15)
    assert abs(s[bear]) <= 0.5 or load > 2.9
    s, a, held, bear = alone(G, (3.0 + 1e-10) * one, -one, one)
    assert not held.any()
    assert (s == -1.0).all()
    assert (a > 0.0).all()


def test_stops_that_contradict_each_other_hold_nothing_for_ever():
    """Two stops of one freedom that push the same joint from both sides have no forces that are too large."""
    G = np.array([[1.0, 1.0], [1.0, 1.0]])
    s, a, held, _ = alone(G, np.array([2.0, 2.0]), np.array([-np.inf, 0.0]), np.array([0.0, np.inf]))
    assert (s == [-2.0, 0.0]).all()
    assert not a.any()
    assert held.all()


def test_what_no_force_can_stop_is_pushed_as_hard_as_can_be():
    s, a, held, _ = alone(np.zeros((1, 1)), np.array([2.0]), np.array([-3.0]), np.array([3.0]))
    assert (s[0], a[0], held[0]) == (-3.0, 2.0, False)


def test_nothing_to_balance():
    for x in alone(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0)):
        assert x.shape == (0,)
