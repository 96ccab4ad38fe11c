"""Derivatives of forward dynamics of any robot, along its state, its forces, and numbers of its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ...robot import Robot
from ..quantities import quantities
from .mechanism import MechanismQuantity
from .sensitivity import AlongNumbers, mechanism_accelerations_along_numbers
from .slopes import Slopes, mechanism_slope_texts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DERIVATIVES = "fdyn-derivatives"  # the name of the direct call
_ALONG_JOINTS = MechanismQuantity(DERIVATIVES, Slopes, mechanism_slope_texts)
OF_STATE = {"state": ("dq", "dqd"), "force": ("dtau",)}  # all other names are keys of the file


def derivatives(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, with_respect_to: str | Sequence[str] | None = None
) -> dict[str, np.ndarray]:
    """Accelerations qdd and their derivatives dq, dqd, dtau, nv × nv or N × nv × nv; columns are directions.

    With loops, each direction moves a single joint of the spanning tree, even if that opens the loops; the
    constraints hold in the accelerations, J q̈ + J̇ q̇ = 0.

    `with_respect_to` says which derivatives are wanted: `state` (dq and dqd), `force` (dtau), and keys of the robot's
    file such as `links.link3.mass`, for a derivative (nv,) or (N, nv) by the key, along the number in SI units.  With
    loops, the independent coordinates and speeds then stay, and the others follow, so that the loops stay closed.
    """
    if with_respect_to is not None:
        names = (with_respect_to,) if isinstance(with_respect_to, str) else _names(with_respect_to)
        try:
            along = robot.derived[AlongNumbers, *names]
        except (AttributeError, KeyError, TypeError):
            return _chosen(robot, q, qd, tau, names)
        chosen: dict[str, np.ndarray] = along(q, qd, tau)
        return chosen
    try:
        call = robot.derived[DERIVATIVES]
    except (AttributeError, KeyError):
        call = quantities.quantity_call(robot, DERIVATIVES, _ALONG_JOINTS)
    result: dict[str, np.ndarray] = call(q, qd, tau)
    return result


def _names(wanted: Iterable[str]) -> tuple[str, ...]:
    """The names of derivatives as a tuple, or an error."""
    try:
        names = tuple(wanted)
    except TypeError:
        names = (wanted,)  # type: ignore[assignment]
    for one in names:
        if not isinstance(one, str):
            raise InputError(
                "what derivatives are taken by has to be text",
                key="with_respect_to",
                found=type(one).__name__,
                allowed="state, force, keys of the robot's file such as `links.link1.mass`",
            )
    return names


def _chosen(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """The accelerations, and those derivatives that are wanted, in this order."""
    names = [*dict.fromkeys(wanted)]
    keys = [name for name in names if name not in OF_STATE]
    along = mechanism_accelerations_along_numbers(robot, q, qd, tau, keys) if keys or not names else {}
    whole = derivatives(robot, q, qd, tau) if len(keys) < len(names) else {}
    result = {"qdd": (along or whole)["qdd"]}
    for name in names:
        result |= {part: whole[part] for part in OF_STATE[name]} if name in OF_STATE else {name: along[name]}
    return result
