"""The calls of the Python interface that compute: arrays in, arrays out, one sample or many."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...machine.backend import LOOP
from ...machine.jit import Kernel, Rolled, Single, plain_or_compiled_in_blocks
from ...machine.program import kernel_parts_in_order, scalars_into_columns
from ...robot import Robot
from ..bodies.looped import runs_as_loop_over_bodies
from ..tree.vanishing import examine_joint_inertia_once, examine_strange_accelerations
from .direct import aim_direct_call, direct_call, key_of_direct_call
from .mixed import Hybrid, Mixed, Pattern, mixed_dynamics
from .mixed import hybrid_tree_problem as known_hybrid
from .samples import (
    BLOCK,
    LARGE,
    Samples,
    array_for_dynamics_results,
    contiguous_rows,
    dynamics_overflow_error,
    dynamics_without_numbers_error,
    singular_dynamics_error,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Wrenches = Mapping[str, "ArrayLike"]
HYBRID = "hybrid"  # the name of the direct call
SHORT = 45  # bodies up to which straight code for one sample is at least as quick as a loop over them
AHEAD = 10  # calls for which a loop's code is worth being looked for
MANY = 20_000  # samples whose results are written into the caller's array at once


def inverse(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The forces `tau` that the actuators exert for this motion (RIDIM)."""
    s = Samples(robot, q=q, qd=qd, qdd=qdd)
    return _sought(s, s.arrays["qdd"], (True,) * robot.nv, wrenches, "inverse", out)


