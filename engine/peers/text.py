"""The plain text of the recursion, with the interface of other engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..dynamics import calls
from ..machine.jit.choice import using_backend
from ..robot import Drive, Robot, Tree


class PlainText:
    """Inverse and forward dynamics of a tree by the text as it stands, whatever has been compiled."""

    title = "plain text"

    def __init__(self, robot: Robot):
        self.robot = _rigid(robot)

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""
        with using_backend("plain"):
            return calls.inverse(self.robot, q, qd, qdd, wrenches)

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""
        with using_backend("plain"):
            return calls.forward(self.robot, q, qd, force, wrenches)


def _rigid(robot: Robot) -> Robot:
    """The robot without springs, damping, dry friction and wrenches of its own."""
    bodies = tuple(
        replace(body, drives=tuple(Drive(rotor=drive.rotor) for drive in body.drives)) for body in robot.tree.bodies
    )
    return replace(robot, tree=Tree(bodies, robot.tree.seats), wrenches=(), vouched=True)
