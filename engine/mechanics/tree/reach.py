"""How a tree's bodies can move at all: about one fixed direction or freely, on which fixed line or point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...robot import Body, turn_matrix_of

TINY = 1e-9  # below which lengths and sines count as 0
AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class Reach:
    """The motions that a body has, in its axes and about its origin; its joint and those before it stand at zero.

    `axis` is the only direction about which it turns, if there is one.  All points of `centre` + s `axis` move along
    the axis at most; of a body that turns freely, `centre` alone is at rest.  Along the axis a body moves by `advance`
    for each radian that it turns, as a screw does, or by itself if there is no such number.
    """

    turns: int = 0  # 0: not at all, 1: about `axis`, 3: about several directions
    axis: np.ndarray | None = None
    centre: np.ndarray | None = None
    slides: tuple[np.ndarray, ...] = ()  # directions in which a body that doesn't turn slides
    advance: float | None = 0.0
    up: np.ndarray = field(default_factory=lambda: AXES)  # rotation of the body in the base

    def along(self, direction: np.ndarray) -> bool:
        """Whether the body turns about nothing but this direction, if at all."""
        return self.turns == 0 or (self.axis is not None and tree_directions_parallel(self.axis, direction))


def tree_moment_arms(bodies: Sequence[Body]) -> list[tuple[Reach, Reach]]:
    """For each body the reach of its parent, in the body's axes and about its origin, and its own."""
    result: list[tuple[Reach, Reach]] = []
    for body in bodies:
        above = result[body.parent][1] if body.parent is not None else Reach()
        above = _at(above, turn_matrix_of(body.rotation), np.array(body.origin))
        result.append((above, _own(body, above)))
    return result


def directions_of_body_motion(body: Body) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The directions in which a body turns, and those in which it slides."""
    turns = [AXES[d] for d in body.directions if d < 3]
    slides = [AXES[d - 3] for d in body.directions if d >= 3] + (turns if body.pitch else [])
    return turns, slides


def tree_directions_parallel(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two directions are parallel."""
    return bool(np.linalg.norm(np.cross(a, b)) <= TINY * np.linalg.norm(a) * np.linalg.norm(b))


def _at(reach: Reach, R: np.ndarray, origin: np.ndarray) -> Reach:
    """The reach of the same body, with other axes and another origin."""
    return replace(
        reach,
        axis=None if reach.axis is None else R.T @ reach.axis,
        centre=None if reach.centre is None else R.T @ (reach.centre - origin),
        slides=tuple(R.T @ a for a in reach.slides),
        up=reach.up @ R,
    )


def _own(body: Body, above: Reach) -> Reach:
    """The reach of a body on a joint, from that of its parent."""
    turns, slides = directions_of_body_motion(body)
    if not turns:
        return _slid(above, slides)
    if len(turns) == 1 and above.along(turns[0]):
        return _about_one(above, turns[0], None if slides and not body.pitch else body.pitch)
    return replace(above, turns=3, axis=None, centre=_point(above, turns, slides), slides=(), advance=0.0)


def _slid(above: Reach, slides: Sequence[np.ndarray]) -> Reach:
    if above.turns == 0:
        return replace(above, slides=(*above.slides, *slides))
    aside = [a for a in slides if above.axis is None or not tree_directions_parallel(above.axis, a)]
    along = above.axis is not None and not _square(above.axis, slides)
    return replace(above, centre=None if aside else above.centre, advance=None if along else above.advance)


def _square(axis: np.ndarray, slides: Sequence[np.ndarray]) -> bool:
    """Whether all slides are square to the axis."""
    return all(abs(axis @ a) <= TINY for a in slides)


def _about_one(above: Reach, axis: np.ndarray, pitch: float | None) -> Reach:
    """The reach where all turns are about one direction; its line is at rest if the lines before it are the same."""
    advance = pitch
    if above.turns == 0:
        kept = all(tree_directions_parallel(a, axis) for a in above.slides)
        advance = pitch if _square(axis, above.slides) else None
    else:
        kept = above.centre is not None and tree_direction_parallel_or_zero(above.centre, axis)
        alike = above.advance is not None and pitch is not None and abs(above.advance - pitch) <= TINY
        advance = pitch if alike else None
    return replace(above, turns=1, axis=axis, centre=np.zeros(3) if kept else None, slides=(), advance=advance)


def _point(above: Reach, turns: Sequence[np.ndarray], slides: Sequence[np.ndarray]) -> np.ndarray | None:
    """The point at rest of a body that turns freely, if there is one: on its own axis, and on what rests before it."""
    if slides or above.advance != 0.0 or above.slides:
        return None
    if above.turns == 0:
        return np.zeros(3)
    if above.centre is None:
        return None
    own = turns[0] if len(turns) == 1 else np.zeros(3)
    ways = np.column_stack([own, -above.axis if above.axis is not None else np.zeros(3)])
    s = np.linalg.lstsq(ways, above.centre, rcond=None)[0]
    met = bool(np.linalg.norm(ways @ s - above.centre) <= TINY * max(1.0, float(np.linalg.norm(above.centre))))
    return own * s[0] if met else None


def tree_direction_parallel_or_zero(v: np.ndarray, axis: np.ndarray) -> bool:
    """Whether a vector has no part beside the axis."""
    return bool(np.linalg.norm(v - axis * (axis @ v)) <= TINY * max(1.0, float(np.linalg.norm(v))))
