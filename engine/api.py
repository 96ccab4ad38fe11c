"""The calls of the Python interface, for any robot: trees, mechanisms, parallel robots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .dynamics import calls as tree
from .dynamics import quantities
from .dynamics.samples import computes
from .errors import InputError
from .loops import mechanism
from .parallel.platform import shared
from .robot.model import Robot

Wrenches = Mapping[str, Any]


def inverse(
    robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None, sharing: str = "least"
) -> np.ndarray:
    """Tau: the forces that actuators add for this motion; with loops, those of the actuated joints and `actuators`.

    Where actuators are more than freedoms: of least weighted norm, or, in a parallel robot, each leg carries its share
    of the platform, all the same (`even`) or more where its Jacobian is better conditioned (`conditioned`).
    """
    if sharing != "least":
        return shared(robot, q, qd, qdd, wrenches, sharing)
    found: np.ndarray = (mechanism if _closed(robot) else tree).inverse(robot, q, qd, qdd, wrenches)
    return found


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """Qdd: the accelerations under these forces of all tree joints."""
    found: np.ndarray = (mechanism if _closed(robot) else tree).forward(robot, q, qd, tau, wrenches)
    return found


def hybrid(
    robot: Robot, q: Any, qd: Any, qdd: Any, tau: Any, wrenches: Wrenches | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(qdd, tau), complete: for each speed one of the two is NaN on entry, and is what is sought; open chains only."""
    if _closed(robot):
        raise InputError(
            f"{robot.name} has loops; `hybrid` is for open chains", hint="`inverse` and `forward` take loops"
        )
    return tree.hybrid(robot, q, qd, qdd, tau, wrenches)


@computes
def reduced(robot: Robot, q: Any, qd: Any) -> tuple[np.ndarray, np.ndarray]:
    """(I, h) in the actuated coordinates of a robot with loops (Khalil's A_c and H_c, eq. 58).

    With more actuators than freedoms, in the independent ones.
    """
    if _closed(robot):
        return mechanism.reduced(robot, q, qd)
    h = tree.bias(robot, q, qd)
    M = quantities.inertia(robot, q)
    return (M, h) if M.ndim == h.ndim + 1 else (np.broadcast_to(M, (len(h), *M.shape[-2:])), h)


def reactions(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> dict[str, np.ndarray]:
    """Joint → wrench [n; f] of the parent on the link, at the link's origin, base-frame axes; fixed joints too.

    Of a cut, what its first link exerts on the second at the second's point.
    """
    found: dict[str, np.ndarray] = (mechanism if _closed(robot) else quantities).reactions(robot, q, qd, qdd, wrenches)
    return found


def _closed(robot: Robot) -> bool:
    """Whether there is more to a robot than its tree; what is no robot is refused by the tree's calls."""
    return getattr(robot, "closed", False)
