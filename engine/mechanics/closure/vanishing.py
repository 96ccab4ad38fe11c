"""Freedoms of a mechanism with next to nothing to accelerate: pivots of Tᵀ M T that elimination has used up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ...machine.program import Scalar, as_floats
from ...robot import Joint, Robot
from ..tree.dense import Factors, inertia_diagonal, inertia_matrix
from ..tree.springs import varied_bodies_without_passive_forces
from ..tree.vanishing import (
    LITTLE,
    LONG,
    USUAL,
    doubtful_joint_pivots,
    joint_pivot_loss,
    tree_joint_of_speed,
    vanishing_inertia_error,
)
from .constrained import ConstrainedEquations
from .constraints import Closure, loop_closure
from .embedding import State, loop_accelerations
from .partition import Partition, best_partition


def partition_with_examined_freedoms(loops: Closure, part: Partition, q: Sequence[float] | np.ndarray) -> Partition:
    """The partition itself, or an error if a freedom has next to nothing to accelerate at q."""
    joints = joints_of_vanishing_freedoms(loops, part, q)
    if joints:
        raise vanishing_inertia_error(loops.robot, joints)
    return part


def joints_of_vanishing_freedoms(loops: Closure, part: Partition, q: Sequence[float] | np.ndarray) -> list[Joint]:
    """Joints that have the largest part in freedoms with next to nothing to accelerate.

    The last answer is kept, for runs that start alike.
    """
    q = np.asarray(q, dtype=float)
    question = q.tobytes(), part, loops.ties, loops.couplings
    last, answer = loops.robot.derived.get("vanishing freedoms", (None, []))
    if last != question:
        answer = _vanishing(loops, part, q)
        loops.robot.derived["vanishing freedoms"] = question, answer
    return [*answer]


def _vanishing(loops: Closure, part: Partition, q: np.ndarray) -> list[Joint]:
    if not part.N or len(part.rows) + len(part.given) + len(part.N) != loops.robot.nv:
        return []
    places = doubtful_joint_pivots(q, lambda q: _shares(loops, part, q)[:2], len(loops.bodies))
    if not places:
        return []
    leading = _shares(loops, part, q)[2]
    return list(dict.fromkeys(tree_joint_of_speed(loops.robot, int(leading[place])) for place in places))


def least_freedom_pivots(loops: Closure, part: Partition, q: Sequence[float] | np.ndarray) -> tuple[float, ...]:
    """For each freedom the pivot below which a position has to be looked at closely; 0 where none is needed."""
    if len(part.rows) + len(part.given) + len(part.N) != loops.robot.nv:
        return (0.0,) * len(part.N)
    few = LITTLE * min(1.0, (LONG / max(len(loops.bodies), 1)) ** 3)
    with np.errstate(all="ignore"):
        pivots, whole, _ = _shares(loops, part, np.asarray(q, dtype=float))
        watched = pivots > USUAL * few * whole
    return tuple(float(x) for x in np.where(watched, few * whole, 0.0))


def freedom_pivot_losses(least: Sequence[float], factors: Factors) -> list[Scalar]:
    """Numbers that are enormous where a watched pivot is below its least value."""
    return [joint_pivot_loss(x, one_over) for x, one_over in zip(least, factors.one_over) if x]


def vanishing_joints_at_closed_position(robot: Robot, q: Sequence[float]) -> list[Joint]:
    """Joints with next to nothing to accelerate at a closed position, in the coordinates that are best there."""
    loops, here = loop_closure(robot), np.array(q, dtype=float)
    return joints_of_vanishing_freedoms(loops, best_partition(loops, here, (), robot.driven), here)


def _shares(loops: Closure, part: Partition, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pivots of Tᵀ M T, the sums of inertias before elimination, and the speed with the largest part in each."""
    if len(part.independent) == len(part.N):
        with suppress(ZeroDivisionError), np.errstate(all="ignore"):
            found = _by_subsystems(loops, part, q)
            if np.isfinite(found[0]).all() and found[0].all():
                return found
    return _all_at_once(loops, part, q)


def _by_subsystems(loops: Closure, part: Partition, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pivots and what goes with them, by the recursion itself, which divides by these pivots."""
    pivots, whole = (np.array(as_floats(values)) for values in _eliminated(loops, part, q.tolist()))
    return pivots, whole, np.array(part.independent, dtype=int)


def _eliminated(loops: Closure, part: Partition, here: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The pivots by the recursion, and the sums of inertias before elimination."""
    nv, count = loops.robot.nv, len(part.N)
    here, still = list(here), [0.0] * nv
    tied = loops.ties_at(here)
    equations = ConstrainedEquations(loops, part, varied_bodies_without_passive_forces(loops.bodies))
    A = equations.rows(here, tied)
    K = equations.factors(A)
    held = [k in part.given for k in range(nv)]
    state = State(here, still, still, held, [0.0] * 3)
    _, one_over = loop_accelerations(equations.portions, K.parts, equations.bodies, state, [0.0] * len(A), {}, ())
    diagonal = inertia_diagonal(loops.bodies, here, nv)
    whole: list[Scalar] = []
    for c in range(count):
        column = K.solve([float(r == len(A) + c) for r in range(nv)])
        whole.append(sum(x * x * m for x, m in zip(column, diagonal)))
    return [1.0 / one_over[len(A) + c] for c in range(count)], whole


def freedom_pivots_are_sound(loops: Closure, part: Partition, q: Sequence[Scalar]) -> np.ndarray | None:
    """For each of many positions and mechanisms that differ in numbers, whether no pivot is small at first sight.

    None where the pivots of many aren't known at once.
    """
    if len(part.independent) != len(part.N) or len(part.rows) + len(part.given) + len(part.N) != loops.robot.nv:
        return None
    few = LITTLE * min(1.0, (LONG / max(len(loops.bodies), 1)) ** 3)
    with np.errstate(all="ignore"):
        try:
            pivots, whole = _eliminated(loops, part, q)
        except ZeroDivisionError:
            return None
        good = [np.asarray(x) > few * np.asarray(y) for x, y in zip(pivots, whole)]
        finite = [abs(np.asarray(x)) < np.inf for x in (*pivots, *whole, *q)]
    result: np.ndarray = np.all(np.broadcast_arrays(*good, *finite), axis=0)
    return result


def _all_at_once(loops: Closure, part: Partition, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pivots and what goes with them, by the full matrices."""
    nv, count = loops.robot.nv, len(part.N)
    M = np.array(inertia_matrix(loops.bodies, q.tolist(), nv), dtype=float)
    try:
        T = np.linalg.solve(part.matrix(loops.jacobian(q)[0]), np.eye(nv)[:, nv - count :])
    except np.linalg.LinAlgError:
        return np.full(count, np.nan), np.full(count, np.nan), np.zeros(count, dtype=int)
    I = T.T @ M @ T
    carried = T**2 * M.diagonal()[:, None]
    pivots = np.empty(count)
    with np.errstate(divide="ignore", invalid="ignore"):  # behind a pivot that is 0 there are no others
        for j in reversed(range(count)):  # the order of `dense.solve_with_inertia_factors`
            pivots[j] = I[j, j]
            I[:j, :j] -= np.outer(I[:j, j], I[j, :j]) / I[j, j]
    independent = part.independent
    leading = np.array(independent) if len(independent) == count else carried.argmax(axis=0)
    return pivots, carried.sum(axis=0), leading
