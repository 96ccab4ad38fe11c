"""The linearised equations of state δẋ = A δx + B δu of a tree as text on scalars, x = [displacements; speeds]."""

from __future__ import annotations

from collections.abc import Sequence

from ...machine.jit.result_parts import Part, kernel_parts_in_order, numbers_of_kernel_parts
from ...machine.program.scalars import Scalar, sign
from ...robot import Robot
from .derivatives import Slopes, Unsolved
from .entries import Entries

AT_REST = 1e-9  # largest acceleration in an equilibrium


def state_space_parts(
    robot: Robot, independent: Sequence[int], actuated: Sequence[int], *, closed: bool = False
) -> tuple[Part, ...]:
    """A and B, forces and accelerations of all speeds, whether the state is an equilibrium, and which speeds are meant.

    If loops are `closed`, there is the position, too.
    """
    n = len(independent)
    shapes: list[tuple[str, tuple[int, ...]]] = [("A", (2 * n, 2 * n)), ("B", (2 * n, len(actuated)))]
    shapes += [("q", (robot.nq,))] * closed + [("tau", (robot.nv,)), ("qdd", (robot.nv,))]
    arrays = kernel_parts_in_order(shapes)
    verdict = Part("equilibrium", numbers_of_kernel_parts(arrays), verdict=True)
    things = Part("actuated", 0, thing=tuple(actuated)), Part("independent", 0, thing=tuple(independent))
    return *arrays, verdict, *things


def put_state(found: Entries, qd: Sequence[Scalar], tau: Sequence[Scalar], qdd: Sequence[Scalar]) -> None:
    """Puts forces, accelerations, and a number that isn't negative if the state is an equilibrium."""
    for name, numbers in (("tau", tau), ("qdd", qdd)):
        for k, x in enumerate(numbers):
            found.put(name, 0, k, x)
    moving: Scalar = 0.0
    for x in qdd:
        moving = moving + (1.0 - sign(AT_REST - x * sign(x)))
    for x in qd:
        moving = moving + x * sign(x)
    found.put("equilibrium", 0, 0, -moving)


def tree_state_space(robot: Robot, qd: Sequence[Scalar], tau: Sequence[Scalar], of: Slopes) -> Unsolved:
    """All numbers of the parts, with the derivatives of the accelerations yet to be solved for."""
    n, actuated, found = robot.nv, robot.driven, Entries()
    parts = state_space_parts(robot, range(n), actuated)
    for k in range(n):
        found.put("A", k, n + k, 1.0)
    for joint in robot.moving:
        if joint.type.orientation is not None:  # directions that turn with the link
            turn, shift = joint.speeds[-3:], joint.speeds[:-3]
            for own in (turn, shift) if shift else (turn,):
                _put_cross(found, own, own, [qd[k] for k in turn])
            if shift:
                _put_cross(found, shift, turn, [qd[k] for k in shift])
    put_state(found, qd, tau, of.qdd)
    A, B = (next(part.first for part in parts if part.name == name) for name in ("A", "B"))
    places = [(A + 2 * n * n + k, 2 * n) for k in range(2 * n)]
    places += [(B + n * len(actuated) + c, len(actuated)) for c in range(len(actuated))]
    return of.among(found.numbers(parts), places, actuated)


def _put_cross(found: Entries, rows: Sequence[int], columns: Sequence[int], v: Sequence[Scalar]) -> None:
    """Puts −v ×."""
    for r, c, x in ((0, 1, v[2]), (0, 2, -v[1]), (1, 0, -v[2]), (1, 2, v[0]), (2, 0, v[1]), (2, 1, -v[0])):
        found.put("A", rows[r], columns[c], x)
