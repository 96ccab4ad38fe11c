"""Limits that differ from run to run: stops of joints, and those of their actuators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..scenario import Plan
from ..simulate.contacts import Limits
from ..simulate.system import System
from ..text import Keys
from .vary_geometry import OtherError


def put_varied_limit(plan: Plan, path: Keys, values: np.ndarray, limits: Limits) -> None:
    """Put the values of a limit of the robot's file into those of the runs."""
    system, side = plan.system, path[-1]
    joint = plan.robot.links[int(path[1])].joint
    if joint.type.nv != 1 or side not in (0, 1):
        raise OtherError
    speed, steady = joint.speeds[0], {one.speed for one in system.inputs.driven if one.steady}
    if path[3] == "limits" and speed in system.stopped:
        (limits.high if side else limits.low)[:, [*system.switching].index(speed)] = values
    # a constant force may be within other limits from beginning to end
    elif path[3] == "effort" and speed in system.bounded and speed not in steady:
        (limits.most if side else limits.least)[:, [*system.bounded].index(speed)] = values
    else:  # a limit that ends no mode in the first run
        raise OtherError


def runs_with_sound_limits(
    system: System, columns: Mapping[Keys, np.ndarray], q: np.ndarray, limits: Limits, plain: np.ndarray
) -> None:
    """Strike off runs with limits that are none, and those that start at or beyond a stop, if that may differ."""
    plain &= (limits.low < limits.high).all(axis=1) & (limits.least < limits.most).all(axis=1)
    if not any(path[0] == "initial" or varied_path_is_limit(path) for path in columns):
        return
    for c, k in enumerate(system.switching):
        if k in system.stopped:
            x = q[:, system.stopped[k].coordinate]
            plain &= (limits.low[:, c] < x) & (x < limits.high[:, c])


def varied_path_is_limit(path: Sequence[str | int]) -> bool:
    """Whether a path leads to the limits of a joint's position or of its actuator."""
    within = tuple(path[3:5]) if tuple(path[:1]) == ("links",) and tuple(path[2:3]) == ("joint",) else ()
    return within[:1] == ("limits",) or within == ("effort", "limits")
