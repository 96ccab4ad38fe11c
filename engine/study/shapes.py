"""The bodies that a robot's file gives its links as solids of a scene."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..formats import Mesh, read_mesh
from ..record.sketch import Kind, Point, SceneMesh, Solid
from ..robot import Robot, Shape
from ..robot.read import folder_of_robot_file, located_mesh_file
from ..text import count_with_noun
from .solids import scene_point

MOST_FACES = 24_000  # of all meshes of a scene: what a page can hold and a sketch can draw
LEAST_FACES = 300  # of one mesh, however many there are
MOST_MESHES = 200
MOST_NAMED = 3  # in a warning
CORNERS = tuple(np.array(corner[::-1], dtype=float) for corner in product((-1, 1), repeat=3))


@dataclass
class Shapes:
    """The solids of all links that have bodies, the meshes that they name, and what couldn't be drawn."""

    solids: dict[str, list[Solid]] = field(default_factory=dict)
    meshes: dict[str, SceneMesh] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)  # meshes by the reason why they aren't drawn

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each reason, which names some of the meshes."""
        return tuple(
            f"{count_with_noun(len(files), 'mesh file')} can't be drawn, {reason}: {', '.join(files[:MOST_NAMED])}"
            + (", …" if len(files) > MOST_NAMED else "")
            for reason, files in self.missing.items()
        )


def shapes_for_animation(robot: Robot, count: int = 1) -> Shapes:
    """The bodies of a robot's links, with so many meshes; links all of whose bodies are missing aren't among them."""
    made, folder = Shapes(), folder_of_robot_file(robot.document)
    count = max(count, len({body.file for link in robot.links for body in link.shape if body.file and not body.spare}))
    for link in robot.links:
        for spare in (False, True):
            drawn = [_solid(body, folder, count, made) for body in link.shape if body.spare is spare]
            if found := [solid for solid in drawn if solid is not None]:
                made.solids[link.name] = found
            if None not in drawn:
                break
    return made if len(made.meshes) <= count else shapes_for_animation(robot, len(made.meshes))


def corners_of_animated_solid(solid: Solid) -> Iterator[np.ndarray]:
    """Points around a solid, between which it lies."""
    for at in solid.points:
        for corner in CORNERS if solid.radius else CORNERS[:1]:
            yield np.array(at) + solid.radius * corner


def _solid(body: Shape, folder: Path, count: int, made: Shapes) -> Solid | None:
    """A body as a solid; None, and a warning, for a mesh that isn't there or can't be read."""
    R, at = body.at.rotation(), np.array(body.at.origin)
    if body.kind == "box":
        return Solid("box", _box(R, at, 0.5 * np.array(body.size)), 0.0, body.colour)
    if body.kind == "sphere":
        return Solid("sphere", (scene_point(at),), body.size[0], body.colour)
    if body.kind in ("cylinder", "capsule"):
        radius, half = body.size[0], 0.5 * body.size[1] * R[:, 2]
        kind: Kind = "cylinder" if body.kind == "cylinder" else "capsule"
        return Solid(kind, (scene_point(at - half), scene_point(at + half)), radius, body.colour)
    try:
        path = located_mesh_file(body.file, folder)
        if path is None:
            raise InputError("not there")
        if body.file not in made.meshes and len(made.meshes) >= MOST_MESHES:
            raise InputError(f"since only {MOST_MESHES} are")
        surface, low, high = _read(path, os.stat(path).st_mtime_ns, max(MOST_FACES // count, LEAST_FACES))
    except InputError as error:
        files = made.missing.setdefault(error.message, [])
        if body.file not in files:
            files.append(body.file)
        return None
    made.meshes.setdefault(body.file, SceneMesh.of(body.file, surface.points, surface.faces))
    scale = np.array(body.size)
    place = at + R @ (scale * (low + high) / 2)
    return Solid("mesh", _box(R, place, scale * (high - low) / 2), 0.0, body.colour, body.file)


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, most: int) -> tuple[Mesh, np.ndarray, np.ndarray]:
    """A mesh file as it is drawn, and the corners of the box around it; `changed` is when the file was written."""
    mesh = read_mesh(path).reduced(most)
    return mesh, mesh.points.min(axis=0), mesh.points.max(axis=0)


def _box(R: np.ndarray, middle: np.ndarray, half: np.ndarray) -> tuple[Point, ...]:
    """The corners of a box, of which the x changes first."""
    return tuple(scene_point(middle + R @ (half * corner)) for corner in CORNERS)
