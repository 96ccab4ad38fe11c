"""Plots as small images, and the distance between two of them."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..plots import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 50
SHADES = 128  # colours of an image: lines, letters and what is between them and the paper
MOST_PIXELS = 4_000_000
ALLOWED = 0.01  # root mean square, where black and white are 1 apart


def matplotlib_version() -> str:
    """The version of matplotlib; other versions draw letters differently."""
    from matplotlib import __version__

    return str(__version__)


def png_of_figure(figure: Figure) -> bytes:
    """The figure as the bytes of a small PNG file."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figure.png"
        save_figure(figure, file, DPI)
        small = io.BytesIO()
        with Image.open(file) as image:
            image.convert("RGB").quantize(SHADES).save(small, "png", optimize=True)
        return small.getvalue()


def pixel_distance(old: bytes, new: bytes) -> float | None:
    """The root mean square difference of the pixels, or None for different sizes; bytes that are no image raise."""
    a, b = pixels_of_png(old), pixels_of_png(new)
    return float(np.sqrt(np.mean((a - b) ** 2))) if a.shape == b.shape else None


def pixels_of_png(png: bytes) -> np.ndarray:
    """The pixels of a PNG as red, green and blue from 0 to 1."""
    from matplotlib.image import imread

    width, height = (int.from_bytes(png[k : k + 4]) for k in (16, 20))
    if width * height > MOST_PIXELS:  # a file of a few bytes may stand for as many as it likes
        raise ValueError(f"{width} × {height} pixels are too many")
    return np.asarray(imread(io.BytesIO(png), format="png"), dtype=float)[..., :3]
