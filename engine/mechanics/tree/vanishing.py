"""Joints with next to nothing to accelerate: pivots of the generalized inertia matrix that elimination has used up.

The sweeps divide by the pivots D of `I = U D Uᵀ`.  Each is the inertia that a joint feels while all joints beyond it
give way, and it is the rest, after elimination, of an entry on the diagonal of I, the inertia with those joints held.
Where next to nothing is left, accelerations are huge and soon consist of rounding errors.  Such pivots are searched for
with numbers, apart from the text, which can't make decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import NumericalError
from ...machine.jit import ENORMOUS
from ...machine.program import Scalar
from ...robot import Body, Joint, Robot
from ...robot.read import robot_number
from . import one_body, sweeps, transfer
from .one_body import Motion
from .spatial import add_matrices
from .springs import varied_bodies_without_passive_forces
from .sweeps import Pivot

LITTLE = 1e-10  # share of the diagonal below which a pivot is in doubt
NOTHING = 1e-25  # share that only squares of rounding errors leave, which may be the same at all positions by chance
LONG = 100  # bodies; in a chain of n like links, the first one's share is 3/n³
SHIFT = 1e-9  # shift of all coordinates, which hardly changes a sound pivot
USUAL = 1e3  # least ratio of a usual pivot to one that has been lost
SOUND = 1e-6  # largest change of a sound pivot by this shift, relative to the pivot

Shares = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # coordinates q → pivots, and their values before


def doubtful_joint_pivots(q: Sequence[float] | np.ndarray, shares: Shares, bodies: int) -> list[int]:
    """Places of pivots that are too small to divide by.

    A small share alone proves nothing: where a heavy rotor and a tiny link turn about one axis, the recursion keeps the
    link's own inertia to the last digit.  Such a pivot is the same at all positions; a doubtful one changes beside q.
    """
    here = np.array(q, dtype=float)
    little = LITTLE * min(1.0, (LONG / max(bodies, 1)) ** 3)
    with np.errstate(all="ignore"):
        result, whole = shares(here)
        doubt = np.isfinite(whole) & ~(result > little * whole)
        if doubt.any():
            uneven = np.cos(np.arange(len(here)))  # not a motion of the robot as a whole
            beside, _ = shares(here + SHIFT * uneven)
            doubt &= ~((result > NOTHING * whole) & (abs(beside - result) <= SOUND * result))
    return [int(k) for k in np.flatnonzero(doubt)]


def joints_of_vanishing_inertia(
    robot: Robot, q: Sequence[float], motion_given: Sequence[bool] | None = None
) -> list[Joint]:
    """Joints of the tree that have next to nothing to accelerate, tips first.

    Joints before such a joint are examined as if it were held.  The last answer is kept, for runs that start alike.
    """
    question = tuple(q), tuple(motion_given or ())
    last, answer = robot.derived.get("vanishing", (None, []))
    if last != question:
        answer = _vanishing(robot, q, motion_given)
        robot.derived["vanishing"] = question, answer
    return [*answer]


def _vanishing(robot: Robot, q: Sequence[float], motion_given: Sequence[bool] | None) -> list[Joint]:
    held, result = list(motion_given or [False] * robot.nv), list[Joint]()
    while True:
        sought = [k for k in reversed(range(robot.nv)) if not held[k]]
        places = doubtful_joint_pivots(q, lambda q: _shares(robot, q, held, sought), len(robot.tree.bodies))  # noqa: B023
        if not places:
            return result
        for joint in dict.fromkeys(tree_joint_of_speed(robot, sought[place]) for place in places):
            result.append(joint)
            for k in joint.speeds:
                held[k] = True


def joint_pivots_are_sound(bodies: Sequence[Body], q: Sequence[Scalar], motion_given: Sequence[bool]) -> np.ndarray:
    """For each of many positions and values of the bodies' numbers, whether no pivot is small at first sight."""
    little = LITTLE * min(1.0, (LONG / max(len(bodies), 1)) ** 3)
    bodies = varied_bodies_without_passive_forces(bodies)
    with np.errstate(all="ignore"):
        eliminated, whole = (
            joint_inertia_pivots(bodies, q, motion_given),
            joint_inertia_pivots(bodies, q, [True] * len(motion_given)),
        )
        good = [x > little * y for x, y, given in zip(eliminated, whole, motion_given) if not given]
        finite = [abs(np.asarray(x)) < np.inf for x in q]
    result: np.ndarray = np.all(np.broadcast_arrays(*good, *finite), axis=0)
    return result


