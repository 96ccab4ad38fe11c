"""Mass properties of a whole robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robot import Robot
from .quantities import frames


def mass_and_centre(
    robot: Robot, q: Sequence[float] | np.ndarray | None = None
) -> tuple[float, tuple[float, float, float]]:
    """The mass, and the mass centre in the base at `q` or in the initial position."""
    placed = frames(robot, robot.q0 if q is None else q)
    mass = sum(link.mass for link in robot.links)
    moment = sum(
        (link.mass * (placed[link.name] @ np.array([*link.com, 1.0]))[:3] for link in robot.links), np.zeros(3)
    )
    centre = moment / mass if mass else moment
    return mass, (float(centre[0]), float(centre[1]), float(centre[2]))
