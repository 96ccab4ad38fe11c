"""Checks of a stored result: what was compared, what is allowed, and the differences that are beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...record import Column
from ...record.compared import Difference, allowed_recorded_difference, recorded_column_size, recorded_difference_excess

EXACT = 1e-9  # of a column's largest number, where nothing was integrated, and in single rows
FLOOR = 0.01  # of the allowed share, relative to the largest number of the column's unit and family

Table = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Check:
    """One check: what was looked at, by what means, and all that is beyond what is allowed, the worst first."""

    name: str
    by: str
    words: str
    differences: list[Difference] = field(default_factory=list)
    worst: Difference | None = None  # the largest difference in terms of the allowed one, whether beyond it or not

    @property
    def ok(self) -> bool:
        return not self.differences


def allowed_in_columns(columns: Sequence[Column], table: Table, share: float) -> dict[str, float]:
    """What is allowed in each column: a share of its largest number, and less of its kind's."""
    kinds: dict[tuple[str, str], float] = {}
    for column in columns:
        if column.name in table:
            kinds[column.kind] = max(kinds.get(column.kind, 0.0), recorded_column_size(table[column.name]))
    return {
        column.name: allowed_recorded_difference(
            recorded_column_size(table[column.name]), kinds[column.kind], share, None, FLOOR * share
        )
        for column in columns
        if column.name in table
    }


def worst_row_of_column(
    unit: str, name: str, t: np.ndarray, old: np.ndarray, new: np.ndarray, allowed: float | np.ndarray
) -> Difference:
    """The worst row of a column."""
    if not len(t):
        return Difference(name, "")
    n = int(recorded_difference_excess(old, new, allowed).argmax())
    limit = float(np.broadcast_to(allowed, old.shape)[n])
    return Difference(name, "", float(t[n]), float(old[n]), float(new[n]), limit, unit)


def check_of_differences(
    name: str, by: str, words: str, compared: Sequence[Difference], others: Sequence[Difference] = ()
) -> Check:
    """The check of differences that were measured, and of others that are none of numbers."""
    measured = [one for one in compared if one.t is not None]
    beyond = sorted((one for one in measured if one.times > 1.0), key=lambda one: -one.times)
    worst = max(measured, key=lambda one: one.times, default=None)
    return Check(name, by, words, [*others, *beyond], worst)
