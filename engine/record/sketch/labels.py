"""Labels in a picture that cover neither each other nor what they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
                covered = sum(box.over(other) for other in kept) + 4.0 * _outside(box, frame)
                price = 3.0 * covered + size * size * (0.5 * ring + 0.02 * rank)
                if price < cost:
                    best, cost = box, price
            if cost < size * size * (0.5 * ring + 0.3):  # nothing is covered: no need to go farther
                break
        kept.append(best)
        distance = np.hypot(max(abs(best.x - x) - width, 0.0), max(abs(best.y - y) - height, 0.0))
        made.append(PlacedLabel(text, best, bool(distance > 1.6 * size)))
    return made


def _outside(box: Box, frame: Box) -> float:
    """The area of a box outside of the frame."""
    return 4 * box.width * box.height - box.over(frame)
