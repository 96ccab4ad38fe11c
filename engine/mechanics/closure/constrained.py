"""The equations of motion of a mechanism with loops, assembled from the recursion's text for the closure methods.

How well its loops are closed, and whether its speeds keep them closed, are numbers that can be added up (`Openness`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...machine.program import Scalar, smaller
from ...robot import ZERO, Body, Three
from ..tree.springs import bodies_without_passive_forces
from ..tree.sweeps import Load, Wrenches, sweep_tree
from .constraints import Closure
from .elimination import Blockwise, pivot_margin_of_constraints
from .embedding import State, loop_accelerations
from .methods import MethodParameters, Problem
from .partition import Partition, partition_portions, portion_of_undivided_partition
from .ties import Tied


class Openness(NamedTuple):
    """The least margin of a pivot, and sums of squares without units: of gaps, of their rates, and of speeds."""

    margin: Scalar
    gaps: Scalar
    rates: Scalar
    speeds: Scalar

    def with_other(self, other: Openness) -> Openness:
        """The openness of two groups of bodies together."""
        return Openness(smaller(self.margin, other.margin), *(x + y for x, y in zip(self[1:], other[1:])))

    def checks(self, gap: Scalar, rate: Scalar) -> list[Scalar]:
        """Three numbers that aren't negative where pivots are fit, the loops are closed, and where they stay closed.

        `gap` is the largest sum of squares of gaps, `rate` that of rates for speeds with a sum of 1.
        """
        return [self.margin, gap - self.gaps, rate * self.speeds - self.rates]


def closing_margins_of_loops(
    margin: Scalar,
    gaps: Sequence[Scalar],
    J: Sequence[Mapping[int, Scalar]],
    qd: Sequence[Scalar],
    row_scale: Sequence[float],
    column_scale: Sequence[float],
) -> Openness:
    """The openness from the gaps and the Jacobian's rows, with this margin of pivots."""
    rates = [sum((x * qd[k] for k, x in row.items()), 0.0) for row in J]
    open_by, opening = (sum(((x * s) * (x * s) for x, s in zip(a, row_scale)), 0.0) for a in (gaps, rates))
    return Openness(margin, open_by, opening, sum(((x / s) * (x / s) for x, s in zip(qd, column_scale)), 0.0))


Rows = Mapping[int, Scalar]  # of drives; the others are 0


@dataclass
class AppliedForces:
    """Everything that acts besides the loops: forces of the joints, wrenches, and given accelerations."""

    joints: Sequence[Scalar]
    wrenches: Wrenches = field(default_factory=dict)
    loads: Sequence[Load] = ()
    given: Mapping[int, Scalar] = field(default_factory=dict)


class ConstrainedEquations:
    """The equations of one mechanism in the coordinates of one partition, on any scalars."""

    def __init__(
        self,
        loops: Closure,
        part: Partition,
        bodies: tuple[Body, ...],
        divided: bool = True,
        gravity: Three | None = None,
    ):
        """If not `divided`, all subsystems are one; `gravity` is by default that of the robot."""
        self.loops, self.part, self.bodies = loops, part, bodies
        self.n, self.gravity = loops.robot.nv, loops.robot.gravity if gravity is None else gravity
        self.portions = partition_portions(loops, part) if divided else (portion_of_undivided_partition(loops, part),)

    def rows(self, q: Sequence[Scalar], tied: Sequence[Tied]) -> list[list[Scalar]]:
        """The matrix A: the independent rows of the constraints, then those of given motions."""
        J, _ = self.loops.rates(q, None, tied)
        A: list[list[Scalar]] = [[J[r].get(k, 0.0) for k in range(self.n)] for r in self.part.rows]
        return A + [[float(k == g) for k in range(self.n)] for g in self.part.given]

    def factors(self, A: list[list[Scalar]]) -> Blockwise:
        """The factors of K = [A; N]."""
        return Blockwise([*A, *(list(row) for row in self.part.N)], self.portions)

    def guard(self, K: Blockwise, limits: Sequence[Scalar]) -> Scalar:
        """A number that is positive as long as the product of every pivot and its limit is above 1."""
        return pivot_margin_of_constraints(K.pivots, limits)

    def problem(
        self,
        q: Sequence[Scalar],
        qd: Sequence[Scalar],
        A: list[list[Scalar]],
        K: Blockwise,
        tied: Sequence[Tied],
        forces: AppliedForces,
        gap: Sequence[Scalar],
        rates: Rows,
        seconds: Rows,
        parameters: MethodParameters,
    ) -> Problem:
        """The equations at these positions and speeds, in the form in which closure methods take them."""
        n, part, bodies = self.n, self.part, self.bodies
        J, drift = self.loops.rates(q, qd, tied)
        everything, none = [True] * n, [0.0] * n
        fixed = [k in part.given for k in range(n)]

        def bias(x: list[Scalar]) -> list[Scalar]:
            h, _ = sweep_tree(bodies, self.gravity, q, qd, x, everything, forces.wrenches, forces.loads)
            return [h[k] - forces.joints[k] for k in range(n)]

        def free() -> list[Scalar]:
            start = [forces.given[k] if fixed[k] else forces.joints[k] for k in range(n)]
            sought, _ = sweep_tree(bodies, self.gravity, q, qd, start, fixed, forces.wrenches, forces.loads)
            return [start[k] if fixed[k] else sought[k] for k in range(n)]

        def response(x: list[Scalar]) -> list[Scalar]:
            start = [0.0 if fixed[k] else x[k] for k in range(n)]
            sought, _ = sweep_tree(bodies_without_passive_forces(bodies), ZERO, q, none, start, fixed)
            return [0.0 if fixed[k] else sought[k] for k in range(n)]

        def embedded(second: list[Scalar]) -> tuple[list[Scalar], dict[int, Scalar]]:
            start = [forces.given[k] if fixed[k] else forces.joints[k] for k in range(n)]
            state = State(q, qd, start, fixed, list(self.gravity))
            return loop_accelerations(self.portions, K.parts, bodies, state, second, forces.wrenches, forces.loads)

        def damped() -> list[list[Scalar]]:
            rows = self.loops.damped(tied, J)
            return [[rows[r].get(k, 0.0) for k in range(n)] for r in part.rows]

        second = [seconds.get(r, 0.0) - drift[r] for r in part.rows] + [forces.given[k] for k in part.given]
        return Problem(
            n=n,
            closures=len(part.rows),
            A=A,
            gap=[*gap, *([0.0] * len(part.given))],
            rate=[rates.get(r, 0.0) for r in part.rows] + [qd[k] for k in part.given],
            second=second,
            N=[list(row) for row in part.N],
            K=K,
            qd=list(qd),
            bias=bias,
            momentum=lambda x: sweep_tree(bodies_without_passive_forces(bodies), ZERO, q, none, x, everything)[0],
            response=response,
            free=free,
            embedded=embedded,
            damped=damped,
            scales=[float(self.loops.row_scale[r] * self.loops.length) ** 2 for r in part.rows],
            parameters=parameters,
        )
