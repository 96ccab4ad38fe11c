"""The calls of the Python interface, for any robot: trees, mechanisms, parallel robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .dynamics import calls as tree
from .dynamics import quantities
from .dynamics.direct import direct
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
    found: np.ndarray
    if wrenches is None:
        try:
            call = robot.derived["inverse"]
        except (AttributeError, KeyError):
            call = straight(robot, "inverse")
        found = call(q, qd, qdd)
        return found
    found = _with_wrenches(robot, "inverse", wrenches)(q, qd, qdd, *wrenches.values())
    return found


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """Qdd: the accelerations under these forces of all tree joints."""
    found: np.ndarray
    if wrenches is None:
        try:
            call = robot.derived["forward"]
        except (AttributeError, KeyError):
            call = straight(robot, "forward")
        found = call(q, qd, tau)
        return found
    found = _with_wrenches(robot, "forward", wrenches)(q, qd, tau, *wrenches.values())
    return found


def straight(robot: Robot, what: str, links: tuple[str, ...] = ()) -> Callable[..., np.ndarray]:
    """The robot's own `inverse` or `forward` with wrenches on these links: by compiled code, if need be by Python."""
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    general = getattr(mechanism if robot.closed else tree, what)

    def with_links(q: Any, qd: Any, x: Any, *sixes: Any) -> np.ndarray:
        found: np.ndarray = general(robot, q, qd, x, dict(zip(links, sixes)))
        return found

    widths = robot.nq, robot.nv, robot.nv
    return direct(robot, what, links, widths, with_links if links else partial(general, robot), general.__doc__ or "")


def _with_wrenches(robot: Robot, what: str, wrenches: Wrenches) -> Callable[..., np.ndarray]:
    """The same for the links of these wrenches."""
    if type(wrenches) is not dict and not isinstance(wrenches, Mapping):
        raise InputError("`wrenches` is not a mapping", found=type(wrenches).__name__, allowed="{link: [n, f]}")
    call: Callable[..., np.ndarray] | None = getattr(robot, "derived", {}).get((what, *wrenches))
    return call if call is not None else straight(robot, what, tuple(wrenches))


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
