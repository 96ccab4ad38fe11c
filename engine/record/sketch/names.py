"""Names in a sketch: beside the joints and points, or as numbers whose names are in the legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..plots import plain_plot_text
from .canvas import BLUE, GREEN, RED, Canvas, sketch_points_moved
from .outlines import sketch_spots_together
from .scene import BASE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER, LINE = 0.62, 1.35  # a letter's width and a line's height, in font sizes
GAP = 0.25  # between boxes, in font sizes
RINGS = (0.9, 2.0, 3.4, 5.2)  # distances of the tried places from what is named, in font sizes
WAYS = np.deg2rad((35, -35, 145, -145, 0, 180, 90, -90, 60, -60, 120, -120))


@dataclass(frozen=True)
class Box:
    """A rectangle, in points of the picture: its middle and half its sides."""

    x: float
    y: float
    width: float
    height: float

    def over(self, other: Box) -> float:
        """The area that two boxes have in common."""
        across = min(self.x + self.width, other.x + other.width) - max(self.x - self.width, other.x - other.width)
        up = min(self.y + self.height, other.y + other.height) - max(self.y - self.height, other.y - other.height)
        return max(across, 0.0) * max(up, 0.0)


@dataclass(frozen=True)
class PlacedLabel:
    """A label at its place; it needs a leader line if it had to go far."""

    text: str
    box: Box
    far: bool


def sketch_label_places(
    texts: Sequence[str], at: np.ndarray, size: float, taken: Sequence[Box], frame: Box
) -> list[PlacedLabel]:
    """A place for each text near its point `at`, beside what is taken and the other texts, and within the frame."""
    kept = list(taken)
    made = []
    for text, (x, y) in zip(texts, at):
        lines = text.split("\n")
        width = 0.5 * LETTER * size * max(map(len, lines)) + GAP * size
        height = 0.5 * LINE * size * len(lines)
        best, cost = Box(x, y, width, height), np.inf
        for ring in RINGS:
            for rank, way in enumerate(WAYS):
                c, s = float(np.cos(way)), float(np.sin(way))
                box = Box(x + c * (ring * size + width), y + s * (ring * size + height), width, height)
                covered = sum(box.over(other) for other in kept) + 4.0 * (4 * width * height - box.over(frame))
                price = 3.0 * covered + size * size * (0.5 * ring + 0.02 * rank)
                if price < cost:
                    best, cost = box, price
            if cost < size * size * (0.5 * ring + 0.3):  # nothing is covered: no need to go farther
                break
        kept.append(best)
        distance = np.hypot(max(abs(best.x - x) - width, 0.0), max(abs(best.y - y) - height, 0.0))
        made.append(PlacedLabel(text, best, bool(distance > 1.6 * size)))
    return made


MOST_NAMES = 40  # joints; sketches with more have no names
MOST_WORDS = 14  # joints; beyond that, numbers stand beside the symbols, and the names in the legend
FONT = 8.5
FAR = 14.0  # points, from which on the base's axes have a name of their own


@dataclass(frozen=True)
class Paper:
    """The axes of a picture: its lower left corner (m), its scale (inches a metre), its width and height (inches)."""

    axes: Axes
    low: np.ndarray
    scale: float
    inches: np.ndarray

    def points(self, flat: np.ndarray) -> np.ndarray:
        """Points of the picture's plane in 1/72 inch from its corner."""
        there: np.ndarray = (flat - self.low) * self.scale * 72
        return there

    def metres(self, points: np.ndarray) -> np.ndarray:
        """The other way round."""
        there: np.ndarray = self.low + points / 72 / self.scale
        return there


def sketch_names(canvas: Canvas, paper: Paper) -> list[str]:
    """Writes the names of joints and named points; where they are many, numbers: these are returned, with the names."""
    joints = [joint for joint in canvas.scene.joints if not joint.ghost and joint.type != "fixed"]
    if not joints or len(joints) > MOST_NAMES:
        return []
    numbered = len(joints) > MOST_WORDS
    texts, places, colours = [], [], []
    at = [_spot(canvas, paper, joint.carrier, joint.at) for joint in joints]
    for group in sketch_spots_together(np.concatenate(at), 4.0):
        texts.append(", ".join(str(k + 1) if numbered else plain_plot_text(joints[k].name, 30) for k in group))
        places.append(at[group[0]][0])
        actuated = BLUE if joints[group[0]].actuated else "#000000"
        colours.append(RED if any(joints[k].cut for k in group) else actuated)
    if len(joints) + len(canvas.scene.points) <= MOST_WORDS:
        for point in canvas.scene.points:
            texts.append(plain_plot_text(point.name, 24))
            places.append(_spot(canvas, paper, point.link, point.at)[0])
            colours.append(GREEN)
    home = _spot(canvas, paper, BASE, (0.0, 0.0, 0.0))[0]
    if min(np.linalg.norm(spot[0] - home) for spot in at) > FAR:  # axes alone somewhere
        texts.append(BASE)
        places.append(home)
        colours.append("#666666")
    half = 36 * paper.inches
    frame = Box(half[0], half[1], half[0], half[1])
    taken = [_around(paper.points(spots)) for spots in canvas.taken]
    for label, colour, place in zip(sketch_label_places(texts, np.array(places), FONT, taken, frame), colours, places):
        _write(paper, label.text, label.box, colour, place if label.far else None)
    return [f"{k}  {joint.name}" for k, joint in enumerate(joints, start=1)] if numbered else []


def _spot(canvas: Canvas, paper: Paper, link: str, at: tuple[float, float, float]) -> np.ndarray:
    """Where a place of a link is on the paper."""
    return paper.points(canvas.view.flat(sketch_points_moved(canvas.frames[link], [at])))


def _write(paper: Paper, text: str, box: Box, colour: str, leads_to: np.ndarray | None) -> None:
    """Writes a label, with a line that leads to what it names if that is far."""
    from matplotlib.patheffects import withStroke

    at = paper.metres(np.array([box.x, box.y]))
    if leads_to is not None:
        paper.axes.plot(*np.array([at, paper.metres(leads_to)]).T, color="#888888", lw=0.6, zorder=9)
    effects = [withStroke(linewidth=2.5, foreground="w")]
    paper.axes.text(
        at[0], at[1], text, color=colour, fontsize=FONT, ha="center", va="center", zorder=10, path_effects=effects
    )


def _around(points: np.ndarray) -> Box:
    """The box around points of the picture, which is never smaller than a mark."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 3.0)
    return Box(float(middle[0]), float(middle[1]), float(half[0]), float(half[1]))
