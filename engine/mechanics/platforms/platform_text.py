"""Inverse dynamics of a parallel robot by its parts, as one text on scalars.

As in `platform_geometry.py`, twists are the platform's at its origin e, in base-frame axes: a leg gives it t = P̃ q̇ +
(any twist that the cut allows), C t = C P̃ q̇, so q̇ = X t, and t = T ν for its freedoms ν.  With Γ the forces that the
legs' joints need without platform, and F_p what the platform needs by itself,

    Bᵀ τ = Tᵀ (F_p + Σ Xᵀ Γ),   B = X T for the actuated joints                       (Khalil 2010, eq. 66)

Which rows of C, which freedoms and which pivots are taken is chosen with numbers, in `platform_order_at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import NumericalError
from ...machine.jit.result_parts import Part, undivided_kernel_results
from ...machine.program.scalars import Scalar, as_float
from ...robot import ZERO, Body, Robot
from ..closure.constraints import Closure
from ..closure.elimination import Elimination, Pivots, pivot_order_of_constraints, pivot_size_margin_of_constraints
from ..closure.rank import independent_constraint_rows
from ..mechanisms.branches import loop_actuator_efforts, singular_loop_message
from ..mechanisms.effort import loop_efforts_have_limits
from ..mechanisms.families import TextFamily
from ..mechanisms.reactions import NO_PARTITION
from ..mechanisms.texts import NEAR, Arguments, PartitionText
from ..tree.dense import Factors, inertia_vanishes_in_all_states
from ..tree.one_body import Motion, inertia_wrench
from ..tree.spatial import Matrix, Vector, dot, subtract, transported_wrench
from ..tree.sweeps import sweep_outward, sweep_tree
from .hanging import Hanging
from .parallel_robot import Leg, Parallel
from .platform_geometry import LegHold, leg_rows, undecided, unlike_actuators

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

    def forces(self, F: Vector, chosen: Chosen, one_over: Sequence[float]) -> list[Scalar]:
        """τ with Bᵀ τ = Tᵀ F; of least weighted norm where there are more actuators than freedoms."""
        n = len(self.T[0])
        right = [_product(F, self.T, f) for f in range(n)]
        G = [[row[f] for row in self.B] for f in range(n)]
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
    """The text of the actuators' forces from the legs without platform and the platform without legs."""

    inputs = ("q", "qd", "qdd")
    chosen = ("order", "legs")
    shareable = False

    def __init__(self, loops: Closure, parts: Parallel, chosen: PlatformOrder, wrenched: tuple[str, ...] = ()):
        self.legs, self.order = parts, chosen
        self.unit = [1.0] * 3 + [loops.length] * 3
        super().__init__(loops, NO_PARTITION, wrenched)
        self.shares = not chosen.actuators.pivots
        self.final = not (self.shares and loop_efforts_have_limits(loop_actuator_efforts(loops.robot)))

    def parts(self) -> Sequence[Part]:
        """One for each actuated speed."""
        return undivided_kernel_results(len(self.loops.robot.driven))

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
        for k, x in by_legs.X.items():
            F = [y if inertia_vanishes_in_all_states(share) else y + share * gamma[k] for y, share in zip(F, x)]
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
        by_legs = ByLegs(self, q.tolist(), self.loops.bodies)
        by_legs.forces(
            [0.0] * 6, self.order.actuators, [1.0 / one.weight for one in loop_actuator_efforts(self.loops.robot)]
        )
        return [as_float(x) for x in by_legs.pivots]


def platform_order_at(loops: Closure, parts: Parallel, q: np.ndarray) -> PlatformOrder:
    """A good order at this position, or an error if the platform doesn't decide how a leg moves."""
    robot = loops.robot
    hanging = Hanging(loops, parts, loops.bodies, q.tolist())
    size = np.array([1.0] * 3 + [loops.length] * 3)
    legs, holds = list[Chosen](), list[LegHold]()
    for leg, C, J in zip(parts.legs, hanging.rows, hanging.J):
        rows, columns, whole = np.array(C, dtype=float), np.array(J, dtype=float), leg.loop is None
        columns = columns.reshape(len(rows), len(leg.speeds))
        scales = 1.0 / size if whole else loops.row_scale[loops.places[leg.loop or 0]]
        scaled = columns * scales[:, None] * loops.column_scale[list(leg.speeds)]
        own = leg_rows(scaled)
        if len(own) != len(leg.speeds) or len(rows) < len(leg.speeds):
            raise undecided(robot, leg)
        legs.append(Chosen(tuple(own), (), *_pivots(robot, columns[own], scaled[own])))
        X = np.linalg.solve(columns[own], rows[own]) if own else np.zeros((0, 6))
        rest = [r for r in range(len(rows)) if r not in own]
        holds.append(LegHold(columns, rows, X, (rows[rest] - columns[rest] @ X) * size))
    forbids = np.concatenate([hold.forbids for hold in holds])
    scale = np.concatenate([_scales(loops, leg, one) for leg, one in zip(parts.legs, legs)])
    own = sorted(independent_constraint_rows(forbids * scale[:, None], [range(len(forbids))])) if len(forbids) else []
    dependent = sorted(independent_constraint_rows((forbids * scale[:, None])[own].T, [range(6)])) if own else []
    inner = forbids[np.ix_(own, dependent)]
    freedoms = Chosen(tuple(own), tuple(dependent), *_pivots(robot, inner, inner * scale[own][:, None]))
    free = [k for k in range(6) if k not in dependent]
    T = np.zeros((6, len(free)))
    T[free, range(len(free))] = 1.0
    if own:
        T[dependent] = -np.linalg.solve(inner, forbids[np.ix_(own, free)])
    T *= size[:, None]
    X = np.zeros((robot.nv, 6))
    for leg, hold in zip(parts.legs, holds):
        X[list(leg.speeds)] = hold.X
    B = X[list(robot.driven)] @ T
    if B.shape[0] < B.shape[1]:
        raise unlike_actuators(robot, *B.shape)
    G = B.T / loops.column_scale[list(robot.driven)]
    if B.shape[0] == B.shape[1]:
        return PlatformOrder(tuple(legs), freedoms, Chosen((), (), *_pivots(robot, B.T, G)))
    eased = B.T / [one.weight for one in loop_actuator_efforts(robot)]
    pivots = [1.0 / as_float(x) for x in Factors((eased @ B).tolist()).one_over]
    return PlatformOrder(tuple(legs), freedoms, Chosen((), (), (), tuple(map(abs, pivots))))


def _scales(loops: Closure, leg: Leg, chosen: Chosen) -> np.ndarray:
    """Factors that make the leg's other rows free of units."""
    size = 1.0 / np.array([1.0] * 3 + [loops.length] * 3)
    scales = size if leg.loop is None else loops.row_scale[loops.places[leg.loop]]
    return np.array([x for r, x in enumerate(scales) if r not in chosen.rows])


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


def platform_texts(loops: Closure, parts: Parallel, wrenched: tuple[str, ...]) -> TextFamily:
    """The family of the robot's texts of inverse dynamics by these parts."""
    text = lambda q: PlatformInverse(loops, parts, platform_order_at(loops, parts, q), wrenched)  # noqa: E731
    return loops.robot.made_once(
        (PlatformInverse, parts.platform, wrenched),
        lambda: TextFamily(loops, text, NumericalError(singular_loop_message(loops.robot))),
    )
