"""The calls of the Python interface, for any robot: trees, mechanisms, parallel robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError
from .mechanics.mechanisms import REACTIONS
from .mechanics.mechanisms import forward as mechanism_forward
from .mechanics.mechanisms import inverse as mechanism_inverse
from .mechanics.mechanisms import reactions as mechanism_reactions
from .mechanics.mechanisms import reduced as mechanism_reduced
from .mechanics.platforms import inverse_by_platform_shares
from .mechanics.quantities import (
    HYBRID,
    REDUCED,
    Call,
    array_for_dynamics_results,
    direct_call,
    key_of_direct_call,
    quantity_call,
    tree_links_under_wrenches,
)
from .mechanics.quantities import forward as tree_forward
from .mechanics.quantities import hybrid as tree_hybrid
from .mechanics.quantities import inverse as tree_inverse
from .robot import Robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Wrenches = Mapping[str, "ArrayLike"]
LEAST = "least"  # the sharing by default


def inverse(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    sharing: str = LEAST,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The forces `tau` of the actuators for a motion; with loops, those of the actuated joints and of `actuators`.

    If there are more actuators than freedoms, `sharing` says how they share the work: with the least weighted norm
    (`least`), or, in a parallel robot, by an equal share of the platform for each leg (`even`), or by shares that grow
    with the conditioning of the leg's Jacobian (`conditioned`).  With `out`, the result is in this array.

    With loops, the motion has to keep them closed: positions and speeds that don't are refused, but accelerations are
    taken as they are.
    """
    if sharing is not LEAST and not _least(sharing):
        return _into(out, inverse_by_platform_shares(robot, q, qd, qdd, wrenches, sharing))
    if out is not None:
        return _written(robot, "inverse", (q, qd, qdd), wrenches, out)
    result: np.ndarray
    if wrenches is None:
        try:
            call = robot.derived["inverse"]
        except (AttributeError, KeyError):
            call = straight(robot, "inverse")
        result = call(q, qd, qdd)
        return result
    six = None  # most calls have a single link; building lists for it would cost more than all the rest
    try:
        if len(wrenches) == 1:
            ((link, six),) = wrenches.items()
            call = robot.derived["inverse", link]
        else:
            call = robot.derived["inverse", *wrenches]
    except (AttributeError, KeyError, TypeError):
        call, six = _with_wrenches(robot, "inverse", wrenches), None
    result = call(q, qd, qdd, *wrenches.values()) if six is None else call(q, qd, qdd, six)
    return result


