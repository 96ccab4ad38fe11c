"""What is kept of a run: numbers taken from its columns, and expressions over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...text.expression import ExpressionError, Quantity, UndefinedError, evaluate
from ...text.units import PLAIN, Dimension

SETTLES = "settles"
JUMPS = (SETTLES,)  # what may jump, and so has no derivatives


class Reduction(NamedTuple):
    """What is taken of a column; it settles `within` so much of a goal, which is its final value if that is NaN."""

    column: str
    take: str
    within: float = 0.0
    goal: float = math.nan


def taken(t: np.ndarray, columns: Mapping[str, np.ndarray], wanted: Sequence[Reduction], runs: int) -> np.ndarray:
    """The wanted numbers of runs with the same instants, a row for each run; NaN where a run has no such column."""
    made = np.full((runs, len(wanted)), np.nan)
    weights = _weights(t)
    for k, one in enumerate(wanted):
        values = np.broadcast_to(t, (runs, len(t))) if one.column == "t" else columns.get(one.column)
        if values is not None and len(t):
            # rows one behind the other, so that each run's sums are made in the same order, whatever is beside it
            rows = np.ascontiguousarray(values)
            made[:, k] = settled(t, rows, one) if one.take == SETTLES else _reduced(rows, one.take, weights)
    return made


def settled(t: np.ndarray, values: np.ndarray, how: Reduction) -> np.ndarray:
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


def slope_taken(t: np.ndarray, values: np.ndarray, slopes: np.ndarray, take: str) -> np.ndarray:
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


def dimension_of(unit: str) -> Dimension:
    """The dimension of a column's unit; plain where it is no unit of expressions."""
    try:
        return evaluate(unit.replace("²", "^2").replace("³", "^3")).dimension
    except ExpressionError:
        return PLAIN


def value_of(text: str, given: Mapping[str, Quantity]) -> float:
    """The value of an expression, NaN where it has none for these numbers."""
    if any(math.isnan(x) for x in given.values()):
        given = {name: x for name, x in given.items() if not math.isnan(x)}
        try:
            return float(evaluate(text, given))
        except ExpressionError:  # it needs one of those that are unknown
            return math.nan
    try:
        return float(evaluate(text, given))
    except UndefinedError:
        return math.nan
