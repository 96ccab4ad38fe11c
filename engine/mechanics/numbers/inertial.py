"""The ten inertial numbers of each link, as a user writes them, and bodies that are made of such numbers.

The dynamics is linear in them: inverse dynamics, energies and reactions are sums with one term for each number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from ...machine.program import Scalar
from ...robot import Body, Robot
from ..tree.spatial import Matrix, Vector, dot, transpose

# of a link: its mass; mass times mass centre; moments and products about its origin; all in its axes
INERTIAL_NAMES = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
INERTIAL = len(INERTIAL_NAMES)
_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

Own = TypeVar("Own", bound=Scalar)


def tree_bodies_with_inertial_numbers(robot: Robot, made: Callable[[Scalar], Own]) -> tuple[list[Body], list[Own]]:
    """The bodies of `parts`, of which every link is one, with scalars for all inertial numbers, and these scalars.

    `made` makes a scalar from the value of a number; it is called link by link, in the order of `INERTIAL_NAMES`.
    """
    bodies, numbers = list(robot.parts.bodies), list[Own]()
    for link in robot.links:
        i, seat = robot.parts.seats[link.name]
        assert i is not None  # every link is a body of its own there, whose origin is the link's
        R: Matrix = [[float(x) for x in row] for row in seat.rotation()]
        own = [made(x) for x in inertial_numbers(bodies[i], R)]
        bodies[i] = _with_numbers(bodies[i], R, own)
        numbers += own
    return bodies, numbers


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
