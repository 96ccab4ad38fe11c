"""Bodies with regrouped inertias: the same joint forces and accelerations from fewer numbers.

Inertia that a joint's own motion doesn't move can be moved to the parent: the mass on the axis of a revolute joint, the
second moments of a sliding link, the mass at the centre of a spherical joint.  Reactions inside the robot are then no
longer those of the real bodies, so they are computed from the plain inertias.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..robot.model import Body
from ..robot.placement import turn_matrix_of

CENTRE = 3  # row and column of the pseudo-inertia that hold m and m c


@lru_cache(maxsize=128)
def regrouped(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies with as much inertia as possible moved towards the base."""
    G = [pseudo_inertia(body) for body in bodies]
    for i in reversed(range(len(bodies))):
        kept, turning_only = unmoved(bodies[i])
        share = np.where(kept, G[i], 0.0)
        G[i] = G[i] - share
        parent = bodies[i].parent
        if parent is not None:
            T = np.eye(4)
            T[:3, :3] = turn_matrix_of(bodies[i].rotation)
            if not turning_only:
                T[:3, 3] = bodies[i].origin
            G[parent] = G[parent] + T @ share @ T.T
    return tuple(_with_inertia(body, g) for body, g in zip(bodies, G))


def unmoved(body: Body) -> tuple[np.ndarray, bool]:
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
    G = np.zeros((4, 4))
    G[:3, :3], G[:3, 3], G[3, :3], G[3, 3] = body.E, body.h, body.h, body.m
    return G


def _with_inertia(body: Body, G: np.ndarray) -> Body:
    """The body with another inertia, in which rounding errors of zeros are removed."""
    E, h = (np.where(abs(x) <= 1e-14 * max(abs(x).max(), 1e-300), 0.0, x) for x in (G[:3, :3], G[:3, 3]))
    rows = tuple(tuple(float(x) for x in row) for row in E)
    m = float(G[3, 3]) if abs(G[3, 3]) > 1e-14 * max(body.m, 1e-300) else 0.0
    return replace(body, E=rows, h=tuple(float(x) for x in h), m=m)  # type: ignore[arg-type]
