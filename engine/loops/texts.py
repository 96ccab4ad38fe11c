"""Quantities of a mechanism with loops, for many samples or for one, by one text that runs plain or compiled.

A text holds where its coordinates are good.  So it gives checks along with its results, and samples that fail are
computed again by the same text in coordinates that are good for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dynamics.direct import aim
from ..dynamics.regroup import regrouped
from ..dynamics.samples import no_numbers
from ..dynamics.sweeps import Load, Wrenches
from ..dynamics.wrenches import Applied, constant_wrenches, on_bodies
from ..errors import DenocError, InputError
from ..machine.jit import choice
from ..machine.jit.kernel import Kernel, Single
from ..machine.jit.offer import Offer, in_blocks
from ..machine.jit.parts import Part, divided, in_order
from ..machine.jit.rolled import Rolled
from ..machine.jit.trigonometry import REACH
from ..machine.program.scalars import Scalar, into_columns
from ..machine.program.trace import Program, Recording
from ..robot.model import Body, Robot
from .closing import margins
from .constrained import AppliedForces, ConstrainedEquations
from .constraints import Closure
from .elimination import pivot_size_margin
from .methods import MethodParameters, Problem, reduced
from .partition import Partition, partition
from .ties import Tied

NEAR = 1e-4  # share of a pivot below which other coordinates are taken
GOOD = 0.05  # share of a pivot above which a text is taken for new positions
CONSISTENT = 1e-6  # of positions, speeds and accelerations given, relative
CHECKS = 3  # numbers behind the results: whether the coordinates serve, the loops are closed, and stay so
MOST = 4  # texts whose compiled code is tried before a good one is looked for
BLOCK = 4000  # samples × bodies that the plain text holds at once

Arguments = Mapping[str, list[Scalar]]
Arrays = Mapping[str, np.ndarray]


class PartitionText(ABC):
    """A text of one mechanism in the coordinates of one partition; callers' wrenches `w` act on links `wrenched`."""

    inputs: tuple[str, ...] = ()  # besides `w`
    divided = True  # whether subsystems are eliminated one after the other

    def __init__(self, loops: Closure, part: Partition, wrenched: tuple[str, ...] = ()):
        self.loops, self.part, self.wrenched = loops, part, wrenched
        self.widths = {name: width for name in (*self.inputs, "w") if (width := self.width(name))}
        self.names = tuple(self.widths)
        self.offer = Offer(self.program, list(self.widths.values()), (self.results() + CHECKS,), self.identity)
        self.oriented = any(joint.type.orientation is not None for joint in loops.robot.moving)
        self.one: Single | None = None  # code for one sample at a time, once there is any
        self.many: Kernel | None = None  # code for many samples, once there is any
        self.final = True  # whether its results may go to the caller unchanged

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

    @abstractmethod
    def results(self) -> int:
        """The number of results of one sample."""

    def shape(self) -> tuple[int, ...]:
        """The shape of the results of one sample in direct calls; their parts are of one row."""
        return (self.results(),)

    def parts(self) -> tuple[Part, ...]:
        """The parts into which calls divide the results; none where these are one array."""
        return ()

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
        """The same wrenches on bodies."""
        return on_bodies(self.loops.robot.tree, self.applied(given))

    def closing(self, q: list[Scalar], qd: list[Scalar], tied: Sequence[Tied]) -> list[Scalar]:
        """Two checks that aren't negative where the loops are closed, and where they stay closed at these speeds."""
        loops = self.loops
        J, _ = loops.rates([], None, tied)
        open_by = margins(1.0, loops.gaps(q, tied), J, qd, loops.row_scale.tolist(), loops.column_scale.tolist())
        return open_by.checks(CONSISTENT**2, CONSISTENT**2 / len(qd))[1:]

    def problem(
        self, given: Arguments, tau: Sequence[Scalar], bodies: tuple[Body, ...]
    ) -> tuple[Problem, list[Scalar]]:
        """The equations of motion with these forces of the joints, and checks."""
        q, qd, part = given["q"], given["qd"], self.part
        equations = ConstrainedEquations(self.loops, part, bodies, self.divided)
        tied = self.loops.tied(q)
        A = equations.rows(q, tied)
        K = equations.factors(A)
        gaps = self.loops.gaps(q, tied)
        forces, gap = AppliedForces(tau, *self.acting(given)), [gaps[r] for r in part.rows]
        problem = equations.problem(q, qd, A, K, tied, forces, gap, {}, {}, MethodParameters())
        return problem, [pivot_size_margin(K.pivots, [NEAR * x for x in part.pivots]), *self.closing(q, qd, tied)]

    def program(self) -> Program:
        """The recorded program of the text, with regrouped inertias."""
        recording = Recording("closed")
        given: Arguments = {name: list(recording.input(name, width)) for name, width in self.widths.items()}
        result, checks = self.text(given, regrouped(self.loops.bodies))
        return recording.program(checks[CHECKS:], found=[*result, *checks[:CHECKS]])

    def identity(self) -> tuple[str, ...]:
        """Everything that the program depends on, as strings."""
        robot, loops = self.loops.robot, self.loops
        rest = (
            type(self).__name__,
            robot.driven,
            robot.actuators,
            [joint.effort for joint in robot.moving],
            robot.gravity,
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [(wrench.wrench, wrench.at, wrench.axes) for wrench in robot.wrenches],
            [(link.name, robot.tree.seats[link.name]) for link in robot.links],
            self.wrenched,
            [(one.first, one.second, one.rows) for one in loops.ties],
            loops.couplings,
            self.part,
        )
        return repr(loops.bodies), repr(rest)

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
            self.many = code
            (result,), finite, largest = code(*(array[first:] for array in given))
            return result if finite and largest <= REACH else None

        def text(these: slice) -> np.ndarray:
            columns: list[list[Scalar]] = [[np.ascontiguousarray(x) for x in array[these].T] for array in given]
            return self._plain(columns, these.stop - these.start)

        result = np.empty((count, self.results() + CHECKS))
        return in_blocks(result, max(8, BLOCK // len(self.loops.bodies)), self.offer.lanes, by, text)

    def rolled(self, samples: int) -> Rolled | None:
        """Code that loops over equal subsystems, or None where another form is to run on this number of samples."""
        return None

    def _by_rolled(self, code: Rolled, given: Sequence[np.ndarray]) -> np.ndarray | None:
        """Results and checks by a loop over subsystems; None where the plain text has to find what is wrong."""
        (rows,), finite, largest = code(*given)
        return settle_checks(rows, self.results()) if finite and largest <= REACH else None

    def _plain(self, given: Sequence[list[Scalar]], count: int) -> np.ndarray:
        width = self.results() + CHECKS
        whole = np.full((count, width), np.nan)
        with np.errstate(all="ignore"):
            try:
                result, checks = self.offer.plain(count, self.text, dict(zip(self.names, given)), self.loops.bodies)
                whole = np.empty((count, len(result) + len(checks)))
                into_columns(whole, (*result, *checks))
            except (ZeroDivisionError, OverflowError):
                whole[:] = np.nan
        rows = whole[:, :width]
        rows[~np.isfinite(rows).all(axis=1), -CHECKS] = np.nan
        self.look(rows, whole[:, width:], given[0])
        return rows

    def look(self, rows: np.ndarray, watched: np.ndarray, q: Sequence[Scalar]) -> None:
        """Refuses what the plain text has found at q where it can't be trusted."""
        return


def settle_checks(rows: np.ndarray, results: int) -> np.ndarray:
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

    def __init__(self, loops: Closure, part: Partition):
        self.moved = self.moved_by(loops, part.independent)
        super().__init__(loops, part)

    @staticmethod
    def moved_by(loops: Closure, independent: Sequence[int]) -> list[int]:
        """Places among the independent speeds of those that actuators move, or of all if there are none."""
        driven = loops.robot.driven
        return [place for place, k in enumerate(independent) if k in driven] or list(range(len(independent)))

    def results(self) -> int:
        """The number of entries of the inertia matrix and of the bias."""
        return len(self.moved) * (len(self.moved) + 1)

    def parts(self) -> tuple[Part, ...]:
        """The inertia matrix and the bias."""
        n = len(self.moved)
        return in_order([("", (n, n)), ("", (n,))])

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The inertia matrix, the bias, and checks."""
        problem, checks = self.problem(given, [0.0] * self.loops.robot.nv, bodies)
        _, _, I, h = reduced(problem, problem.second)
        for i in reversed([place for place in range(len(h)) if place not in self.moved]):
            one_over = 1.0 / I[i][i]
            shares = [row[i] * one_over for row in I]
            h = [x - share * h[i] for x, share in zip(h, shares)]
            I = [[x - share * y for x, y in zip(row, I[i])] for row, share in zip(I, shares)]
        return [*(I[i][j] for i in self.moved for j in self.moved), *(h[i] for i in self.moved)], checks


class TextFamily:
    """The texts of one kind for one mechanism, each in other coordinates; the last good one is tried first.

    `made` makes a text that is good at given positions; `lost` is the error where there is none.  If results are in
    `coordinates`, these have to be the independent ones of all texts.
    """

    def __init__(
        self,
        loops: Closure,
        made: Callable[[np.ndarray], PartitionText],
        lost: DenocError | None = None,
        coordinates: Sequence[int] | None = None,
    ):
        self.loops, self.known, self._coordinates = loops, list[PartitionText](), coordinates
        self._made, self._lost = made, lost or no_numbers(loops.robot)

    def rows(self, arrays: Arrays) -> np.ndarray:
        """The results, with a row for each sample."""
        count, text = len(arrays["q"]), self.known[0] if self.known else None
        result, doubtful = np.empty((count, 0)), np.zeros(count, dtype=bool)
        left = np.arange(count)
        while len(left):
            these = {name: array[left] for name, array in arrays.items()} if len(left) < count else arrays
            fresh = text is None
            if text is None:
                consistent(self.loops, these)
                text = self._good(these["q"][0])
            rows = text.rows(these)
            values, checks = rows[:, :-CHECKS], rows[:, -CHECKS:] >= 0.0
            if len(left) == count and checks.all():
                self._first(text)
                return np.ascontiguousarray(values)
            result = result if result.size else np.full((count, values.shape[1]), np.nan)
            fit = checks[:, 0]
            if fresh and not fit[0]:
                raise self._lost.with_traceback(None)
            result[left[fit]], doubtful[left[fit]] = values[fit], ~checks[fit].all(axis=1)
            left, text = left[~fit], None
        if doubtful.any():  # the checks are a little stricter than `consistent`
            consistent(self.loops, {name: array[doubtful] for name, array in arrays.items()})
        return result

    def _good(self, q: np.ndarray) -> PartitionText:
        """A text that is good at q."""
        for one in self.known:
            if one.share(q) > GOOD:
                return one
        made = self._made(q)
        if self._coordinates is not None and made.part.independent != list(self._coordinates):
            raise self._lost.with_traceback(None)
        self.known = [*self.known, made]
        return made

    def _first(self, text: PartitionText) -> None:
        """Lets this text be tried first from now on."""
        if self.known[0] is not text:
            self.known = [text, *(one for one in self.known if one is not text)]


def reduced_texts(loops: Closure, independent: Sequence[int]) -> TextFamily:
    """The family of the robot's texts of inertia and bias in these coordinates."""
    key = Reduced, tuple(independent)
    result: TextFamily | None = loops.robot.derived.get(key)
    if result is None:
        made = TextFamily(
            loops, lambda q: Reduced(loops, partition(loops, q, (), independent)), coordinates=independent
        )
        result = loops.robot.derived.setdefault(key, made)
    return result


def quick(what: Hashable, key: Hashable, robot: Robot, *groups: Any) -> Any:
    """The results for one sample by existing code of this family, which then serves the robot's direct calls."""
    family = robot.derived.get(key)
    if family is None or not choice.free() or type(groups[0]) is not np.ndarray or groups[0].ndim != 1:
        return None
    for text in family.known[:MOST]:
        if text.one is not None and text.final and not text.oriented:
            try:
                result = text.one.of_doubles(*groups)
            except (AttributeError, TypeError, ValueError):
                return None
            if result is not None and (result[-CHECKS:] >= 0.0).all():
                serve(text, what)
                parts, numbers = text.parts(), result[:-CHECKS]
                return divided(numbers, parts) if parts else numbers
    return None


def serve(text: PartitionText, what: Hashable) -> None:
    """Use the text's code, for one sample or many, in the robot's direct calls of this name, if there is any."""
    for code in (text.one, text.many):
        if code is not None and text.final:
            aim(text.loops.robot, what, text.wrenched, code, text.shape(), CHECKS, text.parts())


def consistent(loops: Closure, arrays: Arrays) -> None:
    """Raises an error if the loops aren't closed at these positions, or at speeds if these are given."""
    if "qd" not in arrays:
        return  # callers that give forces alone have checked the positions
    q, qd = arrays["q"], arrays["qd"]
    gaps = abs(loops.gap(q)) * loops.row_scale
    if gaps.max(initial=0.0) > CONSISTENT:
        n, _ = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        widest = ", ".join(
            f"`{gap.name}` {gap.length * 1000:.3g} mm {np.degrees(gap.angle):.3g}°" for gap in loops.open(q[n])
        )
        raise InputError(
            f"{loops.robot.name}: the loops aren't closed at this `q`",
            found=widest,
            hint="`denoc.assemble` closes them",
        )
    rates, sizes = loops.rate_and_size(q, qd)
    if (rates > CONSISTENT * np.maximum(sizes, 1.0)).any():
        raise InputError(
            f"{loops.robot.name}: these speeds would open the loops",
            found=f"`qd` with a rate of {rates.max():.3g} across a cut",
            hint="the dependent speeds follow from the others",
        )
