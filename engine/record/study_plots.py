"""Plots of a study: curves over one number that varies, contours over two, scattered points over more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import plots
from .styles import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

MOST_ACROSS = 4  # panels side by side
MOST_PANELS = 24  # of a figure; further inputs aren't drawn
MOST_LINES = 14  # of a panel
LEVELS = 12
FARTHEST = 3.0  # what is shown of a search, as multiples of how far it has come down
LOST: dict[str, Any] = {"marker": "x", "linestyle": "", "color": "#D55E00", "markersize": 5}  # runs without a value


@dataclass(frozen=True)
class Sweep:
    """What is drawn: numbers that vary, words that vary, and outputs, each a column with a value for each run.

    Outputs are NaN where a run has none, or didn't end as expected.
    """

    title: str
    numbers: Mapping[str, np.ndarray]
    words: Mapping[str, Sequence[Any]]
    outputs: Mapping[str, np.ndarray]
    units: Mapping[str, str]

    def label(self, name: str) -> str:
        """The label of an axis."""
        unit = self.units.get(name, "")
        return plots.plain_plot_text(f"{name} ({unit})" if unit not in ("", "1") else name)


def figures_of_study(sweep: Sweep) -> dict[str, Figure]:
    """A figure for each output, by its name."""
    grid = _grid(sweep)
    made = {}
    for name, values in sweep.outputs.items():
        if not np.isfinite(values).any():
            continue
        if len(sweep.numbers) == 1:
            made[name] = _curves(sweep, name, values)
        elif grid is not None:
            made[name] = _contours(sweep, name, values, grid)
        elif sweep.numbers:
            made[name] = _scattered(sweep, name, values)
    return made


def figure_of_search_progress(title: str, label: str, values: np.ndarray, allowed: np.ndarray) -> Figure:
    """What a search minimises, run by run, and the least of the runs that are allowed so far."""
    figure = plots.arranged_figure(title, 7.4, 4.4, 1, 1)
    axes = figure.add_subplot(1, 1, 1)
    runs, known = np.arange(len(values)), np.isfinite(values)
    least = np.fmin.accumulate(np.where(allowed, values, np.nan))
    low, high = _bounds_of_progress(values[known], least[np.isfinite(least)])
    shown = known & (values >= low) & (values <= high)
    for these, colour, words in ((allowed, COLOURS[0], "within limits"), (~allowed, "#bbbbbb", "outside")):
        if (known & these).any():
            axes.plot(runs[shown & these], values[shown & these], ".", color=colour, markersize=4, label=words)
        for far, edge, marker in ((values > high, 1.0, "^"), (values < low, 0.0, "v")):
            if (far := far & these).any():
                most = values[far].max() if edge else values[far].min()
                look: dict[str, Any] = {"color": colour, "markersize": 5, "clip_on": False}
                look |= {"transform": axes.get_xaxis_transform(), "label": f"farther, to {most:.3g}"}
                axes.plot(runs[far], np.full(far.sum(), edge), marker, **look)
    if np.isfinite(least).any():
        axes.plot(runs, least, color=COLOURS[1], linewidth=1.4, label="least so far")
    axes.set_ylim(low, high)
    _mark_lost(axes, runs, values)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    _dress(axes, "run", plots.plain_plot_text(label))
    return figure


def _bounds_of_progress(values: np.ndarray, least: np.ndarray) -> tuple[float, float]:
    """The range in which the progress of a search is seen; steps in vain may be a thousand times as far away."""
    if not len(values):
        return 0.0, 1.0
    usual = float(np.quantile(values, 0.9))
    if len(least):
        low, begin = float(least.min()), float(least.max())
        high = max(begin, min(usual, low + FARTHEST * (begin - low)) if begin > low else usual)
    else:
        low, high = float(np.quantile(values, 0.1)), usual
    room = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return low - room, high + room


def _grid(sweep: Sweep) -> tuple[np.ndarray, np.ndarray] | None:
    """The places of all runs on a grid of two numbers; None where they don't fill one."""
    if len(sweep.numbers) != 2 or sweep.words:
        return None
    first, second = (np.unique(x, return_inverse=True) for x in sweep.numbers.values())
    count = len(first[1])
    filled = len({*zip(first[1].tolist(), second[1].tolist())})
    if min(len(first[0]), len(second[0])) < 2 or filled != count or count != len(first[0]) * len(second[0]):
        return None
    return first[1], second[1]


