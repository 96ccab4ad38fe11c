"""Inverse dynamics of a parallel robot by its parts, as one text on scalars.

Twists are the platform's, t = [ω; v] at its origin e, in base-frame axes.  A leg gives it t = P̃ q̇ + (any twist that the
cut allows), so the cut's constraint rows C give C t = C P̃ q̇.  As many of these rows as the leg has joints, J = C P̃,
make the leg's rates a function of the platform's twist, q̇ = X t with X = J⁻¹ C (Khalil 2010, eqs. 63 and 64); the
others are constraints on the platform, whose freedoms are t = T ν.  With Γ the forces that the legs' joints need
without platform, and F_p what the platform needs by itself,

    Bᵀ τ = Tᵀ (F_p + Σ Xᵀ Γ),   B = X T for the actuated joints                                            (eq. 66)

With more actuators than freedoms these equations may go to who solves them, with the forces that each leg has if it
carries its share of the platform, P̃ᵀ s F_p beside Γ (Khan 2002, section 3.2).

Which rows of C, which freedoms and which pivots are taken is chosen with numbers, in `platform_order_at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError, NumericalError
from ...machine.program import Part, Scalar, as_float, undivided_kernel_results
from ...robot import ZERO, Body, Robot
from ..closure.constraints import Closure
from ..closure.elimination import Elimination, Pivots, pivot_order_of_constraints, pivot_size_margin_of_constraints
from ..closure.rank import independent_constraint_rows
from ..mechanisms.branches import loop_actuator_efforts, singular_loop_message
from ..mechanisms.effort import loop_efforts_have_limits
from ..mechanisms.families import TextFamily
from ..mechanisms.reaction_wrenches import NO_PARTITION
from ..mechanisms.texts import NEAR, Arguments, PartitionText
from ..tree.dense import Factors, inertia_vanishes_in_all_states
from ..tree.one_body import Motion, inertia_wrench
from ..tree.spatial import Matrix, Vector, dot, subtract, transported_wrench
from ..tree.sweeps import sweep_outward, sweep_tree
from .hanging import Hanging
from .parallel_robot import Parallel

LEAST = 1e-9  # pivot of numbers without units below which a position is singular


@dataclass(frozen=True)
class Chosen:
    """Rows of a linear system in the order of its pivots, and the size of these where it was chosen."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    pivots: Pivots
    sizes: tuple[float, ...]


@dataclass(frozen=True)
class PlatformOrder:
    """What was chosen at one position: for each leg, for the platform's freedoms, and for the actuators' forces."""

    legs: tuple[Chosen, ...]
    freedoms: Chosen
    actuators: Chosen


