"""The regressor of mechanisms: the forces of their actuators by a unit of each number of the dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...machine.program import Dual, Part, Scalar, dual_derivative, dual_value, undivided_kernel_results
from ...robot import Body, Robot
from ..closure.constraints import Closure
from ..numbers import regressor as tree
from ..quantities import quantities
from ..tree.spatial import dot
from .branches import Inverse, Order, Split, family_of_branch_texts, loop_actuator_efforts
from .families import TextFamily
from .mechanism import MechanismQuantity
from .texts import Arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

REGRESSOR = "regressor"  # the name of the direct call


def regressor(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """The matrix Y of `inverse = Y @ numbers`, with a column for each number that `parameters` names.

    The forces are those of `inverse`, with loops those of the actuators; wrenches that act on the robot and
    springs over several joints aren't included, nor are limits of actuators that share their work.
    """
    try:
        call = robot.derived[REGRESSOR]
    except (AttributeError, KeyError):
        call = quantities.quantity_call(robot, REGRESSOR, _OF_ACTUATORS)
    result: np.ndarray = call(q, qd, qdd)
    return result


def _family(loops: Closure, wrenched: tuple[str, ...]) -> TextFamily:
    """The family of the robot's texts of its regressor."""
    return family_of_branch_texts(loops, Regressor, lambda order: Regressor(loops, order))


class Regressor(Inverse):
    """The text of the actuators' forces by a unit of each number, row by row.

    The balance is that of `Inverse`, which is linear in the tree's forces: its shares of unit forces, as dual numbers,
    times the tree's regressor.
    """

    def __init__(self, loops: Closure, chosen: Order, wrenched: tuple[str, ...] = ()):
        super().__init__(loops, chosen, wrenched)
        self.final = True

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """The matrix, with a row for each force of `inverse` and a column for each number."""
        return undivided_kernel_results(len(loop_actuator_efforts(robot)), tree.regressor_width(robot))

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The entries, and checks."""
        robot, q, qd = self.loops.robot, given["q"], given["qd"]
        tied, columns = self.loops.ties_at(q), range(tree.regressor_width(robot))
        tau = tree.regressor_tangents(robot, q, qd, given["qdd"])
        units: list[Scalar] = [Dual(0.0, {k: 1.0}) for k in range(robot.nv)]
        balance = Split(self.loops, self.order, q, self.loops.rates([], None, tied)[0], units)
        shares = [[dual_derivative(x, k) for k in range(robot.nv)] for x in balance.actuated]
        parts = [[dual_derivative(x, column) for x in tau] for column in columns]
        checks = [dual_value(balance.fit()), *self.closing(q, qd, tied)]
        return [dot(row, column) for row in shares for column in parts], checks


_OF_ACTUATORS = MechanismQuantity(REGRESSOR, Regressor, _family, supported=True)
