"""The recursion of large trees by compiled code that loops over the bodies, where straight-line code is too long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..machine.backend import QUICK
from ..machine.program import Scalar, as_floats
from ..mechanics.quantities import Held, Mixed
from .equations import Recursion
from .systems.discrete import Discrete
from .systems.system import System


def recursion_in_discrete_state(system: System, discrete: Discrete) -> Recursion | None:
    """The recursion of a tree in this discrete state on numbers; None where forces besides those of joints act."""
    robot, model = system.robot, system.model
    if system.loops.m or system.inputs.wrenches or system.pushing:
        return None
    given = {*system.ruled, *discrete.fixed}
    pattern = tuple(k in given for k in range(robot.nv))
    smooth = replace(robot, tree=replace(robot.tree, bodies=model.bodies), vouched=True)
    held = discrete.switched
    mixed = Held(smooth, pattern, held, level=QUICK) if held else Mixed(smooth, pattern, level=QUICK)

    def sought(
        q: Sequence[Scalar], qd: Sequence[Scalar], start: Sequence[Scalar], holds: Mapping[int, Scalar]
    ) -> tuple[list[Scalar], dict[int, Scalar]]:
        groups = q, qd, start, [holds.get(k, 0.0) for k in range(robot.nv)] if held else []
        code, found = mixed.looping(1), None
        if code is not None:
            rows = [np.array([as_floats(x)]) for x in groups]
            found = mixed.by(code, rows, np.empty((1, mixed.results())))
        result = found[0].tolist() if found is not None else mixed.offer.plain(1, mixed.text, *groups)[0]
        return result[: robot.nv], {k: result[robot.nv + k] for k in held}

    return sought
