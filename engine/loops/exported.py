"""Programs of a robot with loops that can be counted, compiled and exported.

They hold around the assembled initial position, where independent coordinates and the order of elimination are chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..dynamics import programs as tree
from ..errors import InputError
from ..machine.program.trace import Program, Recording
from ..robot.model import Robot
from .accelerations import Accelerated, Forward
from .adjoint import AlongState
from .assembly import assemble
from .balance import Balance, enough
from .branches import Inverse, efforts, multipliers_in_equations, order_at
from .constraints import closure
from .partition import partition
from .reactions import Reactions
from .regressor import Regressor
from .slopes import Slopes
from .texts import Arguments, PartitionText


def program(robot: Robot, what: str, *, regroup: bool = True, link: str = "") -> Program:
    """The recorded program of this name; with loops `idyn` gives actuators, `fdyn` is closed, `reactions` have cuts."""
    if not robot.tied or what not in TEXTS:
        return tree.program(robot, what, regroup=regroup, link=link)
    return recorded(chosen(robot, what), what, regroup=regroup)


def chosen(robot: Robot, what: str) -> PartitionText:
    """The text of this name, with its choices made at the assembled initial position."""
    return TEXTS[what](robot, assemble(robot, np.array(robot.q0)))


def recorded(text: PartitionText, what: str, *, regroup: bool = True, recording: Recording | None = None) -> Program:
    """The program of a text, with the name and the output of this row of the table."""
    robot, row, recording = text.loops.robot, tree.PROGRAMS[what], recording or Recording(what)
    given: Arguments = {name: list(recording.input(name, width)) for name, width in text.widths.items()}
    result, _ = text.text(given, text.regrouped() if regroup and row.regroups else robot.tree.bodies)
    return recording.program(
        **{row.output: result[len(efforts(robot)) :] if what == "reactions" else result}
    ).gathered()


def around(robot: Robot, q0: np.ndarray, kind: type[Accelerated] = Forward) -> PartitionText:
    """A text of accelerations in the coordinates that are best at this position."""
    return kind(closure(robot), partition(closure(robot), q0, (), robot.driven))


def _slopes(robot: Robot, q0: np.ndarray) -> PartitionText:
    return around(robot, q0, Slopes)


def _along_state(robot: Robot, q0: np.ndarray) -> PartitionText:
    return around(robot, q0, AlongState)


def balanced(robot: Robot, q0: np.ndarray, kind: type[Inverse] = Inverse, divided: bool = True) -> PartitionText:
    """A text of inverse dynamics, in the order of elimination that is good at q0; see `branches.order_at`."""
    enough(Balance(robot, q0))
    loops = closure(robot)
    text = kind(loops, order_at(loops, q0, multipliers_in_equations(loops), divided))
    if not text.final:
        raise InputError(
            f"{robot.name}: which actuators are at their limits isn't known before the motion is",
            found="`effort.limits` of actuators that share their work",
            allowed=", ".join(what for what in tree.PROGRAMS if what not in ("idyn", "reactions")),
        )
    return text


def _reactions(robot: Robot, q0: np.ndarray) -> PartitionText:
    return balanced(robot, q0, Reactions)


def _regressor(robot: Robot, q0: np.ndarray) -> PartitionText:
    return balanced(robot, q0, Regressor)


TEXTS: dict[str, Callable[[Robot, np.ndarray], PartitionText]] = {
    "idyn": balanced,
    "fdyn": around,
    "fdyn-derivatives": _slopes,
    "fdyn-adjoint": _along_state,
    "reactions": _reactions,
    "regressor": _regressor,
}
