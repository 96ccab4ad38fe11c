"""Plots as small images, and how far two of them are apart."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .plots import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 50
ALLOWED = 0.01  # root mean square, where black and white are 1 apart


def version() -> str:
    """Of what draws; another one draws letters differently."""
    from matplotlib import __version__

    return str(__version__)


def drawn(figure: Figure) -> bytes:
    """A PNG file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figure.png"
        save(figure, file, DPI)
        return file.read_bytes()


def apart(old: bytes, new: bytes) -> float | None:
    """Root mean square of the pixels' differences; None where the sizes differ.  Raises where one is no image."""
    a, b = pixels(old), pixels(new)
    return float(np.sqrt(np.mean((a - b) ** 2))) if a.shape == b.shape else None


def pixels(png: bytes) -> np.ndarray:
    """Red, green and blue from 0 to 1."""
    from matplotlib.image import imread

    return np.asarray(imread(io.BytesIO(png), format="png"), dtype=float)[..., :3]
