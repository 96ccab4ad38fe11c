"""Plots of results, as rows of a table; each has a panel for every joint, as in the papers, and an overlay."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from ..errors import shown
from .columns import Column

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


PLOTS = {
    "torques": Plot("force", "Joint torques and forces", {"N m": "torque", "N": "force"}),
    "angles": Plot(
        "position", "Joint angles and positions", {"rad": "angle", "m": "position", "1": "Euler parameters"}
    ),
    "rates": Plot("speed", "Joint rates", {"rad/s": "rate", "m/s": "speed"}),
    "accelerations": Plot("acceleration", "Joint accelerations", {"rad/s²": "acceleration", "m/s²": "acceleration"}),
    "reactions": Plot("reaction", "Joint reactions", {"N": "force", "N m": "moment"}, overlay=False),
    "points": Plot("point", "Points", {"m": "position"}),
    "energy": Plot("energy", "Energy", {"J": "energy"}, overlay=False),
}
FORMATS = ("png", "svg", "pdf")
MOST_PANELS = 36  # if there are more, only the overlay is drawn
MOST_STYLES = 28  # more lines than this get a colour scale, and the legend names some of them
MOST_SEARCHED = 20_000  # rows; beyond that, searching the best place for the legend takes too long
# colours that colour-blind people can distinguish (Okabe and Ito); further lines differ in style
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLES = ("-", "--", "-.", ":")

Panel = tuple[str, str, list[Column]]  # owner, unit, lines
Table = Mapping[str, np.ndarray]


def panels(columns: Sequence[Column]) -> list[Panel]:
    """The panels of a plot; columns of one owner and one unit share a panel."""
    made: list[Panel] = []
    for owner, group in groupby(columns, key=lambda column: column.owner):
        by_unit: dict[str, list[Column]] = {}
        for column in group:
            by_unit.setdefault(column.unit, []).append(column)
        made += [(owner, unit, lines) for unit, lines in by_unit.items()]
    return made


def figures(
    name: str, t: np.ndarray, table: Table, columns: Sequence[Column], wanted: Sequence[str], robot: str
) -> dict[str, Figure]:
    """The figures by file stem, for each wanted plot for which the result has columns."""
    made: dict[str, Figure] = {}
    for plot in wanted:
        row = PLOTS[plot]
        chosen = [column for column in columns if column.family == row.family]
        if not chosen:
            continue
        title = f"{row.title}: {robot}" + (f" ({name})" if name != robot else "")
        grouped = panels(chosen)
        if len(grouped) <= MOST_PANELS:
            made[f"{name}-{plot}"] = _one_each(row, title, t, table, grouped)
        if (row.overlay and len(grouped) > 1) or len(grouped) > MOST_PANELS:
            made[f"{name}-{plot}-overlay"] = _overlay(row, title, t, table, chosen)
    return made


def stems(name: str) -> list[str]:
    """The names that plots of a result can have, without their suffix."""
    return [f"{name}-{plot}{ending}" for plot in PLOTS for ending in ("", "-overlay")]


def save(figure: Figure, path: Path, dpi: int = 110) -> None:
    """Writes a figure in the format of the path's suffix, without dates and other things that change with each run."""
    from matplotlib import rc_context

    from .arranged import boxes

    no_date = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "denoc"}), boxes():
        figure.savefig(path, dpi=dpi, metadata=no_date[path.suffix[1:]])


def save_png(figure: Figure, file: BinaryIO, dpi: int = 80) -> None:
    """Writes a figure as PNG into an open file."""
    from .arranged import boxes

    with boxes():
        figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})


