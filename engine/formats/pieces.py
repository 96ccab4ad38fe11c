"""Pieces of robots that several formats write alike: turned inertias, frames on an axis, geometry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import InputError
from ..robot import frame_pointing_along_axis
from .xml import Element

Three = tuple[float, float, float]
ENTRIES = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))


def converted_inertia_tensor(entries: dict[str, float]) -> np.ndarray:
    """The matrix of an inertia from its entries."""
    J = np.zeros((3, 3))
    for name, i, j in ENTRIES:
        J[i, j] = J[j, i] = entries.get(name, 0.0)
    return J


def robot_file_inertia_entries(J: np.ndarray) -> dict[str, float]:
    """The entries of an inertia, without those off the diagonal that are 0."""
    return {name: float(J[i, j]) for name, i, j in ENTRIES if i == j or J[i, j]}


def converted_inertia_turned(entries: dict[str, float], R: np.ndarray) -> dict[str, float]:
    """The entries in outer axes of an inertia in axes that R turns into these."""
    J = R @ converted_inertia_tensor(entries) @ R.T
    return robot_file_inertia_entries((J + J.T) / 2)


def robot_file_rotation_rows(R: np.ndarray) -> list[list[float]]:
    """A rotation matrix as a robot's file has it."""
    return [[float(x) for x in row] for row in R]


def converted_frame_on_axis(R: np.ndarray, axis: Sequence[float]) -> np.ndarray:
    """The rotation matrix R, followed by the turn that takes z to the axis."""
    unit = np.array(axis, dtype=float) / np.linalg.norm(axis)
    result: np.ndarray = R @ frame_pointing_along_axis((float(unit[0]), float(unit[1]), float(unit[2]))).rotation()
    return result


def converted_entry_with_place(entry: dict[str, Any], xyz: np.ndarray, R: np.ndarray) -> dict[str, Any]:
    """The entry with a place and a turned frame, each only where there is one."""
    if xyz.any():
        entry["xyz"] = [float(x) for x in xyz]
    if not np.array_equal(R, np.eye(3)):
        entry["matrix"] = robot_file_rotation_rows(R)
    return entry


def converted_shapes_of_link(link: Element, shape: Callable[[Element], dict[str, Any] | None]) -> list[dict[str, Any]]:
    """The entries of `shape` for what is to be seen of a link; beside meshes, bodies for contact are spare."""
    made = [entry for one in link.all("visual") if (entry := shape(one)) is not None]
    for one in link.all("collision") if any("mesh" in entry for entry in made) else ():
        with suppress(InputError):  # what only contact needs may be wrong
            if (entry := shape(one)) is not None:
                made.append({**entry, "spare": True})
    return made
