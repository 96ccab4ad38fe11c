"""The steps of each kind of body in a loop over bodies, recorded from the text of `sweeps`.

Bodies whose steps differ in numbers only are of one kind.  The numbers (turns, origins, inertias, drives) are inputs of
the step, except for those that are 0, or the same cosine or sine of a right angle, in all bodies of the kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ...machine.jit import BodyStep
from ...machine.program import Scalar
from ...robot import Body, Drive
from ..numbers.number_symbols import Path, tree_body_number_at, tree_body_number_paths, tree_body_with_symbols
from ..tree import one_body, sweeps, transfer
from ..tree.one_body import Motion
from ..tree.spatial import Matrix, Vector, dot, subtract, to_link_axes, transported_wrench
from ..tree.sweeps import Pivot
from ..tree.vanishing import joint_pivot_loss

SIX = range(6)
UPPER = [(r, s) for r in SIX for s in range(r, 6)]


class BodyTraits(NamedTuple):
    """What the steps of a body depend on besides its structure: what is given, and what acts on it."""

    given: tuple[bool, ...]  # of each speed, whether its acceleration is
    loose: bool  # whether an acceleration that is sought moves it
    loose_above: bool  # whether one moves its parent
    wrenched: bool  # whether a wrench in its own axes acts on it
    turned: bool  # whether a load acts on it or on a body that it carries: loads are in base axes
    loads: int  # that act on it
    watched: tuple[bool, ...]  # of each speed, whether its pivot has a lower bound
    held: tuple[bool, ...]  # of each speed, whether friction or a stop may hold it


class BodyKind:
    """A kind of bodies with the same structure, and the places of those of their numbers that are inputs."""

    def __init__(self, bodies: list[Body], traits: BodyTraits):
        self.traits = traits
        self.model = bodies[0]
        self.paths = [
            path
            for path in tree_body_number_paths(self.model)
            if not _constant(path, [tree_body_number_at(body, path) for body in bodies])
        ]

    def numbers(self, body: Body) -> list[float]:
        return [tree_body_number_at(body, path) for path in self.paths]

    def body(self, step: BodyStep) -> Body:
        """A body of this kind with symbols for its numbers, and with coordinates and speeds that are counted from 0."""
        m = self.model
        local = replace(
            m,
            parent=None,
            coordinates=tuple(range(len(m.coordinates))),
            speeds=tuple(range(len(m.speeds))),
            drives=_local(m),
        )
        return tree_body_with_symbols(local, {path: step.take("number", k) for k, path in enumerate(self.paths)})

    def identity(self) -> tuple[Any, ...]:
        m = self.model
        planes = tuple((i, j) for i, j, _, _ in m.rotation)
        fixed = tuple(
            (path, tree_body_number_at(m, path)) for path in tree_body_number_paths(m) if path not in self.paths
        )
        springs = tuple((drive.coordinate, drive.pose) for drive in _local(m))
        shape = (m.moves, m.directions, len(m.coordinates), planes, tuple(self.paths), fixed, springs)
        return (*shape, *self.traits)


def _local(body: Body) -> tuple[Drive, ...]:
    """The drives of a body with coordinates that are counted from its first one."""
    return tuple(drive.moved(lambda c: c - body.coordinates[0]) for drive in body.drives)


def _constant(path: Path, values: list[float]) -> bool:
    """Whether a number can be a constant of the step: 0 in all bodies, or the same 0 or ±1 of a turn."""
    return len(set(values)) == 1 and values[0] in ((0.0, 1.0, -1.0) if path[0] == "rotation" else (0.0,))


# ---- the three steps of a kind


def _motion(step: BodyStep, where: str) -> Motion:
    """The motion of a body that the rows of a slot hold."""
    here = Motion()
    w, wd, a = ([step.take(where, (name, r)) for r in range(3)] for name in ("w", "wd", "a"))
    here.w, here.wd, here.a = list(w), list(wd), list(a)
    here.U = [[step.take(where, ("U", r, s)) for s in range(3)] for r in range(3)]
    return here


def first_step_of_body_kind(kind: BodyKind, gravity: Vector) -> BodyStep:
    """The first sweep's step for a kind: the motion of a body, and the wrench that this motion needs."""
    step, traits = BodyStep(), kind.traits
    body = kind.body(step)
    n = len(body.speeds)
    q = [step.take("q", k) for k in range(len(body.coordinates))]
    qd, x = ([step.take(name, k) for k in range(n)] for name in ("qd", "x"))
    rates = [x[k] if traits.given[k] else 0.0 for k in range(n)]
    free = [k for k in range(n) if not (traits.given[k] or traits.held[k])]
    here = sweeps.sweep_outward(body, _motion(step, "up"), q, qd, rates, gravity, free)
    for k, chosen in here.chosen.items():
        step.put("own", ("chosen", k), chosen)
    for name in ("w", "wd", "a"):
        for r in range(3):
            step.put("own", (name, r), getattr(here, name)[r])
    for r in range(3):
        for s in range(3):
            step.put("own", ("U", r, s), here.U[r][s])
    for k, angle in enumerate(q):
        step.put("own", ("q", k), angle)
    for what, _, k in body.moves:
        if what in ("turn", "screw"):
            cosine, sine = q[k].cosine_sine()
            step.put("own", ("cos", k), cosine)
            step.put("own", ("sin", k), sine)
    W = one_body.inertia_wrench(body, here)
    if traits.wrenched:
        W = [W[r] - step.take("w", r) for r in SIX]
    if traits.turned:
        W = _less_loads(step, kind, here, W)
    for r in SIX:
        step.put("own", ("W", r), W[r])
    if traits.loose:
        A = one_body.mass_matrix(body)
        for r, s in UPPER:
            step.put("own", ("A", r, s), A[r][s])
    return step


