"""Limits, damping and friction of joints in URDF, and what those in SDF have in common with them."""

from __future__ import annotations

import math

from .draft import Draft
from .pieces import FileEntry
from .report import CHANGED, DROPPED, IGNORED
from .xml import Element

UNBOUNDED = 1e9  # a number from which on there is no limit
DYNAMICS = ("damping", "friction")


def put_urdf_limits(draft: Draft, entry: FileEntry, one: Element, *, driven: bool, placed: bool) -> None:
    """Puts the limits of position, speed and effort into a joint's entry.

    A joint that isn't placed otherwise starts within its limits; one that isn't driven has no effort.
    """
    limit = one.first("limit")
    if limit is None:
        return
    draft.used(limit)
    between = None
    if one.attributes["type"] != "continuous":
        low, high = (draft.number(limit, key, 0.0, infinite=True) for key in ("lower", "upper"))
        between = limits_of_position(draft, limit, low, high)
        if between and (math.isinf(low) or math.isinf(high)):
            draft.note(CHANGED, "limit", "an infinite limit beside a finite one became 1e9", limit)
    speed, effort = (draft.number(limit, key, math.inf, infinite=True) for key in ("velocity", "effort"))
    put_limits(draft, entry, limit, between, speed, placed=placed)
    for key, value in (("velocity", speed), ("effort", effort)):
        if value <= 0:
            draft.note(CHANGED, f"limit {key}", f"{value:g} is taken to mean that there is none", limit)
    for key in ("acceleration", "deceleration", "jerk"):
        if 0 < draft.number(limit, key, math.inf, infinite=True) < UNBOUNDED:
            draft.note(DROPPED, f"limit {key}", "only positions, speeds and efforts have limits here", limit)
    if not driven and effort > 0:
        draft.note(IGNORED, "limit effort", "the joint has no actuator", limit)
    elif 0 < effort < UNBOUNDED:
        entry["effort"] = {"limits": [-effort, effort]}


def put_limits(
    draft: Draft, entry: FileEntry, limit: Element, between: list[float] | None, speed: float, *, placed: bool
) -> None:
    """Puts limits of position and speed into a joint's entry; one that isn't placed otherwise starts within them."""
    limits: FileEntry = {}
    if between:
        limits["position"] = between
        if not (between[0] <= 0 <= between[1] or placed):
            draft.start_within(between, entry, "0 is outside its limits", "their middle", limit)
    if 0 < speed < UNBOUNDED:
        limits["velocity"] = speed
    if limits:
        entry["limits"] = limits["position"] if list(limits) == ["position"] else limits


def put_friction(entry: FileEntry, damping: float, coulomb: float) -> None:
    """Puts damping and friction into a joint's entry."""
    own = {"viscous": damping, "coulomb": coulomb}
    if any(own.values()):
        entry["friction"] = {key: x for key, x in own.items() if x}


def limits_of_position(draft: Draft, limit: Element, low: float, high: float) -> list[float] | None:
    """The limits of a position, low before high; None if there are none."""
    if low == high:
        draft.note(CHANGED, "limit", f"lower = upper = {low:g} is taken to mean that there are no limits", limit)
        return None
    if low > high:
        draft.note(CHANGED, "limit", "lower is above upper, so they were exchanged", limit)
        low, high = high, low
    if low <= -UNBOUNDED and high >= UNBOUNDED:
        return None
    return [max(low, -UNBOUNDED), min(high, UNBOUNDED)]


def put_urdf_losses(draft: Draft, entry: FileEntry, one: Element) -> None:
    """Puts damping and friction into a joint's entry."""
    if (old := one.first("joint_properties")) is not None:
        fate = DROPPED if max(abs(draft.number(old, key, 0.0)) for key in DYNAMICS) else IGNORED
        draft.note(fate, "joint_properties", "damping and friction are read from `dynamics`", old)
    dynamics = one.first("dynamics")
    if dynamics is None:
        return
    draft.used(dynamics)
    damping, friction = (draft.number(dynamics, key, 0.0) for key in DYNAMICS)
    put_friction(entry, damping, friction)
    for key, value in dynamics.attributes.items():
        if key not in DYNAMICS:
            unset = value.strip() in ("", "0", "0.0")
            draft.note(IGNORED if unset else DROPPED, f"dynamics {key}", "URDF has no such key", dynamics)


def note_unused_urdf_limits(draft: Draft, one: Element) -> None:
    """Notes limits and dynamics of joints that have none here."""
    kind = one.attributes["type"]
    for tag in ("limit", "dynamics", "axis"):
        if (part := one.first(tag)) is not None:
            acting = kind != "fixed" and tag == "dynamics"
            real = acting and max(abs(draft.number(part, key, 0.0)) for key in DYNAMICS)
            draft.note(DROPPED if real else IGNORED, tag, f"a {kind} joint has none here", part)
