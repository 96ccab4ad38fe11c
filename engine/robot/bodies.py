"""The bodies of the recursion, made from links, with or without bodies for fixed joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .model import Body, Link, Three, Tree
from .placement import Placement


@dataclass(frozen=True)
class ReadLink:
    """A link with the placements and the pseudo-inertia that the trees are made of."""

    link: Link
    before: Placement  # parent's link frame → joint, nothing moved
    pointing: Placement  # the joint's near frame in the link frame (its z on the axis)
    pitch: float
    G: np.ndarray  # pseudo-inertia [∫ r rᵀ dm, m c; (m c)ᵀ, m] in link axes about the link's origin


def tree(links: list[ReadLink], *, merge: bool) -> Tree:
    """The tree of bodies and the seat of every link; with `merge`, fixed joints make no bodies of their own."""
    bodies: list[Body] = []
    seats: dict[str, tuple[int | None, Placement]] = {"base": (None, Placement())}
    masses: list[np.ndarray] = []
    for read in links:
        joint = read.link.joint
        parent, seat = seats[read.link.parent]
        prefix = seat.then(read.before).then(read.pointing)
        if merge and not joint.type.nv:
            seats[read.link.name] = (parent, prefix)
            if parent is not None:
                masses[parent] = masses[parent] + _moved(read.G, prefix)
            continue
        q, v = 0, 0
        for part in joint.type.parts or (None,):
            speeds = joint.speeds[v : v + len(part.directions)] if part else ()
            bodies.append(
                Body(
                    parent=parent,
                    rotation=prefix.factors(),
                    origin=prefix.origin,
                    moves=part.moves if part else (),
                    directions=part.directions if part else (),
                    pitch=read.pitch,
                    coordinates=joint.coordinates[q : q + part.coordinates] if part else (),
                    speeds=speeds,
                    drives=joint.drives[v : v + len(speeds)],
                )
            )
            q, v = q + (part.coordinates if part else 0), v + len(speeds)
            parent, prefix = len(bodies) - 1, Placement()
            masses.append(np.zeros((4, 4)))
        back = read.pointing.inverse()
        seats[read.link.name] = (parent, back)
        masses[-1] = masses[-1] + _moved(read.G, back)
    return Tree(tuple(_with_mass(body, G) for body, G in zip(bodies, masses)), seats)


def _moved(G: np.ndarray, seat: Placement) -> np.ndarray:
    """A pseudo-inertia in the frame to which the seat refers."""
    if seat == Placement():
        return G
    T = seat.matrix()
    moved: np.ndarray = T @ G @ T.T
    return moved


def _with_mass(body: Body, G: np.ndarray) -> Body:
    E, h = _clean(G[:3, :3]), _clean(G[:3, 3])
    return replace(body, E=triples(E), h=triple(h), m=float(G[3, 3]))


def _clean(x: np.ndarray) -> np.ndarray:
    """The numbers without rounding errors in place of zeros, which would keep dead operations alive."""
    return np.where(abs(x) <= 4e-16 * abs(x).max(initial=0.0), 0.0, x)


def triple(x: Sequence[float] | np.ndarray) -> Three:
    """Three numbers as floats in a tuple."""
    return (float(x[0]), float(x[1]), float(x[2]))


def triples(x: np.ndarray) -> tuple[Three, Three, Three]:
    """A matrix with three columns as tuples of floats, one for each row."""
    return (triple(x[0]), triple(x[1]), triple(x[2]))
