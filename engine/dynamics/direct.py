"""Direct calls of compiled code: one for each robot, quantity and set of links with wrenches.

A robot keeps them in `derived`.  A new direct call has no code: it takes the general way until that has compiled code
for one sample and aims the direct call at it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ..machine.jit.builtin import Builtin
from ..machine.jit.kernel import Kernel, Single
from ..robot.model import Robot

Call = Callable[..., Any]


def direct(
    robot: Robot, what: Hashable, links: tuple[str, ...], widths: Sequence[int], general: Call | None, about: str = ""
) -> Call:
    """The robot's direct call of this name, which is made once; it calls `general` where it has no code.

    Its arguments are groups of numbers with these widths, then a wrench for each of the links.  Without `general` it
    returns None where it has no code.
    """
    key = key_of(what, links)
    builtin: Builtin | None = robot.derived.get(("builtin", key))
    if builtin is None:
        way = None if general is None else _Converting(general)
        sixes = [6] * len(links)
        made = Builtin([*widths, *sixes], way, orientations(robot), len(widths), True, str(what), about)
        if way is not None:
            way.builtin = made
        builtin = robot.derived.setdefault(("builtin", key), made)
        robot.derived[key] = builtin.call
    return builtin.call


class _Converting:
    """The general way, except that arrays of other numbers are converted to doubles and passed to the builtin."""

    def __init__(self, general: Call):
        self._general = general
        self.builtin: Builtin | None = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        fresh = [_doubles(x) for x in given]
        if self.builtin is not None and any(x is not y for x, y in zip(fresh, given)):
            return self.builtin.call(*fresh, **named)
        return self._general(*given, **named)


def _doubles(x: Any) -> Any:
    """An array of doubles for a row of integers or of other floats; any other argument unchanged."""
    is_row = isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "fiu"
    return np.array(x, dtype=float) if is_row and (type(x) is not np.ndarray or x.dtype is not _DOUBLE) else x


_DOUBLE = np.dtype(float)


def key_of(what: Hashable, links: tuple[str, ...]) -> Hashable:
    """The key of a direct call in a robot's `derived`, which is its name if there are no wrenches."""
    return (what, *links) if links else what


def aim(
    robot: Robot, what: Hashable, links: tuple[str, ...], code: Single | Kernel, shape: Sequence[int], checks: int = 0
) -> None:
    """Uses this code in the robot's direct call of this name, if there is one.

    The result of one sample has this shape; the last outputs are checks, which a kernel mustn't have.
    """
    builtin: Builtin | None = robot.derived.get(("builtin", key_of(what, links)))
    if builtin is not None:
        code.serve(builtin, shape, *([checks] if checks else []))
        robot.derived[key_of(what, links)] = builtin.call


def orientations(robot: Robot) -> list[int]:
    """The places in q at which the joints' Euler parameters begin."""
    return [joint.coordinates[joint.type.orientation] for joint in robot.moving if joint.type.orientation is not None]
