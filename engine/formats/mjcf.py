"""MJCF: bodies with any number of joints, their inertias, equality constraints as cuts and couplings, actuators."""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from . import mjcf_ties
from .draft import TINY, Draft
from .mjcf_geoms import (
    Body,
    Geom,
    Unknown,
    bound_mjcf_inertias,
    mjcf_geom_bodies_together,
    mjcf_geom_with_defaults,
    rigid_body_of_mjcf_geom,
    shapes_of_mjcf_geoms,
)
from .mjcf_model import (
    MAIN,
    Compiler,
    Defaults,
    Frame,
    Model,
    mjcf_compiler_settings,
    mjcf_default_classes,
    mjcf_with_included_files,
    orientation_of_mjcf_element,
    rotation_about_mjcf_axis,
)
from .mjcf_resolve import resolved_mjcf_bodies
from .pieces import converted_entry_with_place, robot_file_inertia_entries
from .report import CHANGED, DROPPED, IGNORED
from .side import Side
from .xml import Element

TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
REFUSED = ("replicate", "attach", "flexcomp", "composite", "plugin")
IN_ROOT = {
    **dict.fromkeys(("compiler", "default", "worldbody", "equality", "actuator", "tendon", "option"), ""),
    **dict.fromkeys(("asset", "visual", "statistic", "size", "sensor", "custom", "extension"), "it moves nothing"),
    "contact": "contact isn't computed",
    "keyframe": "positions to start from belong into scenarios",
    "deformable": "bodies are rigid here",
}
IN_BODY = {
    **dict.fromkeys(("body", "joint", "freejoint", "inertial", "geom", "site", "frame"), ""),
    **dict.fromkeys(("camera", "light"), "it moves nothing"),
}


def read_mjcf(draft: Draft, root: Element, side: Side) -> None:
    """Fills the draft from the element `mujoco`."""
    mjcf_with_included_files(draft, root)
    reader = _Reader(draft, root)
    draft.named(root.attributes.get("model", ""))
    for one in root.all("worldbody"):
        reader.inside(one, Frame("base"), MAIN, top=True)
    if not draft.data["links"]:
        raise draft.error(root, "there is no body", allowed="at least one <body> in <worldbody>")
    bound_mjcf_inertias(reader.masses, reader.compiler)
    reader.options(root)
    mjcf_ties.read_mjcf_ties(draft, root, reader.model, reader.defaults, limits=reader.compiler.limits)
    side.check(draft)
    for name in side.motors & set(reader.model.joints):
        reader.model.joints[name]["actuated"] = True
    side.loops(draft, reader.carrier, lambda name: draft.joints.take(name, 0, made=True))
    draft.rest(root, IN_ROOT, "a model")


