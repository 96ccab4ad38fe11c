"""Inverse dynamics of parallel robots by their parts: Newton-Euler equations of the platform, and each leg alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, NumericalError, did_you_mean, given_in_words
from ...robot import ZERO, Robot
from ..closure.constraints import loop_closure
from ..mechanisms import effort
from ..mechanisms.balance import Balance, enough_actuators_for_freedoms
from ..mechanisms.branches import loop_actuator_efforts, singular_loop_message
from ..mechanisms.effort import loop_efforts_exceed_limits
from ..mechanisms.families import serve_mechanism_calls
from ..quantities import calls as tree
from ..quantities.direct import direct_call
from ..quantities.quantities import tree_links_under_wrenches
from ..tree.one_body import Motion, inertia_wrench
from ..tree.samples import Samples, dynamics_call_with_checked_results
from ..tree.sweeps import sweep_outward
from ..tree.wrenches import wrenches_moved_to_points
from .parallel_robot import Parallel, legs
from .platform_geometry import LegHold, PlatformGeometry, unlike_actuators
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
        tau = _all_or_one_by_one(s, parts, wrenches, "least")
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
        hint = did_you_mean(sharing, SHARINGS)
        raise InputError("unknown sharing", found=given_in_words(sharing), allowed=", ".join(SHARINGS), hint=hint)
    parts = legs(robot, platform)
    if s.count == 0:
        s.acting(wrenches)
        return np.empty((0, len(robot.driven)))
    tau = _all_or_one_by_one(s, parts, wrenches, sharing)
    return tau if s.count is not None else tau[0]


def _all_or_one_by_one(s: Samples, parts: Parallel, wrenches: Wrenches | None, sharing: str) -> np.ndarray:
    """Forces from one choice of equations for all samples, or from a choice for each where one doesn't fit all."""
    try:
        tau = _actuator_forces(s, parts, wrenches, sharing)
        if np.isfinite(tau).all() or s.count is None:
            return tau
    except np.linalg.LinAlgError:
        if s.count is None or s.count < 2:
            enough_actuators_for_freedoms(Balance(s.robot, s.rows("q")))
            raise NumericalError(singular_loop_message(s.robot)) from None
    rows = []
    for n in range(s.count or 1):
        one = Samples(s.robot, **{name: s.rows(name)[n] for name in s.arrays})
        alone = {name: np.asarray(x)[n] if np.ndim(x) == 2 else x for name, x in (wrenches or {}).items()}
        rows.append(_all_or_one_by_one(one, parts, alone, sharing)[0])
    return np.array(rows)


def _actuator_forces(s: Samples, parts: Parallel, wrenches: Wrenches | None, sharing: str) -> np.ndarray:
    """Forces of the actuators by eq. 66, with more actuators than freedoms by the way in which the legs share."""
    robot, driven = s.robot, list(s.robot.driven)
    geometry = PlatformGeometry(s, parts)
    holds = geometry.holds()
    F_p = platform_wrench(geometry, wrenches)
    ours = _links_on(robot, parts.body)
    on_legs = {link: six for link, six in (wrenches or {}).items() if link not in ours}
    q, qd, qdd = (s.rows(name) if s.count is not None else s.arrays[name] for name in ("q", "qd", "qdd"))
    gamma = np.atleast_2d(tree.inverse(_without_platform(robot, parts), q, qd, qdd, on_legs))  # Γ of all legs
    F = F_p.copy()
    X = np.zeros((len(F), robot.nv, 6))
    for leg, hold in zip(parts.legs, holds):
        X[:, list(leg.speeds)] = hold.X
        F += np.einsum("nkr,nk->nr", hold.X, gamma[:, list(leg.speeds)])  # J_vᵀ J⁻ᵀ Γ (eq. 66)
    T = geometry.freedoms(holds)
    B = X[:, driven] @ T  # J_p⁻¹: the platform's freedoms → actuated rates
    right = np.einsum("nrf,nr->nf", T, F)
    if B.shape[1] < B.shape[2]:
        enough_actuators_for_freedoms(Balance(robot, s.rows("q")))
        raise unlike_actuators(robot, *B.shape[1:])
    if B.shape[1] == B.shape[2]:  # Γ = J_pᵀ F
        return np.linalg.solve(B.transpose(0, 2, 1), right[..., None])[..., 0]
    enough_actuators_for_freedoms(Balance(robot, s.rows("q")[:1]))
    near = np.zeros((len(F), len(driven)))
    if sharing != "least":
        near = (gamma + _carried(parts, holds, F_p, _shares(geometry, holds, sharing)))[:, driven]
    limits = loop_actuator_efforts(robot)
    return np.array([effort.least_loop_effort(B[n].T, right[n], limits, near[n]) for n in range(len(F))])


