"""Plots of a comparison of closure methods, in the manner of Figs 4.3 to 4.14 of Khan's thesis (2002)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...record import COLOURS, blank_figure, plain_plot_text
from .compared import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FARTHEST = 20  # times the largest value in the first nine tenths of a run; later values beyond that are cut off
HATCH = "////"


def figures_of_comparison(name: str, runs: Sequence[Run]) -> dict[str, Figure]:
    """The figures of a comparison by their file stems."""
    made: dict[str, Figure] = {}
    free = [run for run in runs if not run.setting.feedback]
    for method in dict.fromkeys(run.setting.method for run in free):
        own = [run for run in free if run.setting.method == method and len(run.t)]
        if own:
            made[f"{name}-errors-{method}"] = _errors(name, method, own)
    adaptive = [run for run in free if run.setting.adaptive and run.evaluations]
    if adaptive:
        made[f"{name}-evaluations"] = _evaluations(name, adaptive)
    fed = [run for run in runs if run.setting.feedback and len(run.t) > 1]
    if fed:
        way = fed[0].setting.integration
        made[f"{name}-feedback-errors"] = _panels(
            f"Joint errors with feedback, {way} ({name})", fed, lambda run: run.errors, _unit
        )
        made[f"{name}-feedback-correction"] = _panels(
            f"Correction of the forces by feedback, {way} ({name})", fed, lambda run: run.corrections, _percent
        )
    return made


def _unit(run: Run) -> str:
    return f"error ({run.unit})" if run.unit else "error"


def _percent(run: Run) -> str:
    return "% of the largest"


def _errors(name: str, method: str, runs: Sequence[Run]) -> Figure:
    """A panel for each run: integrators downwards, values of the parameter to the right, if there are several."""
    models = list(dict.fromkeys(run.setting.model for run in runs))
    across = len(models) if len(models) > 1 else min(2, len(runs))
    down = -(-len(runs) // across)
    figure = blank_figure(f"Errors of the driven joints, {method} ({name})", 2.9 * across + 1.2, 2.2 * down + 0.9)
    ways = list(dict.fromkeys(run.setting.integration for run in runs))
    span = _span(runs)
    for run in runs:
        if len(models) > 1:
            place = ways.index(run.setting.integration) * across + models.index(run.setting.model)
        else:
            place = ways.index(run.setting.integration)
        axes = figure.add_subplot(down, across, place + 1)
        title = run.setting.integration
        if run.setting.value is not None:
            title = f"{run.setting.parameter} = {run.setting.value:g}, {title}"
        _lines(axes, title, run, run.errors, _unit(run), span)
    _legend(figure)
    return figure


def _panels(
    title: str, runs: Sequence[Run], lines: Callable[[Run], dict[str, np.ndarray]], what: Callable[[Run], str]
) -> Figure:
    """A figure with a panel for each run."""
    across = min(3, len(runs))
    down = -(-len(runs) // across)
    figure = blank_figure(title, 3.1 * across + 1.2, 2.2 * down + 0.9)
    for k, run in enumerate(runs):
        _lines(figure.add_subplot(down, across, k + 1), run.setting.model, run, lines(run), what(run), _span(runs))
    _legend(figure)
    return figure


def _span(runs: Sequence[Run]) -> tuple[float, float]:
    """The first and the last instant of all runs."""
    t = np.concatenate([run.t for run in runs])
    return float(t.min()), float(t.max())


def _lines(
    axes: Axes, title: str, run: Run, lines: dict[str, np.ndarray], what: str, span: tuple[float, float]
) -> None:
    """Draws the lines of one run's panel."""
    if run.ended != "done":
        title += f": {run.ended}"
    axes.set_title(plain_plot_text(title, 48), fontsize=8)
    top = 0.0
    for k, (label, values) in enumerate(lines.items()):
        look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "lw": 1.2, "label": plain_plot_text(label)}
        axes.plot(run.t, values, marker="o" if len(run.t) == 1 else "", **look)
        top = max(top, _reach(values))
    if top > 0 and np.isfinite(top):
        axes.set_ylim(-1.08 * top, 1.08 * top)
    axes.ticklabel_format(axis="y", useOffset=False, scilimits=(-2, 3))
    axes.yaxis.get_offset_text().set_fontsize(7)
    axes.set_xlabel("time (s)", fontsize=8)
    axes.set_ylabel(what, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(visible=True, color="#dddddd", lw=0.6)
    axes.set_xlim(*span)


def _reach(values: np.ndarray) -> float:
    """The largest value that the axis shows, limited where a run blows up at its end."""
    sizes = abs(values[np.isfinite(values)])
    if not len(sizes):
        return 0.0
    early = float(sizes[: max(1, len(sizes) * 9 // 10)].max())
    return min(float(sizes.max()), FARTHEST * early) if early > 0 else float(sizes.max())


def _legend(figure: Figure) -> None:
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8), fontsize=8)


def _evaluations(name: str, runs: Sequence[Run]) -> Figure:
    """The numbers of evaluations as bars on a logarithmic axis, hatched for runs that didn't reach their end."""
    from matplotlib.patches import Patch

    models = list(dict.fromkeys(run.setting.model for run in runs))
    ways = list(dict.fromkeys(run.setting.accuracy for run in runs))
    figure = blank_figure(f"Evaluations of the equations of motion ({name})", 8.4, 1.4 + 0.3 * len(models))
    axes = figure.add_subplot(1, 1, 1)
    width = 0.8 / len(ways)
    for run in runs:
        k = ways.index(run.setting.accuracy)
        place = models.index(run.setting.model) + (k - (len(ways) - 1) / 2) * width
        done = run.ended == "done"
        axes.barh(
            place, run.evaluations, 0.9 * width, color=COLOURS[k % 7], edgecolor="white", hatch="" if done else HATCH
        )
        label = f" {run.evaluations}" + ("" if done else f", ended at {run.reached:.3g} s")
        axes.text(run.evaluations, place, label, va="center", fontsize=6.5)
    axes.set_yticks(range(len(models)), [plain_plot_text(model) for model in models], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    low, high = (pick(run.evaluations for run in runs) for pick in (min, max))
    axes.set_xlim(low / 2, high * 8)
    axes.set_xlabel("evaluations", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(visible=True, axis="x", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    handles = [Patch(color=COLOURS[k % 7], label=f"rtol {x:g}") for k, x in enumerate(ways)]
    if any(run.ended != "done" for run in runs):
        handles.append(Patch(facecolor="#888888", edgecolor="white", hatch=HATCH, label="not to the end"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8)
    return figure
