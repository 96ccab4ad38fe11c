"""Springs in joints and over several joints: how far they are stretched, how they pull, and bodies without them.

The spring of a spherical joint turns the link back along the shortest way: with the rotation vector φ that leads from
the relaxed orientation to the present one (|φ| ≤ π, the same in the axes of both), the moment is −k φ and the energy
k φ²/2.  Where the turn passes π the shortest way, and with it the moment, changes its sense.  A free joint has the same
spring against turning, and one of the same stiffness against its way.

φ = 2 θ/sin θ · v/cos θ with θ = |φ|/4 and the vector part v of the Euler parameters, whose scalar is made positive; and
with s = sin(θ/2), θ/sin θ = Σ c_k s^2k, c_0 = 1, c_(k+1) = c_k (2k + 2)/(2k + 3).

A cord over several joints is stretched by s = Σ r_j q_j − rest, less what it is slack; its tension T = k s + d ṡ pulls
each joint with −r_j T.  Its energy is k s²/2, and it loses d ṡ².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ...machine.program import Scalar, larger, sign, smaller, square_root
from ...robot import ZERO, Body, Cord, Drive
from .spatial import Vector, dot, quaternion_matrix

TERMS = 20  # s² is at most 0.147, so that the first one that is left out is less than a rounding error
SERIES = [1.0]
for _k in range(TERMS - 1):
    SERIES.append(SERIES[-1] * (2 * _k + 2) / (2 * _k + 3))


def stretch_of_joint_spring(drive: Drive, q: Sequence[Scalar]) -> Scalar:
    """How far the spring along one speed is stretched."""
    pose = drive.pose
    if pose is None:
        return q[drive.coordinate] - drive.rest
    e = [q[k] for k in pose.orientation]
    if pose.place:
        way = [q[k] - x for k, x in zip(pose.place, pose.rest)]
        return dot([row[pose.axis] for row in quaternion_matrix(e)], way)
    return rotation_vector(relative_euler_parameters(pose.rest, e))[pose.axis]


def cord_stretch(cord: Cord, q: Sequence[Scalar]) -> Scalar:
    """How far a spring over several joints is stretched, or pressed beyond its slack."""
    way = _sum(cord, [q[one.coordinate] for one in cord.joints]) - cord.rest
    # the two sides one by one, so that nothing is lost by subtraction: way − clip(way, 0, slack)
    return larger(way - cord.slack, 0.0) + smaller(way, 0.0) if cord.slack else way


def cord_rate(cord: Cord, qd: Sequence[Scalar]) -> Scalar:
    """How fast it is stretched."""
    return _sum(cord, [qd[one.speed] for one in cord.joints])


def _sum(cord: Cord, values: Sequence[Scalar]) -> Scalar:
    first, *others = [one.ratio * x for one, x in zip(cord.joints, values)]
    return sum(others, first)


def cord_tension(cord: Cord, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
    """The force of a spring over several joints and its damper."""
    force: Scalar = 0.0
    if cord.stiffness:
        force = force + cord.stiffness * cord_stretch(cord, q)
    if cord.damping:
        force = force + cord.damping * cord_rate(cord, qd)
    return force


def cords_of_bodies(bodies: Sequence[Body]) -> Iterator[Cord]:
    """The springs over several joints, each once."""
    return (pull.cord for body in bodies for drive in body.drives for pull in drive.pulls if pull.counted)


def tree_coordinates_of_springs(bodies: Sequence[Body]) -> set[int]:
    """The coordinates that springs measure."""
    own = {drive.coordinate for body in bodies for drive in body.drives if drive.stiffness}
    return own | {one.coordinate for cord in cords_of_bodies(bodies) if cord.stiffness for one in cord.joints}


def relative_euler_parameters(rest: Sequence[float], e: Vector) -> Vector:
    """The Euler parameters of the turn that leads from the orientation `rest` to another one."""
    r0, r1, r2, r3 = rest
    e0, e1, e2, e3 = e
    return [
        r0 * e0 + r1 * e1 + r2 * e2 + r3 * e3,
        r0 * e1 - r1 * e0 - r2 * e3 + r3 * e2,
        r0 * e2 + r1 * e3 - r2 * e0 - r3 * e1,
        r0 * e3 - r1 * e2 + r2 * e1 - r3 * e0,
    ]


def rotation_vector(e: Vector) -> Vector:
    """The turn of Euler parameters about its axis, by the shortest way."""
    side = sign(sign(e[0]) + 0.5)  # 1 where the scalar is 0, too
    cosine = square_root(0.5 * (1.0 + side * e[0]))  # of a quarter of the turn
    square = 0.5 * (1.0 - cosine)
    series: Scalar = SERIES[-1]
    for c in reversed(SERIES[:-1]):
        series = series * square + c
    factor = 2.0 * side * series / cosine
    return [factor * x for x in e[1:]]


def tree_coordinates_that_only_turn(bodies: tuple[Body, ...]) -> tuple[int, ...]:
    """Coordinates that matter by their cosines and sines only, because no spring measures them, nor does a screw."""
    sprung = tree_coordinates_of_springs(bodies)
    angles = [body.coordinates[k] for body in bodies for what, _, k in body.moves if what == "turn"]
    return tuple(k for k in angles if k not in sprung)


@lru_cache(maxsize=64)
def bodies_without_passive_forces(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies without friction, damping and springs, but with their rotors."""
    return varied_bodies_without_passive_forces(bodies)


def varied_bodies_without_passive_forces(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """Bodies, whose numbers may be arrays, without friction, damping and springs, but with their rotors."""
    return tuple(replace(body, drives=tuple(Drive(rotor=drive.rotor) for drive in body.drives)) for body in bodies)


@lru_cache(maxsize=64)
def massless_bodies(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies without mass and drives, whose dynamics consists of external wrenches only."""
    none = (ZERO, ZERO, ZERO)
    return tuple(replace(b, E=none, h=ZERO, m=0.0, drives=(Drive(),) * len(b.drives)) for b in bodies)
