"""The columns of a result, in families that are rows of a table, in the order of the CSV file.

A family has owners (joints, cuts, points, the whole robot), the names and units of its columns, the condition under
which a scenario wants them, and a function that computes their values from the rows of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from ..machine.program import Curve, as_samples, formula_value_on_scalars
from ..record import Column
from ..robot import ANGLE, LENGTH, Joint, Robot
from ..text.expressions import TIME, Formula, Lookup, names_in_formula
from . import wrench_columns
from .rows import Point, Rows

POINTS, JOINTS = attrgetter("points"), attrgetter("robot.moving")  # owners of columns

# what columns of points show → the beginnings of the three suffixes, the unit, and the family in plots
_OF_POINTS = {
    "place": ("", "m", "point"),
    "velocity": ("v", "m/s", "point velocity"),
    "acceleration": ("a", "m/s²", "point acceleration"),
}
# families in plots of columns of joints → where a joint's type has the suffixes, units of what slides and what turns
_OF_JOINTS = {
    "speed": ("speeds", ("m/s", "rad/s")),
    "acceleration": ("accelerations", ("m/s²", "rad/s²")),
    "force": ("forces", ("N", "N m")),
}
_UNITS = {ANGLE: "rad", LENGTH: "m"}
FAMILY = "expression"
Acting = tuple[str, str, str, int]  # who acts, its force's unit, and where that is among the `Forces`


def columns_of_owner(owner: str, suffixes: Iterable[str], units: Iterable[str], family: str) -> list[Column]:
    """The columns of an owner, one for each suffix."""
    names = [f"{owner}.{suffix}" for suffix in suffixes]
    return [Column(name, unit, family, owner, name) for name, unit in zip(names, units)]


def point_columns(kind: str, rows: Rows, point: Point) -> list[Column]:
    """The three columns of a point's place, velocity or acceleration."""
    beginning, unit, family = _OF_POINTS[kind]
    return columns_of_owner(".".join(point), [f"{beginning}{axis}" for axis in "xyz"], [unit] * 3, family)


def point_values(kind: str, rows: Rows, point: Point) -> np.ndarray:
    """The values of these columns."""
    if kind != "place":
        return rows.point_rates[point][kind == "acceleration"]
    link, name = point
    at = np.array([*rows.robot.link(link).points[name], 1.0])
    place: np.ndarray = rows.frames[link] @ at
    return place[:, :3]


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
                values = cache(partial(family.values, rows, owner))
                yield from ((column, partial(_one, values, k)) for k, column in enumerate(family.columns(rows, owner)))


def _one(values: Callable[[], np.ndarray], k: int) -> np.ndarray:
    column: np.ndarray = values()[:, k]
    return column


# ---- joints


def position_columns(rows: Rows, joint: Joint) -> list[Column]:
    """The columns of a joint's coordinates."""
    units = [_UNITS.get(kind, "1") for kind in joint.type.kinds]
    return columns_of_owner(joint.name, joint.type.coordinates, units, "position")


def speed_columns(family: str, rows: Rows, joint: Joint) -> list[Column]:
    """The columns of what each of a joint's speeds has: itself, an acceleration, a force.

    Forces of a mechanism's passive joints are of a family that isn't drawn.
    """
    suffixes, units = _OF_JOINTS[family]
    columns = columns_of_owner(
        joint.name, getattr(joint.type, suffixes), [units[turning] for turning in joint.type.turning], family
    )
    if family != "force" or joint.actuated or not rows.robot.tied:
        return columns
    return [one if rows.tau[:, k].any() else replace(one, family="no force") for k, one in zip(joint.speeds, columns)]


def joint_values(array: str, places: str, rows: Rows, joint: Joint) -> np.ndarray:
    """The columns of a joint in an array of the rows."""
    values: np.ndarray = getattr(rows, array)[:, list(getattr(joint, places))]
    return values


# ---- loops


def actuators_with_columns(rows: Rows) -> Iterator[Acting]:
    """The actuators that belong to no joint."""
    others = rows.robot.actuators if rows.forces is not None else ()
    for k, one in enumerate(others, start=len(rows.robot.driven)):
        yield one.name, "N m" if one.moment else "N", "actuated", k


def drives_with_columns(rows: Rows) -> Iterator[Acting]:
    """The drives."""
    loops, forces = rows.loops, rows.forces
    if forces is not None and forces.multipliers.shape[1] == loops.m:
        for tie, k in zip(loops.ties[len(loops.ties) - loops.drives :], loops.driven_rows()):
            yield tie.name, "N", "multipliers", k


def acting_columns(rows: Rows, acting: Acting) -> list[Column]:
    """The column of such a force."""
    return columns_of_owner(acting[0], ["force"], [acting[1]], "force")


def acting_forces(rows: Rows, acting: Acting) -> np.ndarray:
    """Its values."""
    values: np.ndarray = getattr(rows.forces, acting[2])[:, [acting[3]]]
    return values


# ---- energy


def _energy_columns(rows: Rows, robot: Robot) -> list[Column]:
    panels = {"residual": "residual"}  # which is too small to be seen beside the energies
    return [Column(f"energy.{key}", "J", "energy", panels.get(key, "energy"), key) for key in rows.energies]


FAMILIES = {
    "positions": Family(
        "coordinates of joints", JOINTS, position_columns, partial(joint_values, "q", "coordinates"), many=True
    ),
    "speeds": Family(
        "their speeds", JOINTS, partial(speed_columns, "speed"), partial(joint_values, "qd", "speeds"), many=True
    ),
    "accelerations": Family(
        "their accelerations",
        JOINTS,
        partial(speed_columns, "acceleration"),
        partial(joint_values, "qdd", "speeds"),
        many=True,
    ),
    "torques": Family(
        "forces of joints among the columns",
        JOINTS,
        partial(speed_columns, "force"),
        partial(joint_values, "tau", "speeds"),
        default=True,
        many=True,
    ),
    "actuators": Family(
        "forces of actuators that are no joint's", actuators_with_columns, acting_columns, acting_forces, many=True
    ),
    "drives": Family(
        "forces of drives along what they drive", drives_with_columns, acting_columns, acting_forces, many=True
    ),
    "cuts": Family(
        "wrenches in the cuts",
        attrgetter("cuts"),
        partial(wrench_columns.columns_of_wrench, wrench_columns.CUT),
        wrench_columns.cut_column_values,
        many=True,
    ),
    "reactions": Family(
        "reactions in the joints",
        wrench_columns.joints_with_columns,
        partial(wrench_columns.columns_of_wrench, wrench_columns.REACTION),
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
        "places of the points that are named", POINTS, partial(point_columns, "place"), partial(point_values, "place")
    ),
    "point_velocities": Family(
        "their velocities", POINTS, partial(point_columns, "velocity"), partial(point_values, "velocity"), default=False
    ),
    "point_accelerations": Family(
        "their accelerations",
        POINTS,
        partial(point_columns, "acceleration"),
        partial(point_values, "acceleration"),
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
