"""Calls that lead straight into compiled code: one for each robot, quantity and set of links with wrenches.

A robot keeps them among what was made from it.  Each begins without code: all its calls go the general way until that
has found code for one sample and aims the direct call at it.
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
    """The robot's direct call of this name, made where it isn't there; `general` does whatever it can't.

    Its arguments are groups of so many numbers, then a wrench for each of the links.  Without `general` it gives None
    where it can't.
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
    """The general way; but arrays of other numbers become arrays of doubles first, for which the builtin is asked."""

    def __init__(self, general: Call):
        self._general = general
        self.builtin: Builtin | None = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        fresh = [_doubles(x) for x in given]
        if self.builtin is not None and any(x is not y for x, y in zip(fresh, given)):
            return self.builtin.call(*fresh, **named)
        return self._general(*given, **named)


def _doubles(x: Any) -> Any:
    """A row of whole numbers or of other floats as an array of doubles; anything else as it is."""
    is_row = isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "fiu"
    return np.array(x, dtype=float) if is_row and (type(x) is not np.ndarray or x.dtype is not _DOUBLE) else x


_DOUBLE = np.dtype(float)


def key_of(what: Hashable, links: tuple[str, ...]) -> Hashable:
    """Under which key a robot keeps a direct call; without wrenches, its name."""
    return (what, *links) if links else what


def aim(
    robot: Robot, what: Hashable, links: tuple[str, ...], code: Single | Kernel, shape: Sequence[int], checks: int = 0
) -> None:
    """From now on this code answers the robot's direct calls of this name, if there are any.

    One sample gives this shape; the last of its numbers are checks, which a kernel mustn't have.
    """
    builtin: Builtin | None = robot.derived.get(("builtin", key_of(what, links)))
    if builtin is not None:
        code.serve(builtin, shape, *([checks] if checks else []))
        robot.derived[key_of(what, links)] = builtin.call


def orientations(robot: Robot) -> list[int]:
    """The places in q of the first of each joint's Euler parameters."""
    return [joint.coordinates[joint.type.orientation] for joint in robot.moving if joint.type.orientation is not None]
