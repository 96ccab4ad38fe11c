"""Surfaces from mesh files: STL, as text or binary, OBJ, of which only corners and faces are read, and Collada.

Of a Collada file these are the triangles of all geometries where the file's scene places them, in metres.  As the tools
of ROS do, what a file calls its upward axis is left out of account; its unit of length counts.
"""

from __future__ import annotations

import itertools
import math
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError, Place
from ..text import bytes_of_text_file
from .xml import Element, parsed_xml

MOST_COLLADA_BYTES = 32 << 20
MOST_PLACES = 10_000  # of geometries: files may place what has been placed, again and again
FORMS = ("triangles", "polylist", "polygons", "trifans", "tristrips")

Surface = tuple[np.ndarray, np.ndarray]  # points (n × 3), and the three of each face (m × 3)


def collada_surface(data: bytes) -> Surface:
    """Points and faces of a file; a `ValueError` says what is wrong with it."""
    if len(data) > MOST_COLLADA_BYTES:
        raise ValueError(f"it has more than {MOST_COLLADA_BYTES >> 20} MiB")
    try:
        _, root = parsed_xml(data.decode("utf-8"), "")
    except InputError as error:
        raise ValueError(error.message) from None
    return _File(root).surface()


class _File:
    """A Collada file: its elements by their identifiers."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.known = {one.attributes["id"]: one for one in root.walk() if "id" in one.attributes}
        self.surfaces: dict[int, Surface] = {}
        self.left = MOST_PLACES

    def surface(self) -> Surface:
        unit = next((one for one in self.root.walk() if one.tag == "unit"), None)
        metre = float(unit.attributes.get("meter", "1")) if unit is not None else 1.0
        if not (math.isfinite(metre) and metre > 0):
            raise ValueError(f"its unit of length is {metre:g} m")
        scenes = [self._meant(one) for one in self.root.walk() if one.tag == "instance_visual_scene"]
        placed = [found for scene in scenes for node in scene.all("node") for found in self._placed(node, np.eye(4), 0)]
        if not scenes:
            placed = [(geometry, np.eye(4)) for geometry in self.root.walk() if geometry.tag == "geometry"]
        points, faces, count, total = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int64)], 0, 0
        for geometry, T in placed:
            own, corners = self._geometry(geometry)
            faces.append(corners + count)
            points.append(own @ T[:3, :3].T + T[:3, 3])
            count, total = count + len(own), total + len(corners)
            if total > MOST_FACES or count > 3 * MOST_FACES:
                raise ValueError(f"it has more than {MOST_FACES} faces")
        return metre * np.concatenate(points), np.concatenate(faces)

    def _meant(self, one: Element, key: str = "url") -> Element:
        """The element that another one names."""
        name = one.attributes.get(key, "")
        found = self.known.get(name.removeprefix("#"))
        if found is None:
            raise ValueError(f"line {one.line}: `{name}` isn't in the file")
        return found

    def _placed(self, node: Element, T: np.ndarray, depth: int) -> Iterator[tuple[Element, np.ndarray]]:
        """The geometries of a node and of what is in it, with their places."""
        self.left -= 1
        if self.left < 0 or depth > 100:
            raise ValueError("its nodes are placed within each other without end")
        for one in node.children:
            if one.tag in ("matrix", "translate", "rotate", "scale"):
                T = T @ _transform(one)
        for one in node.children:
            if one.tag == "instance_geometry":
                yield self._meant(one), T
            elif one.tag in ("node", "instance_node"):
                yield from self._placed(one if one.tag == "node" else self._meant(one), T, depth + 1)

    def _geometry(self, geometry: Element) -> Surface:
        """Points and faces of a geometry, which is read once."""
        if id(geometry) not in self.surfaces:
            mesh = geometry.first("mesh")
            parts = [self._faces(one) for one in mesh.all(*FORMS)] if mesh is not None else []
            firsts = np.cumsum([0, *(len(points) for points, _ in parts)])
            self.surfaces[id(geometry)] = (
                np.concatenate([points for points, _ in parts] or [np.empty((0, 3))]),
                np.concatenate([f + first for (_, f), first in zip(parts, firsts)] or [np.empty((0, 3), np.int64)]),
            )
        return self.surfaces[id(geometry)]

    def _faces(self, form: Element) -> Surface:
        """Points and triangles of one list of faces."""
        inputs = form.all("input")
        vertex = next((one for one in inputs if one.attributes.get("semantic") == "VERTEX"), None)
        if vertex is None:
            raise ValueError(f"line {form.line}: `{form.tag}` has no vertices")
        stride = 1 + max(int(one.attributes.get("offset", "0")) for one in inputs)
        points, offset = self._positions(self._meant(vertex, "source")), int(vertex.attributes.get("offset", "0"))
        lists = [_numbers(one, int).reshape(-1, stride)[:, offset] for one in form.all("p")]
        counts = form.first("vcount")
        if form.tag == "polylist" and counts is not None:
            ends = np.cumsum(_numbers(counts, int))
            lists = [piece for one in lists for piece in np.split(one, ends) if len(piece)]
        if form.tag == "triangles":
            faces = [one.reshape(-1, 3) for one in lists]
        elif form.tag == "tristrips":
            faces = [np.column_stack([one[:-2], one[1:-1], one[2:]]) for one in lists if len(one) > 2]
            for one in faces:
                one[1::2, :2] = one[1::2, 1::-1]  # every other one the other way round
        else:
            fans = [one for one in lists if len(one) > 2]
            faces = [np.column_stack([np.full(len(one) - 2, one[0]), one[1:-1], one[2:]]) for one in fans]
        made = np.concatenate(faces) if faces else np.empty((0, 3), dtype=np.int64)
        if made.size and (made.min() < 0 or made.max() >= len(points)):
            raise ValueError(f"line {form.line}: a face has a corner that isn't there")
        return points, made

    def _positions(self, vertices: Element) -> np.ndarray:
        """The points of vertices."""
        own = [one for one in vertices.all("input") if one.attributes.get("semantic") == "POSITION"]
        source = self._meant(own[0], "source") if own else vertices
        array = next((one for one in source.walk() if one.tag == "float_array"), None)
        accessor = next((one for one in source.walk() if one.tag == "accessor"), None)
        if array is None:
            raise ValueError(f"line {source.line}: no numbers of points")
        stride = int(accessor.attributes.get("stride", "3")) if accessor is not None else 3
        points: np.ndarray = _numbers(array, float).reshape(-1, max(stride, 3))[:, :3]
        return points


def _transform(one: Element) -> np.ndarray:
    """The 4 × 4 matrix of an element that moves what follows."""
    x, T = _numbers(one, float), np.eye(4)
    if len(x) != {"matrix": 16, "translate": 3, "rotate": 4, "scale": 3}[one.tag]:
        raise ValueError(f"line {one.line}: `{one.tag}` has {len(x)} numbers")
    if one.tag == "matrix":
        return x.reshape(4, 4)
    if one.tag == "translate":
        T[:3, 3] = x
    elif one.tag == "scale":
        T[:3, :3] = np.diag(x)
    elif (size := float(np.linalg.norm(x[:3]))) > 0:
        a, angle = x[:3] / size, math.radians(x[3])
        K = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
        T[:3, :3] += math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K
    return T


def _numbers(one: Element, kind: type) -> np.ndarray:
    """The numbers in an element's text."""
    return np.array(one.text.split(), dtype=np.int64 if kind is int else float)


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
    return Mesh(*collada_surface(data))


READERS: dict[str, Callable[[bytes], Mesh]] = {".stl": _stl, ".obj": _obj, ".dae": _dae}
