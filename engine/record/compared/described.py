"""Descriptions of figures as data: words, lines, colours, strokes and ranges of the axes, as they are drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from .deviation import (
    RTOL,
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

    from .drawn import Mark

MOST_POINTS = 9  # of a line; its column is compared in full
STRAYING = 0.01  # in pixels: how far drawn lines may be from their data


@dataclass(frozen=True)
class DescribedLine:
    """A line of a plot; `column` names the table's column that it shows, if it shows one."""

    label: str
    column: str
    x: list[float | None]
    y: list[float | None]
    look: str | None = None  # its colour, stroke and marker; older baselines have none


@dataclass(frozen=True)
class DescribedPanel:
    """A pair of axes with its labels, and its lines from the lowest to the one on top."""

    title: str
    x: str
    y: str
    legend: list[str]
    lines: list[DescribedLine]
    scales: str = ""  # of both axes
    limits: list[float | None] = field(default_factory=list)  # left, right, bottom, top; older baselines have none


@dataclass(frozen=True)
class Picture:
    """A figure with its panels; `marks` are the looks of all that isn't a line of a panel, `notes` other words."""

    title: str
    panels: list[DescribedPanel]
    notes: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)  # older baselines have none


def description_of_figure(figure: Figure, table: Table, until: float | None) -> Picture:
    """The description of a figure as it is drawn, with a few points of each line up to `until`."""
    from .drawn import marks_of_figure

    # before equal scales look for room; and what comes after the horizon has a share in limits
    limits = [[] if until is not None else [*axes.get_xlim(), *axes.get_ylim()] for axes in figure.axes]
    lines, marks = marks_of_figure(figure)
    columns: dict[bytes, list[str]] = {}  # several may be equal, such as those that are 0 throughout
    for name, values in table.items():
        columns.setdefault(np.asarray(values, dtype=float).tobytes(), []).append(name)
    words: dict[int | None, set[str]] = {}
    for mark in marks:
        words.setdefault(mark.panel, set()).add(mark.words)
    panels = [
        replace(
            _panel(axes, columns, until, lines.get(k, []), words.get(k, set())),
            limits=rounded_column_numbers(np.array(own)),
        )
        for k, (axes, own) in enumerate(zip(figure.axes, limits))
    ]
    for axes, own in zip(figure.axes, limits):
        if own:
            axes.set(xlim=own[:2], ylim=own[2:])
    title = _drawn(figure.get_suptitle(), words.get(None, set()))
    below = [mark.words for mark in marks if mark.panel is None and mark.words]
    notes = [line for line in below if line not in title.replace(r"\$", "$")]
    powers = {axis.get_offset_text().get_text() for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)} - {""}
    looks = [
        f"{' '.join(mark.groups).removeprefix('matplotlib.')}: {mark.look}"
        for mark in marks
        if mark.words not in powers  # beside an axis whose numbers may be rounding
    ]
    return Picture(title, panels, notes, [*dict.fromkeys(looks)])


def _drawn(text: str, words: Collection[str]) -> str:
    """A text, if its last line is among the words that are drawn."""
    last = text.splitlines()[-1:]
    return text if not last or last[0].replace(r"\$", "$") in words else ""


def _panel(
    axes: Any, columns: Mapping[bytes, list[str]], until: float | None, drawn: list[list[Mark]], words: Collection[str]
) -> DescribedPanel:
    legend = axes.get_legend()
    seen = [line for line in axes.get_lines() if line.get_visible()]
    return DescribedPanel(
        _drawn(axes.get_title(), words),
        _drawn(axes.get_xlabel(), words),
        _drawn(axes.get_ylabel(), words),
        [_drawn(text.get_text(), words) for text in legend.get_texts()] if legend else [],
        [_line(line, columns, until, m) for line, m in zip(sorted(seen, key=lambda line: line.get_zorder()), drawn)],
        f"{axes.get_xscale()}, {axes.get_yscale()}",
    )


