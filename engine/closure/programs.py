"""Programs of a robot with loops that can be counted, compiled and exported: those of its spanning tree, closed.

They hold around the assembled initial position: in the coordinates, and in the order of elimination, chosen there.
"""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..machine.trace import Program, Recording
from ..recursion import programs as tree
from ..recursion.regroup import regrouped
from ..recursion.spatial import dot
from ..recursion.sweeps import dynamics
from ..recursion.wrenches import constant_wrenches, on_bodies
from ..robot.model import Robot
from .assemble import assemble
from .closure import closure
from .compiled import Forward
from .equations import Equations
from .partition import partition


def program(robot: Robot, what: str, *, regroup: bool = True) -> Program:
    """The recorded program of this name; with loops `idyn` gives the actuators' forces, `fdyn` closed accelerations."""
    if not robot.tied or what not in ("idyn", "fdyn"):
        return tree.program(robot, what, regroup=regroup)
    loops = closure(robot)
    part = partition(loops, assemble(robot, np.array(robot.q0)), (), robot.driven)
    bodies = regrouped(robot.tree.bodies) if regroup else robot.tree.bodies
    recording = Recording(what)
    row = tree.PROGRAMS[what]
    q, qd, x = (recording.input(name, robot.nq if name == "q" else robot.nv) for name in row.inputs)
    if what == "fdyn":
        return recording.program(qdd=Forward(loops, part).text(q, qd, x, (), bodies)[0])
    if part.independent != sorted(robot.driven) or robot.actuators:
        raise InputError(
            f"{robot.name}: the code of inverse dynamics needs as many actuated joints as freedoms",
            found=f"{len(robot.driven)} actuated, {len(part.independent)} freedoms",
            allowed="fdyn, inertia, bias, kinematics",
        )
    on, loads = on_bodies(robot.tree, constant_wrenches(robot))
    tau, _ = dynamics(bodies, robot.gravity, q, qd, x, (True,) * robot.nv, on, loads)
    equations = Equations(loops, part, bodies)
    K = equations.factors(equations.rows(q, loops.tied(q)))
    first = robot.nv - len(part.N)
    columns = [K.solve([float(r == first + c) for r in range(robot.nv)]) for c in range(len(part.N))]
    return recording.program(tau=[dot(column, tau) for column in columns])