def _one_each(row: Plot, title: str, t: np.ndarray, table: Table, grouped: list[Panel]) -> Figure:
    """The figure with a panel for each joint, or for whatever else owns columns."""
    across = _across(grouped)
    down = -(-len(grouped) // across)
    single = len(grouped) == 1
    figure = _panelled(title, 6.4 if single else 4.0 * across + 0.4, 4.2 if single else 2.7 * down + 0.6, down, across)
    for k, (owner, unit, lines) in enumerate(grouped):
        axes = figure.add_subplot(down, across, k + 1)
        for n, column in enumerate(lines):
            label = plain(_short(column) if len(lines) > 1 else column.label)
            axes.plot(t, table[column.name], **_look(n, len(lines)), marker=_mark(t), label=label)
        axes.set_title(plain(owner, 44), fontsize=10)
        _dress(axes, row, unit, _size(table, grouped, unit))
        if len(lines) == 1:
            axes.legend(fontsize=8, loc="best" if len(t) <= MOST_SEARCHED else "upper right", framealpha=0.7)
        else:
            _legend_outside(axes)
    return figure


def _across(grouped: list[Panel]) -> int:
    """The number of panels side by side; if all owners have two panels, these stand side by side."""
    count = len(grouped)
    if count == 1:
        return 1
    together = {len(list(group)) for _, group in groupby(grouped, key=lambda panel: panel[0])}
    if together == {2}:
        return 2 if count <= 8 else 4
    return 2 if count <= 4 else 3 if count <= 12 else 4


def _overlay(row: Plot, title: str, t: np.ndarray, table: Table, chosen: list[Column]) -> Figure:
    """The figure with the columns of all owners in one panel for each unit."""
    by_unit: dict[str, list[Column]] = {}
    for column in chosen:
        by_unit.setdefault(column.unit, []).append(column)
    figure = _panelled(title, 8.4, 0.8 + 3.9 * len(by_unit), len(by_unit), 1)
    for k, (unit, lines) in enumerate(by_unit.items()):
        axes = figure.add_subplot(len(by_unit), 1, k + 1)
        for n, column in enumerate(lines):
            axes.plot(t, table[column.name], **_look(n, len(lines)), marker=_mark(t), label=plain(column.label))
        _dress(axes, row, unit, _size(table, [("", unit, lines)], unit))
        _legend_outside(axes)
    return figure


def _panelled(title: str, width: float, height: float, down: int, across: int) -> Figure:
    """A figure with room for so many panels and with a title."""
    from .arranged import Arranged

    figure = Arranged(width, height, down, across)
    figure.suptitle(plain(title, int(11 * width)), fontsize=12)
    return figure


def blank(title: str, width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """A figure that has nothing but its title."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    figure.suptitle(plain(title, int(11 * width)), fontsize=12)
    return figure


def _look(n: int, count: int) -> dict[str, Any]:
    """The colour and style of line n out of `count`."""
    if count <= MOST_STYLES:
        return {"color": COLOURS[n % 7], "linestyle": _STYLES[n // 7], "linewidth": 1.4}
    from matplotlib import colormaps

    return {"color": colormaps["viridis"](0.93 * n / (count - 1)), "linestyle": "-", "linewidth": 1.0}


def _mark(t: np.ndarray) -> str:
    """The marker of a line: none, unless it is a single point."""
    return "o" if len(t) == 1 else ""


def _short(column: Column) -> str:
    """The label of a column in a panel whose title is its owner."""
    return column.label.removeprefix(column.owner).lstrip(" .") or column.label


def plain(text: str, width: int = 60) -> str:
    """A user's text for matplotlib, with dollar signs and a leading underscore, which have meanings there, escaped."""
    text = textwrap.fill(shown(text), max(width, 20), break_on_hyphens=False).replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text


def _legend_outside(axes: Axes) -> None:
    """Puts the legend to the right of the axes, where it covers nothing."""
    lines = axes.get_lines()
    step = 1 if len(lines) <= MOST_STYLES else -(-(len(lines) - 1) // 14)
    shown = [*lines[::step], *([lines[-1]] if (len(lines) - 1) % step else [])]
    columns = 1 + (len(shown) - 1) // 20
    axes.legend(handles=shown, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=columns)


def _size(table: Table, grouped: list[Panel], unit: str) -> float:
    """The largest number of this unit in the figure."""
    return max(
        (
            float(abs(_finite(table[column.name])).max(initial=0.0))
            for _, u, lines in grouped
            if u == unit
            for column in lines
        ),
        default=0.0,
    )


def _finite(values: np.ndarray) -> np.ndarray:
    """The finite values, since no axis can show the NaN of a failed run."""
    known: np.ndarray = values[np.isfinite(values)]
    return known


def axis_label(row: Plot, unit: str) -> str:
    """The label of an axis: its quantity and unit."""
    quantity = row.quantities.get(unit, "")
    return quantity if unit == "1" else f"{quantity} ({unit})".strip()


def _dress(axes: Axes, row: Plot, unit: str, size: float) -> None:
    """Adds labels and a grid to axes; lines that vary by no more than rounding relative to `size` look constant."""
    axes.set_xlabel("time (s)", fontsize=9)
    axes.set_ylabel(axis_label(row, unit), fontsize=9)
    axes.tick_params(labelsize=8)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.grid(visible=True, color="#dddddd", lw=0.6)
    axes.margins(x=0)
    drawn = _finite(np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]))
    if not drawn.size:
        return
    low, high = float(drawn.min()), float(drawn.max())
    if high - low <= 1e-9 * size:
        middle, reach = (low + high) / 2, size or 1.0
        axes.set_ylim(middle - reach, middle + reach)


def counts(own: Mapping[int, Mapping[str, Any]], times: Mapping[int, tuple[float, float]]) -> Figure:
    """A figure with the operations of the recursions over the number of joints, and measured times."""
    figure = blank("Operations of inverse and forward dynamics", 8.4 if not times else 12.0, 4.6)
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
