"""The calls of the Python interface that compute: arrays in, arrays out, one sample or many."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.jit import choice
from ..machine.jit.kernel import Kernel, Single
from ..machine.jit.llvm import ENORMOUS
from ..machine.jit.offer import in_blocks
from ..machine.jit.rolled import Rolled
from ..machine.program.scalars import into_columns
from ..robot.model import Robot
from .direct import aim, direct, key_of
from .mixed import Mixed, Pattern, mixed
from .samples import BLOCK, LARGE, Samples, no_numbers, room, singular, too_large
from .vanishing import examine

Wrenches = Mapping[str, Any]


def inverse(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None, out: Any = None) -> np.ndarray:
    """The forces `tau` that the actuators exert for this motion (RIDIM)."""
    s = Samples(robot, q=q, qd=qd, qdd=qdd)
    return _sought(s, s.arrays["qdd"], (True,) * robot.nv, wrenches, "inverse", out)


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None, out: Any = None) -> np.ndarray:
    """The accelerations `qdd` under these forces (RFDSIM)."""
    s = Samples(robot, q=q, qd=qd, tau=tau)
    return _sought(s, s.arrays["tau"], (False,) * robot.nv, wrenches, "forward", out)


def hybrid(
    robot: Robot, q: Any, qd: Any, qdd: Any, tau: Any, wrenches: Wrenches | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The complete `(qdd, tau)`; for each speed, one of the two is NaN on entry and is computed."""
    if (answer := _at_once(robot, q, qd, qdd, tau, wrenches)) is not None:
        return answer
    s = Samples(robot, allow_nan=("qdd", "tau"), q=q, qd=qd, qdd=qdd, tau=tau)
    rates, forces = np.broadcast_arrays(s.arrays["qdd"], s.arrays["tau"])
    motion_given = _pattern(robot, rates, forces)
    known = np.array(motion_given, dtype=bool)
    s.arrays["x"] = np.where(known, rates, forces)
    what = _hybrid(~known, known)
    if s.count is None:
        direct(robot, what, tuple(wrenches or ()), (robot.nq, robot.nv, robot.nv), None)
    sought = _sought(s, s.arrays["x"], motion_given, wrenches, what)
    return np.where(known, s.arrays["x"], sought), np.where(known, sought, s.arrays["x"])


