"""Accelerations of a mechanism under its joints' forces, as text, with a watch over the inertias that it divides by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...machine.backend import LOOP, code_runs_rolled
from ...machine.jit import ENORMOUS, Elements, Rolled, SweepProgram, build_rolled_kernel
from ...machine.program import Part, Scalar, as_float, undivided_kernel_results
from ...robot import Body, Robot
from ..closure.constraints import Closure
from ..closure.methods import reduced_by_closure_method
from ..closure.partition import Partition, best_partition
from ..closure.vanishing import freedom_pivot_losses, least_freedom_pivots, partition_with_examined_freedoms
from ..tree.dense import Factors
from ..tree.spatial import add, scale
from ..tree.vanishing import joint_pivot_loss
from .families import TextFamily
from .looped import Bounds, Element, looped_subsystem_elements, looped_subsystem_sweep_program, subsystems_are_repeated
from .texts import CHECKS, CONSISTENT, NEAR, Arguments, PartitionText


class Accelerated(PartitionText):
    """A text with accelerations under the joints' forces; `least` has the least pivot of each freedom, or 0."""

    inputs: tuple[str, ...] = ("q", "qd", "tau")
    chosen: tuple[str, ...] = ("least",)

    def __init__(self, loops: Closure, part: Partition, wrenched: tuple[str, ...] = (), least: Sequence[float] = ()):
        self.least = tuple(least)
        super().__init__(loops, part, wrenched)

    @classmethod
    def at(
        cls, loops: Closure, q: np.ndarray, preferred: Sequence[int], wrenched: tuple[str, ...] = (), *own: Any
    ) -> Self:
        """The text that is best at q, or an error if a freedom has next to nothing to accelerate there.

        `own` are further arguments of the text.
        """
        part = partition_with_examined_freedoms(loops, best_partition(loops, q, (), preferred), q)
        return cls(loops, part, wrenched, least_freedom_pivots(loops, part, q), *own)

    def balanced(
        self, given: Arguments, bodies: tuple[Body, ...]
    ) -> tuple[list[list[Scalar]], Factors, list[Scalar], list[Scalar], list[Scalar]]:
        """The columns of T, the factors of Tᵀ M T, the independent accelerations, all accelerations, and checks."""
        problem, checks = self.problem(given, given["tau"], bodies)
        qdd, T, inertia, force = reduced_by_closure_method(problem, problem.second)
        factors = Factors(inertia)
        z = factors.solve(scale(-1.0, force))
        for column, x in zip(T, z):
            qdd = add(qdd, scale(x, column))
        return T, factors, z, qdd, [*checks, *freedom_pivot_losses(self.least, factors)]

    def look(self, rows: np.ndarray, watched: np.ndarray, q: Sequence[Scalar]) -> None:
        """Raise an error where a number is enormous because a joint has next to nothing to accelerate."""
        moderate = np.concatenate([abs(rows[:, : self.loops.robot.nv]), abs(watched)], axis=1) < ENORMOUS
        strange = ~moderate.all(axis=1) & (rows[:, -CHECKS] >= 0.0)
        if strange.any():
            n = int(np.argmax(strange))
            partition_with_examined_freedoms(
                self.loops, self.part, [float(x[n]) if isinstance(x, np.ndarray) else as_float(x) for x in q]
            )


class Forward(Accelerated):
    """The text of accelerations under the joints' forces."""

    exchanges = True

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """The accelerations of the spanning tree."""
        return undivided_kernel_results(robot.nv)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The accelerations, and checks."""
        problem, checks = self.problem(given, given["tau"], bodies)
        qdd, one_over = problem.embedded(problem.second)
        first = len(self.part.rows)
        return qdd, [*checks, *(joint_pivot_loss(x, one_over[first + c]) for c, x in enumerate(self.least) if x)]

    def rolled(self, samples: int) -> Rolled | None:
        """Code that loops over the subsystems, where these are many and alike."""
        found, again = self._elements
        if not (found and self.divided and code_runs_rolled(len(self.loops.bodies) if again else 0, repeated=again)):
            return None
        return self.offer.form("rolled", self._build_rolled, samples, LOOP)

    @cached_property
    def _elements(self) -> tuple[list[Element] | None, bool]:
        """The subsystems as elements of a loop, where one can run over them, and whether many of them are alike."""
        robot = self.loops.robot
        if self.wrenched or robot.wrenches or robot.springs or robot.nv != len(self.part.rows) + len(self.part.N):
            return None, False
        roots = sum(block.parent is None for block in self.loops.blocks)
        slack = CONSISTENT**2 / roots, CONSISTENT**2 / self.loops.robot.nv
        loops = self.loops.with_numbers(self.regrouped(), self.loops.ties, self.loops.couplings)
        found = looped_subsystem_elements(loops, self.part, Bounds(NEAR, self.least, slack))
        return found, found is not None and subsystems_are_repeated(found)

    def _build_rolled(self, cached: bool) -> Rolled | None:
        loop, table = self.loop()
        roots = sum(parent == 0 for parent in table.parents)
        widths = [*self.widths.values(), self.results() + CHECKS * roots]
        return build_rolled_kernel(loop, table, widths, cached, self.offer.level)

    def loop(self) -> tuple[SweepProgram, Elements]:
        """The loop over the subsystems, and the elements that it runs over."""
        found, _ = self._elements
        assert found is not None
        return looped_subsystem_sweep_program(self.loops, found)


def mechanism_forward_texts(loops: Closure, wrenched: tuple[str, ...]) -> TextFamily:
    """The family of the robot's texts of forward dynamics."""
    robot = loops.robot
    return robot.made_once(
        (Forward, wrenched) if wrenched else Forward,
        lambda: TextFamily(loops, lambda q: Forward.at(loops, q, robot.driven, wrenched)),
    )
