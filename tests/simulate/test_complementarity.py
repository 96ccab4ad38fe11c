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


@pytest.mark.parametrize("seed", range(60))
def test_a_joint_moves_only_where_its_force_is_at_a_bound(seed):
    n = 1 + seed % 7
    R, b, low, high = problem(seed, n, 1 + seed % n)
    G = R @ R.T
    s, a = balance_contacts(G, b, low, high)
    size = abs(b) + abs(G) @ abs(s)
    assert (low <= s).all()
    assert (s <= high).all()
    np.testing.assert_allclose(a, b + G @ s, rtol=0, atol=1e-11 * size.max())
    assert (a[s > low] <= 1e-9 * size[s > low]).all()
    assert (a[s < high] >= -1e-9 * size[s < high]).all()


@pytest.mark.parametrize("seed", range(30))
def test_the_motion_is_that_of_least_constraint(seed):
    n = 2 + seed % 5
    R, b, low, high = problem(100 + seed, n, n)
    _, a = balance_contacts(R @ R.T, b, low, high)
    least = lsq_linear(R.T, -np.linalg.solve(R, b), bounds=(low - 1e-300, high + 1e-300), method="bvls", tol=1e-15)
    expected = b + R @ (R.T @ least.x)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-7 * (abs(b) + abs(R @ R.T) @ abs(least.x)).max())


def test_what_no_force_can_stop_is_pushed_as_hard_as_can_be():
    s, a = balance_contacts(np.zeros((1, 1)), np.array([2.0]), np.array([-3.0]), np.array([3.0]))
    assert (s[0], a[0]) == (-3.0, 2.0)


def test_nothing_to_balance():
    s, a = balance_contacts(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))
    assert s.shape == a.shape == (0,)
