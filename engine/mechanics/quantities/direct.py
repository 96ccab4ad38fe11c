"""Direct calls of compiled code: one for each robot, quantity and set of links with wrenches.

A robot keeps them in `derived`.  A new direct call has no code: it takes the general way until that has compiled code
for one sample and aims the direct call at it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ...machine.backend import note_backend_run
from ...machine.jit import Builtin, Kernel, Single
from ...machine.program import Part
from ...robot import Robot
from .samples import has_masked_numbers, wrenches_act_on_links

Call = Callable[..., Any]


def direct_call(
    robot: Robot, what: Hashable, links: tuple[str, ...], widths: Sequence[int], general: Call | None, about: str = ""
) -> Call:
    """The robot's direct call of this name, which is made once; it calls `general` where it has no code.

    Its arguments are groups of numbers with these widths, then a wrench for each of the links.  Without `general` it
    returns None where it has no code.
    """
    key = key_of_direct_call(what, links)
    builtin: Builtin | None = robot.derived.get(("builtin", key))
    if builtin is None:
        wrenches_act_on_links(robot, links)  # before anything is kept under their names
        way = None if general is None else _Converting(general)
        sixes = [6] * len(links)
        made = Builtin([*widths, *sixes], way, tree_euler_parameter_places(robot), len(widths), True, str(what), about)
        if way is not None:
            way.builtin = made
        builtin = robot.derived.setdefault(("builtin", key), made)
        robot.derived[key] = builtin.call
    return builtin.call


class _Converting:
    """The general way, but for what the builtin can do with help.

    Arrays of other numbers are converted to doubles for it, and samples that are too many for it are shared.
    """

    def __init__(self, general: Call):
        self._general = general
        self.builtin: Builtin | None = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        fresh = [_doubles(x) for x in given]
        if self.builtin is not None and any(x is not y for x, y in zip(fresh, given)):
            given = tuple(fresh)
            if all(x is y for x, y in zip(map(_doubles, given), given)):  # else the call would come back for ever
                return self.builtin.call(*given, **named)
        if self.builtin is not None and (shared := self.builtin.shared_call(given, named)) is not None:
            return shared
        note_backend_run("general")
        return self._general(*given, **named)


def _doubles(x: Any) -> Any:
    """An aligned array of NumPy's own doubles for a row of integers or of other floats; all else unchanged.

    Arrays that come out of a pickle have a type that equals NumPy's own and is another object: they are only seen anew.
    """
    if not isinstance(x, np.ndarray) or (type(x) is np.ndarray and x.dtype is _DOUBLE and x.flags.aligned):
        return x
    if type(x) is np.ndarray and x.dtype == _DOUBLE and x.dtype.isnative and x.flags.aligned:
        return x.view(_DOUBLE)
    plain = x.ndim == 1 and x.dtype.kind in "fiu" and x.dtype.itemsize <= 8 and not has_masked_numbers(x)
    return x.astype(float, subok=False) if plain else x


_DOUBLE = np.dtype(float)


def key_of_direct_call(what: Hashable, links: tuple[str, ...]) -> Hashable:
    """The key of a direct call in a robot's `derived`, which is its name if there are no wrenches."""
    return (what, *links) if links else what


def aim_direct_call(
    robot: Robot,
    what: Hashable,
    links: tuple[str, ...],
    code: Single | Kernel,
    shape: Sequence[int],
    checks: int = 0,
    parts: Sequence[Part] = (),
) -> None:
    """Uses this code in the robot's direct call of this name, if there is one.

    The result of one sample has this shape, or is a row that is divided into parts; the last outputs are checks.
    """
    builtin: Builtin | None = robot.derived.get(("builtin", key_of_direct_call(what, links)))
    if builtin is not None:
        code.serve(builtin, shape, checks, parts)
        robot.derived[key_of_direct_call(what, links)] = builtin.call


def tree_euler_parameter_places(robot: Robot) -> list[int]:
    """The places in q at which the joints' Euler parameters begin."""
    return [joint.coordinates[joint.type.orientation] for joint in robot.moving if joint.type.orientation is not None]
