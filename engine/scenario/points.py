"""Columns of named points: where they are, how fast they move, and how they accelerate, in base-frame axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..record import Column
from .rows import Point, Rows

# what a column shows → the beginnings of the three suffixes, the unit, and the family in plots
_KINDS = {
    "place": ("", "m", "point"),
    "velocity": ("v", "m/s", "point velocity"),
    "acceleration": ("a", "m/s²", "point acceleration"),
}


def named_scenario_points(rows: Rows) -> Sequence[Point]:
    """The points that the scenario names."""
    return rows.points


def point_columns(kind: str) -> Callable[[Rows, Point], list[Column]]:
    """The function that gives the three columns of a point's place, velocity or acceleration."""
    beginning, unit, family = _KINDS[kind]

    def of_point(rows: Rows, point: Point) -> list[Column]:
        owner = ".".join(point)
        names = [f"{owner}.{beginning}{axis}" for axis in "xyz"]
        return [Column(name, unit, family, owner, name) for name in names]

    return of_point


def places_of_scenario_point(rows: Rows, point: Point) -> np.ndarray:
    """The places of a point."""
    link, name = point
    at = np.array([*rows.robot.link(link).points[name], 1.0])
    place: np.ndarray = rows.frames[link] @ at
    return place[:, :3]


def velocities_of_scenario_point(rows: Rows, point: Point) -> np.ndarray:
    """The velocities of a point."""
    return rows.point_rates[point][0]


def accelerations_of_scenario_point(rows: Rows, point: Point) -> np.ndarray:
    """The accelerations of a point."""
    return rows.point_rates[point][1]
