"""Programs of a robot with loops that can be counted, compiled and exported.

They hold around the assembled initial position, where independent coordinates and the order of elimination are chosen.
"""

from __future__ import annotations

import numpy as np

from ..dynamics import programs as tree
from ..dynamics.regroup import regrouped
from ..errors import InputError
from ..machine.program.trace import Program, Recording
from ..robot.model import Robot
from .assembly import assemble
from .balance import Balance, enough
from .branches import Inverse, efforts, order_at, present
from .constraints import closure
from .linear import Slopes
from .partition import partition
from .texts import Forward, Text

CLOSED = {"fdyn": Forward, "fdyn-derivatives": Slopes}


def program(robot: Robot, what: str, *, regroup: bool = True, link: str = "") -> Program:
    """The recorded program of this name; with loops `idyn` gives actuators, `fdyn` is closed."""
    if not robot.tied or (what != "idyn" and what not in CLOSED):
        return tree.program(robot, what, regroup=regroup, link=link)
    q0 = assemble(robot, np.array(robot.q0))
    if what == "idyn":
        text: Text = _inverse(robot, q0)
    else:
        text = CLOSED[what](closure(robot), partition(closure(robot), q0, (), robot.driven))
    row, recording = tree.PROGRAMS[what], Recording(what)
    given = {name: recording.input(name, width) for name, width in text.widths.items()}
    found, _ = text.text(given, regrouped(robot.tree.bodies) if regroup else robot.tree.bodies)
    return recording.program(**{row.output: found})


def _inverse(robot: Robot, q0: np.ndarray) -> Inverse:
    enough(Balance(robot, q0))
    loops = closure(robot)
    text = Inverse(loops, order_at(loops, q0, present(loops)))
    if text.order.shared and any(np.isfinite([one.low, one.high]).any() for one in efforts(robot)):
        raise InputError(
            f"{robot.name}: which actuators are at their limits isn't known before the motion is",
            found="`effort.limits` of actuators that share their work",
            allowed="fdyn, inertia, bias, kinematics",
        )
    return text
