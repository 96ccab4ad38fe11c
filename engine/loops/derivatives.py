"""Derivatives of forward dynamics of any robot, along its state, its forces, and numbers of its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics import quantities
from ..dynamics.direct import direct_call
from ..dynamics.samples import Samples
from ..errors import InputError
from ..machine.jit.result_parts import kernel_parts_divided
from ..robot import Robot
from .constraints import loop_closure
from .families import quick_mechanism_result, serve_mechanism_calls
from .sensitivity import AlongNumbers, mechanism_accelerations_along_numbers
from .slopes import Slopes, mechanism_slope_texts, mechanism_slopes_in_order

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DERIVATIVES = "fdyn-derivatives"  # the name of the direct call
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
        if not getattr(robot, "tied", False):
            return quantities.derivatives(robot, q, qd, tau)
        widths = robot.nq, robot.nv, robot.nv
        call = direct_call(robot, DERIVATIVES, (), widths, partial(_along_joints, robot), derivatives.__doc__ or "")
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


def _along_joints(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> dict[str, np.ndarray]:
    if (answer := quick_mechanism_result(DERIVATIVES, Slopes, robot, q, qd, tau)) is not None:
        at_once: dict[str, np.ndarray] = answer
        return at_once
    s, family = Samples(robot, q=q, qd=qd, tau=tau).finite(), mechanism_slope_texts(loop_closure(robot))
    if s.count == 0:
        rows = np.empty((0, robot.nv * (1 + 3 * robot.nv)))
    else:
        rows = family.rows({name: s.rows(name) for name in ("q", "qd", "tau")})
        serve_mechanism_calls(family.known[0], DERIVATIVES)
    by_name = kernel_parts_divided(rows if s.count is not None else rows[0], mechanism_slopes_in_order(robot))
    assert isinstance(by_name, dict)
    return by_name
