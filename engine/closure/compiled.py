"""Dynamics of mechanisms with loops, for many samples or for one: one text, compiled where that pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..machine import choice
from ..machine.kernel import Single
from ..machine.offer import Offer
from ..machine.scalars import Scalar
from ..machine.trace import Program, Recording
from ..machine.trigonometry import REACH
from ..recursion.regroup import regrouped
from ..recursion.spatial import dot
from ..recursion.sweeps import dynamics
from ..recursion.wrenches import constant_wrenches, on_bodies
from ..robot.model import Body, Robot
from .closure import Closure
from .elimination import Elimination
from .equations import Equations, Forces
from .methods import Parameters, closed
from .partition import Partition, partition
from .ties import Tied

NEAR = 1e-4  # share of a pivot below which other coordinates are better
CONSISTENT = 1e-6  # of positions, speeds and accelerations given, relative
CHECKS = 3  # numbers behind the results
MOST = 4  # partitions whose compiled code is asked before a good one is looked for


Given = ParamSpec("Given")
Found = TypeVar("Found")


class Forward:
    """Of one robot in the coordinates of one partition."""

    able = True  # whether the partition serves

    def __init__(self, loops: Closure, part: Partition):
        self.loops, self.part = loops, part
        self.widths = (loops.robot.nq, loops.robot.nv, loops.robot.nv)
        self.offer = Offer(self.program, self.widths, (self.results() + CHECKS,), self.identity)
        self.oriented = any(joint.type.orientation is not None for joint in loops.robot.moving)
        self.one: Single | None = None  # the compiled program for one sample at a time

    def results(self) -> int:
        """How many numbers are sought."""
        return self.loops.robot.nv

    def text(
        self, q: list[Scalar], qd: list[Scalar], tau: list[Scalar], bodies: tuple[Body, ...]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations; and what isn't negative where the partition, the positions and the speeds are fit."""
        robot, loops, part = self.loops.robot, self.loops, self.part
        equations = Equations(loops, part, bodies)
        tied = loops.tied(q)
        A = equations.rows(q, tied)
        K = equations.factors(A)
        on, loads = on_bodies(robot.tree, constant_wrenches(robot))
        forces = Forces(tau, on, loads)
        gaps = loops.gaps(q, tied)
        problem = equations.problem(q, qd, A, K, tied, forces, [gaps[r] for r in part.rows], {}, {}, Parameters())
        return closed(problem), self._checks(equations, K, gaps, qd, tied)

    def _checks(
        self, equations: Equations, K: Elimination, gaps: list[Scalar], qd: list[Scalar], tied: list[Tied]
    ) -> list[Scalar]:
        loops = self.loops
        J, _ = loops.rates([], None, tied)
        rates = [sum((x * qd[k] for k, x in row.items()), 0.0) for row in J]
        limits = [1.0 / (NEAR * x) for x in self.part.pivots]
        open_by, opening = (sum(((x * s) * (x * s) for x, s in zip(a, loops.row_scale)), 0.0) for a in (gaps, rates))
        speed = sum(((x / s) * (x / s) for x, s in zip(qd, loops.column_scale)), 0.0)
        slack = CONSISTENT**2
        return [equations.guard(K, limits), slack - open_by, slack / len(qd) * speed - opening]

    def program(self) -> Program:
        recording = Recording("closed")
        q, qd, tau = (recording.input(name, width) for name, width in zip(("q", "qd", "tau"), self.widths))
        qdd, checks = self.text(q, qd, tau, regrouped(self.loops.bodies))
        return recording.program(found=[*qdd, *checks])

    def __call__(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray | None:
        """What is sought by compiled code; None where the plain way is to be taken."""
        if not self.able:
            return None
        if len(q) == 1:
            self.one = self.offer.single()
            alone = self.one(q[0], qd[0], tau[0]) if self.one is not None else None
            found = alone[None] if alone is not None else None
        elif (kernel := self.offer.lanes(len(q))) is not None:
            (found,), finite, largest = kernel(q, qd, tau)
            found = found if finite and largest <= REACH else None
        else:
            return None
        if found is None or not (found[:, -CHECKS:] >= 0.0).all():
            return None
        return np.ascontiguousarray(found[:, :-CHECKS])

    def identity(self) -> tuple[str, ...]:
        """All that the program depends on."""
        return repr(self.loops.bodies), repr(self._identity())

    def _identity(self) -> tuple:
        robot, loops = self.loops.robot, self.loops
        return (
            type(self).__name__,
            robot.driven,
            robot.gravity,
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [(wrench.wrench, wrench.at, wrench.axes, robot.tree.seats[wrench.link]) for wrench in robot.wrenches],
            [(one.first, one.second, one.rows) for one in loops.ties],
            loops.couplings,
            self.part,
        )


class Inverse(Forward):
    """Forces of as many actuated joints as there are freedoms: those of the tree, taken along with their speeds."""

    def __init__(self, loops: Closure, part: Partition):
        super().__init__(loops, part)
        self.able = sorted(part.independent) == sorted(loops.robot.driven)

    def results(self) -> int:
        return len(self.loops.robot.driven)

    def text(
        self, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar], bodies: tuple[Body, ...]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Forces of the actuated joints; and the checks."""
        robot, loops, part = self.loops.robot, self.loops, self.part
        equations = Equations(loops, part, bodies)
        tied = loops.tied(q)
        K = equations.factors(equations.rows(q, tied))
        on, loads = on_bodies(robot.tree, constant_wrenches(robot))
        tau, _ = dynamics(bodies, robot.gravity, q, qd, qdd, [True] * robot.nv, on, loads)
        rows = [len(part.rows) + part.independent.index(k) for k in robot.driven]
        columns = [K.solve([float(r == row) for r in range(robot.nv)]) for row in rows]
        return [dot(column, tau) for column in columns], self._checks(equations, K, loops.gaps(q, tied), qd, tied)


def many(kind: type[Forward], loops: Closure, q: np.ndarray, qd: np.ndarray, x: np.ndarray) -> np.ndarray | None:
    """By compiled code, in the coordinates that were good last, else in others; None: the plain way is to be taken."""
    if choice.backend() == "plain":
        return None
    known: list[Forward] = loops.robot.derived.setdefault(kind, [])
    last = known[0] if known else None
    if last is not None and (found := last(q, qd, x)) is not None:
        return found
    good = _good(kind, loops, known, q[0])
    if good is last:
        return None
    found = good(q, qd, x)
    if found is not None:  # from now on it is asked first
        loops.robot.derived[kind] = [good, *(one for one in known if one is not good)]
    return found


def plainly(
    kind: type[Forward],
    robot: Robot,
    count: int,
    text: Callable[Given, Found],
    /,
    *given: Given.args,
    **named: Given.kwargs,
) -> Found:
    """What the plain way gives; its time is charged to the program that was asked first."""
    known: Sequence[Forward] = robot.derived.get(kind, ())
    if not known:
        return text(*given, **named)
    return known[0].offer.plain(count, text, *given, **named)


def quick(kind: type[Forward], robot: Robot, q: Any, qd: Any, x: Any) -> np.ndarray | None:
    """One sample by code that was compiled for `many`, with as little around it as can be."""
    known = robot.derived.get(kind)
    if not known or not choice.free() or type(q) is not np.ndarray or q.ndim != 1:
        return None
    for program in known[:MOST]:
        one = program.one
        if one is not None and not program.oriented:
            try:
                if (q.shape, qd.shape, x.shape) != one.shapes:
                    return None
                found = one(q, qd, x)
            except (AttributeError, TypeError, ValueError):
                return None
            if found is not None and found[-1] >= 0.0 and found[-2] >= 0.0 and found[-3] >= 0.0:
                return found[:-CHECKS]
    return None


def _good(kind: type[Forward], loops: Closure, known: list[Forward], q: np.ndarray) -> Forward:
    """One in coordinates that are good at q."""
    J, _ = loops.jacobian(q)
    for one in known:
        if one.part.share(J) > 0.05:
            return one
    known.append(kind(loops, partition(loops, q, (), loops.robot.driven)))
    return known[-1]
