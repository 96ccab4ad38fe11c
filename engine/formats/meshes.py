"""Surfaces from mesh files: STL, as text or binary, OBJ, of which only corners and faces are read, and Collada."""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError, Place
from ..text import bytes_of_text_file

MOST_BYTES = 64 << 20
MOST_FACES = 1_000_000
HEAD = 84  # bytes before the faces of a binary STL file: a comment, and how many faces there are
FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
LINE = re.compile(rb"^[ \t]*([vf])[ \t]+([^\r\n]*)", re.MULTILINE)
MOST_CORNERS = 10_000  # of one face
FARTHEST = 1e50  # m: products of lengths that drawing takes stay within floats
VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
GRIDS = (256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4)  # cells along a mesh's longest side


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles: points (n × 3), and the three of each face (m × 3)."""

    points: np.ndarray
    faces: np.ndarray

    def reduced(self, most: int) -> Mesh:
        """The surface with at most so many faces: points in one cell of a grid become one, in their middle."""
        if len(self.faces) <= most:
            return self
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        for grid in GRIDS:
            cell = max(float((high - low).max()), 1e-300) / grid
            made = self._joined(np.floor((self.points - low) / cell).astype(np.int64))
            if len(made.faces) <= most:
                break
        return made

    def _joined(self, cells: np.ndarray) -> Mesh:
        """The surface whose points in one cell are one; faces that have become lines, or are there twice, are gone."""
        _, place, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        place = place.reshape(-1)
        points = np.stack([np.bincount(place, self.points[:, k]) / count for k in range(3)], axis=1)
        faces = place[self.faces]
        faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
        _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
        return Mesh(points, faces[np.sort(first)])


def read_mesh(path: Path) -> Mesh:
    """The surface in a file; an InputError says what is wrong with it."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise _error(path, f"only {', '.join(READERS)} can be read")
    try:
        mesh = reader(bytes_of_text_file(path, MOST_BYTES))
    except OSError as error:
        raise _error(path, f"not readable ({error.strerror})") from None
    except (ValueError, OverflowError) as error:
        raise _error(path, f"broken ({error})") from None
    if not len(mesh.faces) or not np.isfinite(mesh.points).all():
        raise _error(path, "without faces, or with points that are nowhere")
    if (farthest := abs(mesh.points).max()) > FARTHEST:
        raise _error(path, f"a point has the coordinate {farthest:.3g}, and {FARTHEST:g} is the largest one")
    return mesh


def _stl(data: bytes) -> Mesh:
    count = int.from_bytes(data[HEAD - 4 : HEAD], "little") if len(data) >= HEAD else -1
    if count >= 0 and len(data) >= HEAD + FACE.itemsize * count and not _is_text(data):
        _check_count(count)
        faces = np.frombuffer(data, FACE, count, HEAD)
        return _separate(faces["corners"].reshape(-1, 3).astype(float))
    corners = array("d")
    for found in VERTEX.finditer(data):
        corners.extend(map(float, found.groups()))
        _check_count(len(corners) // 9)
    if len(corners) % 9:
        raise ValueError("its corners aren't three for each face")
    return _separate(np.frombuffer(corners).reshape(-1, 3))


def _is_text(data: bytes) -> bool:
    """Whether an STL file is text; binary ones may begin with the same word."""
    return data.lstrip()[:5].lower() == b"solid" and b"facet" in data[:1000] and b"\0" not in data[:1000]


def _separate(corners: np.ndarray) -> Mesh:
    """A surface from the corners of its faces, one after the other; equal corners become one point."""
    points, place = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(points, place.reshape(-1, 3))


def _obj(data: bytes) -> Mesh:
    points, faces = array("d"), array("q")
    for found in LINE.finditer(data):  # one by one: as lists, they would take many times the file's room
        words = found[2].split(maxsplit=MOST_CORNERS)
        if len(words) > MOST_CORNERS:
            raise ValueError(f"a line has more than {MOST_CORNERS} words")
        if found[1] == b"v":
            if len(words) < 3:
                raise ValueError("a point has fewer than three coordinates")
            points.extend(map(float, words[:3]))
            _check_count(len(points) // 9)  # three points for each face at most, as in files without shared ones
        else:
            corners = [_corner(word, len(points) // 3) for word in words]
            for b, c in itertools.pairwise(corners[1:]):
                faces.extend((corners[0], b, c))
            _check_count(len(faces) // 3)
    return Mesh(np.array(points).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3))


def _corner(word: bytes, known: int) -> int:
    """The point of a face's corner, which is counted from 1, or backwards from the last one."""
    number = int(word.partition(b"/")[0])
    place = number - 1 if number > 0 else known + number
    if not 0 <= place < known:
        raise ValueError(f"a face has the corner {number}, and there are {known} points")
    return place


def _check_count(count: int) -> None:
    if count > MOST_FACES:
        raise ValueError(f"it has more than {MOST_FACES} faces")


def _error(path: Path, message: str) -> InputError:
    return InputError(message, place=Place(str(path)))


def _dae(data: bytes) -> Mesh:
    from .collada import collada_surface

    return Mesh(*collada_surface(data))


READERS: dict[str, Callable[[bytes], Mesh]] = {".stl": _stl, ".obj": _obj, ".dae": _dae}
