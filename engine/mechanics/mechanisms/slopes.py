"""Derivatives of forward dynamics of any robot as texts; with loops, the multipliers of the cuts are eliminated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...machine.program import Dual, Part, Scalar, dual_derivative, kernel_parts_in_order
from ...robot import Body, Robot
from ..closure.constrained import ConstrainedEquations
from ..closure.constraints import Closure
from ..closure.elimination import Blockwise
from ..quantities.derivatives import SLOPES, coordinates_along_speeds, derivative_matrices_by_rows
from ..tree.spatial import add, scale
from ..tree.sweeps import sweep_tree
from .accelerations import Accelerated
from .families import TextFamily
from .numbers import Numbers, numbers_of_mechanism_with_bodies
from .texts import Arguments


class Displaced(Accelerated):
    """A text of accelerations with derivatives.  With z̈ the independent accelerations, Tᵀ (τ_ID(q, q̇, q̈) − τ) = 0 holds
    in every state, so along each direction ∂z̈ = −(Tᵀ M T)⁻¹ ∂[Tᵀ (τ_ID − τ)], with the derivative at fixed z̈.
    """

    def unbalanced(
        self,
        given: Arguments,
        now: Numbers,
        q: Sequence[Scalar],
        qd: Callable[[Blockwise], list[Scalar]],
        z: Sequence[Scalar],
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Tᵀ (τ_ID − τ) and q̈ at displaced q or numbers, with the speeds that `qd` takes from K, and the same z̈."""
        loops, part = self.loops.with_numbers(now.tree.bodies, now.ties, now.couplings), self.part
        equations, tied = ConstrainedEquations(loops, part, now.tree.bodies), loops.ties_at(q)
        K = equations.factors(equations.rows(q, tied))
        speeds = qd(K)
        _, drift = loops.rates(q, speeds, tied)
        qdd = K.solve([*(-drift[r] for r in part.rows), *z])
        motion = q, speeds, qdd, (True,) * loops.robot.nv
        tau, _ = sweep_tree(now.tree.bodies, now.tree.gravity, *motion, *now.tree.acting())
        return K.transposed([x - y for x, y in zip(tau, given["tau"])])[len(part.rows) :], qdd


class Slopes(Displaced):
    """The text of accelerations and their derivatives in all directions of the spanning tree."""

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """The accelerations and their derivatives."""
        n = robot.nv
        return kernel_parts_in_order([("qdd", (n,)), *((name, (n, n)) for name in SLOPES)])

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations, derivatives, and checks."""
        n = self.loops.robot.nv
        T, factors, z, qdd, checks = self.balanced(given, bodies)
        speeds: list[Scalar] = [Dual(x, {n + k: 1.0}) for k, x in enumerate(given["qd"])]
        moved = coordinates_along_speeds(self.loops.robot, given["q"])
        off, held = self.unbalanced(
            given, numbers_of_mechanism_with_bodies(self.loops, bodies), moved, lambda K: speeds, z
        )
        columns = []
        for k in range(2 * n):
            columns.append([dual_derivative(x, k) for x in held])
            for column, x in zip(T, factors.solve([-dual_derivative(x, k) for x in off])):
                columns[-1] = add(columns[-1], scale(x, column))
        for k in range(n):
            columns.append([0.0] * n)
            for column, x in zip(T, factors.solve([column[k] for column in T])):
                columns[-1] = add(columns[-1], scale(x, column))
        return [*qdd, *derivative_matrices_by_rows(columns)], checks


def mechanism_slope_texts(loops: Closure, wrenched: tuple[str, ...] = ()) -> TextFamily:
    """The family of the robot's texts of derivatives."""
    robot = loops.robot
    return robot.made_once(Slopes, lambda: TextFamily(loops, lambda q: Slopes.at(loops, q, robot.driven)))
