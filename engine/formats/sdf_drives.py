"""Axes, limits, losses and springs of an SDF's joints."""

from __future__ import annotations

import numpy as np

from .draft import Draft
from .pieces import FileEntry
from .sdf_frames import MODEL, Frames, Pose, sdf_numbers_of_child, sdf_text_of_child
from .urdf_drives import UNBOUNDED, limits_of_position, put_friction, put_limits
from .xml import Element


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


def put_sdf_drive(draft: Draft, entry: FileEntry, joint: Element, tag: str, *, driven: bool) -> None:
    """Puts limits, losses and a spring into a joint's entry.

    A joint starts within its limits, if the file doesn't say where; one that isn't driven has no effort.
    """
    axis = joint.first(tag)
    if axis is None:
        return
    start = sdf_numbers_of_child(draft, axis, "initial_position", 1, (0.0,))[0]
    if (limit := axis.first("limit")) is not None and joint.attributes["type"] != "continuous":
        ends = ("lower", -1e16), ("upper", 1e16)
        low, high = (sdf_numbers_of_child(draft, limit, key, 1, (x,))[0] for key, x in ends)
        effort, speed = (sdf_numbers_of_child(draft, limit, key, 1, (-1.0,))[0] for key in ("effort", "velocity"))
        put_limits(draft, entry, limit, limits_of_position(draft, limit, low, high), speed, placed=bool(start))
        if 0 < effort < UNBOUNDED and driven:
            entry["effort"] = {"limits": [-effort, effort]}
    if start:
        entry["initial"] = start
    if (dynamics := axis.first("dynamics")) is not None:
        keys = ("damping", "friction", "spring_stiffness", "spring_reference")
        damping, coulomb, stiffness, rest = (sdf_numbers_of_child(draft, dynamics, key, 1, (0.0,))[0] for key in keys)
        put_friction(entry, damping, coulomb)
        if stiffness:
            entry["spring"] = {"stiffness": stiffness, "rest": rest}
