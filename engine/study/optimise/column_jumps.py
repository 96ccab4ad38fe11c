"""What jumps in the columns of a run, and whether it does so at other instants with other numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...record import Column
from ...scenario import Plan
from ...simulate import NoTangentsError
from ...simulate.jumps import Jump, jumps_of_dry_friction, jumps_of_forces, jumps_of_formula
from ...text.expressions import TIME, names_in_formula

OF_MOTION = ("position", "speed", "acceleration", "point", "point velocity", "point acceleration")  # families


class Columns(NamedTuple):
    """The columns of a run, and their values by name."""

    columns: Sequence[Column]
    data: Mapping[str, np.ndarray]


def jumps_of_columns(plan: Plan, names: set[str], t: np.ndarray, table: Mapping[str, np.ndarray]) -> list[Jump]:
    """What jumps in the formulas of columns with these names, and of those that they read."""
    made, formulas = list[Jump](), {one.name: one for one in plan.formulas}
    asked = [name for name in formulas if name in names]
    for name in asked:
        column = formulas[name]
        asked += [one.name for one in names_in_formula(column.formula) if one.name in {*formulas} - {*asked}]
        made += jumps_of_formula(f"`{name}`", column.formula, t, {**table, TIME: t}, dict(column.curves))
    return made


def jumps_along_given_motion(plan: Plan, names: set[str], t: np.ndarray, made: Columns) -> list[Jump]:
    """What jumps in these columns along a motion that is given, also in the forces behind them."""
    return [*jumps_of_columns(plan, names, t, made.data), *jumps_of_loads(plan, names, t, made, laws=True)]


def jumps_of_loads(plan: Plan, names: set[str], t: np.ndarray, made: Columns, *, laws: bool) -> list[Jump]:
    """What jumps in the dry friction of joints that follow given motions, and with `laws` in all force laws."""
    if all(one.family in OF_MOTION for one in made.columns if one.name in names):
        return []
    q, qd = (np.array([made.data[name] for name in plan.robot.columns(x)]).T for x in ("coordinates", "speeds"))
    return [*(jumps_of_forces(plan.system, t, q, qd) if laws else ()), *jumps_of_dry_friction(plan.system, qd)]


def refuse_jumps_that_move(here: Sequence[Jump], there: Sequence[Jump]) -> None:
    """Raises an error if something jumps at another instant in a run with other numbers."""
    for one, other in zip(here, there):
        if one.moves(other):
            raise NoTangentsError(f"{one.words}, and the instant of that depends on the numbers")
