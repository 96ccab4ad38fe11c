"""Frames of an SDF model, resolved to the model's own frame, and its joints.

Which joints the tree is made of, in which direction each hangs, and which close loops; their axes, limits, losses and
springs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ..robot import placement_from_rpy
from ..robot.read import rotation_of
from .draft import NO_QUATERNION, Draft
from .pieces import SIMPLE_JOINTS, FileEntry
from .report import DROPPED
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
    start = sdf_number_of_child(draft, axis, "initial_position", 0.0)
    if (limit := axis.first("limit")) is not None and joint.attributes["type"] != "continuous":
        ends = ("lower", -1e16), ("upper", 1e16)
        low, high = (sdf_number_of_child(draft, limit, key, x) for key, x in ends)
        effort, speed = (sdf_number_of_child(draft, limit, key, -1.0) for key in ("effort", "velocity"))
        put_limits(draft, entry, limit, limits_of_position(draft, limit, low, high), speed, placed=bool(start))
        if 0 < effort < UNBOUNDED and driven:
            entry["effort"] = {"limits": [-effort, effort]}
    if start:
        entry["initial"] = start
    if (dynamics := axis.first("dynamics")) is not None:
        keys = ("damping", "friction", "spring_stiffness", "spring_reference")
        damping, coulomb, stiffness, rest = (sdf_number_of_child(draft, dynamics, key, 0.0) for key in keys)
        put_friction(entry, damping, coulomb)
        if stiffness:
            entry["spring"] = {"stiffness": stiffness, "rest": rest}


MODEL, WORLD = "__model__", "world"
TYPES = SIMPLE_JOINTS | {"ball": "spherical", "universal": "universal", "revolute2": "universal"}


@dataclass(frozen=True)
class Pose:
    """A place and a turn."""

    at: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))

    def then(self, inner: Pose) -> Pose:
        return Pose(self.at + self.R @ inner.at, self.R @ inner.R)

    def seen_from(self, outer: Pose) -> Pose:
        """The pose relative to another, both given in the same frame."""
        if np.array_equal(self.at, outer.at) and np.array_equal(self.R, outer.R):
            return Pose()  # without rounding
        return Pose(outer.R.T @ (self.at - outer.at), outer.R.T @ self.R)

    @property
    def nothing(self) -> bool:
        return not self.at.any() and np.array_equal(self.R, np.eye(3))


def sdf_text_of_child(element: Element | None, tag: str) -> str:
    """The text of a child; empty where there is none."""
    child = element.first(tag) if element is not None else None
    return child.text.strip() if child is not None else ""


def sdf_numbers_of_child(
    draft: Draft, element: Element, tag: str, count: int, default: tuple[float, ...]
) -> tuple[float, ...]:
    """The numbers in the text of a child."""
    child = element.first(tag)
    if child is None or not child.text.strip():
        return default
    return draft.parsed(child, tag, child.text, count, infinite=True)


def sdf_number_of_child(draft: Draft, element: Element, tag: str, default: float) -> float:
    return sdf_numbers_of_child(draft, element, tag, 1, (default,))[0]


def sdf_pose_of_element(draft: Draft, element: Element) -> Pose:
    """The `pose` of an element, in whatever frame it is given."""
    one = element.first("pose")
    if one is None or not one.text.strip():
        return Pose()
    if one.attributes.get("rotation_format") == "quat_xyzw":
        values = draft.parsed(one, "pose", one.text, 7)
        e = draft.unit(one, [values[6], *values[3:6]], NO_QUATERNION)
        return Pose(np.array(values[:3]), rotation_of(tuple(e)))
    values = draft.parsed(one, "pose", one.text, 6)
    rpy = np.radians(values[3:]) if one.attributes.get("degrees") == "true" else np.array(values[3:])
    turn = placement_from_rpy((0.0, 0.0, 0.0), (float(rpy[0]), float(rpy[1]), float(rpy[2])))
    return Pose(np.array(values[:3]), turn.rotation())


class Frames:
    """The frames of a model by name: links, joints and `frame` elements."""

    def __init__(self, draft: Draft, model: Element):
        self.draft, self.model = draft, model
        self.given: dict[str, tuple[Element, str]] = {}  # with the frame that a pose is relative to by default
        for one in model.all("link", "frame", "joint"):
            name = draft.text(one, "name")
            default = (
                sdf_text_of_child(one, "child") if one.tag == "joint" else one.attributes.get("attached_to", MODEL)
            )
            self.given[name if one.tag != "joint" or name not in self.given else f"joint {name}"] = (
                one,
                default or MODEL,
            )
        self.base = sdf_pose_of_element(draft, model)  # the model's frame in the world
        self.known: dict[str, Pose] = {MODEL: Pose(), WORLD: Pose(-self.base.R.T @ self.base.at, self.base.R.T)}
        if (own := model.attributes.get("name", MODEL)) not in self.given:
            self.known[own] = Pose()

    def link(self, name: str, at: Element, seen: tuple[str, ...] = ()) -> str:
        """The link that a frame is fixed to, or the world."""
        if name == WORLD:
            return name
        if name in (MODEL, self.model.attributes.get("name")) and name not in self.given:
            first = next(one.attributes["name"] for one in self.model.all("link"))
            return self.link(self.model.attributes.get("canonical_link", first), at, (*seen, name))
        if name not in self.given or name in seen:
            what = "frames are fixed to each other in a circle" if name in seen else "no such link"
            raise self.draft.error(at, what, found=f"`{name}`", allowed=", ".join(sorted({*self.given, WORLD})[:20]))
        element, outer = self.given[name]
        return name if element.tag == "link" else self.link(outer, element, (*seen, name))

    def pose_in_link(self, element: Element, link: str) -> Pose:
        """The `pose` of something in a link, in the link's frame."""
        one = element.first("pose")
        outer = (one.attributes.get("relative_to") or one.attributes.get("frame")) if one is not None else None
        own = sdf_pose_of_element(self.draft, element)
        return self.of(outer, element).seen_from(self.of(link, element)).then(own) if outer else own

    def of(self, name: str, at: Element, seen: tuple[str, ...] = ()) -> Pose:
        """The pose of a frame in the model's frame."""
        if name in self.known:
            return self.known[name]
        if name not in self.given or name in seen:
            what = "frames are given relative to each other in a circle" if name in seen else "no such frame"
            raise self.draft.error(at, what, found=f"`{name}`", allowed=", ".join([MODEL, *self.given][:20]))
        element, default = self.given[name]
        pose = element.first("pose")
        attributes = pose.attributes if pose is not None else {}
        outer = attributes.get("relative_to") or attributes.get("frame") or default
        result = self.of(outer, pose or element, (*seen, name)).then(sdf_pose_of_element(self.draft, element))
        self.known[name] = result
        return result


