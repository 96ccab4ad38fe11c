"""The mixed dynamics of a tree of bodies: three sweeps, each a function of one joint.

For each speed either its acceleration is given and its force is sought, or the other way round.

1. out:  twists and the given accelerations, `t = N_l N_d θ̇` (Saha 1999, eq. 16) and its rate;
2. in:   wrenches and articulated inertias, the reverse Gaussian elimination `I = U D Uᵀ` (Saha 1999, appendix B),
         one scalar pivot for each unknown acceleration;
3. out:  the unknown accelerations, `θ̈ = U⁻ᵀ D⁻¹ U⁻¹ φ` (Saha 1999, eqs. 34 to 37), and the sought forces.

Inverse dynamics (RIDIM) has all motion given, forward dynamics (RFDSIM) none; elastic joints and floating bases are
mixtures (Khalil 2010, sections 6 and 7).  A joint is a set of directions out of six in link axes, so the sweeps don't
distinguish joint types.  The robot's numbers are plain floats; control flow depends on them and on the flags, never on
the state, so the text runs on any scalars.

Letters (see docs/theory.md): w, wd angular velocity and acceleration, a acceleration of the link's origin (gravity
as an upward acceleration of the ground), U the tensor with a(r) = a + U r, E = ∫ r rᵀ dm, h = m c, A an articulated
inertia M̂, W a wrench, psi = ψ̂ / m̂.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from ...machine.program import Scalar
from ...robot import Body
from .one_body import Motion, inertia_wrench, joint_twist, mass_matrix, passive_force, rate_tensor, shear_inertia
from .spatial import Matrix, Vector, add, add_matrices, cross, dot, scale, subtract, to_link_axes, transported_wrench
from .transfer import inertia_at_parent, motion_at_child, placement_of_body, transfer_in_two_steps, wrench_at_parent

Wrenches = Mapping[int, Vector]  # body → [n; f] at its origin, in its axes
Load = tuple[int, Vector, Vector]  # body, [n; f] in base axes, the point of the body (its axes) where f acts
NONE_HELD: Mapping[int, Scalar] = {}
NONE_CHOSEN: Mapping[int, Scalar] = {}


# ---- first sweep, outwards: everything that follows from the given motion


def sweep_outward(
    body: Body,
    up: Motion | None,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gravity: Vector,
    free: Collection[int] = (),
) -> Motion:
    """The motion of a body from that of its parent; gravity is an upward acceleration of the ground.

    Accelerations of the speeds in `free` are 0 in `qdd`.  Any would do for them, since the last sweep adds what the
    true ones differ by; those are chosen with which the link doesn't accelerate along their directions.
    """
    here = Motion()
    here.rotation, here.origin = placement_of_body(body, q)
    here.steps = transfer_in_two_steps(body) if body.parent is not None else None
    here.above = None
    last = here.steps if here.steps is not None and here.steps.vectors else None
    spin, slide = joint_twist(body, qd)
    spin_rate, slide_rate = joint_twist(body, qdd)
    if up is None:
        w: Vector = [0.0] * 3
        wd: Vector = [0.0] * 3
        a = scale(-1.0, gravity)
    else:
        w, wd = up.w, up.wd
        here.above = wd
        reach = here.origin if last is None else last.foot
        a = [up.a[r] + dot(up.U[r], reach) for r in range(3)]
    w, wd, a = (to_link_axes(here.rotation, x) for x in (w, wd, a))
    wd = add(add(wd, cross(w, spin)), spin_rate)
    a = add(add(a, cross(add(scale(2.0, w), spin), slide)), slide_rate)
    w = add(w, spin)
    six, here.chosen = wd + a, {}
    for d, k in zip(body.directions, body.speeds):
        if body_chooses_acceleration(body, k not in free):
            here.chosen[k], six[d] = -six[d], 0.0
    wd, a = six[:3], six[3:]
    here.w, here.wd, here.a, here.squares = w, wd, a, (w[0] * w[0], w[1] * w[1], w[2] * w[2])
    here.U = rate_tensor(w, wd)
    if last is not None:
        here.a = [a[r] + dot(here.U[r], last.slide) for r in range(3)]
    return here


def body_chooses_acceleration(body: Body, known: bool) -> bool:
    """Whether `sweep_outward` chooses the acceleration of one of the body's speeds."""
    return not known and not body.pitch


# ---- second sweep, inwards


