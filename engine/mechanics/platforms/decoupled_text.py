"""The matrices of the decoupled natural orthogonal complement of a parallel robot, as one text on scalars.

Twists are [ω; v], v at the mass centres, in base-frame axes; e is the platform's mass centre.  Which joints are kept,
and which directions are left to be removed from the platform's twist, is chosen with numbers, by
`Decoupled.at_position`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...errors import NumericalError
from ...machine.program import Part, Scalar, as_float, kernel_parts_in_order, numbers_of_kernel_parts
from ...robot import Body, Robot
from ..closure.constraints import Closure
from ..closure.elimination import pivot_size_margin_of_constraints
from ..closure.rank import TINY
from ..mechanisms.branches import singular_loop_message
from ..mechanisms.reaction_wrenches import NO_PARTITION
from ..mechanisms.texts import NEAR, Arguments, PartitionText
from ..quantities.entries import Entries
from ..tree.dense import Factors
from ..tree.moving import Moving, layout_of_moving_bodies, rotor_inertias
from ..tree.spatial import Matrix, Vector, add, cross, dot, scale, subtract, transported_wrench
from .hanging import Hanging
from .parallel_robot import Leg, Parallel


@dataclass(frozen=True)
class DecouplingOrder:
    """What is chosen at one position: the speeds that are kept, of all directions whether they are removed, pivots."""

    kept: tuple[int, ...]
    removed: tuple[bool, ...] = ()
    sizes: tuple[float, ...] = ()


class KeptJoint(NamedTuple):
    """The kept columns of one link's joint, with the place of the link in its leg."""

    leg: int
    depth: int
    link: int
    columns: tuple[int, ...]


class DecoupledPlaces:
    """The moving links leg by leg, the platform last, and the places of their blocks in the matrices."""

    def __init__(self, robot: Robot, parts: Parallel, kept: Sequence[int]):
        self.at = layout_of_moving_bodies(robot)
        place = {link.body: i for i, link in enumerate(self.at.links)}
        self.e = place[parts.body]
        self.chains = [sorted({place[i] for i in leg.bodies if i in place}) for leg in parts.legs]
        self.order = [i for chain in self.chains for i in chain if i != self.e] + [self.e]
        self.row = {i: 6 * r for r, i in enumerate(self.order)}
        self.joints = [
            KeptJoint(number, depth, i, own)
            for number, chain in enumerate(self.chains)
            for depth, i in enumerate(chain)
            if (own := tuple(k for k in self.at.links[i].columns if self.at.speeds[k] in kept))
        ]
        # the block and the column of each kept speed
        self.kept = {self.at.speeds[k]: (c, k) for c, one in enumerate(self.joints) for k in one.columns}


class Directions:
    """Directions that are added to a projector or removed from it; `pivots` are the squares of their lengths.

    Those that are next to nothing are left out: at a position by their numbers, else as was `decided` there.
    """

    def __init__(self, weights: Sequence[float], decided: Sequence[bool] = ()):
        self._weights, self.decided = weights, list(decided)
        self._coming = iter(decided)
        self.pivots: list[Scalar] = []

    def taken(self, rest: Vector, whole: Vector) -> Vector | None:
        """p̃ᵀ / δ of what is left of a direction, δ = p̃ᵀ p̃; None if it is left out."""
        dual = self._dual(rest)
        delta = dot(dual, rest)
        is_there = next(self._coming, None)
        if is_there is None:
            is_there = as_float(delta) > TINY**2 * as_float(dot(self._dual(whole), whole))
            self.decided.append(is_there)
        if not is_there:
            return None
        self.pivots.append(delta)
        return scale(1.0 / delta, dual)

    def _dual(self, p: Vector) -> Vector:
        return [x * w for x, w in zip(p, self._weights)]