def sdf_joints_of_world(draft: Draft, world: Element, model: Element) -> list[Element]:
    """The joints that a world has on its model, with the names that things have in the model."""
    own, made = draft.text(model, "name"), []
    taken = {one.attributes.get("name", "") for one in model.all("link", "joint", "frame")}

    def inside(one: Element) -> Element:
        names = {key: text.removeprefix(f"{own}::") for key, text in one.attributes.items()}
        text = one.text.strip().removeprefix(f"{own}::")
        return replace(one, attributes=names, text=text, children=[inside(child) for child in one.children])

    for one in world.all("joint"):
        ends = [sdf_text_of_child(one, tag) for tag in ("parent", "child")]
        if all(end in (own, WORLD) or end.startswith(f"{own}::") for end in ends):
            joint, name = inside(one), draft.text(one, "name")
            made.append(joint.with_attributes({**joint.attributes, "name": f"world_{name}" if name in taken else name}))
        else:
            draft.note(DROPPED, "joint", "it ties something else than the file's first model", one)
    return made


class Tree:
    """Links on joints: `parent` has by link the one that it hangs on and the joint between; `left` close loops."""

    def __init__(self, draft: Draft, frames: Frames, joints: Iterable[tuple[str, Element]]):
        self.draft, self.frames = draft, frames
        self.parent: dict[str, tuple[str, Element]] = {}
        self.turned: set[str] = set()  # names of joints whose parent hangs on their child
        self.gears: list[Element] = []
        left: list[Element] = []
        for _, one in sorted(joints, key=lambda pair: pair[1].attributes.get("type") == "ball"):
            kind = draft.text(one, "type")
            parent, child = self.ends(one)
            if kind == "gearbox":
                self.gears.append(one)
            elif kind not in TYPES:
                allowed = ", ".join((*TYPES, "gearbox"))
                raise draft.error(one, "this type of joint can't be read", found=f"`{kind}`", allowed=allowed)
            elif child == WORLD or child in self.parent or self._root(parent) == child:
                left.append(one)
            else:
                self.parent[child] = (parent, one)
        self.left = [one for one in left if not self._connects(one)]

    def ends(self, joint: Element) -> tuple[str, str]:
        """The links that the joint is between, or the world."""
        parent, child = (
            self.frames.link(sdf_text_of_child(joint, tag), joint.first(tag) or joint) for tag in ("parent", "child")
        )
        return parent, child

    def _root(self, link: str) -> str:
        while link in self.parent:
            link = self.parent[link][0]
        return link

    def _connects(self, joint: Element) -> bool:
        """Hangs the later one of the trees that the joint ties on the other; says whether they are two."""
        order = [WORLD, *self.frames.given]
        (kept, above), (lost, below) = sorted((order.index(self._root(end)), end) for end in self.ends(joint))
        if kept == lost:
            return False
        hung: tuple[str, Element] | None = (above, joint)
        while hung is not None:  # joint by joint up to the root, what was above hangs below
            further = self.parent.get(below)
            self.parent[below] = hung
            self.turned -= {hung[1].attributes["name"]}
            if self.ends(hung[1])[1] != below:
                self.turned.add(hung[1].attributes["name"])
            below, hung = (further[0], (below, further[1])) if further is not None else (below, None)
        return True
