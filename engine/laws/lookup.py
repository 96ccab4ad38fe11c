"""Tables in CSV files over any quantity, as polynomials between their rows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import InputError, Place
from ..text.expressions import Lookup
from .csv_tables import OVERSHOOT, Spline, read_law_table_columns

MOST = 1000  # rows, for each of them is a part of the equations
CLOSED = 1e-9  # of the column's range, by which the ends of a periodic table may differ


class LookupPieces(NamedTuple):
    """The ends of intervals, the value at the first one, and in each the coefficients from the first power on."""

    ends: tuple[float, ...]
    start: float
    coefficients: tuple[tuple[float, ...], ...]


def law_table_polynomials(lookup: Lookup, folder: Path) -> LookupPieces:
    """The polynomials through the rows of a table; outside it the end values hold, unless it is periodic."""
    path = folder / lookup.file
    x, columns = read_law_table_columns(path, [lookup.column], of_time=False)
    y = columns[:, 0]
    if len(x) > MOST:
        raise InputError(
            f"a table that is looked up has {MOST} rows at most", place=Place(str(path)), found=str(len(x))
        )
    if lookup.periodic and abs(y[-1] - y[0]) > CLOSED * np.ptp(y):
        raise InputError(
            "a periodic table ends with the value that it begins with",
            place=Place(str(path)),
            found=f"{y[0]:.12g} in the first row, {y[-1]:.12g} in the last",
            hint="its first and its last row are the same place, one period apart",
        )
    if lookup.periodic:
        y = np.append(y[:-1], y[0])
    return law_polynomials_through_rows(x, y, lookup.interpolation, lookup.periodic)


def law_table_doubt(lookup: Lookup, folder: Path) -> str:
    """A warning about a spline that leaves the range of the rows around it; nothing where it stays within."""
    if lookup.interpolation != "spline":
        return ""
    x, columns = read_law_table_columns(folder / lookup.file, [lookup.column], of_time=False)
    begin, end, share = Spline(x, columns[:, 0], lookup.interpolation).overshoot()
    if share <= OVERSHOOT:
        return ""
    column = f"`{lookup.column}`" if lookup.column else "the second column"
    return (
        f"between {begin:g} and {end:g} the spline through {column} of `{lookup.file}` leaves the range of the rows "
        f"around by {100 * share:.3g} % of the column's range; `pchip` or `linear` stays within"
    )


def law_polynomials_through_rows(x: np.ndarray, y: np.ndarray, interpolation: str, periodic: bool) -> LookupPieces:
    """The polynomials through these rows: a spline as that of tables over time, `pchip`, or straight lines."""
    from scipy.interpolate import PchipInterpolator, PPoly, make_interp_spline

    first, last = 0, len(x) - 1
    if interpolation == "pchip" and periodic and len(x) > 2:  # with the rows beyond both ends, so that slopes fit
        period = x[-1] - x[0]
        x, y = np.concatenate([[x[-2] - period], x, [x[1] + period]]), np.concatenate([[y[-2]], y, [y[1]]])
        first, last = 1, len(x) - 2
    with np.errstate(all="ignore"):
        if interpolation == "spline":
            degree = min(5 if len(x) >= 6 else 3, len(x) - 1)
            degree -= periodic and degree % 2 == 0
            bounds = "periodic" if periodic and degree > 1 else None
            curve = PPoly.from_spline(make_interp_spline(x, y, k=degree, bc_type=bounds))
        else:
            curve = (
                PchipInterpolator(x, y)
                if interpolation == "pchip"
                else PPoly.from_spline(make_interp_spline(x, y, k=1))
            )
    begin, end = x[first], x[last]
    kept = [k for k, (a, b) in enumerate(zip(curve.x, curve.x[1:])) if begin <= a < b <= end]
    powers = curve.c[::-1, kept]  # from the constant on
    if not np.isfinite(powers).all():
        raise InputError("no curve leads through these rows: their numbers are too far apart")
    ends = (*(float(curve.x[k]) for k in kept), float(end))
    return LookupPieces(ends, float(powers[0, 0]), tuple(tuple(map(float, column)) for column in powers[1:].T))
