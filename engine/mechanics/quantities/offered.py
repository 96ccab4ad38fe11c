"""Quantities of the table of programs, computed by plain text or compiled code for one sample or many."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...machine.backend import LOOP, chosen_backend
from ...machine.jit import REACH, Kernel, Single, plain_or_compiled_in_blocks
from ...machine.program import Program, Recording, Scalar, kernel_parts_divided, scalars_into_columns
from ...robot import Robot
from ..numbers.number_symbols import ProgramOfNumbers
from ..numbers.regroup import regrouped_bodies
from ..tree.springs import tree_coordinates_that_only_turn
from ..tree.vanishing import examine_joint_inertia_once, examine_strange_accelerations, least_joint_pivots
from .calls import AHEAD
from .direct import Call, aim_direct_call, direct_call
from .programs import HELD, LINEARIZED, ROWS
from .samples import (
    BLOCK,
    Samples,
    contiguous_rows,
    dynamics_without_numbers_error,
    singular_dynamics_error,
    tree_angles_within_a_turn,
    vector_of_dynamics_samples,
)
from .subject import Subject, SubjectNumbers

MANY = 50  # bodies from which on code of a robot's own takes seconds to compile
FEW = 7  # bodies from which on a loop over them is at least as quick as code of the robot's own
OF_PARTS = ("reactions", "inertial-adjoint", "regressor")  # quantities of every link, fixed ones too
Result = np.ndarray | dict[str, np.ndarray] | tuple[np.ndarray, ...]


class Offered(ProgramOfNumbers[SubjectNumbers]):
    """One quantity of one robot, as plain text and as compiled code."""

    def __init__(self, what: str, subject: Subject):
        self.what, self.row, self.subject, self.title = what, ROWS[what], subject, what
        self.shape = self.row.shape(subject)
        self.size = math.prod(self.shape)
        self.parts = tuple(self.row.parts(subject)) if self.row.parts is not None else ()
        self.widths = self.row.widths(subject)
        self.offer = self.offered(list(self.widths.values()), [self.size])
        self.turning = tree_coordinates_that_only_turn(subject.bodies)
        self.name = direct_name_of_quantity(what, subject.link, subject.at)
        if self.row.is_beyond(subject.robot):
            self.name = f"{what} of the tree"  # those of the mechanism have the plain name

    def record(self, recording: Recording, numbers: SubjectNumbers) -> Program:
        """The recorded program of the text."""
        return self.row.compilable(recording, self.subject.with_numbers(numbers))

    def leaves(self) -> SubjectNumbers:
        """The numbers, with regrouped inertias if these give the same results, and with the least usual pivots."""
        numbers, robot = self.read(), self.subject.robot
        if self.row.regroups:
            numbers = numbers._replace(bodies=regrouped_bodies(self.subject.bodies))
        if self.row.watched is not None:
            numbers = numbers._replace(least=least_joint_pivots(robot, (False,) * robot.nv))
        return numbers

    def read(self) -> SubjectNumbers:
        """The numbers of the robot; those of links that don't move matter to some quantities only."""
        numbers = self.subject.numbers
        return numbers if self.what in OF_PARTS else numbers._replace(parts=numbers.tree)

    def structure(self) -> tuple[object, ...]:
        """The joints, where links and wrenches are, and what is asked for."""
        subject, robot = self.subject, self.subject.robot
        parts = robot.parts if self.what in OF_PARTS else robot.tree
        grounded = [(one.mass, one.com) for one in robot.links if robot.tree.seats[one.name][0] is None]
        return (
            [(one.joint.type.name, one.joint.coordinates, one.joint.speeds, one.end) for one in robot.links],
            [(one.link, one.wrench, one.at, one.axes) for one in robot.wrenches],
            ([robot.tree.seats, parts.seats], grounded, subject.wrenched, subject.link, subject.at, subject.square),
            self._actuated,
        )

    @property
    def _actuated(self) -> tuple[int, ...]:
        """The speeds with actuators, if the program depends on them."""
        return self.subject.robot.driven if self.what in (LINEARIZED, HELD) else ()

    # ---- calls

    def direct(self) -> Call:
        """The call of the quantity for one sample or many, by compiled code where there is any."""
        robot, wrenched = self.subject.robot, self.subject.wrenched
        widths = [width for name, width in self.widths.items() if name != "w"]
        return direct_call(robot, self.name, wrenched, widths, self._generally, self.row.about)

    def _generally(self, *given: Any) -> Result:
        """The quantity for arguments of any kind, which are checked: its inputs, then a wrench for each link."""
        names, wrenched = self.row.inputs, self.subject.wrenched
        if len(given) != len(names) + len(wrenched):
            raise InputError(
                f"`{self.what}` has other arguments",
                found=f"{len(given)} arguments",
                allowed=", ".join((*names, *(f"a wrench on `{link}`" for link in wrenched))),
            )
        arrays = dict(zip(names, given))
        more = {"at": vector_of_dynamics_samples("at", arrays.pop("at"), 3)[None]} if "at" in arrays else {}
        s = Samples(self.subject.robot, **arrays)
        if wrenched:
            _, more["w"] = s.acting(dict(zip(wrenched, given[len(names) :])))
        return self(s, **more)

    def __call__(self, s: Samples, **more: np.ndarray) -> Result:
        """The quantity for one sample or many, in its shape or its parts; `more` are inputs the samples don't have."""
        if self.row.alone and s.count is not None:
            raise InputError(self.row.alone, found=f"{s.count} samples")
        count = 1 if s.count is None else s.count
        given = {name: more[name] if name in more else s.rows(name) for name in self.widths}
        arrays = {name: contiguous_rows(x, count) for name, x in given.items()}
        if self.row.watched is not None and s.count != 0:
            examine_joint_inertia_once(s.begun_finite().robot, arrays["q"][0], (False,) * s.robot.nv)
        if s.count is None:
            numbers = self._one(s, arrays)
        else:
            block = max(8, min(1024, BLOCK // max(len(self.subject.bodies), 1)))
            by, text = partial(self._by, arrays), partial(self._plain, s, arrays)
            numbers = plain_or_compiled_in_blocks(np.empty((count, self.size)), block, self._lanes, by, text)
        return kernel_parts_divided(numbers, self.parts) if self.parts else numbers.reshape((*s.shape, *self.shape))

    def _one(self, s: Samples, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """One sample by compiled code, or by the plain text where there is none or it can't compute this sample."""
        single = self._looped() if self._loops else self.offer.single() if self._compiles() else None
        if single is not None:
            result = single(*(array[0] for array in arrays.values()))
            self._aim(single)
            if result is not None:
                return result
        row: np.ndarray = self._plain(s, arrays, slice(0, 1))[0]
        return row

    def _aim(self, code: Single | Kernel) -> None:
        """Use this code in direct calls from now on."""
        shape = (self.size,) if self.parts or len(self.shape) > 2 else self.shape
        aim_direct_call(self.subject.robot, self.name, self.subject.wrenched, code, shape, parts=self.parts)

    def _compiles(self) -> bool:
        """Whether there is anything to compile, and not too much."""
        most = min(self.row.most, MANY) if self._fits_loops else self.row.most
        return self.size > 0 and all(self.widths.values()) and len(self.subject.bodies) <= most

    @cached_property
    def _fits_loops(self) -> bool:
        return self.row.loops is not None and self.row.loops(self.subject.robot)

    @property
    def _loops(self) -> bool:
        """Whether a loop over bodies does one sample, whose machine code serves this tree as any other.

        A small robot's own code is up to twice as quick, but only where it is asked for does it pay to compile it.
        """
        small = len(self.subject.bodies) < FEW and chosen_backend() == "compiled"
        return self._fits_loops and not small

    def _looped(self) -> Single | None:
        """The loop's machine code with the tables of this tree, or None where the plain text is to run."""
        from ..bodies import body_tables

        tables, text = body_tables.tree_tables(self.subject.robot), body_tables.LOOPS[self.what]
        return self.offer.form("loops", partial(tables.bound, text, self.shape), 0, LOOP, AHEAD)

    def _lanes(self, samples: int) -> Kernel | Single | None:
        """Compiled code for this number of samples, or None where the plain text is to run."""
        if self._compiles():
            return self.offer.lanes(samples)
        return self._looped() if self._fits_loops else None

    def _by(self, arrays: dict[str, np.ndarray], code: Kernel | Single, first: int) -> np.ndarray | None:
        """The rows by compiled code from a place on, or None where it can't compute them."""
        self._aim(code)
        given = {name: array[first:] for name, array in arrays.items()}
        if isinstance(code, Single):
            rows = [code(*row) for row in zip(*given.values())]
            return None if any(row is None for row in rows) else np.array(rows)
        (result,), finite, largest = code(*given.values())
        if largest > REACH:
            (result,), finite, largest = code(
                *{**given, "q": tree_angles_within_a_turn(given["q"], self.turning)}.values()
            )
        return result if finite and largest <= REACH else None

    def _plain(self, s: Samples, arrays: dict[str, np.ndarray], these: slice) -> np.ndarray:
        """The rows by the plain text, or an error that says why they can't be computed."""
        s.finite()
        robot, count = self.subject.robot, these.stop - these.start
        given: dict[str, list[Scalar]] = {
            name: array[these.start].tolist()
            if s.count is None
            else [np.ascontiguousarray(column) for column in array[these].T]
            for name, array in arrays.items()
        }
        result = np.empty((count, self.size))
        with np.errstate(all="ignore"):
            try:
                scalars_into_columns(result, self.offer.plain(count, self.row.text, self.subject, given))
            except (ZeroDivisionError, OverflowError):
                raise singular_dynamics_error(robot) from None
            self._look(given, arrays["q"][these], count)
        if not np.isfinite(result).all():
            raise dynamics_without_numbers_error(robot)
        return result

    def _look(self, given: dict[str, list[Scalar]], q: np.ndarray, count: int) -> None:
        """Refuses positions at which next to nothing is left of an inertia that is divided by."""
        if self.row.watched is None:
            return
        watched = self.row.watched(self.subject, given)
        numbers = np.empty((count, len(watched)))
        scalars_into_columns(numbers, watched)
        examine_strange_accelerations(self.subject.robot, q, numbers, (False,) * self.subject.robot.nv)


def direct_name_of_quantity(what: str, link: str = "", at: str = "link") -> Hashable:
    """The name of a quantity's direct call among those of a robot."""
    return (what, link, at) if link or at != "link" else what


def offered_dynamics_quantity(
    robot: Robot, what: str, wrenched: tuple[str, ...] = (), link: str = "", at: str = "link"
) -> Offered:
    """The robot's quantity of this name, which is made once for each robot."""
    return robot.made_once(
        ("offered", what, wrenched, link, at),
        lambda: Offered(what, Subject(robot, robot.tree.bodies, wrenched, link, at, square=what == "kinematics")),
    )
