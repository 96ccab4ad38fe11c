"""The forces of actuators and cuts that balance those of the spanning tree, S u + T a + Jᵀ λ = τ, as text on scalars.

They are solved for branch by branch where a branch's equations determine its unknowns (`subsystems.py`).  More
actuators than freedoms share their work with the least Σ weight u²: with the motions that keep the loops closed in the
columns of B, and with G = Bᵀ [S, T], u = W⁻¹ Gᵀ (G W⁻¹ Gᵀ)⁻¹ Bᵀ τ; the multipliers follow from K⁻ᵀ.

Rows, steps, pivots and motions are chosen with numbers, in `branch_order_at_position`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import NumericalError
from ...machine.program import Part, Scalar, as_float, smaller, undivided_kernel_results
from ...robot import Body, Effort, Robot
from ..closure.constraints import Closure
from ..closure.elimination import Elimination, pivot_size_margin_of_constraints
from ..closure.partition import Partition, best_partition
from ..closure.rank import independent_constraint_rows
from ..quantities.samples import Samples
from ..tree.dense import solve_with_inertia_factors
from ..tree.spatial import dot
from ..tree.sweeps import sweep_tree
from ..tree.wrenches import joint_forces_that_balance_wrenches, wrenches_on_bodies
from .effort import FULFILLED, loop_efforts_have_limits
from .families import TextFamily
from .subsystems import (
    Subsystem,
    branches_of_subsystems,
    eliminate_subsystem_step,
    least_norm_multipliers,
    order_of_subsystem_steps,
    solve_subsystem_steps,
)
from .texts import NEAR, Arguments, PartitionText


@dataclass(frozen=True)
class Order:
    """The order in which the unknown forces of one robot are solved for around a position.

    `moved` are places among the partition's motions: those whose equations shared actuators have to fulfil.
    """

    steps: tuple[Subsystem, ...]
    part: Partition
    moved: tuple[int, ...] = ()

    @property
    def shared(self) -> list[int]:
        """Unknowns that no determinate step finds."""
        return [c for step in self.steps if not step.determinate for c in step.unknowns]


def branch_order_at_position(loops: Closure, q: np.ndarray, present: np.ndarray, divided: bool = True) -> Order:
    """A good order at this position; `present` says which rows and actuators enter which equations.

    If not `divided`, all branches are one, so that there is one system of equations.
    """
    robot, part = loops.robot, best_partition(loops, q, (), loops.robot.driven)
    J, _ = loops.jacobian(q)
    S = forces_acting_in_loops(robot, q[None])[0]
    A = np.concatenate([J[list(part.rows)].T, S], axis=1)
    scale = np.concatenate([loops.row_scale[list(part.rows)], np.ones(S.shape[1])])
    scaled = A * scale * loops.column_scale[:, None]
    parts = branches_of_subsystems(robot) if divided else [tuple(range(robot.nv))]
    there = present[:, [*part.rows, *range(loops.m, present.shape[1])]]
    steps = tuple(eliminate_subsystem_step(step, A, scaled) for step in order_of_subsystem_steps(parts, scaled, there))
    result = Order(steps, part)
    if result.shared and part.N:
        B = np.linalg.solve(part.matrix(J), np.eye(robot.nv))[:, robot.nv - len(part.N) :]
        G = B.T @ S / np.sqrt([one.weight for one in loop_actuator_efforts(robot)])
        size = np.array([loops.column_scale[k] for k in part.independent])
        result = replace(result, moved=tuple(sorted(independent_constraint_rows(G * size[:, None], [range(len(G))]))))
    return result


def loop_actuator_efforts(robot: Robot) -> list[Effort]:
    """Limits and weights of all actuated speeds, then of all actuators."""
    own = [joint.effort for joint in robot.moving if joint.actuated for _ in joint.speeds]
    return own + [one.effort for one in robot.actuators]


def loop_actuator_pushes(robot: Robot, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Joint forces by a unit force of each actuator."""
    result: list[list[Scalar]] = []
    for one in robot.actuators:
        if not one.on_link:
            ratios = {joint.speed: joint.ratio for joint in one.joints}
            result.append([ratios.get(k, 0.0) for k in range(robot.nv)])
            continue
        six = [*one.direction, 0.0, 0.0, 0.0] if one.moment else [0.0, 0.0, 0.0, *one.direction]
        on, loads = wrenches_on_bodies(robot.tree, [(one.link, six, one.at, one.axes)])
        result.append([-x for x in joint_forces_that_balance_wrenches(robot.tree.bodies, q, robot.nv, on, loads)])
    return result


