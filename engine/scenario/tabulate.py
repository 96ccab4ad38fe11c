"""Columns of a result from coordinates, speeds, accelerations and forces over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from ..errors import NumericalError
from ..record.columns import WRENCH, Column
from ..recursion.calls import reactions
from ..recursion.energy import energy
from ..recursion.kinematics import frames
from ..robot.joints import ANGLE, LENGTH
from ..robot.model import Robot
from .plan import Plan

_POSITION_UNIT = {ANGLE: "rad", LENGTH: "m"}


class Table:
    """Columns with their data, in the order of the CSV file."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.data: dict[str, np.ndarray] = {}

    def add(self, column: Column, values: np.ndarray) -> None:
        self.columns.append(column)
        self.data[column.name] = np.asarray(values, dtype=float)


def joint_columns(
    table: Table, robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray, *, torques: bool
) -> None:
    """Each joint's coordinates, speeds, accelerations and forces."""
    for joint in robot.moving:
        row = joint.type
        families = [("position", row.coordinates, joint.coordinates, q), ("speed", row.speeds, joint.speeds, qd)]
        families.append(("acceleration", row.accelerations, joint.speeds, qdd))
        if torques:
            families.append(("force", row.forces, joint.speeds, tau))
        for family, suffixes, places, values in families:
            for i, (suffix, k) in enumerate(zip(suffixes, places)):
                unit = _unit(family, row.kinds[i] if family == "position" else "", row.turning, i)
                # in a mechanism most joints are passive: their columns are there, but not among what is drawn
                none = family == "force" and robot.tied and not joint.actuated and not values[:, k].any()
                kind = "no force" if none else family
                column = Column(f"{joint.name}.{suffix}", unit, kind, joint.name, f"{joint.name}.{suffix}")
                table.add(column, values[:, k])


def _unit(family: str, kind: str, turning: tuple[bool, ...], i: int) -> str:
    if family == "position":
        return _POSITION_UNIT.get(kind, "1")
    if family == "force":
        return "N m" if turning[i] else "N"
    base = "rad" if turning[i] else "m"
    return f"{base}/s" if family == "speed" else f"{base}/s²"


def reaction_columns(
    table: Table,
    plan: Plan,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    wrenches: Mapping[str, np.ndarray] | None,
) -> None:
    """The wrench at every joint, base-frame axes; NaN in a row that has no accelerations."""
    known = np.isfinite(qdd).all(axis=1)
    if not known.all():
        qdd = np.where(known[:, None], qdd, 0.0)
    none = {link.joint.name: (len(q), 6) for link in plan.robot.links}
    for joint, six in _or_nan(lambda: reactions(plan.robot, q, qd, qdd, wrenches), none).items():
        six[~known] = np.nan
        for k in (3, 4, 5, 0, 1, 2):
            name = f"{joint}.reaction.{WRENCH[k]}"
            unit = "N" if k >= 3 else "N m"
            table.add(Column(name, unit, "reaction", joint, f"{joint} {WRENCH[k]}"), six[:, k])


def actuator_columns(table: Table, robot: Robot, forces: np.ndarray) -> None:
    """Forces of actuators that are no joint's."""
    for c, one in enumerate(robot.actuators, start=len(robot.driven)):
        unit = "N m" if one.moment else "N"
        table.add(Column(f"{one.name}.force", unit, "force", one.name, f"{one.name}.force"), forces[:, c])


def cut_columns(table: Table, cuts: Mapping[str, np.ndarray]) -> None:
    """Of each cut, what its first link exerts on the second at the cut point, base-frame axes."""
    for name, six in cuts.items():
        for k in (3, 4, 5, 0, 1, 2):
            unit = "N" if k >= 3 else "N m"
            table.add(Column(f"{name}.lambda.{WRENCH[k]}", unit, "reaction", name, f"{name} {WRENCH[k]}"), six[:, k])


def together(wrenches: Mapping[str, np.ndarray] | None, more: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Wrenches on links, summed."""
    found = dict(wrenches or {})
    for link, six in more.items():
        found[link] = found[link] + six if link in found else six
    return found


def drive_columns(table: Table, plan: Plan, multipliers: np.ndarray) -> None:
    """Forces of the drives along what they drive."""
    loops = plan.system.loops
    if loops is not None and multipliers.shape[1] == loops.m:
        for tie, row in zip(loops.ties[len(loops.ties) - loops.drives :], loops.driven_rows()):
            table.add(Column(f"{tie.name}.force", "N", "force", tie.name, f"{tie.name}.force"), multipliers[:, row])


def point_columns(table: Table, plan: Plan, q: np.ndarray) -> None:
    """Positions of the recorded points in the base."""
    placed = _or_nan(lambda: frames(plan.robot, q), {link.name: (len(q), 4, 4) for link in plan.robot.links})
    for link, point in plan.points:
        at = np.array([*plan.robot.link(link).points[point], 1.0])
        place = placed[link] @ at
        for k, axis in enumerate("xyz"):
            name = f"{link}.{point}.{axis}"
            table.add(Column(name, "m", "point", f"{link}.{point}", name), place[:, k])


def energy_columns(table: Table, robot: Robot, q: np.ndarray, qd: np.ndarray, balance: np.ndarray) -> float | None:
    """Energies and what the balance leaves unexplained; its largest size, None where there are no numbers."""
    none = dict.fromkeys(("kinetic", "potential", "elastic"), (len(q),))
    parts = {key: np.asarray(x, dtype=float) for key, x in _or_nan(lambda: energy(robot, q, qd), none).items()}
    with np.errstate(all="ignore"):
        total = parts["kinetic"] + parts["potential"] + parts["elastic"]
        parts["total"] = total
        parts["residual"] = total - total[0] - balance
    for key, values in parts.items():
        owner = "residual" if key == "residual" else "energy"
        table.add(Column(f"energy.{key}", "J", "energy", owner, key), values)
    largest = float(abs(parts["residual"]).max(initial=0.0))
    return largest if math.isfinite(largest) else None


def _or_nan(found: Callable[[], dict[str, np.ndarray]], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """What is found, or NaN in its place: of a run that failed, the rows up to there are kept whatever they hold."""
    try:
        return found()
    except NumericalError:
        return {name: np.full(shape, np.nan) for name, shape in shapes.items()}
