"""From which side a machine is seen, and where its places are in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..scene import Point, Scene

AZIMUTH, ELEVATION = np.deg2rad(-58.0), np.deg2rad(24.0)


@dataclass(frozen=True)
class Viewpoint:
    """The directions of the picture in space: to the right, up, and away from the eye."""

    right: np.ndarray
    up: np.ndarray
    away: np.ndarray

    @classmethod
    def of(cls, scene: Scene) -> Viewpoint:
        """The view along the normal of a plane machine, and obliquely from above of any other."""
        up = np.array(scene.up)
        if scene.flat is not None:
            away = -np.array(scene.flat)
            if abs(up @ away) > 0.5:  # gravity acts across the plane
                up = np.eye(3)[int(np.argsort(abs(away))[0])]
        else:
            first = np.eye(3)[int(np.argmin(abs(up)))]
            first = first - (first @ up) * up
            first /= np.linalg.norm(first)
            side = np.cross(up, first)
            level = np.cos(AZIMUTH) * first + np.sin(AZIMUTH) * side  # where the eye is
            away = -(np.cos(ELEVATION) * level + np.sin(ELEVATION) * up)
        right = np.cross(away, up)
        right = right / np.linalg.norm(right)
        return cls(right, np.cross(right, away), away)

    def flat(self, places: np.ndarray) -> np.ndarray:
        """Points of space as points of the picture."""
        return np.stack([places @ self.right, places @ self.up], axis=-1)


def sketch_points_moved(T: np.ndarray, places: Sequence[Point] | np.ndarray) -> np.ndarray:
    """Points of a link that is at T, in base axes."""
    there: np.ndarray = np.array(places) @ T[:3, :3].T + T[:3, 3]
    return there
