"""URDF: links and joints of a tree, with mimic joints as couplings, and the loops and couplings of URDF+."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..robot.read import rotation_of
from . import urdf_loops
from .draft import Draft
from .pieces import (
    ENTRIES,
    SIMPLE_JOINTS,
    FileEntry,
    converted_entry_with_place,
    converted_frame_on_axis,
    converted_inertia_turned,
    converted_shapes_of_link,
    robot_file_rotation_rows,
)
from .report import CHANGED, DROPPED, IGNORED
from .side import Side
from .urdf_drives import note_unused_urdf_limits, put_urdf_limits, put_urdf_losses
from .urdf_shapes import urdf_material_colours, urdf_origin_entries, urdf_origin_rotation, urdf_shape
from .words import URDF, note_unread_words
from .xml import Element

TYPES = SIMPLE_JOINTS | {"floating": "free", "planar": "planar", "spherical": "spherical", "ball": "spherical"}


def read_urdf(draft: Draft, root: Element, side: Side) -> None:
    """Fills the draft from the element `robot`."""
    _without_xacro(draft, root)
    links = _by_name(draft, root.all("link"))
    joints = _by_name(draft, root.all("joint"))
    if not links:
        raise draft.error(root, "there is no link", allowed="at least one <link>")
    parents = _parents(draft, links, joints)
    base = _root(draft, links, parents)
    draft.named(root.attributes.get("name", ""))
    reader = _Reader(draft, links, joints, side, urdf_material_colours(draft, root), bool(root.all("loop")), base)
    reader.root(links[base], base)
    for name, joint in joints.items():
        reader.joint(name, joint)
    reader.couplings()
    urdf_loops.read_urdf_loops(draft, root, joints, parents, side)
    note_unread_words(draft, root, URDF, "URDF", strict=False)


def _without_xacro(draft: Draft, root: Element) -> None:
    """Refuses xacro that hasn't been expanded, and leaves out what stands about of it beside a robot, as others do."""
    for one in root.walk():
        stray = [child for child in one.children if child.tag.startswith("xacro:")]
        if any("${" in value for value in one.attributes.values()) or (stray and not root.all("link")):
            at = stray[0] if stray else one
            raise draft.error(at, "this is xacro, which has to be expanded first", hint="xacro IN.xacro > OUT.urdf")
        for child in stray:
            draft.note(DROPPED, child.tag, "it is xacro, which isn't expanded here", child)
            one.children.remove(child)


def _by_name(draft: Draft, elements: list[Element]) -> dict[str, Element]:
    """Elements by their names, which have to differ."""
    result: dict[str, Element] = {}
    for one in elements:
        name = draft.text(one, "name")
        if name in result:
            message = f"the {one.tag} `{name}` is there already, on line {result[name].line}"
            raise draft.error(one, message, allowed="names that differ")
        result[name] = one
    return result


def _parents(draft: Draft, links: dict[str, Element], joints: dict[str, Element]) -> dict[str, tuple[str, str]]:
    """By link, the joint on which it hangs, and its parent."""
    parents: dict[str, tuple[str, str]] = {}
    for name, joint in joints.items():
        ends = {}
        for tag in ("parent", "child"):
            end = joint.first(tag)
            if end is None:
                raise draft.error(joint, f"the joint `{name}` has no {tag}", allowed=f'<{tag} link="…"/>')
            ends[tag] = draft.known(end, "link", links, "link")
        child = ends["child"]
        if child in parents:
            message = f"the link `{child}` hangs on two joints, `{parents[child][0]}` and `{name}`"
            hint = "a loop is a <loop> of URDF+, or an entry of the file that --loops names"
            raise draft.error(joint, message, allowed="a tree", hint=hint)
        parents[child] = (name, ends["parent"])
    return parents