def _carried(parts: Parallel, holds: list[LegHold], F_p: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Forces of the legs' joints that carry their parts of the platform."""
    forces = np.zeros((len(F_p), sum(len(leg.speeds) for leg in parts.legs)))
    for place, (leg, hold) in enumerate(zip(parts.legs, holds)):
        forces[:, list(leg.speeds)] = np.einsum("nrk,nr->nk", hold.columns, shares[:, place, None] * F_p)
    return forces


def _shares(geometry: PlatformGeometry, holds: list[LegHold], sharing: str) -> np.ndarray:
    """Shares of the legs in the platform, (N, legs); 0 for a leg without actuators."""
    weights = np.zeros((geometry.count, len(holds)))
    for place, (leg, hold) in enumerate(zip(geometry.parts.legs, holds)):
        if leg.actuated:
            J = np.concatenate([hold.columns, geometry.allowed(place)], axis=2) / geometry.unit[:, None]
            weights[:, place] = 1.0 if sharing == "even" else _conditioning(J)
    shares: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _conditioning(J: np.ndarray) -> np.ndarray:
    """1 / κ of a leg's Jacobian, with columns for the cut's own freedoms and rows scaled to length 1."""
    sizes = np.linalg.svd(J / np.sqrt((J**2).sum(axis=1, keepdims=True)), compute_uv=False)
    return sizes[:, -1] / sizes[:, 0]


# ---- the platform by itself


def platform_wrench(geometry: PlatformGeometry, wrenches: Wrenches | None) -> np.ndarray:
    """F_p = [n; f] of the legs on the platform at its origin, which its motion, gravity and the wrenches on it need."""
    s, body = geometry.s, geometry.parts.body
    q, qd, qdd = (s.scalars(name) for name in ("q", "qd", "qdd"))
    here: Motion | None = None
    for i in geometry.parts.legs[0].bodies:
        here = sweep_outward(s.robot.tree.bodies[i], here, q, qd, qdd, list(s.robot.gravity))
    assert here is not None
    on, loads = s.loads(wrenches)
    six = inertia_wrench(s.robot.tree.bodies[body], here)
    six = [x - y for x, y in zip(six, on[body])] if body in on else six
    own, R = np.atleast_2d(s.array(six)), geometry.R
    F = np.concatenate([np.einsum("nij,nj->ni", R, x) for x in (own[:, :3], own[:, 3:])], axis=1)
    for where, applied, point in loads:
        if where == body:
            n, f = np.split(np.atleast_2d(s.array(applied)), 2, axis=1)
            F -= wrenches_moved_to_points(n, f, R @ np.array(point, dtype=float))
    return F


def _without_platform(robot: Robot, parts: Parallel) -> Robot:
    """The same robot with a massless platform on which no wrench acts."""

    def legs_alone() -> Robot:
        bodies = list(robot.tree.bodies)
        bodies[parts.body] = replace(bodies[parts.body], E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0)
        ours = _links_on(robot, parts.body)
        return replace(
            robot,
            tree=replace(robot.tree, bodies=tuple(bodies)),
            wrenches=tuple(one for one in robot.wrenches if one.link not in ours),
            vouched=True,
        )

    return robot.made_once(("without platform", parts.body), legs_alone)


def _links_on(robot: Robot, body: int) -> set[str]:
    return {link.name for link in robot.links if robot.tree.seats[link.name][0] == body}
