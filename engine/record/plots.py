"""The usual plots of results as rows of a table, and what all figures have in common."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from ..errors import safe_to_print
from .columns import Column
from .styles import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plot:
    """A kind of plot: the family of its columns, the beginning of its title, and the quantity of each unit."""

    family: str
    title: str
    quantities: Mapping[str, str]
    overlay: bool = True
    folds: bool = True  # whether panels in which all is zero are left out
    sizes: bool = False  # whether nothing is below zero, where axes begin then


PLOTS = {
    "torques": Plot("force", "Joint torques and forces", {"N m": "torque", "N": "force"}),
    "angles": Plot(
        "position", "Joint angles and positions", {"rad": "angle", "m": "position", "1": "Euler parameters"}
    ),
    "rates": Plot("speed", "Joint rates", {"rad/s": "rate", "m/s": "speed"}),
    "accelerations": Plot("acceleration", "Joint accelerations", {"rad/s²": "acceleration", "m/s²": "acceleration"}),
    "reactions": Plot("reaction", "Joint reactions", {"N": "force", "N m": "moment"}, overlay=False),
    "resultants": Plot("resultant", "Sizes of reactions", {"N": "force", "N m": "moment"}, overlay=False, sizes=True),
    "points": Plot("point", "Points", {"m": "position"}),
    "point-velocities": Plot("point velocity", "Velocities of points", {"m/s": "velocity"}),
    "point-accelerations": Plot("point acceleration", "Accelerations of points", {"m/s²": "acceleration"}),
    "expressions": Plot("expression", "Expressions", {}, overlay=False),
    "energy": Plot("energy", "Energy", {"J": "energy"}, overlay=False, folds=False),
}
PLOT_FORMATS = ("png", "svg", "pdf")
COMPRESSION = 3  # of PNG files: two thirds of the time of the usual 6, for a twentieth more bytes
Panel = tuple[str, str, list[Column]]  # owner, unit, lines


def panels_of_plot(columns: Sequence[Column]) -> list[Panel]:
    """The panels of a plot; columns of one owner and one unit share a panel."""
    made: list[Panel] = []
    for owner, group in groupby(columns, key=lambda column: column.owner):
        by_unit: dict[str, list[Column]] = {}
        for column in group:
            by_unit.setdefault(column.unit, []).append(column)
        made += [(owner, unit, lines) for unit, lines in by_unit.items()]
    return made


def plot_stems(name: str) -> list[str]:
    """The names that plots of a result can have, without their suffix."""
    return [f"{name}-{plot}{ending}" for plot in PLOTS for ending in ("", "-overlay")]


def save_figure(figure: Figure, path: Path, dpi: int = 110, letters: Mapping[str, Any] | None = None) -> None:
    """Writes a figure in the format of the path's suffix, without dates and other things that change with each run.

    `letters` are settings of matplotlib for texts in the file.
    """
    from matplotlib import rc_context

    from .arranged import missing_letters_as_boxes

    no_date = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    settings: dict[Any, Any] = {"svg.hashsalt": "denoc", **(letters or {})}
    with rc_context(settings), missing_letters_as_boxes():
        quick: dict[str, Any] = {"pil_kwargs": {"compress_level": COMPRESSION}} if path.suffix == ".png" else {}
        figure.savefig(path, dpi=dpi, metadata=no_date[path.suffix[1:]], **quick)


def save_figure_as_png(figure: Figure, file: BinaryIO, dpi: int = 80) -> None:
    """Writes a figure as PNG into an open file."""
    from .arranged import missing_letters_as_boxes

    with missing_letters_as_boxes():
        figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})


def blank_figure(
    title: str, width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """A figure that has nothing but its title, if it has one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(plain_plot_text(title, int(11 * width)), fontsize=12)
    return figure


def arranged_figure(
    title: str, width: float, height: float, down: int, across: int, letters: int = 80, size: float = 12
) -> Figure:
    """A figure with rows and columns of panels, and with a title in lines of so many letters of this size."""
    from .arranged import Arranged

    figure = Arranged(width, height, down, across)
    if title:
        figure.suptitle(plain_plot_text(title, letters), fontsize=size)
    return figure


def label_axes(axes: Axes, across: str, up: str, size: float = 9, ticks: float = 8) -> None:
    """Adds labels, the sizes of ticks' letters, and a grid."""
    axes.set_xlabel(across, fontsize=size)
    axes.set_ylabel(up, fontsize=size)
    axes.tick_params(labelsize=ticks)
    axes.grid(visible=True, color="#dddddd", lw=0.6)


def plain_plot_text(text: str, width: int = 60) -> str:
    """A user's text for matplotlib, with dollar signs and a leading underscore, which have meanings there, escaped."""
    text = textwrap.fill(safe_to_print(text), max(width, 20), break_on_hyphens=False).replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text


def axis_label(row: Plot, unit: str, shown: str | None = None) -> str:
    """The label of an axis: its quantity and unit, or the one in which numbers are `shown` instead."""
    quantity = row.quantities.get(unit, "")
    if unit in ("", "1"):
        return quantity
    return f"{quantity} ({shown or unit})" if quantity else shown or unit


def figure_of_operation_counts(
    own: Mapping[int, Mapping[str, Any]], times: Mapping[int, tuple[float, float]]
) -> Figure:
    """A figure with the operations of the recursions over the number of joints, and measured times."""
    figure = blank_figure("Operations of inverse and forward dynamics", 8.4 if not times else 12.0, 4.6)
    axes = figure.add_subplot(1, 2 if times else 1, 1)
    for k, what in enumerate(next(iter(own.values()))):
        for kind, style in (("multiplications", "-"), ("additions", "--")):
            sizes = [getattr(row[what], kind) for row in own.values()]
            axes.plot(list(own), sizes, style, color=COLOURS[k], lw=1.4, label=f"{what}, {kind}")
    axes.set_title("Operations for a general chain", fontsize=10)
    axes.set_xlabel("number of revolute joints", fontsize=9)
    axes.set_ylabel("operations", fontsize=9)
    axes.set_yscale("log")
    axes.grid(visible=True, color="#dddddd", lw=0.6)
    axes.legend(fontsize=8)
    if times:
        axes = figure.add_subplot(1, 2, 2)
        for k, label in enumerate(("O(n)", "dense")):
            axes.plot(list(times), [1e9 * pair[k] for pair in times.values()], "o-", color=COLOURS[k + 1], label=label)
        axes.set_title("Forward dynamics, compiled, one core", fontsize=10)
        axes.set_xlabel("number of revolute joints", fontsize=9)
        axes.set_ylabel("time (ns a sample)", fontsize=9)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, color="#dddddd", lw=0.6)
        axes.legend(fontsize=8)
    return figure
