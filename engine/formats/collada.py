"""Surfaces of Collada files: the triangles of all geometries where the file's scene places them, in metres.

As the tools of ROS do, what a file calls its upward axis is left out of account; its unit of length counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from .meshes import MOST_FACES
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
