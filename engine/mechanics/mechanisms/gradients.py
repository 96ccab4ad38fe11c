"""Gradients of forward dynamics of any robot; with loops, along the directions of the spanning tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...machine.program import Part, Scalar, kernel_parts_in_order, recorded_value_without_history
from ...robot import Body, Robot
from ..closure.constraints import Closure
from ..quantities import quantities
from ..quantities.derivatives import SLOPES, acceleration_gradient_along_state, inputs_with_taped_state
from .accelerations import Forward
from .families import TextFamily
from .mechanism import MechanismQuantity
from .texts import Arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ADJOINT = "fdyn-adjoint"  # the name of the direct call


def adjoint(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, costate: ArrayLike, inertial: bool = False
) -> dict[str, Any]:
    """The derivatives dq, dqd, dtau of Σ costate · q̈, which is what `costate @` those of `derivatives` would give.

    With `inertial`, trees also give `links`, by link the derivatives along its ten inertial numbers: the mass; mass
    times mass centre; Ixx, Iyy, Izz, Ixy, Ixz, Iyz about its origin; all in its axes.
    """
    try:
        call = robot.derived[ADJOINT]
    except (AttributeError, KeyError):
        call = quantities.quantity_call(robot, ADJOINT, _ALONG_JOINTS)
    if not isinstance(inertial, bool | np.bool_):
        raise InputError("no choice", key="inertial", found=type(inertial).__name__, allowed="True, False")
    if inertial and getattr(robot, "tied", False):
        raise InputError(
            f"{robot.name} has {robot.ties_in_words}; derivatives along inertial numbers are those of trees",
            key="inertial",
            found="True",
            allowed="False",
        )
    result: dict[str, Any] = call(q, qd, tau, costate)
    return {**result, "links": quantities.inertial_adjoint(robot, q, qd, tau, costate)} if inertial else result


def _family(loops: Closure, wrenched: tuple[str, ...]) -> TextFamily:
    """The family of the robot's texts of gradients."""
    robot = loops.robot
    return robot.made_once(AlongState, lambda: TextFamily(loops, lambda q: AlongState.at(loops, q, robot.driven)))


class AlongState(Forward):
    """The text of the gradient of costate · q̈, by one way back through the text of the accelerations.

    Each direction moves a single joint of the spanning tree; the constraints hold in the accelerations.
    """

    inputs = ("q", "qd", "tau", "costate")
    exchanges = False  # a single joint of the tree that moves opens the loops

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """The gradients along coordinates, speeds and forces."""
        return kernel_parts_in_order([(name, (robot.nv,)) for name in SLOPES])

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The gradient, and checks."""
        taped = inputs_with_taped_state(given)
        qdd, checks = super().text(taped, bodies)
        gradient = acceleration_gradient_along_state(self.loops.robot, given, taped, qdd)
        return gradient, [recorded_value_without_history(x) for x in checks]


_ALONG_JOINTS = MechanismQuantity(ADJOINT, AlongState, _family)