def _root(draft: Draft, links: dict[str, Element], parents: dict[str, tuple[str, str]]) -> str:
    """The link on which all others hang."""
    roots = [name for name in links if name not in parents]
    if not roots:
        raise draft.error(next(iter(links.values())), "the joints go round in a circle: every link has a parent")
    if len(roots) > 1:
        shown = ", ".join(f"`{name}`" for name in roots[:6]) + (", …" if len(roots) > 6 else "")
        raise draft.error(links[roots[1]], f"{len(roots)} links have no parent: {shown}", allowed="one, the root")
    held = {*roots}
    for name in links:
        seen = [name]
        while seen[-1] not in held and len(seen) <= len(links):  # a circle further up is reported by its own links
            seen.append(parents[seen[-1]][1])
            if seen[-1] == name:
                raise draft.error(links[name], f"the joints go round in a circle: {' → '.join(seen[:12])}")
        held |= {*seen} if seen[-1] in held else set()
    return roots[0]


class _Reader:
    """Turns links and joints into entries of the robot's file."""

    def __init__(
        self,
        draft: Draft,
        links: dict[str, Element],
        joints: dict[str, Element],
        side: Side,
        materials: dict[str, list[float]],
        looped: bool,
        base: str,
    ):
        self.draft, self.links, self.joints = draft, links, joints
        self.side, self.materials, self.looped = side, materials, looped
        draft.looped = looped or bool(side.file.closed_loop)
        self.entries: dict[str, FileEntry] = {}  # of joints, by their names in the file
        empty = not (links[base].first("inertial") or links[base].first("visual"))
        self.ground = base == "base" and empty and not draft.floating
        for name, one in links.items():
            if name == base and self.ground:
                draft.links.own[name] = "base"
            else:
                draft.links.take(name, one.line)
        for name, one in joints.items():
            draft.joints.take(name, one.line)
        side.check(draft)
        self.held = {name: q for name, one in joints.items() if (q := self._held_at(name)) is not None}
        self.mimics = [name for name, one in joints.items() if self._follows(name, one)]

    def root(self, link: Element, name: str) -> None:
        """Adds the link on which all others hang, fixed to the ground or free of it.

        An empty one that is called `base` is the ground itself.
        """
        if self.ground:
            self.draft.used(link)
            return
        own = self.draft.joints.take("root_joint", link.line, made=True)
        joint: FileEntry = {"type": "free" if self.draft.floating else "fixed", "name": own}
        self._add(link, name, "base", joint, None)

    def joint(self, name: str, one: Element) -> None:
        """Adds a joint and the link that hangs on it."""
        draft = self.draft
        draft.used(one)
        kind = draft.text(one, "type")
        if kind not in TYPES:
            raise draft.error(one, "unknown type of joint", found=f"`{kind}`", allowed=", ".join(TYPES))
        child, parent = (draft.text(one.first(tag) or one, "link") for tag in ("child", "parent"))
        entry: FileEntry = {"type": self.side.types.get(name, TYPES[kind]), "name": draft.joints.own[name]}
        entry |= urdf_origin_entries(draft, one)
        above = draft.links.own[parent]
        if name in self.held:
            self._hold(entry, one, self.held[name])
        elif entry["type"] in ("revolute", "prismatic"):
            axis = draft.numbers(one.first("axis") or one, "xyz", 3, (1.0, 0.0, 0.0))
            entry["axis"] = list(axis)
            put_urdf_limits(draft, entry, one, driven=self._driven(name, one), placed=name in self.mimics)
            put_urdf_losses(draft, entry, one)
        elif entry["type"] == "planar":
            above = self._planar(entry, one, above)
        elif entry["type"].startswith("universal"):
            above = self._two_turns(entry, one, above)
        else:
            note_unused_urdf_limits(draft, one)
        if entry["type"] != "fixed" and (self.side.motors or self.looped) and self._driven(name, one):
            entry["actuated"] = True
            if not self.side.motors:
                draft.note(CHANGED, "joint independent", "independent joints are taken to be the actuated ones", one)
        self.entries[name] = entry
        self._add(self.links[child], child, above, entry, one)

    def _add(self, link: Element, name: str, parent: str, joint: FileEntry, at: Element | None) -> None:
        """Adds a link that hangs on this joint."""
        draft = self.draft
        draft.used(link)
        entry: FileEntry = {"name": draft.links.own[name], "parent": parent, "joint": joint}
        inertial = link.first("inertial")
        if inertial is not None:
            self._inertial(entry, inertial)
        elif joint["type"] != "fixed":
            entry["mass"] = 0.0
        if bodies := converted_shapes_of_link(link, partial(urdf_shape, draft, self.materials)):
            entry["shape"] = bodies
        inertia = inertial.first("inertia") if inertial is not None else None
        draft.link(
            entry,
            link,
            joint=at,
            joint__limits=at and at.first("limit"),
            joint__effort=at and at.first("limit"),
            joint__axis=at and at.first("axis"),
            joint__friction=at and at.first("dynamics"),
            mass=inertial and inertial.first("mass"),
            inertia=inertia or inertial,
        )

    def _inertial(self, entry: FileEntry, inertial: Element) -> None:
        """Puts mass, mass centre and inertia into a link's entry, the latter turned into the link's axes."""
        draft = self.draft
        draft.used(inertial)
        mass, inertia = (inertial.first(tag) for tag in ("mass", "inertia"))
        origin = urdf_origin_entries(draft, inertial)
        if mass is None:
            draft.note(CHANGED, "inertial", "it has no mass, which is taken to be 0", inertial)
        entry["mass"] = draft.number(mass, "value") if mass is not None else 0.0
        entry["com"] = origin.get("xyz", [0.0, 0.0, 0.0])
        if inertia is None:
            return
        own = {name: draft.number(inertia, f"i{name}", 0.0) for name, i, j in ENTRIES}
        if origin.keys() - {"xyz"}:
            own = converted_inertia_turned(own, urdf_origin_rotation(origin))
        entry["inertia"] = {name: x for name, x in own.items() if x or name in ("xx", "yy", "zz")}

    # ---- joints

    def _driven(self, name: str, one: Element) -> bool:
        """Whether the joint has an actuator."""
        if self.side.motors:
            return name in self.side.motors
        if self.draft.looped:
            return self.looped and one.attributes.get("independent") == "true"
        return name not in self.mimics

    def _planar(self, entry: FileEntry, one: Element, parent: str) -> str:
        """Makes the joint move in the plane at right angles to its axis, and returns the link's parent."""
        axis = self.draft.numbers(one.first("axis") or one, "xyz", 3, (1.0, 0.0, 0.0))
        self.draft.unit(one.first("axis") or one, axis)
        for tag in ("limit", "dynamics"):
            if (part := one.first(tag)) is not None:
                self.draft.note(DROPPED, tag, "planar joints have none here", part)
        if not any(axis[:2]) and axis[2] > 0:
            return parent
        R = urdf_origin_rotation(entry)
        turn = converted_frame_on_axis(np.eye(3), axis)
        for key in ("rpy", "quat"):
            entry.pop(key, None)
        moving = {**entry, "matrix": robot_file_rotation_rows(R @ turn)}
        entry.pop("xyz", None)
        entry["matrix"] = robot_file_rotation_rows(turn.T)
        return self._between(entry, moving, one, parent)

    def _two_turns(self, entry: FileEntry, one: Element, parent: str) -> str:
        """Makes the joint two turns about the axes that the side file names, and returns the link's parent."""
        first, second = entry["type"][-2:]
        axes = {"X": [1, 0, 0], "Y": [0, 1, 0], "Z": [0, 0, 1]}
        moving = {**entry, "type": "revolute", "axis": axes[first]}
        for key in ("xyz", "rpy", "quat"):
            entry.pop(key, None)
        entry.update(type="revolute", axis=axes[second])
        inner, outer = (f"{entry['name']}_{letter}" for letter in (second, first))
        entry["name"] = self.draft.joints.take(inner, one.line, made=True)
        return self._between(None, {**moving, "name": outer}, one, parent)

    def _between(self, fixed: FileEntry | None, moving: FileEntry, one: Element, parent: str) -> str:
        """Adds a link without mass that moves, on which the joint's own link hangs."""
        draft, name = self.draft, moving["name"]
        if fixed is not None:
            fixed["type"], fixed["name"] = "fixed", draft.joints.take(f"{name}_fixed", one.line, made=True)
        else:
            moving["name"] = draft.joints.take(name, one.line, made=True)
        own = draft.links.take(f"{name}_frame", one.line, made=True)
        draft.link({"name": own, "parent": parent, "joint": moving, "mass": 0.0}, one, joint=one)
        return own

    # ---- joints that follow others

    def _follows(self, name: str, one: Element) -> bool:
        """Whether the joint follows another; a fixed one and the follower of a fixed one don't."""
        mimic = one.first("mimic")
        if mimic is None:
            return False
        leader = self.draft.known(mimic, "joint", self.joints, "joint")
        fixed = self._kind(name) == "fixed"
        if fixed:
            self.draft.note(IGNORED, "mimic", "the joint itself is fixed", mimic)
        elif leader in self.held and name not in self.held:
            self.draft.note(DROPPED, "mimic", f"its leader `{leader}` is fixed, and it has several freedoms", mimic)
        return not fixed and leader not in self.held

    def _kind(self, name: str) -> str:
        return self.side.types.get(name) or TYPES.get(self.joints[name].attributes.get("type", ""), "")

    def _held_at(self, name: str, seen: tuple[str, ...] = ()) -> float | None:
        """Where a joint stands that can't move: one that is fixed at 0, or follows one that stands; else None."""
        one = self.joints[name]
        if self._kind(name) == "fixed":
            return 0.0
        mimic = one.first("mimic")
        if mimic is None or name in seen or self._kind(name) not in ("revolute", "prismatic"):
            return None
        leader = self._held_at(self.draft.known(mimic, "joint", self.joints, "joint"), (*seen, name))
        if leader is None:
            return None
        return self.draft.number(mimic, "multiplier", 1.0) * leader + self.draft.number(mimic, "offset", 0.0)

    def _hold(self, entry: FileEntry, one: Element, q: float) -> None:
        """Makes a joint fixed, where it stands."""
        if (mimic := one.first("mimic")) is not None and entry["type"] != "fixed":
            self.draft.note(CHANGED, "mimic", f"what it follows is fixed, so the joint is fixed, too, at {q:g}", mimic)
            axis = one.first("axis") or one
            unit = self.draft.unit(axis, self.draft.numbers(axis, "xyz", 3, (1.0, 0.0, 0.0)))
            R = urdf_origin_rotation(entry)
            turns = entry["type"] == "revolute"
            if q and turns:
                R = R @ rotation_of((math.cos(q / 2), *(math.sin(q / 2) * unit)))
            at = np.array(entry.get("xyz", (0.0, 0.0, 0.0))) + (0.0 if turns else q) * (R @ unit)
            for key in ("xyz", "rpy", "quat"):
                entry.pop(key, None)
            converted_entry_with_place(entry, at, R)
        else:
            note_unused_urdf_limits(self.draft, one)
        entry["type"] = "fixed"

    def couplings(self) -> None:
        """Adds the couplings of the joints that follow others."""
        draft = self.draft
        for name in self.mimics:
            mimic = self.joints[name].first("mimic")
            assert mimic is not None
            draft.used(mimic)
            leader = draft.joints.own[draft.text(mimic, "joint")]
            entry: FileEntry = {"joint": draft.joints.own[name], "to": leader}
            entry["ratio"] = draft.number(mimic, "multiplier", 1.0)
            if offset := draft.number(mimic, "offset", 0.0):
                entry["offset"] = offset
            draft.put("couplings", entry, mimic)
        for name in self.mimics:
            if value := self._coupled(name, set()):
                draft.start(self.entries[name], value)

    def _coupled(self, name: str, seen: set[str]) -> float:
        """The initial value of a joint, which for one that follows another is what its leader's makes it."""
        if name not in self.mimics or name in seen:  # the reader of robots refuses couplings in a circle
            return self.draft.started(self.entries[name])
        mimic = self.joints[name].first("mimic")
        assert mimic is not None
        leader = self._coupled(self.draft.text(mimic, "joint"), seen | {name})
        return leader * self.draft.number(mimic, "multiplier", 1.0) + self.draft.number(mimic, "offset", 0.0)
