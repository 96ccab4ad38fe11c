"""The bodies of the recursion, made from links, with or without bodies for fixed joints; the inertia of links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...text import fixed_data
from ..model import Body, Link, Three, Tree
from ..placement import Placement, placement_number
from .schema import LinkEntry

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
            T = seat.matrix()
            masses[body] = masses[body] + (read.G if seat == Placement() else T @ read.G @ T.T)
    parts = ((_clean(G[..., :3, :3], (-2, -1)), _clean(G[..., :3, 3], (-1,)), G[..., 3, 3]) for G in masses)
    return tuple(body_with_mass(body, *part) for body, part in zip(bodies, parts))


def body_with_mass(body: Body, E: np.ndarray, h: np.ndarray, m: np.ndarray) -> Body:
    """The body with another pseudo-inertia [E, h; hᵀ, m], whose numbers may be arrays with one for each run."""
    return replace(body, E=rows_of_robot_matrix(E), h=components_of_robot_vector(h), m=robot_number(m))


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
    return placement_number(x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x)


def components_of_robot_vector(x: np.ndarray) -> Three:
    """The components of a vector, along the last axis."""
    first, second, third = x.tolist() if x.ndim == 1 else (x[..., k] for k in range(3))
    return (robot_number(first), robot_number(second), robot_number(third))


def rows_of_robot_matrix(x: np.ndarray) -> tuple[Three, Three, Three]:
    """The rows of a matrix, which has the last two axes."""
    return (
        components_of_robot_vector(x[..., 0, :]),
        components_of_robot_vector(x[..., 1, :]),
        components_of_robot_vector(x[..., 2, :]),
    )


# ---- mass centre and inertia of a link


class Inertial(NamedTuple):
    """Mass centre and inertia of a link; the last axes are those of the vector and the matrices."""

    com: np.ndarray  # from the link's origin, in its axes
    about_com: np.ndarray  # inertia about the mass centre, in link axes
    G: np.ndarray  # pseudo-inertia [∫ r rᵀ dm, m c; (m c)ᵀ, m] about the link's origin, in link axes


def inertia_of_link(entry: LinkEntry, end: Placement) -> Inertial:
    """Mass centre and inertia of a link that has a mass; `end` is its end frame."""
    m, R = np.asarray(entry.mass), end.rotation()
    if entry.first_moments is not None:
        h = stacked_inertia_numbers(entry.first_moments)
        com = h / m[..., None] if m.all() else np.zeros(3)
    else:
        com = stacked_inertia_numbers(entry.com) if entry.com is not None else np.zeros(3)
        if entry.r is not None:  # C = O_(i+1) − r, in the end frame (Saha 1999, eq. 11b)
            com = -stacked_inertia_numbers(entry.r) @ R.T + np.array(end.origin)
        elif entry.com_from == "end":
            com = com @ R.T + np.array(end.origin)
        h = m[..., None] * com
    J: np.ndarray = np.zeros((3, 3))
    if entry.inertia is not None:
        I = entry.inertia
        J = stacked_inertia_numbers([I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz])
        J = J.reshape(*J.shape[:-1], 3, 3)
        if (entry.frame or ("end" if entry.r is not None else "link")) == "end":
            J = R @ J @ R.T
            J = (J + np.swapaxes(J, -1, -2)) / 2
    square = np.asarray((com * com).sum(axis=-1))[..., None, None]
    steiner = m[..., None, None] * (square * np.eye(3) - com[..., :, None] * com[..., None, :])
    about_com, about_origin = (J - steiner, J) if entry.about == "origin" and entry.inertia else (J, J + steiner)
    shape = (*np.broadcast_shapes(J.shape, steiner.shape)[:-2], 4, 4)
    G: np.ndarray = np.zeros(shape, dtype=np.result_type(J, steiner))
    trace = np.asarray(np.trace(about_origin, axis1=-2, axis2=-1))[..., None, None]
    G[..., :3, :3] = trace / 2 * np.eye(3) - about_origin
    G[..., :3, 3] = G[..., 3, :3] = h
    G[..., 3, 3] = m
    return Inertial(com, about_com, G)


def stacked_inertia_numbers(numbers: Sequence[float | np.ndarray]) -> np.ndarray:
    """The numbers as one array, whose last axis is theirs."""
    if any(isinstance(x, np.ndarray) for x in numbers):
        return np.stack(np.broadcast_arrays(*numbers), axis=-1)
    return np.array([placement_number(x) for x in numbers])