class ByLegs:
    """The systems that lead from the platform's freedoms to the actuated rates; `pivots` are those of all of them."""

    def __init__(self, text: PlatformInverse, q: Sequence[Scalar], bodies: Sequence[Body]):
        self.hanging = Hanging(text.loops, text.legs, bodies, q)
        order, legs = text.order, text.legs.legs
        self.pivots: list[Scalar] = []
        self.X: dict[int, Vector] = {}  # of each speed, from the platform's twist
        forbids: Matrix = []
        for leg, chosen, C, J in zip(legs, order.legs, self.hanging.rows, self.hanging.J):
            own = self._solved([J[r] for r in chosen.rows], [C[r] for r in chosen.rows], chosen)
            self.X.update(zip(leg.speeds, own))
            rest = [r for r in range(len(C)) if r not in chosen.rows]
            forbids += [[C[r][k] - _product(J[r], own, k) for k in range(6)] for r in rest]
        self.T = self._freedoms(forbids, text.unit, order.freedoms)
        driven = text.loops.robot.driven
        self.B = [[_product(self.X[k], self.T, f) for f in range(len(self.T[0]))] for k in driven]

    def _solved(self, A: Matrix, right: Matrix, chosen: Chosen) -> Matrix:
        """A⁻¹ right."""
        K = Elimination(A, chosen.pivots)
        self.pivots += K.pivots
        width = len(right[0]) if right else 6
        columns = [K.solve([row[k] for row in right]) for k in range(width)]
        return [[column[r] for column in columns] for r in range(len(A))]

    def _freedoms(self, forbids: Matrix, size: Sequence[float], chosen: Chosen) -> Matrix:
        """T: the twists that all legs allow, a column for each freedom."""
        free = [k for k in range(6) if k not in chosen.columns]
        rows = [[x * s for x, s in zip(forbids[r], size)] for r in chosen.rows]
        A, right = ([[row[k] for k in some] for row in rows] for some in (chosen.columns, free))
        follow = self._solved(A, right, chosen) if rows else []
        T: Matrix = [[0.0] * len(free) for _ in range(6)]
        for c, k in enumerate(free):
            T[k][c] = size[k]
        for place, k in enumerate(chosen.columns):
            T[k] = [-size[k] * x for x in follow[place]]
        return T

    def equations(self, F: Vector) -> tuple[Matrix, Vector]:
        """Bᵀ and Tᵀ F."""
        freedoms = range(len(self.T[0]))
        return [[row[f] for row in self.B] for f in freedoms], [_product(F, self.T, f) for f in freedoms]

    def forces(self, F: Vector, chosen: Chosen, one_over: Sequence[float]) -> list[Scalar]:
        """τ with Bᵀ τ = Tᵀ F; of least weighted norm where there are more actuators than freedoms."""
        G, right = self.equations(F)
        n = len(G)
        if chosen.pivots:
            K = Elimination(G, chosen.pivots)
            self.pivots += K.pivots
            return K.solve(right)
        eased = [[x * w for x, w in zip(row, one_over)] for row in G]
        stiffness = Factors([[dot(G[max(i, j)], eased[min(i, j)]) for j in range(n)] for i in range(n)])
        self.pivots += [1.0 / x for x in stiffness.one_over]
        tau: list[Scalar] = [0.0] * len(self.B)
        for row, y in zip(eased, stiffness.solve(right)):
            tau = [x + y * share for x, share in zip(tau, row)]
        return tau


def _product(row: Sequence[Scalar], matrix: Sequence[Sequence[Scalar]], column: int) -> Scalar:
    """The row's product with one column."""
    total: Scalar = 0.0
    for x, other in zip(row, matrix):
        if not (inertia_vanishes_in_all_states(x) or inertia_vanishes_in_all_states(other[column])):
            total = total + x * other[column]
    return total


