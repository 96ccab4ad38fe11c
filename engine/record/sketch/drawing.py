"""A machine as a sketch: its solids and its joints' symbols, drawn on paper from one side, the farther ones first.

What moves in one plane is seen along its normal, with axes in metres; everything else is seen obliquely from above,
with a scale and the directions of the base's axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plots import blank_figure, plain_plot_text
from .canvas import VIOLET, XYZ, Canvas, Viewpoint, sketch_legend_line
from .drawn_bodies import sketch_links_have_shapes
from .drawn_links import sketch_actuators, sketch_joints, sketch_link_frames, sketch_links, sketch_points
from .names import Paper, sketch_names
from .outlines import rounded_sketch_length
from .scene import Poses, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT, LEGEND = 9.6, 6.6, 2.1  # inches
MARGINS = (0.65, 0.15, 0.55, 0.45)  # left, between picture and legend, below, above


@np.errstate(all="ignore")  # of bodies that are larger than anything that is built; files are warned of these
def sketch_figure(
    scene: Scene, poses: Poses, k: int = 0, state: str = "initial position", *, room: np.ndarray | None = None
) -> Figure:
    """The figure of a scene in its position k, which the title calls `state`; equal `room` gives equal scales."""
    canvas = Canvas(scene, Viewpoint.of(scene), poses.of(k))
    if sketch_links_have_shapes(canvas):
        canvas.lift = 10 * scene.size  # symbols are drawn over bodies, within which they are
    for add in (sketch_links, sketch_joints, sketch_link_frames, sketch_points, sketch_actuators):
        add(canvas)
    figure = blank_figure("", WIDTH, HEIGHT, None)
    title = plain_plot_text(f"{scene.name}: {state}", 90)
    figure.text(MARGINS[0] / WIDTH, 1 - 0.3 / HEIGHT, title, fontsize=12, va="center")
    paper = _paper(figure, canvas, room)
    canvas.draw(paper.axes)
    _gravity(canvas, paper)
    if scene.flat is None:
        _corner(canvas, paper)
    numbers = sketch_names(canvas, paper)
    _dress(canvas, paper)
    _legend(figure, canvas, numbers)
    return figure


def places_reached_in_sketch(scene: Scene, poses: Poses) -> np.ndarray:
    """The places in space where the solids of the links are in any of the positions."""
    ends = [(part.name, at) for part in scene.parts[1:] for solid in part.solids for at in solid.points]
    return np.concatenate([poses.seen_from(ends, k) for k in range(len(poses.frames))])


def _paper(figure: Figure, canvas: Canvas, room: np.ndarray | None) -> Paper:
    """Axes in which everything is seen and a metre is as long upwards as to the right."""
    left, between, below, above = MARGINS
    inches = np.array([WIDTH - left - between - LEGEND, HEIGHT - below - above])
    axes = figure.add_axes((left / WIDTH, below / HEIGHT, inches[0] / WIDTH, inches[1] / HEIGHT))
    if room is not None:
        margin = 5 * canvas.unit * np.array([[-1.0, -1.0], [1.0, 1.0]])  # what symbols need, whatever their position
        seen = np.concatenate([canvas.view.flat(room) + corner for corner in margin])
    else:
        seen = np.concatenate(canvas.seen) if canvas.seen else np.zeros((1, 2))
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    space = inches - np.array([0.9, 0.6])  # the rest is for labels at the rim
    scale = float((space / np.maximum(high - low, 1e-3 * canvas.scene.size)).min())
    middle, half = (low + high) / 2, inches / scale / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    return Paper(axes, middle - half, scale, inches)


def _gravity(canvas: Canvas, paper: Paper) -> None:
    """Draws gravity into the upper right corner."""
    g = np.array(canvas.scene.gravity)
    size = float(np.linalg.norm(g))
    if not size:
        return
    view, inch = canvas.view, 1 / paper.scale
    high = paper.low + paper.inches * inch
    along, seen = g / size, float(np.linalg.norm(view.flat(g[None] / size)[0]))
    label = f"gravity, {size:.4g} m/s²"
    if seen > 0.25:
        start = np.array([high[0] - 0.25 * inch, high[1] - 0.2 * inch])
        end = start + 0.55 * inch * view.flat(along[None])[0]
        look = {"arrowstyle": "-|>", "color": VIOLET, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
        paper.axes.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=look)
        canvas.taken.append(np.array([start, end]))
    else:
        label += ", towards the eye" if along @ view.away < 0 else ", away from the eye"
    canvas.legend["gravity"] = sketch_legend_line(color=VIOLET, lw=1.8, marker=">", ms=5, label=label)


def _corner(canvas: Canvas, paper: Paper) -> None:
    """Draws the directions of the base's axes, and a scale."""
    axes, inch = paper.axes, 1 / paper.scale
    home = paper.low + np.array([0.45, 0.4]) * inch
    for k, colour in enumerate(XYZ):
        end = home + 0.34 * inch * canvas.view.flat(np.eye(3)[k][None])[0]
        axes.plot(*np.array([home, end]).T, color=colour, lw=1.6)
        past = home + 1.3 * (end - home)
        axes.text(past[0], past[1], "xyz"[k], color=colour, fontsize=9, ha="center", va="center")
    length = rounded_sketch_length(0.9 * inch)
    start = paper.low + np.array([1.2, 0.2]) * inch
    canvas.taken += [paper.low + np.array([[0.1, 0.05], [0.9, 0.9]]) * inch]
    canvas.taken += [np.array([start, start + np.array([length, 0.25 * inch])])]
    axes.plot([start[0], start[0] + length], [start[1]] * 2, color="#555555", lw=2.0, solid_capstyle="butt")
    axes.text(start[0] + length / 2, start[1] + 0.06 * inch, f"{length:g} m", fontsize=8, ha="center", va="bottom")


def _dress(canvas: Canvas, paper: Paper) -> None:
    """Gives a plane picture its axes in metres; others have none."""
    axes = paper.axes
    if canvas.scene.flat is None:
        axes.set_axis_off()
        return
    for direction, side in ((canvas.view.right, "x"), (canvas.view.up, "y")):
        letter = int(abs(direction).argmax())
        sign = "" if direction[letter] > 0 else "−"
        getattr(axes, f"set_{side}label")(f"{sign}{'xyz'[letter]} (m)", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(visible=True, color="#eeeeee", lw=0.6)
    axes.set_axisbelow(True)


def _legend(figure: Figure, canvas: Canvas, numbers: list[str]) -> None:
    """Writes what the symbols mean, and below it the names of what has numbers."""
    right = (WIDTH - LEGEND) / WIDTH
    figure.legend(
        handles=list(canvas.legend.values()),
        fontsize=8,
        loc="upper left" if numbers else "center left",
        bbox_to_anchor=(right, 0.94 if numbers else 0.5),
        frameon=False,
        labelspacing=0.55,
        handlelength=1.6,
    )
    longest = max(map(len, numbers), default=0)
    columns = 2 if longest < 17 else 1
    down = -(-len(numbers) // columns)
    free = 0.88 * HEIGHT - 0.18 * len(canvas.legend)  # inches below what the symbols mean
    width = 0.62 * longest * columns  # in sizes of letters
    size = max(4.0, min(7.0, 72 * (LEGEND - 0.15) / max(width, 1), 72 * free / max(1.35 * down, 1)))
    for k in range(columns):
        text = "\n".join(plain_plot_text(name, 400) for name in numbers[k * down : (k + 1) * down])
        figure.text(right + 0.01 + 0.1 * k, 0.06, text, fontsize=size, va="bottom", linespacing=1.3)
