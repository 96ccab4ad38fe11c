"""Joints with next to nothing to accelerate: pivots of the generalized inertia matrix that elimination has used up.

The sweeps divide by the pivots D of `I = U D Uᵀ`.  Each is the inertia that a joint feels while all joints beyond it
give way, and it is the rest, after elimination, of an entry on the diagonal of I, the inertia with those joints held.
Where next to nothing is left, accelerations are huge and soon consist of rounding errors.  Such pivots are searched for
with numbers, apart from the text, which can't make decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import NumericalError
from ..machine.program.scalars import as_float
from ..robot.model import Body, Joint, Robot
from . import sweeps
from .spatial import add_matrices
from .sweeps import Motion, Pivot

LITTLE = 1e-10  # share of the diagonal below which a pivot is in doubt
LONG = 100  # bodies; in a chain of n like links, the first one's share is 3/n³
SHIFT = 1e-9  # shift of all coordinates, which hardly changes a sound pivot
SOUND = 1e-6  # largest change of a sound pivot by this shift, relative to the pivot

Shares = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # coordinates q → pivots, and their values before


def doubtful(q: Sequence[float] | np.ndarray, shares: Shares, bodies: int) -> list[int]:
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
            doubt &= ~((result > 0.0) & (abs(beside - result) <= SOUND * result))
    return [int(k) for k in np.flatnonzero(doubt)]


def vanishing(robot: Robot, q: Sequence[float], motion_given: Sequence[bool] | None = None) -> list[Joint]:
    """Joints of the tree that have next to nothing to accelerate, tips first.

    Joints before such a joint are examined as if it were held.
    """
    held, result = list(motion_given or [False] * robot.nv), list[Joint]()
    while True:
        sought = [k for k in reversed(range(robot.nv)) if not held[k]]
        places = doubtful(q, lambda q: _shares(robot, q, held, sought), len(robot.tree.bodies))  # noqa: B023
        if not places:
            return result
        for joint in dict.fromkeys(owner(robot, sought[place]) for place in places):
            result.append(joint)
            for k in joint.speeds:
                held[k] = True


def _shares(robot: Robot, q: np.ndarray, held: Sequence[bool], sought: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    eliminated = pivots(robot.tree.bodies, q.tolist(), held)
    whole = pivots(robot.tree.bodies, q.tolist(), [True] * robot.nv)
    return np.array([eliminated[k] for k in sought]), np.array([whole[k] for k in sought])


def pivots(bodies: Sequence[Body], q: Sequence[float], motion_given: Sequence[bool]) -> list[float]:
    """The pivot of each speed or, if its motion is given, the inertia along it without elimination of that speed.

    Elimination ends at a pivot of 0; pivots nearer to the base are infinity then.
    """
    result, still = [np.inf] * len(motion_given), [0.0] * len(motion_given)
    A = [sweeps.mass_matrix(body) for body in bodies]
    for i, body in reversed(list(enumerate(bodies))):
        own: dict[int, Pivot] = {}
        try:
            above, _ = sweeps.inward(body, A[i], [0.0] * 6, q, still, still, motion_given, own)
        except ZeroDivisionError:
            result[next(k for k in reversed(body.speeds) if k not in own)] = 0.0
            break
        for d, k, drive in zip(body.directions, body.speeds, body.drives):
            row = own[k].row
            assert row is not None  # inertia reaches every body
            result[k] = as_float(row[d] + drive.rotor if motion_given[k] else own[k].size)
        if body.parent is not None and above is not None:
            here = Motion()
            here.rotation, here.origin = sweeps.placement(body, q)
            A[body.parent] = add_matrices(A[body.parent], sweeps.inertia_at_parent(here, above))
    return result


def examine(robot: Robot, q: Sequence[float], motion_given: Sequence[bool]) -> None:
    """Raises an error if a joint has next to nothing to accelerate at q."""
    joints = vanishing(robot, q, motion_given)
    if joints:
        raise refusal(robot, joints)


def owner(robot: Robot, speed: int) -> Joint:
    """The joint to which a speed belongs."""
    return next(joint for joint in robot.moving if speed in joint.speeds)


def refusal(robot: Robot, joints: Sequence[Joint]) -> NumericalError:
    """The error for joints that have nothing to accelerate."""
    return NumericalError(f"{robot.name}: {vanishing_message(joints)}")


def vanishing_message(joints: Sequence[Joint]) -> str:
    """A message that names joints with nothing to accelerate, the first few of many, and the cures."""
    more = f" and {len(joints) - 8} more" if len(joints) > 8 else ""
    names = ", ".join(f"`{joint.name}`" for joint in joints[:8]) + more
    return (
        f"{names} {'has' if len(joints) == 1 else 'have'} nothing to accelerate, or next to nothing (no pivot of the "
        "generalized inertia matrix is left there); give what moves there a mass and an inertia, give the joint a "
        "`rotor_inertia`, or make it `type: fixed`"
    )