class Pivot:
    """The data of one speed for the last sweep, a row of six and a scalar, and its m̂ if that was a divisor.

    With unknown acceleration the row is ψ less 1 at the joint's own direction, so that x less the row's product with
    the parent's motion is the link's acceleration along that direction; the joint's is what the parent's lacks of it.
    A speed that may be held has a `support`, the force that holds it besides the forces that act there: until the last
    sweep the part of it that doesn't depend on the parent's motion, whose share comes from the row `A_d`.
    """

    __slots__ = ("A_d", "row", "size", "support", "x")

    def __init__(
        self,
        row: Vector | None,
        x: Scalar,
        size: Scalar = math.nan,
        A_d: Vector | None = None,
        support: Scalar = math.nan,
    ):
        self.row, self.x, self.size, self.A_d, self.support = row, x, size, A_d, support


def sweep_inward(
    body: Body,
    A: Matrix | None,
    W: Vector,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    motion_given: Sequence[bool],
    pivots: dict[int, Pivot],
    holds: Mapping[int, Scalar] = NONE_HELD,
    chosen: Mapping[int, Scalar] = NONE_CHOSEN,
) -> tuple[Matrix | None, Vector]:
    """A and W of a body after the elimination of its joint's speeds, whose pivots are added to `pivots`.

    A is None where no unknown acceleration reaches the body.  With Â = A + rotor along the joint's own direction,
    ψ̂ = A e, m̂ = eᵀ Â e, ψ = ψ̂ / m̂ (Saha 1999, eqs. 47 and 48).
    """
    for d, k, drive in reversed(list(zip(body.directions, body.speeds, body.drives))):
        passive = passive_force(drive, q, qd, k)
        if body.pitch:
            A, W = shear_inertia(A, W, d, body.pitch)
        if motion_given[k]:
            pivots[k] = Pivot(A[d] if A is not None else None, W[d] + passive + drive.rotor * given[k])
        elif k in holds:
            assert A is not None
            A, W, pivots[k] = eliminated_unless_held(A, W, d, drive.rotor, given[k] - passive, holds[k])
        else:
            assert A is not None  # an unknown acceleration reaches its own body
            size = A[d][d] + drive.rotor
            one_over = 1.0 / size
            force = given[k] - passive
            if k in chosen:
                force = force - drive.rotor * chosen[k]
            x = (force - W[d]) * one_over  # the acceleration if the parent kept still
            row = A[d]
            rotor_share = drive.rotor * one_over
            psi = [one_over * row[r] if r != d else 1.0 - rotor_share for r in range(6)]
            # exact at the joint's own direction: only the rotor's share is left there
            W = [W[r] + row[r] * x if r != d else force - drive.rotor * x for r in range(6)]
            upper = [
                [A[r][s] - psi[r] * row[s] if r != d and s != d else drive.rotor * psi[r + s - d] for s in range(r, 6)]
                for r in range(6)
            ]
            A = [[upper[min(r, s)][abs(r - s)] for s in range(6)] for r in range(6)]
            pivots[k] = Pivot([psi[r] if r != d else -rotor_share for r in range(6)], x, size)
        if body.pitch:
            A, W = shear_inertia(A, W, d, -body.pitch)
    return A, W


def eliminated_unless_held(
    A: Matrix, W: Vector, d: int, rotor: Scalar, force: Scalar, hold: Scalar
) -> tuple[Matrix, Vector, Pivot]:
    """A and W after the elimination of direction d where `hold` is 0, and as they were where it is 1; the pivot."""
    row, loose = A[d], 1.0 - hold
    size = row[d] + rotor
    one_over = loose / (size + hold)  # what is held needs no inertia
    x = one_over * (force - W[d])
    rotor_share = rotor * one_over
    psi = [one_over * row[r] if r != d else loose - rotor_share for r in range(6)]
    less_own = [psi[r] if r != d else -hold - rotor_share for r in range(6)]
    pivot = Pivot(less_own, x, size, row, W[d] - force)
    W = [W[r] + row[r] * x if r != d else loose * force + hold * W[d] - rotor * x for r in range(6)]
    along = [rotor * psi[r] + hold * row[r] for r in range(6)]
    upper = [
        [A[r][s] - psi[r] * row[s] if d not in (r, s) else along[r + s - d] for s in range(r, 6)] for r in range(6)
    ]
    return [[upper[min(r, s)][abs(r - s)] for s in range(6)] for r in range(6)], W, pivot


# ---- third sweep, outwards again


