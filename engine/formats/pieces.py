"""Pieces of robots that several formats write alike: turned inertias, frames on an axis, geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..robot.placement import pointing

Three = tuple[float, float, float]
ENTRIES = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))


def tensor(entries: dict[str, float]) -> np.ndarray:
    """The matrix of an inertia from its entries."""
    J = np.zeros((3, 3))
    for name, i, j in ENTRIES:
        J[i, j] = J[j, i] = entries.get(name, 0.0)
    return J


def entries_of(J: np.ndarray) -> dict[str, float]:
    """The entries of an inertia, without those off the diagonal that are 0."""
    return {name: float(J[i, j]) for name, i, j in ENTRIES if i == j or J[i, j]}


def turned(entries: dict[str, float], R: np.ndarray) -> dict[str, float]:
    """The entries in outer axes of an inertia in axes that R turns into these."""
    J = R @ tensor(entries) @ R.T
    return entries_of((J + J.T) / 2)


def rows(R: np.ndarray) -> list[list[float]]:
    """A rotation matrix as a robot's file has it."""
    return [[float(x) for x in row] for row in R]


def on_axis(R: np.ndarray, axis: Sequence[float]) -> np.ndarray:
    """The rotation matrix R, followed by the turn that takes z to the axis."""
    unit = np.array(axis, dtype=float) / np.linalg.norm(axis)
    result: np.ndarray = R @ pointing((float(unit[0]), float(unit[1]), float(unit[2]))).rotation()
    return result


def placed(entry: dict[str, Any], xyz: np.ndarray, R: np.ndarray) -> dict[str, Any]:
    """The entry with a place and a turned frame, each only where there is one."""
    if xyz.any():
        entry["xyz"] = [float(x) for x in xyz]
    if not np.array_equal(R, np.eye(3)):
        entry["matrix"] = rows(R)
    return entry


def is_zero(values: Sequence[float]) -> bool:
    return not any(values)