def _less_loads(step: BodyStep, kind: BodyKind, here: Motion, W: Vector) -> Vector:
    """The wrench without the loads in base axes; on the way to them, each body has the base's axes in its own."""
    traits = kind.traits
    columns = [to_link_axes(here.rotation, [step.take("up", ("R", r, s)) for r in range(3)]) for s in range(3)]
    for r in range(3):
        for s in range(3):
            step.put("own", ("R", r, s), columns[s][r])
    R = [[columns[s][r] for s in range(3)] for r in range(3)]
    for k in range(traits.loads):
        six: Vector = [step.take("b", 6 * k + r) for r in SIX]
        point: Vector = [step.take("number", len(kind.paths) + 3 * k + r) for r in range(3)]
        n, f = ([dot(R[r], part) for r in range(3)] for part in (six[:3], six[3:]))
        W = subtract(W, transported_wrench(n, f, point))
    return W


def _placed(step: BodyStep, body: Body) -> tuple[Motion, list[Scalar]]:
    """The body's placement and coordinates, from the cosines and sines that the first sweep has stored."""
    turning = {k for what, _, k in body.moves if what in ("turn", "screw")}
    angles = [step.take("own", ("q", k)) for k in range(len(body.coordinates))]
    for k in turning:
        step.graph.set_cosine_sine(angles[k], step.take("own", ("cos", k)), step.take("own", ("sin", k)))
    here = Motion()
    here.steps = None
    here.rotation, here.origin = transfer.placement_of_body(body, angles)
    return here, list(angles)


def _chosen(step: BodyStep, kind: BodyKind, body: Body) -> dict[int, Scalar]:
    """The accelerations that the first sweep has chosen."""
    traits = kind.traits
    known = [given or held for given, held in zip(traits.given, traits.held)]
    free = [k for k in range(len(body.speeds)) if sweeps.body_chooses_acceleration(body, known[k])]
    return {k: step.take("own", ("chosen", k)) for k in free}


