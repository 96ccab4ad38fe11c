"""The quantities of which rows of a result are made, by their names: from compiled code, and from evaluations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ..errors import NumericalError
from ..mechanics.closure import TINY, constraint_null_space
from ..mechanics.mechanisms import least_loop_effort
from ..robot import Effort
from .equations import Evaluation
from .recorded import held_speeds_with_supports
from .systems.discrete import Discrete
from .systems.system import System

STIFF = 1e3  # scale of a pure stop's support, relative to the largest break-away force
ROW_FIELDS = ("q", "qd", "qdd", "tau", "resistance")  # the fields of an evaluation from which rows of a result are made


def _cuts(system: System) -> tuple[int, ...]:
    """The places at which the quantities begin and end in a program's output `row`."""
    nq, nv = system.robot.nq, system.robot.nv
    return (0, nq, *(nq + k * nv for k in range(1, 5)))


def evaluation_from_code(system: System, discrete: Discrete, rate: np.ndarray, row: np.ndarray) -> Evaluation:
    """An evaluation from the arrays that compiled code has filled."""
    values, cuts = row.tolist(), _cuts(system)
    q, qd, qdd, tau, resistance = (values[a:b] for a, b in pairwise(cuts))
    support = dict(zip(held_speeds_with_supports(system, discrete), values[cuts[-1] :]))
    return Evaluation(q, qd, qdd, tau, resistance, support, float(rate[-2]), float(rate[-1]))


def rows_from_code(system: System, row: np.ndarray) -> dict[str, np.ndarray]:
    """The quantities of many instants from an array that compiled code has filled."""
    return {name: row[:, a:b].copy() for name, (a, b) in zip(ROW_FIELDS, pairwise(_cuts(system)))}


def rows_of_evaluation(now: Evaluation, count: int) -> dict[str, np.ndarray]:
    """The quantities of so many instants, evaluated together."""
    rows = {}
    for name in ROW_FIELDS:
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
    return {name: np.array([getattr(row, name) for row in rows], dtype=float) for name in ROW_FIELDS}


def share_supports_in_rows(system: System, discrete: Discrete, rows: dict[str, np.ndarray]) -> None:
    """Writes the support of every held joint into the rows where the equations don't determine it."""
    if not discrete.kept or discrete.sharing:
        return
    still = list(discrete.still)
    for q, resistance in zip(rows["q"], rows["resistance"]):
        resistance[still] = shares_of_held_speeds(system, discrete, q, resistance[still])


def shares_of_held_speeds(system: System, discrete: Discrete, q: np.ndarray, supports: np.ndarray) -> np.ndarray:
    """The shares of all held speeds in what these supports hold, within the limits where that is possible.

    Where more joints are held than there are freedoms, mechanics doesn't determine their supports: all s with
    Nᵀ E s = b will do, where N are the motions that the loops allow and E are the held speeds. Chosen is the s with the
    least sum of squares relative to each joint's break-away force; a pure stop can bear any force. This decides
    nothing: a run goes on by the supports of those joints that bear.
    """
    loops, nv, still = system.loops, system.robot.nv, list(discrete.still)
    rows = np.concatenate([loops.scaled(loops.jacobian(q)[0]), np.eye(nv)[list(system.ruled)]])
    acting = (constraint_null_space(rows) * loops.column_scale[:, None]).T[:, still]
    U, size, Vt = np.linalg.svd(acting, full_matrices=False)
    firm = size > TINY * size.max(initial=1e-300)
    A = Vt[firm]  # without freedoms that no held joint can feel
    load = (U[:, firm] / size[firm]).T @ (acting @ supports)
    ranges = np.array([discrete.held[k] for k in still])
    rough = np.where(np.isfinite(ranges), abs(ranges), 0.0).max(axis=1)
    scale = np.where(rough > 0.0, rough, STIFF * max(rough.max(), 1.0))
    limited = [Effort(low, high, 1.0 / s**2) for (low, high), s in zip(ranges.tolist(), scale.tolist())]
    try:
        return np.array(least_loop_effort(A, load, limited))
    except NumericalError:
        return np.asarray(scale * (np.linalg.pinv(A * scale, rcond=TINY) @ load))
