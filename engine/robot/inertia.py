"""Mass centre and inertia of a link from the numbers of its entry, which may be arrays with a number for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .placement import Placement, placement_number, symbolic_placement_type
from .schema import LinkEntry


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
    G: np.ndarray = np.zeros(shape, dtype=symbolic_placement_type(J, steiner))
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
