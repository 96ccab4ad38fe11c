"""Solids of links: the bodies that a robot's file gives them, and what follows from where their joints are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..formats import Mesh, read_mesh
from ..record.sketch import Axes, Kind, Point, SceneMesh, Solid
from ..robot import Robot, Shape
from ..robot.read import folder_of_robot_file, located_mesh_file
from ..text import count_with_noun

NEAR = 1e-9  # metres; closer points are the same
ROD, PLATE = 0.010, 0.008  # half the thickness of solids, as a share of the machine's size
MOST_FACES = 24_000  # of all meshes of a scene: what a page can hold and a sketch can draw
LEAST_FACES = 300  # of one mesh, however many there are
MOST_MESHES = 200
MOST_NAMED = 3  # in a warning
CORNERS = tuple(np.array(corner[::-1], dtype=float) for corner in product((-1, 1), repeat=3))


def animated_solids_between_joints(joined: list[np.ndarray], every: list[np.ndarray], size: float) -> list[Solid]:
    """A plate through joints and points of a link, or through three or more joints; else rods from place to place."""
    corners = (_outline(every, size) if len(joined) > 1 else []) or _outline(joined, size)
    if corners:
        made = [Solid("plate", tuple(map(scene_point, corners)), PLATE * size)]
        rest = [at for at in every if distance_from_animated_solid(at, made) > 0.02 * size]
        middle = np.mean(corners, axis=0)
        return made + [Solid("rod", (scene_point(middle), scene_point(at)), ROD * size) for at in rest]
    made = []
    if not every:
        return made
    ends = sorted(every[1:], key=lambda at: -float(np.linalg.norm(at - every[0])))
    for at in ends:  # from the link's origin, the farthest first, so that what lies on the way needs no rod
        if distance_from_animated_solid(at, made) > 1e-3 * size:
            made.append(Solid("rod", (scene_point(every[0]), scene_point(at)), ROD * size))
    return made


def _outline(places: list[np.ndarray], size: float) -> list[np.ndarray]:
    """The corners of the convex outline of three or more places in one plane, in order; empty if there is none."""
    if len(places) < 3:
        return []
    middle = np.mean(places, axis=0)
    _, spread, axes = np.linalg.svd(np.array(places) - middle)
    if spread[1] < 0.02 * size or (len(spread) > 2 and spread[2] > 1e-6 * size):
        return []
    flat = (np.array(places) - middle) @ axes[:2].T
    from scipy.spatial import ConvexHull

    return [places[k] for k in ConvexHull(flat).vertices]


def distinct_animated_places(places: Iterable[np.ndarray]) -> list[np.ndarray]:
    """The places, each once."""
    kept: list[np.ndarray] = []
    for at in places:
        if all(np.linalg.norm(at - one) > NEAR for one in kept):
            kept.append(at)
    return kept


def distance_from_animated_solid(at: np.ndarray, solids: Iterable[Solid]) -> float:
    """The distance of a point from the nearest rod, or from a plate's plane if it is within its outline's box."""
    best = np.inf
    for solid in solids:
        points = np.array(solid.points)
        if solid.kind == "plate":
            middle = points.mean(axis=0)
            normal = np.linalg.svd(points - middle)[2][2]
            inside = (abs(at - middle) <= abs(points - middle).max(axis=0) + NEAR).all()
            best = min(best, abs(float(normal @ (at - middle))) if inside else np.inf)
        elif len(points) == 2:
            a, b = points
            share = float(np.clip((at - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0.0, 1.0))
            best = min(best, float(np.linalg.norm(at - a - share * (b - a))))
        else:
            best = min(best, float(np.linalg.norm(at - points[0])))
    return best


def inverse_of_animated_frame(T: np.ndarray) -> np.ndarray:
    """The inverse of a frame."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = T[:3, :3].T, -T[:3, :3].T @ T[:3, 3]
    return made


def place_in_animated_frame(T: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A place in a frame, in the axes that the frame is given in."""
    place: np.ndarray = T[:3, :3] @ at + T[:3, 3]
    return place


def scene_point(v: np.ndarray) -> Point:
    """A place as the numbers of a scene."""
    return (float(v[0]), float(v[1]), float(v[2]))


def scene_axes(R: np.ndarray) -> Axes:
    """The rows of a rotation as the numbers of a scene."""
    return (scene_point(R[0]), scene_point(R[1]), scene_point(R[2]))


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