def sweep_outward_again(
    body: Body,
    here: Motion,
    up: Vector | None,
    pivots: Mapping[int, Pivot],
    motion_given: Sequence[bool],
    sought: list[Scalar],
) -> Vector:
    """The body's acceleration by the unknown accelerations alone; the sought values of its speeds go into `sought`."""
    extra: Vector = motion_at_child(here, up) if up is not None else [0.0] * 6
    for d, k in zip(body.directions, body.speeds):
        pivot = pivots[k]
        share: Scalar = 0.0
        if pivot.row is not None:
            if body.pitch:  # into the skew axes of `shear_inertia`
                extra = [extra[r] - body.pitch * extra[d] if r == d + 3 else extra[r] for r in range(6)]
            share = dot(pivot.row, extra)
            if pivot.A_d is not None:
                pivot.support = pivot.support + dot(pivot.A_d, extra)
        if motion_given[k]:
            sought[k] = pivot.x + share
        else:
            moved = pivot.x - share
            if up is not None and here.above is not None and _merges(body, k, here):
                # what the parent's two accelerations are along the joint, by one turn for both
                sought[k] = moved - to_link_axes(here.rotation, add(here.above, up[:3]))[d]
            else:
                sought[k] = moved - extra[d]
                if k in here.chosen:
                    sought[k] = sought[k] + here.chosen[k]
            extra[d] = moved
        if pivot.row is not None and body.pitch:
            extra = [extra[r] + body.pitch * extra[d] if r == d + 3 else extra[r] for r in range(6)]
    return extra


def _merges(body: Body, k: int, here: Motion) -> bool:
    """Whether neither the chosen acceleration of a speed is needed by itself nor what its link has along it already."""
    return k in here.chosen and len(body.directions) == 1 and body.directions[0] < 3 and not body.drives[0].rotor


# ---- the whole tree


def bodies_under_unknown_accelerations(bodies: Sequence[Body], motion_given: Sequence[bool]) -> list[bool]:
    """Whether each body depends on an unknown acceleration, its own or that of a joint before it."""
    loose: list[bool] = []
    for body in bodies:
        above = body.parent is not None and loose[body.parent]
        loose.append(above or not all(motion_given[k] for k in body.speeds))
    return loose


def base_vector_in_body(
    bodies: Sequence[Body], motions: Sequence[Motion] | Mapping[int, Motion], i: int, v: Vector
) -> Vector:
    """The components in body i of a vector with components v in the base."""
    above = bodies[i].parent
    return to_link_axes(motions[i].rotation, v if above is None else base_vector_in_body(bodies, motions, above, v))


def sweep_tree(
    bodies: Sequence[Body],
    gravity: Sequence[float],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    motion_given: Sequence[bool],
    wrenches: Wrenches | None = None,
    loads: Sequence[Load] = (),
    pivots: dict[int, Pivot] | None = None,
    holds: Mapping[int, Scalar] = NONE_HELD,
) -> tuple[list[Scalar], list[Vector]]:
    """The sought force or acceleration of each speed, and the wrench of each body's parent on the body.

    `given[k]` is the acceleration of speed k where `motion_given[k]`, else its force; the other one is sought.
    `wrenches` and `loads` act on the bodies from outside.  The returned wrenches are right if all motion is given;
    otherwise they lack the terms of unknown accelerations.  What each speed has left goes into
    `pivots`.  Speeds in `holds` whose acceleration is sought keep still where the scalar there is 1, not 0.
    """
    g: Vector = list(gravity)
    rates = [x if known else 0.0 for x, known in zip(given, motion_given)]
    free = {k for k, known in enumerate(motion_given) if not known and k not in holds}
    motions: list[Motion] = []
    W: list[Vector] = []
    for i, body in enumerate(bodies):
        here = sweep_outward(body, motions[body.parent] if body.parent is not None else None, q, qd, rates, g, free)
        motions.append(here)
        wrench = inertia_wrench(body, here)
        if wrenches and i in wrenches:
            wrench = subtract(wrench, wrenches[i])
        W.append(wrench)
    for i, load, point in loads:
        n, f = base_vector_in_body(bodies, motions, i, load[:3]), base_vector_in_body(bodies, motions, i, load[3:])
        W[i] = subtract(W[i], transported_wrench(n, f, point))

    loose = bodies_under_unknown_accelerations(bodies, motion_given)
    A: list[Matrix | None] = [mass_matrix(body) if loose[i] else None for i, body in enumerate(bodies)]
    pivots = {} if pivots is None else pivots
    for i, body in reversed(list(enumerate(bodies))):
        A_up, W_up = sweep_inward(body, A[i], W[i], q, qd, given, motion_given, pivots, holds, motions[i].chosen)
        if body.parent is not None:
            W[body.parent] = add(W[body.parent], wrench_at_parent(motions[i], W_up))
            above = A[body.parent]
            if above is not None and A_up is not None:
                A[body.parent] = add_matrices(above, inertia_at_parent(motions[i], A_up))

    sought = list(given)
    extra: list[Vector | None] = []
    for i, body in enumerate(bodies):
        if loose[i]:
            up = extra[body.parent] if body.parent is not None else None
            extra.append(sweep_outward_again(body, motions[i], up, pivots, motion_given, sought))
        else:
            extra.append(None)
            for k in body.speeds:
                sought[k] = pivots[k].x
    return sought, W
