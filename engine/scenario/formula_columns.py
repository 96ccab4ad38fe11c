"""Columns that are formulas over other columns and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..machine.program.formulas import Curve, formula_value_on_scalars
from ..machine.program.scalars import as_samples
from ..record import Column
from ..text.expressions import TIME, Formula, Lookup, names_in_formula
from .tabulate import Table

FAMILY = "expression"


@dataclass(frozen=True)
class FormulaColumn:
    """A column with its formula in SI, its unit, and how large that is in SI."""

    name: str
    formula: Formula
    unit: str
    size: float
    curves: tuple[tuple[Lookup, Curve], ...] = ()


def add_formula_columns(table: Table, t: np.ndarray, columns: Sequence[FormulaColumn]) -> None:
    """Adds the columns to a table over the instants `t`; a column that names one that isn't there has no numbers."""
    for column in columns:
        shape = np.broadcast_shapes(t.shape, *(x.shape for x in table.data.values()))
        known = {one.name: table.data.get(one.name, np.full(shape, np.nan)) for one in names_in_formula(column.formula)}
        with np.errstate(all="ignore"):
            values = formula_value_on_scalars(column.formula, {**known, TIME: t}, dict(column.curves))
        made = np.broadcast_to(as_samples(values), shape) / column.size
        table.add(Column(column.name, column.unit, FAMILY, column.name, column.name), made)
