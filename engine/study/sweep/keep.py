"""What is kept of a run: numbers taken from its columns, and expressions over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...text.expression import Quantity, UndefinedError, evaluate
from ...text.tokens import ExpressionError
from ...text.units import PLAIN, Dimension

Reduction = tuple[str, str]  # a column, and what is taken of it


def taken(t: np.ndarray, columns: Mapping[str, np.ndarray], wanted: Sequence[Reduction], runs: int) -> np.ndarray:
    """The wanted numbers of runs with the same instants, a row for each run; NaN where a run has no such column."""
    made = np.full((runs, len(wanted)), np.nan)
    weights = _weights(t)
    for k, (name, take) in enumerate(wanted):
        values = np.broadcast_to(t, (runs, len(t))) if name == "t" else columns.get(name)
        if values is not None and len(t):
            # rows one behind the other, so that each run's sums are made in the same order, whatever is beside it
            made[:, k] = _reduced(np.ascontiguousarray(values), take, weights)
    return made


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
