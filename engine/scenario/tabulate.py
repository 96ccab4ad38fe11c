"""The columns of a result, in families that are rows of a table, in the order of the CSV file.

A family has owners (joints, cuts, points, the whole robot), the names and units of its columns, the condition under
which a scenario wants them, and a function that computes their values from the rows of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from ..dynamics.quantities import energy, frames, reactions
from ..errors import NumericalError
from ..loops.balance import Forces
from ..loops.constraints import Closure
from ..record.columns import WRENCH, Column
from ..robot.joints import ANGLE, LENGTH
from ..robot.model import Joint, Robot

Wrenches = Mapping[str, np.ndarray]  # link → [n; f] of each row, at its origin, in its axes

_UNITS = {ANGLE: "rad", LENGTH: "m"}
_FORCES_FIRST = (3, 4, 5, 0, 1, 2)  # of [n; f], the order of wrenches in the CSV file
_ENERGIES = ("kinetic", "potential", "elastic")


class Table:
    """Columns with their data, in the order of the CSV file."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.data: dict[str, np.ndarray] = {}

    def add(self, column: Column, values: np.ndarray) -> None:
        self.columns.append(column)
        self.data[column.name] = np.asarray(values, dtype=float)


@dataclass
class Rows:
    """The rows of a run, and quantities that several families need, computed once and on demand.

    The rows of many runs that are alike have one more axis in all arrays, the last one, and their energies are `known`.

    The rows of a failed run are kept up to its failure; quantities that can't be computed from them are NaN.
    """

    robot: Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    balance: np.ndarray  # the energy that came in from outside since the first row
    points: Sequence[tuple[str, str]]  # link, and the name of the point
    loops: Closure | None
    forces: Forces | None  # of actuators and ties, where there are loops
    cuts: Wrenches  # wrench of each cut's first link on the second at the cut point, base-frame axes
    loads: Callable[[], Wrenches | None]  # on links: the scenario's, and those of cuts, drives and actuators
    known: Mapping[str, np.ndarray] | None = None  # the energies that `_ENERGIES` names, if they are known already

    @cached_property
    def frames(self) -> Mapping[str, np.ndarray]:
        """The frames of the links."""
        return self._or_nan(lambda: frames(self.robot, self.q), dict.fromkeys(self._links, (4, 4)))

    @cached_property
    def reactions(self) -> Mapping[str, np.ndarray]:
        """The wrench at each joint, in base-frame axes."""
        known = np.isfinite(self.qdd).all(axis=1)
        qdd = np.where(known[:, None], self.qdd, 0.0)
        none = {link.joint.name: (6,) for link in self.robot.links}
        wrenches = self._or_nan(lambda: reactions(self.robot, self.q, self.qd, qdd, self.loads()), none)
        for six in wrenches.values():
            six[~known] = np.nan
        return wrenches

    @cached_property
    def energies(self) -> Mapping[str, np.ndarray]:
        """The parts of the energy, their sum, and the residual of the balance."""
        computed = self.known
        if computed is None:
            computed = self._or_nan(lambda: energy(self.robot, self.q, self.qd), dict.fromkeys(_ENERGIES, ()))
        parts = {key: np.asarray(x, dtype=float) for key, x in computed.items()}
        with np.errstate(all="ignore"):
            total = parts["kinetic"] + parts["potential"] + parts["elastic"]
            return {**parts, "total": total, "residual": total - total[0] - self.balance}

    @property
    def _links(self) -> list[str]:
        return [link.name for link in self.robot.links]

    def _or_nan(
        self, computed: Callable[[], dict[str, np.ndarray]], shapes: Mapping[str, tuple[int, ...]]
    ) -> dict[str, np.ndarray]:
        try:
            return computed()
        except NumericalError:
            return {name: np.full((len(self.q), *shape), np.nan) for name, shape in shapes.items()}


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


def serves_many(rows: Rows, wanted: Callable[[str], bool]) -> bool:
    """Whether the table of all wanted families can be made for many runs at once."""
    others = [row for name, row in FAMILIES.items() if wanted(name) and not row.many]
    return all(row.default is None and not list(row.owners(rows)) for row in others)


def table(rows: Rows, wanted: Callable[[str], bool]) -> Table:
    """The table with the columns of all wanted families."""
    made = Table()
    for column, values in _columns(rows, [row for name, row in FAMILIES.items() if wanted(name)]):
        made.add(column, values)
    return made


