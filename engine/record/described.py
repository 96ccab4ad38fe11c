"""Descriptions of figures as data: titles, labels, legends and lines, taken from matplotlib's objects."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataclass import dataclass
from .deviation import (
    ComparedColumn,
    Difference,
    Table,
    allowed_recorded_difference,
    recorded_column_size,
    recorded_difference_excess,
    rounded_column_numbers,
    thinned_rows_to_record,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 9  # of a line; its column is compared in full


@dataclass(frozen=True)
class DescribedLine:
    """A line of a plot; `column` names the table's column that it shows, if it shows one."""

    label: str
    column: str
    x: list[float | None]
    y: list[float | None]


@dataclass(frozen=True)
class DescribedPanel:
    """A pair of axes with its labels and lines."""

    title: str
    x: str
    y: str
    legend: list[str]
    lines: list[DescribedLine]


@dataclass(frozen=True)
class Picture:
    """A figure with its panels."""

    title: str
    panels: list[DescribedPanel]


def description_of_figure(figure: Figure, table: Table, until: float | None) -> Picture:
    """The description of a figure, with a few points of each line up to `until`."""
    columns = _by_content(table)
    return Picture(figure.get_suptitle(), [_panel(axes, columns, until) for axes in figure.axes])


def _panel(axes: Any, columns: Mapping[bytes, list[str]], until: float | None) -> DescribedPanel:
    legend = axes.get_legend()
    return DescribedPanel(
        axes.get_title(),
        axes.get_xlabel(),
        axes.get_ylabel(),
        [text.get_text() for text in legend.get_texts()] if legend else [],
        [_line(line, columns, until) for line in axes.get_lines()],
    )


def _line(line: Any, columns: Mapping[bytes, list[str]], until: float | None) -> DescribedLine:
    label = str(line.get_label())
    x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
    shown = columns.get(y.tobytes(), [])
    column = next((name for name in shown if name.endswith(label)), shown[0] if shown else "")
    kept = np.arange(len(x)) if until is None else np.flatnonzero(x <= until)
    kept = kept[thinned_rows_to_record(len(kept), MOST_POINTS)] if len(kept) else kept
    return DescribedLine(label, column, rounded_column_numbers(x[kept]), rounded_column_numbers(y[kept]))


def _by_content(table: Table) -> dict[bytes, list[str]]:
    """The names of columns by their numbers; several columns may be equal, such as those that are 0 throughout."""
    names: dict[bytes, list[str]] = {}
    for name, values in table.items():
        names.setdefault(np.asarray(values, dtype=float).tobytes(), []).append(name)
    return names


# ---- comparing


def differences_of_figures(
    old: Mapping[str, Picture],
    new: Mapping[str, Picture],
    compared: Sequence[ComparedColumn],
    reported: Collection[str],
) -> Iterator[Difference]:
    """The differences between figures, without the numbers of columns whose differences are already `reported`."""
    allowed = {one.name: one.allowed for one in compared}
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield Difference(name, "this plot is missing now")
        elif name not in old:
            yield Difference(name, "this plot is new")
        else:
            yield from _picture(name, old[name], new[name], allowed, reported)


def _picture(
    name: str, old: Picture, new: Picture, allowed: Mapping[str, float], reported: Collection[str]
) -> Iterator[Difference]:
    """The differences between two descriptions of one figure."""
    yield from _words(name, "title", old.title, new.title)
    if len(old.panels) != len(new.panels):
        yield Difference(name, f"{len(old.panels)} panels were there, {len(new.panels)} now")
        return
    for k, (was, now) in enumerate(zip(old.panels, new.panels)):
        place = f"panel {k + 1}" + (f" ({was.title})" if was.title else "")
        for change in _panel_changes(was, now, allowed, reported):
            yield replace(change, what=name, message=f"{place}: {change.message}", panel=k)


def _panel_changes(
    old: DescribedPanel, new: DescribedPanel, allowed: Mapping[str, float], reported: Collection[str]
) -> Iterator[Difference]:
    """The differences between two descriptions of one panel: its words, its lines, and their numbers."""
    for what, a, b in (("title", old.title, new.title), ("x label", old.x, new.x), ("y label", old.y, new.y)):
        yield from _words("", what, a, b)
    legend = [pair for pair in zip_longest(old.legend, new.legend) if pair[0] != pair[1]]
    for one, other in legend:
        yield from _words("", "legend", one, other)
    if len(old.lines) != len(new.lines):
        yield Difference("", f"{len(old.lines)} lines were there, {len(new.lines)} now")
        return
    for was, now in zip(old.lines, new.lines):
        if (was.label, now.label) not in legend:
            yield from _words("", "line", was.label, now.label)
        if not {was.column, now.column} & {*reported}:
            yield from _numbers(was, now, allowed)


def _words(name: str, what: str, old: str | None, new: str | None) -> Iterator[Difference]:
    if old != new:
        shown = [f"`{text}`" if text is not None else "nothing" for text in (old, new)]
        yield Difference(name, f"{what} {shown[0]} is {shown[1]} now")


def _numbers(old: DescribedLine, new: DescribedLine, allowed: Mapping[str, float]) -> Iterator[Difference]:
    """The worst difference between two lines."""
    x, y, x_now, y_now = (numbers_of_plotted_line(values) for values in (old.x, old.y, new.x, new.y))
    if (
        len(x) != len(x_now)
        or (
            recorded_difference_excess(x, x_now, allowed_recorded_difference(recorded_column_size(x), 0.0, None, None))
            > 1.0
        ).any()
    ):
        yield Difference("", f"line `{old.label}` has other instants")
        return
    most = allowed.get(old.column) or allowed_recorded_difference(
        recorded_column_size(y), recorded_column_size(y), None, None
    )
    off = recorded_difference_excess(y, y_now, most)
    if off.size and off.max() > 1.0:
        k = int(off.argmax())
        shown = f" shows {new.column or 'other numbers'} now" if new.column != old.column else ""
        yield Difference("", f"line `{old.label}`{shown}", float(x[k]), float(y[k]), float(y_now[k]), most)


def numbers_of_plotted_line(values: Sequence[float | None]) -> np.ndarray:
    """The numbers as an array, with NaN for None."""
    return np.array([np.nan if x is None else x for x in values], dtype=float)
