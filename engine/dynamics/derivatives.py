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
    """Numbers of which those in some columns have yet to be solved for, M x = b.

    `columns` are these b; then come `units`, the columns of M⁻¹ with these numbers.  `places` are the number of the
    first entry of each, and the distance from one to the next.
    """

    numbers: list[Scalar]
    columns: list[list[Scalar]]
    units: Sequence[int]
    places: Sequence[tuple[int, int]]
    factors: Factors

    def yet_to_be_solved(self) -> list[Scalar]:
        """All numbers, with each b in the place of x."""
        n = len(self.factors.one_over)
        return self.filled([*self.columns, *([float(r == k) for r in range(n)] for k in self.units)])

    def filled(self, columns: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """All numbers, with these in the columns."""
        numbers = list(self.numbers)
        for (first, pitch), column in zip(self.places, columns, strict=True):
            for r, x in enumerate(column):
                numbers[first + r * pitch] = x
        return numbers


def numbers_with_solved_columns(of: Unsolved) -> list[Scalar]:
    """All numbers, with the x of each b."""
    inverse = of.factors.inverse() if of.units else []
    return of.filled([*map(of.factors.solve, of.columns), *(inverse[k] for k in of.units)])


class Slopes(NamedTuple):
    """Accelerations q̈, the columns of −∂τ/∂q and −∂τ/∂q̇, and the factors of M by which these are divided."""

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
) -> Slopes:
    """The accelerations and what their derivatives are made of.

    Inverse dynamics τ(q, q̇, q̈) of the accelerations by forward dynamics returns the given forces in every state.
    Hence ∂q̈ = −M⁻¹ ∂τ along each direction of q and q̇, and M⁻¹ along that of a force.
    """
    n = robot.nv
    qdd, _ = sweep_tree(bodies, robot.gravity, q, qd, tau, (False,) * n, wrenches, loads)
    speeds = [Dual(x, {n + k: 1.0}) for k, x in enumerate(qd)]
    forces, _ = sweep_tree(
        bodies, robot.gravity, coordinates_along_speeds(robot, q), speeds, qdd, (True,) * n, wrenches, loads
    )
    columns = [[-dual_derivative(x, k) for x in forces] for k in range(2 * n)]
    return Slopes(qdd, columns, Factors(inertia_matrix(bodies, q, n)))


def derivatives_one_behind_the_other(of: Slopes) -> Unsolved:
    """The accelerations, then dq, dqd and dtau row by row."""
    n = len(of.qdd)
    places = [(n + part * n * n + k, n) for part in range(3) for k in range(n)]
    return Unsolved([*of.qdd, *([0.0] * (3 * n * n))], of.columns, range(n), places, of.factors)


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
