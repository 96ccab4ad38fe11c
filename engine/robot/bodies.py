"""The bodies of the recursion, made from links, with or without bodies for fixed joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..text import fixed_data
from .model import Body, Link, Three, Tree
from .placement import Placement, placement_number

Seat = tuple[int | None, Placement]  # of a link: its body (None for the base), and its placement there


@dataclass(frozen=True)
class ReadLink:
    """A link with the placements and the pseudo-inertia that the trees are made of."""

    link: Link
    before: Placement  # parent's link frame → joint, nothing moved
    pointing: Placement  # the joint's near frame in the link frame (its z on the axis)
    pitch: float
    G: np.ndarray  # pseudo-inertia [∫ r rᵀ dm, m c; (m c)ᵀ, m] in link axes about the link's origin


def tree_of_links(links: list[ReadLink], *, merge: bool) -> Tree:
    """The tree of bodies and the seat of every link; with `merge`, fixed joints make no bodies of their own."""
    bodies: list[Body] = []
    seats: dict[str, Seat] = {"base": (None, Placement())}
    for read in links:
        joint = read.link.joint
        parent, seat = seats[read.link.parent]
        prefix = seat.then(read.before).then(read.pointing)
        if merge and not joint.type.nv:
            seats[read.link.name] = (parent, prefix)
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
        seats[read.link.name] = (parent, read.pointing.inverse())
    return Tree(bodies_with_link_masses(bodies, seats, links), fixed_data(seats))


def bodies_with_link_masses(
    bodies: Sequence[Body], seats: Mapping[str, Seat], links: Iterable[ReadLink]
) -> tuple[Body, ...]:
    """The bodies with the masses of the links that sit on them, which may be arrays with a number for each run."""
    masses = [np.zeros((4, 4)) for _ in bodies]
    for read in links:
        body, seat = seats[read.link.name]
        if body is not None:
            masses[body] = masses[body] + _moved(read.G, seat)
    return tuple(_with_mass(body, G) for body, G in zip(bodies, masses))


def _moved(G: np.ndarray, seat: Placement) -> np.ndarray:
    """A pseudo-inertia in the frame to which the seat refers."""
    if seat == Placement():
        return G
    T = seat.matrix()
    moved: np.ndarray = T @ G @ T.T
    return moved


def _with_mass(body: Body, G: np.ndarray) -> Body:
    E, h = _clean(G[..., :3, :3], (-2, -1)), _clean(G[..., :3, 3], (-1,))
    return replace(body, E=rows_of_robot_matrix(E), h=components_of_robot_vector(h), m=robot_number(G[..., 3, 3]))


def _clean(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The numbers without rounding errors in place of zeros, which would keep dead operations alive."""
    if x.dtype == object:  # symbols may be anything
        return x
    least = 4e-16 * abs(x).max(axis=axes, keepdims=True, initial=0.0)
    return np.where((abs(x) <= least) & np.isfinite(least), 0.0, x)


def robot_number_triple(x: Sequence[float]) -> Three:
    return (placement_number(x[0]), placement_number(x[1]), placement_number(x[2]))


# ---- numbers from arrays: plain ones, or, where an array has them for many runs, one array for each


def robot_number(x: float | np.ndarray) -> float:
    """A plain number or symbol, or the array as it is."""
    return placement_number(x.item()) if isinstance(x, np.ndarray) and x.ndim == 0 else placement_number(x)


def components_of_robot_vector(x: np.ndarray) -> Three:
    """The components of a vector, along the last axis."""
    return (robot_number(x[..., 0]), robot_number(x[..., 1]), robot_number(x[..., 2]))


def rows_of_robot_matrix(x: np.ndarray) -> tuple[Three, Three, Three]:
    """The rows of a matrix, which has the last two axes."""
    return (
        components_of_robot_vector(x[..., 0, :]),
        components_of_robot_vector(x[..., 1, :]),
        components_of_robot_vector(x[..., 2, :]),
    )
