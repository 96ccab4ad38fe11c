"""The calls of the Python interface that compute: arrays in, arrays out, one sample or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.jit import choice
from ..machine.jit.offer import in_blocks
from ..machine.program.scalars import Scalar
from ..robot.model import Robot
from .mixed import Mixed, Pattern, mixed
from .samples import BLOCK, LARGE, Samples, no_numbers, singular, too_large

Wrenches = Mapping[str, Any]


def inverse(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """Tau: the forces that actuators add for this motion (RIDIM)."""
    if wrenches is None and (answer := _quick(robot, True, q, qd, qdd)) is not None:
        return answer
    s = Samples(robot, q=q, qd=qd, qdd=qdd)
    return _sought(s, s.arrays["qdd"], (True,) * robot.nv, wrenches)


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """Qdd: the accelerations under these forces (RFDSIM)."""
    if wrenches is None and (answer := _quick(robot, False, q, qd, tau)) is not None:
        return answer
    s = Samples(robot, q=q, qd=qd, tau=tau)
    return _sought(s, s.arrays["tau"], (False,) * robot.nv, wrenches)


def hybrid(
    robot: Robot, q: Any, qd: Any, qdd: Any, tau: Any, wrenches: Wrenches | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(qdd, tau), complete: for each speed one of the two is NaN on entry, and is what is sought."""
    s = Samples(robot, allow_nan=("qdd", "tau"), q=q, qd=qd, qdd=qdd, tau=tau)
    rates, forces = np.broadcast_arrays(s.arrays["qdd"], s.arrays["tau"])
    motion_given = _pattern(robot, rates, forces)
    known = np.array(motion_given, dtype=bool)
    s.arrays["x"] = np.where(known, rates, forces)
    sought = _sought(s, s.arrays["x"], motion_given, wrenches)
    return np.where(known, s.arrays["x"], sought), np.where(known, sought, s.arrays["x"])


def _sought(s: Samples, x: np.ndarray, motion_given: Pattern, wrenches: Wrenches | None) -> np.ndarray:
    """What is sought for each speed."""
    on, loads = s.loads(wrenches)
    problem = mixed(s.robot, motion_given, on, loads)
    acting = [value for six in (*on.values(), *(six for _, six, _ in loads)) for value in six]
    given = x.tolist() if x.ndim == 1 else [np.ascontiguousarray(x[:, k]) for k in range(x.shape[1])]
    arguments = s.scalars("q"), s.scalars("qd"), given, acting
    if s.count is None and not choice.rolled(len(problem.bodies)):
        s.finite()
        found: np.ndarray = _plain(problem, s, x, 1, arguments)[0]
        return found
    count = 1 if s.count is None else s.count
    w = np.empty((count, len(acting)))
    for k, value in enumerate(acting):
        w[:, k] = value
    rows = s.rows("q"), s.rows("qd"), np.ascontiguousarray(np.broadcast_to(x, (count, s.robot.nv))), w
    block = max(8, min(1024, BLOCK // max(len(problem.bodies), 1)))  # so that what the text keeps of a body stays small

    def text(these: slice) -> np.ndarray:
        s.finite()
        part = [[x[these] if isinstance(x, np.ndarray) else x for x in group] for group in arguments]
        return _plain(problem, s, x, these.stop - these.start, part)

    def by(code: Any, first: int) -> np.ndarray | None:
        return problem.by(code, [row[first:] for row in rows])

    found = in_blocks(np.empty((count, problem.nv)), block, problem.compiled, by, text)
    return found if s.count is not None else found[0]


def _plain(problem: Mixed, s: Samples, x: np.ndarray, count: int, arguments: Sequence[list[Scalar]]) -> np.ndarray:
    """Rows by the plain text, or an error that says why there are none."""
    robot, motion = s.robot, all(problem.motion_given)
    found = np.empty((count, problem.nv))
    with np.errstate(all="ignore"):
        try:
            for k, value in enumerate(problem.offer.plain(count, problem.text, *arguments)):
                found[:, k] = value
        except (ZeroDivisionError, OverflowError):
            raise (too_large if motion else singular)(robot) from None
    if not np.isfinite(found).all():
        sizes = [float(abs(array).max(initial=0.0)) for array in (*s.arrays.values(), x)]
        raise (too_large if motion or max(sizes) > LARGE else no_numbers)(robot)
    return found


def _quick(robot: Robot, motion: bool, q: Any, qd: Any, x: Any) -> np.ndarray | None:
    """One sample by compiled code, with as little around it as can be; None where that isn't the way."""
    try:
        single = robot.derived.get(("single", motion)) if choice.free() else None
    except AttributeError:  # not a robot, which will be told
        return None
    if single is None:
        if type(q) is not np.ndarray or q.ndim != 1 or robot.wrenches or _has_orientation(robot):
            return None
        single = mixed(robot, (motion,) * robot.nv, {}, ()).single()
        if single is None:
            return None
        robot.derived["single", motion] = single
    try:
        return single.of_doubles(q, qd, x)
    except (AttributeError, TypeError, ValueError):
        return None


def _has_orientation(robot: Robot) -> bool:
    return any(joint.type.orientation is not None for joint in robot.moving)


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


def bias(robot: Robot, q: Any, qd: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """H of `tau = I qdd + h`: Coriolis, centrifugal, gravity, friction, springs, wrenches."""
    return inverse(robot, q, qd, np.zeros(np.shape(Samples(robot, qd=qd).arrays["qd"])), wrenches)
