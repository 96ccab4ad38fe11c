"""SDF: the links of one model, their joints as a tree, and those that close loops as cuts; gearboxes as couplings."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from .draft import Draft
from .pieces import (
    ENTRIES,
    FileEntry,
    converted_entry_with_place,
    converted_frame_on_axis,
    converted_inertia_turned,
    converted_shapes_of_link,
    robot_file_rotation_rows,
)
from .report import CHANGED, DROPPED, IGNORED
from .sdf_frames import (
    TYPES,
    WORLD,
    Frames,
    Pose,
    Tree,
    put_sdf_drive,
    sdf_axis_of_joint,
    sdf_joints_of_world,
    sdf_number_of_child,
    sdf_numbers_of_child,
    sdf_text_of_child,
)
from .side import Side
from .words import SDF, note_unread_words
from .xml import Element

TRUE, FALSE = ("1", "true"), ("0", "false")
STANDARD = [0.0, 0.0, -9.8]  # of a world that doesn't say it, as the format has it


def read_sdf(draft: Draft, root: Element, side: Side) -> None:
    """Fills the draft from the element `sdf`."""
    models = [*root.all("model"), *(model for world in root.all("world") for model in world.all("model"))]
    if not models:
        raise draft.error(root, "there is no model", allowed="a <model>, by itself or in a <world>")
    for one in models[1:]:
        draft.note(DROPPED, f"model `{one.attributes.get('name', '')}`", "only the file's first model is read", one)
    gravity = next(
        (g for world in root.all("world") if (g := sdf_numbers_of_child(draft, world, "gravity", 3, ()))), None
    )
    for physics in (one for world in root.all("world") for one in world.all("physics")):
        gravity = gravity or sdf_numbers_of_child(draft, physics, "gravity", 3, ())  # as old files have it
    if gravity or root.all("world"):
        draft.data["gravity"] = list(gravity or STANDARD)
    for one in (one for outer in (root, *root.all("world")) for one in outer.all("include")):
        draft.note(DROPPED, "include", "only the file's first model is read; `gz sdf -p` writes others out", one)
    world = next((one for one in root.all("world") if models[0] in one.children), None)
    if (place := models[0].first("pose")) is not None and place.attributes.get("relative_to", WORLD) not in ("", WORLD):
        draft.note(CHANGED, "pose", "the model's is taken to be in the world, whatever it is relative to", place)
    joints = sdf_joints_of_world(draft, world, models[0]) if world is not None else []
    _Reader(draft, models[0], joints, side).read()
    note_unread_words(draft, root, SDF, "SDF", strict=False)


class _Reader:
    """Turns links and joints into entries of the robot's file."""

    def __init__(self, draft: Draft, model: Element, joints: list[Element], side: Side):
        model = replace(model, children=[*model.children, *joints])
        self.draft, self.model, self.side = draft, model, side
        for one in model.all("include", "model"):
            raise draft.error(
                one, f"a model within a model (`{one.tag}`) can't be read", hint="`gz sdf -p` writes it out"
            )
        self.frames = Frames(draft, model)
        self.links = {draft.text(one, "name"): one for one in model.all("link")}
        self.joints = [(draft.text(one, "name"), one) for one in model.all("joint")]
        if not self.links:
            raise draft.error(model, "there is no link")
        for name, one in self.links.items():
            if name == WORLD:  # which some files give as an empty link
                draft.links.own[name] = "base"
            else:
                draft.links.take(name, one.line)
        for name, one in self.joints:
            draft.joints.take(name, one.line)
        draft.links.own.setdefault(WORLD, "base")
        self.tree = Tree(draft, self.frames, self.joints)
        self.parent = self.tree.parent
        self.entries: dict[str, FileEntry] = {}  # of joints

    def read(self) -> None:
        draft, side = self.draft, self.side
        draft.named(self.model.attributes.get("name", ""))
        if self.model.attributes.get("placement_frame"):
            draft.note(CHANGED, "placement_frame", "the model's pose is taken for that of its own frame", self.model)
        side.check(draft)
        draft.looped = bool(self.tree.left or side.file.closed_loop)
        if sdf_text_of_child(self.model, "static") in TRUE and any(
            TYPES[k.attributes["type"]] != "fixed" for _, k in self.parent.values()
        ):
            draft.note(CHANGED, "static", "its joints move here, though its world holds the model still", self.model)
        roots = [name for name in self.links if name not in self.parent and name != WORLD]
        for name in (*roots, *(name for name in self.links if name in self.parent)):
            self._link(name)
        for one in self.tree.left:
            self._cut(one.attributes["name"], one)
        for one in self.tree.gears:
            self._gear(one)
        for name, one in self.joints:
            self._mimic(name, one)
        carrier = {joint.attributes["name"]: link for link, (_, joint) in self.parent.items()}
        side.loops(draft, carrier)

    # ---- links

    def _link(self, name: str) -> None:
        """Adds a link on its joint, or, if it has none, on the ground or free of it."""
        draft, element = self.draft, self.links[name]
        draft.used(element)
        own = self.frames.of(name, element)
        entry: FileEntry = {"name": draft.links.own[name]}
        joint = None
        if name in self.parent:
            parent, joint = self.parent[name]
            entry |= self._joint(parent, joint, own)
        else:
            entry |= self._root(element, own)
        self._mass(entry, element)
        self._weightless(entry, element)
        axis = joint.first("axis") if joint is not None else None
        draft.link(
            entry,
            element,
            joint=joint,
            joint__axis=axis,
            joint__limits=axis and axis.first("limit"),
            inertia=element.first("inertial"),
            mass=element.first("inertial"),
        )

    def _root(self, element: Element, own: Pose) -> FileEntry:
        draft = self.draft
        at = self.frames.base.then(own)
        joint: FileEntry = {"name": draft.joints.take("root_joint", element.line, made=True)}
        if draft.floating:
            joint |= {"type": "free"}
            return {"parent": "base", "joint": converted_entry_with_place(joint, at.at, at.R)}
        if sdf_text_of_child(self.model, "static") not in TRUE:
            draft.note(
                CHANGED, "link", "its model isn't fixed to the world, but is here; --floating sets it free", element
            )
        return {"parent": "base", "joint": converted_entry_with_place({**joint, "type": "fixed"}, at.at, at.R)}

    def _mass(self, entry: FileEntry, element: Element) -> None:
        """Puts mass, mass centre, inertia and shape into a link's entry."""
        draft, inertial = self.draft, element.first("inertial")
        if inertial is not None:
            draft.used(inertial)
            if inertial.attributes.get("auto") in TRUE:
                hint = "`gz sdf -p --expand-auto-inertials` writes it out"
                raise draft.error(inertial, "an inertia that is made of collisions can't be read", hint=hint)
            if (added := inertial.first("fluid_added_mass")) is not None:
                draft.note(DROPPED, added.tag, "no medium resists here", added)
            entry["mass"] = sdf_number_of_child(draft, inertial, "mass", 1.0)
            pose = self.frames.pose_in_link(inertial, element.attributes["name"])
            entry["com"] = [float(x) for x in pose.at]
            inertia = inertial.first("inertia")
            own = {
                key: (sdf_number_of_child(draft, inertia, f"i{key}", 0.0) if inertia is not None else float(i == j))
                for key, i, j in ENTRIES
            }
            entry["inertia"] = converted_inertia_turned(own, pose.R) if not np.array_equal(pose.R, np.eye(3)) else own
        elif entry["joint"]["type"] != "fixed":
            entry["mass"] = 0.0
            draft.note(CHANGED, "link", "it has no `inertial`, and so no mass here; by the format it has 1 kg", element)
        if bodies := converted_shapes_of_link(element, partial(self._shape, element)):
            entry["shape"] = bodies

    def _weightless(self, entry: FileEntry, element: Element) -> None:
        """Notes what slows a link, and takes its weight from it where the file says so."""
        draft = self.draft
        for part in element.all("velocity_decay"):
            if any(sdf_number_of_child(draft, part, key, 0.0) for key in ("linear", "angular")):
                draft.note(DROPPED, part.tag, "no medium resists here", part)
        for part in element.all("kinematic"):
            if part.text.strip() in TRUE:
                draft.note(DROPPED, part.tag, "links move by forces here", part)
        for part in element.all("gravity"):
            weight = [-entry.get("mass", 0.0) * g for g in draft.data.get("gravity", (0.0, 0.0, -9.81))]
            if part.text.strip() in FALSE and any(weight):
                draft.note(CHANGED, part.tag, "a constant force at the mass centre makes up for it", part)
                draft.put(
                    "wrenches", {"link": entry["name"], "force": weight, "at": entry["com"], "axes": "base"}, part
                )

    def _shape(self, link: Element, visual: Element) -> FileEntry | None:
        draft, geometry = self.draft, visual.first("geometry")
        for body in geometry.children if geometry is not None else []:
            entry: FileEntry
            if body.tag == "box":
                entry = {"box": list(sdf_numbers_of_child(draft, body, "size", 3, (1.0, 1.0, 1.0)))}
            elif body.tag in ("cylinder", "capsule", "sphere"):
                keys = ("radius",) if body.tag == "sphere" else ("radius", "length")
                entry = {body.tag: {key: sdf_number_of_child(draft, body, key, 1.0) for key in keys}}
            elif body.tag == "mesh" and sdf_text_of_child(body, "uri"):
                entry = {"mesh": {"file": sdf_text_of_child(body, "uri")}}
                scale = sdf_numbers_of_child(draft, body, "scale", 3, (1.0, 1.0, 1.0))
                if scale != (1.0, 1.0, 1.0):
                    entry["mesh"]["scale"] = list(scale)
            else:
                continue
            material = visual.first("material")
            if material is not None and (colour := sdf_numbers_of_child(draft, material, "diffuse", 0, ())):
                entry["colour"] = [*colour[:3], *(colour[3:4] or (1.0,))]
            if name := visual.attributes.get("name"):
                entry["name"] = name
            pose = self.frames.pose_in_link(visual, link.attributes["name"])
            return converted_entry_with_place(entry, pose.at, pose.R)
        draft.note(IGNORED, visual.tag, "it has no geometry that is known here", visual)
        return None

    # ---- joints

    def _place(self, name: str, joint: Element) -> Pose:
        """A joint's frame in the model's."""
        given = f"joint {name}" if f"joint {name}" in self.frames.given else name
        return self.frames.of(given, joint)

    def _joint(self, parent: str, joint: Element, own: Pose) -> FileEntry:
        """The keys `parent` and `joint` of a link, after links without mass between them have been added."""
        draft, name = self.draft, joint.attributes["name"]
        draft.used(joint)
        kind = TYPES[joint.attributes["type"]]
        frame = self._place(name, joint)
        relative, rest = frame.seen_from(self.frames.of(parent, joint)), own.seen_from(frame)
        above = draft.links.own[parent]
        entry: FileEntry = {"type": kind, "name": draft.joints.own[name]}
        self.entries[name] = entry
        if name in self.side.motors and kind != "fixed":
            entry["actuated"] = True
        tags = {"universal": ("axis", "axis2"), "revolute": ("axis",), "prismatic": ("axis",)}.get(kind, ())
        turns = [entry]
        if kind == "universal":  # two turns, about axes of any directions
            entry["type"] = "revolute"
            turns.append({**entry, "name": draft.joints.take(f"{name}_2", joint.line, made=True)})
        for one, tag in zip(turns, tags):
            one["axis"] = sdf_axis_of_joint(draft, self.frames, joint, tag, frame)
            driven = name in self.side.motors if self.side.motors else not draft.looped
            put_sdf_drive(draft, one, joint, tag, driven=driven)
        if name in self.tree.turned:  # the child holds it, and sees it turn the other way
            turns.reverse()
            for one in turns[: len(tags)]:
                one["axis"] = [-x for x in one["axis"]]
        converted_entry_with_place(turns[0], relative.at, relative.R)
        if len(turns) > 1:
            above = self._between(f"{name}_link", above, turns[0], joint)
        entry = turns[-1]
        if kind == "fixed":
            both = relative.then(rest)
            entry = converted_entry_with_place({"type": "fixed", "name": entry["name"]}, both.at, both.R)
            return {"parent": above, "joint": entry}
        if rest.nothing:
            return {"parent": above, "joint": entry}
        above = self._between(f"{name}_frame", above, entry, joint)
        fixed = {"type": "fixed", "name": draft.joints.take(f"{name}_fixed", joint.line, made=True)}
        return {"parent": above, "joint": converted_entry_with_place(fixed, rest.at, rest.R)}

    def _between(self, name: str, parent: str, entry: FileEntry, joint: Element) -> str:
        """Adds a link without mass on this joint, and returns its name."""
        own = self.draft.links.take(name, joint.line, made=True)
        self.draft.link({"name": own, "parent": parent, "joint": entry, "mass": 0.0}, joint, joint=joint)
        return own

    # ---- loops

    def _cut(self, name: str, joint: Element) -> None:
        """Adds a joint that closes a loop as a cut."""
        draft = self.draft
        draft.used(joint)
        kind = TYPES[joint.attributes["type"]]
        frame = self._place(name, joint)
        between = self.tree.ends(joint)
        R = np.eye(3)
        if kind in ("revolute", "prismatic"):
            R = converted_frame_on_axis(R, sdf_axis_of_joint(draft, self.frames, joint, "axis", frame))
        elif kind == "universal":
            x, y = (np.array(sdf_axis_of_joint(draft, self.frames, joint, tag, frame)) for tag in ("axis", "axis2"))
            x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
            R = np.column_stack([x, y - (x @ y) * x, np.cross(x, y)])
            R = R / np.linalg.norm(R, axis=0)
        entry: FileEntry = {"name": draft.joints.own[name], "joint": kind}
        entry["between"] = [draft.links.own[link] for link in between]
        for key, link in zip(("first", "second"), between):
            side = frame.then(Pose(np.zeros(3), R)).seen_from(self.frames.of(link, joint))
            entry[key] = {"at": [float(x) for x in side.at]}
            if kind != "spherical" and not np.array_equal(side.R, np.eye(3)):
                entry[key]["matrix"] = robot_file_rotation_rows(side.R)
        for axis in joint.all("axis"):
            dynamics = axis.first("dynamics")
            if dynamics is not None and any(
                sdf_number_of_child(draft, dynamics, key, 0.0) for key in ("damping", "friction", "spring_stiffness")
            ):
                draft.note(DROPPED, "dynamics", f"`{name}` closes a loop, where nothing acts along a joint", dynamics)
        draft.put("loops", entry, joint)

    def _mimic(self, name: str, joint: Element) -> None:
        """Adds a joint that follows another as a coupling: q = offset + multiplier × (q' − reference)."""
        draft = self.draft
        for axis in joint.all("axis", "axis2"):
            for one in axis.all("mimic"):
                leader = draft.known(one, "joint", self.entries, "joint")
                both = [self.entries.get(which, {}).get("type") for which in (name, leader)]
                first = axis.tag == "axis" and one.attributes.get("axis", "axis") == "axis"
                if not first or not all(kind in ("revolute", "prismatic") for kind in both):
                    draft.note(DROPPED, one.tag, "only joints of one freedom follow each other", one)
                    continue
                draft.used(one)
                ratio, offset, reference = (
                    sdf_number_of_child(draft, one, key, x)
                    for key, x in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
                )
                entry = {"joint": draft.joints.own[name], "to": draft.joints.own[leader], "ratio": ratio}
                draft.put("couplings", entry | {"offset": offset - ratio * reference}, one)
                self.entries[name].setdefault("actuated", False)

    def _gear(self, joint: Element) -> None:
        """Adds a gearbox as a coupling: the child turns -ratio times as far as the parent, both from the reference."""
        draft = self.draft
        reference = sdf_text_of_child(joint, "gearbox_reference_body")
        ends = self.tree.ends(joint)
        both = [self.parent.get(link) for link in ends]
        if any(one is None or one[0] != reference for one in both):
            draft.note(DROPPED, "gearbox", "its links don't hang on its reference body", joint)
            return
        draft.used(joint)
        names = [one[1].attributes["name"] for one in both if one is not None]
        signs = []
        for tag, one in zip(("axis", "axis2"), both):
            assert one is not None
            place = self._place(joint.attributes["name"], joint)
            own = self._place(one[1].attributes["name"], one[1])
            theirs = own.R @ np.array(sdf_axis_of_joint(draft, self.frames, one[1], "axis", own))
            mine = place.R @ np.array(sdf_axis_of_joint(draft, self.frames, joint, tag, place))
            signs.append(math.copysign(1.0, float(mine @ theirs)))
        ratio = -sdf_number_of_child(draft, joint, "gearbox_ratio", 1.0) * signs[0] * signs[1]
        entry = {"joint": draft.joints.own[names[1]], "to": draft.joints.own[names[0]], "ratio": ratio}
        draft.put("couplings", entry, joint)
