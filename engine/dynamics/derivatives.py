"""Derivatives of forward dynamics on any scalars.

There is one direction for each speed.  For Euler parameters, the directions are small turns about the link's axes; for
a free joint's position, they are small shifts along these axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..machine.program.dual import Dual, dual_derivative
from ..machine.program.scalars import Scalar
from ..robot.model import Body, Robot
from .dense import Factors, inertia_matrix
from .kinematics import coordinate_rates
from .sweeps import Load, Wrenches, sweep_tree

SLOPES = ("dq", "dqd", "dtau")  # the names of the derivatives along coordinates, speeds and forces


class Unsolved(NamedTuple):
    """Accelerations q̈, the columns b of −∂τ/∂q, −∂τ/∂q̇ and 1, and the factors of M with which M x = b is solved."""

    qdd: list[Scalar]
    columns: list[list[Scalar]]
    factors: Factors


def acceleration_slopes(
    robot: Robot,
    bodies: tuple[Body, ...],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> list[Scalar]:
    """The accelerations, then dq, dqd and dtau row by row.

    Inverse dynamics τ(q, q̇, q̈) of the accelerations by forward dynamics returns the given forces in every state.
    Hence ∂q̈ = −M⁻¹ ∂τ along each direction of q and q̇, and M⁻¹ along that of a force.
    """
    qdd, columns, factors = unsolved(robot, bodies, q, qd, tau, wrenches, loads)
    solved = [factors.solve(column) for column in columns[: 2 * robot.nv]]
    return [*qdd, *derivative_matrices_by_rows(solved + factors.inverse())]


def unsolved(
    robot: Robot,
    bodies: tuple[Body, ...],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> Unsolved:
    """The equations behind `acceleration_slopes`, up to the point where the inertia matrix is divided by."""
    n = robot.nv
    qdd, _ = sweep_tree(bodies, robot.gravity, q, qd, tau, (False,) * n, wrenches, loads)
    speeds = [Dual(x, {n + k: 1.0}) for k, x in enumerate(qd)]
    forces, _ = sweep_tree(
        bodies, robot.gravity, coordinates_along_speeds(robot, q), speeds, qdd, (True,) * n, wrenches, loads
    )
    columns = [[-dual_derivative(x, k) for x in forces] for k in range(2 * n)]
    columns += [[float(r == k) for r in range(n)] for k in range(n)]
    return Unsolved(qdd, columns, Factors(inertia_matrix(bodies, q, n)))


def derivative_matrices_by_rows(columns: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """All entries of the matrices dq, dqd and dtau in one list, row by row, from the columns of all three."""
    n = len(columns) // 3
    parts = [columns[first : first + n] for first in (0, n, 2 * n)]
    return [part[k][r] for part in parts for r in range(n) for k in range(n)]


def coordinates_along_speeds(robot: Robot, q: Sequence[Scalar]) -> list[Scalar]:
    """The coordinates q with their derivatives along the speeds; in direction k, speed k is 1."""
    moved: list[Scalar] = list(q)
    rates = [coordinate_rates(robot, list(q), [float(j == k) for j in range(robot.nv)]) for k in range(robot.nv)]
    for c, x in enumerate(q):
        parts = {k: rate[c] for k, rate in enumerate(rates) if not (isinstance(rate[c], float) and rate[c] == 0.0)}
        moved[c] = Dual(x, parts)
    return moved