def second_step_of_body_kind(kind: BodyKind, output: str) -> BodyStep:
    """The second sweep's step for a kind: its speeds are eliminated, and inertia and wrench go to the parent."""
    step, traits = BodyStep(), kind.traits
    body = kind.body(step)
    n = len(body.speeds)
    here, q = _placed(step, body)
    qd, x = ([step.take(name, k) for k in range(n)] for name in ("qd", "x"))
    W: Vector = [step.take("own", ("W", r)) for r in SIX]
    A: Matrix | None = None
    if traits.loose:
        upper = {(r, s): step.take("own", ("A", r, s)) for r, s in UPPER}
        A = [[upper[min(r, s), max(r, s)] for s in SIX] for r in SIX]
    pivots: dict[int, Pivot] = {}
    holds = {k: step.take("hold", k) for k in range(n) if traits.held[k]}
    chosen = _chosen(step, kind, body)
    A_up, W_up = sweeps.sweep_inward(body, A, W, q, qd, x, traits.given, pivots, holds, chosen)
    for k, pivot in pivots.items():
        if pivot.row is None:
            step.put(output, k, pivot.x)
            continue
        step.put("own", ("x", k), pivot.x)
        for r in SIX:
            step.put("own", ("row", k, r), pivot.row[r])
        if pivot.A_d is not None:
            step.put("own", ("support", k), pivot.support)
            for r in SIX:
                step.put("own", ("A_d", k, r), pivot.A_d[r])
        if traits.watched[k]:
            bound = step.take("number", len(kind.paths) + 3 * traits.loads + k)
            one_over = (1.0 - holds[k]) / (pivot.size + holds[k]) if k in holds else 1.0 / pivot.size
            step.watch(joint_pivot_loss(bound, one_over))
    moved = transfer.wrench_at_parent(here, W_up)
    for r in SIX:
        step.put("up", ("W", r), step.take("up", ("W", r)) + moved[r])
    if traits.loose_above and A_up is not None:
        seen = transfer.inertia_at_parent(here, A_up)
        for r, s in UPPER:
            step.put("up", ("A", r, s), step.take("up", ("A", r, s)) + seen[r][s])
    return step


def third_step_of_body_kind(kind: BodyKind, output: str) -> BodyStep:
    """The third sweep's step for a kind: the sought values of its speeds, and the body's share in accelerations."""
    step, traits = BodyStep(), kind.traits
    if not traits.loose:
        return step
    body = kind.body(step)
    here, _ = _placed(step, body)
    here.chosen, here.above = _chosen(step, kind, body), None
    n = len(body.speeds)
    pivots = {k: Pivot([step.take("own", ("row", k, r)) for r in SIX], step.take("own", ("x", k))) for k in range(n)}
    for k in range(n):
        if traits.held[k]:
            pivots[k].support = step.take("own", ("support", k))
            pivots[k].A_d = [step.take("own", ("A_d", k, r)) for r in SIX]
    sought: list[Scalar] = [0.0] * n
    up: Vector | None = [step.take("up", ("extra", r)) for r in SIX] if traits.loose_above else None
    extra = sweeps.sweep_outward_again(body, here, up, pivots, traits.given, sought)
    for k in range(n):
        step.put(output, k, sought[k])
        if traits.held[k]:
            step.put("support", k, pivots[k].support)
    for r in SIX:
        step.put("own", ("extra", r), extra[r])
    return step


def body_structure(body: Body) -> tuple[Any, ...]:
    """Everything in which bodies of one kind have to agree, apart from their place in the tree."""
    return (
        body.moves,
        body.directions,
        bool(body.pitch),
        tuple((a, b) for a, b, _, _ in body.rotation),
        tuple((drive.coordinate, drive.pose) for drive in _local(body)),
        tuple(bool(drive.coulomb) for drive in body.drives),
        tuple(bool(drive.stiffness) for drive in body.drives),
    )
