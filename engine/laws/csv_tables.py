"""Tables in CSV files: columns over time, joined by a spline that has derivatives."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, Place, did_you_mean
from ..text import lines_of_text, opened_regular_file, text_of_file
from ..text.expressions import (
    DIMENSIONS,
    ExpressionError,
    Quantity,
    misfit_of_unit,
    name_and_unit_of_header,
    unit_in_si,
)

MOST_ROWS = 1_000_000
MOST_TURNED = 2 * math.pi * 1.01  # by an angle that has no unit; a whole turn may be rounded
OVERSHOOT = 0.05  # share of a column's range by which a spline may leave the rows around it without a warning
TABLE_BYTES = 200_000_000
MOST_IN_LINE = 1_000_000
FILE = "a CSV file, from the folder of the file that names it"
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
DECIMALS = "decimals have a point, as in 0.5 (a spreadsheet that is set to English exports it so)"
FORM = "a header line with names, `t` among them, then one line an instant"
FORM_OVER_ANY = "a header line with names, then one line for each value of its first column"


def read_law_table_columns(
    path: Path, names: list[str], time: str | None = None, header: bool = True, *, of_time: bool = True, raw: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The time and the named columns of a CSV file in SI units; the time is `t`, or else the first column.

    A unit behind a name, as in `q (deg)` or `q [deg]`, is that of its column, which may be asked for with and without
    it; the last columns, so many as are `raw`, are left as they stand.  Where the table isn't `of_time`, its first
    column takes the place of time, and the name "" is the second column.  The columns of a file without a header are
    called 1, 2 and so on.
    """
    try:
        return _read_columns(path, names, time, header, of_time=of_time, raw=raw)
    except InputError as error:
        if not of_time and error.allowed == FORM:
            words = error.words | {"allowed": FORM_OVER_ANY}
            raise InputError(error.message, place=error.place, key=error.key, **words) from None
        raise


def _read_columns(
    path: Path, names: list[str], time: str | None, header: bool, *, of_time: bool, raw: int
) -> tuple[np.ndarray, np.ndarray]:
    """What `read_law_table_columns` returns; messages on mistakes are about tables over time."""
    text = text_of_file(path, TABLE_BYTES, mark=True, allowed=FILE, hint="leave rows out")
    rows = _rows(path, text)
    first = [name.strip() for name in next(rows, [])]
    if not first:
        raise InputError("the table is empty", place=Place(str(path)), allowed=FORM)
    if header:
        _refuse_other_forms(path, first)
    named = first if header else [str(k) for k in range(1, len(first) + 1)]
    if not of_time:
        names = [name or (named[1] if len(named) > 1 else "(the second)") for name in names]
        time = named[0]
    wanted = [_column(path, named, name) for name in names]
    if time is not None:
        clock = _column(path, named, time)
    else:
        clock = next((k for k, cell in enumerate(named) if _called(cell, "t")), 0)
    factors = np.ones(len(wanted) + 1)
    if header:
        units = [law_table_unit(path, named, k) for k in (clock, *wanted[: len(wanted) - raw])]
        factors[: len(units)] = [1.0 if unit is None else unit for unit in units]
        if of_time and units[0] is not None:
            refuse_unit_of_law_table(path, named, clock, "time")
    grows = "time" if of_time else f"`{named[clock]}`"
    table = _read(path, rows if header else chain([first], rows), named, [clock, *wanted], 2 if header else 1, grows)
    table *= factors
    return table[:, 0], table[:, 1:]


def law_table_header(path: Path) -> list[str]:
    """The names in the first line of a file; none where it can't be read, which its reader says."""
    try:
        with opened_regular_file(path) as file:
            line = file.readline(MOST_IN_LINE).partition(b"\r")[0].decode("utf-8-sig")
        return [name.strip() for name in next(csv.reader([line]), [])]
    except (OSError, ValueError, csv.Error):
        return []


def _called(cell: str, name: str) -> bool:
    """Whether a column with this header goes by the name, with or without its unit."""
    return name in (cell, name_and_unit_of_header(cell)[0])


