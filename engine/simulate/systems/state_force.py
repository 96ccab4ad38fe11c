"""Forces that are functions of time and of the whole state of a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from ...laws import ForceLaw
from ...machine.program import Curve, Scalar, as_float, formula_value_on_scalars
from ...mechanics.tree import body_placements, dot, tree_body_point_of_link, velocity_of_body_point
from ...robot import ZERO, Body, Leader, Robot, way_from_base
from ...text.expressions import TIME, Formula, Lookup

POINT = ("x", "y", "z", "vx", "vy", "vz")  # suffixes of a point's coordinates and of their rates, in base axes


class StateForce(Protocol):
    """A force from the time, all coordinates and all speeds; `timed` if it reads the time."""

    @property
    def timed(self) -> bool: ...

    @property
    def recordable(self) -> bool:
        """Whether it runs on all scalars, so that equations with it can be compiled."""
        ...

    @property
    def reads(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The coordinates and the speeds that it reads."""
        ...

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar: ...


@dataclass(frozen=True)
class AlongForce:
    """A law of one coordinate and its rate, for an actuator that moves by the weighted sum of several joints."""

    law: ForceLaw
    force: Callable[..., Scalar] = field(repr=False, compare=False)
    joints: tuple[Leader, ...]

    @property
    def timed(self) -> bool:
        return False

    @property
    def recordable(self) -> bool:
        return True

    @property
    def reads(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(one.coordinate for one in self.joints), tuple(one.speed for one in self.joints)

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        place = dot([one.ratio for one in self.joints], [q[one.coordinate] for one in self.joints])
        rate = dot([one.ratio for one in self.joints], [qd[one.speed] for one in self.joints])
        return self.force(0.0, place, rate, None)


@dataclass(frozen=True)
class Point:
    """A named point of a link: the bodies that lead to it from the base, and its place on the last of them.

    A point that is fixed to the ground has no bodies.
    """

    name: str  # link.point
    bodies: tuple[Body, ...]
    at: tuple[float, float, float]

    def columns(self) -> list[str]:
        """The names of its coordinates and of their rates."""
        return [f"{self.name}.{suffix}" for suffix in POINT]

    def values(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> dict[str, Scalar]:
        """The point's coordinates and their rates in base axes, by name."""
        place, rate = list[Scalar](self.at), list[Scalar]([0.0, 0.0, 0.0])
        if self.bodies:
            placed = body_placements(self.bodies, q)
            place, rate = velocity_of_body_point(self.bodies, placed, qd, len(self.bodies) - 1, self.at)
        return dict(zip(self.columns(), (*place, *rate)))


def points_for_state_forces(robot: Robot) -> list[Point]:
    """The named points of all links."""
    return [_point(robot, link.name, name, at) for link in robot.links for name, at in link.points.items()]


def _point(robot: Robot, link: str, name: str, at: Sequence[float]) -> Point:
    last, seat = robot.tree.seats[link]
    x, y, z = (as_float(c) for c in tree_body_point_of_link(seat, at))
    way = (robot.tree.bodies[i] for i in way_from_base(robot.tree.bodies, last))
    chain = (replace(body, drives=(), E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0) for body in way)
    numbered = (replace(body, parent=k - 1 if k else None) for k, body in enumerate(chain))
    return Point(f"{link}.{name}", tuple(numbered), (x, y, z))


@dataclass(frozen=True)
class FormulaForce:
    """A formula whose names are places among the coordinates and the speeds, or points; it runs on all scalars."""

    formula: Formula
    coordinates: tuple[tuple[str, int], ...]
    speeds: tuple[tuple[str, int], ...]
    timed: bool
    tables: tuple[tuple[Lookup, Curve], ...] = field(default=())
    points: tuple[Point, ...] = ()

    @property
    def recordable(self) -> bool:
        return True

    @property
    def reads(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        chain = [body for point in self.points for body in point.bodies]
        coordinates = [*(k for _, k in self.coordinates), *(k for body in chain for k in body.coordinates)]
        return tuple(coordinates), (*(k for _, k in self.speeds), *(k for body in chain for k in body.speeds))

    @cached_property
    def _curves(self) -> dict[Lookup, Curve]:
        return dict(self.tables)

    def known(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> dict[str, Scalar]:
        """The quantities that it may name."""
        known = {name: q[k] for name, k in self.coordinates} | {name: qd[k] for name, k in self.speeds}
        for point in self.points:
            known |= point.values(q, qd)
        return {**known, TIME: t}

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        return formula_value_on_scalars(self.formula, self.known(t, q, qd), self._curves)
