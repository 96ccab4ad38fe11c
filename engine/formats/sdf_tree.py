"""The tree of an SDF model: which joints it is made of, in which direction each hangs, and which close loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .draft import Draft
from .report import DROPPED
from .sdf_frames import WORLD, Frames, sdf_text_of_child
from .xml import Element

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
}


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
