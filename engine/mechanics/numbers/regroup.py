"""Bodies with regrouped inertias: the same joint forces and accelerations from fewer numbers.

Inertia that a joint's own motion doesn't move can be moved to the parent: the mass on the axis of a revolute joint, the
second moments of a sliding link, the mass at the centre of a spherical joint.  Reactions inside the robot are then no
longer those of the real bodies, so they are computed from the plain inertias.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from ...robot import Body, turn_matrix_of
from ...robot.read import body_with_mass, stacked_inertia_numbers

CENTRE = 3  # row and column of the pseudo-inertia that hold m and m c


@lru_cache(maxsize=128)
def regrouped_bodies(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies with as much inertia as possible moved towards the base."""
    return inertias_moved_towards_base(bodies)


def inertias_moved_towards_base(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """The regrouped bodies; their inertial numbers may be arrays, with a number for each run."""
    return with_numbers(bodies, moved_numbers(bodies, [pseudo_inertia(body) for body in bodies]))


def moved_numbers(bodies: Sequence[Body], G: Sequence[np.ndarray]) -> list[np.ndarray]:
    """These pseudo-inertias of the bodies, with as much of each as possible moved towards the base."""
    G = list(G)
    for i in reversed(range(len(bodies))):
        G[i], share = parted(bodies[i], G[i])
        parent = bodies[i].parent
        if parent is not None:
            G[parent] = G[parent] + share
    return G


def parted(body: Body, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What of a pseudo-inertia stays on the body, and the rest at the origin of its parent, in the parent's axes."""
    kept, turning_only = inertia_entries_that_move(body)
    share = np.where(kept, G, 0.0)
    R, p = turn_matrix_of(body.rotation), np.array(body.origin)
    T: np.ndarray = np.eye(4, dtype=np.result_type(R, p))
    T[:3, :3] = R
    if not turning_only:
        T[:3, 3] = p
    return G - share, T @ share @ T.T


def with_numbers(bodies: Sequence[Body], G: Iterable[np.ndarray]) -> tuple[Body, ...]:
    """The bodies with these pseudo-inertias."""
    return tuple(_with_inertia(body, g) for body, g in zip(bodies, G))


def inertia_entries_that_move(body: Body) -> tuple[np.ndarray, bool]:
    """The entries of the pseudo-inertia that can move to the parent, and whether they move by rotation only."""
    mask = np.zeros((4, 4), dtype=bool)
    turns = [d for d in body.directions if d < 3]
    slides = [d - 3 for d in body.directions if d >= 3] + (turns if body.pitch else [])
    if not turns and slides:
        mask[:3, :3] = True
        return mask, True
    if len(turns) == 1:
        axis = turns[0]
        if not slides:
            mask[np.ix_((axis, CENTRE), (axis, CENTRE))] = True
        elif slides == [axis]:
            mask[axis, axis] = True
            return mask, True
    elif len(turns) == 3 and not slides:
        mask[CENTRE, CENTRE] = True
    return mask, False


def pseudo_inertia(body: Body) -> np.ndarray:
    """The pseudo-inertia of a body, [∫ r rᵀ dm, m c; (m c)ᵀ, m]."""
    E, h = stacked_inertia_numbers([x for row in body.E for x in row]), stacked_inertia_numbers(body.h)
    shape = (*np.broadcast_shapes(E.shape[:-1], h.shape[:-1], np.shape(body.m)), 4, 4)
    G: np.ndarray = np.zeros(shape, dtype=np.result_type(E, h, np.asarray(body.m)))
    G[..., :3, :3], G[..., :3, 3], G[..., 3, :3], G[..., 3, 3] = E.reshape(*E.shape[:-1], 3, 3), h, h, body.m
    return G


def _with_inertia(body: Body, G: np.ndarray) -> Body:
    """The body with another inertia, in which rounding errors of zeros are removed."""
    E, h, m = G[..., :3, :3], G[..., :3, 3], G[..., 3, 3]
    if G.dtype != object:  # symbols may be anything
        E, h = _clean(E, (-2, -1)), _clean(h, (-1,))
        m = np.where(abs(m) > 1e-14 * np.maximum(body.m, 1e-300), m, 0.0)
    return body_with_mass(body, E, h, m)


def _clean(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return np.where(abs(x) <= 1e-14 * np.maximum(abs(x).max(axis=axes, keepdims=True), 1e-300), 0.0, x)
