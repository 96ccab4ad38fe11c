"""Functions in formulas of forces that jump as the state passes a place, and whether a run passes it.

The instant of such a jump moves with the state before it, so tangents of the run jump there, too, of which derivatives
of the equations know nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..machine.program import Curve, Scalar, as_samples, formula_value_on_scalars
from ..text.expressions import Formula, Lookup, jumps_in_formula
from .systems.state_force import FormulaForce
from .systems.system import System

SAME = 1e-9  # share of the way from row to row by which instants of jumps may differ


class Jump(NamedTuple):
    """A function that jumps, along the rows of a run: what it is in, its name in formulas, and its argument."""

    words: str
    function: str
    values: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        """Numbers that change from row to row where the function jumps."""
        made: np.ndarray = np.floor(self.values) if self.function == "floor" else np.sign(self.values)
        return made

    def first(self) -> int | None:
        """The first row that isn't on the side on which the first row of all is."""
        other = np.flatnonzero(self.levels != self.levels[0])
        return int(other[0]) if len(other) else None

    def moves(self, other: Jump) -> bool:
        """Whether it is at another instant, on lines from row to row, in a run with other numbers and the same rows.

        What jumps at a row in both of them, as where a motion begins from rest, stays there.
        """
        here, there = self.levels, other.levels
        if (here != there).any():
            return True
        floors = self.function == "floor"
        at = self.values == (here if floors else 0.0)
        k = np.flatnonzero((here[1:] != here[:-1]) & ~at[1:] & ~at[:-1])
        place = np.maximum(here[1:], here[:-1])[k] if floors else 0.0
        shares = ((place - x[k]) / (x[k + 1] - x[k]) for x in (self.values, other.values))
        return bool((abs(np.subtract(*shares)) > SAME).any())


def jumps_of_formula(
    whose: str, formula: Formula, t: np.ndarray, known: Mapping[str, Scalar], curves: Mapping[Lookup, Curve]
) -> list[Jump]:
    """The functions in a formula that jump with the quantities that it names, in rows at these instants."""
    made = []
    for one in jumps_in_formula(formula):
        values = as_samples(formula_value_on_scalars(one.operands[0], known, curves))
        made.append(Jump(f"{whose} jumps (`{one.name}`)", one.name, np.broadcast_to(values, len(t))))
    return made


def forces_that_jump(system: System) -> list[tuple[str, FormulaForce]]:
    """The force laws and wrenches that jump with the state, and whose they are."""
    robot, inputs = system.robot, system.inputs
    names = {k: joint.name for joint in robot.moving for k in joint.speeds}
    names |= {robot.nv + k: one.name for k, one in enumerate(robot.actuators)}
    forces = [(f"the force of `{names[one.speed]}`", one.whole) for one in inputs.driven]
    forces += [(f"the wrench on `{one.link}`", force) for one in inputs.wrenches for _, force in one.whole]
    return [(whose, x) for whose, x in forces if isinstance(x, FormulaForce) and jumps_in_formula(x.formula)]


def jumps_of_forces(system: System, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> list[Jump]:
    """Those in force laws and wrenches, in rows with these coordinates and speeds."""
    made = list[Jump]()
    for whose, force in forces_that_jump(system):
        known = force.known(t, list(q.T), list(qd.T))
        made += jumps_of_formula(whose, force.formula, t, known, dict(force.tables))
    return made


def jumps_of_dry_friction(system: System, qd: np.ndarray) -> list[Jump]:
    """The dry frictions of joints that follow given motions, which jump where these turn back.

    Other joints stick and slip, which are events.
    """
    owners = {k: joint.name for joint in system.robot.moving for k in joint.speeds}
    given = [k for k in system.coulomb if k not in system.switching] if not (system.smooth and system.free) else []
    return [Jump(f"the friction of `{owners[k]}` jumps", "", qd[:, k]) for k in given]
