"""Where things are: frames of links, positions of points, rates of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.program.scalars import Scalar
from ..robot.model import Robot
from .samples import Samples, computes
from .spatial import Factor, Matrix, Vector, add, dot, outof, quaternion_matrix, quaternion_rate, transpose
from .sweeps import placement


@computes
def frames(robot: Robot, q: Any, at: str = "link") -> dict[str, np.ndarray]:
    """Link name → 4 × 4 in the base; `at="end"` for the papers' frames i + 1."""
    if not isinstance(at, str) or at not in ("link", "end"):
        found = f"at={at!r}" if isinstance(at, str) else f"at of type {type(at).__name__}"
        raise InputError("unknown frame", found=found, allowed="link, end")
    return link_frames(robot, Samples(robot, q=q).finite(), at)


def body_frames(robot: Robot, s: Samples) -> list[np.ndarray]:
    """4 × 4 of every body of the tree in the base."""
    placed: list[np.ndarray] = []
    q = s.scalars("q")
    for body in robot.tree.bodies:
        rotation, origin = placement(body, q)
        T = np.zeros((*s.shape, 4, 4))
        T[..., :3, :3] = _matrix(rotation, s.shape)
        for r in range(3):
            T[..., r, 3] = origin[r]
        T[..., 3, 3] = 1.0
        placed.append(T if body.parent is None else placed[body.parent] @ T)
    return placed


def link_frames(robot: Robot, s: Samples, at: str) -> dict[str, np.ndarray]:
    """4 × 4 of every link, or of its end frame, in the base."""
    placed = body_frames(robot, s)
    ground = np.broadcast_to(np.eye(4), (*s.shape, 4, 4))
    out = {}
    for link in robot.links:
        body_, seat = robot.tree.seats[link.name]
        where = seat.then(link.end) if at == "end" else seat
        out[link.name] = (ground if body_ is None else placed[body_]) @ where.matrix()
    return out


def _matrix(rotation: tuple[Factor, ...], shape: tuple[int, ...]) -> np.ndarray:
    R = np.broadcast_to(np.eye(3), (*shape, 3, 3))
    for factor in rotation:
        F = np.zeros((*shape, 3, 3))
        if len(factor) == 4:
            i, j, c, s = factor
            F[..., 3 - i - j, 3 - i - j] = 1.0
            F[..., i, i] = F[..., j, j] = c
            F[..., i, j], F[..., j, i] = -s, s
        else:
            for r in range(3):
                for k in range(3):
                    F[..., r, k] = factor[r][k]
        R = R @ F
    return R


def body_placements(robot: Robot, q: Sequence[Scalar]) -> list[tuple[Matrix, Vector]]:
    """Rotation and origin of every body of the tree in the base, on any scalars."""
    placed: list[tuple[Matrix, Vector]] = []
    for body in robot.tree.bodies:
        rotation, origin = placement(body, q)
        columns = [outof(rotation, [float(r == k) for r in range(3)]) for k in range(3)]
        if body.parent is not None:
            R, p = placed[body.parent]
            columns = [[dot(row, column) for row in R] for column in columns]
            origin = add(p, [dot(row, origin) for row in R])
        placed.append((transpose(columns), origin))
    return placed


def link_placements(robot: Robot, q: Sequence[Scalar]) -> list[tuple[Matrix, Vector]]:
    """Rotation and origin of every link in the base, on any scalars, in the file's order."""
    placed = body_placements(robot, q)
    found = []
    for link in robot.links:
        i, seat = robot.tree.seats[link.name]
        R_seat, p_seat = [[float(x) for x in row] for row in seat.rotation()], [float(x) for x in seat.origin]
        if i is None:
            found.append((R_seat, p_seat))
            continue
        R, p = placed[i]
        columns = [[dot(row, column) for row in R] for column in transpose(R_seat)]
        found.append((transpose(columns), add(p, [dot(row, p_seat) for row in R])))
    return found


def coordinate_rates(robot: Robot, q: list[Scalar], qd: list[Scalar]) -> list[Scalar]:
    """q̇ from the speeds: the same numbers, but for Euler parameters and for a free joint's position."""
    rates: list[Scalar] = [0.0] * robot.nq
    for joint in robot.moving:
        at = joint.type.orientation
        if at is None:
            for c, v in zip(joint.coordinates, joint.speeds):
                rates[c] = qd[v]
            continue
        e = [q[joint.coordinates[at + k]] for k in range(4)]
        speeds = [qd[v] for v in joint.speeds]
        for k, rate in enumerate(quaternion_rate(e, speeds[-3:])):
            rates[joint.coordinates[at + k]] = rate
        if at:  # the origin's velocity in link axes, turned into the axes that x, y, z are measured in
            for k, rate in enumerate(_turned(e, speeds[:3])):
                rates[joint.coordinates[k]] = rate
    return rates


def _turned(e: list[Scalar], v: list[Scalar]) -> list[Scalar]:
    return [dot(row, v) for row in quaternion_matrix(e)]
