"""What is kept of a run: numbers taken from its columns, and expressions over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...text.expressions import PLAIN, Dimension, ExpressionError, Quantity, UndefinedError, evaluate_expression

SETTLES = "settles"
CROSSES = ""  # what is taken at an instant of its own
JUMPS = {SETTLES: "settles", CROSSES: "passes a level"}  # what may jump, and so has no derivatives
HALVINGS = 60  # of an interval between two rows, until its ends are neighbours


class Reduction(NamedTuple):
    """A number of a run: what is `take`n of a column, or its value when the column `of` passes a level.

    A column settles `within` so much of a goal, which is its final value if that is NaN.
    """

    column: str
    take: str
    of: str = ""
    level: float = 0.0
    going: str = ""
    within: float = 0.0
    goal: float = math.nan


def take_sweep_outputs(
    t: np.ndarray, columns: Mapping[str, np.ndarray], wanted: Sequence[Reduction], runs: int
) -> np.ndarray:
    """The wanted numbers of runs with the same instants, a row for each run; NaN where a run has no such column."""
    made = np.full((runs, len(wanted)), np.nan)
    weights = _weights(t)
    for k, one in enumerate(wanted):
        values = _column(t, columns, one.column, runs)
        if values is None or not len(t):
            continue
        if one.take == SETTLES:
            made[:, k] = sweep_settling_times(t, values, one)
        elif one.take:
            made[:, k] = _reduced(values, one.take, weights)
        elif (passing := _column(t, columns, one.of, runs)) is not None:
            made[:, k] = [_at_crossing(t, x, y, one) for x, y in zip(passing, values)]
    return made


def sweep_settling_times(t: np.ndarray, values: np.ndarray, how: Reduction) -> np.ndarray:
    """How long each row's column is outside of its range for the last time; straight lines join its values."""
    goal = values[:, -1:] if math.isnan(how.goal) else how.goal
    off = abs(values - goal)
    outside = ~(off <= how.within)
    last = np.where(outside.any(axis=1), len(t) - 1 - np.argmax(outside[:, ::-1], axis=1), 0)
    after, rows = np.minimum(last + 1, len(t) - 1), np.arange(len(values))
    a, b = off[rows, last], off[rows, after]
    with np.errstate(all="ignore"):
        share = np.where((a > how.within) & (b < a), (a - how.within) / (a - b), 0.0)
    time: np.ndarray = t[last] + share * (t[after] - t[last]) - t[0]
    return np.where(np.isfinite(values).all(axis=1), time, math.nan)


def whole_sweep_rows(t: np.ndarray, columns: Mapping[str, np.ndarray], wanted: Sequence[str], runs: int) -> list[bytes]:
    """The rows of each run as bytes, which `sweep_rows_of_bytes` reads: time and the wanted columns."""
    if not wanted:
        return [b""] * runs
    found = [_column(t, columns, name, runs) for name in ("t", *wanted)]
    lost = np.full((runs, len(t)), np.nan)
    rows = np.stack([lost if one is None else one for one in found], axis=-1)
    return [np.ascontiguousarray(one, dtype="<f8").tobytes() for one in rows]


def sweep_rows_of_bytes(kept: bytes, width: int) -> np.ndarray:
    """The rows of a run, time first, from its bytes."""
    return np.frombuffer(kept, dtype="<f8").reshape(-1, 1 + width)


def _column(t: np.ndarray, columns: Mapping[str, np.ndarray], name: str, runs: int) -> np.ndarray | None:
    """A column of all runs, a row for each; None if they have none of this name.

    Rows stand one behind the other, so that each run's sums are made in the same order, whatever is beside it.
    """
    values = np.broadcast_to(t, (runs, len(t))) if name == "t" else columns.get(name)
    return None if values is None else np.ascontiguousarray(values)


def _at_crossing(t: np.ndarray, passing: np.ndarray, values: np.ndarray, one: Reduction) -> float:
    """The value at the first instant at which the other column comes to its level; NaN if it never does.

    Between rows both columns are cubics through the four rows around.
    """
    above = passing - one.level
    up, down = (above[:-1] < 0) & (above[1:] >= 0), (above[:-1] > 0) & (above[1:] <= 0)
    crossed = np.flatnonzero(up if one.going == "up" else down if one.going == "down" else up | down)
    if not len(crossed):
        return math.nan
    k = int(crossed[0])
    first = min(max(k - 1, 0), max(len(t) - 4, 0))
    some = slice(first, first + 4)
    low, high = float(t[k]), float(t[k + 1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        before = _cubic(t[some], above[some], middle) * above[k] > 0
        low, high = (middle, high) if before else (low, middle)
    return _cubic(t[some], values[some], high)


def _cubic(t: np.ndarray, values: np.ndarray, at: float) -> float:
    """The polynomial through a few rows, by Neville's scheme."""
    p = values.tolist()
    for step in range(1, len(p)):
        for i in range(len(p) - step):
            p[i] = ((at - t[i + step]) * p[i] + (t[i] - at) * p[i + 1]) / (t[i] - t[i + step])
    return float(p[0])


def _weights(t: np.ndarray) -> np.ndarray:
    """The weights of the trapezoidal rule for a mean over time."""
    if len(t) < 2:
        return np.ones(len(t))
    steps = np.diff(t)
    weights = np.zeros(len(t))
    weights[:-1] += steps / 2
    weights[1:] += steps / 2
    return np.asarray(weights / weights.sum())


def _reduced(values: np.ndarray, take: str, weights: np.ndarray) -> np.ndarray:
    """The number that is taken of each row."""
    with np.errstate(over="ignore", invalid="ignore"):
        made: np.ndarray
        if take == "final":
            made = values[:, -1]
        elif take == "mean":
            made = (values * weights).sum(axis=1)
        elif take == "rms":
            made = np.sqrt((values * values * weights).sum(axis=1))
        elif take == "largest":
            made = abs(values).max(axis=1)
        else:
            made = values.max(axis=1) if take == "max" else values.min(axis=1)
        return made


def take_sweep_slopes(t: np.ndarray, values: np.ndarray, slopes: np.ndarray, take: str) -> np.ndarray:
    """The derivatives of the number that is taken of a column, from those of the column, (instants, directions)."""
    weights = _weights(t)
    made: np.ndarray
    if take == "final":
        made = slopes[-1]
    elif take == "mean":
        made = weights @ slopes
    elif take == "rms":
        size = float(np.sqrt((values * values * weights).sum()))
        made = (weights * values) @ slopes / size if size else np.zeros(slopes.shape[1])
    else:  # of the row that it is taken of
        k = int(np.argmax(abs(values) if take == "largest" else values if take == "max" else -values))
        made = slopes[k] * (-1.0 if take == "largest" and values[k] < 0 else 1.0)
    return made


def dimension_of_sweep_column(unit: str) -> Dimension:
    """The dimension of a column's unit; plain where it is no unit of expressions."""
    try:
        return evaluate_expression(unit.replace("²", "^2").replace("³", "^3")).dimension
    except ExpressionError:
        return PLAIN


def value_of_sweep_expression(text: str, given: Mapping[str, Quantity]) -> float:
    """The value of an expression, NaN where it has none for these numbers."""
    if any(math.isnan(x) for x in given.values()):
        given = {name: x for name, x in given.items() if not math.isnan(x)}
        try:
            return float(evaluate_expression(text, given))
        except ExpressionError:  # it needs one of those that are unknown
            return math.nan
    try:
        return float(evaluate_expression(text, given))
    except UndefinedError:
        return math.nan
