"""Gradients of forward dynamics: what one weighted sum of the accelerations owes to each number that it was made of.

One way back through the recursion gives Σ λ ∂q̈ along all coordinates, speeds and forces, and along the inertial
numbers of all links, for the cost of a few evaluations; `derivatives.py` goes forward in one direction after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...machine.program.adjoint import Taped, recorded_gradient
from ...machine.program.scalars import Scalar
from ...robot import Robot
from ..tree.inertial import tree_bodies_with_inertial_numbers
from ..tree.kinematics import coordinate_rates
from ..tree.spatial import dot
from ..tree.sweeps import Load, Wrenches, sweep_tree

STATE = ("q", "qd", "tau")


def inputs_with_taped_state(given: Mapping[str, list[Scalar]]) -> dict[str, list[Scalar]]:
    """The inputs of forward dynamics, of which the state and the forces note what is computed of them."""
    return {name: list[Scalar](map(Taped, group)) if name in STATE else group for name, group in given.items()}


def acceleration_gradient_along_state(
    robot: Robot, given: Mapping[str, list[Scalar]], taped: Mapping[str, list[Scalar]], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """The gradient of costate · q̈ along the directions of the coordinates, the speeds and the forces.

    The accelerations are those by any text from inputs with a taped state.
    """
    q = given["q"]
    slopes = recorded_gradient(qdd, given["costate"], [x for name in STATE for x in taped[name]])
    moves = [coordinate_rates(robot, list(q), [float(k == j) for j in range(robot.nv)]) for k in range(robot.nv)]
    return [*(dot(slopes[: robot.nq], rates) for rates in moves), *slopes[robot.nq :]]


def acceleration_gradient_along_inertias(
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    costate: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> list[Scalar]:
    """The gradient of costate · q̈ along the ten inertial numbers of each link; wrenches act on `parts`."""
    bodies, numbers = tree_bodies_with_inertial_numbers(robot, Taped)
    qdd, _ = sweep_tree(bodies, robot.gravity, q, qd, tau, (False,) * robot.nv, wrenches, loads)
    return recorded_gradient(qdd, costate, numbers)