def _shares(robot: Robot, q: np.ndarray, held: Sequence[bool], sought: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    eliminated = joint_inertia_pivots(robot.tree.bodies, q.tolist(), held)
    whole = joint_inertia_pivots(robot.tree.bodies, q.tolist(), [True] * robot.nv)
    return np.array([eliminated[k] for k in sought]), np.array([whole[k] for k in sought])


def joint_inertia_pivots(bodies: Sequence[Body], q: Sequence[Scalar], motion_given: Sequence[bool]) -> list[float]:
    """The pivot of each speed or, if its motion is given, the inertia along it without elimination of that speed.

    Elimination ends at a pivot of 0; pivots nearer to the base are infinity then.  Coordinates and numbers of bodies
    may be arrays.
    """
    result, still = [np.inf] * len(motion_given), [0.0] * len(motion_given)
    A = [one_body.mass_matrix(body) for body in bodies]
    for i, body in reversed(list(enumerate(bodies))):
        own: dict[int, Pivot] = {}
        try:
            above, _ = sweeps.sweep_inward(body, A[i], [0.0] * 6, q, still, still, motion_given, own)
        except ZeroDivisionError:
            result[next(k for k in reversed(body.speeds) if k not in own)] = 0.0
            break
        for d, k, drive in zip(body.directions, body.speeds, body.drives):
            row = own[k].row
            assert row is not None  # inertia reaches every body
            size: Any = row[d] + drive.rotor if motion_given[k] else own[k].size
            result[k] = robot_number(size)
        if body.parent is not None and above is not None:
            here = Motion()
            here.steps = None
            here.rotation, here.origin = transfer.placement_of_body(body, q)
            A[body.parent] = add_matrices(A[body.parent], transfer.inertia_at_parent(here, above))
    return result


# ---- pivots that compiled code and batches watch


def joint_pivot_losses(least: Sequence[float], pivots: Mapping[int, Pivot]) -> list[Scalar]:
    """Numbers that are enormous where a watched pivot is below its least value."""
    return [joint_pivot_loss(x, 1.0 / pivots[k].size) for k, x in enumerate(least) if x]


def joint_pivot_loss(least: Scalar, one_over: Scalar) -> Scalar:
    """A number that is enormous where a pivot is below its least value."""
    return least * ENORMOUS * one_over


def least_joint_pivots(robot: Robot, motion_given: Sequence[bool]) -> tuple[float, ...]:
    """For each speed a pivot that is certainly large enough, or 0 if it needn't be watched.

    A pivot that is as small at two positions of no special kind is small by its own numbers, and is lost nowhere.
    """
    return robot.made_once(("least", tuple(motion_given)), lambda: _least(robot, motion_given))


def _least(robot: Robot, motion_given: Sequence[bool]) -> tuple[float, ...]:
    bounds = _bounds(robot)
    few = LITTLE * min(1.0, (LONG / max(len(robot.tree.bodies), 1)) ** 3)
    usual = np.zeros(robot.nv)
    for turn in (0.3, 0.7):
        q = _unit(robot, np.array(robot.q0) + turn * np.sin(np.arange(1, robot.nq + 1)))
        usual = np.fmax(usual, np.array(joint_inertia_pivots(robot.tree.bodies, q.tolist(), motion_given)))
    watched = (few * bounds < usual / USUAL) & ~np.array(motion_given, dtype=bool)
    return tuple(float(x) for x in np.where(watched, few * bounds, 0.0))


def _unit(robot: Robot, q: np.ndarray) -> np.ndarray:
    for joint in robot.moving:
        if joint.type.orientation is not None:
            first = joint.coordinates[joint.type.orientation]
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q


def _bounds(robot: Robot) -> np.ndarray:
    """For each speed an inertia that it feels at no position, with slides about as far out as at the start."""
    bodies = robot.tree.bodies
    result = np.zeros(robot.nv)
    for j, body in enumerate(bodies):
        sum_of_squares = sum(abs(body.E[r][r]) for r in range(3))
        at: int | None = j
        reach = 0.0
        while at is not None:
            above = bodies[at]
            turning = sum_of_squares + 2 * reach * math.hypot(*body.h) + body.m * reach**2
            for d, k in zip(above.directions, above.speeds):
                result[k] += turning + body.m * above.pitch**2 if d < 3 else body.m
            slides = (above.coordinates[k] for what, _, k in above.moves if what != "turn")
            reach += math.hypot(*above.origin) + sum(abs(robot.q0[c]) for c in slides)
            at = above.parent
    for joint in robot.moving:
        result[list(joint.speeds)] += [drive.rotor for drive in joint.drives]
    return result


def examine_joint_inertia(robot: Robot, q: Sequence[float], motion_given: Sequence[bool]) -> None:
    """Raises an error if a joint has next to nothing to accelerate at q."""
    joints = joints_of_vanishing_inertia(robot, q, motion_given)
    if joints:
        raise vanishing_inertia_error(robot, joints)


def examine_joint_inertia_once(robot: Robot, q: np.ndarray, motion_given: tuple[bool, ...]) -> None:
    """Examines a robot with this motion given at the first position that it comes to, and at no other."""
    if not all(motion_given) and ("examined", motion_given) not in robot.derived:
        examine_joint_inertia(robot, q.tolist(), motion_given)
        robot.derived["examined", motion_given] = True


def examine_strange_accelerations(
    robot: Robot, q: np.ndarray, numbers: np.ndarray, motion_given: Sequence[bool]
) -> None:
    """Examines the first and the worst of many positions whose numbers aren't finite, or are enormous."""
    strange = np.flatnonzero(~(abs(numbers) < ENORMOUS).all(axis=1))
    if len(strange):
        worst = strange[np.argmax(np.nan_to_num(abs(numbers[strange]), nan=np.inf).max(axis=1))]
        for n in {int(strange[0]), int(worst)}:
            examine_joint_inertia(robot, q[n].tolist(), motion_given)


def tree_joint_of_speed(robot: Robot, speed: int) -> Joint:
    """The joint to which a speed belongs."""
    return next(joint for joint in robot.moving if speed in joint.speeds)


def vanishing_inertia_error(robot: Robot, joints: Sequence[Joint]) -> NumericalError:
    """The error for joints that have nothing to accelerate."""
    return NumericalError(f"{robot.name}: {vanishing_inertia_message(joints)}")


def vanishing_inertia_message(joints: Sequence[Joint]) -> str:
    """A message that names joints with nothing to accelerate, the first few of many, and the cures."""
    more = f" and {len(joints) - 8} more" if len(joints) > 8 else ""
    names = ", ".join(f"`{joint.name}`" for joint in joints[:8]) + more
    return (
        f"{names} {'has' if len(joints) == 1 else 'have'} nothing to accelerate, or next to nothing (no pivot of the "
        "generalized inertia matrix is left there); give what moves there a mass and an inertia, give the joint a "
        "`rotor_inertia`, or make it `type: fixed`"
    )
