"""The motion of all joints of a mechanism from that of its actuated ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import AssemblyError, InputError, NumericalError
from ...loops.assembly import position_with_loops_closed
from ...loops.constraints import Closure, loop_closure
from ...loops.search import closing_position_moved_along_speeds
from ...robot import Joint, Robot

FARTHEST = 0.05  # step of a coordinate on the way to the first row, in radians and metres
SMALLEST = 1e-8  # singular value of the scaled constraints, as a share of the largest, below which motions are free


def follow_measured_loops(
    robot: Robot, joints: Sequence[Joint], q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, speeds and accelerations of all joints; the first row is reached from the file's initial position."""
    loops = loop_closure(robot)
    places = [k for joint in joints for k in joint.coordinates]
    speeds = [k for joint in joints for k in joint.speeds]
    now = _to_first(loops, places, speeds, q[0])
    rows = []
    for n in range(len(q)):
        if n:
            step = _others(loops, now, speeds, q[n] - now[places])
            now = closing_position_moved_along_speeds(robot, now, step) if len(places) == len(speeds) else now.copy()
            now = _closed(loops, now, places, speeds, q[n])
        v = _others(loops, now, speeds, qd[n])
        drift = loops.jacobian(now, v)[1]
        rows.append((now, v, _others(loops, now, speeds, qdd[n], drift)))
    result = tuple(np.array(part) for part in zip(*rows))
    return result[0], result[1], result[2]


def _to_first(loops: Closure, places: Sequence[int], speeds: Sequence[int], wanted: np.ndarray) -> np.ndarray:
    """The first row's position, in small steps from the initial one, so that the branch stays the same."""
    robot = loops.robot
    now = position_with_loops_closed(loops, np.array(robot.q0), speeds)
    way = wanted - now[places]
    count = max(1, int(np.ceil(abs(way).max(initial=0.0) / FARTHEST)))
    start = now[places]
    for k in range(1, count + 1):
        now = _closed(loops, now, places, speeds, start + way * (k / count))
    return now


def _closed(
    loops: Closure, q: np.ndarray, places: Sequence[int], speeds: Sequence[int], wanted: np.ndarray
) -> np.ndarray:
    """The closed position near q with these coordinates where they are wanted."""
    guess = q.copy()
    guess[places] = wanted
    closed = position_with_loops_closed(loops, guess, speeds)
    if abs(closed[places] - wanted).max(initial=0.0) > 1e-6:
        raise AssemblyError(
            f"{loops.robot.name}: the {loops.robot.ties_in_words} don't fit the measured positions", closed
        )
    closed[places] = wanted
    return closed


def _others(
    loops: Closure, q: np.ndarray, given: Sequence[int], values: np.ndarray, drift: np.ndarray | None = None
) -> np.ndarray:
    """All speeds from some of them, or all accelerations with the drift of the speeds."""
    J, robot = loops.jacobian(q)[0], loops.robot
    rest = [k for k in range(robot.nv) if k not in set(given)]
    result = np.zeros(robot.nv)
    result[list(given)] = values
    right = -(J @ result) - (0.0 if drift is None else drift)
    scaled = J[:, rest] * loops.row_scale[:, None] * loops.column_scale[rest]
    U, s, Vt = np.linalg.svd(scaled, full_matrices=False)
    if len(rest) and (len(s) < len(rest) or s[-1] < SMALLEST * s[0]):
        if len(loops.robot.loops) and np.linalg.matrix_rank(loops.scaled(J), SMALLEST) < loops.robot.nv - len(given):
            raise InputError(
                "the motion of the actuated joints doesn't determine that of all others",
                allowed="as many actuated joints as degrees of freedom",
            )
        raise NumericalError(f"{robot.name}: a measured position is singular")
    result[rest] = loops.column_scale[rest] * (Vt.T @ ((U.T @ (right * loops.row_scale)) / s))
    return result
