"""Axes, limits, losses and springs of an SDF's joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from .draft import Draft
from .report import CHANGED
from .sdf_frames import MODEL, Frames, Pose, sdf_numbers_of_child, sdf_text_of_child
from .xml import Element

UNBOUNDED = 1e9  # a number from which on there is no limit


def sdf_axis_of_joint(draft: Draft, frames: Frames, joint: Element, tag: str, frame: Pose) -> list[float]:
    """The direction of an axis in the joint's frame."""
    axis = joint.first(tag)
    if axis is None:
        return [0.0, 0.0, 1.0]
    xyz = np.array(sdf_numbers_of_child(draft, axis, "xyz", 3, (0.0, 0.0, 1.0)))
    draft.unit(axis, xyz)
    child = axis.first("xyz")
    other = child.attributes.get("expressed_in") if child is not None else None
    if sdf_text_of_child(axis, "use_parent_model_frame") in ("1", "true"):
        other = MODEL
    if other:
        xyz = frame.R.T @ frames.of(other, axis).R @ xyz
    return [float(x) for x in xyz]


def put_sdf_drive(draft: Draft, entry: dict[str, Any], joint: Element, tag: str, *, driven: bool, tied: bool) -> None:
    """Puts limits, losses and a spring into a joint's entry.

    A joint that isn't tied to others starts within its limits; one that isn't driven has no effort.
    """
    axis = joint.first(tag)
    if axis is None:
        return
    if (limit := axis.first("limit")) is not None and joint.attributes["type"] != "continuous":
        limits: dict[str, Any] = {}
        if between := _range(draft, limit):
            limits["position"] = between
            if not (between[0] <= 0 <= between[1] or tied):
                entry["initial"] = sum(between) / 2
                draft.note(CHANGED, "joint", "0 is outside its limits, so it starts in their middle", limit)
        effort, speed = (sdf_numbers_of_child(draft, limit, key, 1, (-1.0,))[0] for key in ("effort", "velocity"))
        if 0 < speed < UNBOUNDED:
            limits["velocity"] = speed
        if limits:
            entry["limits"] = limits["position"] if list(limits) == ["position"] else limits
        if 0 < effort < UNBOUNDED and driven:
            entry["effort"] = {"limits": [-effort, effort]}
    if start := sdf_numbers_of_child(draft, axis, "initial_position", 1, (0.0,))[0]:
        entry["initial"] = start
    if (dynamics := axis.first("dynamics")) is not None:
        keys = ("damping", "friction", "spring_stiffness", "spring_reference")
        damping, coulomb, stiffness, rest = (sdf_numbers_of_child(draft, dynamics, key, 1, (0.0,))[0] for key in keys)
        own = {"viscous": damping, "coulomb": coulomb}
        if any(own.values()):
            entry["friction"] = {key: x for key, x in own.items() if x}
        if stiffness:
            entry["spring"] = {"stiffness": stiffness, "rest": rest}


def _range(draft: Draft, limit: Element) -> list[float] | None:
    """The limits of a position, low before high; None if there are none."""
    low, high = (sdf_numbers_of_child(draft, limit, key, 1, (x,))[0] for key, x in (("lower", -1e16), ("upper", 1e16)))
    if low > high:
        draft.note(CHANGED, "limit", "lower is above upper, so they were exchanged", limit)
        low, high = high, low
    if low <= -UNBOUNDED and high >= UNBOUNDED:
        return None
    if low == high:
        draft.note(CHANGED, "limit", f"lower = upper = {low:g} is taken to mean that there are no limits", limit)
        return None
    return [max(low, -UNBOUNDED), min(high, UNBOUNDED)]
