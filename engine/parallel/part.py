"""Each leg with its share of the platform as a robot of its own: the part of the mechanism that one node needs.

Khan cuts the platform into as many parts as there are legs; a part has a share of its mass, its inertia and its working
wrench (thesis, sections 3.1 and 3.2).  Here the leg is an open chain, its part a free body, and the joint between the
two a cut: so the one recursion serves both, and what the joint forbids is the cut's Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..mechanics.closure import loop_closure
from ..mechanics.platforms import Leg, Parallel
from ..robot import (
    CUTS,
    PLACE_AND_ORIENT,
    TYPES,
    ZERO,
    Body,
    Drive,
    Joint,
    Link,
    Loop,
    Placement,
    Robot,
    Three,
    Tree,
    Wrench,
)

TIP, PLATFORM = "(tip)", "(platform)"  # links that no file can name


@dataclass(frozen=True, eq=False)
class LegPart:
    """A leg and its share of the platform; in `robot`, the free platform's 7 coordinates and 6 speeds come last."""

    name: str  # of the joint or cut between the leg and the platform
    robot: Robot
    nq: int  # coordinates of the leg alone
    nv: int  # speeds of the leg alone
    kept: tuple[int, ...]  # of the leg's speeds, those that the platform doesn't decide
    driven: tuple[int, ...]  # of the leg's speeds
    independent: int  # kept speeds of all legs
    first: int  # the place of this leg's first kept speed among them
    length: float  # of the mechanism: slides are measured in it, so that no unit matters
    links: tuple[str, ...]  # the leg's own, whose wrenches it takes whole
    carried: tuple[str, ...]  # the platform's, of whose wrenches it takes a share
    share: float


@dataclass(frozen=True)
class LegNumbering:
    """The robot's coordinates, speeds and bodies → their places within one leg."""

    coordinates: dict[int, int]
    speeds: dict[int, int]
    bodies: dict[int, int]

    @staticmethod
    def of(robot: Robot, leg: Leg) -> LegNumbering:
        """The numbering of this leg, from the base on."""
        coordinates = (k for i in leg.bodies for k in robot.tree.bodies[i].coordinates)
        return LegNumbering(
            *({k: n for n, k in enumerate(numbers)} for numbers in (coordinates, leg.speeds, leg.bodies))
        )

    def drives(self, drives: tuple[Drive, ...]) -> tuple[Drive, ...]:
        """The same drives with the leg's coordinates."""
        return tuple(d.moved(lambda c: self.coordinates.get(c, -1)) for d in drives)

    def body(self, body: Body) -> Body:
        """The same body with the leg's coordinates, speeds and parent."""
        return replace(
            body,
            parent=None if body.parent is None else self.bodies[body.parent],
            coordinates=tuple(self.coordinates[k] for k in body.coordinates),
            speeds=tuple(self.speeds[k] for k in body.speeds),
            drives=self.drives(body.drives),
        )

    def joint(self, joint: Joint) -> Joint:
        """The same joint with the leg's coordinates and speeds."""
        return replace(
            joint,
            coordinates=tuple(self.coordinates[k] for k in joint.coordinates),
            speeds=tuple(self.speeds[k] for k in joint.speeds),
            drives=self.drives(joint.drives),
        )


def parts_by_legs(robot: Robot, parallel: Parallel, independent: Sequence[int]) -> list[LegPart]:
    """The parts of a robot, one for each leg, with even shares of the platform."""
    share = 1.0 / len(parallel.legs)
    parts: list[LegPart] = []
    for leg in parallel.legs:
        parts.append(_part(robot, parallel, leg, set(independent), share, sum(len(part.kept) for part in parts)))
    return parts


def _part(robot: Robot, parallel: Parallel, leg: Leg, independent: set[int], share: float, first: int) -> LegPart:
    """One leg with its share of the platform as a robot, whose first kept speed has the place `first` among all."""
    seats, numbering = robot.tree.seats, LegNumbering.of(robot, leg)
    nq, nv = len(numbering.coordinates), len(numbering.speeds)
    carried = tuple(link.name for link in robot.links if seats[link.name][0] == parallel.body)
    own = tuple(
        link.name for link in robot.links if seats[link.name][0] in numbering.bodies and link.name not in carried
    )
    free = _free_platform(robot.tree.bodies[parallel.body], share, nq, nv)
    tree = _tree(robot, parallel, leg, numbering, own, carried, free)
    cut = robot.loops[leg.loop] if leg.loop is not None else None
    alone = Robot(
        name=f"{robot.name}, leg by {leg.hangs}",
        about="",
        gravity=robot.gravity,
        links=_links(robot, numbering, own, carried, free),
        tree=tree,
        parts=tree,
        q0=(*(robot.q0[k] for k in numbering.coordinates), *TYPES["free"].start),
        nv=nv + 6,
        wrenches=_wrenches(robot, own, carried, share),
        loops=(cut or Loop(leg.hangs, CUTS["fixed"], (TIP, PLATFORM), Placement(), Placement()),),
        vouched=True,
    )
    return LegPart(
        name=leg.hangs,
        robot=alone,
        nq=nq,
        nv=nv,
        kept=tuple(n for k, n in numbering.speeds.items() if k in independent),
        driven=tuple(n for k, n in numbering.speeds.items() if k in robot.driven),
        independent=len(independent),
        first=first,
        length=loop_closure(robot).length,
        links=own,
        carried=carried,
        share=share,
    )