class DecoupledLegs:
    """The legs after the elimination of the rates that aren't kept, and K⁻¹ Φ of each leg."""

    def __init__(self, text: Decoupled, q: list[Scalar], bodies: Sequence[Body]):
        places, self.places = text.places, text.places
        self.text, self.at = text, places.at
        robot = text.loops.robot
        self.moving = Moving(robot, self.at, q, [0.0] * robot.nv)
        hanging = Hanging(text.loops, text.legs, bodies, q)
        arm = subtract(hanging.placed[text.legs.body][1], self.moving.centres[places.e])
        weights = [1.0] * 3 + [text.loops.length**-2] * 3
        self.directions = Directions(weights, text.order.removed)
        self.rates: dict[int, Vector] = {}  # of each eliminated column, θ̇ = L (t_e − …)
        self.Phi = []
        for leg, chain, C in zip(text.legs.legs, places.chains, hanging.rows):
            Phi = self._constrained(leg, [transported_wrench(c[:3], c[3:], arm) for c in C], weights)
            self.Phi.append(self._eliminated(Phi, chain))
        self.K = [[sum((Phi[r][s] for Phi in self.Phi), 0.0) for s in range(6)] for r in range(6)]
        K = Factors([[w * x for x in row] for w, row in zip(weights, self.K)])
        self.pivots = [*self.directions.pivots, *(1.0 / x for x in K.one_over)]
        self._K, self._weights = K, weights

    def carried(self, i: int, j: int, t: Vector) -> Vector:
        """A_ij t: the twist of link j as that of link i, if the two were rigidly connected."""
        c = subtract(self.moving.centres[i], self.moving.centres[j])
        return [*t[:3], *add(t[3:], cross(t[:3], c))]

    def column(self, k: int) -> Vector:
        """The twist p of its own link for a unit of a column's speed."""
        turn, shift = self.moving.P[k]
        return [*turn, *shift]

    def platform(self, one: KeptJoint, t: Vector) -> Vector:
        """K⁻¹ Φ A t: the platform's twist for a twist of a kept joint's link by this joint alone (eq. 29)."""
        p = self.carried(self.places.e, one.link, t)
        return self._K.solve([w * dot(row, p) for w, row in zip(self._weights, self.Phi[one.leg])])

    def _constrained(self, leg: Leg, C: Matrix, weights: Sequence[float]) -> Matrix:
        """Φ without the twists that the leg's cut allows: the projector on G⁻¹ Cᵀ, square to these in the metric G."""
        if leg.loop is None:
            return [[float(r == s) for s in range(6)] for r in range(6)]
        Phi: Matrix = [[0.0] * 6 for _ in range(6)]
        for row in C:
            whole = [x * (1.0 / w) for x, w in zip(row, weights)]
            rest = subtract(whole, [dot(line, whole) for line in Phi])
            share = self.directions.taken(rest, whole)
            if share is not None:
                Phi = [add(line, scale(x, share)) for line, x in zip(Phi, rest)]
        return Phi

    def _eliminated(self, Phi: Matrix, chain: Sequence[int]) -> Matrix:
        """Φ without the directions of the leg's rates that aren't kept, from the platform inwards (eqs. 25 to 27)."""
        kept = self.places.kept
        for i in reversed(chain):
            inner: list[tuple[int, Vector]] = []
            for k in reversed(self.at.links[i].columns):
                if self.at.speeds[k] in kept:
                    continue
                whole = self.carried(self.places.e, i, self.column(k))
                rest = [dot(line, whole) for line in Phi]
                share = self.directions.taken(rest, whole)
                if share is not None:
                    Phi = [subtract(line, scale(x, share)) for line, x in zip(Phi, rest)]  # eq. 27b
                    inner.insert(0, (k, share))
            for k, share in inner:  # θ̇ = p̃ᵀ (t_e − …) / δ (eq. 27a), less the inner columns of the same joint
                for j, _ in inner:
                    if j < k:
                        p = self.carried(self.places.e, i, self.column(j))
                        share = subtract(share, scale(dot(share, p), self.rates[j]))
                self.rates[k] = share
        return Phi


