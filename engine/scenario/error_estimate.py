"""The error of an integrated run, estimated by a second run with a tenth of its tolerances, or half its fixed step.

A closed loop and a balanced energy say that the equations hold in each row, not that the rows are those of the true
motion: errors of many steps add up, and grow where neighbouring motions part. What two runs differ by is as large as
the error of the coarser one, for the finer one's is several times smaller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..record import Column
from .plan import Plan

FINER = 10.0  # times smaller tolerances
TURN = 0.1  # rad, from which on an angle is said to be lost
SHARE = 0.1  # of a column's range, likewise
FAINT = 1e-3  # of the largest range of its unit and family: a column with less is measured by that
LEAST = 1e-9  # in SI: numbers that vary by less are rounding
BALANCE = ("energy.total", "energy.residual")  # which may be constant but for the error, and are judged by themselves
Table = Mapping[str, np.ndarray]


def plan_with_finer_steps(plan: Plan) -> Plan:
    """The same run with a tenth of the tolerances, and half the step of a method whose step is fixed."""
    solver = plan.solver
    step = None if solver.step is None else solver.step / 2
    most = solver.max_steps * (2 if step is not None else FINER)  # what the user bounds is the run that he asked for
    finer = replace(solver, rtol=solver.rtol / FINER, atol=solver.atol / FINER, step=step, max_steps=int(most))
    return replace(plan, solver=finer)


def estimated_error(
    plan: Plan, columns: Sequence[Column], t: np.ndarray, table: Table, finer_t: np.ndarray, finer: Table
) -> dict[str, Any]:
    """The entry `error` of a record: what the columns of a run and of the finer one differ by.

    `doubtful` is the first row in which an angle is off by `TURN`, or another number by `SHARE` of its column's range.
    """
    solver = plan_with_finer_steps(plan).solver
    alike = min(len(t), len(finer_t))
    rows = int(np.append(t[:alike] == finer_t[:alike], False).argmin())  # the rows before one of them ended
    judged = [one for one in columns if one.name in finer and one.name not in BALANCE]
    off = {one.name: abs(table[one.name][:rows] - finer[one.name][:rows]) for one in judged}
    limits = _limits(judged, table)
    first = {one.name: int(np.append(off[one.name] > limits[one.name], True).argmax()) for one in judged}
    earliest = min(judged, key=lambda one: first[one.name], default=None)
    doubtful = None
    if earliest is not None and (n := first[earliest.name]) < rows:
        doubtful = {"t": float(t[n]), "column": earliest.name, "difference": float(off[earliest.name][n])}
    kept = {
        one.name: {
            "end": float(off[one.name][-1]),
            "largest": float(off[one.name].max()),
            "t": float(t[off[one.name].argmax()]),
            "limit": limits[one.name],
            "unit": one.unit,
        }
        for one in judged
        if rows
    }
    return {
        "rtol": solver.rtol,
        "atol": solver.atol,
        "step": solver.step,
        "rows": rows,
        "until": float(t[rows - 1]) if rows else None,
        "doubtful": doubtful,
        "columns": kept,
    }


def _limits(columns: Sequence[Column], table: Table) -> dict[str, float]:
    """What each column may be off by before it is said to be lost."""
    ranges = {one.name: float(np.ptp(table[one.name])) if len(table[one.name]) else 0.0 for one in columns}
    widest: dict[tuple[str, str], float] = {}
    for one in columns:
        widest[one.kind] = max(widest.get(one.kind, LEAST), ranges[one.name])
    shares = {one.name: SHARE * max(ranges[one.name], FAINT * widest[one.kind]) for one in columns}
    return {one.name: TURN if one.unit == "rad" else max(shares[one.name], SHARE * LEAST) for one in columns}


def error_sentences(error: Mapping[str, Any] | None) -> list[str]:
    """The estimate in words: what is off most at the end and anywhere, and from where on all is lost."""
    if error is None:
        return []
    columns, doubtful = error["columns"], error["doubtful"]
    if not columns:
        return ["error not estimated: the finer run has no rows beside those of this one"]

    def worst(key: str) -> str:
        name = max(columns, key=lambda name: columns[name][key] / columns[name]["limit"])
        at = error["until"] if key == "end" else columns[name]["t"]
        return f"{name} {columns[name][key]:.2g} {columns[name]['unit']} at t = {at:g} s"

    by = f"steps of {error['step']:.3g} s" if error["step"] is not None else f"rtol {error['rtol']:.3g}"
    said = [f"error, estimated by a run with {by}: {worst('end')}; at most {worst('largest')}"]
    if doubtful is not None:
        off = f"{doubtful['column']} is off by {doubtful['difference']:.2g} {columns[doubtful['column']]['unit']}"
        said.append(f"from t = {doubtful['t']:g} s on these numbers can't be trusted: {off} there")
    return said
