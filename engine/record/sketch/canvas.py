"""What a sketch is going to show: pieces that wait for being drawn, the farther ones first, and its legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..styles import COLOURS
from .scene import Point, Scene

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

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


BLUE, RED, GREEN, VIOLET = COLOURS[0], COLOURS[1], COLOURS[2], "#7b3fa0"
XYZ = ("#cc3333", "#2e8b3d", "#3355cc")
SYMBOL = 0.020  # a joint symbol's size, as a share of the machine's
Look = dict[str, Any]  # matplotlib's words for a patch or a line
Piece = Callable[["Axes"], object]
Face = tuple[np.ndarray, tuple[float, ...]]  # corners in the picture, red, green, blue and opacity


class Canvas:
    """Pieces of a picture in the scene's position `frames`.

    `seen` are points that have to be within the picture's frame, `taken` are points around what labels had better not
    cover; both are in the picture's plane, in metres. Symbols come nearer to the eye by `lift`.
    """

    def __init__(self, scene: Scene, view: Viewpoint, frames: dict[str, np.ndarray]):
        self.scene, self.view, self.frames = scene, view, frames
        self.unit = SYMBOL * scene.size
        self.lift = 0.0
        self.seen: list[np.ndarray] = []
        self.taken: list[np.ndarray] = []
        self.legend: dict[str, Artist] = {}
        self._pieces: list[tuple[float, Piece | Face]] = []

    def nearer(self, at: np.ndarray, units: float) -> np.ndarray:
        """A place, or places, that many symbol sizes nearer to the eye, in front of all bodies if symbols are."""
        shifted: np.ndarray = at - (units * self.unit + self.lift) * self.view.away
        return shifted

    def patch(self, places: np.ndarray, rim: np.ndarray, label: str = "", **look: Any) -> None:
        """A filled outline `rim`, as deep in space as `places` are."""
        from matplotlib.patches import Patch, Polygon

        self.seen.append(rim)
        self._add(places, lambda axes: axes.add_patch(Polygon(rim, **look)))
        if label and label not in self.legend:
            self.legend[label] = Patch(label=label, **{k: v for k, v in look.items() if k != "alpha"})

    def stroke(self, places: np.ndarray, ends: np.ndarray, label: str = "", **look: Any) -> None:
        """A line in the picture, as deep in space as `places` are."""
        self.seen.append(ends)
        self._add(places, lambda axes: axes.plot(*ends.T, **look))
        if label and label not in self.legend:
            self.legend[label] = sketch_legend_line(label=label, **look)

    def mark(self, at: np.ndarray, spot: np.ndarray, label: str = "", **look: Any) -> None:
        """A marker at a spot of the picture, as deep in space as `at` is."""
        self.seen.append(spot)
        self.taken.append(spot)
        self._add(at[None], lambda axes: axes.plot(*spot.T, linestyle="", **look))
        if label and label not in self.legend:
            self.legend[label] = sketch_legend_line(linestyle="", label=label, **look)

    def faces(self, corners: np.ndarray, colours: np.ndarray, label: str) -> None:
        """Faces of a body in space, each with a colour of its own."""
        from matplotlib.patches import Patch

        rims, depths = self.view.flat(corners), (corners @ self.view.away).mean(axis=1)
        self.seen.append(rims.reshape(-1, 2))
        self._pieces += [(float(depth), (rim, tuple(one))) for depth, rim, one in zip(depths, rims, colours)]
        if label not in self.legend:
            self.legend[label] = Patch(label=label, facecolor=tuple(colours.mean(axis=0)))

    def draw(self, axes: Axes) -> None:
        """Draws all pieces; faces between which no other piece is are drawn at once."""
        from matplotlib.collections import PolyCollection

        ordered = [piece for _, piece in sorted(self._pieces, key=lambda one: -one[0])]
        for single, group in groupby(ordered, key=callable):
            if single:
                for piece in group:
                    piece(axes)  # type: ignore[operator]
            else:
                rims, colours = zip(*group)
                axes.add_collection(PolyCollection(rims, facecolors=colours, edgecolors=colours, linewidths=0.3))

    def _add(self, places: np.ndarray, piece: Piece) -> None:
        self._pieces.append((float((places @ self.view.away).mean()), piece))


def sketch_legend_line(**look: Any) -> Line2D:
    """A line for the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)
