"""Least effort between limits against the enumeration of all limits that may hold, and linear programming."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import denoc
import yamls
from comparing import off
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.rank import constraint_null_space
from denoc.mechanics.mechanisms.effort import least_loop_effort, loop_efforts_exceed_limits
from denoc.robot import Effort
from denoc.text import find_library_file

pytestmark = pytest.mark.smoke


def drawn(seed):
    """A u = b with limits and weights; every second one has a solution between the limits."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    A = rng.normal(size=(int(rng.integers(1, n)), n))
    low, high = -rng.uniform(0.0, 1.5, n), rng.uniform(0.0, 1.5, n)
    if seed % 3 == 0:  # limits that don't have 0 between them
        low += 0.5 * rng.normal(size=n)
        high = np.maximum(high, low + 0.1)
    if seed % 5 == 0:
        high[0] = np.inf
    b = A @ rng.uniform(low, np.minimum(high, 2.0)) if seed % 2 else 1.5 * rng.normal(size=len(A))
    return A, b, rng.uniform(0.2, 5.0, n), low, high


def best(A, b, weight, low, high):
    """The smallest Σ weight u² among all sets of limits that hold; None where no u is allowed."""
    found = None
    for pattern in itertools.product((None, "low", "high"), repeat=len(weight)):
        held = {k: (low if side == "low" else high)[k] for k, side in enumerate(pattern) if side}
        if not np.isfinite(list(held.values())).all():
            continue
        u, free = np.zeros(len(weight)), [k for k in range(len(weight)) if k not in held]
        u[list(held)] = list(held.values())
        root = 1.0 / np.sqrt(weight[free])
        u[free] = root * (np.linalg.pinv(A[:, free] * root) @ (b - A @ u)) if free else ()
        if abs(A @ u - b).max() > 1e-9 or (u < low - 1e-9).any() or (u > high + 1e-9).any():
            continue
        if found is None or weight @ u**2 < weight @ found**2:
            found = u
    return found


def test_forces_beyond_either_limit_are_seen():
    efforts = [Effort(-1.0, 2.0), Effort(-np.inf, 0.5), Effort()]
    rows = [[0, 0, 0], [2, 0.5, 9], [2.1, 0, 0], [-1.1, 0, 0], [0, 0.6, 0], [0, -99, -99]]
    assert loop_efforts_exceed_limits(np.array(rows, dtype=float), efforts).tolist() == [
        False,
        False,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("start", range(0, 300, 50))
@pytest.mark.sampled(4)
def test_the_smallest_effort_between_the_limits_is_found(start):
    for seed in range(start, start + 50):
        A, b, weight, low, high = drawn(seed)
        efforts = [Effort(*one) for one in zip(low, high, weight)]
        right = best(A, b, weight, low, high)
        possible = linprog(np.zeros(len(low)), A_eq=A, b_eq=b, bounds=list(zip(low, high))).status == 0
        assert (right is not None) == possible
        if right is None:
            with pytest.raises(denoc.NumericalError, match="within their limits"):
                least_loop_effort(A, b, efforts)
        else:
            assert off(least_loop_effort(A, b, efforts), right, scale=1.0) <= 1e-8


def test_what_is_possible_is_never_refused():
    """Some of these need several limits at once, which a search that goes from one to the next runs past."""
    for seed in range(1, 3001, 2):
        A, b, weight, low, high = drawn(seed)
        u = least_loop_effort(A, b, [Effort(*one) for one in zip(low, high, weight)])
        assert abs(A @ u - b).max() <= 1e-9
        assert (u >= low - 1e-9).all()
        assert (u <= high + 1e-9).all()


def test_without_limits_it_is_the_weighted_least_norm():
    A, b, weight, _, _ = drawn(7)
    u = least_loop_effort(A, b, [Effort(weight=w) for w in weight])
    right = A.T @ np.linalg.solve(A / weight @ A.T, b) / weight
    assert off(u, right) <= 1e-12


def test_near_moves_the_centre():
    A, b, weight, low, high = drawn(9)
    near = np.linspace(-0.3, 0.3, len(weight))
    efforts = [Effort(*one) for one in zip(low, high, weight)]
    moved = least_loop_effort(A, b - A @ near, [Effort(*one) for one in zip(low - near, high - near, weight)])
    assert off(least_loop_effort(A, b, efforts, near), near + moved, scale=1.0) <= 1e-12


@pytest.mark.parametrize("beside", [False, True])
def test_weights_count_whatever_else_hangs_on_the_base(beside):
    """Crank and rocker of a four-bar share its work by their weights; a pendulum beside it is a system of its own."""
    data = yamls.load(find_library_file("four-bar", "robots").read_text())
    rocker = next(link for link in data["links"] if link["name"] == "rocker")
    rocker["joint"] |= {"actuated": True, "effort": {"weight": 9}}
    if beside:
        joint = {"name": "P", "type": "revolute", "actuated": True}
        inertia = {"xx": 1, "yy": 1, "zz": 1}
        data["links"].append(
            {"name": "bob", "parent": "base", "joint": joint, "mass": 1, "com": [1, 0, 0], "inertia": inertia}
        )
    robot = denoc.loads(yamls.dump(data))
    q = denoc.assemble(robot, robot.q0)
    still = np.zeros(robot.nv)
    crank, rocker_, *rest = denoc.inverse(robot, q, still, still)
    J, _ = loop_closure(robot).jacobian(q)
    rates = constraint_null_space(J[:, :3])[:, 0]  # of the one freedom: the work of both must be the weights'
    needed = rates @ denoc.bias(robot, q, still)[:3]
    assert rates[0] * crank + rates[2] * rocker_ == pytest.approx(needed, abs=1e-12)
    assert crank / rates[0] == pytest.approx(9 * rocker_ / rates[2], rel=1e-9)  # least crank² + 9 rocker²
    assert rest == pytest.approx([9.81] if beside else [], abs=1e-12)
