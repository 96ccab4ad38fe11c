"""Laws from CSV files: columns over time, joined by a spline that has derivatives."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, Place, did_you_mean

MOST_ROWS = 1_000_000


def columns(path: Path, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Time and the named columns of a CSV file with a header; time is `t`, else the first column."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not a text file in UTF-8", place=Place(str(path))) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", place=Place(str(path))) from None
    rows = csv.reader(text.splitlines())
    header = [name.strip() for name in next(rows, [])]
    time = header.index("t") if "t" in header else 0
    for name in names:
        if name not in header:
            raise InputError(
                "the table has no such column",
                place=Place(str(path), 1, 1),
                found=f"`{name}`",
                allowed=", ".join(header) or "a header line with names, then one line an instant",
                hint=did_you_mean(name, header),
            )
    wanted = [time, *(header.index(name) for name in names)]
    values: list[list[float]] = []
    for line, row in enumerate(rows, start=2):
        if not row or all(not cell.strip() for cell in row):
            continue
        if len(values) >= MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS} rows", place=Place(str(path), line, 1))
        values.append([_number(path, line, row, column) for column in wanted])
    if len(values) < 2:
        raise InputError("a table needs two rows of numbers or more", place=Place(str(path)), found=str(len(values)))
    array = np.array(values)
    steps = np.diff(array[:, 0])
    if not (steps > 0).all():
        line = int(np.argmin(steps > 0)) + 3
        raise InputError("time must grow from row to row", place=Place(str(path), line, 1))
    return array[:, 0], array[:, 1:]


def _number(path: Path, line: int, row: list[str], column: int) -> float:
    try:
        value = float(row[column])
    except (ValueError, IndexError):
        value = math.nan
    if not math.isfinite(value):
        found = f"`{row[column].strip()[:40]}`" if column < len(row) else "nothing"
        raise InputError("not a finite number", place=Place(str(path), line, column + 1), found=found)
    return value


class Spline:
    """A cubic spline through the rows (a quintic one where there are six or more); ends held outside."""

    def __init__(self, t: np.ndarray, y: np.ndarray):
        from scipy.interpolate import make_interp_spline

        degree = 5 if len(t) >= 6 else min(3, len(t) - 1)
        self.ends = (float(t[0]), float(t[-1]))
        self._curves = [make_interp_spline(t, y, k=degree)]
        self._curves += [self._curves[0].derivative(n) if n <= degree else None for n in (1, 2)]

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inside = (t >= self.ends[0]) & (t <= self.ends[1])
        x = np.clip(t, *self.ends)
        y, rate, second = (np.zeros(np.shape(x)) if curve is None else curve(x) for curve in self._curves)
        return y, np.where(inside, rate, 0.0), np.where(inside, second, 0.0)