def forward(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The accelerations `qdd` under the forces `tau` of all joints of the tree; with `out`, in this array."""
    if out is not None:
        return _written(robot, "forward", (q, qd, tau), wrenches, out)
    result: np.ndarray
    if wrenches is None:
        try:
            call = robot.derived["forward"]
        except (AttributeError, KeyError):
            call = straight(robot, "forward")
        result = call(q, qd, tau)
        return result
    six = None  # most calls have a single link; building lists for it would cost more than all the rest
    try:
        if len(wrenches) == 1:
            ((link, six),) = wrenches.items()
            call = robot.derived["forward", link]
        else:
            call = robot.derived["forward", *wrenches]
    except (AttributeError, KeyError, TypeError):
        call, six = _with_wrenches(robot, "forward", wrenches), None
    result = call(q, qd, tau, *wrenches.values()) if six is None else call(q, qd, tau, six)
    return result


def _written(robot: Robot, what: str, given: tuple[Any, ...], wrenches: Wrenches | None, out: Any) -> np.ndarray:
    """The result of `inverse` or `forward` in the caller's array."""
    if wrenches is not None:
        result: np.ndarray = _with_wrenches(robot, what, wrenches)(*given, *wrenches.values(), out=out)
        return result
    call = getattr(robot, "derived", {}).get(what)
    written: np.ndarray = (call if call is not None else straight(robot, what))(*given, out=out)
    return written


def _least(sharing: object) -> bool:
    return isinstance(sharing, str) and sharing == LEAST


def _into(out: Any, result: np.ndarray) -> np.ndarray:
    """The result, copied into the caller's array where there is one."""
    if out is None:
        return result
    array_for_dynamics_results(out, result.shape)[...] = result
    written: np.ndarray = out
    return written


def straight(robot: Robot, what: str, links: tuple[str, ...] = ()) -> Callable[..., np.ndarray]:
    """The robot's own `inverse` or `forward` with wrenches on these links: by compiled code, if need be by Python."""
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    return _direct(robot, what, links, _inverse if what == "inverse" else _forward)


def _inverse(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    sharing: str = LEAST,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The forces of the actuators for this motion (RIDIM)."""
    if sharing is not LEAST and not _least(sharing):
        return _into(out, inverse_by_platform_shares(robot, q, qd, qdd, wrenches, sharing))
    if robot.closed:
        return _of_mechanism(mechanism_inverse, (robot, q, qd, qdd), wrenches, out)
    return tree_inverse(robot, q, qd, qdd, wrenches, out)


def _forward(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The accelerations under these forces (RFDSIM)."""
    if robot.closed:
        return _of_mechanism(mechanism_forward, (robot, q, qd, tau), wrenches, out)
    return tree_forward(robot, q, qd, tau, wrenches, out)


def _of_mechanism(call: Call, given: Sequence[object], wrenches: Wrenches | None, out: np.ndarray | None) -> np.ndarray:
    """A quantity of a mechanism, in the caller's array where there is one."""
    links = () if wrenches is None else tree_links_under_wrenches(wrenches)
    return _into(out, call(*given, *(wrenches or {}).values(), links=links))


def _direct(robot: Robot, name: str, links: tuple[str, ...], general: Callable[..., Any]) -> Callable[..., Any]:
    """The robot's direct call of this name for a motion or for forces, and for wrenches on these links."""

    def with_links(q: ArrayLike, qd: ArrayLike, x: Any, *sixes: Any, **named: Any) -> Any:
        return general(robot, q, qd, x, dict(zip(links, sixes)), **named)

    widths = robot.nq, robot.nv, robot.nv
    return direct_call(
        robot, name, links, widths, with_links if links else partial(general, robot), general.__doc__ or ""
    )


def _with_wrenches(robot: Robot, what: str, wrenches: Wrenches) -> Callable[..., np.ndarray]:
    """The robot's direct call of this name that takes wrenches on these links."""
    links = tree_links_under_wrenches(wrenches)
    call: Callable[..., np.ndarray] | None = getattr(robot, "derived", {}).get((what, *links))
    return call if call is not None else straight(robot, what, links)


def hybrid(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The complete `(qdd, tau)` of an open chain; for each speed, one of the two is NaN on entry and is computed."""
    result: tuple[np.ndarray, np.ndarray]
    links = () if wrenches is None else tree_links_under_wrenches(wrenches)
    try:
        call = robot.derived[key_of_direct_call(HYBRID, links)]
    except (AttributeError, KeyError):
        call = _hybrid(robot, links)
    result = call(q, qd, qdd, tau, *wrenches.values()) if wrenches else call(q, qd, qdd, tau)
    return result


def _hybrid(robot: Robot, links: tuple[str, ...]) -> Callable[..., Any]:
    """The robot's direct call of `hybrid` with wrenches on these links."""
    if _closed(robot):
        why = robot.ties_in_words if robot.tied else "actuators that are no single joint's"
        hint = "`inverse` and `forward` take them"
        raise InputError(f"{robot.name} has {why}; `hybrid` is for open chains", hint=hint)

    def general(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike, *sixes: Any) -> Any:
        return tree_hybrid(robot, q, qd, qdd, tau, dict(zip(links, sixes)))

    if not isinstance(robot, Robot):
        return general
    widths = robot.nq, robot.nv, robot.nv, robot.nv
    return direct_call(robot, HYBRID, links, widths, general, tree_hybrid.__doc__ or "")


def reduced(robot: Robot, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The matrix I and the vector h in the actuated coordinates of a mechanism (Khalil's A_c and H_c, eq. 58).

    If there are not as many actuators as freedoms, the coordinates are those that are independent in the robot's first
    position, as far as they serve.
    """
    try:
        call = robot.derived[REDUCED]
    except (AttributeError, KeyError):
        call = quantity_call(robot, REDUCED, mechanism_reduced)
    result: tuple[np.ndarray, np.ndarray] = call(q, qd)
    return result


def reactions(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches | None = None
) -> dict[str, np.ndarray]:
    """The wrench [n; f] of the parent on the link by joint, at the link's origin in base-frame axes.

    Fixed joints are included. The wrench of a cut is that of its first link on the second, at the second's point.
    """
    by_joint: dict[str, np.ndarray]
    links = () if wrenches is None else tree_links_under_wrenches(wrenches)
    try:
        call = robot.derived[key_of_direct_call(REACTIONS, links)]
    except (AttributeError, KeyError):
        call = quantity_call(robot, REACTIONS, mechanism_reactions, links)
    by_joint = call(q, qd, qdd, *wrenches.values()) if wrenches else call(q, qd, qdd)
    return by_joint


def _closed(robot: Robot) -> bool:
    """Whether the robot is more than its tree; objects that are no robot are refused by the tree's calls."""
    return getattr(robot, "closed", False)