def _column(path: Path, header: Sequence[str], name: str) -> int:
    """The place of a column, which has to be the only one of this name."""
    there = [k for k, cell in enumerate(header) if cell == name] or [
        k for k, cell in enumerate(header) if _called(cell, name)
    ]
    if len(there) != 1:
        raise InputError(
            "the table has several columns of this name" if there else "the table has no such column",
            place=Place(str(path), 1, 1),
            key=name,
            found=f"`{name}`",
            allowed=", ".join(header)[:200],
            hint=did_you_mean(name, set(header) - {name}),
        )
    return there[0]


def law_table_unit(path: Path, header: Sequence[str], k: int) -> Quantity | None:
    """One of a column's unit in SI, if its header has one."""
    name, unit = name_and_unit_of_header(header[k])
    try:
        return unit_in_si(unit) if unit else None
    except ExpressionError as error:
        raise InputError(
            f"the unit in this column's header can't be read: {error}",
            place=Place(str(path), 1, k + 1),
            key=header[k],
            found=f"`{header[k]}`",
            allowed=f"a unit, as in `{name} (deg)`, `{name} [mm]` or `{name} (rad/s)`, or a name without parentheses",
        ) from None


def refuse_unit_of_law_table(path: Path, header: Sequence[str], k: int, kind: str) -> None:
    """Raises an error if a column's unit isn't of this kind, a row of `DIMENSIONS`."""
    unit = law_table_unit(path, header, k)
    if unit is not None and (message := misfit_of_unit(unit, kind)):
        raise InputError(
            f"the unit in this column's header doesn't fit: {message}",
            place=Place(str(path), 1, k + 1),
            key=header[k],
            found=f"`{header[k]}`",
            allowed=DIMENSIONS[kind][1],
        )


def refuse_units_of_law_table(path: Path, names: Sequence[str], kinds: Sequence[str]) -> None:
    """Raises an error if the unit of a named column isn't of the kind that stands in its place."""
    header = law_table_header(path)
    for name, kind in zip(names, kinds):
        refuse_unit_of_law_table(path, header, _column(path, header, name), kind)


def _read(
    path: Path,
    rows: Iterator[list[str]],
    header: list[str],
    wanted: list[int],
    begin: int,
    grows: str,
) -> np.ndarray:
    """These columns of the rows, of which the first one, that has to grow, is in the line `begin`."""
    values = array("d")
    lines = array("q")
    for line, row in enumerate(rows, start=begin):
        if not row or all(not cell.strip() for cell in row):
            continue
        if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
            raise InputError(
                f"this line has {len(row)} entries, the header has {len(header)} names",
                place=Place(str(path), line, 1),
                allowed=FORM,
                hint=f"if its decimals have commas: {DECIMALS}",
            )
        if len(lines) >= MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS} rows", place=Place(str(path), line, 1), hint="leave rows out")
        values.extend(_number(path, line, row, column) for column in wanted)
        lines.append(line)
    if len(lines) < 2:
        raise InputError(
            "a table needs two rows of numbers or more", place=Place(str(path)), found=str(len(lines)), allowed=FORM
        )
    table = np.frombuffer(values).reshape(len(lines), -1)
    steps = np.diff(table[:, 0])
    if not (steps > 0).all():
        k = int(np.argmin(steps > 0))
        raise InputError(
            f"{grows} must grow from row to row",
            place=Place(str(path), lines[k + 1], wanted[0] + 1),
            found=f"{table[k + 1, 0]:g} after {table[k, 0]:g}",
        )
    return table


