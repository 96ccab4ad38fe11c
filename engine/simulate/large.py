"""The recursion of large trees by compiled code that loops over the bodies, where straight-line code is too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dynamics.mixed import Mixed
from ..dynamics.sweeps import sweep_tree
from ..machine.jit.native import QUICK
from ..machine.program.scalars import Scalar, as_floats
from .discrete import Discrete
from .equations import Recursion
from .system import System


def recursion_in_discrete_state(system: System, discrete: Discrete) -> Recursion | None:
    """The recursion of a tree in this discrete state on numbers; None where forces besides those of joints act."""
    robot, model = system.robot, system.model
    if system.loops is not None or system.inputs.wrenches or system.pushing or discrete.switched:
        return None
    given = {*system.ruled, *discrete.held}
    pattern = tuple(k in given for k in range(robot.nv))
    mixed = Mixed(replace(robot, tree=replace(robot.tree, bodies=model.bodies)), pattern, level=QUICK)
    on, loads = system.constant

    def text(q: Sequence[Scalar], qd: Sequence[Scalar], start: Sequence[Scalar]) -> list[Scalar]:
        return sweep_tree(model.bodies, robot.gravity, q, qd, start, pattern, on, loads)[0]

    def sought(q: Sequence[Scalar], qd: Sequence[Scalar], start: Sequence[Scalar]) -> list[Scalar]:
        code = mixed.compiled(1)
        if code is not None:
            rows = [*(np.array([as_floats(x)]) for x in (q, qd, start)), np.empty((1, 0))]
            result = mixed.by(code, rows, np.empty((1, robot.nv)))
            if result is not None:
                return list(result[0].tolist())
        return mixed.offer.plain(1, text, q, qd, start)

    return sought
