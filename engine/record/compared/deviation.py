"""A comparison of two tables of numbers, column by column, each with its own scale and without their meaning."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RTOL = 1e-6  # of a column's largest number
FLOOR = 1e-9  # of the largest number of its unit and family; smaller differences are rounding
SMALLEST = 1e-12  # for columns without any other scale, such as those that are 0 throughout
MOST_ROWS = 41  # rows that are kept
DIGITS = 12  # significant digits of every number that is kept
ROUNDED = 1e-11  # a relative bound on the rounding to these digits, with a margin

Table = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class ComparedColumn:
    """A column with its range over all rows, and the allowed difference at any instant."""

    name: str
    unit: str
    low: float | None
    high: float | None
    allowed: float


@dataclass(frozen=True)
class Difference:
    """A difference in a column, or in a plot's panel, with `old` and `new` numbers where there are any."""

    what: str
    message: str
    t: float | None = None
    old: float | None = None
    new: float | None = None
    allowed: float | None = None
    unit: str = ""
    panel: int | None = None

    @property
    def times(self) -> float:
        """The ratio of the difference to the allowed one."""
        if self.old is None or self.new is None or not self.allowed:
            return math.inf
        return float(recorded_difference_excess(np.array([self.old]), np.array([self.new]), self.allowed)[0])


def thinned_rows_to_record(count: int, most: int) -> np.ndarray:
    """The rows to keep out of `count`: evenly spaced ones and the last."""
    every = stride_of_recorded_rows(count, most)
    rows = list(range(0, count, every))
    return np.array(rows if (count - 1) % every == 0 else [*rows, count - 1], dtype=int)


def stride_of_recorded_rows(count: int, most: int) -> int:
    """The distance between the rows that are kept."""
    return max(1, -(-(count - 1) // (most - 1)))


def rounded_column_numbers(values: np.ndarray) -> list[float | None]:
    """The numbers rounded to the digits that are kept; None for those that aren't finite."""
    return [float(f"{x:.{DIGITS}g}") + 0.0 if math.isfinite(x) else None for x in np.asarray(values, float).tolist()]


def recorded_column_size(values: np.ndarray) -> float:
    """The largest absolute value of the finite numbers."""
    finite = values[np.isfinite(values)]
    return float(abs(finite).max(initial=0.0))


def allowed_recorded_difference(
    own: float, kind: float, rtol: float | None, atol: float | None, floor: float = FLOOR
) -> float:
    """The allowed difference of a column of size `own` among columns of sizes up to `kind`."""
    least = max(floor * kind, SMALLEST) if atol is None else atol
    return float(f"{max((RTOL if rtol is None else rtol) * own, least, ROUNDED * own):.3g}")


def compared_recorded_column(name: str, unit: str, values: np.ndarray, allowed: float) -> ComparedColumn:
    finite = values[np.isfinite(values)]
    low, high = rounded_column_numbers(np.array([finite.min(), finite.max()])) if finite.size else (None, None)
    return ComparedColumn(name, unit, low, high, allowed)


def recorded_difference_excess(old: np.ndarray, new: np.ndarray, allowed: float | np.ndarray) -> np.ndarray:
    """The ratio of each difference to the allowed one; infinite if only one of the two is a number."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        off = abs(new - old) / allowed
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def recorded_rows_at(wanted: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The row of `t` at each wanted instant, or −1 if there is none."""
    if not len(t):
        return np.full(len(wanted), -1)
    near = np.clip(np.searchsorted(t, wanted), 1, max(len(t) - 1, 1))
    near = np.where(abs(t[near - 1] - wanted) <= abs(t[np.minimum(near, len(t) - 1)] - wanted), near - 1, near)
    near = np.minimum(near, len(t) - 1)
    return np.where(abs(t[near] - wanted) <= ROUNDED * max(recorded_column_size(wanted), np.ptp(t)), near, -1)


def column_differences(
    compared: Sequence[ComparedColumn], t: np.ndarray, old: Table, now: np.ndarray, new: Table, *, ranges: bool
) -> tuple[list[Difference], float]:
    """The worst difference of each column that exceeds its limit, and the largest ratio to the limit of the others.

    `old` has its rows at the instants `t`, `new` at `now`.  With `ranges` the least and the largest number over all
    rows are compared too, which shows what happens between the rows of `old`.
    """
    rows = recorded_rows_at(t, now)
    common = rows >= 0
    result, nearest = [], 0.0
    for one in compared:
        if one.name not in old or one.name not in new:
            continue
        worst = max(_candidates(one, t[common], old[one.name][common], now, new[one.name], rows[common], ranges=ranges))
        if worst[0] > 1.0:
            _, at, was, is_, message = worst
            result.append(Difference(one.name, message, at, was, is_, one.allowed, one.unit))
        else:
            nearest = max(nearest, worst[0])
    return sorted(result, key=lambda difference: -difference.times), nearest


def _candidates(
    one: ComparedColumn,
    t: np.ndarray,
    old: np.ndarray,
    now: np.ndarray,
    new: np.ndarray,
    rows: np.ndarray,
    *,
    ranges: bool,
) -> Iterator[tuple[float, float, float, float, str]]:
    """The candidates for the worst difference, as (ratio, instant, old, new, meaning): the worst row and the range."""
    yield 0.0, 0.0, 0.0, 0.0, ""
    if len(t):
        off = recorded_difference_excess(old, new[rows], one.allowed)
        k = int(off.argmax())
        yield float(off[k]), float(t[k]), float(old[k]), float(new[rows[k]]), ""
    finite = np.isfinite(new)
    if ranges and one.low is not None and one.high is not None and finite.any():
        for bound, k, word in (
            (one.low, int(np.where(finite, new, np.inf).argmin()), "least"),
            (one.high, int(np.where(finite, new, -np.inf).argmax()), "largest"),
        ):
            off = recorded_difference_excess(np.array([bound]), new[[k]], one.allowed)
            # a row is reported rather than a range with the same difference
            yield float(off[0]) * (1 - 1e-6), float(now[k]), bound, float(new[k]), f"{word} of all rows"


def renamed_recorded_column(
    name: str, compared: Sequence[ComparedColumn], t: np.ndarray, old: Table, now: np.ndarray, new: Table
) -> str:
    """The new column that holds the numbers of the old column `name`, or an empty text."""
    one = next(s for s in compared if s.name == name)
    rows, known = recorded_rows_at(t, now), {s.name for s in compared}
    if (rows < 0).any() or not recorded_column_size(old[name]):
        return ""
    for other, values in new.items():
        if other not in known and (recorded_difference_excess(old[name], values[rows], one.allowed) <= 1.0).all():
            return other
    return ""
