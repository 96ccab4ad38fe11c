"""Programs of one robot that can be counted, compiled and exported: rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..machine.program.scalars import Scalar
from ..machine.program.trace import Program, Recording
from ..robot.model import Body, Robot
from .dense import inertia_matrix
from .kinematics import link_placements
from .regroup import regrouped
from .sweeps import dynamics
from .wrenches import constant_wrenches, on_bodies

Bodies = tuple[Body, ...]


@dataclass(frozen=True)
class Quantity:
    """What a program computes: names of its inputs and of its output, and how it is recorded."""

    about: str
    inputs: tuple[str, ...]
    output: str
    record: Callable[..., list[Scalar]]


def _mixed(
    robot: Robot, bodies: Bodies, motion: bool, q: list[Scalar], qd: list[Scalar], x: list[Scalar]
) -> list[Scalar]:
    on, loads = on_bodies(robot.tree, constant_wrenches(robot))
    return dynamics(bodies, robot.gravity, q, qd, x, (motion,) * robot.nv, on, loads)[0]


def _idyn(robot: Robot, bodies: Bodies, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
    return _mixed(robot, bodies, True, q, qd, qdd)


def _fdyn(robot: Robot, bodies: Bodies, q: list[Scalar], qd: list[Scalar], tau: list[Scalar]) -> list[Scalar]:
    return _mixed(robot, bodies, False, q, qd, tau)


def _bias(robot: Robot, bodies: Bodies, q: list[Scalar], qd: list[Scalar]) -> list[Scalar]:
    return _mixed(robot, bodies, True, q, qd, [0.0] * robot.nv)


def _inertia(robot: Robot, bodies: Bodies, q: list[Scalar]) -> list[Scalar]:
    return [x for row in inertia_matrix(bodies, q, robot.nv) for x in row]


def _kinematics(robot: Robot, bodies: Bodies, q: list[Scalar]) -> list[Scalar]:
    found: list[Scalar] = []
    for R, p in link_placements(robot, q):
        for r in range(3):
            found += [*R[r], p[r]]
    return found


PROGRAMS = {
    "idyn": Quantity("joint forces of a motion (inverse dynamics)", ("q", "qd", "qdd"), "tau", _idyn),
    "fdyn": Quantity("accelerations under joint forces (forward dynamics)", ("q", "qd", "tau"), "qdd", _fdyn),
    "inertia": Quantity("generalized inertia matrix, row by row", ("q",), "inertia", _inertia),
    "bias": Quantity("Coriolis, centrifugal, gravity, friction and spring forces", ("q", "qd"), "h", _bias),
    "kinematics": Quantity("of each link the rows of [R | p] in the base, 12 numbers", ("q",), "frames", _kinematics),
}


def program(robot: Robot, what: str, *, regroup: bool = True) -> Program:
    """The recorded program of this name; with `regroup`, from fewer inertial numbers."""
    row = PROGRAMS[what]
    recording = Recording(what)
    groups = [recording.input(name, robot.nq if name == "q" else robot.nv) for name in row.inputs]
    bodies = regrouped(robot.tree.bodies) if regroup else robot.tree.bodies
    return recording.program(**{row.output: row.record(robot, bodies, *groups)})
