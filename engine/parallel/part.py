"""Each leg with its share of the platform as a robot of its own: all that one node has to know of the mechanism.

Khan cuts the platform into as many parts as there are legs; a part has a share of its mass, its inertia and its working
wrench (thesis, sections 3.1 and 3.2).  Here the leg is an open chain, its part a free body, and the joint between the
two a cut: so the one recursion serves both, and what the joint forbids is the cut's Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..loops.constraints import closure
from ..robot.cuts import CUTS
from ..robot.joints import PLACE_AND_ORIENT, TYPES
from ..robot.model import ZERO, Body, Drive, Joint, Link, Loop, Robot, Three, Tree
from ..robot.placement import Placement
from .legs import Leg, Parallel

TIP, PLATFORM = "(tip)", "(platform)"  # links that no file can name


@dataclass(frozen=True, eq=False)
class Part:
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


def parts_of(robot: Robot, parallel: Parallel, independent: Sequence[int]) -> list[Part]:
    """The parts of a robot, one for each leg, with even shares of the platform."""
    share = 1.0 / len(parallel.legs)
    parts: list[Part] = []
    for leg in parallel.legs:
        parts.append(_part(robot, parallel, leg, set(independent), share, sum(len(part.kept) for part in parts)))
    return parts


def _part(robot: Robot, parallel: Parallel, leg: Leg, independent: set[int], share: float, first: int) -> Part:
    seats, body = robot.tree.seats, parallel.body
    speeds = {k: n for n, k in enumerate(leg.speeds)}
    coordinates = {k: n for n, k in enumerate(k for i in leg.bodies for k in robot.tree.bodies[i].coordinates)}
    places = {i: n for n, i in enumerate(leg.bodies)}
    nq, nv = len(coordinates), len(speeds)

    def here(drives: tuple[Drive, ...]) -> tuple[Drive, ...]:
        return tuple(replace(d, coordinate=coordinates.get(d.coordinate, -1)) for d in drives)

    def chained(i: int) -> Body:
        one = robot.tree.bodies[i]
        if i == body:  # its mass is the free platform's
            one = replace(one, E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0)
        return replace(
            one,
            parent=None if one.parent is None else places[one.parent],
            coordinates=tuple(coordinates[k] for k in one.coordinates),
            speeds=tuple(speeds[k] for k in one.speeds),
            drives=here(one.drives),
        )

    whole = robot.tree.bodies[body]
    free = Body(
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
    carried = tuple(link.name for link in robot.links if seats[link.name][0] == body)
    own = tuple(link.name for link in robot.links if seats[link.name][0] in places and link.name not in carried)
    tree = Tree(
        (*(chained(i) for i in leg.bodies), free),
        {
            "base": (None, Placement()),
            **{name: (places[i], seat) for name, (i, seat) in seats.items() if i in places and name in own},
            **{name: (len(leg.bodies), seats[name][1]) for name in carried},
            TIP: (len(leg.bodies) - 1, Placement()),
            PLATFORM: (len(leg.bodies), Placement()),
        },
    )
    moving = [joint for joint in robot.moving if set(joint.speeds) & set(speeds)]
    joints = {
        joint.link: replace(
            joint,
            coordinates=tuple(coordinates[k] for k in joint.coordinates),
            speeds=tuple(speeds[k] for k in joint.speeds),
            drives=here(joint.drives),
        )
        for joint in moving
    }
    still = TYPES["fixed"]
    links = [
        replace(link, joint=joints.get(link.name, Joint(link.joint.name, still, link.name, (), (), False)))
        for link in robot.links
        if link.name in own or link.name in carried
    ]
    row = TYPES["free"]
    joint = Joint(PLATFORM, row, PLATFORM, free.coordinates, free.speeds, False, free.drives, initial=row.start)
    links.append(Link(PLATFORM, "base", joint, free.m, ZERO, (ZERO, ZERO, ZERO), Placement()))
    cut = robot.loops[leg.loop] if leg.loop is not None else None
    wrenches = [one for one in robot.wrenches if one.link in own]
    for one in robot.wrenches:
        if one.link in carried:
            x, y, z, u, v, w = (share * c for c in one.wrench)
            wrenches.append(replace(one, wrench=(x, y, z, u, v, w)))
    alone = Robot(
        name=f"{robot.name}, leg by {leg.hangs}",
        about="",
        gravity=robot.gravity,
        links=tuple(links),
        tree=tree,
        parts=tree,
        q0=(*(robot.q0[k] for k in coordinates), *row.start),
        nv=nv + 6,
        wrenches=tuple(wrenches),
        loops=(cut or Loop(leg.hangs, CUTS["fixed"], (TIP, PLATFORM), Placement(), Placement()),),
    )
    return Part(
        name=leg.hangs,
        robot=alone,
        nq=nq,
        nv=nv,
        kept=tuple(n for k, n in speeds.items() if k in independent),
        driven=tuple(n for k, n in speeds.items() if k in robot.driven),
        independent=len(independent),
        first=first,
        length=closure(robot).length,
        links=own,
        carried=carried,
        share=share,
    )


def _scaled(x: Three, by: float) -> Three:
    return (x[0] * by, x[1] * by, x[2] * by)


def euler_parameters(R: np.ndarray) -> np.ndarray:
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
