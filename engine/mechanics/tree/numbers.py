"""All numbers of a tree that its dynamics is made of; each may be a symbol, so that one program serves many robots."""

from __future__ import annotations

from typing import NamedTuple

from ...machine.program.scalars import as_floats
from ...robot import Body, Robot, Three
from .spatial import Vector, add
from .sweeps import Load, Wrenches
from .wrenches import constant_wrenches, wrenches_on_bodies

Six = tuple[float, ...]


class TreeNumbers(NamedTuple):
    """The numbers of a tree: of its bodies, and of gravity and the wrenches of its file on bodies.

    `least` has for each speed the pivot below which a position has to be looked at closely, or 0.
    """

    bodies: tuple[Body, ...]
    gravity: Three
    wrenches: tuple[tuple[int, Six], ...] = ()
    loads: tuple[tuple[int, Six, Six], ...] = ()  # in base axes, with the points where they act
    least: tuple[float, ...] = ()

    def acting(self, more: Wrenches | None = None, loads: list[Load] | None = None) -> tuple[Wrenches, list[Load]]:
        """The wrenches in the recursion's form, with more of them."""
        result: dict[int, Vector] = {body: list(six) for body, six in self.wrenches}
        for body, six in (more or {}).items():
            result[body] = add(result[body], six) if body in result else six
        own: list[Load] = [(body, list(six), list(point)) for body, six, point in self.loads]
        return result, [*own, *(loads or [])]


def tree_numbers(robot: Robot, bodies: tuple[Body, ...], least: tuple[float, ...] = ()) -> TreeNumbers:
    """The numbers of a robot's tree with these bodies."""
    wrenches, loads = wrenches_on_bodies(robot.tree, constant_wrenches(robot))
    on = tuple((body, tuple(as_floats(six))) for body, six in sorted(wrenches.items()))
    own = tuple((body, tuple(as_floats(six)), tuple(as_floats(point))) for body, six, point in loads)
    return TreeNumbers(bodies, robot.gravity, on, own, least)
