"""A machine in motion as pictures one after the other: GIF, MP4, and a strip for papers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from .drawing import LEGEND, WIDTH, places_reached_in_sketch, sketch_figure
from .scene import Poses, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

RATE = 20  # pictures a second
MOST = 200  # pictures of a film; a longer motion is shown faster
DPI = 75
OF_PAPERS, ACROSS = 150, 3  # dots an inch, and positions in a row
Progress = Callable[[int, int], None]


def chosen_film_pictures(t: np.ndarray) -> tuple[list[int], float]:
    """The rows that become pictures, evenly over the time, and the duration of each (s)."""
    span = float(t[-1] - t[0])
    count = int(np.clip(round(span * RATE), 2, MOST))
    wanted = np.linspace(t[0], t[-1], count)
    return [int(abs(t - time).argmin()) for time in wanted], max(span / (count - 1), 0.02)


def write_gif(path: Path, scene: Scene, poses: Poses, t: np.ndarray, report: Progress) -> None:
    """Writes a GIF that repeats."""
    rows, each = chosen_film_pictures(t)
    from PIL.Image import Palette

    pictures = [
        _image(figure).convert("P", palette=Palette.ADAPTIVE) for figure in _figures(scene, poses, t, rows, report)
    ]
    pictures[0].save(path, format="GIF", save_all=True, append_images=pictures[1:], duration=round(1000 * each), loop=0)


def write_mp4(path: Path, scene: Scene, poses: Poses, t: np.ndarray, report: Progress) -> None:
    """Writes an MP4 by the program ffmpeg."""
    tool = check_ffmpeg()
    rows, each = chosen_film_pictures(t)
    writing: subprocess.Popen[bytes] | None = None
    for figure in _figures(scene, poses, t, rows, report):
        image = _image(figure)
        width, height = (size - size % 2 for size in image.size)  # which the format wants
        if writing is None:
            words = (
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgb24",
                "-s",
                f"{width}x{height}",
                "-r",
                f"{1 / each:.6f}",
                "-i",
                "-",
            )
            form = ("-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4")
            writing = subprocess.Popen(
                [tool, "-y", "-loglevel", "error", *words, *form, str(path)],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        assert writing.stdin is not None
        writing.stdin.write(image.crop((0, 0, width, height)).tobytes())
    assert writing is not None
    _, said = writing.communicate()
    if writing.returncode:
        raise InputError("ffmpeg can't write this film", found=said.decode(errors="replace").strip()[-300:])


def check_ffmpeg() -> str:
    """Where ffmpeg is; an error if it isn't there."""
    tool = shutil.which("ffmpeg")
    if tool is None:
        raise InputError(
            "MP4 files need the program ffmpeg, which isn't installed", allowed="--gif, or the page, which need nothing"
        )
    return tool


def write_film_strip(path: Path, scene: Scene, poses: Poses, t: np.ndarray, count: int, report: Progress) -> None:
    """Writes a PNG with `count` positions side by side, evenly over the time; of a legend that all share, one a row."""
    from PIL import Image

    rows = [int(abs(t - time).argmin()) for time in np.linspace(t[0], t[-1], count)]
    images = [_image(figure, OF_PAPERS) for figure in _figures(scene, poses, t, rows, report)]
    width, height = images[0].size
    across = min(count, ACROSS)
    first = round((WIDTH - LEGEND) * OF_PAPERS)  # of the legend's columns
    legends = {image.crop((first, 0, width, height)).tobytes() for image in images}
    pitch = first if len(legends) == 1 else width
    sheet = Image.new("RGB", ((across - 1) * pitch + width, -(-count // across) * height), "white")
    for k, image in enumerate(images):  # the next one lies over the legend
        sheet.paste(image, (k % across * pitch, k // across * height))
    sheet.save(path, format="PNG")


def _figures(scene: Scene, poses: Poses, t: np.ndarray, rows: Sequence[int], report: Progress) -> Iterator[Figure]:
    """The sketches of these rows, all seen from the same side and at the same scale."""
    shown = Poses(poses.frames[list(rows)], poses.names)
    room = places_reached_in_sketch(scene, shown)
    for k, row in enumerate(rows):
        report(k, len(rows))
        yield sketch_figure(scene, shown, k, f"t = {t[row]:.3f} s", room=room)


def _image(figure: Figure, dpi: int = DPI) -> Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())
