"""Figures of changed panels: old and new lines above, their differences below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import plots
from ..styles import COLOURS
from .deviation import recorded_rows_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 7  # of one panel; more couldn't be distinguished


@dataclass(frozen=True)
class Pair:
    """An old and a new line, each with its own label and instants."""

    before: str
    label: str
    t: np.ndarray
    old: np.ndarray
    now: np.ndarray
    new: np.ndarray
    allowed: float


def overlay_figure(title: str, quantity: str, pairs: Sequence[Pair]) -> Figure:
    """A figure with new lines and old points above, and their differences and the allowed band below."""
    more = f", {MOST_LINES} of {len(pairs)} lines" if len(pairs) > MOST_LINES else ""
    figure = plots.blank_figure(title + more, 8.4, 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    for n, pair in enumerate(pairs[:MOST_LINES]):
        look = {"color": COLOURS[n], "linewidth": 1.4}
        rows = recorded_rows_at(pair.t, pair.now)
        common = rows >= 0
        above.plot(pair.now, pair.new, **look, label=plots.plain_plot_text(f"{pair.label}, new"))
        points = {"linestyle": "none", "marker": "o", "markersize": 3.5, "markerfacecolor": "none"}
        above.plot(pair.t, pair.old, color=COLOURS[n], **points, label=plots.plain_plot_text(f"{pair.before}, old"))
        difference = pair.new[rows[common]] - pair.old[common]
        below.plot(pair.t[common], difference, **look, marker=".", label=plots.plain_plot_text(pair.label))
    most = max(pair.allowed for pair in pairs[:MOST_LINES])
    below.axhspan(-most, most, color="#999999", alpha=0.35, lw=0, label=f"allowed: {most:.2g}")
    _named(above, quantity, "")
    _named(below, f"new − old\n{quantity}", "time (s)")
    return figure


def _named(axes: Axes, quantity: str, across: str) -> None:
    plots.label_axes(axes, across, quantity)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.margins(x=0.01)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
