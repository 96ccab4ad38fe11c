"""The joints of an MJCF file: any number in a body, with their places, limits, losses and springs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .draft import Draft
from .mjcf_model import (
    TRUTH,
    Compiler,
    Defaults,
    Frame,
    Model,
    Part,
    rotation_about_mjcf_axis,
)
from .pieces import FileEntry, converted_entry_with_place
from .report import CHANGED, DROPPED
from .urdf_drives import put_friction
from .xml import Element

LOSSES = {"damping": "damper", "frictionloss": "frictionloss", "stiffness": "spring", "armature": ""}  # and their flags
TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}


class Joints:
    """Turns the joints of bodies into entries of the robot's file."""

    def __init__(self, draft: Draft, model: Model, compiler: Compiler, defaults: Defaults):
        self.draft, self.model, self.compiler, self.defaults = draft, model, compiler, defaults

    def chain(self, element: Element, given: str, name: str, frame: Frame, parts: Sequence[Part]) -> FileEntry:
        """The entry of a body's link with its last joint, after those of its other joints have been added."""
        draft, parent, at, R = self.draft, frame.link, frame.at, frame.R
        joints = [
            part
            if part.element.tag == "freejoint"
            else replace(part, element=self.defaults.apply(part.element, part.inherited, draft))
            for part in parts
        ]
        if not joints:
            own = draft.joints.take(f"{given}_joint", element.line, made=True)
            joint = converted_entry_with_place({"type": "fixed", "name": own}, at, R)
            if draft.floating and parent == "base":
                joint = {"type": "free", "name": own, "initial": mjcf_free_pose(frame)}
            elif parent in self.model.resting:
                self.model.resting.add(name)
            return {"name": name, "parent": parent, "joint": joint}
        for k, part in enumerate(joints):
            one = part.element
            entry, anchor = self._joint(part, given, Frame(parent, at, R))
            if k == len(joints) - 1 and not anchor.any():
                return {"name": name, "parent": parent, "joint": entry}
            link = draft.links.take(f"{given}_{one.attributes.get('name', k + 1)}", one.line, made=True)
            draft.link({"name": link, "parent": parent, "joint": entry, "mass": 0.0}, one, joint=one)
            parent, at, R = link, -anchor, np.eye(3)
        joint = {"type": "fixed", "name": draft.joints.take(f"{given}_body", element.line, made=True)}
        return {"name": name, "parent": parent, "joint": converted_entry_with_place(joint, at, R)}

    def _joint(self, part: Part, body: str, frame: Frame) -> tuple[FileEntry, np.ndarray]:
        """The entry of a joint that moves what stands in a frame, and its anchor there."""
        draft, one, at, R = self.draft, part.element, frame.at, frame.R
        draft.used(one)
        kind = "free" if one.tag == "freejoint" else one.attributes.get("type", "hinge")
        if kind not in TYPES:
            raise draft.error(one, "unknown type of joint", found=f"`{kind}`", allowed=", ".join(TYPES))
        given = self.model.own_name(one, f"{body}_{kind}")
        entry: FileEntry = {"type": TYPES[kind], "name": draft.joints.take(given, one.line)}
        self.model.joints[given] = entry
        self.model.entries.append(entry)
        if self.compiler.limit(draft, one, "actuatorfrcrange"):
            low, high = draft.numbers(one, "actuatorfrcrange", 2)
            self.model.efforts[given] = (low, high)
        if draft.word(one, "actuatorgravcomp", TRUTH, "false") == "true":
            self.model.bearing[entry["name"]] = one
        anchor = np.zeros(3)
        if kind in ("hinge", "ball"):
            anchor = part.at + part.R @ np.array(draft.numbers(one, "pos", 3, (0.0, 0.0, 0.0)))
        unit = self.compiler.unit if kind in ("hinge", "ball") else 1.0
        self._losses(entry, one, unit)
        if kind == "free":
            entry["initial"] = mjcf_free_pose(frame)
            if "spring" in entry:
                entry["spring"]["pose"] = mjcf_free_pose(frame)
            return entry, anchor
        if kind == "ball":
            if one.attributes.get("range"):
                draft.note(DROPPED, "range", "a ball joint has no limits here", one)
            return converted_entry_with_place(entry, at + R @ anchor, R), anchor
        axis = part.R @ np.array(draft.numbers(one, "axis", 3, (0.0, 0.0, 1.0)))
        unit_axis = draft.unit(one, axis)
        reference = draft.number(one, "ref", 0.0) * unit
        self.model.relaxed[given] = draft.number(one, "springref", 0.0) * unit
        place, turn = at + R @ anchor, R
        if reference:  # the model stands where the coordinate has this value
            turn = R @ rotation_about_mjcf_axis(unit_axis, -reference) if kind == "hinge" else R
            place = place if kind == "hinge" else place - reference * (R @ unit_axis)
            entry["initial"] = self.model.references[given] = reference
        entry["axis"] = [float(x) for x in axis]
        self._range(entry, one, unit, reference)
        return converted_entry_with_place(entry, place, turn), anchor

    def _range(self, entry: FileEntry, one: Element, unit: float, reference: float) -> None:
        """Puts the limits of position and effort into a joint's entry."""
        draft = self.draft
        if self.compiler.limit(draft, one, "range"):
            low, high = (x * unit for x in draft.numbers(one, "range", 2))
            if low >= high:
                draft.note(CHANGED, "range", f"{low:g} to {high:g} is taken to mean that there is none", one)
                return
            entry["limits"] = [low, high]
            if not low <= reference <= high:
                draft.start_within((low, high), entry, "it is outside its range", "its middle", one)

    def _losses(self, entry: FileEntry, one: Element, unit: float) -> None:
        """Puts damping, dry friction, spring and rotor inertia into a joint's entry."""
        draft = self.draft
        damping, coulomb, stiffness, armature = (
            (0.0,) if flag in self.compiler.off else draft.numbers(one, key, 0, (0.0,)) for key, flag in LOSSES.items()
        )
        if any(draft.numbers(one, "springyield", 0, (0.0,))):
            draft.note(DROPPED, "springyield", "springs don't yield here", one)
        if any(draft.numbers(one, "springdamper", 0, (0.0,))):
            draft.note(DROPPED, "springdamper", "only `stiffness` and `damping` themselves are used", one)
        if any(damping[1:]) or any(stiffness[1:]):
            draft.note(DROPPED, "damping and stiffness that change", "only their first number is used", one)
        ball = entry["type"] in ("free", "spherical")
        if ball and coulomb[0]:
            draft.note(DROPPED, "frictionloss", f"a {entry['type']} joint has none here", one)
        put_friction(entry, damping[0], 0.0 if ball else coulomb[0])
        if stiffness[0]:
            rest = {} if ball else {"rest": draft.number(one, "springref", 0.0) * unit}
            entry["spring"] = {"stiffness": stiffness[0], **rest}
        if armature[0]:
            entry["rotor_inertia"] = armature[0]
            if entry["type"] == "free":
                draft.note(CHANGED, "armature", "of a free joint it turns with the link's axes here", one)


def mjcf_free_pose(frame: Frame) -> list[float]:
    """The coordinates of a free joint whose link is at this frame."""
    R = frame.R
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[2, 0] + R[0, 2]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[2, 1] + R[1, 2]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    _, vectors = np.linalg.eigh(K, UPLO="U")
    e = vectors[:, -1] * math.copysign(1.0, vectors[0, -1] or 1.0)
    return [float(x) for x in (*frame.at, *e)]
