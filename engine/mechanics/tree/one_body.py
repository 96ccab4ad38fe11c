"""What the sweeps need of one body: its motion, the inertia's wrench, and its joint's twist, axes and forces.

Letters are those of `sweeps.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...machine.program import Scalar, sign, square_root
from ...robot import Body, Drive
from .spatial import Matrix, Rotation, Vector, add, cross, dot, transpose
from .springs import cord_tension, stretch_of_joint_spring
from .transfer import TransferSteps, join_inertia_blocks


class Motion:
    """The motion of one body: its placement in the parent, w, wd, a of its origin, and U.

    `chosen` are the accelerations of those speeds that were free to take any; see `sweep_outward`. `above` is the
    parent's wd in its own axes, where it is known, and `steps` is another way to the origin.
    """

    __slots__ = ("U", "a", "above", "chosen", "origin", "rotation", "squares", "steps", "w", "wd")

    rotation: Rotation
    origin: Vector
    steps: TransferSteps | None
    w: Vector
    wd: Vector
    a: Vector
    U: Matrix
    squares: tuple[Scalar, Scalar, Scalar]
    chosen: Mapping[int, Scalar]
    above: Vector | None


def joint_twist(body: Body, x: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """The joint's contribution to ω and v in link axes, for speeds or accelerations x."""
    six: Vector = [0.0] * 6
    for d, k in zip(body.directions, body.speeds):
        six[d] = x[k]
        if body.pitch:
            six[d + 3] = body.pitch * x[k]
    return six[:3], six[3:]


def rate_tensor(w: Vector, wd: Vector) -> Matrix:
    """The tensor U = ω̇ × + ω × (ω ×): a point r of a link has the acceleration a + U r."""
    xx, yy, zz, xy, xz, yz = w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return [
        [-(yy + zz), xy - wd[2], xz + wd[1]],
        [xy + wd[2], -(xx + zz), yz - wd[0]],
        [xz - wd[1], yz + wd[0], -(xx + yy)],
    ]


def inertia_wrench(body: Body, here: Motion) -> Vector:
    """The wrench that the motion `here` of a body needs, by Newton and Euler (Saha 1999, eq. 7)."""
    E, m, U, a, (xx, yy, zz) = body.E, body.m, here.U, here.a, here.squares
    h: Vector = list(body.h)
    f = [dot(U[r], h) + m * a[r] for r in range(3)]
    steady = {d for d, k in zip(body.directions, body.speeds) if k in here.chosen}  # where wd and a are 0
    diagonal: Vector = []
    for r, p, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        if r in steady:  # U[k][p] and U[p][k] are the same
            diagonal.append(U[k][p] * (E[p][p] - E[k][k]))
        else:
            diagonal.append(U[k][p] * E[p][p] - U[p][k] * E[k][k])
    n = [
        diagonal[0] + E[0][1] * U[2][0] - E[0][2] * U[1][0] + E[1][2] * (zz - yy),
        diagonal[1] + E[0][2] * (xx - zz) + E[1][2] * U[0][1] - E[0][1] * U[2][1],
        diagonal[2] + E[0][1] * (yy - xx) + E[0][2] * U[1][2] - E[1][2] * U[0][2],
    ]
    return add(n, cross(h, a)) + f


class Massive(Protocol):
    """Anything with a mass m, first moments h and second moments E."""

    @property
    def E(self) -> Sequence[Sequence[Scalar]]: ...
    @property
    def h(self) -> Sequence[Scalar]: ...
    @property
    def m(self) -> Scalar: ...


def mass_matrix(body: Massive) -> Matrix:
    """The mass matrix M of a body at its origin, [J, h×; −h×, m 1] with J = tr(E) 1 − E."""
    E, h, m = body.E, body.h, body.m
    J: Matrix = [[-E[p][k] for k in range(3)] for p in range(3)]
    J[0][0], J[1][1], J[2][2] = E[1][1] + E[2][2], E[0][0] + E[2][2], E[0][0] + E[1][1]
    H: Matrix = [[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]]
    return join_inertia_blocks(J, H, [[m if p == k else 0.0 for k in range(3)] for p in range(3)])


def shear_wrench(W: Vector, d: int, pitch: float) -> Vector:
    """The wrench W in skew axes, in which the direction of a helical joint, turn d with a slide along it, is axis d."""
    return [W[r] + pitch * W[d + 3] if r == d else W[r] for r in range(6)]


def shear_inertia(A: Matrix | None, W: Vector, d: int, pitch: float) -> tuple[Matrix | None, Vector]:
    """An articulated inertia A and a wrench W in the skew axes of a helical joint; see `shear_wrench`."""
    if A is not None:
        upper = transpose(
            [shear_wrench(row, d, pitch) for row in transpose([shear_wrench(row, d, pitch) for row in A])]
        )
        A = [[upper[min(r, s)][max(r, s)] for s in range(6)] for r in range(6)]
    return A, shear_wrench(W, d, pitch)


def smooth_dry_friction(coulomb: Scalar, speed: Scalar, width: Scalar) -> Scalar:
    """Dry friction without sticking, positive against positive motion; it has most of its size beyond the `width`."""
    return coulomb * speed / square_root(speed * speed + width * width)


def passive_force(drive: Drive, q: Sequence[Scalar], qd: Sequence[Scalar], k: int) -> Scalar:
    """The actuator force along speed k that friction, damping and springs need."""
    force = drive.viscous * qd[k]
    if drive.coulomb:
        force = force + drive.coulomb * sign(qd[k])
    if drive.stiffness:
        force = force + drive.stiffness * stretch_of_joint_spring(drive, q)
    for pull in drive.pulls:
        force = force + pull.ratio * cord_tension(pull.cord, q, qd)
    return force
