"""Gradients of forward dynamics: what one weighted sum of the accelerations owes to each number that it was made of.

One way back through the recursion gives Σ λ ∂q̈ along all coordinates, speeds and forces, and along the inertial
numbers of all links, for the cost of a few evaluations; `derivatives.py` goes forward in one direction after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..machine.program.adjoint import Taped, recorded_gradient
from ..machine.program.scalars import Scalar
from ..robot import Body, Robot
from .inertial import tree_bodies_with_inertial_numbers
from .kinematics import coordinate_rates
from .spatial import dot
from .sweeps import Load, Wrenches, sweep_tree


def acceleration_gradient_along_state(
    robot: Robot,
    bodies: tuple[Body, ...],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    costate: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> list[Scalar]:
    """The gradient of costate · q̈ along the directions of the coordinates, the speeds and the forces."""
    position, speeds, forces = ([Taped(x) for x in group] for group in (q, qd, tau))
    qdd, _ = sweep_tree(bodies, robot.gravity, position, speeds, forces, (False,) * robot.nv, wrenches, loads)
    slopes = recorded_gradient(qdd, costate, [*position, *speeds, *forces])
    along_q, rest = slopes[: robot.nq], slopes[robot.nq :]
    moves = [coordinate_rates(robot, list(q), [float(k == j) for j in range(robot.nv)]) for k in range(robot.nv)]
    return [*(dot(along_q, rates) for rates in moves), *rest]


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