def _at_once(
    robot: Robot, q: Any, qd: Any, qdd: Any, tau: Any, wrenches: Wrenches | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """The complete `(qdd, tau)` of one sample by existing code for this pattern of NaN; None where there is none."""
    try:
        unknown, given = np.isnan(qdd), np.isnan(tau)
        call = robot.derived[key_of(_hybrid(unknown, given), tuple(wrenches or ()))]
        sought = call(q, qd, np.where(unknown, tau, qdd), *(wrenches or {}).values())
    except (AttributeError, KeyError, TypeError, ValueError):  # the general way reports whatever is wrong
        return None
    return None if sought is None else (np.where(unknown, sought, qdd), np.where(unknown, tau, sought))


def _hybrid(unknown: np.ndarray, given: np.ndarray) -> Hashable:
    """The key of the direct call for samples in which these accelerations and forces are NaN."""
    return "hybrid", unknown.tobytes(), given.tobytes()


def _sought(
    s: Samples,
    x: np.ndarray,
    motion_given: Pattern,
    wrenches: Wrenches | None,
    what: Hashable = None,
    out: Any = None,
) -> np.ndarray:
    """The sought force or acceleration of each speed, by code that serves the robot's direct calls of this name."""
    links, w = s.acting(wrenches)
    problem = mixed(s.robot, motion_given, links)
    rows = [s.rows("q"), s.rows("qd"), np.ascontiguousarray(np.broadcast_to(x, (len(w), s.robot.nv))), w]
    if s.count != 0 and not _is_examined(s.robot, motion_given):
        examine(s.finite().robot, rows[0][0].tolist(), motion_given)
        s.robot.derived["examined", motion_given] = True
    result = _room(out, (*s.shape, problem.nv), rows)
    if s.count is None and not choice.runs_rolled(len(problem.bodies), single=True):
        result[...] = _alone(problem, s, x, rows, what)
    else:
        _many(problem, s, x, rows, what, result if s.count is not None else result[None])
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


def _room(out: Any, shape: tuple[int, ...], rows: Sequence[np.ndarray]) -> np.ndarray:
    """Where results go: the caller's array if it may be written while the arguments are read."""
    if out is None:
        return np.empty(shape)
    own = room(out, shape)
    apart = own.flags.c_contiguous and own.flags.aligned and not any(np.may_share_memory(own, row) for row in rows)
    return own if apart else np.empty(shape)


def _alone(problem: Mixed, s: Samples, x: np.ndarray, rows: Sequence[np.ndarray], what: Hashable) -> np.ndarray:
    """The sought force or acceleration of each speed, for one sample."""
    single = problem.single()
    if single is not None:
        result = single(*(row[0] for row, width in zip(rows, problem.widths) if width))
        if result is not None:
            _direct(problem, what, single)
            return result
    s.finite()
    answer: np.ndarray = _plain(problem, s, x, rows)[0]
    return answer


def _many(
    problem: Mixed, s: Samples, x: np.ndarray, rows: Sequence[np.ndarray], what: Hashable, result: np.ndarray
) -> None:
    """Fills `result`, a row for each sample, with the sought force or acceleration of each speed."""
    block = max(8, min(1024, BLOCK // max(len(problem.bodies), 1)))  # so that what the text keeps of a body stays small

    def text(these: slice) -> np.ndarray:
        s.finite()
        return _plain(problem, s, x, [row[these] for row in rows])

    def by(code: Any, first: int) -> np.ndarray | None:
        _direct(problem, what, code)
        return problem.by(code, [row[first:] for row in rows], result[first:])

    in_blocks(result, block, problem.compiled, by, text)


def _direct(problem: Mixed, what: Hashable, code: Single | Kernel | Rolled) -> None:
    """Lets the robot's direct calls of this name use this code, unless loops make them more than the tree's."""
    if what is not None and not problem.robot.closed and not isinstance(code, Rolled):
        aim(problem.robot, what, problem.links, code, (problem.nv,))


def _plain(problem: Mixed, s: Samples, x: np.ndarray, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows by the plain text, or an error that says why there are none."""
    robot, motion, count = s.robot, all(problem.motion_given), len(rows[0])
    result = np.empty((count, problem.nv))
    alone = s.count is None
    columns = [row[0].tolist() if alone else [np.ascontiguousarray(column) for column in row.T] for row in rows]
    with np.errstate(all="ignore"):
        try:
            into_columns(result, problem.offer.plain(count, problem.text, *columns))
        except (ZeroDivisionError, OverflowError):
            if motion:
                raise too_large(robot) from None
            _examine_strange(problem, robot, rows[0], np.full((count, 1), np.nan))
            raise singular(robot) from None
    if not motion:
        _examine_strange(problem, robot, rows[0], result)
    if not np.isfinite(result).all():
        sizes = [float(abs(array).max(initial=0.0)) for array in (*s.arrays.values(), x)]
        raise (too_large if motion or max(sizes) > LARGE else no_numbers)(robot)
    return result


def _is_examined(robot: Robot, motion_given: Pattern) -> bool:
    """Whether the robot's pivots have been examined for this pattern, once for all, or there are none to examine."""
    return all(motion_given) or ("examined", motion_given) in robot.derived


def _examine_strange(problem: Mixed, robot: Robot, q: np.ndarray, result: np.ndarray) -> None:
    """Looks at the pivots of the first sample whose results are no numbers, or enormous ones."""
    strange = ~(abs(result) < ENORMOUS).all(axis=1)
    if strange.any():
        examine(robot, q[int(np.argmax(strange))].tolist(), problem.motion_given)


def _pattern(robot: Robot, qdd: np.ndarray, tau: np.ndarray) -> Pattern:
    """For each speed, whether its motion is given; the same for all samples."""
    motion, force = ~np.isnan(np.atleast_2d(qdd)), ~np.isnan(np.atleast_2d(tau))
    if motion.shape[0] and not ((motion == motion[0]).all() and (force == force[0]).all()):
        raise InputError("the pattern of NaN differs from sample to sample", allowed="one pattern for the whole batch")
    motion, force = motion[:1].any(axis=0), force[:1].any(axis=0)
    columns = [f"{joint.name}.{suffix}" for joint in robot.moving for suffix in joint.type.accelerations]
    for k, name in enumerate(columns):
        if motion.shape and motion[k] == force[k]:
            state = "both" if motion[k] else "neither"
            raise InputError(
                f"{name}: {state} of acceleration and force given", allowed="exactly one of the two is NaN"
            )
    return tuple(bool(x) for x in motion)