def _refuse_other_forms(path: Path, header: list[str]) -> None:
    """Raises an error if the file has no header, or separates its columns in another way."""
    other = next((name for sign, name in SEPARATORS.items() if len(header) == 1 and sign in header[0]), "")
    if other:
        raise InputError(
            f"the columns of this table are separated by {other}",
            place=Place(str(path), 1, 1),
            found=f"`{header[0][:60]}`",
            allowed=FORM,
            hint=f"put commas between the columns; {DECIMALS}",
        )
    if all(_is_number(cell) for cell in header):
        names = ",".join(["t", *(f"column{k}" for k in range(1, len(header)))])
        raise InputError(
            "the table has no header: its first line holds numbers where the names of the columns belong",
            place=Place(str(path), 1, 1),
            found=f"`{','.join(header)[:60]}`",
            allowed=FORM,
            hint=f"put a line of names above it, such as `{names}`",
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _rows(path: Path, text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines_of_text(text, path, MOST_IN_LINE))
    except csv.Error as error:
        raise InputError(f"this is no CSV file: {error}", place=Place(str(path)), allowed=FORM) from None


def bare_angles_of_law_table(path: Path, names: Sequence[str], *, of_time: bool = True) -> Iterator[str]:
    """Warnings about columns of angles without a unit in their header that have more than a turn."""
    header = law_table_header(path)
    for name in (name for name in names if name in header and not name_and_unit_of_header(name)[1]):
        _, columns = read_law_table_columns(path, [name], of_time=of_time)
        if (largest := float(abs(columns).max())) > MOST_TURNED:
            yield (
                f"the column `{name}` has no unit, so it is in radians, and {largest:g} are "
                f"{largest / (2 * math.pi):.3g} turns; `{name} (deg)` in the table's header means degrees, "
                f"`{name} (rad)` ends this warning"
            )


def _number(path: Path, line: int, row: list[str], column: int) -> float:
    """The number in a cell, or an error at its line and column."""
    try:
        value = math.nan if "_" in row[column] else float(row[column])  # Python takes 1_000 for a number
    except (ValueError, IndexError):
        value = math.nan
    if not math.isfinite(value):
        shown = f"`{row[column].strip()[:40]}`" if column < len(row) else "nothing"
        comma = column < len(row) and row[column].count(",") == 1
        raise InputError(
            "not a finite number",
            place=Place(str(path), line, column + 1),
            found=shown,
            allowed="numbers in SI units, or in the one that the header has in parentheses",
            hint=DECIMALS if comma else "",
        )
    return value


class Spline:
    """A curve through the rows of a table; outside of them, the end values hold.

    `spline` is of fifth degree, of third if there are fewer than six rows; `pchip` is of third degree and never leaves
    the range of the two rows beside it, with second derivatives that jump at the rows; `linear` has rates that jump.
    With `slopes` it has these rates, and second derivatives if they are given, in the rows.
    """

    def __init__(self, t: np.ndarray, y: np.ndarray, interpolation: str = "spline", slopes: Sequence[np.ndarray] = ()):
        from scipy.interpolate import BPoly, PchipInterpolator, make_interp_spline

        self.ends, self._rows = (float(t[0]), float(t[-1])), (t, y)
        degree = {"spline": 5 if len(t) >= 6 else 3, "pchip": 3, "linear": 1}[interpolation]
        degree = min(degree, len(t) - 1) if interpolation == "spline" else degree
        with np.errstate(all="ignore"):
            try:
                if slopes:
                    degree = 5
                    seconds = slopes[1] if len(slopes) > 1 else Spline(t, slopes[0])(t)[1]
                    curve = BPoly.from_derivatives(t, np.column_stack([y, slopes[0], seconds]))
                else:
                    curve = PchipInterpolator(t, y) if interpolation == "pchip" else make_interp_spline(t, y, k=degree)
            except (ValueError, np.linalg.LinAlgError) as error:
                raise InputError(f"no spline leads through these rows: {error}") from None
            self._curves = [curve, *(curve.derivative(n) if n <= degree else None for n in (1, 2))]
        if not all(one is None or np.isfinite(one.c).all() for one in self._curves):
            raise InputError("no spline leads through these rows: their numbers are too far apart")

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inside = (t >= self.ends[0]) & (t <= self.ends[1])
        x = np.clip(t, *self.ends)
        y, rate, second = (np.zeros(np.shape(x)) if curve is None else curve(x) for curve in self._curves)
        return y, np.where(inside, rate, 0.0), np.where(inside, second, 0.0)

    def overshoot(self) -> tuple[float, float, float]:
        """Where the curve leaves the range of the rows around it most: from, to, and by which share of all values."""
        t, y = self._rows
        whole = float(np.ptp(y))
        if not whole or len(t) < 3:
            return self.ends[0], self.ends[1], 0.0
        between = t[:-1, None] + np.diff(t)[:, None] * np.linspace(0.0, 1.0, 18)[1:-1]
        values = self._curves[0](between)
        around = [y, np.append(y[1:], y[-1]), np.append(y[0], y[:-1]), np.append(y[2:], [y[-1]] * 2)]
        low, high = (bound(np.array(around)[:, :-1], axis=0)[:, None] for bound in (np.min, np.max))
        off = np.maximum(values - high, low - values).max(axis=1) / whole
        k = int(np.argmax(off))
        return float(t[k]), float(t[k + 1]), max(float(off[k]), 0.0)
