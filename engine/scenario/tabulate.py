"""The columns of a result, in families that are rows of a table, in the order of the CSV file.

A family has owners (joints, cuts, points, the whole robot), the names and units of its columns, the condition under
which a scenario wants them, and a function that computes their values from the rows of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from ..machine.program.formulas import Curve, formula_value_on_scalars
from ..machine.program.scalars import as_samples
from ..record import Column
from ..robot import ANGLE, LENGTH, Actuator, Joint, Robot
from ..text.expressions import TIME, Formula, Lookup, names_in_formula
from . import wrench_columns
from .rows import Point, Rows

# what a column shows → the beginnings of the three suffixes, the unit, and the family in plots
_KINDS = {
    "place": ("", "m", "point"),
    "velocity": ("v", "m/s", "point velocity"),
    "acceleration": ("a", "m/s²", "point acceleration"),
}
_UNITS = {ANGLE: "rad", LENGTH: "m"}
FAMILY = "expression"


def named_scenario_points(rows: Rows) -> Sequence[Point]:
    """The points that the scenario names."""
    return rows.points


def point_columns(kind: str) -> Callable[[Rows, Point], list[Column]]:
    """The function that gives the three columns of a point's place, velocity or acceleration."""
    beginning, unit, family = _KINDS[kind]

    def of_point(rows: Rows, point: Point) -> list[Column]:
        owner = ".".join(point)
        names = [f"{owner}.{beginning}{axis}" for axis in "xyz"]
        return [Column(name, unit, family, owner, name) for name in names]

    return of_point


def places_of_scenario_point(rows: Rows, point: Point) -> np.ndarray:
    """The places of a point."""
    link, name = point
    at = np.array([*rows.robot.link(link).points[name], 1.0])
    place: np.ndarray = rows.frames[link] @ at
    return place[:, :3]


def velocities_of_scenario_point(rows: Rows, point: Point) -> np.ndarray:
    """The velocities of a point."""
    return rows.point_rates[point][0]


def accelerations_of_scenario_point(rows: Rows, point: Point) -> np.ndarray:
    """The accelerations of a point."""
    return rows.point_rates[point][1]


