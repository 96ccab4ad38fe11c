"""Solids of links that follow from where their joints are, and what is computed with places and frames."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..record.sketch import Axes, Point, Solid

NEAR = 1e-9  # metres; closer points are the same
ROD, PLATE = 0.010, 0.008  # half the thickness of solids, as a share of the machine's size


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
