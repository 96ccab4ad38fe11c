"""Figures whose panels list their lines, with columns, quantities and ranges of the axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .plots import blank_figure, label_axes, plain_plot_text
from .scales import finite_plotted_values, largest_plotted_value
from .styles import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = ("-", "--", "-.", ":")
MOST_INSIDE = 4  # lines; a longer legend stands beside the axes


@dataclass(frozen=True)
class Line:
    """A line of a panel: a column and its name in the legend."""

    column: str
    label: str
    width: float = 1.4
    mark: str = ""  # at each point, where there are few


@dataclass(frozen=True)
class Panel:
    """The lines over one pair of axes, whose range is `low` to `high`.

    They are drawn over the table's first column, or over `over`, which the axis then calls `across`; rows in which that
    is unknown aren't drawn.
    """

    title: str
    quantity: str  # what the axis shows
    unit: str
    lines: tuple[Line, ...]
    low: float | None = None
    high: float | None = None
    log: bool = False
    over: str = ""
    across: str = ""

    @property
    def shown(self) -> str:
        return f"{self.quantity} ({self.unit})" if self.unit else self.quantity


def panel_figure(title: str, across: str, table: Mapping[str, np.ndarray], panels: Sequence[Panel]) -> Figure:
    """The panels over the table's first column, which the axis calls `across`."""
    first = next(iter(table))
    beside = any(len(panel.lines) > MOST_INSIDE for panel in panels)
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = -(-len(panels) // columns)
    width = 6.4 if columns == 1 else 4.2 * columns + 0.4
    figure = blank_figure(title, width + (2.4 if beside else 0.0), 4.2 if rows == 1 else 2.8 * rows + 0.6)
    for k, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, k + 1)
        x = table[panel.over or first]
        _draw(axes, panel.across or across, x, {name: y[np.isfinite(x)] for name, y in table.items()}, panel)
        if len(panel.lines) <= MOST_INSIDE:
            axes.legend(fontsize=8, loc="best", framealpha=0.7)
        elif k + 1 == len(panels) or _labels(panels[k + 1]) != _labels(panel):
            axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _labels(panel: Panel) -> list[str]:
    return [line.label for line in panel.lines]


def _draw(axes: Axes, across: str, x: np.ndarray, table: Mapping[str, np.ndarray], panel: Panel) -> None:
    """Draws the lines of a panel with its labels and ranges."""
    x = finite_plotted_values(x)
    for n, line in enumerate(panel.lines):
        look: dict[str, Any] = {"color": COLOURS[n % 7], "linestyle": _STYLES[(n % 7 + n // 7) % 4]}
        axes.plot(
            x, table[line.column], marker=line.mark, linewidth=line.width, label=plain_plot_text(line.label, 34), **look
        )
    if panel.title:
        axes.set_title(plain_plot_text(panel.title, 44), fontsize=10)
    label_axes(axes, plain_plot_text(across), plain_plot_text(panel.shown))
    axes.set_xlim(float(x[0]), float(x[-1]))
    known = np.isfinite(np.array([table[line.column] for line in panel.lines])).any(axis=0)
    if not known[-1]:
        last = f"{x[np.flatnonzero(known)[-1]]:g}" if known.any() else "the start"
        axes.text(0.98, 0.04, f"breaks off after {last}", transform=axes.transAxes, ha="right", fontsize=8)
    if panel.log:
        axes.set_yscale("log")
    else:
        axes.ticklabel_format(axis="y", useOffset=False)
        _spread(axes, table, panel)
    if panel.low is not None:
        axes.set_ylim(bottom=panel.low)
    if panel.high is not None:
        axes.set_ylim(top=panel.high)


def _spread(axes: Axes, table: Mapping[str, np.ndarray], panel: Panel) -> None:
    """Widens the axis of a panel whose values vary by no more than rounding, so that it shows a constant."""
    values = finite_plotted_values(np.concatenate([table[line.column] for line in panel.lines]))
    largest = max(largest_plotted_value(column) for column in list(table.values())[1:])
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * largest:
        reach = abs(low + high) / 2 or 1.0
        axes.set_ylim((low + high) / 2 - reach, (low + high) / 2 + reach)
