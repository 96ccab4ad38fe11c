"""The moving links of a robot in one state as arrays, from the row `moving` of the table of programs."""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass
from ..dynamics.moving import layout_of_moving_bodies
from ..dynamics.offered import offered_dynamics_quantity
from ..dynamics.samples import Samples
from ..robot.model import Robot


@dataclass
class MovingLink:
    """A body with mass, including links that are fixed to it, with the columns p of its joint."""

    name: str
    parent: int | None
    speeds: list[int]  # places among the columns of all matrices
    centre: np.ndarray
    M: np.ndarray  # 6 × 6 about the mass centre
    P: np.ndarray  # 6 × speeds


def moving_links_of_parallel_robot(robot: Robot, s: Samples) -> tuple[list[MovingLink], list[int]]:
    """The moving links, parents first, and the speed to which each column of the matrices belongs."""
    at = layout_of_moving_bodies(robot)
    if not at.links:
        return [], []
    numbers = offered_dynamics_quantity(robot, "moving")(s)
    assert isinstance(numbers, np.ndarray)
    own, columns = np.split(numbers, [12 * len(at.links)])
    P, links = columns.reshape(-1, 6), []
    for link, row in zip(at.links, own.reshape(-1, 12)):
        M = np.zeros((6, 6))
        M[:3, :3], M[range(3, 6), range(3, 6)] = row[3:].reshape(3, 3), robot.tree.bodies[link.body].m
        links.append(MovingLink(link.name, link.parent, list(link.columns), row[:3], M, P[list(link.columns)].T))
    return links, list(at.speeds)


def parallel_propagation_matrix(c: np.ndarray) -> np.ndarray:
    """The matrix B_ij = [1, 0; c_ij × 1, 1] with c_ij from C_i to C_j (eq. 13)."""
    B = _IDENTITY.copy()
    B[3, 1], B[3, 2], B[4, 2] = -c[2], c[1], -c[0]
    B[4, 0], B[5, 0], B[5, 1] = c[2], -c[1], c[0]
    return B


_IDENTITY = np.eye(6)
