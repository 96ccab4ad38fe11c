"""First guesses for the coordinates of cut joints that have their own: those of the links that a cut ties.

A double hangs on the cut's joint, and its coordinates follow from where the cut's two links are.  A guess of the
assembly that leaves them out would otherwise begin with a gap as large as the joint's motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from ...machine.program.scalars import as_floats
from ...robot import Joint
from ..closure.constraints import Closure
from ..closure.ties import Tied


def coordinates_with_cut_joints_placed(loops: Closure, q: np.ndarray, kept: Collection[int]) -> np.ndarray:
    """The coordinates q with those of cut joints where the cuts' links are, unless their speeds are kept.

    A joint that turns keeps its count of turns as far as a guess can tell it.
    """
    robot = loops.robot
    for loop, tie in zip(robot.loops, loops.ties):
        if not loop.doubled:
            continue
        joint = robot.joint(loop.name)
        if set(joint.speeds) & set(kept):
            continue
        before, q = q, q.copy()
        q[list(joint.coordinates)] = joint.type.start
        tied = Tied(loops.bodies, tie, q.tolist())
        R = np.array([as_floats(axis) for axis in tied.axes()]).T  # of the second link in the cut's first frame
        q[list(joint.coordinates)] = _coordinates(joint, np.array(as_floats(tied.place.p)), R, before)
    return q


def _coordinates(joint: Joint, p: np.ndarray, R: np.ndarray, before: np.ndarray) -> Sequence[float]:
    values = OF_TYPE[joint.type.form_of or joint.type.name](p, R)
    if joint.type.orientation is not None:
        return values
    near = before[list(joint.coordinates)]
    turns = [round((x - y) / math.tau) if kind == "angle" else 0 for x, y, kind in zip(near, values, joint.type.kinds)]
    return [y + n * math.tau for y, n in zip(values, turns)]


def _about_z(R: np.ndarray) -> float:
    return math.atan2(R[1, 0], R[0, 0])


def _parameters(R: np.ndarray) -> list[float]:
    """The Euler parameters of a rotation matrix, from the largest of the four."""
    trace = float(np.trace(R))
    squares = [1.0 + trace, *(1.0 + 2.0 * float(R[k, k]) - trace for k in range(3))]
    k = int(np.argmax(squares))
    e = [0.0] * 4
    e[k] = math.sqrt(squares[k]) / 2
    if k == 0:
        e[1:] = [(R[2, 1] - R[1, 2]) / (4 * e[0]), (R[0, 2] - R[2, 0]) / (4 * e[0]), (R[1, 0] - R[0, 1]) / (4 * e[0])]
        return e
    i, j, m = k - 1, k % 3, (k + 1) % 3
    e[0] = (R[m, j] - R[j, m]) / (4 * e[k])
    e[1 + j], e[1 + m] = (R[j, i] + R[i, j]) / (4 * e[k]), (R[m, i] + R[i, m]) / (4 * e[k])
    return e


# the coordinates of a joint from the second frame's origin and axes in the first's
OF_TYPE: dict[str, Callable[[np.ndarray, np.ndarray], list[float]]] = {
    "revolute": lambda p, R: [_about_z(R)],
    "prismatic": lambda p, R: [float(p[2])],
    "spherical": lambda p, R: _parameters(R),
    "universal": lambda p, R: [math.atan2(R[2, 1], R[1, 1]), math.atan2(R[0, 2], R[0, 0])],
    "cylindrical": lambda p, R: [_about_z(R), float(p[2])],
    "planar": lambda p, R: [float(p[0]), float(p[1]), _about_z(R)],
}
