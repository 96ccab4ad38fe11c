"""The moving links of a tree with the columns of their joints in base-frame axes, as text on scalars.

Only the joints' placements are shared with the sweeps: everything else is built from frames and geometry, with twists
at the mass centres, as in Saha (1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...machine.program import Scalar
from ...robot import Body, Robot
from .kinematics import body_placements
from .spatial import Matrix, Vector, add, cross, dot, scale, subtract, transpose

NONE: Vector = [0.0, 0.0, 0.0]


@dataclass(frozen=True)
class LinkColumns:
    """A link that moves: its body, its name, the link before it, and the places of its columns in all matrices."""

    body: int
    name: str
    parent: int | None
    columns: tuple[int, ...]


class Layout:
    """The links and columns of one robot's matrices: a column belongs to a direction of a body.

    With it, it belongs to the link whose joint the body is a part of; parts of a joint before the last are massless.
    """

    def __init__(self, robot: Robot):
        bodies = robot.tree.bodies
        of_body = {robot.tree.seats[link.name][0]: link for link in robot.links if link.joint.type.nv}
        self.links: list[LinkColumns] = []
        self.speeds: list[int] = []  # of the columns
        self.directions: list[tuple[int, int]] = []  # of the columns: body, direction
        place: dict[int, int] = {}
        for last in sorted(i for i in of_body if i is not None):
            chain = [last]
            while (up := bodies[chain[0]].parent) is not None and up not in of_body:
                chain.insert(0, up)
            above = bodies[chain[0]].parent
            own = [(i, d) for i in chain for d in bodies[i].directions]
            columns = tuple(range(len(self.directions), len(self.directions) + len(own)))
            place[last] = len(self.links)
            parent = None if above is None else place[above]
            self.links.append(LinkColumns(last, of_body[last].name, parent, columns))
            self.speeds += of_body[last].joint.speeds
            self.directions += own
        self.of = [i for i, link in enumerate(self.links) for _ in link.columns]  # the link of each column

    def way(self, i: int) -> list[int]:
        """Link i and all links before it, the base's first."""
        way, above = [i], self.links[i].parent
        while above is not None:
            way.append(above)
            above = self.links[above].parent
        return way[::-1]


def layout_of_moving_bodies(robot: Robot) -> Layout:
    """The robot's layout, which is made once."""
    return robot.made_once(Layout, lambda: Layout(robot))


def rotor_inertias(robot: Robot) -> list[Scalar]:
    """Rotor inertias, one for each speed."""
    result: list[Scalar] = [0.0] * robot.nv
    for body in robot.tree.bodies:
        for k, drive in zip(body.speeds, body.drives):
            result[k] = drive.rotor
    return result


class Moving:
    """The moving links in one state; lists have an element for each link or for each column."""

    def __init__(self, robot: Robot, at: Layout, q: Sequence[Scalar], qd: Sequence[Scalar]):
        bodies = robot.tree.bodies
        placed = body_placements(bodies, q)
        w, v = _rates(bodies, placed, qd)
        self.at = at
        self.centres: list[Vector] = []
        self.inertias: list[Matrix] = []  # about the mass centres
        self.masses = [bodies[link.body].m for link in at.links]
        self.w = [w[link.body] for link in at.links]
        self.v: list[Vector] = []  # of the mass centres
        for link in at.links:
            body, (R, O) = bodies[link.body], placed[link.body]
            c: Vector = scale(1.0 / body.m, list(body.h)) if body.m else NONE
            arm = [dot(row, c) for row in R]
            self.centres.append(add(O, arm))
            self.v.append(add(v[link.body], cross(w[link.body], arm)))
            self.inertias.append(_turned(R, _about_centre(body, c)))
        self.P: list[tuple[Vector, Vector]] = []  # [ω; v] of the link's mass centre by a unit of the speed
        self.P_rate: list[tuple[Vector, Vector]] = []
        for k, (i, d) in enumerate(at.directions):
            R, O = placed[i]
            e: Vector = [row[d % 3] for row in R]
            e_rate = cross(w[i], e)  # a direction is fixed in its own part
            slide = bodies[i].pitch if d < 3 else 1.0
            arm = subtract(self.centres[at.of[k]], O)
            if d < 3:
                swept = cross(e, subtract(self.v[at.of[k]], v[i]))
                self.P.append((e, add(cross(e, arm), scale(slide, e))))
                self.P_rate.append((e_rate, add(add(cross(e_rate, arm), scale(slide, e_rate)), swept)))
            else:
                self.P.append((NONE, e))
                self.P_rate.append((NONE, e_rate))

    def mass_matrix(self, i: int) -> Matrix:
        """The mass matrix of link i about its mass centre."""
        m = self.masses[i]
        upper = [row + NONE for row in self.inertias[i]]
        return upper + [[*NONE, *(m if r == s else 0.0 for s in range(3))] for r in range(3)]


def _rates(
    bodies: Sequence[Body], placed: Sequence[tuple[Matrix, Vector]], qd: Sequence[Scalar]
) -> tuple[list[Vector], list[Vector]]:
    """The angular velocity of each body, and the velocity of its origin."""
    w: list[Vector] = []
    v: list[Vector] = []
    for body, (R, O) in zip(bodies, placed):
        spin, speed = NONE, NONE
        if body.parent is not None:
            spin = w[body.parent]
            speed = add(v[body.parent], cross(spin, subtract(O, placed[body.parent][1])))
        for d, k in zip(body.directions, body.speeds):
            e: Vector = [row[d % 3] for row in R]
            if d < 3:
                spin = add(spin, scale(qd[k], e))
            if d >= 3 or body.pitch:
                speed = add(speed, scale(qd[k] * (body.pitch if d < 3 else 1.0), e))
        w.append(spin)
        v.append(speed)
    return w, v


def _about_centre(body: Body, c: Vector) -> Matrix:
    """The inertia matrix about the mass centre at c, in body axes."""
    E = body.E
    square = E[0][0] + E[1][1] + E[2][2] - body.m * dot(c, c)
    return [[(square if r == s else 0.0) - E[r][s] + body.m * (c[r] * c[s]) for s in range(3)] for r in range(3)]


def _turned(R: Matrix, m: Matrix) -> Matrix:
    """The product R m Rᵀ."""
    half = [[dot(row, column) for column in transpose(m)] for row in R]
    return [[dot(row, other) for other in R] for row in half]
