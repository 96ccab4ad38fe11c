"""Bodies of a sketch: boxes, cylinders, balls and meshes as faces, the brighter the more they look at the light."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .canvas import Canvas, sketch_points_moved
from .scene import FORMS, Solid

GREY = (0.76, 0.79, 0.83, 1.0)
DARK = 0.55  # how bright a face is that the light doesn't reach
SIDES, RINGS = 28, 7  # faces around a cylinder, and from a ball's equator to its pole
PIECES = 6  # in which long faces are cut, at most: each is as far from the eye as its middle, which has to be right
BOX = np.array([[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]])


def sketch_links_have_shapes(canvas: Canvas) -> bool:
    """Whether links have bodies of their own."""
    return any(solid.kind in FORMS for part in canvas.scene.parts for solid in part.solids)


def sketch_body(canvas: Canvas, solid: Solid, T: np.ndarray) -> None:
    """Adds a body of a link that is at T to the picture."""
    view, colour = canvas.view, np.array(solid.colour or GREY)
    light = 0.5 * view.up + 0.3 * view.right - view.away  # which comes from above the eye
    for faces in _faces(canvas, solid):
        corners = sketch_points_moved(T, faces.reshape(-1, 3)).reshape(faces.shape)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals *= -np.sign(normals @ view.away)[:, None]  # both sides of a face are alike
        lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-300) * np.linalg.norm(light)
        bright = DARK + (1 - DARK) * np.clip(normals @ light / lengths, 0.0, 1.0)
        lit = np.clip(bright[:, None] * colour[:3], 0.0, 1.0)
        canvas.faces(corners, np.column_stack([lit, np.full(len(bright), colour[3])]), "body of a link")


def _faces(canvas: Canvas, solid: Solid) -> list[np.ndarray]:
    """The faces of a body in its link's axes, in arrays (m × corners × 3) of those with equally many corners."""
    points = np.array(solid.points)
    if solid.kind == "box":
        return [_cut(points[BOX])]
    if solid.kind == "mesh":
        mesh = next(one for one in canvas.scene.meshes if one.name == solid.mesh)
        inside, faces = mesh.unpacked()
        axes = 0.5 * (points[[1, 2, 4]] - points[0])
        return [(points.mean(axis=0) + inside @ axes)[faces]]
    if solid.kind == "cylinder":
        rim = solid.radius * _ring() @ _across(points[1] - points[0])
        first, last = points[0] + rim, points[1] + rim
        return [_bands([first + share * (last - first) for share in _shares()]), np.stack([first, last])[:, :-1]]
    return [_round(points[0], points[-1], solid.radius)]


def _across(axis: np.ndarray) -> np.ndarray:
    """Two directions that are square to an axis and to each other."""
    rows: np.ndarray = np.linalg.svd(axis[None])[2][1:]
    return rows


def _shares() -> np.ndarray:
    """The places along a side at which it is cut."""
    return np.linspace(0.0, 1.0, PIECES + 1)


def _cut(faces: np.ndarray) -> np.ndarray:
    """Faces with four corners, cut into pieces along both sides."""
    a, b = np.meshgrid(_shares(), _shares())
    grid = (1 - a)[..., None, None] * ((1 - b)[..., None, None] * faces[:, 0] + b[..., None, None] * faces[:, 3])
    grid = grid + a[..., None, None] * ((1 - b)[..., None, None] * faces[:, 1] + b[..., None, None] * faces[:, 2])
    pieces = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=-2)
    return pieces.reshape(-1, 4, 3)


def _bands(rims: Sequence[np.ndarray]) -> np.ndarray:
    """The faces between rims of equally many corners, one after the other."""
    pairs = itertools.pairwise(rims)
    return np.concatenate([np.stack([low[:-1], low[1:], high[1:], high[:-1]], axis=1) for low, high in pairs])


def _round(first: np.ndarray, last: np.ndarray, radius: float) -> np.ndarray:
    """The faces of a rod with round ends, or of a ball where both ends are one place."""
    way = last - first
    length = float(np.linalg.norm(way))
    along = way / length if length else np.array([0.0, 0.0, 1.0])
    across, ring = _across(along), _ring()
    rise = np.linspace(0.0, np.pi / 2, RINGS)
    rings = [(first, -angle) for angle in rise[::-1]]
    rings += [(first + share * way, 0.0) for share in _shares()[1:-1]] if length else []
    rings += [(last, angle) for angle in rise]
    return _bands([at + radius * (np.cos(angle) * ring @ across + np.sin(angle) * along) for at, angle in rings])


@lru_cache(maxsize=1)
def _ring() -> np.ndarray:
    """A circle in a plane, whose first corner is there twice."""
    turn = np.linspace(0.0, 2 * np.pi, SIDES + 1)
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)
