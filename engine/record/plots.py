"""Plots of results: rows of a table.  One panel a joint as in the papers, and an overlay of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plot:
    """A row: which family of columns it shows, and how its title begins."""

    family: str
    title: str
    overlay: bool = True


PLOTS = {
    "torques": Plot("force", "Joint torques and forces"),
    "angles": Plot("position", "Joint angles and positions"),
    "rates": Plot("speed", "Joint rates"),
    "accelerations": Plot("acceleration", "Joint accelerations"),
    "reactions": Plot("reaction", "Joint reactions", overlay=False),
    "points": Plot("point", "Points"),
    "energy": Plot("energy", "Energy", overlay=False),
}
FORMATS = ("png", "svg", "pdf")
MOST_PANELS = 36  # more joints than this are shown in the overlay only
# told apart by people who see colours differently (Okabe and Ito), then by line style
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLES = ("-", "--", "-.", ":")

Panel = tuple[str, str, list[Column]]  # owner, unit, lines


def panels(columns: Sequence[Column]) -> list[Panel]:
    """Columns of one owner and one unit share a panel."""
    found: list[Panel] = []
    for owner, group in groupby(columns, key=lambda column: column.owner):
        by_unit: dict[str, list[Column]] = {}
        for column in group:
            by_unit.setdefault(column.unit, []).append(column)
        found += [(owner, unit, lines) for unit, lines in by_unit.items()]
    return found


def figures(
    name: str,
    t: np.ndarray,
    table: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    wanted: Sequence[str],
    robot: str,
) -> dict[str, Figure]:
    """File stem → figure, for each wanted plot that the result has columns for."""
    made: dict[str, Figure] = {}
    for plot in wanted:
        row = PLOTS[plot]
        chosen = [column for column in columns if column.family == row.family]
        if not chosen:
            continue
        title = f"{row.title}: {robot}" + (f" ({name})" if name != robot else "")
        grouped = panels(chosen)
        if len(grouped) <= MOST_PANELS:
            made[f"{name}-{plot}"] = _one_each(title, t, table, grouped)
        if row.overlay and len(grouped) > 1:
            made[f"{name}-{plot}-overlay"] = _overlay(title, t, table, chosen)
    return made


def save(figure: Figure, path: Path) -> None:
    """The figure in the format of the path's suffix, without anything that changes from run to run."""
    no_date = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(path, dpi=110, metadata=no_date[path.suffix[1:]])


def _one_each(title: str, t: np.ndarray, table: Mapping[str, np.ndarray], grouped: list[Panel]) -> Figure:
    columns = 1 if len(grouped) == 1 else 2 if len(grouped) <= 4 else 3 if len(grouped) <= 12 else 4
    rows = -(-len(grouped) // columns)
    figure = _figure(4.0 * columns + 0.4, 2.7 * rows + 0.6)
    for k, (owner, unit, lines) in enumerate(grouped):
        axes = figure.add_subplot(rows, columns, k + 1)
        for n, column in enumerate(lines):
            axes.plot(t, table[column.name], _STYLES[n // 7 % 4], color=_COLOURS[n % 7], lw=1.4, label=column.label)
        axes.set_title(owner, fontsize=10)
        _dress(axes, unit)
        axes.legend(fontsize=8, loc="best", framealpha=0.7)
    figure.suptitle(title, fontsize=12)
    return figure


def _overlay(title: str, t: np.ndarray, table: Mapping[str, np.ndarray], chosen: list[Column]) -> Figure:
    by_unit: dict[str, list[Column]] = {}
    for column in chosen:
        by_unit.setdefault(column.unit, []).append(column)
    figure = _figure(8.4, 0.8 + 3.9 * len(by_unit))
    for k, (unit, lines) in enumerate(by_unit.items()):
        axes = figure.add_subplot(len(by_unit), 1, k + 1)
        for n, column in enumerate(lines):
            own = (
                column.label
                if len(lines) == 1 or column.label.startswith(column.owner)
                else f"{column.owner} {column.label}"
            )
            axes.plot(t, table[column.name], _STYLES[n // 7 % 4], color=_COLOURS[n % 7], lw=1.4, label=own)
        _dress(axes, unit)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=1 + len(lines) // 21)
    figure.suptitle(title, fontsize=12)
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


_QUANTITIES = {
    "rad": "angle",
    "m": "position",
    "N m": "torque",
    "N": "force",
    "rad/s": "rate",
    "m/s": "speed",
    "rad/s²": "acceleration",
    "m/s²": "acceleration",
    "J": "energy",
    "1": "Euler parameters",
}


def _dress(axes: Axes, unit: str) -> None:
    axes.set_xlabel("time (s)", fontsize=9)
    quantity = _QUANTITIES.get(unit, "")
    axes.set_ylabel(quantity if unit == "1" else f"{quantity} ({unit})".strip(), fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(visible=True, color="#dddddd", lw=0.6)
    axes.margins(x=0)
    low, high = axes.get_ylim()
    if high - low < 1e-9 * max(1.0, abs(low), abs(high)):  # a constant: no axis of rounding noise
        middle = (low + high) / 2
        reach = max(abs(middle) * 0.1, 1.0)
        axes.set_ylim(middle - reach, middle + reach)
