"""The positions in which the gaps of all loops are least, from many starts, however far off they are.

Newton's method on the rows of the constraints needs a start that is nearly closed: far from there, the rows of two
directions say little about the angle between them. Here every direction is compared as a whole, so that what is left is
a distance between frames whose derivative is exact everywhere, and Levenberg's and Marquardt's method runs down from
any start. It may end in a position that only seems the best one nearby; so there are further starts around the first.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..dynamics.kinematics import coordinate_rates
from ..machine.program.dual import Dual, dual_derivative, dual_value
from ..machine.program.scalars import Scalar, as_floats
from ..robot import LOCKED, PARALLEL, Robot
from .constraints import Closure

CLOSED = 1e-12  # gap, relative to the mechanism's length
MOST = 200  # iterations of one start
LONGEST = 0.4  # step, in radians and in lengths of the mechanism
STARTS = 24
ENOUGH = 3  # starts that end in the same gap, which is then believed to be the least
SAME = 1e-6  # share of the gap by which such ends differ
ALIKE = 1e-3  # share by which they may differ after all starts, where the way down is long and flat
SPREADS = (0.3, 0.8, 1.6)  # of the starts around the first one, in radians and in lengths of the mechanism


@dataclass(frozen=True)
class ClosureSearch:
    """The best position of all starts, its gap, and how many starts have ended with that gap."""

    q: np.ndarray
    gap: float
    starts: int
    agreeing: int


def nearest_closed_position(loops: Closure, q: np.ndarray, kept: Collection[int]) -> ClosureSearch:
    """The position in which the gaps are least; the speeds in `kept` don't move."""
    random = np.random.default_rng(0)
    free = np.array([k not in set(kept) for k in range(loops.robot.nv)])
    ends: list[tuple[float, np.ndarray]] = []
    for start in range(STARTS if free.any() else 1):
        spread = SPREADS[start % len(SPREADS)] if start else 0.0
        step = random.uniform(-spread, spread, loops.robot.nv) * free * loops.column_scale
        ends.append(
            _descended(
                loops, closing_position_moved_along_speeds(loops.robot, q, step) if start else q, np.flatnonzero(free)
            )
        )
        least, best = min(ends, key=lambda end: end[0])
        if least < CLOSED or _within(ends, least, SAME) >= ENOUGH:
            break
    return ClosureSearch(best, least, len(ends), _within(ends, least, ALIKE))


def _within(ends: list[tuple[float, np.ndarray]], least: float, share: float) -> int:
    """The number of ends whose gaps are no more than this share larger than the least."""
    return sum(gap <= least * (1 + share) + CLOSED for gap, _ in ends)


def _descended(loops: Closure, q: np.ndarray, free: np.ndarray) -> tuple[float, np.ndarray]:
    """The end of Levenberg's and Marquardt's way down from q, as its gap and its position."""
    gap, J = _distance(loops, q, free)
    damping, slow = 1e-3, 0
    for _ in range(MOST):
        if not len(free) or damping > 1e8 or slow > 3 or abs(gap).max(initial=0.0) < CLOSED:
            break
        A = np.concatenate([J, math.sqrt(damping) * np.eye(len(free))])
        step = np.zeros(loops.robot.nv)
        step[free] = np.linalg.lstsq(A, np.concatenate([-gap, np.zeros(len(free))]), rcond=None)[0]
        step *= min(1.0, LONGEST / max(float(abs(step).max()), 1e-300))
        trial = closing_position_moved_along_speeds(loops.robot, q, step * loops.column_scale)
        new_gap, new_J = _distance(loops, trial, free)
        before, after = float(gap @ gap), float(new_gap @ new_gap)
        if not after < before:
            damping *= 8
            continue
        slow = slow + 1 if after > (1 - 1e-9) * before else 0
        q, gap, J, damping = trial, new_gap, new_J, max(damping / 4, 1e-12)
    return float(np.linalg.norm(gap)), q


def _distance(loops: Closure, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scaled distances of all ties and couplings, and their derivatives along the free speeds."""
    rates = np.zeros((loops.robot.nq, len(free)))
    for c, k in enumerate(free):
        unit: list[Scalar] = [0.0] * loops.robot.nv
        unit[k] = float(loops.column_scale[k])
        rates[:, c] = as_floats(coordinate_rates(loops.robot, q.tolist(), unit))
    along: list[Scalar] = [
        Dual(x, {int(c): float(row[c]) for c in np.flatnonzero(row)}) for x, row in zip(q.tolist(), rates)
    ]
    result = _distances(loops, along)
    J = np.array([as_floats(dual_derivative(x, c) for c in range(len(free))) for x in result]).reshape(-1, len(free))
    return np.array(as_floats(dual_value(x) for x in result)), J


def _distances(loops: Closure, q: list[Scalar]) -> list[Scalar]:
    """Distances of frames: the rows as they are, but whole directions in the place of the rows that align them."""
    tied = loops.tied(q)
    values = [x * s for x, s in zip(loops.gaps(q, tied), loops.row_scale)]
    whole: list[Scalar] = []
    for loop, one, place in zip(loops.robot.loops, tied, loops.places):
        if loop.type.aligned not in (PARALLEL, LOCKED):
            continue
        first = place.start + len(loop.type.slides)
        values[first : first + len(loop.type.aligned)] = [0.0] * len(loop.type.aligned)
        axes = (2,) if loop.type.aligned == PARALLEL else (0, 1, 2)
        share = 1.0 / math.sqrt(max(len(axes) - 1, 1))  # a turn by a small angle is a distance of that angle
        whole += [share * (one.place.s[j][k] - float(j == k)) for j in axes for k in range(3)]
    return values + whole


def closing_position_moved_along_speeds(robot: Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The coordinates q after a small motion along the speeds."""
    rates = coordinate_rates(robot, q.tolist(), step.tolist())
    after: np.ndarray = q + np.array(as_floats(rates))
    for joint in robot.moving:
        if joint.type.orientation is not None:
            at = [joint.coordinates[joint.type.orientation + k] for k in range(4)]
            after[at] /= np.linalg.norm(after[at])
    return after


def closing_positions_moved_along_speeds(robot: Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The coordinates of many positions after small motions along the speeds."""
    after = q.copy()
    for k, rate in enumerate(coordinate_rates(robot, list(q.T), list(step.T))):
        after[:, k] += rate
    for joint in robot.moving:
        if joint.type.orientation is not None:
            at = [joint.coordinates[joint.type.orientation + k] for k in range(4)]
            after[:, at] /= np.linalg.norm(after[:, at], axis=1, keepdims=True)
    return after
