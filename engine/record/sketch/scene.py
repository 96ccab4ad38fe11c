"""A machine as simple solids in space: what sketches, animations and pages draw, as plain data.

Every solid is given in the axes of the link that carries it, so that a position of the machine is nothing but a place
and an orientation for each link. `BASE` carries what doesn't move. Lengths are in metres.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

BASE = "base"
FINEST = 32_767  # of a mesh, within its box
Point = tuple[float, float, float]
Axes = tuple[Point, Point, Point]  # rows of a rotation matrix
Kind = Literal["rod", "thin", "tube", "rail", "plate", "ball", "ground", "box", "cylinder", "sphere", "capsule", "mesh"]
FORMS = ("box", "cylinder", "sphere", "capsule", "mesh")  # what robot files give their links
Colour = tuple[float, float, float, float]  # red, green, blue, opacity


@dataclass(frozen=True)
class Solid:
    """A solid of a link: its kind, the points that span it, and half its thickness.

    A `rod`, a `thin` rod to a mass centre, a `tube` in which a rod slides and a `rail` have two points, a `plate` has
    the corners of its outline, in order; a `ball` has one point, and the `ground` at a pivot has it first, then the
    direction that leads into the ground.

    The bodies of robot files: a `sphere` has its middle, a `cylinder` and a `capsule` have the middles of their ends, a
    `box` has its corners, of which the x changes first; a `mesh` has those of the box around it, and its name.
    """

    kind: Kind
    points: tuple[Point, ...]
    radius: float
    colour: Colour | None = None
    mesh: str = ""


@dataclass(frozen=True)
class SceneMesh:
    """A surface of triangles in a box from -1 to 1, as base64: points as 16-bit numbers, and the points of each face.

    Little-endian, points in 32,767ths, faces by 32-bit numbers of their points.
    """

    name: str
    points: str
    faces: str

    @classmethod
    def of(cls, name: str, points: np.ndarray, faces: np.ndarray) -> SceneMesh:
        """The surface with these points (n × 3) and faces (m × 3), in the box around it."""
        low, high = points.min(axis=0), points.max(axis=0)
        half = np.where(high > low, (high - low) / 2, 1.0)
        inside = np.round(FINEST * (points - (low + high) / 2) / half)
        return cls(name, _packed(inside, "<i2"), _packed(faces, "<u4"))

    def unpacked(self) -> tuple[np.ndarray, np.ndarray]:
        """The points, from -1 to 1, and the faces."""
        points = np.frombuffer(base64.b64decode(self.points), "<i2").reshape(-1, 3) / FINEST
        return points, np.frombuffer(base64.b64decode(self.faces), "<u4").reshape(-1, 3)


@dataclass(frozen=True)
class ScenePart:
    """A link with its solids; a `ghost` is part of a chain that only measures a place, and is drawn faintly."""

    name: str
    solids: tuple[Solid, ...]
    mass: float = 0.0
    centre: Point | None = None  # of mass
    ghost: bool = False


@dataclass(frozen=True)
class SceneJoint:
    """The symbol of a joint: the link that carries it, its place and axes there, the links that it joins."""

    name: str
    type: str
    carrier: str
    at: Point
    axes: Axes
    between: tuple[str, str]
    actuated: bool = False
    cut: bool = False
    ghost: bool = False
    radius: float = 0.0  # of what rolls, or 0


@dataclass(frozen=True)
class ScenePoint:
    """A named point of a link."""

    name: str
    link: str
    at: Point


@dataclass(frozen=True)
class SceneActuator:
    """An actuator that acts on a link: a force at a place of it, or a moment, in the link's axes or the base's."""

    name: str
    link: str
    at: Point
    direction: Point
    in_base: bool
    moment: bool


@dataclass(frozen=True)
class Scene:
    """A machine: its links, the base first, its joints and named points.

    `size` is the largest extent in the initial position and `up` points against gravity. `flat` is the normal of the
    plane in which everything moves, if there is one.
    """

    name: str
    parts: tuple[ScenePart, ...]
    joints: tuple[SceneJoint, ...]
    points: tuple[ScenePoint, ...]
    size: float
    up: Point
    gravity: Point
    flat: Point | None = None
    about: str = ""
    meshes: tuple[SceneMesh, ...] = ()
    actuators: tuple[SceneActuator, ...] = ()  # those of joints are marked there
    warnings: tuple[str, ...] = ()  # what couldn't be drawn, and why

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Say = Callable[[str], object]


def silence_sketch_warning(warning: str) -> None:
    """Drops a warning, for callers that show none."""


@dataclass(frozen=True)
class Poses:
    """Positions of a machine: `frames` has a 4 × 4 matrix for each position and each of the scene's parts."""

    frames: np.ndarray
    names: tuple[str, ...] = field(default=())

    def of(self, k: int) -> dict[str, np.ndarray]:
        """The frames of position k by the links' names."""
        return dict(zip(self.names, self.frames[k]))

    def seen_from(self, points: list[tuple[str, Point]], k: int) -> np.ndarray:
        """Points of links in position k, in base axes."""
        placed = self.of(k)
        return np.array([(placed[link] @ np.array([*at, 1.0]))[:3] for link, at in points]).reshape(-1, 3)


def _packed(numbers: np.ndarray, form: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=form).tobytes()).decode("ascii")