class Decoupled(PartitionText):
    """The text of N_l, N_c, N_d, M, I, J, J_e and K; of t, too, if it has speeds."""

    chosen = ("order", "legs")
    shareable = False

    def __init__(self, loops: Closure, parts: Parallel, order: DecouplingOrder, moving: bool):
        self.inputs = ("q", "qd") if moving else ("q",)
        self.legs, self.order = parts, order
        self.places = DecoupledPlaces(loops.robot, parts, order.kept)
        self._parts = _parts_of_matrices(loops.robot, self.places, order.kept, moving)
        super().__init__(loops, NO_PARTITION)

    @classmethod
    def at_position(
        cls, loops: Closure, parts: Parallel, kept: Sequence[int], moving: bool, q: np.ndarray
    ) -> Decoupled:
        """The text in the order that is good at q, or an error if the kept rates don't decide the platform's twist."""
        start = cls(loops, parts, DecouplingOrder(tuple(kept)), moving)
        try:
            found = DecoupledLegs(start, q.tolist(), loops.bodies)
        except ZeroDivisionError:
            raise NumericalError(singular_loop_message(loops.robot)) from None
        sizes = tuple(abs(as_float(x)) for x in found.pivots)
        if any(not size > TINY**2 * max(sizes) for size in sizes[-6:]):
            raise NumericalError(singular_loop_message(loops.robot))
        order = replace(start.order, removed=tuple(found.directions.decided), sizes=sizes)
        return cls(loops, parts, order, moving)

    def parts(self) -> tuple[Part, ...]:
        """The matrices, the order of the links, and the names of the kept speeds."""
        return self._parts

    def share(self, q: np.ndarray) -> float:
        """The share of the pivot that has lost most."""
        try:
            pivots = DecoupledLegs(self, q.tolist(), self.loops.bodies).pivots
        except ZeroDivisionError:
            return 0.0
        return min((abs(as_float(x)) / size for x, size in zip(pivots, self.order.sizes)), default=1.0)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The matrices, and checks."""
        q, robot = given["q"], self.loops.robot
        legs, found = DecoupledLegs(self, q, bodies), Entries()
        speeds = given.get("qd", [0.0] * robot.nv)
        N = _complements(legs, found)
        J = _tree_jacobian(legs, N)
        _inertias(legs, found, N, J, rotor_inertias(robot))
        for f in range(len(self.order.kept)):
            for r in range(robot.nv):
                found.put("J", r, f, J[f].get(r, 0.0))
            for r in range(6):
                found.put("J_e", r, f, N[self.places.e][f][r])
        found.block("K", 0, 0, legs.K)
        if "qd" in given:
            for i in self.places.order:
                t: Vector = [0.0] * 6
                for k, column in zip(self.order.kept, N[i]):
                    t = add(t, scale(speeds[k], column))
                for r, x in enumerate(t):
                    found.put("t", 0, self.places.row[i] + r, x)
        fit = pivot_size_margin_of_constraints(legs.pivots, [NEAR * size for size in self.order.sizes])
        return found.numbers(self._parts), [fit, *self.closing(q, speeds, self.loops.ties_at(q))]


def _complements(legs: DecoupledLegs, found: Entries) -> dict[int, list[Vector]]:
    """N_d, N_c and N_l; returns N of each link, a column for each kept speed."""
    places, at, kept = legs.places, legs.at, legs.text.order.kept
    blocks: dict[int, list[list[Vector]]] = {i: [] for i in places.order}  # of N_c, by columns
    for one in places.joints:
        S = [legs.platform(one, u) for u in _units()]
        for i, block in _leg_rows(legs, one, S):
            blocks[i].append(block)
    for c, one in enumerate(places.joints):
        for k in one.columns:
            f = kept.index(at.speeds[k])
            for r, x in enumerate(legs.column(k)):
                found.put("N_d", 6 * c + r, f, x)
        for i in places.order:
            for s, column in enumerate(blocks[i][c]):
                for r, x in enumerate(column):
                    found.put("N_c", places.row[i] + r, 6 * c + s, x)
    N: dict[int, list[Vector]] = {}
    for i in places.order:
        N[i] = []
        for c, k in (places.kept[k] for k in kept):
            total: Vector = [0.0] * 6
            for x, column in zip(legs.column(k), blocks[i][c]):
                total = add(total, scale(x, column))
            N[i].append(total)
    _lower(legs, found, N)
    return N


def _units() -> list[Vector]:
    """The twists of one component."""
    return [[float(r == s) for r in range(6)] for s in range(6)]


def _leg_rows(legs: DecoupledLegs, one: KeptJoint, S: Sequence[Vector]) -> Iterator[tuple[int, list[Vector]]]:
    """The rows of all links in the block column of N_c that belongs to one kept joint, column by column."""
    places = legs.places
    yield places.e, list(S)
    carried = [legs.carried(places.e, one.link, u) for u in _units()]
    for number, chain in enumerate(places.chains):
        for depth, i in enumerate(chain):
            if i == places.e:
                continue
            # eliminated rates follow from t_e less the terms of the leg's kept joints from here on
            beyond = number == one.leg and one.depth >= depth
            block = _units() if i == one.link else [scale(0.0, u) for u in _units()]
            for k in legs.at.links[i].columns:
                if k in legs.rates:
                    for s, t in enumerate(S):
                        rate = dot(legs.rates[k], subtract(t, carried[s]) if beyond else t)
                        block[s] = add(block[s], scale(rate, legs.column(k)))
            yield i, block


def _lower(legs: DecoupledLegs, found: Entries, N: dict[int, list[Vector]]) -> None:
    """N_l; and N, which comes as N_c N_d, is multiplied by it."""
    places = legs.places
    for i in places.order:
        for r in range(6):
            found.put("N_l", places.row[i] + r, places.row[i] + r, 1.0)
    for chain in places.chains:
        own = [i for i in chain if i != places.e]
        lower: dict[tuple[int, int], list[Vector]] = {}  # by columns
        for depth, i in enumerate(own[1:], start=1):
            before = own[depth - 1]
            for j in own[:depth]:
                units = lower.get((before, j)) or _units()
                lower[i, j] = [_step(legs, i, before, u) for u in units]
                for s, column in enumerate(lower[i, j]):
                    for r, x in enumerate(column):
                        found.put("N_l", places.row[i] + r, places.row[j] + s, x)
            N[i] = [add(x, _step(legs, i, before, t)) for x, t in zip(N[i], N[before])]


def _step(legs: DecoupledLegs, i: int, before: int, t: Vector) -> Vector:
    """Ψ A t: the twist of a link by that of the link before it, while the platform keeps still (eq. 31)."""
    e = legs.places.e
    moved, felt = legs.carried(i, before, t), legs.carried(e, before, t)
    for k in legs.at.links[i].columns:
        if k in legs.rates:
            moved = subtract(moved, scale(dot(legs.rates[k], felt), legs.column(k)))
    return moved


def _tree_jacobian(legs: DecoupledLegs, N: dict[int, list[Vector]]) -> list[dict[int, Scalar]]:
    """J: for each kept speed, the speeds of the tree: θ̇ = L (t_e − …)."""
    places, at, result = legs.places, legs.at, list[dict[int, Scalar]]()
    for f, speed in enumerate(legs.text.order.kept):
        own: dict[int, Scalar] = {speed: 1.0}
        c, column = places.kept[speed]
        one = places.joints[c]
        for number, chain in enumerate(places.chains):
            for depth, i in enumerate(chain):
                left = N[places.e][f]
                if depth:
                    left = subtract(left, legs.carried(places.e, chain[depth - 1], N[chain[depth - 1]][f]))
                if number == one.leg and one.depth >= depth:
                    left = subtract(left, legs.carried(places.e, one.link, legs.column(column)))
                for k in at.links[i].columns:
                    if k in legs.rates:
                        own[at.speeds[k]] = dot(legs.rates[k], left)
        result.append(own)
    return result


def _inertias(
    legs: DecoupledLegs, found: Entries, N: dict[int, list[Vector]], J: Sequence[dict[int, Scalar]], rotors: Vector
) -> None:
    """M, and I = Nᵀ M N with rotors."""
    places, moving, n = legs.places, legs.moving, len(J)
    I: Matrix = [[0.0] * n for _ in range(n)]
    for i in places.order:
        found.block("M", places.row[i], places.row[i], moving.mass_matrix(i))
        inertia, m = moving.inertias[i], moving.masses[i]
        momenta = [[*(dot(row, t[:3]) for row in inertia), *scale(m, t[3:])] for t in N[i]]
        for f in range(n):
            for g in range(f + 1):
                I[f][g] = I[f][g] + dot(N[i][f], momenta[g])
    for f in range(n):
        for g in range(f + 1):
            for k in sorted(J[f].keys() & J[g].keys()):
                I[f][g] = I[f][g] + rotors[k] * (J[f][k] * J[g][k])
            found.put("I", f, g, I[f][g])
            if f != g:
                found.put("I", g, f, I[f][g])


def _parts_of_matrices(robot: Robot, places: DecoupledPlaces, kept: Sequence[int], moving: bool) -> tuple[Part, ...]:
    """The matrices, which lie one behind the other row by row, and the names that belong to them."""
    n, joints, f = 6 * len(places.order), 6 * len(places.joints), len(kept)
    matrices = kernel_parts_in_order(
        [
            ("N_l", (n, n)),
            ("N_c", (n, joints)),
            ("N_d", (joints, f)),
            ("M", (n, n)),
            ("I", (f, f)),
            ("J", (robot.nv, f)),
            ("J_e", (6, f)),
            ("K", (6, 6)),
        ]
    )
    names = _speed_names(robot)
    order = Part("order", 0, thing=tuple(places.at.links[i].name for i in places.order))
    independent = Part("independent", 0, thing=tuple(names[k] for k in kept))
    t = kernel_parts_in_order([("t", (n,))], first=numbers_of_kernel_parts(matrices)) if moving else ()
    return *matrices, order, independent, *t


def _speed_names(robot: Robot) -> dict[int, str]:
    """Names of all speeds: the joint's, with a suffix where it has several."""
    return {
        k: f"{joint.name}.{suffix}" if joint.type.nv > 1 else joint.name
        for joint in robot.moving
        for k, suffix in zip(joint.speeds, joint.type.speeds)
    }
