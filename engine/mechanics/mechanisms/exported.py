"""Programs of a robot with loops that can be counted, compiled and exported.

They hold around the assembled initial position, where independent coordinates and the order of elimination are chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import InputError
from ...machine.program import Program, Recording
from ...robot import Robot
from ..assembly.assembly import assemble
from ..closure.constraints import loop_closure
from ..closure.partition import best_partition
from ..quantities import programs as tree
from .accelerations import Accelerated, Forward
from .balance import Balance, enough_actuators_for_freedoms
from .branches import Inverse, branch_order_at_position, loop_actuator_efforts, multipliers_in_equations
from .gradients import AlongState
from .reaction_wrenches import Reactions
from .regressor_columns import Regressor
from .slopes import Slopes
from .texts import Arguments, PartitionText


def program_of_mechanism_quantity(robot: Robot, what: str, *, regroup: bool = True, link: str = "") -> Program:
    """The recorded program of this name; with loops `idyn` gives actuators, `fdyn` is closed, `reactions` have cuts."""
    if not robot.tied or what not in TEXTS:
        return tree.program_of_tree_quantity(robot, what, regroup=regroup, link=link)
    return recorded_mechanism_program(mechanism_text_at_assembly(robot, what), what, regroup=regroup)


def mechanism_text_at_assembly(robot: Robot, what: str) -> PartitionText:
    """The text of this name, with its choices made at the assembled initial position."""
    return TEXTS[what](robot, assemble(robot, np.array(robot.q0)))


def recorded_mechanism_program(
    text: PartitionText, what: str, *, regroup: bool = True, recording: Recording | None = None
) -> Program:
    """The program of a text, with the name and the output of this row of the table."""
    robot, row, recording = text.loops.robot, tree.PROGRAMS[what], recording or Recording(what)
    given: Arguments = {name: list(recording.input(name, width)) for name, width in text.widths.items()}
    result, _ = text.text(given, text.regrouped() if regroup and row.regroups else robot.tree.bodies)
    return recording.program(
        **{row.output: result[len(loop_actuator_efforts(robot)) :] if what == "reactions" else result}
    ).gathered()


def mechanism_text_around_position(robot: Robot, q0: np.ndarray, kind: type[Accelerated] = Forward) -> PartitionText:
    """A text of accelerations in the coordinates that are best at this position."""
    return kind(loop_closure(robot), best_partition(loop_closure(robot), q0, (), robot.driven))


def _slopes(robot: Robot, q0: np.ndarray) -> PartitionText:
    return mechanism_text_around_position(robot, q0, Slopes)


def _along_state(robot: Robot, q0: np.ndarray) -> PartitionText:
    return mechanism_text_around_position(robot, q0, AlongState)


def mechanism_text_with_balance_order(
    robot: Robot, q0: np.ndarray, kind: type[Inverse] = Inverse, divided: bool = True
) -> PartitionText:
    """A text of inverse dynamics, in the order that `branches.branch_order_at_position` finds good at q0."""
    enough_actuators_for_freedoms(Balance(robot, q0))
    loops = loop_closure(robot)
    text = kind(loops, branch_order_at_position(loops, q0, multipliers_in_equations(loops), divided))
    if not text.final:
        raise InputError(
            f"{robot.name}: which actuators are at their limits isn't known before the motion is",
            found="`effort.limits` of actuators that share their work",
            allowed=", ".join(what for what in tree.PROGRAMS if what not in ("idyn", "reactions")),
        )
    return text


def _reactions(robot: Robot, q0: np.ndarray) -> PartitionText:
    return mechanism_text_with_balance_order(robot, q0, Reactions)


def _regressor(robot: Robot, q0: np.ndarray) -> PartitionText:
    return mechanism_text_with_balance_order(robot, q0, Regressor)


TEXTS: dict[str, Callable[[Robot, np.ndarray], PartitionText]] = {
    "idyn": mechanism_text_with_balance_order,
    "fdyn": mechanism_text_around_position,
    "fdyn-derivatives": _slopes,
    "fdyn-adjoint": _along_state,
    "reactions": _reactions,
    "regressor": _regressor,
}