def forces_acting_in_loops(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Forces along the speeds by a unit force of each actuated speed and actuator, (N, nv, actuated)."""
    s = Samples(robot, q=q)
    result = np.zeros((len(q), robot.nv, len(robot.driven) + len(robot.actuators)))
    for c, k in enumerate(robot.driven):
        result[:, k, c] = 1.0
    for c, column in enumerate(loop_actuator_pushes(robot, s.scalars("q")), start=len(robot.driven)):
        result[:, :, c] = s.array(column)
    return result


class Branches(PartitionText):
    """The text of actuators' forces and multipliers of all rows, from positions and forces of the spanning tree."""

    inputs: tuple[str, ...] = ("q", "tau")
    chosen = ("order",)

    def __init__(self, loops: Closure, chosen: Order, wrenched: tuple[str, ...] = ()):
        self.order = chosen
        super().__init__(loops, chosen.part, wrenched)
        self.final = not (chosen.shared and loop_efforts_have_limits(loop_actuator_efforts(loops.robot)))

    def parts(self) -> Sequence[Part]:
        """One for each actuated speed, actuator and row."""
        return undivided_kernel_results(len(loop_actuator_efforts(self.loops.robot)) + self.loops.m)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """Forces of actuators and multipliers, and checks, of which only the first can fail."""
        result = Split(self.loops, self.order, given["q"], self.loops.rates(given["q"])[0], given["tau"])
        return [*result.actuated, *result.multipliers()], [result.fit(), 1.0, 1.0]

    def share(self, q: np.ndarray) -> float:
        """The share of the pivot that has lost most, of all eliminations."""
        return Split.share(self.loops, self.order, q)


class Inverse(Branches):
    """The text of actuators' forces for a motion."""

    inputs = ("q", "qd", "qdd")

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """One for each actuated speed and actuator."""
        return undivided_kernel_results(len(loop_actuator_efforts(robot)))

    def parts(self) -> Sequence[Part]:
        """The same, which have no rows behind them."""
        return self.parts_of(self.loops.robot)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The forces of actuators, and checks."""
        robot, q, qd = self.loops.robot, given["q"], given["qd"]
        tied = self.loops.ties_at(q)
        tau, _ = sweep_tree(bodies, robot.gravity, q, qd, given["qdd"], [True] * robot.nv, *self.acting(given))
        result = Split(self.loops, self.order, q, self.loops.rates([], None, tied)[0], tau)
        return result.actuated, [result.fit(), *self.closing(q, qd, tied)]


class Split:
    """The tree's forces split into those of actuators and multipliers, in a given order.

    `pivots` are those of all eliminations, `sizes` their values at the position where the order was chosen.
    """

    def __init__(
        self,
        loops: Closure,
        order: Order,
        q: Sequence[Scalar],
        J: Sequence[Mapping[int, Scalar]],
        tau: Sequence[Scalar],
    ):
        self._robot, self._J, self._n = loops.robot, J, loops.robot.nv
        self._order, self._part = order, order.part
        rows, steps = self._part.rows, self._order.steps
        S: list[list[Scalar]] = [[float(k == d) for k in range(self._n)] for d in self._robot.driven]
        S += loop_actuator_pushes(self._robot, q)
        A = [[*(J[r].get(k, 0.0) for r in rows), *(column[k] for column in S)] for k in range(self._n)]
        x, self.pivots = solve_subsystem_steps(steps, A, tau)
        self.sizes = [size for step in steps for size in step.sizes]
        self.unbalanced: list[tuple[Scalar, Scalar]] = []  # force that no actuator can exert, and the whole force
        if self._order.shared:
            together = self._shared(S, tau)
            x.update((c, together[c]) for c in self._order.shared)
        result = [x.get(c, 0.0) for c in range(len(A[0]))]
        self.actuated, self._own = result[len(rows) :], result[: len(rows)]

    @classmethod
    def share(cls, loops: Closure, order: Order, q: np.ndarray) -> float:
        """The share of the pivot that has lost most since the order was chosen, of all eliminations."""
        J, _ = loops.rates(q.tolist())
        try:
            result = cls(loops, order, q.tolist(), J, [0.0] * loops.robot.nv)
            result.multipliers()
        except ZeroDivisionError:
            return 0.0
        return min((abs(as_float(pivot / size)) for pivot, size in zip(result.pivots, result.sizes)), default=1.0)

    @cached_property
    def _K(self) -> Elimination:
        """The factors of K: the independent rows and those of the independent speeds."""
        rows = [self._row(r) for r in self._part.rows]
        K = Elimination([*rows, *(list(N) for N in self._part.N)], self._part.order, self._part.sums)
        self.pivots, self.sizes = [*self.pivots, *K.pivots], [*self.sizes, *self._part.pivots]
        return K

    def _row(self, r: int) -> list[Scalar]:
        return [self._J[r].get(k, 0.0) for k in range(self._n)]

    def multipliers(self) -> list[Scalar]:
        """The multipliers of all rows, of least norm where several sets have the same effect on the links."""
        result: list[Scalar] = [0.0] * len(self._J)
        rows, own, others = self._part.rows, self._own, list[Scalar]()
        dependent = [r for r in range(len(self._J)) if r not in rows and self._J[r]]
        if dependent:
            own, others = least_norm_multipliers(
                [self._K.transposed(self._row(r))[: len(rows)] for r in dependent], own
            )
        for r, x in zip((*rows, *dependent), (*own, *others)):
            result[r] = x
        return result

    def fit(self) -> Scalar:
        """A number that is positive if no pivot is near 0 and the actuators can exert the needed forces."""
        least = pivot_size_margin_of_constraints(self.pivots, [NEAR * size for size in self.sizes])
        for off, asked in self.unbalanced:
            least = smaller(least, FULFILLED * FULFILLED * (1.0 + asked) - off * off)
        return least

    def _shared(self, S: Sequence[list[Scalar]], tau: Sequence[Scalar]) -> list[Scalar]:
        """Multipliers of the independent rows and forces of all actuators together, with the least effort."""
        n, r, moved = self._n, len(self._part.rows), self._order.moved
        B = [self._K.solve([float(k == r + c) for k in range(n)]) for c in range(n - r)]
        G = [[dot(B[c], push) for push in S] for c in moved]
        one_over = [1.0 / one.weight for one in loop_actuator_efforts(self._robot)]
        eased = [[x * w for x, w in zip(row, one_over)] for row in G]
        stiffness = [[dot(G[max(i, j)], eased[min(i, j)]) for j in range(len(G))] for i in range(len(G))]
        asked = [dot(B[c], list(tau)) for c in moved]
        u: list[Scalar] = [0.0] * len(S)
        for row, y in zip(eased, solve_with_inertia_factors(stiffness, asked)):
            u = [x + y * entry for x, entry in zip(u, row)]
        rest = list(tau)
        for push, x in zip(S, u):
            rest = [value - entry * x for value, entry in zip(rest, push)]
        size = dot(asked, asked) if asked else 0.0
        self.unbalanced = [(dot(B[c], rest), size) for c in range(n - r) if c not in moved]
        return [*self._K.transposed(rest)[:r], *u]


def mechanism_inverse_texts(loops: Closure, wrenched: tuple[str, ...]) -> TextFamily:
    """The family of the robot's texts of inverse dynamics."""
    key = (Inverse, wrenched) if wrenched else Inverse
    return family_of_branch_texts(loops, key, lambda order: Inverse(loops, order, wrenched))


def family_of_branch_texts(loops: Closure, key: Hashable, text: Callable[[Order], PartitionText]) -> TextFamily:
    """The robot's family of this text, which takes the order of the branches; it is made once for the key."""

    def family() -> TextFamily:
        there, lost = multipliers_in_equations(loops), NumericalError(singular_loop_message(loops.robot))
        return TextFamily(loops, lambda q: text(branch_order_at_position(loops, q, there)), lost)

    return loops.robot.made_once(key, family)


def multipliers_in_equations(loops: Closure) -> np.ndarray:
    """Whether each multiplier, actuated speed and actuator enters each equation anywhere, (nv, rows and actuated)."""
    robot = loops.robot
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (3, robot.nq))
    return multipliers_entering_equations(loops, loops.jacobian(q)[0], forces_acting_in_loops(robot, q))


def multipliers_entering_equations(loops: Closure, J: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Whether each multiplier, actuated speed and actuator enters each equation at the positions of these samples."""
    A = np.concatenate([loops.scaled(J).transpose(0, 2, 1), S * loops.column_scale[:, None]], axis=2)
    result: np.ndarray = (abs(A) > 1e-12 * abs(A).max(initial=0.0)).any(axis=0)
    return result


def singular_loop_message(robot: Robot) -> str:
    """The message where no order is good."""
    return (
        f"{robot.name}: the mechanism is in a singular position: these actuators can't hold it there, or its "
        f"{robot.ties_in_words} lose a constraint"
    )
