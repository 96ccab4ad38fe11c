"""Figures of a result: a panel for every joint, as in the papers, an overlay, and columns against any other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, allowed_names
from ..text import yaml_value_in_words
from . import dressing, scales
from .columns import Column
from .drawings import TIME, Drawing, plot_drawing
from .plots import PLOTS, Panel, Plot, axis_label, panels_of_plot, plain_plot_text
from .view import UNDETERMINED, Look, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 36  # if there are more, only the overlay is drawn
TIME_LABEL = "time (s)"
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
    style, equal = view.style, asked.equal
    if equal is None:
        equal = all(x.family == y.family == PLACE for x, y in pairs)
    width, height = style.single
    down, (x, y) = len(groups), pairs[0]
    title = f"{y.name} over {x.name if x.name != TIME else 'time'}" if len(pairs) == 1 else "Columns"
    figure = dressing.figure_with_panels(
        style, asked.title or view.titled(title), style.width or width, height * down, down, 1
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


def result_figures_by_stem(
    name: str,
    t: np.ndarray,
    table: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    wanted: Sequence[str | Drawing],
    robot: str,
    *,
    undetermined: Collection[str] = (),
    look: Look = Look(),
) -> dict[str, Figure]:
    """The figures by file stem, for each wanted plot for which the result has columns."""
    whole = View(name, robot, t, table, columns, frozenset(undetermined), look.style, look.degrees)
    made: dict[str, Figure] = {}
    for asked in map(plot_drawing, wanted):
        view = replace(whole, degrees=True) if asked.degrees else whole
        if asked.y:
            figure = figure_of_curves(view, asked)
            made |= {f"{name}-{asked.stem}": figure} if figure is not None else {}
        else:
            made |= _usual(view, PLOTS[asked.plot], f"{name}-{asked.stem}", asked.title)
    return made


def chosen_plots(which: Sequence[str | Drawing], own: Sequence[Drawing]) -> list[Drawing]:
    """What is to be drawn, by the names of usual plots and of a result's own ones."""
    known = {one.stem: one for one in own if one.y}
    made: list[Drawing] = []
    for asked in which:
        if isinstance(asked, str) and asked not in PLOTS and asked not in known:
            names = allowed_names(asked, (*PLOTS, *known))
            raise InputError("unknown plot", found=yaml_value_in_words(asked), **names)
        made.append(asked if isinstance(asked, Drawing) else known.get(asked) or Drawing(plot=asked))
    return made


def plot_columns_against(x: str | Sequence[str], y: str | Sequence[str], there: Sequence[str]) -> Drawing:
    """The drawing of columns over others, all of which are there."""
    across, up = ((one,) if isinstance(one, str) else tuple(one) for one in (x, y))
    for name in (*across, *up):
        if name not in there:
            names = allowed_names(str(name), there)
            raise InputError("the result has no such column", found=yaml_value_in_words(name), **names)
    if len(across) not in (1, len(up)):
        found = f"{len(across)} columns across, {len(up)} up"
        raise InputError("columns that aren't in pairs", found=found, allowed="one column across, or as many as up")
    return Drawing(y=up, x=across)


def figures_of_result(
    name: str,
    t: np.ndarray,
    table: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    wanted: Sequence[Drawing],
    record: Mapping[str, Any],
    look: Look = Look(),
) -> dict[str, Figure]:
    """The figures of a result with this record."""
    robot, undetermined = record.get("robot", {}).get("name", ""), record.get("undetermined", [])
    return result_figures_by_stem(name, t, table, columns, wanted, str(robot), undetermined=undetermined, look=look)


def _usual(view: View, row: Plot, stem: str, title: str) -> dict[str, Figure]:
    """The figures of a row of the table of plots."""
    chosen = [column for column in view.columns if column.family == row.family]
    if not chosen:
        return {}
    shown, notes = _without_zeros(view, row, chosen) if row.folds else (panels_of_plot(chosen), [])
    if view.mark(chosen):
        notes = [*notes, UNDETERMINED]
    title = title or view.titled(row.title)
    made = {}
    if len(shown) <= MOST_PANELS:
        made[stem] = _one_each(view, row, title, shown, notes)
    if (row.overlay and len(shown) > 1) or len(shown) > MOST_PANELS:
        made[f"{stem}-overlay"] = _overlay(
            view, row, title, [column for _, _, lines in shown for column in lines], notes
        )
    return made


