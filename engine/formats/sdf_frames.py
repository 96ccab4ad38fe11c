"""Frames of an SDF model: poses relative to each other, resolved to the model's own frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..robot import placement_from_rpy
from ..robot.read import rotation_of
from .draft import NO_QUATERNION, Draft
from .xml import Element

MODEL, WORLD = "__model__", "world"


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
