"""Forward dynamics of mechanisms, subsystem by subsystem: the three sweeps of a tree, run over groups of bodies.

A group (`blocks.py`) is what loops hold together.  Its loops are closed where they are: its accelerations are
q̈ = G z̈ + g with G and g from the group's own rows, [A; N] q̈ = [a; z̈].  Where turns about parallel axes follow each
other, q̈, and forces and inertias along it, are those of their sums (`blocks.py:sums_of_parallel_turns`).  Eliminated
are the freedoms z̈, by block pivots Φ = Gᵀ I G, where I is the inertia that the group's joints feel with all articulated
inertias that hang on it:

1. out:  twists and given accelerations, the group's rows, G and g, and the wrenches that the motion needs;
2. in:   Φ = Gᵀ I G = U D Uᵀ, Ψ̂ = Σ B p G, M̂ ← M̃ − Ψ̂ Φ⁻¹ Ψ̂ᵀ, which is handed on to the body that carries the group;
3. out:  z̈ = Φ⁻¹ (φ − Ψ̂ᵀ μ), and so q̈ and the motion μ of the bodies that carry other groups.

A group without freedoms has no pivot: it is handed on as it is.  For a single body without loops G = 1, and the sweeps
are those of `tree/sweeps.py`.  If one group has all bodies, this is the whole mechanism's Tᵀ I T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...machine.program import Scalar
from ...robot import Body
from ..tree.dense import Composite, JointInertia
from ..tree.one_body import Motion, inertia_wrench, joint_twist, mass_matrix
from ..tree.spatial import Matrix, Vector, add, add_matrices, dot, scale, subtract, transported_wrench, transpose
from ..tree.sweeps import Load, Pivot, Wrenches, base_vector_in_body, sweep_inward, sweep_outward, sweep_outward_again
from ..tree.transfer import inertia_at_parent, motion_at_child, wrench_at_parent
from .elimination import Elimination, combined, taken_apart
from .partition import Portion


@dataclass
class Group:
    """One group between the sweeps; speeds, rows and freedoms are counted within the group."""

    portion: Portion
    motions: dict[int, Motion] = field(default_factory=dict)
    W: dict[int, Vector] = field(default_factory=dict)
    A: dict[int, Matrix] = field(default_factory=dict)  # handed on by the groups that hang on each body
    T: list[Vector] = field(default_factory=list)  # the columns of G, for sums of speeds
    start: Vector = field(default_factory=list)  # g, for sums of speeds
    pivots: dict[int, Pivot] = field(default_factory=dict)  # of a single body, by speed
    freedoms: list[Freedom] = field(default_factory=list)
    still: Vector = field(default_factory=list)  # accelerations if the carrying body kept still


@dataclass
class Freedom:
    """One freedom after its elimination: ψ along earlier freedoms and along the carrying body, and x."""

    earlier: Vector
    carrier: Vector
    x: Scalar
    one_over: Scalar


@dataclass(frozen=True)
class State:
    """The instant, for all speeds of the robot: `given` are accelerations where `motion_given`, else forces."""

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    given: Sequence[Scalar]
    motion_given: Sequence[bool]
    gravity: Vector


# ---- first sweep


def embed_loops_first_sweep(group: Group, bodies: Sequence[Body], state: State, up: Motion | None) -> None:
    """The motions of the group's bodies and the wrenches that these need, accelerations within loops not included."""
    open_ = not group.portion.block.tied
    rates = [x if known and open_ else 0.0 for x, known in zip(state.given, state.motion_given)]
    free = [k for k, known in enumerate(state.motion_given) if open_ and not known]
    for i in group.portion.block.bodies:
        body = bodies[i]
        before = up if body.parent is None else group.motions.get(body.parent, up)
        here = sweep_outward(body, before, state.q, state.qd, rates, state.gravity, free)
        group.motions[i], group.W[i] = here, inertia_wrench(body, here)


def embed_loop_group(group: Group, K: Elimination, known: Sequence[Scalar]) -> None:
    """The columns of G and g, from the factors of the group's rows and from what these rows are to be."""
    n, count = len(known), group.portion.freedoms
    group.T = [K.solve_for_sums([0.0] * n + [float(c == j) for j in range(count)]) for c in range(count)]
    group.start = K.solve_for_sums([*known, *([0.0] * count)])


# ---- second sweep


def embed_loops_second_sweep(
    group: Group, bodies: Sequence[Body], state: State, moved: bool
) -> tuple[Matrix, Vector] | None:
    """The inertia and the wrench that the group hands on, if an unknown acceleration moves the body that carries it."""
    if group.portion.block.tied:
        return _embedded(group, bodies, state, moved)
    (i,) = group.portion.block.bodies
    A, here = None, group.motions[i]
    if moved or not all(state.motion_given[k] for k in bodies[i].speeds):
        A = _with(group.A.get(i), mass_matrix(bodies[i]))
    forces = state.q, state.qd, state.given, state.motion_given
    A, W = sweep_inward(bodies[i], A, group.W[i], *forces, group.pivots, chosen=here.chosen)
    return (inertia_at_parent(here, A), wrench_at_parent(here, W)) if moved and A is not None else None


