"""Figures of columns against any other: curves of points, phase plots, forces over the angle of a crank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import dressing
from .columns import Column
from .drawings import TIME, Drawing
from .plots import PLOTS, axis_label
from .view import UNDETERMINED, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pair = tuple[Column, Column]  # across and up
PLACE = "point"  # the family of columns with equal scales
SIZES = tuple(row.family for row in PLOTS.values() if row.sizes)  # families of columns that are never below zero


def figure_of_curves(view: View, asked: Drawing) -> Figure | None:
    """The figure that is asked for, one panel for each unit; None without any of its columns."""
    known = {TIME: Column(TIME, "s", "time", "", "time"), **{column.name: column for column in view.columns}}
    pairs = [(known[x], known[y]) for x, y in asked.pairs if x in known and y in known]
    if not pairs:
        return None
    groups: dict[tuple[str, str], list[Pair]] = {}
    for x, y in pairs:
        groups.setdefault((x.unit, y.unit), []).append((x, y))
    style, equal = view.style, _equal(asked, pairs)
    width, height = style.single
    down = len(groups)
    figure = dressing.figure_with_panels(
        style, asked.title or _title(view, pairs), style.width or width, height * down, down, 1
    )
    if view.mark([column for pair in pairs for column in pair]):
        dressing.note_below_panels(figure, style, [UNDETERMINED])
    for k, group in enumerate(groups.values()):
        axes = figure.add_subplot(down, 1, k + 1)
        _draw(view, axes, group)
        if equal:
            axes.set_aspect("equal", adjustable="datalim")
        if len(group) > 1:
            dressing.legend_outside(figure, axes, style)
    return figure


def _equal(asked: Drawing, pairs: Sequence[Pair]) -> bool:
    """Whether both axes have the same scale."""
    if asked.equal is not None:
        return asked.equal
    return all(x.family == y.family == PLACE for x, y in pairs)


def _title(view: View, pairs: Sequence[Pair]) -> str:
    """What is drawn over what, where that is one pair, and of which robot."""
    if len(pairs) > 1:
        return view.titled("Columns")
    (x, y) = pairs[0]
    return view.titled(f"{y.name} over {x.name if x.name != TIME else 'time'}")


def _draw(view: View, axes: Axes, group: Sequence[Pair]) -> None:
    """Draws lines with a dot where each begins, if they aren't over time."""
    for n, (x, y) in enumerate(group):
        across, up = (view.t if column.name == TIME else view.values(column) for column in (x, y))
        label = view.label(y) if len({x.name for x, _ in group}) == 1 else f"{view.label(y)} over {view.label(x)}"
        dressing.plot_line(axes, view.style, across, up, (n, len(group)), label)
    for drawn, (x, _) in zip(list(axes.get_lines()), group):
        if x.name != TIME:
            begin = np.asarray(drawn.get_xydata())[:1]
            axes.plot(
                begin[:, 0],
                begin[:, 1],
                marker="o",
                markersize=4 * view.style.line / 1.4,
                color=drawn.get_color(),
                label=f"{dressing.UNNAMED}begin",
            )
    dressing.label_plot_axes(axes, view.style, _axis(view, [x for x, _ in group]), _axis(view, [y for _, y in group]))
    if group[0][0].name == TIME:
        axes.margins(x=0)
    axes.ticklabel_format(axis="x", useOffset=False)
    if all(y.family in SIZES for _, y in group):
        axes.set_ylim(bottom=0.0)
    if all(x.family in SIZES for x, _ in group):
        axes.set_xlim(left=0.0)


def _axis(view: View, columns: Sequence[Column]) -> str:
    """The label of an axis: a column's name, or what several of them measure, with their unit."""
    first = columns[0]
    shown = view.unit(first.unit)
    if len({column.name for column in columns}) == 1:
        return f"{first.label}{view.mark([first])}" + (f" ({shown})" if shown not in ("", "1") else "")
    row = next((row for row in PLOTS.values() if row.family == first.family), None)
    same = len({column.family for column in columns}) == 1
    return axis_label(row, first.unit, shown) if row is not None and same else shown
