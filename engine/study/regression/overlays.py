"""Figures with old and new lines, of each panel that has changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ...record import PLOTS, axis_label, panels_of_plot
from ...record.compared import (
    DescribedLine,
    Pair,
    allowed_recorded_difference,
    numbers_of_plotted_line,
    overlay_figure,
    recorded_column_size,
)
from .judging import Verdict, regression_columns_up_to_horizon

MOST_OVERLAYS = 36  # of one scenario


def regression_overlays(verdict: Verdict) -> dict[str, Any]:
    """The figures with old and new lines by file stem, for each changed panel, the worst ones first."""
    if verdict.old is None or verdict.new is None or verdict.result is None:
        return {}
    made: dict[str, Any] = {}
    for name, title, quantity, pairs in (*_changed_columns(verdict), *_changed_panels(verdict)):
        if pairs and len(made) < MOST_OVERLAYS:
            stem = re.sub(r"[^\w.-]", "_", f"{verdict.name}-difference-{name}")
            made[stem if stem not in made else f"{stem}-{len(made)}"] = overlay_figure(
                f"{title} ({verdict.name})", quantity, pairs
            )
    return made


Drawn = tuple[str, str, str, list[Pair]]  # part of the file's name, title, quantity, lines


def _changed_columns(verdict: Verdict) -> Iterator[Drawn]:
    """For each group of columns that differ, the worst first: the figure's name, title, quantity, old and new lines."""
    assert verdict.result is not None
    off = {d.what: k for k, d in enumerate(verdict.differences) if d.old is not None and d.panel is None}
    groups = []
    for family, columns in groupby(verdict.result.columns, key=lambda column: column.family):
        for owner, unit, lines in panels_of_plot(list(columns)):
            failing = sorted((column for column in lines if column.name in off), key=lambda column: off[column.name])
            if failing:
                groups.append((min(off[column.name] for column in failing), family, owner, unit, failing))
    for _, family, owner, unit, failing in sorted(groups, key=lambda group: group[0]):
        row = next((row for row in PLOTS.values() if row.family == family), None)
        ending = "" if family in owner else f", {family}"
        pairs = [_pair(verdict, column.name, column.name, column.label, column.label) for column in failing]
        yield f"{owner}-{family}", f"{owner}{ending}", axis_label(row, unit) if row else unit, pairs


def _pair(verdict: Verdict, name: str, other: str, before: str, label: str) -> Pair:
    """An old column and its replacement, with their labels."""
    old, result = verdict.old, verdict.result
    assert old is not None
    assert result is not None
    t, table = regression_columns_up_to_horizon(result, old.kept.until)
    allowed = next(one.allowed for one in old.kept.columns if one.name == name)
    return Pair(before, label, old.t, old.table[name], t, table[other], allowed)


def _changed_panels(verdict: Verdict) -> Iterator[Drawn]:
    """The panels whose words have changed, or whose lines show other columns."""
    assert verdict.old is not None
    assert verdict.new is not None
    places = dict.fromkeys((d.what, d.panel) for d in verdict.differences if d.panel is not None)
    for stem, k in places:
        was, now = (one.kept.plots[stem].panels[k or 0] for one in (verdict.old, verdict.new))
        pairs = [_lines(verdict, one, other) for one, other in zip(was.lines, now.lines)]
        short = stem.removeprefix(f"{verdict.name}-")
        title = f"{short}, panel {(k or 0) + 1}" + (f", {was.title}" if was.title else "")
        yield f"{short}-panel{(k or 0) + 1}", title, was.y if was.y == now.y else f"{was.y} → {now.y}", pairs


def _lines(verdict: Verdict, old: DescribedLine, new: DescribedLine) -> Pair:
    """An old and a new line of a plot, from columns if they show some."""
    assert verdict.old is not None
    assert verdict.result is not None
    if old.column in verdict.old.table and new.column in verdict.result.table:
        return _pair(verdict, old.column, new.column, old.label, new.label)
    x, y, x_now, y_now = (numbers_of_plotted_line(values) for values in (old.x, old.y, new.x, new.y))
    allowed = allowed_recorded_difference(recorded_column_size(y), 0.0, None, None)
    return Pair(old.label, new.label, x, y, x_now, y_now, allowed)
