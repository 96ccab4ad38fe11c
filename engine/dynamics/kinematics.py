"""Kinematics as text on scalars: placements of bodies and links, Jacobians of their points, rates of coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..machine.program.scalars import Scalar, as_floats
from ..robot.model import Body, Robot
from .spatial import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    into,
    outof,
    quaternion_matrix,
    quaternion_rate,
    scale,
    subtract,
    transpose,
)
from .sweeps import Motion, joint_twist, outward
from .transfer import placement


def body_placements(bodies: Sequence[Body], q: Sequence[Scalar]) -> list[tuple[Matrix, Vector]]:
    """Rotations and origins of all bodies in the base."""
    placed: list[tuple[Matrix, Vector]] = []
    for body in bodies:
        rotation, origin = placement(body, q)
        columns = [outof(rotation, [float(r == k) for r in range(3)]) for k in range(3)]
        if body.parent is not None:
            R, p = placed[body.parent]
            columns = [[dot(row, column) for row in R] for column in columns]
            origin = add(p, [dot(row, origin) for row in R])
        placed.append((transpose(columns), origin))
    return placed


def body_frames(bodies: Sequence[Body], q: Sequence[float]) -> list[np.ndarray]:
    """The 4 × 4 frames of all bodies in the base at one position."""
    result = []
    for R, p in body_placements(bodies, q):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = [as_floats(row) for row in R], as_floats(p)
        result.append(T)
    return result


def link_placements(robot: Robot, q: Sequence[Scalar], at: str = "link") -> list[tuple[Matrix, Vector]]:
    """Rotations and origins of all links, or of the frames at their far `end`, in the base and in the file's order."""
    placed = body_placements(robot.tree.bodies, q)
    result: list[tuple[Matrix, Vector]] = []
    for link in robot.links:
        i, seat = robot.tree.seats[link.name]
        seat = seat.then(link.end) if at == "end" else seat
        R_seat: Matrix = [[float(x) for x in row] for row in seat.rotation()]
        p_seat: Vector = list(seat.origin)
        if i is None:
            result.append((R_seat, p_seat))
            continue
        R, p = placed[i]
        columns = [[dot(row, column) for row in R] for column in transpose(R_seat)]
        result.append((transpose(columns), add(p, [dot(row, p_seat) for row in R])))
    return result


def jacobian(robot: Robot, q: Sequence[Scalar], link: str, at: Sequence[Scalar]) -> list[Vector]:
    """The 6 × nv Jacobian: speeds → [ω; v] of the link's point `at` (link axes), in base axes."""
    J: list[Vector] = [[0.0] * robot.nv for _ in range(6)]
    bodies, (i, seat) = robot.tree.bodies, robot.tree.seats[link]
    placed = body_placements(bodies, q)
    if i is None:
        return J
    R, p = placed[i]
    turned = [dot([float(x) for x in row], list(at)) for row in seat.rotation()]
    in_body = add([float(x) for x in seat.origin], turned)
    point = add(p, [dot(row, in_body) for row in R])
    while i is not None:
        body, (R, p) = bodies[i], placed[i]
        for d, k in zip(body.directions, body.speeds):
            e = [row[d % 3] for row in R]
            v = add(cross(e, subtract(point, p)), scale(body.pitch, e)) if d < 3 else e  # Saha 1999, eqs. 13 and 15
            for r, x in enumerate([*e, *v] if d < 3 else [0.0, 0.0, 0.0, *v]):
                J[r][k] = x
        i = body.parent
    return J


def point_rates(
    robot: Robot, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], link: str, at: Sequence[Scalar]
) -> tuple[Vector, Vector]:
    """The velocity and the acceleration of the link's point `at` (link axes), in base axes."""
    bodies, (last, seat) = robot.tree.bodies, robot.tree.seats[link]
    if last is None:
        return [0.0] * 3, [0.0] * 3
    chain = [last]
    while (parent := bodies[chain[-1]].parent) is not None:
        chain.append(parent)
    here: Motion | None = None
    v: Vector = [0.0] * 3
    R: Matrix = [[float(r == k) for r in range(3)] for k in range(3)]
    for i in reversed(chain):
        up, here = here, outward(bodies[i], here, q, qd, qdd, [0.0] * 3)
        if up is not None:
            v = into(here.rotation, add(v, cross(up.w, here.origin)))
        v = add(v, joint_twist(bodies[i], qd)[1])
        own = [outof(here.rotation, [float(r == k) for r in range(3)]) for k in range(3)]
        R = transpose([[dot(row, column) for row in R] for column in own])
    assert here is not None
    turned = [dot([float(x) for x in row], list(at)) for row in seat.rotation()]
    r = add([float(x) for x in seat.origin], turned)
    velocity, acceleration = add(v, cross(here.w, r)), add(here.a, [dot(row, r) for row in here.U])
    return [dot(row, velocity) for row in R], [dot(row, acceleration) for row in R]


def coordinate_rates(robot: Robot, q: list[Scalar], qd: list[Scalar]) -> list[Scalar]:
    """The rates q̇ of the coordinates, which equal the speeds except for Euler parameters and free joints' positions."""
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