class PlatformInverse(PartitionText):
    """The text of the actuators' forces from the legs without platform and the platform without legs.

    In an `open` one the equations for these forces are left as they are: its results are Bᵀ, row by row, Tᵀ F, and the
    forces of the actuators with which each leg carries its share of the platform; `shares` has one for each leg.
    """

    chosen = ("order", "legs")
    shareable = False

    def __init__(
        self,
        loops: Closure,
        parts: Parallel,
        chosen: PlatformOrder,
        wrenched: tuple[str, ...],
        *,
        is_open: bool = False,
    ):
        self.legs, self.order, self.open = parts, chosen, is_open
        self.inputs = ("q", "qd", "qdd", "shares") if is_open else ("q", "qd", "qdd")
        self.unit = [1.0] * 3 + [loops.length] * 3
        super().__init__(loops, NO_PARTITION, wrenched)
        self.shares = not chosen.actuators.pivots
        self.final = not (self.shares and loop_efforts_have_limits(loop_actuator_efforts(loops.robot)))

    def width(self, name: str) -> int:
        """The count of numbers per sample in the input of this name."""
        return len(self.legs.legs) if name == "shares" else super().width(name)

    def parts(self) -> Sequence[Part]:
        """One for each actuated speed; of an open text the matrix and two rows."""
        driven, freedoms = len(self.loops.robot.driven), 6 - len(self.order.freedoms.columns)
        return undivided_kernel_results(driven * (freedoms + 1) + freedoms if self.open else driven)

    @property
    def sizes(self) -> list[float]:
        """The pivots' sizes where they were chosen."""
        order = self.order
        return [x for one in (*order.legs, order.freedoms, order.actuators) for x in one.sizes]

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The forces, and checks."""
        robot, q, qd, qdd = self.loops.robot, given["q"], given["qd"], given["qdd"]
        by_legs, here = ByLegs(self, q, bodies), self.legs.body
        on, loads = self.acting(given)
        gravity = robot.gravity
        empty = list(bodies)
        empty[here] = replace(bodies[here], E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0)
        others = {i: six for i, six in on.items() if i != here}, [load for load in loads if load[0] != here]
        gamma, _ = sweep_tree(tuple(empty), gravity, q, qd, qdd, [True] * robot.nv, *others)
        motion: Motion | None = None
        for i in self.legs.legs[0].bodies:
            motion = sweep_outward(bodies[i], motion, q, qd, qdd, list(gravity))
        assert motion is not None
        six = inertia_wrench(bodies[here], motion)
        six = subtract(six, on[here]) if here in on else six
        R, _ = by_legs.hanging.placed[here]
        F = [dot(row, part) for part in (six[:3], six[3:]) for row in R]
        for where, load, point in loads:
            if where == here:
                n, f = list(load[:3]), list(load[3:])
                F = subtract(F, transported_wrench(n, f, [dot(row, list(point)) for row in R]))
        alone = F
        for k, x in by_legs.X.items():
            F = [y if inertia_vanishes_in_all_states(share) else y + share * gamma[k] for y, share in zip(F, x)]
        if self.open:
            Bt, right = by_legs.equations(F)
            for leg, columns, share in zip(self.legs.legs, by_legs.hanging.columns, given["shares"]):
                for k, p in zip(leg.speeds, columns):
                    gamma[k] = gamma[k] + share * dot(p, alone)
            tau = [*(x for row in Bt for x in row), *right, *(gamma[k] for k in robot.driven)]
        else:
            tau = by_legs.forces(F, self.order.actuators, [1.0 / one.weight for one in loop_actuator_efforts(robot)])
        fit = pivot_size_margin_of_constraints(by_legs.pivots, [NEAR * size for size in self.sizes])
        return tau, [fit, *self.closing(q, qd, self.loops.ties_at(q))]

    def share(self, q: np.ndarray) -> float:
        """The share of the pivot that has lost most."""
        try:
            pivots = self.found(q)
        except ZeroDivisionError:
            return 0.0
        return min((abs(pivot / size) for pivot, size in zip(pivots, self.sizes)), default=1.0)

    def found(self, q: np.ndarray) -> list[float]:
        """All pivots at this position."""
        by_legs, efforts = ByLegs(self, q.tolist(), self.loops.bodies), loop_actuator_efforts(self.loops.robot)
        if not self.open:
            by_legs.forces([0.0] * 6, self.order.actuators, [1.0 / one.weight for one in efforts])
        return [as_float(x) for x in by_legs.pivots]


def platform_order_at(loops: Closure, parts: Parallel, q: np.ndarray, *, is_open: bool = False) -> PlatformOrder:
    """A good order at this position, or an error if the platform doesn't decide how a leg moves.

    An open one says nothing of the actuators' forces.
    """
    robot = loops.robot
    hanging = Hanging(loops, parts, loops.bodies, q.tolist())
    size = np.array([1.0] * 3 + [loops.length] * 3)
    legs, forbidden, scale = list[Chosen](), list[np.ndarray](), list[np.ndarray]()
    X = np.zeros((robot.nv, 6))
    for leg, C, J in zip(parts.legs, hanging.rows, hanging.J):
        rows, columns, whole = np.array(C, dtype=float), np.array(J, dtype=float), leg.loop is None
        columns = columns.reshape(len(rows), len(leg.speeds))
        scales = 1.0 / size if whole else loops.row_scale[loops.places[leg.loop or 0]]
        scaled = columns * scales[:, None] * loops.column_scale[list(leg.speeds)]
        own = list(range(len(rows)))  # all rows of the cut, if they are as many as the leg's joints
        if len(rows) != len(leg.speeds):
            own = sorted(independent_constraint_rows(scaled, [range(len(rows))]))
        if len(own) != len(leg.speeds) or len(rows) < len(leg.speeds):
            raise InputError(
                f"{robot.name}: the platform doesn't decide how its leg by `{leg.hangs}` moves",
                found=f"joints {', '.join(leg.joints)}",
                allowed="legs whose joints can't move while the platform keeps still",
                hint="`denoc.inverse` takes such legs, and the leg may be in a singular position",
            )
        legs.append(Chosen(tuple(own), (), *_pivots(robot, columns[own], scaled[own])))
        X[list(leg.speeds)] = np.linalg.solve(columns[own], rows[own]) if own else np.zeros((0, 6))
        rest = [r for r in range(len(rows)) if r not in own]
        forbidden.append((rows[rest] - columns[rest] @ X[list(leg.speeds)]) * size)
        scale.append(scales[rest])
    forbids = np.concatenate(forbidden)
    free_of_units = forbids * np.concatenate(scale)[:, None]
    own = sorted(independent_constraint_rows(free_of_units, [range(len(forbids))])) if len(forbids) else []
    dependent = sorted(independent_constraint_rows(free_of_units[own].T, [range(6)])) if own else []
    inner, without_units = (x[np.ix_(own, dependent)] for x in (forbids, free_of_units))
    freedoms = Chosen(tuple(own), tuple(dependent), *_pivots(robot, inner, without_units))
    free = [k for k in range(6) if k not in dependent]
    T = np.zeros((6, len(free)))
    T[free, range(len(free))] = 1.0
    if own:
        T[dependent] = -np.linalg.solve(inner, forbids[np.ix_(own, free)])
    T *= size[:, None]
    B = X[list(robot.driven)] @ T
    if B.shape[0] < B.shape[1]:
        raise InputError(
            f"{robot.name}: the platform has {B.shape[1]} freedoms for {B.shape[0]} actuators, idle spins among them",
            hint="`denoc.inverse` takes such robots",
        )
    if is_open:
        return PlatformOrder(tuple(legs), freedoms, Chosen((), (), (), ()))
    G = B.T / loops.column_scale[list(robot.driven)]
    if B.shape[0] == B.shape[1]:
        return PlatformOrder(tuple(legs), freedoms, Chosen((), (), *_pivots(robot, B.T, G)))
    eased = B.T / [one.weight for one in loop_actuator_efforts(robot)]
    pivots = [1.0 / as_float(x) for x in Factors((eased @ B).tolist()).one_over]
    return PlatformOrder(tuple(legs), freedoms, Chosen((), (), (), tuple(map(abs, pivots))))


def _pivots(robot: Robot, A: np.ndarray, scaled: np.ndarray) -> tuple[Pivots, tuple[float, ...]]:
    """The order and the sizes of the pivots; an error if one of them vanishes."""
    order = pivot_order_of_constraints(scaled)
    try:
        own, free = (Elimination(x.tolist(), order).pivots for x in (A, scaled))
    except ZeroDivisionError:
        raise NumericalError(singular_loop_message(robot)) from None
    if any(abs(as_float(x)) < LEAST for x in free):
        raise NumericalError(singular_loop_message(robot))
    return order, tuple(abs(as_float(x)) for x in own)


def platform_texts(loops: Closure, parts: Parallel, wrenched: tuple[str, ...], *, is_open: bool = False) -> TextFamily:
    """The family of the robot's texts of inverse dynamics by these parts, open or not."""

    def text(q: np.ndarray) -> PlatformInverse:
        order = platform_order_at(loops, parts, q, is_open=is_open)
        return PlatformInverse(loops, parts, order, wrenched, is_open=is_open)

    return loops.robot.made_once(
        (PlatformInverse, parts.platform, wrenched, is_open),
        lambda: TextFamily(loops, text, NumericalError(singular_loop_message(loops.robot))),
    )