def _curves(sweep: Sweep, name: str, values: np.ndarray) -> Figure:
    """An output over the one number that varies, with a line for each word."""
    ((across, x),) = sweep.numbers.items()
    figure = plots.arranged_figure(sweep.title, 7.4, 4.4, 1, 1)
    axes = figure.add_subplot(1, 1, 1)
    groups: dict[str, list[int]] = {}
    for k in range(len(x)):
        groups.setdefault(", ".join(f"{key} {column[k]}" for key, column in sweep.words.items()), []).append(k)
    for n, (label, places) in enumerate(list(groups.items())[:MOST_LINES]):
        these = np.array(places)[np.argsort(x[places], kind="stable")]
        look: dict[str, Any] = {"color": COLOURS[n % 7], "linestyle": ("-", "--")[n // 7], "linewidth": 1.4}
        marked: dict[str, Any] = {"marker": "o", "markersize": 3} if len(these) <= 60 else {}
        axes.plot(x[these], values[these], **look, **marked, label=plots.plain_plot_text(label))
    if _mark_lost(axes, x, values) or sweep.words:
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    _dress(axes, sweep.label(across), sweep.label(name))
    return figure


def _contours(sweep: Sweep, name: str, values: np.ndarray, grid: tuple[np.ndarray, np.ndarray]) -> Figure:
    """An output over a grid of two numbers."""
    (one, x), (other, y) = sweep.numbers.items()
    height = np.full((grid[1].max() + 1, grid[0].max() + 1), np.nan)
    height[grid[1], grid[0]] = values
    figure = plots.blank_figure(sweep.title, 7.4, 5.2)
    axes = figure.add_subplot(1, 1, 1)
    shown = np.ma.masked_invalid(height)
    if shown.min() < shown.max():
        areas: ScalarMappable = axes.contourf(np.unique(x), np.unique(y), shown, LEVELS, cmap="viridis")
        lines = axes.contour(np.unique(x), np.unique(y), shown, LEVELS, colors="white", linewidths=0.4)
        lines.set_alpha(0.6)
    else:  # the same everywhere
        areas = axes.pcolormesh(np.unique(x), np.unique(y), shown, cmap="viridis", shading="nearest")
    bar = figure.colorbar(areas, ax=axes)
    bar.set_label(sweep.label(name), fontsize=9)
    bar.ax.tick_params(labelsize=8)
    lost = ~np.isfinite(values)
    axes.plot(x[lost], y[lost], **LOST)
    _dress(axes, sweep.label(one), sweep.label(other))
    return figure


def _scattered(sweep: Sweep, name: str, values: np.ndarray) -> Figure:
    """An output over each of several numbers, a point for each run."""
    shown = list(sweep.numbers.items())[:MOST_PANELS]
    columns = min(len(shown), MOST_ACROSS)
    rows = -(-len(shown) // columns)
    figure = plots.arranged_figure(sweep.title, 3.6 * columns + 0.6, 3.2 * rows + 0.6, rows, columns, 40 * columns)
    size = float(np.clip(1500 / max(len(values), 1), 2.0, 16.0))
    for k, (across, x) in enumerate(shown):
        axes = figure.add_subplot(rows, columns, k + 1)
        axes.scatter(x, values, s=size, color=COLOURS[0], linewidths=0, alpha=0.7)
        lost = _mark_lost(axes, x, values)
        _dress(axes, sweep.label(across), sweep.label(name))
    if lost:
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _mark_lost(axes: Axes, x: np.ndarray, values: np.ndarray) -> bool:
    """Marks runs without a value by crosses at the lower edge; whether there are any."""
    lost = ~np.isfinite(values)
    if lost.any():
        foot, words = np.full(lost.sum(), 0.02), "no value, or not\nended as expected"
        axes.plot(x[lost], foot, **LOST, transform=axes.get_xaxis_transform(), clip_on=False, label=words)
    return bool(lost.any())


def figure_of_pareto_front(sweep: Sweep, better: Mapping[str, str], unbeaten: np.ndarray) -> Figure:
    """Each pair of outputs against each other, a point for each run, with those marked that no other run beats."""
    from itertools import combinations

    pairs = list(combinations(sweep.outputs.items(), 2))[:MOST_PANELS]
    columns = min(len(pairs), 3)
    rows = -(-len(pairs) // columns)
    figure = plots.arranged_figure(sweep.title, max(4.2 * columns, 6.4) + 0.6, 4.0 * rows + 0.6, rows, columns)
    size = float(np.clip(1500 / max(len(unbeaten), 1), 3.0, 16.0))
    for k, ((one, x), (other, y)) in enumerate(pairs):
        axes = figure.add_subplot(rows, columns, k + 1)
        known = np.isfinite(x) & np.isfinite(y)
        beaten = known & ~unbeaten
        axes.scatter(x[beaten], y[beaten], s=size, color="#999999", linewidths=0, label="beaten by another run")
        these = np.flatnonzero(unbeaten)
        these = these[np.argsort(x[these], kind="stable")]
        line = "-" if len(sweep.outputs) == 2 else ""
        look: dict[str, Any] = {"color": COLOURS[1], "marker": "o", "markersize": 4, "linewidth": 1.0}
        axes.plot(x[these], y[these], linestyle=line, **look, label="beaten by none")
        words = [f"{sweep.label(name)}, {better[name]}imum sought" for name in (one, other)]
        _dress(axes, *words)
    if not known.all():
        axes.plot([], [], **LOST, label=f"{(~known).sum()} not drawn: no value, or not ended as expected")
    axes.legend(fontsize=8)
    return figure


def _dress(axes: Axes, across: str, up: str) -> None:
    plots.label_axes(axes, across, up)
    axes.ticklabel_format(useOffset=False)
    axes.set_axisbelow(True)
