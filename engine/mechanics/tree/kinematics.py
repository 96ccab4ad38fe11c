"""Kinematics as text on scalars: placements of bodies and links, Jacobians of their points, rates of coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...machine.program import Scalar, as_floats
from ...robot import Body, Placement, Robot, way_from_base
from .one_body import Motion
from .spatial import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    quaternion_matrix,
    quaternion_rate,
    scale,
    subtract,
    to_parent_axes,
    transpose,
)
from .sweeps import sweep_outward
from .transfer import placement_of_body


def body_placements(bodies: Sequence[Body], q: Sequence[Scalar]) -> list[tuple[Matrix, Vector]]:
    """Rotations and origins of all bodies in the base."""
    placed: list[tuple[Matrix, Vector]] = []
    for body in bodies:
        rotation, origin = placement_of_body(body, q)
        columns = [to_parent_axes(rotation, [float(r == k) for r in range(3)]) for k in range(3)]
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
    if i is None:
        return J
    placed = body_placements(bodies, q)
    point = _point(placed[i], tree_body_point_of_link(seat, at))
    for k, twist in _twists(bodies, placed, i, point):
        for r, x in enumerate(twist):
            J[r][k] = x
    return J


def tree_body_point_of_link(seat: Placement, at: Sequence[Scalar]) -> Vector:
    """A point of a link, in link axes, as a point of the body on which the link sits."""
    turned = [dot([float(x) for x in row], list(at)) for row in seat.rotation()]
    return add([float(x) for x in seat.origin], turned)


def velocity_of_body_point(
    bodies: Sequence[Body],
    placed: Sequence[tuple[Matrix, Vector]],
    qd: Sequence[Scalar],
    i: int,
    at: Sequence[Scalar],
) -> tuple[Vector, Vector]:
    """Place and velocity in the base of the point `at` of body i, from the placements of the bodies."""
    point, velocity = _point(placed[i], at), list[Scalar]([0.0, 0.0, 0.0])
    for k, twist in _twists(bodies, placed, i, point):
        velocity = add(velocity, scale(qd[k], twist[3:]))
    return point, velocity


def _point(frame: tuple[Matrix, Vector], at: Sequence[Scalar]) -> Vector:
    R, p = frame
    return add(p, [dot(row, list(at)) for row in R])


def _twists(
    bodies: Sequence[Body], placed: Sequence[tuple[Matrix, Vector]], i: int, point: Vector
) -> Iterator[tuple[int, Vector]]:
    """For each speed that moves a point of body i, the speed's place and [ω; v] of the point by a unit of it."""
    for link in reversed(way_from_base(bodies, i)):
        body, (R, p) = bodies[link], placed[link]
        for d, k in zip(body.directions, body.speeds):
            e = [row[d % 3] for row in R]
            v = add(cross(e, subtract(point, p)), scale(body.pitch, e)) if d < 3 else e  # Saha 1999, eqs. 13 and 15
            yield k, [*e, *v] if d < 3 else [0.0, 0.0, 0.0, *v]


def rates_of_link_points(
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    points: Iterable[tuple[str, Sequence[Scalar]]],
) -> list[tuple[Vector, Vector]]:
    """The velocity and the acceleration in base axes of points of links, each given in its link's axes."""
    bodies, seats = robot.tree.bodies, robot.tree.seats
    placed = body_placements(bodies, q)
    swept: dict[int, Motion] = {}
    rates: list[tuple[Vector, Vector]] = []
    for link, at in points:
        last, seat = seats[link]
        if last is None:
            rates.append(([0.0] * 3, [0.0] * 3))
            continue
        for i in way_from_base(bodies, last):
            if i not in swept:
                parent = bodies[i].parent
                up = None if parent is None else swept[parent]
                swept[i] = sweep_outward(bodies[i], up, q, qd, qdd, [0.0] * 3)
        r = tree_body_point_of_link(seat, at)
        R, here = placed[last][0], swept[last]
        own = add(here.a, [dot(row, r) for row in here.U])  # p̈ = a + (ω̇× + ω×ω×) r
        rates.append((velocity_of_body_point(bodies, placed, qd, last, r)[1], [dot(row, own) for row in R]))
    return rates


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
