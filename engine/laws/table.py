"""Tables in CSV files: columns over time, joined by a spline that has derivatives."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, Place, did_you_mean

MOST_ROWS = 1_000_000
MOST_BYTES = 200_000_000
FORM = "a header line with names, `t` among them, then one line an instant"


def columns(path: Path, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The time and the named columns of a CSV file with a header; the time is `t`, or else the first column."""
    text = _text(path)
    rows = _rows(path, text)
    header = [name.strip() for name in next(rows, [])]
    if not header:
        raise InputError("the table is empty", place=Place(str(path)), allowed=FORM)
    time = header.index("t") if "t" in header else 0
    for name in names:
        if header.count(name) != 1:
            separated = next((sign for sign in (";", "\t") if len(header) == 1 and sign in header[0]), "")
            raise InputError(
                "the table has several columns of this name" if name in header else "the table has no such column",
                place=Place(str(path), 1, 1),
                key=name,
                found=f"`{name}`",
                allowed=", ".join(header)[:200],
                hint="columns are separated by commas" if separated else did_you_mean(name, set(header) - {name}),
            )
    wanted = [time, *(header.index(name) for name in names)]
    values: list[list[float]] = []
    lines: list[int] = []
    for line, row in enumerate(rows, start=2):
        if not row or all(not cell.strip() for cell in row):
            continue
        if len(values) >= MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS} rows", place=Place(str(path), line, 1), hint="leave rows out")
        values.append([_number(path, line, row, column) for column in wanted])
        lines.append(line)
    if len(values) < 2:
        raise InputError(
            "a table needs two rows of numbers or more", place=Place(str(path)), found=str(len(values)), allowed=FORM
        )
    array = np.array(values)
    steps = np.diff(array[:, 0])
    if not (steps > 0).all():
        k = int(np.argmin(steps > 0))
        raise InputError(
            "time must grow from row to row",
            place=Place(str(path), lines[k + 1], time + 1),
            found=f"{array[k + 1, 0]:g} after {array[k, 0]:g}",
        )
    return array[:, 0], array[:, 1:]


def _rows(path: Path, text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(text.splitlines())
    except csv.Error as error:
        raise InputError(f"this is no CSV file: {error}", place=Place(str(path)), allowed=FORM) from None


def _text(path: Path) -> str:
    place = Place(str(path))
    try:
        if not path.exists():
            raise InputError("there is no such file", place=place, allowed="a CSV file, from the scenario's folder")
        if not path.is_file():
            what = "a directory" if path.is_dir() else "no ordinary file"
            raise InputError(f"this is {what}", place=place, allowed="a CSV file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the file can't be read: {why}", place=place, allowed="a CSV file") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"the file is larger than {MOST_BYTES // 1_000_000} MB", place=place, hint="leave rows out")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "the file is not text in UTF-8",
            place=place,
            found=f"byte 0x{content[error.start]:02x} on line {content.count(bytes([10]), 0, error.start) + 1}",
            hint="save it with the encoding UTF-8",
        ) from None


def _number(path: Path, line: int, row: list[str], column: int) -> float:
    try:
        value = math.nan if "_" in row[column] else float(row[column])  # Python takes 1_000 for a number
    except (ValueError, IndexError):
        value = math.nan
    if not math.isfinite(value):
        shown = f"`{row[column].strip()[:40]}`" if column < len(row) else "nothing"
        raise InputError(
            "not a finite number", place=Place(str(path), line, column + 1), found=shown, allowed="numbers in SI units"
        )
    return value


class Spline:
    """A cubic spline through the rows, or a quintic one if there are six or more; outside, the end values hold."""

    def __init__(self, t: np.ndarray, y: np.ndarray):
        from scipy.interpolate import make_interp_spline

        degree = 5 if len(t) >= 6 else min(3, len(t) - 1)
        self.ends = (float(t[0]), float(t[-1]))
        with np.errstate(all="ignore"):
            try:
                curve = make_interp_spline(t, y, k=degree)
            except (ValueError, np.linalg.LinAlgError) as error:
                raise InputError(f"no spline leads through these rows: {error}") from None
            if not np.isfinite(curve.c).all():
                raise InputError("no spline leads through these rows: their numbers are too far apart")
        self._curves = [curve]
        self._curves += [self._curves[0].derivative(n) if n <= degree else None for n in (1, 2)]

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inside = (t >= self.ends[0]) & (t <= self.ends[1])
        x = np.clip(t, *self.ends)
        y, rate, second = (np.zeros(np.shape(x)) if curve is None else curve(x) for curve in self._curves)
        return y, np.where(inside, rate, 0.0), np.where(inside, second, 0.0)
