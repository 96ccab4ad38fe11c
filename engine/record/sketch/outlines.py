"""Outlines in the plane of a picture, and round numbers for its scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TURN = np.linspace(0.0, 2 * np.pi, 33)


def outline_of_ball(middle: np.ndarray, radius: float) -> np.ndarray:
    """The outline of a ball."""
    rim: np.ndarray = middle + radius * np.stack([np.cos(TURN), np.sin(TURN)], axis=-1)
    return rim


def outline_of_rod(ends: np.ndarray, radius: float) -> np.ndarray:
    """The outline of a rod with round ends."""
    along = ends[1] - ends[0]
    way = float(np.arctan2(along[1], along[0])) if np.linalg.norm(along) else 0.0
    half = np.linspace(np.pi / 2, 3 * np.pi / 2, 12) + way
    first = ends[0] + radius * np.stack([np.cos(half), np.sin(half)], axis=-1)
    second = ends[1] - radius * np.stack([np.cos(half), np.sin(half)], axis=-1)
    return np.concatenate([first, second])


def outline_hull(points: np.ndarray) -> np.ndarray:
    """The convex outline of points in a plane, by Andrew's monotone chains."""
    ordered = sorted(map(tuple, points))

    def chain(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        kept: list[tuple[float, ...]] = []
        for p in points:
            while len(kept) > 1 and _left(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def sketch_spots_together(spots: np.ndarray, near: float) -> list[list[int]]:
    """The numbers of spots in groups of those that are nearly at one place."""
    groups: list[list[int]] = []
    for k, spot in enumerate(spots):
        home = next((group for group in groups if np.linalg.norm(spots[group[0]] - spot) < near), None)
        if home is None:
            groups.append([k])
        else:
            home.append(k)
    return groups


def rounded_sketch_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that isn't longer."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(step for step in (1, 2, 5) if step * power <= length))


def _left(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    """Twice the area of a triangle, positive if it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
