"""Scales of plots: degrees, what is zero, axes that can be compared, and signals that others would flatten."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = Mapping[str, np.ndarray]

ROUNDING = 1e-9  # of the largest number of the same unit: what stays below is no signal
COMPARABLE = 0.3  # of the common range: panels whose lines fill less of it have an axis of their own
FLATTENED = 0.05  # of a larger line: smaller ones would be flat beside it

_IN_DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s²": "deg/s²"}


def unit_of_plotted_numbers(unit: str, *, degrees: bool) -> tuple[str, float]:
    """The unit in which numbers are shown, and by what they are multiplied."""
    if degrees and unit in _IN_DEGREES:
        return _IN_DEGREES[unit], 180.0 / math.pi
    return unit, 1.0


def finite_plotted_values(values: np.ndarray) -> np.ndarray:
    """The finite values, since no axis can show the NaN of a failed run."""
    known: np.ndarray = values[np.isfinite(values)]
    return known


def largest_plotted_value(values: np.ndarray) -> float:
    """The size of the largest finite number."""
    return float(abs(finite_plotted_values(values)).max(initial=0.0))


def largest_values_by_plot_unit(table: Table, columns: Sequence[Column]) -> dict[str, float]:
    """The largest number of each unit."""
    found: dict[str, float] = {}
    for column in columns:
        found[column.unit] = max(found.get(column.unit, 0.0), largest_plotted_value(table[column.name]))
    return found


def plotted_column_is_zero(table: Table, column: Column, size: float) -> bool:
    """Whether a column has numbers, and none beyond rounding beside `size`."""
    values = finite_plotted_values(table[column.name])
    return bool(values.size) and largest_plotted_value(values) <= ROUNDING * size


def plot_columns_by_size(table: Table, columns: Sequence[Column]) -> list[list[Column]]:
    """Groups of columns, largest numbers first, in which no owner's lines are flat beside another's.

    Columns of one owner stay together, and owners whose columns are zero stand with the largest.
    """
    size: dict[str, float] = {}
    for column in columns:
        size[column.owner] = max(size.get(column.owner, 0.0), largest_plotted_value(table[column.name]))
    most = max(size.values())
    groups: list[list[str]] = [[]]
    limit = 0.0
    for owner in sorted(size, key=lambda owner: -size[owner]):
        if size[owner] <= ROUNDING * most:
            groups[0].append(owner)
            continue
        if size[owner] < limit:
            groups.append([])
        if not groups[-1]:
            limit = FLATTENED * size[owner]
        groups[-1].append(owner)
    return [[column for column in columns if column.owner in group] for group in groups]


def compare_panel_heights(drawn: Sequence[Axes]) -> None:
    """Gives panels that fill enough of a common range this range, so that their heights can be compared."""
    ranges = {k: axes.get_ylim() for k, axes in enumerate(drawn)}
    while len(ranges) > 1:
        low, high = min(x[0] for x in ranges.values()), max(x[1] for x in ranges.values())
        alone = [k for k, x in ranges.items() if x[1] - x[0] < COMPARABLE * (high - low)]
        if not alone:
            for k in ranges:
                drawn[k].set_ylim(low, high)
            return
        for k in alone:
            del ranges[k]
