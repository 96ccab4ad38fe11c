"""What is sought of a mechanism with loops, for many samples or for one: one text, plain or compiled.

A text holds where the coordinates of its partition serve.  So it gives checks along with what is sought, and samples
that fail are done by the same text in coordinates that are good for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine import choice
from ..machine.kernel import Kernel, Single
from ..machine.offer import Offer, in_blocks
from ..machine.scalars import Scalar
from ..machine.trace import Program, Recording
from ..machine.trigonometry import REACH
from ..recursion.regroup import regrouped
from ..recursion.samples import constant_wrenches, no_numbers, on_bodies
from ..recursion.spatial import dot
from ..recursion.sweeps import Load, Wrenches, dynamics
from ..robot.model import Body, Robot
from .closure import Closure
from .elimination import Elimination
from .equations import Equations, Forces
from .methods import Parameters, closed
from .partition import Partition, partition
from .ties import Tied

NEAR = 1e-4  # share of a pivot below which other coordinates are better
GOOD = 0.05  # share from which on none are looked for
CONSISTENT = 1e-6  # of positions, speeds and accelerations given, relative
CHECKS = 3  # numbers behind the results
MOST = 4  # partitions whose compiled code is asked before a good one is looked for
BLOCK = 4000  # samples × bodies that the plain text holds at once


class Forward:
    """Accelerations of one robot under its joints' forces, in the coordinates of one partition.

    Callers' wrenches act on the links `wrenched`.
    """

    able = True  # whether the partition serves

    def __init__(self, loops: Closure, part: Partition, wrenched: tuple[str, ...] = ()):
        self.loops, self.part, self.wrenched = loops, part, wrenched
        self.widths = (loops.robot.nq, loops.robot.nv, loops.robot.nv, 6 * len(wrenched))
        inputs = [width for width in self.widths if width]
        self.offer = Offer(self.program, inputs, (self.results() + CHECKS,), self.identity)
        self.oriented = any(joint.type.orientation is not None for joint in loops.robot.moving)
        self.one: Single | None = None  # code for one sample at a time, once it was taken

    def results(self) -> int:
        """How many numbers are sought."""
        return self.loops.robot.nv

    # ---- the text

    def text(
        self,
        q: list[Scalar],
        qd: list[Scalar],
        tau: list[Scalar],
        w: Sequence[Scalar] = (),
        bodies: tuple[Body, ...] | None = None,
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations; and what isn't negative where the partition, the positions and the speeds are fit."""
        equations = Equations(self.loops, self.part, bodies or self.loops.bodies)
        tied = self.loops.tied(q)
        A = equations.rows(q, tied)
        K = equations.factors(A)
        gaps = self.loops.gaps(q, tied)
        forces, gap = Forces(tau, *self.acting(w)), [gaps[r] for r in self.part.rows]
        problem = equations.problem(q, qd, A, K, tied, forces, gap, {}, {}, Parameters())
        return closed(problem), self._checks(equations, K, gaps, qd, tied)

    def acting(self, w: Sequence[Scalar]) -> tuple[Wrenches, list[Load]]:
        """The robot's own wrenches and the caller's, on bodies."""
        own = [(link, list(w[6 * k : 6 * k + 6]), (0.0, 0.0, 0.0), "link") for k, link in enumerate(self.wrenched)]
        return on_bodies(self.loops.robot.tree, [*constant_wrenches(self.loops.robot), *own])

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
        """The text recorded, inertias regrouped."""
        recording = Recording("closed")
        groups = [
            recording.input(name, width) if width else [] for name, width in zip(("q", "qd", "x", "w"), self.widths)
        ]
        found, checks = self.text(*groups, regrouped(self.loops.bodies))
        return recording.program(found=[*found, *checks])

    def identity(self) -> tuple[str, ...]:
        """All that the program depends on."""
        robot, loops = self.loops.robot, self.loops
        rest = (
            type(self).__name__,
            robot.driven,
            robot.gravity,
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [(wrench.wrench, wrench.at, wrench.axes, robot.tree.seats[wrench.link]) for wrench in robot.wrenches],
            [(link, robot.tree.seats[link]) for link in self.wrenched],
            [(one.first, one.second, one.rows) for one in loops.ties],
            loops.couplings,
            self.part,
        )
        return repr(loops.bodies), repr(rest)

    # ---- rows

    def rows(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """What is sought and the checks, a row for each of q, qd, x, w; numbers that aren't finite fail the first."""
        given = [array for array, width in zip(arrays, self.widths) if width]
        count = len(arrays[0])
        if count == 1:
            self.one = self.offer.single()
            alone = self.one(*(array[0] for array in given)) if self.one is not None else None
            return alone[None] if alone is not None else self._plain([array[0].tolist() for array in arrays], 1)

        def by(code: Kernel, first: int) -> np.ndarray | None:
            (found,), finite, largest = code(*(array[first:] for array in given))
            return found if finite and largest <= REACH else None

        def text(these: slice) -> np.ndarray:
            columns = [[np.ascontiguousarray(x) for x in array[these].T] for array in arrays]
            return self._plain(columns, these.stop - these.start)

        found = np.empty((count, self.results() + CHECKS))
        return in_blocks(found, max(8, BLOCK // len(self.loops.bodies)), self.offer.lanes, by, text)

    def _plain(self, arguments: Sequence[list[Scalar]], count: int) -> np.ndarray:
        rows = np.empty((count, self.results() + CHECKS))
        with np.errstate(all="ignore"):
            try:
                found, checks = self.offer.plain(count, self.text, *arguments)
                for k, x in enumerate((*found, *checks)):
                    rows[:, k] = x
            except (ZeroDivisionError, OverflowError):
                rows[:] = np.nan
        rows[~np.isfinite(rows).all(axis=1), -CHECKS] = np.nan
        return rows


class Inverse(Forward):
    """Forces of as many actuated joints as there are freedoms: those of the tree, taken along with their speeds."""

    def __init__(self, loops: Closure, part: Partition, wrenched: tuple[str, ...] = ()):
        super().__init__(loops, part, wrenched)
        self.able = sorted(part.independent) == sorted(loops.robot.driven)

    def results(self) -> int:
        return len(self.loops.robot.driven)

    def text(
        self,
        q: list[Scalar],
        qd: list[Scalar],
        qdd: list[Scalar],
        w: Sequence[Scalar] = (),
        bodies: tuple[Body, ...] | None = None,
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Forces of the actuated joints; and the checks."""
        robot, loops, part = self.loops.robot, self.loops, self.part
        equations = Equations(loops, part, bodies or loops.bodies)
        tied = loops.tied(q)
        K = equations.factors(equations.rows(q, tied))
        tau, _ = dynamics(equations.bodies, robot.gravity, q, qd, qdd, [True] * robot.nv, *self.acting(w))
        rows = [len(part.rows) + part.independent.index(k) for k in robot.driven]
        columns = [K.solve([float(r == row) for r in range(robot.nv)]) for row in rows]
        return [dot(column, tau) for column in columns], self._checks(equations, K, loops.gaps(q, tied), qd, tied)


def sought(
    kind: type[Forward], loops: Closure, arrays: Sequence[np.ndarray], wrenched: tuple[str, ...] = ()
) -> np.ndarray:
    """What is sought, a row for each of q, qd, x, w: in the coordinates that were good last, else in others."""
    key = (kind, wrenched) if wrenched else kind
    known: list[Forward] = loops.robot.derived.setdefault(key, [])
    count = len(arrays[0])
    found = np.empty((count, 0))
    left, doubtful = np.arange(count), np.zeros(count, dtype=bool)
    program = known[0] if known else None
    while len(left):
        these = [array[left] for array in arrays] if len(left) < count else arrays
        chosen = program is None
        if program is None:
            consistent(loops, these[0], these[1])
            program = _good(kind, loops, known, these[0][0], wrenched)
        rows = program.rows(these)
        values, checks = rows[:, :-CHECKS], rows[:, -CHECKS:] >= 0.0
        if len(left) == count and checks.all():
            found = np.ascontiguousarray(values)
            break
        if not found.size:
            found = np.full((count, values.shape[1]), np.nan)
        fit = checks[:, 0]
        if chosen and not fit[0]:
            raise no_numbers(loops.robot)
        found[left[fit]], doubtful[left[fit]] = values[fit], ~checks[fit].all(axis=1)
        left, program = left[~fit], None
    if doubtful.any():  # the checks are a little stricter
        consistent(loops, arrays[0][doubtful], arrays[1][doubtful])
    if program is not None and known and program is not known[0]:  # from now on it is asked first
        loops.robot.derived[key] = [program, *(one for one in known if one is not program)]
    return found


def quick(kind: type[Forward], robot: Robot, q: Any, qd: Any, x: Any) -> np.ndarray | None:
    """One sample by code that is there already, with as little around it as can be."""
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


def _good(
    kind: type[Forward], loops: Closure, known: list[Forward], q: np.ndarray, wrenched: tuple[str, ...]
) -> Forward:
    """One in coordinates that are good at q."""
    J, _ = loops.jacobian(q)
    for one in known:
        if one.part.share(J) > GOOD:
            return one
    known.append(kind(loops, partition(loops, q, (), loops.robot.driven), wrenched))
    return known[-1]


def consistent(loops: Closure, q: np.ndarray, qd: np.ndarray, J: np.ndarray | None = None) -> None:
    """Refuses positions and speeds at which the loops aren't closed."""
    gaps = abs(loops.gap(q)) * loops.row_scale
    if gaps.max(initial=0.0) > CONSISTENT:
        n, _ = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        told = ", ".join(
            f"`{gap.name}` {gap.length * 1000:.3g} mm {np.degrees(gap.angle):.3g}°" for gap in loops.open(q[n])
        )
        raise InputError(
            f"{loops.robot.name}: the loops aren't closed at this `q`", found=told, hint="`denoc.assemble` closes them"
        )
    J = loops.jacobian(q)[0] if J is None else J
    rates = abs(np.einsum("nij,nj->ni", J, qd)) * loops.row_scale
    sizes = (abs(J) * abs(qd)[:, None]).max(axis=2, initial=0.0) * loops.row_scale + 1e-3
    if (rates > CONSISTENT * np.maximum(sizes, 1.0)).any():
        raise InputError(
            f"{loops.robot.name}: these speeds would open the loops",
            found=f"`qd` with a rate of {rates.max():.3g} across a cut",
            hint="the dependent speeds follow from the others",
        )