def _embedded(group: Group, bodies: Sequence[Body], state: State, moved: bool) -> tuple[Matrix, Vector] | None:
    """The elimination of a group's freedoms, with G and g for its loops."""
    block, sums = group.portion.block, group.portion.sums
    composites = {i: Composite(bodies[i], group.motions[i], group.A.get(i)) for i in block.bodies}
    inertia = JointInertia(bodies, block.bodies, composites)
    needed, W = _needed(group, bodies, state)
    I = transpose([combined([inertia.between.get((j, k), 0.0) for k in block.speeds], sums) for j in block.speeds])
    I = [combined(row, sums) for row in I]
    force = combined([0.0 if state.motion_given[k] else state.given[k] - needed[k] for k in block.speeds], sums)
    MG = [[dot(row, column) for row in I] for column in group.T]
    Phi = [[dot(group.T[max(c, d)], MG[min(c, d)]) for d in range(len(MG))] for c in range(len(MG))]
    phi = [dot(column, force) - dot(moving, group.start) for column, moving in zip(group.T, MG)]
    if not moved:
        group.freedoms, _, _ = eliminate_loop_freedoms(Phi, [[] for _ in phi], phi, [], [])
        group.still = _accelerations(group, None)
        return None
    outside = transpose([combined(row, sums) for row in transpose([inertia.outside[k] for k in block.speeds])])
    W = add(W, _combined(outside, group.start))
    Psi = [_combined(outside, column) for column in group.T]
    group.freedoms, A, W = eliminate_loop_freedoms(Phi, Psi, phi, inertia.carried.matrix(), W)
    return A, W


def _needed(group: Group, bodies: Sequence[Body], state: State) -> tuple[dict[int, Scalar], Vector]:
    """The forces of the group's joints for their motions so far, and the wrench of the body that carries the group."""
    block, W = group.portion.block, group.W
    pivots: dict[int, Pivot] = {}
    total: Vector = [0.0] * 6
    given, nothing = [True] * len(state.qd), [0.0] * len(state.qd)
    for i in reversed(block.bodies):
        body = bodies[i]
        _, six = sweep_inward(body, None, W[i], state.q, state.qd, nothing, given, pivots)
        six = wrench_at_parent(group.motions[i], six)
        if body.parent is not None and body.parent in W:
            W[body.parent] = add(W[body.parent], six)
        else:
            total = add(total, six)
    return {k: pivot.x for k, pivot in pivots.items()}, total


def eliminate_loop_freedoms(
    Phi: Matrix, Psi: Sequence[Vector], phi: Vector, A: Matrix, W: Vector
) -> tuple[list[Freedom], Matrix, Vector]:
    """The freedoms of a group eliminated from the last to the first, with what this leaves of A and W.

    It is the reverse Gaussian elimination of [Φ, Ψ̂ᵀ; Ψ̂, M̃], with one scalar pivot for each freedom.
    """
    n, width = len(phi), len(W)
    Phi, Psi, phi = [list(row) for row in Phi], [list(row) for row in Psi], list(phi)
    result: list[Freedom] = []
    for j in reversed(range(n)):
        one_over = 1.0 / Phi[j][j]
        x = phi[j] * one_over
        earlier, carrier = [Phi[i][j] * one_over for i in range(j)], [y * one_over for y in Psi[j]]
        for i in range(j):
            for k in range(i, j):
                Phi[i][k] = Phi[i][k] - earlier[i] * Phi[k][j]
            Psi[i] = subtract(Psi[i], scale(earlier[i], Psi[j]))
            phi[i] = phi[i] - Phi[i][j] * x
        W = add(W, scale(x, Psi[j]))
        upper = [[A[r][s] - carrier[r] * Psi[j][s] for s in range(r, width)] for r in range(width)]
        A = [[upper[min(r, s)][abs(r - s)] for s in range(width)] for r in range(width)]
        result.insert(0, Freedom(earlier, carrier, x, one_over))
    return result, A, W


def _combined(columns: Sequence[Vector], shares: Sequence[Scalar]) -> Vector:
    """The sum of the columns, each multiplied by its share."""
    total: Vector = [0.0] * 6
    for column, share in zip(columns, shares):
        total = add(total, scale(share, column))
    return total