def _free_platform(whole: Body, share: float, nq: int, nv: int) -> Body:
    """A free body with a share of the platform's mass and inertia, behind nq coordinates and nv speeds of the leg."""
    return Body(
        parent=None,
        rotation=(),
        origin=ZERO,
        moves=PLACE_AND_ORIENT.moves,
        directions=PLACE_AND_ORIENT.directions,
        coordinates=tuple(range(nq, nq + 7)),
        speeds=tuple(range(nv, nv + 6)),
        drives=(Drive(),) * 6,
        E=(_scaled(whole.E[0], share), _scaled(whole.E[1], share), _scaled(whole.E[2], share)),
        h=_scaled(whole.h, share),
        m=whole.m * share,
    )


def _tree(
    robot: Robot,
    parallel: Parallel,
    leg: Leg,
    numbering: LegNumbering,
    own: Sequence[str],
    carried: Sequence[str],
    free: Body,
) -> Tree:
    """The leg's bodies and the free platform; where the tree leads to the platform, the leg ends in a massless body."""
    seats, last = robot.tree.seats, len(leg.bodies)
    bodies = []
    for i in leg.bodies:
        body = robot.tree.bodies[i]
        if i == parallel.body:  # its mass belongs to the free platforms
            body = replace(body, E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0)
        bodies.append(numbering.body(body))
    return Tree(
        (*bodies, free),
        {
            "base": (None, Placement()),
            **{name: (numbering.bodies[i], seat) for name, (i, seat) in seats.items() if i is not None and name in own},
            **{name: (last, seats[name][1]) for name in carried},
            TIP: (last - 1, Placement()),
            PLATFORM: (last, Placement()),
        },
    )


def _links(
    robot: Robot, numbering: LegNumbering, own: Sequence[str], carried: Sequence[str], free: Body
) -> tuple[Link, ...]:
    """The links of the leg and of the platform, and one for the free platform itself."""
    joints = {joint.link: numbering.joint(joint) for joint in robot.moving if set(joint.speeds) & set(numbering.speeds)}
    still = TYPES["fixed"]
    links = [
        replace(link, joint=joints.get(link.name, Joint(link.joint.name, still, link.name, (), (), False)))
        for link in robot.links
        if link.name in own or link.name in carried
    ]
    row = TYPES["free"]
    joint = Joint(PLATFORM, row, PLATFORM, free.coordinates, free.speeds, False, free.drives, initial=row.start)
    return (*links, Link(PLATFORM, "base", joint, free.m, ZERO, (ZERO, ZERO, ZERO), Placement()))


def _wrenches(robot: Robot, own: Sequence[str], carried: Sequence[str], share: float) -> tuple[Wrench, ...]:
    """The wrenches on the leg's links, and the leg's share of those on the platform."""
    wrenches = [wrench for wrench in robot.wrenches if wrench.link in own]
    for wrench in robot.wrenches:
        if wrench.link in carried:
            x, y, z, u, v, w = (share * c for c in wrench.wrench)
            wrenches.append(replace(wrench, wrench=(x, y, z, u, v, w)))
    return tuple(wrenches)


def _scaled(x: Three, by: float) -> Three:
    return (x[0] * by, x[1] * by, x[2] * by)


def euler_parameters_of_platform(R: np.ndarray) -> np.ndarray:
    """Euler parameters (N, 4), scalar first, of rotations (N, 3, 3), from the longest of the four rows of 4 e eᵀ."""
    xx, yy, zz = (R[:, k, k] for k in range(3))
    w = [R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]]
    xy, xz, yz = R[:, 0, 1] + R[:, 1, 0], R[:, 0, 2] + R[:, 2, 0], R[:, 1, 2] + R[:, 2, 1]
    rows = [
        [1.0 + xx + yy + zz, *w],
        [w[0], 1.0 + xx - yy - zz, xy, xz],
        [w[1], xy, 1.0 - xx + yy - zz, yz],
        [w[2], xz, yz, 1.0 - xx - yy + zz],
    ]
    whole = np.stack([np.stack(row, axis=-1) for row in rows], axis=1)
    longest = np.argmax(np.einsum("nkk->nk", whole), axis=1)
    e = whole[np.arange(len(whole)), longest]
    unit: np.ndarray = e / np.linalg.norm(e, axis=1, keepdims=True)
    return unit