class Table:
    """Columns with their data, in the order of the CSV file."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.data: dict[str, np.ndarray] = {}

    def add(self, column: Column, values: np.ndarray) -> None:
        self.columns.append(column)
        self.data[column.name] = np.asarray(values, dtype=float)


@dataclass(frozen=True)
class Family:
    """A row of the table of columns.

    Each of its `owners` has `columns` (with names, units, and the family by which plots select them) and `values`, an
    array with one column for each of these. Neighbouring rows with the same `owners` are interleaved: all columns of
    the first owner, then all of the second.

    With a `default` of True or False, the family's name is a key of the scenario's section `record`, with this default.
    Otherwise the family is present if it has owners.
    """

    about: str
    owners: Callable[[Rows], Iterable[Any]]
    columns: Callable[[Rows, Any], Sequence[Column]]
    values: Callable[[Rows, Any], np.ndarray]
    default: bool | None = None
    many: bool = False  # whether the values follow from the rows and known energies alone, for many runs at once


def column_families_serve_many(rows: Rows, wanted: Callable[[str], bool]) -> bool:
    """Whether the table of all wanted families can be made for many runs at once."""
    if rows.turned and rows.cuts:  # which takes the frames of links
        return False
    others = [row for name, row in FAMILIES.items() if wanted(name) and not row.many]
    return all(row.default is None and not list(row.owners(rows)) for row in others)


def table_of_column_families(rows: Rows, wanted: Callable[[str], bool]) -> Table:
    """The table with the columns of all wanted families."""
    made = Table()
    for column, values in columns_of_families(rows, wanted):
        made.add(column, values())
    return made


def columns_of_families(rows: Rows, wanted: Callable[[str], bool]) -> Iterator[tuple[Column, Callable[[], np.ndarray]]]:
    """The columns of all wanted families, and functions that compute their values."""
    families = [row for name, row in FAMILIES.items() if wanted(name)]
    for owners, group in groupby(families, key=lambda family: family.owners):
        alike = list(group)
        for owner in owners(rows):
            for family in alike:
                values = _once(partial(family.values, rows, owner))
                yield from ((column, partial(_one, values, k)) for k, column in enumerate(family.columns(rows, owner)))


def _once(compute: Callable[[], np.ndarray]) -> Callable[[], np.ndarray]:
    """The function, which computes its array at the first call."""
    found: list[np.ndarray] = []

    def values() -> np.ndarray:
        if not found:
            found.append(compute())
        return found[0]

    return values


def _one(values: Callable[[], np.ndarray], k: int) -> np.ndarray:
    column: np.ndarray = values()[:, k]
    return column


# ---- joints


def _joints(rows: Rows) -> Sequence[Joint]:
    return rows.robot.moving


def _position_columns(rows: Rows, joint: Joint) -> list[Column]:
    units = [_UNITS.get(kind, "1") for kind in joint.type.kinds]
    return _joint_columns(joint, joint.type.coordinates, units, "position")


def _speed_columns(rows: Rows, joint: Joint) -> list[Column]:
    units = ["rad/s" if turning else "m/s" for turning in joint.type.turning]
    return _joint_columns(joint, joint.type.speeds, units, "speed")


def _acceleration_columns(rows: Rows, joint: Joint) -> list[Column]:
    units = ["rad/s²" if turning else "m/s²" for turning in joint.type.turning]
    return _joint_columns(joint, joint.type.accelerations, units, "acceleration")


def _torque_columns(rows: Rows, joint: Joint) -> list[Column]:
    """The columns of joint forces; those of a mechanism's passive joints are of a family that isn't drawn."""
    units = ["N m" if turning else "N" for turning in joint.type.turning]
    columns = []
    for k, column in zip(joint.speeds, _joint_columns(joint, joint.type.forces, units, "force")):
        none = rows.robot.tied and not joint.actuated and not rows.tau[:, k].any()
        columns.append(Column(column.name, column.unit, "no force", column.owner, column.label) if none else column)
    return columns


def _joint_columns(joint: Joint, suffixes: Sequence[str], units: Sequence[str], family: str) -> list[Column]:
    """The columns of a joint, one for each suffix."""
    names = [f"{joint.name}.{suffix}" for suffix in suffixes]
    return [Column(name, unit, family, joint.name, name) for name, unit in zip(names, units)]


# ---- loops


def _actuators(rows: Rows) -> Iterator[tuple[int, Actuator]]:
    """The actuators that belong to no joint, with their places among all forces."""
    return enumerate(rows.robot.actuators if rows.forces is not None else (), start=len(rows.robot.driven))


def _actuator_columns(rows: Rows, actuator: tuple[int, Actuator]) -> list[Column]:
    one = actuator[1]
    return [Column(f"{one.name}.force", "N m" if one.moment else "N", "force", one.name, f"{one.name}.force")]


def _actuator_forces(rows: Rows, actuator: tuple[int, Actuator]) -> np.ndarray:
    assert rows.forces is not None
    return rows.forces.actuated[:, [actuator[0]]]


def _drives(rows: Rows) -> Iterable[tuple[Any, int]]:
    """The ties of drives, with their rows among the multipliers."""
    loops, forces = rows.loops, rows.forces
    if forces is None or forces.multipliers.shape[1] != loops.m:
        return ()
    return zip(loops.ties[len(loops.ties) - loops.drives :], loops.driven_rows())


def _drive_columns(rows: Rows, drive: tuple[Any, int]) -> list[Column]:
    name = drive[0].name
    return [Column(f"{name}.force", "N", "force", name, f"{name}.force")]


def _drive_forces(rows: Rows, drive: tuple[Any, int]) -> np.ndarray:
    assert rows.forces is not None
    return rows.forces.multipliers[:, [drive[1]]]


# ---- energy


def _energy_columns(rows: Rows, robot: Robot) -> list[Column]:
    panels = {"residual": "residual"}  # which is too small to be seen beside the energies
    return [Column(f"energy.{key}", "J", "energy", panels.get(key, "energy"), key) for key in rows.energies]


FAMILIES = {
    "positions": Family(
        "coordinates of joints",
        _joints,
        _position_columns,
        lambda rows, joint: rows.q[:, list(joint.coordinates)],
        many=True,
    ),
    "speeds": Family(
        "their speeds",
        _joints,
        _speed_columns,
        lambda rows, joint: rows.qd[:, list(joint.speeds)],
        many=True,
    ),
    "accelerations": Family(
        "their accelerations",
        _joints,
        _acceleration_columns,
        lambda rows, joint: rows.qdd[:, list(joint.speeds)],
        many=True,
    ),
    "torques": Family(
        "forces of joints among the columns",
        _joints,
        _torque_columns,
        lambda rows, joint: rows.tau[:, list(joint.speeds)],
        default=True,
        many=True,
    ),
    "actuators": Family(
        "forces of actuators that are no joint's", _actuators, _actuator_columns, _actuator_forces, many=True
    ),
    "drives": Family("forces of drives along what they drive", _drives, _drive_columns, _drive_forces, many=True),
    "cuts": Family(
        "wrenches in the cuts",
        wrench_columns.cuts_with_columns,
        wrench_columns.cut_columns,
        wrench_columns.cut_column_values,
        many=True,
    ),
    "reactions": Family(
        "reactions in the joints",
        wrench_columns.joints_with_columns,
        wrench_columns.reaction_columns,
        wrench_columns.reaction_column_values,
        default=False,
    ),
    "resultants": Family(
        "force and moment of the reaction in each joint and cut, and what the ground does to the whole machine",
        wrench_columns.owners_of_resultant_columns,
        wrench_columns.resultant_columns,
        wrench_columns.resultant_column_values,
        default=False,
    ),
    "points": Family(
        "places of the points that are named",
        named_scenario_points,
        point_columns("place"),
        places_of_scenario_point,
    ),
    "point_velocities": Family(
        "their velocities",
        named_scenario_points,
        point_columns("velocity"),
        velocities_of_scenario_point,
        default=False,
    ),
    "point_accelerations": Family(
        "their accelerations",
        named_scenario_points,
        point_columns("acceleration"),
        accelerations_of_scenario_point,
        default=False,
    ),
    "energy": Family(
        "energies and their balance",
        lambda rows: [rows.robot],
        _energy_columns,
        lambda rows, robot: np.stack(list(rows.energies.values()), axis=1),
        default=True,
        many=True,
    ),
}


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
