"""The regressor of mechanisms: the forces of their actuators by a unit of each number of the dynamics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics import quantities
from ..dynamics import regressor as tree
from ..dynamics.direct import direct_call
from ..dynamics.samples import Samples
from ..dynamics.spatial import dot
from ..machine.program.dual import Dual, dual_derivative, dual_value
from ..machine.program.scalars import Scalar
from ..robot import Body, Robot
from .branches import (
    Inverse,
    Order,
    Split,
    family_of_branch_texts,
    loop_actuator_efforts,
)
from .constraints import Closure, loop_closure
from .families import TextFamily, quick_mechanism_result, serve_mechanism_calls
from .mechanism import mechanism_has_enough_actuators
from .texts import Arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

REGRESSOR = "regressor"  # the name of the direct call


def regressor(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """The matrix Y of `inverse = Y @ numbers`, with a column for each number that `parameters` names.

    The forces are those of `inverse`, with loops those of the actuators; wrenches that act on the robot and
    springs over several joints aren't included, nor are limits of actuators that share their work.
    """
    result: np.ndarray
    try:
        call = robot.derived[REGRESSOR]
    except (AttributeError, KeyError):
        if not getattr(robot, "closed", False):
            return quantities.regressor(robot, q, qd, qdd)
        widths = robot.nq, robot.nv, robot.nv
        call = direct_call(robot, REGRESSOR, (), widths, partial(_of_actuators, robot), regressor.__doc__ or "")
    result = call(q, qd, qdd)
    return result


def _of_actuators(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    if (answer := quick_mechanism_result(REGRESSOR, Regressor, robot, q, qd, qdd)) is not None:
        at_once: np.ndarray = answer
        return at_once.reshape(shape_of_mechanism_regressor(robot))
    s, family = Samples(robot, q=q, qd=qd, qdd=qdd).finite(), _family(loop_closure(robot))
    if s.count == 0:
        return np.empty((0, *shape_of_mechanism_regressor(robot)))
    arrays = {name: s.rows(name) for name in Regressor.inputs}
    mechanism_has_enough_actuators(robot, arrays["q"])
    rows = family.rows(arrays)
    serve_mechanism_calls(family.known[0], REGRESSOR)
    return rows.reshape((*s.shape, *shape_of_mechanism_regressor(robot)))


def shape_of_mechanism_regressor(robot: Robot) -> tuple[int, int]:
    """The numbers of rows and columns."""
    return len(loop_actuator_efforts(robot)), tree.regressor_width(robot)


def _family(loops: Closure) -> TextFamily:
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

    def results(self) -> int:
        """The number of entries."""
        rows, columns = shape_of_mechanism_regressor(self.loops.robot)
        return rows * columns

    def shape(self) -> tuple[int, ...]:
        return shape_of_mechanism_regressor(self.loops.robot)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The entries, and checks."""
        robot, q, qd = self.loops.robot, given["q"], given["qd"]
        tied, columns = self.loops.tied(q), range(tree.regressor_width(robot))
        tau = tree.regressor_tangents(robot, q, qd, given["qdd"])
        units: list[Scalar] = [Dual(0.0, {k: 1.0}) for k in range(robot.nv)]
        balance = Split(self.loops, self.order, q, self.loops.rates([], None, tied)[0], units)
        shares = [[dual_derivative(x, k) for k in range(robot.nv)] for x in balance.actuated]
        parts = [[dual_derivative(x, column) for x in tau] for column in columns]
        checks = [dual_value(balance.fit()), *self.closing(q, qd, tied)]
        return [dot(row, column) for row in shares for column in parts], checks
