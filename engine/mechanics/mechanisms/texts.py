"""Quantities of a mechanism with loops, for many samples or for one, by one text that runs plain or compiled.

A text holds where its coordinates are good.  So it gives checks along with its results, and samples that fail are
computed again by the same text in coordinates that are good for them.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from ...machine.jit import REACH, Kernel, Rolled, Single, plain_or_compiled_in_blocks
from ...machine.program import (
    Part,
    Program,
    Recording,
    Scalar,
    kernel_parts_in_order,
    numbers_of_kernel_parts,
    scalars_into_columns,
)
from ...robot import Body, Coupling, Robot
from ..closure.constrained import AppliedForces, ConstrainedEquations, closing_margins_of_loops
from ..closure.constraints import Closure
from ..closure.elimination import pivot_size_margin_of_constraints
from ..closure.exchange import exchanged
from ..closure.methods import MethodParameters, Problem, reduced_by_closure_method
from ..closure.partition import Partition
from ..closure.ties import Tied, TieSide
from ..numbers.number_symbols import ProgramOfNumbers
from ..numbers.regroup import regrouped_bodies
from ..quantities.subject import SubjectNumbers
from ..tree.sweeps import Load, Wrenches
from ..tree.wrenches import Applied, constant_wrenches, wrenches_on_bodies

NEAR = 1e-4  # share of a pivot below which other coordinates are taken
CONSISTENT = 1e-6  # of positions, speeds and accelerations given, relative
CHECKS = 3  # numbers behind the results: whether the coordinates serve, the loops are closed, and stay so
BLOCK = 4000  # samples × bodies that the plain text holds at once

Arguments = Mapping[str, list[Scalar]]
Arrays = Mapping[str, np.ndarray]


class MechanismNumbers(NamedTuple):
    """The numbers of a text that may be symbols, so that its program serves all mechanisms of the same structure."""

    subject: SubjectNumbers  # its bodies have regrouped inertias; no pivots
    sides: tuple[tuple[TieSide, TieSide], ...]  # of the ties
    couplings: tuple[Coupling, ...]
    part: Partition
    chosen: Any


class PartitionText(ProgramOfNumbers[MechanismNumbers]):
    """A text of one mechanism in the coordinates of one partition; callers' wrenches `w` act on links `wrenched`."""

    title = "closed"
    inputs: tuple[str, ...] = ()  # besides `w`
    divided = True  # whether subsystems are eliminated one after the other
    exchanges = False  # whether all results stay the same if masses are moved across cuts
    chosen: tuple[str, ...] = ()  # attributes with what else is chosen with the robot's numbers

    def __init__(self, loops: Closure, part: Partition, wrenched: tuple[str, ...] = ()):
        self.loops, self.part, self.wrenched = loops, part, wrenched
        self.widths = {name: width for name in (*self.inputs, "w") if (width := self.width(name))}
        self.names = tuple(self.widths)
        self.offer = self.offered(list(self.widths.values()), [self.results() + CHECKS])
        self.oriented = any(joint.type.orientation is not None for joint in loops.robot.moving)
        self.one: Single | None = None  # code for one sample at a time, once there is any
        self.many: Kernel | None = None  # code for many samples, once there is any
        self.final = True  # whether its results may go to the caller unchanged

    @property
    def has_code(self) -> bool:
        """Whether some of its results have come from compiled code."""
        return self.one is not None or self.many is not None

    def width(self, name: str) -> int:
        """The count of numbers per sample in the input of this name."""
        robot = self.loops.robot
        others = {
            "q": robot.nq,
            "w": 6 * len(self.wrenched),
            "pushes": len(robot.actuators),
            "multipliers": self.loops.m,
        }
        return others.get(name, robot.nv)

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """The parts into which calls divide the results, where they follow from the robot alone."""
        raise NotImplementedError

    def parts(self) -> Sequence[Part]:
        """The parts into which calls divide the results."""
        return self.parts_of(self.loops.robot)

    def results(self) -> int:
        """The number of results of one sample."""
        return numbers_of_kernel_parts(self.parts())

    @abstractmethod
    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The results, and three checks that aren't negative where these are right.

        Behind the checks there may be numbers that have to be as moderate as the results.
        """

    def share(self, q: np.ndarray) -> float:
        """The share at these positions of the pivot that has lost most since it was chosen."""
        return self.part.share(self.loops.jacobian(q)[0], signed=False)

    def applied(self, given: Arguments) -> list[Applied]:
        """All wrenches on links, the robot's own and the caller's."""
        w = given.get("w", [])
        own = [(link, list(w[6 * k : 6 * k + 6]), (0.0, 0.0, 0.0), "link") for k, link in enumerate(self.wrenched)]
        return [*constant_wrenches(self.loops.robot), *own]

    def acting(self, given: Arguments) -> tuple[Wrenches, list[Load]]:
        """The wrenches of the robot and the caller on bodies."""
        return wrenches_on_bodies(self.loops.robot.tree, self.applied(given))

    def closing(self, q: list[Scalar], qd: list[Scalar], tied: Sequence[Tied]) -> list[Scalar]:
        """Two checks that aren't negative where the loops are closed, and where they stay closed at these speeds."""
        loops = self.loops
        J, _ = loops.rates([], None, tied)
        open_by = closing_margins_of_loops(
            1.0, loops.gaps(q, tied), J, qd, loops.row_scale.tolist(), loops.column_scale.tolist()
        )
        return open_by.checks(CONSISTENT**2, CONSISTENT**2 / len(qd))[1:]

    def problem(
        self, given: Arguments, tau: Sequence[Scalar], bodies: tuple[Body, ...]
    ) -> tuple[Problem, list[Scalar]]:
        """The equations of motion with these forces of the joints, and checks."""
        q, qd, part = given["q"], given["qd"], self.part
        equations = ConstrainedEquations(self.loops, part, bodies, self.divided)
        tied = self.loops.ties_at(q)
        A = equations.rows(q, tied)
        K = equations.factors(A)
        gaps = self.loops.gaps(q, tied)
        forces, gap = AppliedForces(tau, *self.acting(given)), [gaps[r] for r in part.rows]
        problem = equations.problem(q, qd, A, K, tied, forces, gap, {}, {}, MethodParameters())
        return problem, [
            pivot_size_margin_of_constraints(K.pivots, [NEAR * x for x in part.pivots]),
            *self.closing(q, qd, tied),
        ]

    @cached_property
    def _bodies(self) -> tuple[Body, ...]:
        """The bodies of the plain text, which does what the program does where loops are closed but for rounding."""
        return self.regrouped() if self.exchanges else self.loops.bodies

    def regrouped(self) -> tuple[Body, ...]:
        """The bodies with as few inertial numbers as the results allow."""
        return exchanged(self.loops) if self.exchanges else regrouped_bodies(self.loops.bodies)

    def record(self, recording: Recording, numbers: MechanismNumbers) -> Program:
        """The recorded program of the text, wherever its coordinates were chosen."""
        given: Arguments = {name: list(recording.input(name, width)) for name, width in self.widths.items()}
        result, checks = self.with_numbers(numbers).text(given, numbers.subject.bodies)
        return recording.program(checks[CHECKS:], found=[*result, *checks[:CHECKS]]).with_constants_gathered()

    def leaves(self) -> MechanismNumbers:
        """The numbers of the mechanism and of what was chosen at a position, with regrouped inertias."""
        read = self.read()
        return read._replace(subject=read.subject._replace(bodies=self.regrouped()))

    def read(self) -> MechanismNumbers:
        """The same with inertias as they are."""
        loops, robot = self.loops, self.loops.robot
        sides = tuple((one.first, one.second) for one in loops.ties)
        chosen = tuple(getattr(self, name) for name in self.chosen)
        subject = SubjectNumbers((), loops.bodies, robot.parts.bodies, robot.gravity, ())
        return MechanismNumbers(subject, sides, loops.couplings, self.part, chosen)

    def with_numbers(self, numbers: MechanismNumbers) -> Self:
        """The text with other numbers."""
        subject, other = numbers.subject, copy.copy(self)
        ties = (replace(one, first=a, second=b) for one, (a, b) in zip(self.loops.ties, numbers.sides))
        other.loops = self.loops.with_numbers(subject.tree, tuple(ties), numbers.couplings)
        other.loops.robot = subject.of(self.loops.robot)
        other.part = numbers.part
        for name, value in zip(self.chosen, numbers.chosen):
            setattr(other, name, value)
        return other

    def structure(self) -> tuple[object, ...]:
        """The joints, ties and actuators, where links and wrenches are, and the mechanism's length."""
        loops, robot = self.loops, self.loops.robot
        return (
            type(self).__name__,
            self.inputs,
            loops.length,
            (robot.tree.seats, robot.parts.seats),
            [(one.links, one.frames, one.rows) for one in loops.ties],
            robot.driven,
            robot.actuators,
            [joint.effort for joint in robot.moving],
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [(wrench.link, wrench.wrench, wrench.at, wrench.axes) for wrench in robot.wrenches],
            self.wrenched,
        )

    # ---- rows

    def rows(self, arrays: Arrays) -> np.ndarray:
        """Results and checks, with a row for each sample; if any number isn't finite, the first check is NaN."""
        given = [np.ascontiguousarray(arrays[name]) for name in self.names]
        count = len(given[0])
        if (rolled := self.rolled(count)) is not None and (rows := self._by_rolled(rolled, given)) is not None:
            return rows
        if count == 1:
            self.one = self.offer.single()
            alone = self.one(*(array[0] for array in given)) if self.one is not None else None
            return alone[None] if alone is not None else self._plain([array[0].tolist() for array in given], 1)

        def by(code: Kernel, first: int) -> np.ndarray | None:
            self.many, these = code, [array[first:] for array in given]
            if (rows := code.rows(*these)) is not None:
                return rows
            (result,), finite, largest = code(*these)
            return result if finite and largest <= REACH else None

        def text(these: slice) -> np.ndarray:
            columns: list[list[Scalar]] = [[np.ascontiguousarray(x) for x in array[these].T] for array in given]
            return self._plain(columns, these.stop - these.start)

        result = np.empty((count, self.results() + CHECKS))
        return plain_or_compiled_in_blocks(result, max(8, BLOCK // len(self.loops.bodies)), self.offer.lanes, by, text)

    def rolled(self, samples: int) -> Rolled | None:
        """Code that loops over equal subsystems, or None where another form is to run on this number of samples."""
        return None

    def _by_rolled(self, code: Rolled, given: Sequence[np.ndarray]) -> np.ndarray | None:
        """Results and checks by a loop over subsystems; None where the plain text has to find what is wrong."""
        (rows,), finite, largest = code(*given)
        return settle_mechanism_checks(rows, self.results()) if finite and largest <= REACH else None

    def _plain(self, given: Sequence[list[Scalar]], count: int) -> np.ndarray:
        width = self.results() + CHECKS
        whole = np.full((count, width), np.nan)
        with np.errstate(all="ignore"):
            try:
                result, checks = self.offer.plain(count, self.text, dict(zip(self.names, given)), self._bodies)
                whole = np.empty((count, len(result) + len(checks)))
                scalars_into_columns(whole, (*result, *checks))
            except (ZeroDivisionError, OverflowError):
                whole[:] = np.nan
        rows = whole[:, :width]
        rows[~np.isfinite(rows).all(axis=1), -CHECKS] = np.nan
        self.look(rows, whole[:, width:], given[0])
        return rows

    def look(self, rows: np.ndarray, watched: np.ndarray, q: Sequence[Scalar]) -> None:
        """Refuses what the plain text has found at q where it can't be trusted."""
        return


def settle_mechanism_checks(rows: np.ndarray, results: int) -> np.ndarray:
    """Rows of results and of checks, of which only the least of each kind are left."""
    if rows.shape[1] == results + CHECKS:
        return rows
    checks = rows[:, results:].reshape(len(rows), -1, CHECKS).min(axis=1)
    return np.concatenate([rows[:, :results], checks], axis=1)


class Reduced(PartitionText):
    """The text of inertia and bias in the partition's actuated coordinates, or in all if none is actuated.

    Coordinates that no actuator moves follow freely, so they are eliminated.
    """

    inputs = ("q", "qd")
    exchanges = True

    def __init__(self, loops: Closure, part: Partition):
        self.moved = self.moved_by(loops, part.independent)
        super().__init__(loops, part)

    @staticmethod
    def moved_by(loops: Closure, independent: Sequence[int]) -> list[int]:
        """Places among the independent speeds of those that actuators move, or of all if there are none."""
        driven = loops.robot.driven
        return [place for place, k in enumerate(independent) if k in driven] or list(range(len(independent)))

    def parts(self) -> tuple[Part, ...]:
        """The inertia matrix and the bias."""
        n = len(self.moved)
        return kernel_parts_in_order([("", (n, n)), ("", (n,))])

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The inertia matrix, the bias, and checks."""
        problem, checks = self.problem(given, [0.0] * self.loops.robot.nv, bodies)
        _, _, I, h = reduced_by_closure_method(problem, problem.second)
        for i in reversed([place for place in range(len(h)) if place not in self.moved]):
            one_over = 1.0 / I[i][i]
            shares = [row[i] * one_over for row in I]
            h = [x - share * h[i] for x, share in zip(h, shares)]
            I = [[x - share * y for x, y in zip(row, I[i])] for row, share in zip(I, shares)]
        return [*(I[i][j] for i in self.moved for j in self.moved), *(h[i] for i in self.moved)], checks
