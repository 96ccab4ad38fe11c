"""Ties between links as text on scalars: the values of their rows, the Jacobian's rows, and `J̇ q̇`.

A tie has two frames, one on each of two links, and rows: scalar functions of the second frame's place in the first's
axes. Joints before both links cannot change that place, so the way from the first frame to the second leads inwards to
the body where their ways to the base meet, and from there outwards again: a serial chain, along which positions, axes
and velocities are collected in the first frame's axes. The Jacobian's columns are the joints' axes with their moments
about the second origin; `J̇ q̇` is that origin's acceleration without any of the joints.

Letters: p the vector from the first origin to the second, s[j] the second's axis j, v, w, a, al their rates, all in the
first frame's axes and relative to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...machine.program import Scalar
from ...robot import Body, Placement, Tree, way_from_base
from ..tree.one_body import joint_twist, rate_tensor
from ..tree.spatial import (
    Factor,
    Rotation,
    Vector,
    add,
    cross,
    dot,
    scale,
    subtract,
    to_link_axes,
    to_parent_axes,
    transpose,
)
from ..tree.transfer import placement_of_body
from .row_kinds import AT_REST, CONTACTS, ON_POSITIONS, Row, TiePlace, TieRate, unit_row_of_tie


@dataclass(frozen=True)
class TieSide:
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
    first: TieSide
    second: TieSide
    rows: tuple[Row, ...]


KINDS = {**ON_POSITIONS, **CONTACTS}  # all kinds of rows


def tie_between_links(
    tree: Tree, name: str, links: tuple[str, str], frames: tuple[Placement, Placement], rows: Sequence[Row]
) -> Tie:
    """A tie between frames on two links, whose chains start where their ways to the base meet."""
    seats = [tree.seats[link] for link in links]
    ways = [way_from_base(tree.bodies, body) for body, _ in seats]
    shared = 0
    while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
        shared += 1
    first, second = (
        TieSide(tuple(way[shared:]), (placed := seat.then(frame)).factors(), placed.origin)
        for way, (_, seat), frame in zip(ways, seats, frames)
    )
    return Tie(name, links, frames, first, second, tuple(rows))


class Tied:
    """A tie at given coordinates, from which values, Jacobian and `J̇ q̇` follow.

    All vectors are in the first frame's axes and relative to it, on a walk from the first frame inwards to the meeting
    body and from there outwards to the second frame.
    """

    def __init__(self, bodies: Sequence[Body], tie: Tie, q: Sequence[Scalar]):
        self._bodies, self._tie = bodies, tie
        placed = {i: placement_of_body(bodies[i], q) for side in (tie.first, tie.second) for i in side.chain}
        axes = [to_parent_axes(tie.first.rotation, unit_row_of_tie(k)) for k in range(3)]
        self._steps: list[_Step] = []
        for i in reversed(tie.first.chain):
            rotation, origin = placed[i]
            inner = [to_parent_axes(rotation, row) for row in axes]
            self._steps.append(_Step(bodies[i], True, axes, [dot(row, origin) for row in inner]))
            axes = inner
        # between two points in the axes of the meeting body: where these are close, and small numbers count, the
        # difference of points has smaller rounding errors than a sum along the way
        apart = subtract(_point(tie.second, placed), _point(tie.first, placed))
        p = [dot(row, apart) for row in axes]
        for i in tie.second.chain:
            rotation, origin = placed[i]
            arm = [dot(row, origin) for row in axes]
            axes = [to_link_axes(rotation, row) for row in axes]
            self._steps.append(_Step(bodies[i], False, axes, arm))
        self._end = reach = [dot(row, list(tie.second.origin)) for row in axes]  # from the last body's origin
        for step in reversed(self._steps):
            if step.back:
                step.reach = reach = subtract(reach, step.arm)
            else:
                step.reach, reach = reach, add(reach, step.arm)
        self.place = TiePlace(p, transpose([to_link_axes(tie.second.rotation, row) for row in axes]))

    @property
    def rows(self) -> tuple[Row, ...]:
        return self._tie.rows

    def values(self) -> list[Scalar]:
        return [KINDS[row.kind].value(self.place, row) for row in self._tie.rows]

    def columns(self) -> dict[int, TieRate]:
        """The rates of the second frame's place by a unit of each speed that changes it, speed → rate."""
        result: dict[int, TieRate] = {}
        for step in self._steps:
            for d, k in zip(step.body.directions, step.body.speeds):
                axis: Vector = [row[d % 3] for row in step.axes]
                if step.back:
                    axis = scale(-1.0, axis)
                if d >= 3:
                    result[k] = TieRate(AT_REST, axis)
                    continue
                shift = cross(axis, step.reach)
                result[k] = TieRate(axis, add(shift, scale(step.body.pitch, axis)) if step.body.pitch else shift)
        return result

    def jacobian(self, columns: dict[int, TieRate]) -> list[dict[int, Scalar]]:
        """The rows of the Jacobian, speed → entry, one for each row of the tie."""
        rest = TieRate(AT_REST, AT_REST)
        return [
            {k: KINDS[row.kind].second(self.place, row, rest, rate) for k, rate in columns.items()}
            for row in self._tie.rows
        ]

    def damped(self, columns: dict[int, TieRate]) -> list[dict[int, Scalar]]:
        """The rows of the Jacobian as dampers between the two links take them.

        Of a point that is held in all directions these are the rates of its gap's components in the axes of the
        meeting body, which is the base as a rule, turned into the first frame's: a gap that only turns with the first
        link changes them. What may slide has gaps along axes of that link, and its rows are those of the Jacobian.
        """
        if sum(row.kind == "slide" for row in self._tie.rows) == 3:
            back, p = {k for step in self._steps if step.back for k in step.body.speeds}, self.place.p
            columns = {
                k: TieRate(rate.turn, subtract(rate.shift, cross(rate.turn, p))) if k in back else rate
                for k, rate in columns.items()
            }
        return self.jacobian(columns)

    def drift(self, qd: Sequence[Scalar], columns: dict[int, TieRate]) -> list[Scalar]:
        """`J̇ q̇`: the second rates of the rows without any acceleration of the joints."""
        shift = AT_REST
        for k, column in columns.items():
            shift = add(shift, scale(qd[k], column.shift))
        w, wd, a = AT_REST, AT_REST, AT_REST
        for step in self._steps:
            spin, slide = ([dot(row, x) for row in step.axes] for x in joint_twist(step.body, qd))
            if step.back:
                wd = subtract(wd, cross(w, spin))
                w = subtract(w, spin)
            U = rate_tensor(w, wd)
            moved = add([dot(row, step.arm) for row in U], cross(add(scale(2.0, w), spin), slide))
            a = subtract(a, moved) if step.back else add(a, moved)
            if not step.back:
                wd = add(wd, cross(w, spin))
                w = add(w, spin)
        a = add(a, [dot(row, self._end) for row in rate_tensor(w, wd)])
        speed, rate = TieRate(w, shift), TieRate(wd, a)
        return [KINDS[row.kind].second(self.place, row, speed, rate) for row in self._tie.rows]

    def push(self, multipliers: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """The wrench [n; f] of the first link on the second, at the second's point and in the first's axes."""
        n, f = AT_REST, AT_REST
        for row, x in zip(self._tie.rows, multipliers):
            moment, force = KINDS[row.kind].push(self.place, row)
            n, f = add(n, scale(x, moment)), add(f, scale(x, force))
        return n, f

    def axes(self) -> list[Vector]:
        """All axes of the second frame in the first's."""
        return self.place.s


@dataclass
class _Step:
    """A joint on the way from the first frame to the second; `back` if the way goes from the body to its parent.

    `axes` has the first frame's axes in the body's; `arm` leads from the parent's origin to the body's, `reach` from
    there to the second frame's.
    """

    body: Body
    back: bool
    axes: list[Vector]
    arm: Vector
    reach: Vector = field(default_factory=list)


def _point(side: TieSide, placed: Mapping[int, tuple[Rotation, Vector]]) -> Vector:
    """The origin of the side's frame in the meeting body's axes."""
    x: Vector = list(side.origin)
    for i in reversed(side.chain):
        rotation, origin = placed[i]
        x = add(origin, to_parent_axes(rotation, x))
    return x
