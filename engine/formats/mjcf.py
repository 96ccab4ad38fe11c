"""MJCF: bodies with any number of joints, their inertias, equality constraints as cuts and couplings, actuators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np

from .draft import Draft
from .mjcf_geoms import (
    Body,
    Geom,
    Unknown,
    bound_mjcf_inertias,
    mjcf_geom_bodies_together,
    mjcf_geom_with_defaults,
    place_of_mjcf_element,
    resolved_mjcf_bodies,
    rigid_body_of_mjcf_geom,
    shapes_of_mjcf_geoms,
)
from .mjcf_joints import Joints
from .mjcf_model import (
    MAIN,
    TRUTH,
    Compiler,
    Defaults,
    Frame,
    Model,
    Part,
    mjcf_compiler_settings,
    mjcf_default_classes,
    mjcf_referenced_bodies,
    mjcf_with_included_files,
    orientation_of_mjcf_element,
    parts_of_mjcf_body,
)
from .mjcf_ties import read_mjcf_ties
from .pieces import FileEntry, robot_file_inertia_entries
from .report import CHANGED, DROPPED, IGNORED
from .side import Side
from .words import MJCF, note_unread_words
from .xml import Element

STANDARD = (0.0, 0.0, -9.81)
LEAST = 1e-15  # the mass from which on geoms take the place of an `inertial`, as in MuJoCo
REFUSED = ("replicate", "attach", "flexcomp", "composite", "plugin")


def read_mjcf(draft: Draft, root: Element, side: Side) -> None:
    """Fills the draft from the element `mujoco`."""
    mjcf_with_included_files(draft, root)
    reader = _Reader(draft, root)
    draft.named(root.attributes.get("model", ""))
    cuts = [one for section in root.all("equality") for one in section.all("connect", "weld")]
    tied = "equality" not in reader.compiler.off and any(one.attributes.get("active") != "false" for one in cuts)
    draft.looped = tied or bool(side.file.closed_loop)
    for one in root.all("worldbody"):
        parts = parts_of_mjcf_body(draft, one, MAIN, reader.compiler)
        for part in parts:
            if part.element.tag == "geom":
                draft.note(IGNORED, "geom of the world", "it doesn't move", part.element)
        reader.inside(parts, Frame("base"))
    if not draft.data["links"]:
        raise draft.error(root, "there is no body", allowed="at least one <body> in <worldbody>")
    bound_mjcf_inertias(reader.masses, reader.compiler, reader.fused)
    reader.options(root)
    read_mjcf_ties(draft, root, reader.model, reader.defaults, reader.compiler)
    side.check(draft)
    for name in side.motors & set(reader.model.joints):
        reader.model.joints[name]["actuated"] = True
    side.loops(draft, reader.carrier)
    for one in root.all("deformable"):
        draft.note(DROPPED, one.tag, "bodies are rigid here", one)
    note_unread_words(draft, root, MJCF, "MJCF", strict=True)


class _Reader:
    """Turns bodies and joints into entries of the robot's file."""

    def __init__(self, draft: Draft, root: Element):
        self.draft, self.model = draft, Model()
        for one in (one for world in root.all("worldbody") for one in world.walk()):
            self.model.named.add(one.attributes.get("name", ""))
        self.compiler: Compiler = mjcf_compiler_settings(draft, root)
        self.defaults: Defaults = mjcf_default_classes(draft, root)
        self.assets: dict[str, Element] = {}
        for one in (one for assets in root.all("asset") for one in assets.all("mesh", "material", "hfield")):
            name = one.attributes.get("name") or PurePosixPath(one.attributes.get("file", "")).stem
            self.assets[f"{one.tag} {name}"] = self.defaults.apply(one, MAIN, draft)
        self.carrier: dict[str, str] = {}  # by joint, the body that it moves
        self.joints = Joints(draft, self.model, self.compiler, self.defaults)
        self.weightless: list[tuple[FileEntry, float, Element]] = []  # links that gravity pulls less, or more
        self.count = 0  # of bodies, depth first, as MuJoCo numbers them
        self.resolved: list[Body] | None = None
        self.masses: list[FileEntry] = []  # entries of links with mass
        self.fused: set[str] = set()  # links that MuJoCo makes a part of the world, whose mass it then doesn't count
        self.referenced = mjcf_referenced_bodies(root)

    # ---- the tree

    def inside(self, parts: Sequence[Part], frame: Frame) -> None:
        """Reads the bodies and sites among what is in a body, or in the world."""
        draft = self.draft
        for part in parts:
            child = part.element
            if child.tag in REFUSED:
                raise draft.error(child, f"`{child.tag}` can't be read", hint="MuJoCo can save the model without")
            if child.tag == "body":
                self.body(child, part.frame(frame), part.inherited)
            elif child.tag == "site":
                site = self.defaults.apply(child, part.inherited, draft)
                if name := site.attributes.get("name"):
                    draft.used(child)
                    self.model.sites[name] = part.frame(frame).within(
                        *place_of_mjcf_element(draft, site, self.compiler)
                    )

    def body(self, element: Element, outer: Frame, inherited: str) -> None:
        """Reads a body, its joints as a chain of links without mass, and the bodies in it."""
        draft = self.draft
        draft.used(element)
        self.count += 1
        number = self.count
        given = self.model.own_name(element, f"body{number}")
        name = draft.links.take(given, element.line)
        placed_at = outer.within(self._pos(element), orientation_of_mjcf_element(draft, element, self.compiler))
        self.model.bodies[given], self.model.worlds[name] = Frame(name), self.model.world(placed_at)
        if draft.word(element, "mocap", TRUTH, "false") == "true":
            draft.note(CHANGED, "mocap", "the body stays where it is", element)
        inherited = element.attributes.get("childclass", inherited)
        parts = parts_of_mjcf_body(draft, element, inherited, self.compiler)
        joints = [part for part in parts if part.element.tag in ("joint", "freejoint")]
        entry = self.joints.chain(element, given, name, placed_at, joints)
        self._mass(entry, element, parts, number)
        if self._fuses(element, name, given):
            self.fused.add(name)
        if value := draft.number(element, "gravcomp", 0.0):
            self.weightless.append((entry, value, element))
        inertial = next((part.element for part in parts if part.element.tag == "inertial"), None)
        draft.link(entry, element, joint=joints[-1].element if joints else None, mass=inertial)
        for part in joints:
            self.carrier[part.element.attributes.get("name", "")] = given
            lone = not any(other.element.tag == "body" for other in parts)
            self._align(part.element, lone=lone)
        self.inside(parts, Frame(name))

    def _fuses(self, element: Element, name: str, given: str) -> bool:
        """Whether MuJoCo makes a body that doesn't move a part of the world: nothing else may speak of it."""
        kept = self.draft.word(element, "fuse", ("false", "auto"), "auto") == "false"
        kept = kept or given in self.referenced or element.attributes.get("mocap") == "true"
        return self.compiler.fused and not kept and name in self.model.resting

    def _align(self, joint: Element, *, lone: bool) -> None:
        """Notes where MuJoCo would have another frame for a free body without others on it."""
        wanted = self.draft.word(joint, "align", (*TRUTH, "auto"), "auto")
        if lone and joint.tag == "freejoint" and (wanted == "true" or (wanted == "auto" and self.compiler.aligned)):
            self.draft.note(CHANGED, "align", "the joint's frame stays the body's, not that of its inertia", joint)

    def _pos(self, element: Element) -> np.ndarray:
        return np.array(self.draft.numbers(element, "pos", 3, (0.0, 0.0, 0.0)))

    # ---- masses

    def _mass(self, entry: FileEntry, element: Element, parts: Sequence[Part], number: int) -> None:
        """Puts mass, mass centre, inertia and shape into the entry of a body."""
        draft, compiler = self.draft, self.compiler
        geoms = [self._geom(part) for part in parts if part.element.tag == "geom"]
        inertials = [part for part in parts if part.element.tag == "inertial"]
        body = self._inertial(inertials[-1]) if inertials else None
        if compiler.inertia == "true" or (compiler.inertia == "auto" and body is None):
            made = self._of_geoms(element, geoms, number)
            if body is None or made.mass >= LEAST:
                if body is not None:
                    draft.note(
                        IGNORED, "inertial", "inertias are made of geoms (`inertiafromgeom`)", inertials[-1].element
                    )
                draft.used(element, "inertia from geoms")
                body = made
        if body is not None and (body.mass or body.inertia.any()):
            entry |= {
                "mass": float(body.mass),
                "com": [float(x) for x in body.com],
                "inertia": robot_file_inertia_entries(body.inertia),
            }
            self.masses.append(entry)
        elif entry["joint"]["type"] != "fixed" or compiler.least_mass or compiler.least_inertia:
            # where `boundmass` gives it a mass, MuJoCo puts it as far from the body as the body is from its parent
            entry |= (
                {"mass": 0.0, "com": [float(x) for x in self._pos(element)]} if compiler.least_mass else {"mass": 0.0}
            )
            self.masses.append(entry)
        if bodies := shapes_of_mjcf_geoms(draft, geoms, self.assets, compiler):
            entry["shape"] = bodies

    def _geom(self, part: Part) -> Geom:
        """A geom of a body, in the body's frame."""
        draft = self.draft
        one = mjcf_geom_with_defaults(draft, self.defaults.apply(part.element, part.inherited, draft), self.compiler)
        return Geom(one.element, one.kind, one.size, part.at + part.R @ one.at, part.R @ one.R)

    def _inertial(self, part: Part) -> Body:
        draft, inertial = self.draft, part.element
        draft.used(inertial)
        R = part.R @ orientation_of_mjcf_element(draft, inertial, self.compiler)
        if "fullinertia" in inertial.attributes:
            xx, yy, zz, xy, xz, yz = draft.numbers(inertial, "fullinertia", 6)
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif "diaginertia" in inertial.attributes:
            own = np.diag(draft.numbers(inertial, "diaginertia", 3))
        else:
            own = np.zeros((3, 3))
        J = R @ own @ R.T
        return Body(draft.number(inertial, "mass"), part.at + part.R @ self._pos(inertial), (J + J.T) / 2)

    def _of_geoms(self, element: Element, geoms: list[Geom], number: int) -> Body:
        """The body that geoms make, or MuJoCo's own if only that can say."""
        draft, (low, high) = self.draft, self.compiler.groups
        counted = [one for one in geoms if low <= draft.number(one.element, "group", 0.0) <= high]
        try:
            made = mjcf_geom_bodies_together(
                [body for one in counted if (body := rigid_body_of_mjcf_geom(draft, one, self.assets)) is not None]
            )
        except Unknown as question:
            if self.resolved is None:
                self.resolved = resolved_mjcf_bodies(draft, question.element)
            made = self.resolved[number]
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
        if "gravity" in self.compiler.off:
            draft.data["gravity"] = [0.0, 0.0, 0.0]
        for entry, share, at in self.weightless:
            weight = [-share * entry.get("mass", 0.0) * g for g in draft.data.get("gravity", STANDARD)]
            if any(weight):
                why = "it is a constant force at the mass centre, whatever the mass is changed to"
                draft.note(CHANGED, "gravcomp", why, at)
                wrench = {"link": entry["name"], "force": weight, "at": entry["com"], "axes": "base"}
                draft.put("wrenches", wrench, at)
                self._borne(entry)

    def _borne(self, entry: FileEntry) -> None:
        """Notes the joints under a link without weight whose actuators bear it in MuJoCo."""
        links = {one["name"]: one for one in self.draft.data["links"]}
        above: FileEntry | None = entry
        while above is not None:
            if (one := self.model.bearing.pop(above["joint"]["name"], None)) is not None:
                why = "wrenches bear the weight that its actuator does in MuJoCo, whose forces and limits include it"
                self.draft.note(CHANGED, "actuatorgravcomp", why, one)
            above = links.get(above["parent"])
