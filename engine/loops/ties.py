"""Ties between links as text on scalars: the values of their rows, the Jacobian's rows, and `J̇ q̇`.

A tie has two frames, one on each of two links, and rows: scalar functions of the second frame's place in the first's
axes. Joints before both links cannot change that place, so everything starts at the body where their ways to the base
meet, and the first sweep of the recursion (`sweeps.outward`) runs out from there on both sides. The Jacobian's
columns are the accelerations at rest by a unit acceleration of one joint; `J̇ q̇` are those without any.

Letters: p the vector from the first origin to the second, s[j] the second's axis j, v, w, a, al their rates, all in the
first frame's axes and relative to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dynamics.spatial import Factor, Vector, add, cross, dot, into, outof, scale, subtract
from ..dynamics.sweeps import Motion, outward, placement
from ..machine.program.scalars import Scalar
from ..robot.model import Body, Tree
from ..robot.placement import Placement
from .contacts import CONTACTS
from .row_kinds import AT_REST, ON_POSITIONS, Row, TiePlace, TieRate, unit


@dataclass(frozen=True)
class Side:
    """A frame on a link: the chain of bodies from the meeting one outwards, and the frame in the last of them."""

    chain: tuple[int, ...]
    rotation: tuple[Factor, ...]
    origin: tuple[float, float, float]


@dataclass(frozen=True)
class Tie:
    """Two frames on two links, and rows that say how the second frame may lie in the first."""

    name: str
    links: tuple[str, str]
    frames: tuple[Placement, Placement]  # in link axes
    first: Side
    second: Side
    rows: tuple[Row, ...]


KINDS = {**ON_POSITIONS, **CONTACTS}  # all kinds of rows


def tie(tree: Tree, name: str, links: tuple[str, str], frames: tuple[Placement, Placement], rows: Sequence[Row]) -> Tie:
    """A tie between frames on two links, whose chains start where their ways to the base meet."""
    seats = [tree.seats[link] for link in links]
    ways = [_way(tree.bodies, body) for body, _ in seats]
    shared = 0
    while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
        shared += 1
    first, second = (
        Side(tuple(way[shared:]), (placed := seat.then(frame)).factors(), placed.origin)
        for way, (_, seat), frame in zip(ways, seats, frames)
    )
    return Tie(name, links, frames, first, second, tuple(rows))


def _way(bodies: Sequence[Body], body: int | None) -> list[int]:
    """Bodies on the way from the base to this one."""
    way: list[int] = []
    while body is not None:
        way.insert(0, body)
        body = bodies[body].parent
    return way


class Tied:
    """A tie at given coordinates, from which values, Jacobian and `J̇ q̇` follow."""

    def __init__(self, bodies: Sequence[Body], tie: Tie, q: Sequence[Scalar]):
        self._bodies, self._tie, self._q = bodies, tie, q
        self._placed = {i: placement(bodies[i], q) for side in (tie.first, tie.second) for i in side.chain}
        self._points = [self._point(side) for side in (tie.first, tie.second)]
        p = self._in_first(subtract(self._points[1], self._points[0]))
        used = {j for row in tie.rows for j in KINDS[row.kind].turns(row)}
        self.place = TiePlace(p, [self._axis(j) if j in used else AT_REST for j in range(3)])

    @property
    def rows(self) -> tuple[Row, ...]:
        return self._tie.rows

    def values(self) -> list[Scalar]:
        return [KINDS[row.kind].value(self.place, row) for row in self._tie.rows]

    def columns(self) -> dict[int, TieRate]:
        """The rates of the second frame's place by a unit of each speed that changes it, speed → rate."""
        still = [0.0] * (1 + max((k for body in self._bodies for k in body.speeds), default=0))
        result: dict[int, TieRate] = {}
        for side in (self._tie.first, self._tie.second):
            for place, i in enumerate(side.chain):
                for k in self._bodies[i].speeds:
                    one: list[Scalar] = list(still)
                    one[k] = 1.0
                    motion = self._run(side.chain[place:], still, one)
                    result[k] = self._rate(side, motion)
        return result

    def jacobian(self, columns: dict[int, TieRate]) -> list[dict[int, Scalar]]:
        """The rows of the Jacobian, speed → entry, one for each row of the tie."""
        rest = TieRate(AT_REST, AT_REST)
        return [
            {k: KINDS[row.kind].second(self.place, row, rest, rate) for k, rate in columns.items()}
            for row in self._tie.rows
        ]

    def drift(self, qd: Sequence[Scalar], columns: dict[int, TieRate]) -> list[Scalar]:
        """`J̇ q̇`: the second rates of the rows without any acceleration of the joints."""
        turn, shift = AT_REST, AT_REST
        for k, column in columns.items():
            turn, shift = add(turn, scale(qd[k], column.turn)), add(shift, scale(qd[k], column.shift))
        none = [0.0] * len(qd)
        first, second = (self._run(side.chain, qd, none) for side in (self._tie.first, self._tie.second))
        a = self._acceleration(self._tie.second, second, self._tie.second.origin)
        al = self._turning(self._tie.second, second)
        if first is not None:  # relative to a frame that moves itself
            w1 = self._side_in_first(self._tie.first, first.w)
            reach = add(list(self._tie.first.origin), outof(self._tie.first.rotation, self.place.p))
            a = subtract(a, self._acceleration(self._tie.first, first, reach))
            a = subtract(a, scale(2.0, cross(w1, shift)))
            w2 = self._side_in_first(self._tie.second, second.w) if second is not None else AT_REST
            al = subtract(subtract(al, self._turning(self._tie.first, first)), cross(w1, w2))
        speed, rate = TieRate(turn, shift), TieRate(al, a)
        return [KINDS[row.kind].second(self.place, row, speed, rate) for row in self._tie.rows]

    def push(self, multipliers: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """The wrench [n; f] of the first link on the second, at the second's point and in the first's axes."""
        n, f = AT_REST, AT_REST
        for row, x in zip(self._tie.rows, multipliers):
            moment, force = KINDS[row.kind].push(self.place, row)
            n, f = add(n, scale(x, moment)), add(f, scale(x, force))
        return n, f

    # ---- geometry

    def axes(self) -> list[Vector]:
        """All axes of the second frame in the first's."""
        return [self._axis(j) for j in range(3)]

    def _point(self, side: Side) -> Vector:
        """The frame's origin in the meeting body's axes."""
        x: Vector = list(side.origin)
        for i in reversed(side.chain):
            rotation, origin = self._placed[i]
            x = add(origin, outof(rotation, x))
        return x

    def _axis(self, j: int) -> Vector:
        """The second frame's axis j in the first's axes."""
        return self._side_in_first(self._tie.second, outof(self._tie.second.rotation, unit(j)))

    def _side_in_first(self, side: Side, v: Vector) -> Vector:
        """The components in the first frame of a vector with components v in the side's last body."""
        if side is self._tie.first:
            return into(side.rotation, v)
        for i in reversed(side.chain):
            v = outof(self._placed[i][0], v)
        return self._in_first(v)

    def _in_first(self, v: Vector) -> Vector:
        """The components in the first frame of a vector with components v in the meeting body."""
        for i in self._tie.first.chain:
            v = into(self._placed[i][0], v)
        return into(self._tie.first.rotation, v)

    # ---- motion

    def _run(self, chain: Sequence[int], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Motion | None:
        """The last body's motion while the meeting body keeps still."""
        here: Motion | None = None
        for i in chain:
            here = outward(self._bodies[i], here, self._q, qd, qdd, AT_REST)
        return here

    def _acceleration(self, side: Side, here: Motion | None, point: Sequence[Scalar]) -> Vector:
        """The acceleration of a point of the side's last body (in its axes), in the first frame's axes."""
        if here is None:
            return AT_REST
        return self._side_in_first(side, [here.a[r] + dot(here.U[r], list(point)) for r in range(3)])

    def _turning(self, side: Side, here: Motion | None) -> Vector:
        return self._side_in_first(side, here.wd) if here is not None else AT_REST

    def _rate(self, side: Side, here: Motion | None) -> TieRate:
        """The rate of the second frame in the first if only this side moves, from rest."""
        point: Vector = list(side.origin)
        if side is self._tie.first:  # the first frame moves, so the rate is that of its point there, reversed
            point = add(point, outof(side.rotation, self.place.p))
            return TieRate(scale(-1.0, self._turning(side, here)), scale(-1.0, self._acceleration(side, here, point)))
        return TieRate(self._turning(side, here), self._acceleration(side, here, point))
