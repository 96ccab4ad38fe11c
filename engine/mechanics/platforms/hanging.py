"""How the platform of a parallel robot hangs on its legs, as text on scalars; matrices are lists of rows.

Twists are the platform's, t = [ω; v] at its origin e, in base-frame axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...machine.program import Scalar
from ...robot import Body, Placement
from ..closure.constraints import Closure
from ..closure.row_kinds import TiePlace, unit_row_of_tie
from ..closure.ties import KINDS
from ..tree.dense import inertia_vanishes_in_all_states
from ..tree.kinematics import body_placements
from ..tree.spatial import Matrix, Vector, add, cross, dot, scale, subtract, to_parent_axes, transported_wrench
from .parallel_robot import Leg, Parallel


class Hanging:
    """For each leg `columns`, the platform's twists for its joints' unit speeds, and `rows`, those of its cut."""

    def __init__(self, loops: Closure, parts: Parallel, bodies: Sequence[Body], q: Sequence[Scalar]):
        self._loops, self._bodies = loops, bodies
        self.placed = body_placements(bodies, q)
        self._e = self.placed[parts.body][1]
        self.rows = [self._rows(leg) for leg in parts.legs]
        self.columns = [self._columns(leg) for leg in parts.legs]

    @property
    def J(self) -> list[Matrix]:
        """C P̃ of each leg."""
        return [[[dot(row, p) for p in P] for row in C] for C, P in zip(self.rows, self.columns)]

    def _columns(self, leg: Leg) -> list[Vector]:
        """P̃: the platform's twist for a unit of each speed."""
        result: list[Vector] = []
        for i in leg.bodies:
            body, (R, origin) = self._bodies[i], self.placed[i]
            for d in body.directions:
                axis = [row[d % 3] for row in R]
                if d >= 3:
                    result.append([0.0, 0.0, 0.0, *axis])
                    continue
                slide = cross(axis, subtract(self._e, origin))
                result.append([*axis, *(add(slide, scale(body.pitch, axis)) if body.pitch else slide)])
        return result

    def _rows(self, leg: Leg) -> Matrix:
        """C: the constraint rows of the leg's cut; all twists where the platform hangs by a joint of the tree."""
        if leg.loop is None:
            return [[float(r == k) for r in range(6)] for k in range(6)]
        tie = self._loops.ties[leg.loop]
        (one, p1), (two, p2) = (self._frame(link, frame) for link, frame in zip(tie.links, tie.frames))
        there = TiePlace([dot(a, subtract(p2, p1)) for a in one], [[dot(a, b) for a in one] for b in two])
        result = []
        for row in tie.rows:
            n, f = (_combined(one, x) for x in KINDS[row.kind].push(there, row))
            result.append(transported_wrench(n, f, subtract(p2, self._e)))
        return result

    def _frame(self, link: str, frame: Placement) -> tuple[list[Vector], Vector]:
        """The axes and the origin of a frame on a link, in the base."""
        body, seat = self._loops.robot.tree.seats[link]
        placed = seat.then(frame)
        origin: Vector = list(placed.origin)
        axes = [to_parent_axes(placed.factors(), unit_row_of_tie(k)) for k in range(3)]
        if body is None:
            return axes, origin
        R, p = self.placed[body]
        return [[dot(row, a) for row in R] for a in axes], add(p, [dot(row, origin) for row in R])


def _combined(axes: Sequence[Vector], x: Vector) -> Vector:
    """The vector with these components along axes."""
    total: Vector = [0.0] * 3
    for axis, one in zip(axes, x):
        total = total if inertia_vanishes_in_all_states(one) else add(total, scale(one, axis))
    return total
