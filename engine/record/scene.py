"""A machine as simple solids in space: what sketches, animations and pages draw, as plain data.

Every solid is given in the axes of the link that carries it, so that a position of the machine is nothing but a place
and an orientation for each link. `BASE` carries what doesn't move. Lengths are in metres.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

BASE = "base"
Point = tuple[float, float, float]
Axes = tuple[Point, Point, Point]  # rows of a rotation matrix
Kind = Literal["rod", "thin", "tube", "rail", "plate", "ball", "ground"]


@dataclass(frozen=True)
class Solid:
    """A solid of a link: its kind, the points that span it, and half its thickness.

    A `rod`, a `thin` rod to a mass centre, a `tube` in which a rod slides and a `rail` have two points, a `plate` has
    the corners of its outline, in order; a `ball` has one point, and the `ground` at a pivot has it first, then the
    direction that leads into the ground.
    """

    kind: Kind
    points: tuple[Point, ...]
    radius: float


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

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


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