def _line(line: Any, columns: Mapping[bytes, list[str]], until: float | None, marks: list[Mark]) -> DescribedLine:
    """The description of a line, with its data where it is drawn there, else with what is drawn."""
    label = str(line.get_label())
    x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
    scale = line.axes.transData
    if not all(_follows(mark.points, scale.transform(np.column_stack([x, y]))) for mark in marks):
        x, y = scale.inverted().transform(np.concatenate([mark.points for mark in marks])).T
    shown = columns.get(y.tobytes(), [])
    column = next((name for name in shown if name.endswith(label)), shown[0] if shown else "")
    kept = np.arange(len(x)) if until is None else np.flatnonzero(x <= until)
    kept = kept[thinned_rows_to_record(len(kept), MOST_POINTS)] if len(kept) else kept
    look = "; ".join(mark.look for mark in marks)
    return DescribedLine(label, column, rounded_column_numbers(x[kept]), rounded_column_numbers(y[kept]), look)


def _follows(drawn: np.ndarray, wanted: np.ndarray) -> bool:
    return drawn.shape == wanted.shape and np.allclose(drawn, wanted, rtol=0.0, atol=STRAYING, equal_nan=True)


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
    if old.marks:
        for was, now in zip_longest(old.notes, new.notes):
            yield from _words(name, "note", was, now)
        yield from _marks(name, old.marks, new.marks)
    if len(old.panels) != len(new.panels):
        yield Difference(name, f"{len(old.panels)} panels were there, {len(new.panels)} now")
        return
    moved = any({line.column for line in panel.lines} & {*reported} for panel in (*old.panels, *new.panels))
    for k, (was, now) in enumerate(zip(old.panels, new.panels)):
        place = f"panel {k + 1}" + (f" ({was.title})" if was.title else "")
        alike = [line for panel in old.panels if panel.y == was.y for line in panel.lines]  # they may share an axis
        limits = [] if moved else _limits(was, now, max((_allowed(line, allowed) for line in alike), default=0.0))
        for change in (*_panel_changes(was, now, allowed, reported), *limits):
            yield replace(change, what=name, message=f"{place}: {change.message}", panel=k)


def _marks(name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    """The differences in how frames, grids, ticks, legends and words are drawn."""
    for mark in old:
        if mark not in new:
            yield Difference(name, f"not drawn any more: {mark}")
    for mark in new:
        if mark not in old:
            yield Difference(name, f"drawn now: {mark}")
    if [mark for mark in old if mark in new] != [mark for mark in new if mark in old]:
        yield Difference(name, "what stands around the lines is drawn in another order")


def _limits(old: DescribedPanel, new: DescribedPanel, allowed: float) -> Iterator[Difference]:
    """The differences of the axes' scales and limits; those of lines that don't vary come from rounding."""
    if old.scales:
        yield from _words("", "scales of the axes", old.scales, new.scales)
    heights = [numbers_of_plotted_line(line.y) for line in old.lines]
    known = [y[np.isfinite(y)] for y in heights if np.isfinite(y).any()]
    flat = not known or max(y.max() for y in known) - min(y.min() for y in known) <= allowed
    for axis, k, own in (("x", 0, 0.0), ("y", 2, allowed)):
        was, now = (numbers_of_plotted_line(panel.limits[k : k + 2]) for panel in (old, new))
        least = max(2.0 * own, RTOL * float(np.ptp(was)) if was.size else 0.0)
        if was.size and now.size and not (axis == "y" and flat) and abs(now - was).max() > least:
            shown = [f"{x[0]:.6g} to {x[1]:.6g}" for x in (was, now)]
            yield Difference("", f"{axis} axis from {shown[0]} is from {shown[1]} now")


def _allowed(line: DescribedLine, allowed: Mapping[str, float]) -> float:
    size = recorded_column_size(numbers_of_plotted_line(line.y))
    return allowed.get(line.column) or allowed_recorded_difference(size, size, None, None)


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
        if was.look is not None:
            yield from _words("", f"line `{was.label}`:", was.look, now.look)
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
    most = _allowed(old, allowed)
    off = recorded_difference_excess(y, y_now, most)
    if off.size and off.max() > 1.0:
        k = int(off.argmax())
        shown = f" shows {new.column or 'other numbers'} now" if new.column != old.column else ""
        yield Difference("", f"line `{old.label}`{shown}", float(x[k]), float(y[k]), float(y_now[k]), most)


def numbers_of_plotted_line(values: Sequence[float | None]) -> np.ndarray:
    """The numbers as an array, with NaN for None."""
    return np.array([np.nan if x is None else x for x in values], dtype=float)