class _Reader:
    """Turns bodies and joints into entries of the robot's file."""

    def __init__(self, draft: Draft, root: Element):
        self.draft, self.model = draft, Model()
        self.compiler: Compiler = mjcf_compiler_settings(draft, root)
        self.defaults: Defaults = mjcf_default_classes(draft, root)
        self.assets: dict[str, Element] = {}
        for one in (one for assets in root.all("asset") for one in assets.all("mesh", "material")):
            name = one.attributes.get("name") or PurePosixPath(one.attributes.get("file", "")).stem
            self.assets[f"{one.tag} {name}"] = self.defaults.apply(one, MAIN, draft)
        self.carrier: dict[str, str] = {}  # by joint, the body that it moves
        self.count = 0  # of bodies, depth first, as MuJoCo numbers them
        self.resolved: list[Body] | None = None
        self.masses: list[dict[str, Any]] = []  # entries of links with mass

    # ---- the tree

    def inside(self, element: Element, frame: Frame, inherited: str, *, top: bool = False) -> None:
        """Reads the bodies and sites in a body, or in the world, or in a `frame` of these."""
        for child in element.children:
            if child.tag in REFUSED:
                raise self.draft.error(child, f"`{child.tag}` can't be read", hint="MuJoCo can save the model without")
            if child.tag == "body":
                self.body(child, frame, inherited)
            elif child.tag == "frame":
                own = frame.within(self._pos(child), orientation_of_mjcf_element(self.draft, child, self.compiler))
                self.inside(child, own, child.attributes.get("childclass", inherited), top=top)
            elif child.tag == "site":
                site = self.defaults.apply(child, inherited, self.draft)
                if name := site.attributes.get("name"):
                    self.model.sites[name] = frame.within(
                        self._pos(site), orientation_of_mjcf_element(self.draft, site, self.compiler)
                    )
            elif top and child.tag == "geom":
                self.draft.note(IGNORED, "geom of the world", "it doesn't move", child)
        if not top:
            self.draft.rest(element, IN_BODY, "a body")

    def body(self, element: Element, outer: Frame, inherited: str) -> None:
        """Reads a body, its joints as a chain of links without mass, and the bodies in it."""
        draft = self.draft
        draft.used(element)
        self.count += 1
        number = self.count
        inherited = element.attributes.get("childclass", inherited)
        given = element.attributes.get("name", f"body{number}")
        name = draft.links.take(given, element.line)
        placed_at = outer.within(self._pos(element), orientation_of_mjcf_element(draft, element, self.compiler))
        self.model.bodies[given], self.model.worlds[name] = Frame(name), self.model.world(placed_at)
        if element.attributes.get("mocap") == "true":
            draft.note(CHANGED, "mocap", "the body stays where it is", element)
        if element.attributes.get("gravcomp", "0").strip("0. "):
            draft.note(DROPPED, "gravcomp", "gravity acts on every body", element)
        entry = self._joints(element, given, name, placed_at, inherited)
        self._mass(entry, element, inherited, number)
        joints = element.all("joint", "freejoint")
        draft.link(entry, element, joint=joints[-1] if joints else None, mass=element.first("inertial"))
        for child in joints:
            self.carrier[child.attributes.get("name", "")] = given
        self.inside(element, Frame(name), inherited)

    def _pos(self, element: Element) -> np.ndarray:
        return np.array(self.draft.numbers(element, "pos", 3, (0.0, 0.0, 0.0)))

    # ---- joints

    def _joints(self, element: Element, given: str, name: str, frame: Frame, inherited: str) -> dict[str, Any]:
        """The entry of a body's link with its last joint, after those of its other joints have been added."""
        draft, parent, at, R = self.draft, frame.link, frame.at, frame.R
        joints = [
            child if child.tag == "freejoint" else self.defaults.apply(child, inherited, draft)
            for child in element.all("joint", "freejoint")
        ]
        if not joints:
            own = draft.joints.take(f"{given}_joint", element.line, made=True)
            if draft.floating and parent == "base":
                return {"name": name, "parent": parent, "joint": {"type": "free", "name": own, "initial": _pose(frame)}}
            return {
                "name": name,
                "parent": parent,
                "joint": converted_entry_with_place({"type": "fixed", "name": own}, at, R),
            }
        for k, one in enumerate(joints):
            entry, anchor = self._joint(one, given, Frame(parent, at, R))
            if k == len(joints) - 1 and not anchor.any():
                return {"name": name, "parent": parent, "joint": entry}
            link = draft.links.take(f"{given}_{one.attributes.get('name', k + 1)}", one.line, made=True)
            draft.link({"name": link, "parent": parent, "joint": entry, "mass": 0.0}, one, joint=one)
            parent, at, R = link, -anchor, np.eye(3)
        joint = {"type": "fixed", "name": draft.joints.take(f"{given}_body", element.line, made=True)}
        return {"name": name, "parent": parent, "joint": converted_entry_with_place(joint, at, R)}

    def _joint(self, one: Element, body: str, frame: Frame) -> tuple[dict[str, Any], np.ndarray]:
        """The entry of a joint that moves what stands in a frame, and its anchor there."""
        draft, at, R = self.draft, frame.at, frame.R
        draft.used(one)
        kind = "free" if one.tag == "freejoint" else one.attributes.get("type", "hinge")
        if kind not in TYPES:
            raise draft.error(one, "unknown type of joint", found=f"`{kind}`", allowed=", ".join(TYPES))
        given = one.attributes.get("name", f"{body}_{kind}")
        entry: dict[str, Any] = {"type": TYPES[kind], "name": draft.joints.take(given, one.line)}
        self.model.joints[given] = entry
        anchor = np.zeros(3) if kind in ("free", "slide") else self._pos(one)
        unit = self.compiler.unit if kind in ("hinge", "ball") else 1.0
        self._losses(entry, one, unit)
        if kind == "free":
            entry["initial"] = _pose(frame)
            if "spring" in entry:
                entry["spring"]["pose"] = _pose(frame)
            return entry, anchor
        if kind == "ball":
            if one.attributes.get("range"):
                draft.note(DROPPED, "range", "a ball joint has no limits here", one)
            return converted_entry_with_place(entry, at + R @ anchor, R), anchor
        axis = np.array(draft.numbers(one, "axis", 3, (0.0, 0.0, 1.0)))
        if np.linalg.norm(axis) < TINY:
            raise draft.error(one, "the axis has no direction")
        reference = draft.number(one, "ref", 0.0) * unit
        self.model.relaxed[given] = draft.number(one, "springref", 0.0) * unit
        place, turn = at + R @ anchor, R
        if reference:  # the model stands where the coordinate has this value
            unit_axis = axis / np.linalg.norm(axis)
            turn = R @ rotation_about_mjcf_axis(unit_axis, -reference) if kind == "hinge" else R
            place = place if kind == "hinge" else place - reference * (R @ unit_axis)
            entry["initial"] = self.model.references[given] = reference
        entry["axis"] = [float(x) for x in axis]
        self._range(entry, one, unit, reference)
        return converted_entry_with_place(entry, place, turn), anchor

    def _range(self, entry: dict[str, Any], one: Element, unit: float, reference: float) -> None:
        """Puts the limits of position and effort into a joint's entry."""
        draft = self.draft
        limited = one.attributes.get("limited", "auto")
        if "range" in one.attributes and (limited == "true" or (limited == "auto" and self.compiler.limits)):
            low, high = (x * unit for x in draft.numbers(one, "range", 2))
            if low >= high:
                draft.note(CHANGED, "range", f"{low:g} to {high:g} is taken to mean that there is none", one)
                return
            entry["limits"] = [low, high]
            if not low <= reference <= high:
                entry["initial"] = (low + high) / 2
                draft.note(CHANGED, "joint", "it is outside its range, so it starts in its middle", one)

    def _losses(self, entry: dict[str, Any], one: Element, unit: float) -> None:
        """Puts damping, dry friction, spring and rotor inertia into a joint's entry."""
        draft = self.draft
        damping, coulomb, stiffness, armature = (
            draft.numbers(one, key, 0, (0.0,)) for key in ("damping", "frictionloss", "stiffness", "armature")
        )
        if any(damping[1:]) or any(stiffness[1:]):
            draft.note(DROPPED, "damping and stiffness that change", "only their first number is used", one)
        ball = entry["type"] in ("free", "spherical")
        if ball and coulomb[0]:
            draft.note(DROPPED, "frictionloss", f"a {entry['type']} joint has none here", one)
        own = {"viscous": damping[0], "coulomb": 0.0 if ball else coulomb[0]}
        if any(own.values()):
            entry["friction"] = {key: x for key, x in own.items() if x}
        if stiffness[0]:
            rest = {} if ball else {"rest": draft.number(one, "springref", 0.0) * unit}
            entry["spring"] = {"stiffness": stiffness[0], **rest}
        if armature[0]:
            entry["rotor_inertia"] = armature[0]
            if entry["type"] == "free":
                draft.note(CHANGED, "armature", "of a free joint it turns with the link's axes here", one)

    # ---- masses

    def _mass(self, entry: dict[str, Any], element: Element, inherited: str, number: int) -> None:
        """Puts mass, mass centre, inertia and shape into the entry of a body."""
        draft, compiler = self.draft, self.compiler
        geoms = [
            mjcf_geom_with_defaults(draft, self.defaults.apply(child, inherited, draft), compiler)
            for child in element.all("geom")
        ]
        for frame in element.all("frame"):
            geoms += self._framed(frame, np.zeros(3), np.eye(3), frame.attributes.get("childclass", inherited))
        inertial = element.first("inertial")
        if inertial is not None and compiler.inertia != "true":
            body: Body | None = self._inertial(inertial)
        elif compiler.inertia == "false":
            body = None
        else:
            body = self._of_geoms(element, geoms, number)
        if body is not None and (body.mass or body.inertia.any()):
            entry |= {
                "mass": float(body.mass),
                "com": [float(x) for x in body.com],
                "inertia": robot_file_inertia_entries(body.inertia),
            }
            self.masses.append(entry)
        elif entry["joint"]["type"] != "fixed":
            entry["mass"] = 0.0
            self.masses.append(entry)
        if bodies := shapes_of_mjcf_geoms(draft, geoms, self.assets, compiler):
            entry["shape"] = bodies

    def _framed(self, frame: Element, at: np.ndarray, R: np.ndarray, inherited: str) -> list[Geom]:
        """The geoms in a `frame` of a body, in the body's frame."""
        draft = self.draft
        at, R = at + R @ self._pos(frame), R @ orientation_of_mjcf_element(draft, frame, self.compiler)
        result = []
        for child in frame.all("geom"):
            one = mjcf_geom_with_defaults(draft, self.defaults.apply(child, inherited, draft), self.compiler)
            result.append(Geom(one.element, one.kind, one.size, at + R @ one.at, R @ one.R))
        for inner in frame.all("frame"):
            result += self._framed(inner, at, R, inner.attributes.get("childclass", inherited))
        return result

    def _inertial(self, inertial: Element) -> Body:
        draft = self.draft
        draft.used(inertial)
        R = orientation_of_mjcf_element(draft, inertial, self.compiler)
        if "fullinertia" in inertial.attributes:
            xx, yy, zz, xy, xz, yz = draft.numbers(inertial, "fullinertia", 6)
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif "diaginertia" in inertial.attributes:
            own = np.diag(draft.numbers(inertial, "diaginertia", 3))
        else:
            own = np.zeros((3, 3))
        J = R @ own @ R.T
        return Body(draft.number(inertial, "mass"), self._pos(inertial), (J + J.T) / 2)

    def _of_geoms(self, element: Element, geoms: list[Geom], number: int) -> Body:
        """The body that geoms make, or MuJoCo's own if only that can say."""
        draft, (low, high) = self.draft, self.compiler.groups
        counted = [one for one in geoms if low <= draft.number(one.element, "group", 0.0) <= high]
        try:
            made = mjcf_geom_bodies_together(
                [body for one in counted if (body := rigid_body_of_mjcf_geom(draft, one)) is not None]
            )
        except Unknown as question:
            if self.resolved is None:
                self.resolved = resolved_mjcf_bodies(draft, question.element)
            made = self.resolved[number]
        draft.used(element, "inertia from geoms")
        return made

    def options(self, root: Element) -> None:
        """Puts gravity into the file, and notes a medium that resists."""
        draft = self.draft
        for one in root.all("option"):
            draft.used(one)
            if "gravity" in one.attributes:
                draft.data["gravity"] = list(draft.numbers(one, "gravity", 3))
            for key in ("density", "viscosity"):
                if draft.number(one, key, 0.0):
                    draft.note(DROPPED, key, "no medium resists here", one)
            for flag in one.all("flag"):
                if flag.attributes.get("gravity") == "disable":
                    draft.data["gravity"] = [0.0, 0.0, 0.0]


def _pose(frame: Frame) -> list[float]:
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