def _columns(rows: Rows, families: Sequence[Family]) -> Iterator[tuple[Column, np.ndarray]]:
    for owners, group in groupby(families, key=lambda family: family.owners):
        alike = list(group)
        for owner in owners(rows):
            for family in alike:
                values = family.values(rows, owner)
                yield from ((column, values[:, k]) for k, column in enumerate(family.columns(rows, owner)))


def together(wrenches: Wrenches | None, more: Wrenches) -> dict[str, np.ndarray]:
    """The sums of two sets of wrenches on links."""
    summed = dict(wrenches or {})
    for link, six in more.items():
        summed[link] = summed[link] + six if link in summed else six
    return summed


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


def _actuators(rows: Rows) -> Iterator[tuple[int, Any]]:
    """The actuators that belong to no joint, with their places among all forces."""
    return enumerate(rows.robot.actuators if rows.forces is not None else (), start=len(rows.robot.driven))


def _actuator_columns(rows: Rows, actuator: tuple[int, Any]) -> list[Column]:
    one = actuator[1]
    return [Column(f"{one.name}.force", "N m" if one.moment else "N", "force", one.name, f"{one.name}.force")]


def _actuator_forces(rows: Rows, actuator: tuple[int, Any]) -> np.ndarray:
    assert rows.forces is not None
    return rows.forces.actuated[:, [actuator[0]]]


def _drives(rows: Rows) -> Iterable[tuple[Any, int]]:
    """The ties of drives, with their rows among the multipliers."""
    loops, forces = rows.loops, rows.forces
    if loops is None or forces is None or forces.multipliers.shape[1] != loops.m:
        return ()
    return zip(loops.ties[len(loops.ties) - loops.drives :], loops.driven_rows())


def _drive_columns(rows: Rows, drive: tuple[Any, int]) -> list[Column]:
    name = drive[0].name
    return [Column(f"{name}.force", "N", "force", name, f"{name}.force")]


def _drive_forces(rows: Rows, drive: tuple[Any, int]) -> np.ndarray:
    assert rows.forces is not None
    return rows.forces.multipliers[:, [drive[1]]]


def _cut_columns(rows: Rows, name: str) -> list[Column]:
    return _wrench_columns(name, "lambda")


# ---- reactions, points, energy


def _reaction_columns(rows: Rows, name: str) -> list[Column]:
    return _wrench_columns(name, "reaction")


def _wrench_columns(owner: str, suffix: str) -> list[Column]:
    """The six columns of a wrench, force first."""
    components = [WRENCH[k] for k in _FORCES_FIRST]
    units = ["N" if component[0] == "f" else "N m" for component in components]
    return [
        Column(f"{owner}.{suffix}.{component}", unit, "reaction", owner, f"{owner} {component}")
        for component, unit in zip(components, units)
    ]


def _point_columns(rows: Rows, point: tuple[str, str]) -> list[Column]:
    owner = ".".join(point)
    return [Column(f"{owner}.{axis}", "m", "point", owner, f"{owner}.{axis}") for axis in "xyz"]


def _point_places(rows: Rows, point: tuple[str, str]) -> np.ndarray:
    link, name = point
    at = np.array([*rows.robot.link(link).points[name], 1.0])
    place: np.ndarray = rows.frames[link] @ at
    return place[:, :3]


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
    "actuators": Family("forces of actuators that are no joint's", _actuators, _actuator_columns, _actuator_forces),
    "drives": Family("forces of drives along what they drive", _drives, _drive_columns, _drive_forces),
    "cuts": Family(
        "wrenches in the cuts",
        lambda rows: rows.cuts,
        _cut_columns,
        lambda rows, name: rows.cuts[name][:, _FORCES_FIRST],
    ),
    "reactions": Family(
        "reactions in the joints",
        lambda rows: rows.reactions,
        _reaction_columns,
        lambda rows, name: rows.reactions[name][:, _FORCES_FIRST],
        default=False,
    ),
    "points": Family("places of the points that are named", lambda rows: rows.points, _point_columns, _point_places),
    "energy": Family(
        "energies and their balance",
        lambda rows: [rows.robot],
        _energy_columns,
        lambda rows, robot: np.stack(list(rows.energies.values()), axis=1),
        default=True,
        many=True,
    ),
}