def _without_zeros(view: View, row: Plot, columns: Sequence[Column]) -> tuple[list[Panel], list[str]]:
    """The panels in which something is to be seen, and a sentence about the others; all of them if nothing is."""
    grouped, size = panels_of_plot(columns), scales.largest_values_by_plot_unit(view.table, columns)
    zero = [
        all(scales.plotted_column_is_zero(view.table, column, size[unit]) for column in lines)
        for _, unit, lines in grouped
    ]
    shown = [panel for panel, flat in zip(grouped, zero) if not flat]
    if not shown:
        return grouped, []
    alone = {owner: sum(panel[0] == owner for panel in grouped) == 1 for owner, _, _ in grouped}
    flat = [
        owner + ("" if alone[owner] else f" {row.quantities.get(unit, unit)}") + view.mark(lines)
        for (owner, unit, lines), is_flat in zip(grouped, zero)
        if is_flat
    ]
    return shown, [f"zero throughout: {', '.join(flat)}"] if flat else []


def _one_each(view: View, row: Plot, title: str, grouped: list[Panel], notes: Sequence[str]) -> Figure:
    """The figure with a panel for each joint, or for whatever else owns columns."""
    style = view.style
    across = min(_across(grouped), style.most_across)
    down = -(-len(grouped) // across)
    if len(grouped) == 1:
        width, height = style.single
    else:
        most = max(len(lines) for _, _, lines in grouped)
        above = 0.0 if style.beside or most == 1 else 0.07 * (most + 1)  # room for legends
        width, height = style.panel[0] * across + 0.4, (style.panel[1] + above) * down + 0.6 * style.titled
    figure = dressing.figure_with_panels(style, title, style.width or width, height, down, across)
    dressing.note_below_panels(figure, style, notes)
    size = scales.largest_values_by_plot_unit(view.table, [column for _, _, lines in grouped for column in lines])
    varying: dict[str, list[Axes]] = {}
    for k, (owner, unit, lines) in enumerate(grouped):
        axes = figure.add_subplot(down, across, k + 1)
        alone = len(lines) == 1
        for n, column in enumerate(lines):
            label = view.label(column, short=not alone)
            dressing.plot_line(axes, style, view.t, view.values(column), (n, len(lines)), label)
        axes.set_title(
            plain_plot_text(owner + view.mark(lines) * alone, 44), fontsize=style.fonts.panel, y=1.0
        )  # at once where a search would put it
        if not _dressed(view, axes, row, unit, size[unit]):
            varying.setdefault(unit, []).append(axes)
        if not alone:
            dressing.legend_outside(figure, axes, style, across)
    for comparable in varying.values():
        scales.compare_panel_heights(comparable)
    if row.sizes:
        for axes in figure.axes:
            axes.set_ylim(bottom=0.0)
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


def _overlay(view: View, row: Plot, title: str, chosen: list[Column], notes: Sequence[str]) -> Figure:
    """The figure with the columns of all owners in one panel for each unit and order of magnitude."""
    by_unit: dict[str, list[Column]] = {}
    for column in chosen:
        by_unit.setdefault(column.unit, []).append(column)
    size = scales.largest_values_by_plot_unit(view.table, chosen)
    groups = [
        (unit, group) for unit, lines in by_unit.items() for group in scales.plot_columns_by_size(view.table, lines)
    ]
    style = view.style
    width, height = style.overlay
    figure = dressing.figure_with_panels(style, title, width, 0.8 * style.titled + height * len(groups), len(groups), 1)
    dressing.note_below_panels(figure, style, notes)
    for k, (unit, lines) in enumerate(groups):
        axes = figure.add_subplot(len(groups), 1, k + 1)
        for column in lines:
            place = by_unit[unit].index(column), len(by_unit[unit])
            dressing.plot_line(axes, style, view.t, view.values(column), place, view.label(column))
        _dressed(view, axes, row, unit, size[unit])
        dressing.legend_outside(figure, axes, style)
    return figure


def _dressed(view: View, axes: Axes, row: Plot, unit: str, size: float) -> bool:
    """Adds labels to axes over time, and returns whether their lines are constants."""
    dressing.label_plot_axes(axes, view.style, TIME_LABEL, axis_label(row, unit, view.unit(unit)))
    axes.margins(x=0)
    return dressing.plot_lines_are_steady(axes, size * scales.unit_of_plotted_numbers(unit, degrees=view.degrees)[1])
