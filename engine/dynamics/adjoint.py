"""Gradients of forward dynamics: what one weighted sum of the accelerations owes to each number that it was made of.

One way back through the recursion gives Σ λ ∂q̈ along all coordinates, speeds and forces, and along the inertial
numbers of all links, for the cost of a few evaluations; `derivatives.py` goes forward in one direction after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..machine.program.adjoint import Taped, gradient
from ..machine.program.scalars import Scalar
from ..robot.model import Body, Robot
from .kinematics import coordinate_rates
from .spatial import Matrix, Vector, dot, transpose
from .sweeps import Load, Wrenches, dynamics

INERTIAL = 10  # numbers of a link: m; h = m c; Ixx, Iyy, Izz, Ixy, Ixz, Iyz about its origin, all in its axes
_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def along_state(
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
    qdd, _ = dynamics(bodies, robot.gravity, position, speeds, forces, (False,) * robot.nv, wrenches, loads)
    slopes = gradient(qdd, costate, [*position, *speeds, *forces])
    along_q, rest = slopes[: robot.nq], slopes[robot.nq :]
    moves = [coordinate_rates(robot, list(q), [float(k == j) for j in range(robot.nv)]) for k in range(robot.nv)]
    return [*(dot(along_q, rates) for rates in moves), *rest]


def along_inertias(
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    costate: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> list[Scalar]:
    """The gradient of costate · q̈ along the ten inertial numbers of each link; wrenches act on `parts`."""
    bodies, numbers = list(robot.parts.bodies), list[Taped]()
    for link in robot.links:
        i, seat = robot.parts.seats[link.name]
        assert i is not None  # every link is a body of its own there, whose origin is the link's
        R: Matrix = [[float(x) for x in row] for row in seat.rotation()]
        own = [Taped(x) for x in inertial_numbers(bodies[i], R)]
        bodies[i] = _with_numbers(bodies[i], R, own)
        numbers += own
    qdd, _ = dynamics(bodies, robot.gravity, q, qd, tau, (False,) * robot.nv, wrenches, loads)
    return gradient(qdd, costate, numbers)


def inertial_numbers(body: Body, R: Matrix) -> Vector:
    """The ten numbers of a body in axes that R leads from: the entries of J = tr(E) 1 − E stand for the inertia."""
    back = transpose(R)
    E = _turned(back, [list(row) for row in body.E])
    trace = E[0][0] + E[1][1] + E[2][2]
    J = [(trace if r == s else 0.0) - E[r][s] for r, s in _PLACES]
    return [body.m, *(dot(row, list(body.h)) for row in back), *J]


def _with_numbers(body: Body, R: Matrix, numbers: Sequence[Scalar]) -> Body:
    """The body with these ten numbers; E = ½ tr(J) 1 − J."""
    half = 0.5 * (numbers[4] + numbers[5] + numbers[6])
    entries = {place: (half if place[0] == place[1] else 0.0) - x for place, x in zip(_PLACES, numbers[4:])}
    E = _turned(R, [[entries[min(r, s), max(r, s)] for s in range(3)] for r in range(3)])
    h = [dot(row, list(numbers[1:4])) for row in R]
    return replace(body, m=numbers[0], h=tuple(h), E=tuple(tuple(row) for row in E))  # type: ignore[arg-type]


def _turned(R: Matrix, m: Matrix) -> Matrix:
    """The product R m Rᵀ."""
    columns = [[dot(row, column) for row in R] for column in transpose(m)]  # of R m
    return [[dot(other, row) for other in R] for row in transpose(columns)]