def forward(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The accelerations `qdd` under these forces (RFDSIM)."""
    s = Samples(robot, q=q, qd=qd, tau=tau)
    return _sought(s, s.arrays["tau"], (False,) * robot.nv, wrenches, "forward", out)


def hybrid(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The complete `(qdd, tau)`; for each speed, one of the two is NaN on entry and is computed."""
    if (answer := _at_once(robot, q, qd, qdd, tau, wrenches)) is not None:
        at_once: tuple[np.ndarray, np.ndarray] = answer
        return at_once
    s = Samples(robot, allow_nan=("qdd", "tau"), q=q, qd=qd, qdd=qdd, tau=tau)
    if s.count == 0:
        s.acting(wrenches)
        return np.empty((0, robot.nv)), np.empty((0, robot.nv))
    rates, forces = np.broadcast_arrays(s.arrays["qdd"], s.arrays["tau"])
    motion_given = _pattern(robot, rates, forces)
    if not runs_as_loop_over_bodies(robot.tree.bodies):
        links, w = s.acting(wrenches)
        rows = [*(s.rows(name) for name in ("q", "qd", "qdd", "tau")), w]
        what = _of_pattern(np.array(motion_given))
        direct_call(robot, what, links, (robot.nq, robot.nv, robot.nv, robot.nv), None)
        found = _solved(known_hybrid(robot, motion_given, links), s, rows, what)
        return found[..., : robot.nv], found[..., robot.nv :]
    known = np.array(motion_given, dtype=bool)
    x = np.where(known, rates, forces)
    sought = _sought(s, x, motion_given, wrenches)
    return np.where(known, x, sought), np.where(known, sought, x)


def _at_once(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None
) -> Any:
    """The answer of code that is there already for the places of NaN in the first sample, or None."""
    try:
        first = tau[0] if isinstance(tau, np.ndarray) and tau.ndim == 2 else tau
        call = robot.derived[key_of_direct_call(_of_pattern(np.isnan(first)), tuple(wrenches or ()))]
        return call(q, qd, qdd, tau, *(wrenches or {}).values())
    except (
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
    ):  # whatever is wrong is said in the general way
        return None


def _of_pattern(motion_given: np.ndarray) -> Hashable:
    """The name of the direct call where the motion of these speeds is given."""
    return HYBRID, motion_given.tobytes()


def _sought(
    s: Samples,
    x: np.ndarray,
    motion_given: Pattern,
    wrenches: Wrenches | None,
    what: Hashable = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The sought force or acceleration of each speed, by code that serves the robot's direct calls of this name."""
    links, w = s.acting(wrenches)
    rows = [s.rows("q"), s.rows("qd"), contiguous_rows(x, len(w)), w]
    return _solved(mixed_dynamics(s.robot, motion_given, links), s, rows, what, out)


def _solved(
    problem: Mixed, s: Samples, rows: Sequence[np.ndarray], what: Hashable = None, out: np.ndarray | None = None
) -> np.ndarray:
    """The results of a problem, with a row for each sample in its groups of inputs."""
    robot, pattern = s.robot, problem.motion_given
    if s.count != 0 and not all(pattern) and ("examined", pattern) not in robot.derived:
        examine_joint_inertia_once(s.begun_finite().robot, rows[0][0], pattern)
    result = _room(out, (*s.shape, problem.results()), rows)
    long = s.count is None and runs_as_loop_over_bodies(problem.bodies, SHORT)
    if long and (answer := _by_loops(problem, rows, what)) is not None:
        result[...] = answer
    elif s.count is None and not runs_as_loop_over_bodies(problem.bodies):
        result[...] = _alone(problem, s, rows, what)
    else:
        _many(problem, s, rows, what, result if s.count is not None else result[None])
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


def _room(out: Any, shape: tuple[int, ...], rows: Sequence[np.ndarray]) -> np.ndarray:
    """Where results go before the caller's array gets them: that array itself only if there are very many of them.

    So it stays as it was where a sample fails, unless there are very many.
    """
    if out is None:
        return np.empty(shape)
    own = array_for_dynamics_results(out, shape)
    apart = own.flags.c_contiguous and own.flags.aligned and not any(np.may_share_memory(own, row) for row in rows)
    return own if apart and len(shape) > 1 and shape[0] >= MANY else np.empty(shape)


def _alone(problem: Mixed, s: Samples, rows: Sequence[np.ndarray], what: Hashable) -> np.ndarray:
    """What is sought of one sample."""
    single = problem.single()
    if single is not None:
        result = single(*(row[0] for row, width in zip(rows, problem.widths) if width))
        if result is not None:
            _direct(problem, what, single)
            return result
    s.finite()
    answer: np.ndarray = _plain(problem, s, rows)[0]
    return answer


def _by_loops(problem: Mixed, rows: Sequence[np.ndarray], what: Hashable) -> np.ndarray | None:
    """What is sought of one sample, by loops that serve all trees; None where they don't fit, or aren't there yet."""
    from ..bodies import body_tables
    from . import programs

    robot, pattern = problem.robot, problem.motion_given
    name = "idyn" if all(pattern) else "fdyn"
    fits = type(problem) is Mixed and not problem.links and (all(pattern) or not any(pattern))
    if not fits or not programs.drives_are_of_single_rows(robot):
        return None
    bind = partial(body_tables.tree_tables(robot).bound, body_tables.LOOPS[name], (problem.nv,))
    code = problem.offer.form("loops", bind, 0, LOOP, AHEAD)
    if code is None:
        return None
    _direct(problem, what, code)
    answer: np.ndarray | None = code(*(row[0] for row in rows[:3]))
    return answer


def _many(problem: Mixed, s: Samples, rows: Sequence[np.ndarray], what: Hashable, result: np.ndarray) -> None:
    """Fills the rows of many samples."""
    block = max(8, min(1024, BLOCK // max(len(problem.bodies), 1)))  # so that what the text keeps of a body stays small

    def text(these: slice) -> np.ndarray:
        s.finite()
        return _plain(problem, s, [row[these] for row in rows])

    def by(code: Any, first: int) -> np.ndarray | None:
        _direct(problem, what, code)
        return problem.by(code, [row[first:] for row in rows], result[first:])

    plain_or_compiled_in_blocks(result, block, problem.compiled, by, text)


def _direct(problem: Mixed, what: Hashable, code: Single | Kernel | Rolled) -> None:
    """Lets the robot's direct calls of this name use this code, unless loops make them more than the tree's."""
    if what is not None and not problem.robot.closed and not isinstance(code, Rolled):
        parts = kernel_parts_in_order([("", (problem.nv,))] * 2) if isinstance(problem, Hybrid) else ()
        for name in (what, HYBRID) if isinstance(problem, Hybrid) else (what,):
            aim_direct_call(problem.robot, name, problem.links, code, (problem.results(),), parts=parts)


def _plain(problem: Mixed, s: Samples, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows by the plain text, or an error that says why there are none."""
    robot, motion, count = s.robot, all(problem.motion_given), len(rows[0])
    alone = s.count is None
    columns = [row[0].tolist() if alone else [np.ascontiguousarray(column) for column in row.T] for row in rows]
    with np.errstate(all="ignore"):
        try:
            sought, watched = problem.offer.plain(count, problem.text, *columns)
            whole = np.empty((count, problem.results() + len(watched)))
            scalars_into_columns(whole, [*sought, *watched])
        except (ZeroDivisionError, OverflowError):
            if motion:
                raise dynamics_overflow_error(robot) from None
            examine_strange_accelerations(robot, rows[0], np.full((count, 1), np.nan), problem.motion_given)
            raise singular_dynamics_error(robot) from None
    if not motion:
        examine_strange_accelerations(robot, rows[0], whole, problem.motion_given)
    result = whole[:, : problem.results()]
    if not np.isfinite(result).all():
        sizes = [float(abs(np.nan_to_num(array)).max(initial=0.0)) for array in rows]
        raise (dynamics_overflow_error if motion or max(sizes) > LARGE else dynamics_without_numbers_error)(robot)
    return result


def _pattern(robot: Robot, qdd: np.ndarray, tau: np.ndarray) -> Pattern:
    """For each speed, whether its motion is given; the same for all samples."""
    motion, force = ~np.isnan(np.atleast_2d(qdd)), ~np.isnan(np.atleast_2d(tau))
    if motion.shape[0] and not ((motion == motion[0]).all() and (force == force[0]).all()):
        raise InputError("the pattern of NaN differs from sample to sample", allowed="one pattern for the whole batch")
    motion, force = motion[:1].any(axis=0), force[:1].any(axis=0)
    for k, name in enumerate(robot.columns("accelerations")):
        if motion.shape and motion[k] == force[k]:
            state = "both" if motion[k] else "neither"
            raise InputError(
                f"{name}: {state} of acceleration and force given", allowed="exactly one of the two is NaN"
            )
    return tuple(bool(x) for x in motion)
