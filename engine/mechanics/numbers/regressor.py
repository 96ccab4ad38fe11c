"""The regressor: inverse dynamics is linear in the robot's inertial and joint numbers, and these are its columns.

A column is the tangent of inverse dynamics along its number, recorded from the recursion's own text; since that is
linear, the numbers' values don't enter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from ...errors import InputError
from ...machine.program import Dual, Scalar, dual_derivative
from ...robot import Body, Drive, Robot
from ..tree.spatial import Matrix
from ..tree.sweeps import sweep_tree
from .inertial import INERTIAL, INERTIAL_NAMES, inertial_numbers, tree_bodies_with_inertial_numbers

# of each speed: inertia of the rotor, viscous and dry friction, a constant force; stiffness where there is a spring
OF_SPEED = ("rotor", "viscous", "coulomb", "offset")
STIFFNESS = "stiffness"


def parameters(robot: Robot) -> dict[str, float]:
    """Names and values of all numbers that inverse dynamics is linear in, in the order of the regressor's columns.

    Of each link: its mass `m`; `mx`, `my`, `mz`, mass times mass centre; moments and products of inertia `Ixx`, `Iyy`,
    `Izz`, `Ixy`, `Ixz`, `Iyz` about its origin; all in its axes.  Then of each joint `rotor`, `viscous`, `coulomb`,
    `offset` (a constant force) and, with a spring, `stiffness`; the rest of a spring is in `offset`, −stiffness · rest.
    Of joints with several speeds, each has its own, such as `j.qd1.rotor`.
    """
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    result: dict[str, float] = {}
    for link in robot.links:
        i, seat = robot.parts.seats[link.name]
        assert i is not None  # every link is a body of its own there
        R: Matrix = [[float(x) for x in row] for row in seat.rotation()]
        values = inertial_numbers(robot.parts.bodies[i], R)
        result.update((f"{link.name}.{name}", float(x)) for name, x in zip(INERTIAL_NAMES, values))  # type: ignore[arg-type]
    for prefix, _, drive in regressor_speeds(robot):
        own = (drive.rotor, drive.viscous, drive.coulomb, -drive.stiffness * drive.rest, drive.stiffness)
        result.update((f"{prefix}.{name}", float(x) + 0.0) for name, x in zip(names_of_regressor_numbers(drive), own))
    return result


def regressor_width(robot: Robot) -> int:
    """The number of the regressor's columns."""
    return INERTIAL * len(robot.links) + sum(
        len(names_of_regressor_numbers(drive)) for _, _, drive in regressor_speeds(robot)
    )


def names_of_regressor_numbers(drive: Drive) -> tuple[str, ...]:
    """The names of a speed's numbers."""
    return (*OF_SPEED, STIFFNESS) if drive.stiffness else OF_SPEED


def regressor_speeds(robot: Robot) -> Iterator[tuple[str, int, Drive]]:
    """Of each speed what the names of its numbers begin with, its place, and its drive."""
    for joint in robot.moving:
        several = len(joint.speeds) > 1
        for k, suffix, drive in zip(joint.speeds, joint.type.speeds, joint.drives):
            yield f"{joint.name}.{suffix}" if several else joint.name, k, drive


def regressor_entries(robot: Robot, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """The entries of the regressor, row by row."""
    tau, columns = regressor_tangents(robot, q, qd, qdd), range(regressor_width(robot))
    return [dual_derivative(x, column) for x in tau for column in columns]


def regressor_tangents(robot: Robot, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """The forces of a motion without wrenches as dual numbers, with a direction for each column; their values are 0."""
    column = count()

    def unit(_: Scalar = 0.0) -> Dual:
        return Dual(0.0, {next(column): 1.0})

    bodies, _ = tree_bodies_with_inertial_numbers(robot, unit)
    drives: dict[int, Drive] = {}
    offsets: dict[int, Dual] = {}
    for _, k, drive in regressor_speeds(robot):
        rotor, viscous, coulomb, offsets[k] = (unit() for _ in OF_SPEED)
        stiffness = unit() if drive.stiffness else 0.0
        numbers = {"rotor": rotor, "viscous": viscous, "coulomb": coulomb, "stiffness": stiffness, "rest": 0.0}
        drives[k] = replace(drive, **numbers, pulls=())  # type: ignore[arg-type]
    given: list[Body] = [replace(body, drives=tuple(drives[k] for k in body.speeds)) for body in bodies]
    tau, _ = sweep_tree(given, robot.gravity, q, qd, qdd, (True,) * robot.nv)
    return [x + offsets[k] for k, x in enumerate(tau)]
