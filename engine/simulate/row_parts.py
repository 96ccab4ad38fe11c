"""The quantities of which rows of a result are made, by their names: from compiled code, and from evaluations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from .discrete import Discrete
from .equations import Evaluation
from .recorded import held_speeds_with_supports
from .sharing import shared_supports_of_held_speeds
from .system import System

ROW = ("q", "qd", "qdd", "tau", "resistance")  # the fields of an evaluation from which rows of a result are made


def _cuts(system: System) -> tuple[int, ...]:
    """The places at which the quantities begin and end in a program's output `row`."""
    nq, nv = system.robot.nq, system.robot.nv
    return (0, nq, *(nq + k * nv for k in range(1, 5)))


def evaluation_from_code(system: System, discrete: Discrete, rate: np.ndarray, row: np.ndarray) -> Evaluation:
    """An evaluation from the arrays that compiled code has filled."""
    values, cuts = row.tolist(), _cuts(system)
    q, qd, qdd, tau, resistance = (values[a:b] for a, b in pairwise(cuts))
    support = dict(zip(held_speeds_with_supports(system, discrete), values[cuts[-1] :]))
    margin = values[-1] if discrete.sharing else None
    return Evaluation(q, qd, qdd, tau, resistance, support, float(rate[-2]), float(rate[-1]), margin=margin)


def rows_from_code(system: System, row: np.ndarray) -> dict[str, np.ndarray]:
    """The quantities of many instants from an array that compiled code has filled."""
    return {name: row[:, a:b].copy() for name, (a, b) in zip(ROW, pairwise(_cuts(system)))}


def rows_of_evaluation(now: Evaluation, count: int) -> dict[str, np.ndarray]:
    """The quantities of so many instants, evaluated together."""
    rows = {}
    for name in ROW:
        parts = getattr(now, name)
        rows[name] = np.empty((count, len(parts)))
        for k, x in enumerate(parts):
            rows[name][:, k] = x
    return rows


def rows_of_each_evaluation(
    evaluate: Callable[[list[float], np.ndarray], Evaluation], values: np.ndarray, states: np.ndarray
) -> dict[str, np.ndarray]:
    """The quantities of many instants, evaluated one by one from signals and states."""
    rows = [evaluate(row.tolist(), y) for row, y in zip(values, states)]
    return {name: np.array([getattr(row, name) for row in rows], dtype=float) for name in ROW}


def share_supports_in_rows(system: System, discrete: Discrete, rows: dict[str, np.ndarray]) -> None:
    """Writes the support of every held joint into the rows where the equations don't determine it."""
    bearers = held_speeds_with_supports(system, discrete)
    if len(bearers) >= len(discrete.held) or discrete.sharing:
        return
    for q, resistance in zip(rows["q"], rows["resistance"]):
        known = {k: resistance[k] for k in bearers}
        for k, x in shared_supports_of_held_speeds(system, discrete, q, known).items():
            resistance[k] = x
