"""The extremes of a result's columns: what a reader wants to know before all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .columns import Column

HEADER = ("column", "unit", "least", "at (s)", "largest", "at (s)", "RMS", "final")


@dataclass(frozen=True)
class Extremes:
    """The least and the largest value of a column, when it has them, its root mean square and its last value."""

    column: Column
    low: float
    low_at: float
    high: float
    high_at: float
    rms: float
    final: float

    def cells(self) -> list[str]:
        """The row of a table under `HEADER`."""
        numbers = (self.low, self.low_at, self.high, self.high_at, self.rms, self.final)
        return [self.column.name, self.column.unit, *(f"{x + 0.0:.5g}" for x in numbers)]


def column_extremes(t: np.ndarray, table: Mapping[str, np.ndarray], columns: Sequence[Column]) -> Iterator[Extremes]:
    """The extremes of those columns that have a finite number; the mean square is that over the rows."""
    for column in columns:
        values = np.asarray(table[column.name], dtype=float)
        if np.isfinite(values).any():
            low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
            rms = float(np.sqrt(np.nanmean(values * values)))
            yield Extremes(
                column, float(values[low]), float(t[low]), float(values[high]), float(t[high]), rms, float(values[-1])
            )