def _accelerations(group: Group, up: Vector | None) -> Vector:
    """The accelerations of the group's speeds, if the carrying body moves by `up`, or keeps still."""
    z: Vector = []
    for freedom in group.freedoms:
        x = freedom.x
        for share, other in zip(freedom.earlier, z):
            x = x - share * other
        if up is not None and freedom.carrier:
            x = x - dot(freedom.carrier, up)
        z.append(x)
    result = list(group.start)
    for column, x in zip(group.T, z):
        result = add(result, scale(x, column))
    return taken_apart(result, group.portion.sums)


# ---- third sweep


def embed_loops_third_sweep(
    group: Group, bodies: Sequence[Body], state: State, up: Vector | None, sought: list[Scalar]
) -> dict[int, Vector]:
    """The motions, by unknown accelerations, of bodies that carry groups; accelerations go into `sought`."""
    block, result = group.portion.block, dict[int, Vector]()
    if not block.tied:
        (i,) = block.bodies
        if up is not None or not all(state.motion_given[k] for k in bodies[i].speeds):
            result[i] = sweep_outward_again(bodies[i], group.motions[i], up, group.pivots, state.motion_given, sought)
        for k in bodies[i].speeds:
            sought[k] = state.given[k] if state.motion_given[k] else sought[k]
        return result
    for k, x in zip(block.speeds, _accelerations(group, up) if up is not None else group.still):
        sought[k] = x
    for i in block.carriers:
        body = bodies[i]
        before = result[body.parent] if body.parent in group.motions else up
        spin, slide = joint_twist(body, sought)
        result[i] = add(motion_at_child(group.motions[i], before), spin + slide) if before else spin + slide
    return result


# ---- the whole mechanism


def loop_accelerations(
    portions: Sequence[Portion],
    factors: Sequence[Elimination],
    bodies: Sequence[Body],
    state: State,
    known: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> tuple[list[Scalar], dict[int, Scalar]]:
    """All accelerations, with those in `known` along the known rows of K, and 1 over the freedoms' pivots.

    `factors` are those of each group's rows; pivots are named by the rows of K that pick the freedoms.
    """
    groups = [Group(portion) for portion in portions]
    motions: dict[int, Motion] = {}
    owner = {i: group for group in groups for i in group.portion.block.bodies}
    for group, K in zip(groups, factors):
        block = group.portion.block
        embed_loops_first_sweep(group, bodies, state, None if block.parent is None else motions[block.parent])
        motions.update(group.motions)
        if block.tied:
            embed_loop_group(group, K, [known[r] for r in group.portion.rows[: group.portion.known]])
    _loaded(owner, bodies, motions, wrenches, loads)
    loose = _loose(groups, state)
    for group in reversed(groups):
        parent = group.portion.block.parent
        handed_on = embed_loops_second_sweep(group, bodies, state, parent is not None and loose[parent])
        if parent is not None and handed_on is not None:
            up = owner[parent]
            up.A[parent] = _with(up.A.get(parent), handed_on[0])
            up.W[parent] = add(up.W[parent], handed_on[1])
    sought: list[Scalar] = [0.0] * len(state.qd)
    extra: dict[int, Vector] = {}
    for group in groups:
        parent = group.portion.block.parent
        extra.update(
            embed_loops_third_sweep(group, bodies, state, extra.get(parent) if parent is not None else None, sought)
        )
    named: dict[int, Scalar] = {}
    for group in groups:
        named.update(zip(group.portion.rows[group.portion.known :], freedom_pivots_of_loop_group(group, bodies, state)))
    return sought, named


def _with(A: Matrix | None, other: Matrix) -> Matrix:
    return other if A is None else add_matrices(A, other)


def _loaded(
    owner: Mapping[int, Group],
    bodies: Sequence[Body],
    motions: Mapping[int, Motion],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> None:
    """Takes what acts on the bodies from outside off the wrenches that they need."""
    for i, six in wrenches.items():
        owner[i].W[i] = subtract(owner[i].W[i], six)
    for i, load, point in loads:
        n, f = base_vector_in_body(bodies, motions, i, load[:3]), base_vector_in_body(bodies, motions, i, load[3:])
        owner[i].W[i] = subtract(owner[i].W[i], transported_wrench(n, f, point))


def freedom_pivots_of_loop_group(group: Group, bodies: Sequence[Body], state: State) -> list[Scalar]:
    """1 over the pivot of each freedom of the group."""
    if group.portion.block.tied:
        return [freedom.one_over for freedom in group.freedoms]
    (i,) = group.portion.block.bodies
    return [1.0 / group.pivots[k].size for k in bodies[i].speeds if not state.motion_given[k]]


def _loose(groups: Sequence[Group], state: State) -> dict[int, bool]:
    """For each body whether an unknown acceleration moves it: one of its own group's, or of a group before."""
    result: dict[int, bool] = {}
    for group in groups:
        block = group.portion.block
        own = block.tied or not all(state.motion_given[k] for k in block.speeds)
        for i in block.bodies:
            result[i] = own or (block.parent is not None and result[block.parent])
    return result
