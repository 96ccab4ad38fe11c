"""Pieces of robots that several formats read and write alike: turned inertias, frames on an axis, geometry, numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..robot import Placement, frame_pointing_along_axis, rpy_of_placement
from .xml import Element

Three = tuple[float, float, float]
FileEntry = dict[str, Any]  # of a robot's file: keys and values as the file has them
SIMPLE_JOINTS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
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


def converted_entry_with_place(entry: FileEntry, xyz: np.ndarray, R: np.ndarray) -> FileEntry:
    """The entry with a place and a turned frame, each only where there is one."""
    if xyz.any():
        entry["xyz"] = [float(x) for x in xyz]
    if not np.array_equal(R, np.eye(3)):
        entry["matrix"] = robot_file_rotation_rows(R)
    return entry


def converted_shapes_of_link(link: Element, shape: Callable[[Element], FileEntry | None]) -> list[FileEntry]:
    """The entries of `shape` for what is to be seen of a link; beside meshes, bodies for contact are spare."""
    made = [entry for one in link.all("visual") if (entry := shape(one)) is not None]
    for one in link.all("collision") if any("mesh" in entry for entry in made) else ():
        with suppress(InputError):  # what only contact needs may be wrong
            if (entry := shape(one)) is not None:
                made.append({**entry, "spare": True})
    return made


def urdf_origin_line(placement: Placement, pad: str) -> Iterable[str]:
    """The line of an `origin`, if there is anything to say."""
    rpy = rpy_of_placement(placement)
    if any(placement.origin) or any(rpy):
        yield f'{pad}<origin xyz="{urdf_numbers_text(placement.origin)}" rpy="{urdf_numbers_text(rpy)}"/>'


def quaternion_of_rotation(R: np.ndarray) -> tuple[float, float, float, float]:
    """The Euler parameters of a rotation matrix, the scalar first and not negative."""
    # by the largest of the four, whose square is the surest one
    squares = [R[0, 0] + R[1, 1] + R[2, 2], *(2.0 * R[k, k] - np.trace(R) for k in range(3))]
    sides = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    most = int(np.argmax(squares))
    if most == 0:
        e = [1.0 + squares[0], *sides]
    else:
        i = most - 1
        e = [sides[i], *(R[i, k] + R[k, i] if k != i else 1.0 + squares[most] for k in range(3))]
    size = math.copysign(math.hypot(*e), e[0])
    return (float(e[0] / size), float(e[1] / size), float(e[2] / size), float(e[3] / size))


def urdf_numbers_text(values: Iterable[float]) -> str:
    return " ".join(map(urdf_number_text, values))


def urdf_number_text(value: float) -> str:
    """A number to its last bit, whole ones without a fraction."""
    value = float(value)
    if not math.isfinite(value):
        raise ModelError("a number isn't finite, which this format can't hold")
    return f"{value + 0.0:.0f}" if value == round(value) and abs(value) < 1e15 else repr(value)
