"""Quantities of the table of programs, computed by plain text or compiled code for one sample or many."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..machine.jit import choice
from ..machine.jit.kernel import Kernel, Single
from ..machine.jit.offer import Offer, in_blocks
from ..machine.jit.trigonometry import REACH
from ..machine.program.scalars import Scalar, into_columns
from ..machine.program.trace import Program
from ..robot.model import Body, Robot
from .programs import PROGRAMS, Subject
from .regroup import regrouped
from .samples import BLOCK, Samples, no_numbers, singular

Key = tuple[str, tuple[str, ...], str, str]  # what, wrenched, link, at


class Offered:
    """One quantity of one robot, as plain text and as compiled code."""

    def __init__(self, what: str, subject: Subject):
        self.what, self.row, self.subject = what, PROGRAMS[what], subject
        self.shape = self.row.shape(subject)
        self.size = math.prod(self.shape)
        self.widths = self.row.widths(subject)
        self.offer = Offer(self.program, list(self.widths.values()), [self.size], self.identity)
        self.turning = turning(subject.bodies)
        # code for one sample, once it has run; None if Euler parameters have to be normalised before
        self.one: Single | None = None
        self._oriented = any(joint.type.orientation is not None for joint in subject.robot.moving)

    def program(self) -> Program:
        """The recorded program of the text, with regrouped inertias if these give the same results."""
        subject = self.subject
        bodies = regrouped(subject.bodies) if self.row.regroups else subject.bodies
        recorded = Subject(subject.robot, bodies, subject.wrenched, subject.link, subject.at)
        return self.row.program(recorded, self.what)

    def identity(self) -> tuple[str, ...]:
        """Everything that the program depends on, as strings."""
        robot, subject = self.subject.robot, self.subject
        rest = (
            [(wrench.link, wrench.wrench, wrench.at, wrench.axes) for wrench in robot.wrenches],
            [(link.name, link.mass, link.com, link.end, robot.tree.seats[link.name]) for link in robot.links],
            robot.gravity,
            (subject.wrenched, subject.link, subject.at),
        )
        return self.what, repr(robot.parts if self.what == "reactions" else robot.tree.bodies), repr(rest)

    # ---- rows

    def __call__(self, s: Samples, **more: np.ndarray) -> np.ndarray:
        """The quantity in its shape for one sample or many; `more` are inputs that the samples don't have."""
        count = 1 if s.count is None else s.count
        given = {name: more[name] if name in more else s.rows(name) for name in self.widths}
        arrays = {name: np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[-1]))) for name, x in given.items()}
        if s.count is None:
            return self._one(s, arrays).reshape(self.shape)
        block = max(8, min(1024, BLOCK // max(len(self.subject.bodies), 1)))
        by, text = partial(self._by, arrays), partial(self._plain, s, arrays)
        rows: np.ndarray = in_blocks(np.empty((count, self.size)), block, self._lanes, by, text)
        return rows.reshape((count, *self.shape))

    def _one(self, s: Samples, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """One sample by compiled code, or by the plain text where there is none or it can't compute this sample."""
        single = self.offer.single() if self._compiles() else None
        if single is not None:
            result = single(*(array[0] for array in arrays.values()))
            self.one = None if self._oriented else single
            if result is not None:
                return result
        row: np.ndarray = self._plain(s, arrays, slice(0, 1))[0]
        return row

    def _compiles(self) -> bool:
        """Whether there is anything to compile, and not too much."""
        return self.size > 0 and all(self.widths.values()) and len(self.subject.bodies) <= self.row.most

    def _lanes(self, samples: int) -> Kernel | None:
        """Compiled code for this number of samples, or None where the plain text is to run."""
        return self.offer.lanes(samples) if self._compiles() else None

    def _by(self, arrays: dict[str, np.ndarray], code: Kernel, first: int) -> np.ndarray | None:
        """The rows by compiled code from a place on, or None where it can't compute them."""
        given = {name: array[first:] for name, array in arrays.items()}
        (result,), finite, largest = code(*given.values())
        if largest > REACH:
            (result,), finite, largest = code(*{**given, "q": within_a_turn(given["q"], self.turning)}.values())
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
                into_columns(result, self.offer.plain(count, self.row.text, self.subject, given))
            except (ZeroDivisionError, OverflowError):
                raise singular(robot) from None
        if not np.isfinite(result).all():
            raise no_numbers(robot)
        return result


def offered(robot: Robot, what: str, wrenched: tuple[str, ...] = (), link: str = "", at: str = "link") -> Offered:
    """The robot's quantity of this name, which is made once for each robot."""
    key: Key = what, wrenched, link, at
    result: Offered | None = robot.derived.get(key)
    if result is None:
        made = Offered(what, Subject(robot, robot.tree.bodies, wrenched, link, at))
        result = robot.derived.setdefault(key, made)
    return result


def quick(robot: Robot, key: Key, *groups: Any) -> np.ndarray | None:
    """The quantity of one sample by existing code, with the least overhead; None where there is none."""
    try:
        known: Offered = robot.derived[key]
        single = known.one
        if single is None or not choice.free():
            return None
        result = single.of_doubles(*groups)
        return None if result is None else result.reshape(known.shape)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def turning(bodies: tuple[Body, ...]) -> tuple[int, ...]:
    """Coordinates that matter by their cosines and sines only, because no spring measures them, nor does a screw."""
    measured = {drive.coordinate for body in bodies for drive in body.drives if drive.stiffness}
    angles = [body.coordinates[k] for body in bodies for what, _, k in body.moves if what == "turn"]
    return tuple(k for k in angles if k not in measured)


def within_a_turn(q: np.ndarray, angles: tuple[int, ...]) -> np.ndarray:
    """The coordinates q with these angles reduced to one turn, within the reach of compiled sines."""
    q = q.copy()
    for k in angles:
        q[..., k] = np.arctan2(np.sin(q[..., k]), np.cos(q[..., k]))
    return q
