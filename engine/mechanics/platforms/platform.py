"""Inverse dynamics of parallel robots by their parts: Newton-Euler equations of the platform, and each leg alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, NumericalError, allowed_names, given_in_words
from ...machine.program import as_samples
from ...robot import Robot
from ..closure.constraints import loop_closure
from ..mechanisms import effort
from ..mechanisms.balance import Balance, enough_actuators_for_freedoms
from ..mechanisms.branches import loop_actuator_efforts, singular_loop_message
from ..mechanisms.effort import loop_efforts_exceed_limits
from ..mechanisms.families import serve_mechanism_calls
from ..quantities.direct import direct_call
from ..quantities.quantities import tree_links_under_wrenches
from ..quantities.samples import Samples, dynamics_call_with_checked_results
from .hanging import Hanging
from .parallel_robot import Parallel, legs
from .platform_text import platform_texts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Wrenches = Mapping[str, "ArrayLike"]
BY_PARTS = "inverse by parts"  # the name of the direct calls
SHARINGS = ("least", "even", "conditioned")


def platform_inverse(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    platform: str | None = None,
) -> np.ndarray:
    """Forces of the actuators, as `inverse` gives them, from the legs without platform and the platform without legs.

    Γ = J_pᵀ [F_p + Σ J_viᵀ J_i⁻ᵀ Γ_i] (Khalil 2010, eq. 66), for any number of freedoms.
    """
    what = BY_PARTS, platform
    result: np.ndarray
    if wrenches is None:
        try:
            call = robot.derived[what]
        except (AttributeError, KeyError, TypeError):
            call = _call(robot, platform, ())
        result = call(q, qd, qdd)
        return result
    try:
        call, sixes = robot.derived[what, *wrenches], wrenches.values()
    except (AttributeError, KeyError, TypeError):
        call = _call(robot, platform, tree_links_under_wrenches(wrenches))
        sixes = wrenches.values()
    result = call(q, qd, qdd, *sixes)
    return result


def _call(robot: Robot, platform: str | None, links: tuple[str, ...]) -> Callable[..., Any]:
    """The robot's direct call for this platform, and for wrenches on these links."""
    legs(robot, platform)

    def general(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *sixes: Any) -> np.ndarray:
        return _generally(robot, q, qd, qdd, dict(zip(links, sixes)), platform)

    widths = robot.nq, robot.nv, robot.nv
    return direct_call(robot, (BY_PARTS, platform), links, widths, general, platform_inverse.__doc__ or "")


@dynamics_call_with_checked_results
def _generally(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches, platform: str | None
) -> np.ndarray:
    """The actuators' forces for arguments of any kind, which are checked."""
    s, parts, loops = Samples(robot, q=q, qd=qd, qdd=qdd).finite(), legs(robot, platform), loop_closure(robot)
    wrenched, w = s.acting(wrenches)
    if s.count == 0:
        return np.empty((0, len(robot.driven)))
    family = platform_texts(loops, parts, wrenched)
    try:
        tau = family.rows({"w": w, **{name: s.rows(name) for name in ("q", "qd", "qdd")}})
    except NumericalError:
        enough_actuators_for_freedoms(Balance(robot, s.rows("q")))
        raise
    text = family.known[0]
    if not text.final and loop_efforts_exceed_limits(tau, loop_actuator_efforts(robot)).any():
        tau = _shared(s, parts, wrenched, w, "least")
    else:
        serve_mechanism_calls(text, (BY_PARTS, platform))
    return tau if s.count is not None else tau[0]


@dynamics_call_with_checked_results
def inverse_by_platform_shares(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    sharing: str = "even",
    platform: str | None = None,
) -> np.ndarray:
    """Forces of the actuators where each leg carries its own part of the platform (Khan 2002, section 3.2).

    A part has a share of the platform's mass, inertia and working wrench: all legs the same (`even`), or more where
    the leg's Jacobian is better conditioned (`conditioned`).  Forces that this sharing puts on joints without actuators
    are moved to the actuators with the least change of their forces.
    """
    s = Samples(robot, q=q, qd=qd, qdd=qdd).finite()
    if not isinstance(sharing, str) or sharing not in SHARINGS:
        raise InputError("unknown sharing", found=given_in_words(sharing), **allowed_names(sharing, SHARINGS))
    parts = legs(robot, platform)
    wrenched, w = s.acting(wrenches)
    if s.count == 0:
        return np.empty((0, len(robot.driven)))
    tau = _shared(s, parts, wrenched, w, sharing)
    return tau if s.count is not None else tau[0]


def _shared(s: Samples, parts: Parallel, wrenched: tuple[str, ...], w: np.ndarray, sharing: str) -> np.ndarray:
    """Forces of the actuators by eq. 66, with more actuators than freedoms by the way in which the legs share."""
    robot, loops = s.robot, loop_closure(s.robot)
    arrays = {"w": w, **{name: s.rows(name) for name in ("q", "qd", "qdd")}}
    arrays["shares"] = np.zeros((len(w), len(parts.legs))) if sharing == "least" else _shares(s, parts, sharing)
    family = platform_texts(loops, parts, wrenched, is_open=True)
    try:
        rows = family.rows(arrays)
    except (InputError, NumericalError):
        enough_actuators_for_freedoms(Balance(robot, s.rows("q")))
        raise
    driven = len(robot.driven)
    freedoms = (rows.shape[1] - driven) // (driven + 1)
    Bt, right, near = np.split(rows, [driven * freedoms, (driven + 1) * freedoms], axis=1)
    Bt = Bt.reshape(len(rows), freedoms, driven)
    if freedoms == driven:  # Γ = J_pᵀ F
        try:
            return np.linalg.solve(Bt, right[..., None])[..., 0]
        except np.linalg.LinAlgError:
            enough_actuators_for_freedoms(Balance(robot, s.rows("q")))
            raise NumericalError(singular_loop_message(robot)) from None
    enough_actuators_for_freedoms(Balance(robot, s.rows("q")[:1]))
    limits, near = loop_actuator_efforts(robot), near if sharing != "least" else np.zeros_like(near)
    return np.array([effort.least_loop_effort(*one[:2], limits, one[2]) for one in zip(Bt, right, near)])


def _shares(s: Samples, parts: Parallel, sharing: str) -> np.ndarray:
    """Shares of the legs in the platform, (N, legs); 0 for a leg without actuators."""
    loops, count = loop_closure(s.robot), 1 if s.count is None else s.count
    unit = np.array([1.0] * 3 + [loops.length] * 3)  # a twist's scale: turns, and slides by this length
    hanging = Hanging(loops, parts, loops.bodies, s.scalars("q"))
    weights = np.zeros((count, len(parts.legs)))
    for place, leg in enumerate(parts.legs):
        if not leg.actuated or sharing == "even":
            weights[:, place] = bool(leg.actuated)
            continue
        P, C = (
            np.array([[np.broadcast_to(as_samples(x), count) for x in row] for row in rows]).transpose(2, 0, 1)
            for rows in (hanging.columns[place], hanging.rows[place])
        )
        J = P.transpose(0, 2, 1) / unit[:, None]
        if leg.loop is not None:  # twists that the cut allows
            J = np.concatenate([J, np.linalg.svd(C * unit)[2][:, C.shape[1] :].transpose(0, 2, 1)], axis=2)
        sizes = np.linalg.svd(J / np.sqrt((J**2).sum(axis=1, keepdims=True)), compute_uv=False)
        weights[:, place] = sizes[:, -1] / sizes[:, 0]
    shares: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return shares
