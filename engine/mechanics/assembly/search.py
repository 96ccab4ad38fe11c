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

from ...machine.program import Scalar, as_floats
from ...robot import LOCKED, PARALLEL, Robot
from ..closure.constraints import Closure
from ..quantities.samples import Samples
from ..tree.kinematics import coordinate_rates
from ..tree.spatial import cross, scale

CLOSED = 1e-12  # gap, relative to the mechanism's length
MOST = 200  # iterations of one start
LONGEST = 0.4  # step, in radians and in lengths of the mechanism
STARTS = 24
ENOUGH = 3  # starts that end in the same gap, which is then believed to be the least
SAME = 1e-6  # share of the gap by which such ends differ
ALIKE = 1e-3  # share by which they may differ after all starts, where the way down is long and flat
ROUNDING = 1e-15
MOST_NUMBERS = 4_000_000  # of derivatives that are computed at once
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
    guesses = []
    for start in range(STARTS if free.any() else 1):
        spread = SPREADS[start % len(SPREADS)] if start else 0.0
        step = random.uniform(-spread, spread, loops.robot.nv) * free * loops.column_scale
        guesses.append(closing_position_moved_along_speeds(loops.robot, q, step) if start else q)
    together = MOST_NUMBERS // (len(free) * loops.m + 1) + 1
    ends: list[tuple[float, np.ndarray]] = []
    for starts in range(1, len(guesses) + 1):
        if starts > len(ends):
            ends += _descended(loops, np.array(guesses[starts - 1 :][:together]), np.flatnonzero(free))
        least, best = min(ends[:starts], key=lambda end: end[0])
        if least < CLOSED or _within(ends[:starts], least, SAME) >= ENOUGH:
            break
    return ClosureSearch(best, least, starts, _within(ends[:starts], least, ALIKE))


def _within(ends: list[tuple[float, np.ndarray]], least: float, share: float) -> int:
    """The number of ends whose gaps are no more than this share larger than the least."""
    return sum(gap <= least * (1 + share) + CLOSED for gap, _ in ends)


def _descended(loops: Closure, q: np.ndarray, free: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """The ends of Levenberg's and Marquardt's ways down from many positions, each with its gap.

    Where one way ends in a closed position, those that come after it are left where they are.
    """
    gap, J = _distance(loops, q, free)
    damping, slow, going = np.full(len(q), 1e-3), np.zeros(len(q), dtype=int), np.arange(len(q))
    for _ in range(MOST):
        closed = np.flatnonzero(np.linalg.norm(gap, axis=1) < CLOSED)
        going = going[going < closed[0]] if len(closed) else going
        going = going[(damping[going] <= 1e8) & (slow[going] <= 3) & (abs(gap[going]).max(axis=1, initial=0) >= CLOSED)]
        if not len(free) or not len(going):
            break
        down = J[going].swapaxes(1, 2)
        A = down @ J[going]
        least = ROUNDING * np.trace(A, axis1=1, axis2=2)
        A += np.maximum(damping[going], least)[:, None, None] * np.eye(len(free))
        step = np.zeros((len(going), loops.robot.nv))
        step[:, free] = -np.linalg.solve(A, down @ gap[going, :, None])[..., 0]
        step *= np.minimum(1.0, LONGEST / np.maximum(abs(step).max(axis=1), 1e-300))[:, None]
        trial = closing_positions_moved_along_speeds(loops.robot, q[going], step * loops.column_scale)
        new_gap, new_J = _distance(loops, trial, free)
        before, after = (gap[going] ** 2).sum(axis=1), (new_gap**2).sum(axis=1)
        better = after < before
        lower = going[better]
        damping[going] = np.where(better, np.maximum(damping[going] / 4, 1e-12), damping[going] * 8)
        slow[lower] = np.where(after > (1 - 1e-9) * before, slow[going] + 1, 0)[better]
        q[lower], gap[lower], J[lower] = trial[better], new_gap[better], new_J[better]
    return [*zip(np.linalg.norm(gap, axis=1).tolist(), q)]


def _distance(loops: Closure, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scaled distances of all ties and couplings, and their derivatives along the free speeds.

    They are the rows as they are, but whole directions in the place of the rows that align them.
    """
    s = Samples(loops.robot, q=q)
    values = s.scalars("q")
    tied = loops.ties_at(values)
    gap = s.array(loops.gaps(values, tied)) * loops.row_scale
    J = loops.scaled(loops.holding(loops.matrix(loops.rates(values, None, tied)[0], s.shape)))
    whole: list[Scalar] = []
    turned: list[dict[int, Scalar]] = []
    for loop, one, place in zip(loops.robot.loops, tied, loops.places):
        if loop.type.aligned not in (PARALLEL, LOCKED):
            continue
        first = place.start + len(loop.type.slides)
        own, columns = slice(first, first + len(loop.type.aligned)), one.columns()
        gap[..., own], J[..., own, :] = 0.0, 0.0
        axes = (2,) if loop.type.aligned == PARALLEL else (0, 1, 2)
        share = 1.0 / math.sqrt(max(len(axes) - 1, 1))  # a turn by a small angle is a distance of that angle
        for j in axes:
            whole += [share * (one.place.s[j][k] - float(j == k)) for k in range(3)]
            turns = {k: scale(share, cross(rate.turn, one.place.s[j])) for k, rate in columns.items()}
            turned += [{k: turn[c] for k, turn in turns.items()} for c in range(3)]
    more = loops.matrix(turned, s.shape) * loops.column_scale
    return np.concatenate([gap, s.array(whole)], axis=-1), np.concatenate([J, more], axis=-2)[..., free]


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
