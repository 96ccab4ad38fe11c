"""A body in its parent: its placement, and what is transferred from one of the two to the other.

A twist's rate goes outwards, wrenches and articulated inertias go inwards: the products with B of Saha 1999.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ...machine.program import Scalar, as_floats, cosine_sine
from ...robot import TURN_PLANES, Body
from .spatial import (
    Matrix,
    Rotation,
    Vector,
    add,
    add_matrices,
    cross,
    join_turns,
    quaternion_matrix,
    to_link_axes,
    to_parent_axes,
    transported_wrench,
    transpose,
    turn_square,
    turn_symmetric,
)

ROUNDING = 1e-15


class TransferSteps(NamedTuple):
    """The way from the parent's origin to a body's in two steps; `vectors` says whether they go it so, too."""

    foot: Vector  # in the parent's axes
    slide: Vector  # from there, in the body's axes
    vectors: bool


def placement_of_body(body: Body, q: Sequence[Scalar]) -> tuple[Rotation, Vector]:
    """Rotation and origin of the body in its parent."""
    rotation: Rotation = body.rotation
    origin: Vector = list(body.origin)
    if body.beyond:
        origin = add(origin, to_parent_axes(rotation, vector_along_joint_axis(body, body.beyond)))
    for what, axis, k in body.moves:
        if what == "turn" or what == "screw":
            x = q[body.coordinates[k]]
            if what == "screw":
                slide = [body.pitch * x if r == axis else 0.0 for r in range(3)]
                origin = add(origin, to_parent_axes(rotation, slide))
            joint = (*TURN_PLANES[axis], *cosine_sine(x))
            both = join_turns(rotation[-1], joint) if rotation and rotation is body.rotation else None
            rotation = (*rotation, joint) if both is None else (*rotation[:-1], both)
        elif what == "slide":
            slide = [q[body.coordinates[k]] if r == axis else 0.0 for r in range(3)]
            origin = add(origin, to_parent_axes(rotation, slide))
        elif what == "place":
            origin = add(origin, to_parent_axes(rotation, [q[body.coordinates[k + r]] for r in range(3)]))
        else:  # orient: Euler parameters
            rotation = (*rotation, quaternion_matrix([q[body.coordinates[k + r]] for r in range(4)]))
    return rotation, origin


def vector_along_joint_axis(body: Body, x: Scalar) -> Vector:
    """A vector of this length along the axis of the body's only turn, in the body's axes."""
    return [x if r == body.moves[0][1] else 0.0 for r in range(3)]


def transfer_in_two_steps(body: Body) -> TransferSteps | None:
    """The way to the body's origin with its last part along its own turn's axis, where that costs less.

    Of that part, inertia and wrench are moved before they are turned, when the elimination has left zeros in them.
    """
    if body.beyond:
        return TransferSteps(list(body.origin), vector_along_joint_axis(body, body.beyond), True)
    numbers = [*body.origin, *(x for factor in body.rotation for x in factor)]
    if len(body.moves) != 1 or body.moves[0][0] != "turn" or not all(isinstance(x, float | int) for x in numbers):
        return None
    axis, origin = as_floats(to_parent_axes(body.rotation, vector_along_joint_axis(body, 1.0))), body.origin
    beyond = sum(x * y for x, y in zip(axis, origin))
    rest = [x - beyond * y for x, y in zip(origin, axis)]
    foot: Vector = [x if abs(x) > ROUNDING * abs(beyond) else 0.0 for x in rest]
    saved = sum(map(bool, origin)) - sum(map(bool, foot))
    return TransferSteps(foot, vector_along_joint_axis(body, beyond), saved > 1) if saved > 0 else None


class Placed(Protocol):
    """Anything with a rotation and an origin in its parent."""

    rotation: Rotation
    origin: Vector
    steps: TransferSteps | None


# ---- from one to the other


def join_inertia_blocks(J: Matrix, H: Matrix, M: Matrix) -> Matrix:
    """The 6 × 6 matrix with the blocks [J, H; Hᵀ, M]."""
    return [J[p] + H[p] for p in range(3)] + [[H[k][p] for k in range(3)] + M[p] for p in range(3)]


def inertia_at_parent(here: Placed, A: Matrix) -> Matrix:
    """An articulated inertia at the parent's origin, Bᵀ A B (Saha 1999, eq. 50)."""
    rotation, p = here.rotation, here.origin
    if here.steps is not None:
        A, p = inertia_about(here.steps.slide, A), here.steps.foot
    J = turn_symmetric(rotation, [row[:3] for row in A[:3]])
    H = turn_square(rotation, [row[3:] for row in A[:3]])
    M = turn_symmetric(rotation, [row[3:] for row in A[3:]])
    return inertia_about(p, join_inertia_blocks(J, H, M))


def inertia_about(p: Vector, A: Matrix) -> Matrix:
    """An articulated inertia about the point from which p leads to the one that it was about."""
    J, H, M = [row[:3] for row in A[:3]], [row[3:] for row in A[:3]], [row[3:] for row in A[3:]]
    K = add_matrices(H, transpose([cross(p, column) for column in M]))  # H + [p] M, M symmetric
    # J + [p] Hᵀ + K [p]ᵀ, with the terms of each component of p together
    x, y, z = p
    upper = {
        (0, 0): y * (H[0][2] + K[0][2]) - z * (H[0][1] + K[0][1]),
        (1, 1): z * (H[1][0] + K[1][0]) - x * (H[1][2] + K[1][2]),
        (2, 2): x * (H[2][1] + K[2][1]) - y * (H[2][0] + K[2][0]),
        (0, 1): z * (K[0][0] - H[1][1]) + y * H[1][2] - x * K[0][2],
        (0, 2): y * (H[2][2] - K[0][0]) + x * K[0][1] - z * H[2][1],
        (1, 2): x * (K[1][1] - H[2][2]) + z * H[2][0] - y * K[1][0],
    }
    J = [[J[r][k] + upper[min(r, k), max(r, k)] for k in range(3)] for r in range(3)]
    return join_inertia_blocks(J, K, M)


def wrench_at_parent(here: Placed, W: Vector) -> Vector:
    """A wrench on the body, transferred to the parent's origin and axes: Bᵀ W."""
    p = here.origin
    if here.steps is not None and here.steps.vectors:
        W, p = transported_wrench(W[:3], W[3:], here.steps.slide), here.steps.foot
    n, f = to_parent_axes(here.rotation, W[:3]), to_parent_axes(here.rotation, W[3:])
    return transported_wrench(n, f, p)


def motion_at_child(here: Placed, x: Vector) -> Vector:
    """A motion of the parent, transferred to the body's origin and axes: B x."""
    two = here.steps if here.steps is not None and here.steps.vectors else None
    w = to_link_axes(here.rotation, x[:3])
    v = to_link_axes(here.rotation, add(x[3:], cross(x[:3], here.origin if two is None else two.foot)))
    return w + (v if two is None else add(v, cross(w, two.slide)))
