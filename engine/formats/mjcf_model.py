"""What the parts of an MJCF file refer to: included files, the compiler, default classes, frames, and names."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..robot import turn_matrix
from ..robot.read import rotation_of
from ..text import DOCUMENT_BYTES, text_of_yaml_file
from .draft import NO_QUATERNION, Draft
from .pieces import FileEntry
from .report import CHANGED
from .words import CONTROLLED
from .xml import Element, parsed_xml

MOST_FILES = 100
MAIN = "main"
LEVEL = 1e-7  # how far a direction that is taken for z may be off it, as in MuJoCo
TURNS = {"quat", "euler", "axisangle", "xyaxes", "zaxis"}
TRUTH, ANGLES = ("false", "true"), ("degree", "radian")
PARTIAL = ("size", "gear", "polycoef")  # lists whose first numbers alone may be given


@dataclass
class Compiler:
    """The settings of `compiler` that change what numbers mean."""

    degrees: bool = True
    euler: str = "xyz"
    limits: bool = True  # a range alone limits a joint
    inertia: str = "auto"  # from geoms: auto, true, false
    groups: tuple[float, ...] = (0.0, 5.0)  # of geoms that have inertia
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balanced: bool = False  # inertias that no body can have become those of balls
    total_mass: float = -1.0
    fused: bool = False  # bodies that don't move become parts of what they are fixed to
    aligned: bool = False  # the frames of lone free bodies become those of their inertias
    mesh_folder: str = ""
    off: frozenset[str] = frozenset()  # what `flag` disables

    @property
    def unit(self) -> float:
        """What an angle's number is multiplied by."""
        return math.pi / 180 if self.degrees else 1.0

    def limit(self, draft: Draft, one: Element, key: str) -> bool:
        """Whether the range of this name, such as `range` or `ctrlrange`, limits something."""
        limited = draft.word(one, key.removesuffix("range") + "limited", (*TRUTH, "auto"), "auto")
        if limited == "true" and key not in one.attributes:
            draft.note(CHANGED, one.tag, f"it should be limited, but has no `{key}`", one)
        off = "limit" in self.off and key == "range"
        return key in one.attributes and not off and (limited == "true" or (limited == "auto" and self.limits))


@dataclass
class Frame:
    """A frame that is fixed to a link: its place and turn in the link's frame."""

    link: str
    at: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))

    def within(self, at: np.ndarray, R: np.ndarray) -> Frame:
        """A frame that is given in this one."""
        return Frame(self.link, self.at + self.R @ at, self.R @ R)


@dataclass(frozen=True)
class Part:
    """An element in a body, its class's attributes among its own, in the place and turn of the `frame` around it."""

    element: Element
    at: np.ndarray
    R: np.ndarray
    inherited: str  # the default class here

    def frame(self, outer: Frame) -> Frame:
        """The frame around the element, within that of the body."""
        return outer.within(self.at, self.R)


@dataclass
class Model:
    """What ties and actuators refer to, by name."""

    bodies: dict[str, Frame] = field(default_factory=lambda: {"world": Frame("base")})
    sites: dict[str, Frame] = field(default_factory=dict)
    worlds: dict[str, Frame] = field(default_factory=lambda: {"base": Frame("base")})  # of links, as the model stands
    joints: dict[str, FileEntry] = field(default_factory=dict)  # entries of the robot's file
    entries: list[FileEntry] = field(default_factory=list)  # of all joints
    efforts: dict[str, tuple[float, float]] = field(default_factory=dict)  # between which all forces on a joint stay
    bearing: dict[str, Element] = field(default_factory=dict)  # joints whose actuators make up for gravity
    resting: set[str] = field(default_factory=lambda: {"base"})  # links that don't move
    references: dict[str, float] = field(default_factory=dict)  # coordinates of joints as the model stands
    relaxed: dict[str, float] = field(default_factory=dict)  # where springs are relaxed, if joints have any

    named: set[str] = field(default_factory=set)  # all names in the file, and those that things without any got

    def own_name(self, element: Element, otherwise: str) -> str:
        """The name of an element, or one that no other has."""
        given = element.attributes.get("name")
        if given is not None:
            return given
        name, k = otherwise, 1
        while name in self.named:
            k += 1
            name = f"{otherwise}_{k}"
        self.named.add(name)
        return name

    def world(self, frame: Frame) -> Frame:
        """The frame in the world, as the model stands."""
        return self.worlds[frame.link].within(frame.at, frame.R)

    def seen_from(self, link: str, frame: Frame) -> Frame:
        """A frame of another link in this link's frame, as the model stands."""
        base, there = self.worlds[link], self.world(frame)
        return Frame(link, base.R.T @ (there.at - base.at), base.R.T @ there.R)


def mjcf_with_included_files(draft: Draft, root: Element) -> Element:
    """The root with the contents of included files in the places where they are included."""
    folder, count, size = Path(draft.document.name).parent, 0, 0

    def filled(element: Element, depth: int) -> list[Element]:
        nonlocal count, size
        children: list[Element] = []
        for child in element.children:
            if child.tag != "include":
                child.children = filled(child, depth)
                children.append(child)
                continue
            count += 1
            if count > MOST_FILES or depth > 10:
                raise draft.error(child, f"more than {MOST_FILES} files are included, or they include each other")
            name = draft.text(child, "file")
            if Path(name).is_absolute() or Path(name).suffix.lower() not in (".xml", ".mjcf"):
                raise draft.error(child, "this is no XML file beside the model", found=f"`{name}`")
            beside = [base / name for base in (folder, Path(child.document.name).parent)]
            path = next((one for one in beside if one.is_file()), beside[0])
            text = text_of_yaml_file(path)
            size += len(text)
            if size > 2 * DOCUMENT_BYTES:
                message = f"the included files are larger than {2 * DOCUMENT_BYTES // 1_000_000} MB together"
                raise draft.error(child, message, found=f"`{name}`")
            _, inner = parsed_xml(text, str(path))
            draft.used(child)
            children += filled(inner, depth + 1)
        return children

    root.children = filled(root, 0)
    return root


def mjcf_referenced_bodies(root: Element) -> set[str]:
    """The bodies of which something else in the file speaks by name, such as a tie or a sensor."""
    made = set()
    for one in (one.attributes for one in root.walk()):
        keys: list[str] = [key for key in ("body", "body1", "body2", "target") if key in one]
        keys += [f"{key}name" for key in ("obj", "ref") if one.get(f"{key}type") in ("body", "xbody")]
        for text in (one.get(key, "") for key in keys):
            made |= {text, *text.split()}
    return made


def _true(draft: Draft, one: Element, name: str, *, default: bool) -> bool:
    return draft.word(one, name, TRUTH, TRUTH[default]) == "true"


def mjcf_compiler_settings(draft: Draft, root: Element) -> Compiler:
    """The settings of all `compiler` elements, the later ones over the earlier."""
    made = Compiler()
    for one in root.all("compiler"):
        draft.used(one)
        given = one.attributes
        made.degrees = draft.word(one, "angle", ANGLES, ANGLES[not made.degrees]) == "degree"
        made.euler = given.get("eulerseq", made.euler)
        made.limits = _true(draft, one, "autolimits", default=made.limits)
        made.inertia = draft.word(one, "inertiafromgeom", (*TRUTH, "auto"), made.inertia)
        made.groups = draft.numbers(one, "inertiagrouprange", 2, (made.groups[0], made.groups[1]))
        made.least_mass = draft.number(one, "boundmass", made.least_mass)
        made.least_inertia = draft.number(one, "boundinertia", made.least_inertia)
        made.balanced = _true(draft, one, "balanceinertia", default=made.balanced)
        made.total_mass = draft.number(one, "settotalmass", made.total_mass)
        made.fused = _true(draft, one, "fusestatic", default=made.fused)
        made.aligned = _true(draft, one, "alignfree", default=made.aligned)
        made.mesh_folder = given.get("meshdir", given.get("assetdir", made.mesh_folder))
        if given.get("coordinate", "local") != "local":
            raise draft.error(one, "global coordinates can't be read", allowed='coordinate="local"')
    flags: dict[str, str] = {}
    for flag in (flag for one in root.all("option") for flag in one.all("flag")):
        flags |= {name: draft.word(flag, name, ("enable", "disable"), "") for name in flag.attributes}
        draft.used(flag)
    made.off = frozenset(name for name, value in flags.items() if value == "disable")
    if "constraint" in made.off:
        made.off |= {"equality", "frictionloss", "limit"}
    if "passive" in made.off:  # as it was called before it was two
        made.off |= {"spring", "damper"}
    if len(made.euler) != 3 or set(made.euler.lower()) - set("xyz"):
        raise draft.error(root, "`eulerseq` needs three axes", found=made.euler, allowed="such as xyz or XYZ")
    return made


@dataclass
class Defaults:
    """For each class, the attributes that it gives elements with a tag."""

    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {MAIN: {}})

    def apply(self, element: Element, inherited: str, draft: Draft, tag: str = "") -> Element:
        """The element with its class's attributes below its own; `inherited` is the class of the body around."""
        name = element.attributes.get("class", inherited)
        if name not in self.classes:
            raise draft.error(element, "no such class", found=f"`{name}`", allowed=", ".join(self.classes))
        own = self.classes[name].get(_kind(tag or element.tag), {})
        return element.with_attributes(_over(own, element.attributes)) if own else element


def _kind(tag: str) -> str:
    """Whose defaults a tag has; actuators of all kinds share theirs."""
    return "actuator" if tag in CONTROLLED else tag


def _over(below: dict[str, str], above: dict[str, str]) -> dict[str, str]:
    """Attributes laid over others: of lists that are shorter the rest shows through, and one orientation is enough."""
    made = {key: value for key, value in below.items() if key not in TURNS or not TURNS & above.keys()}
    for key, value in above.items():
        hidden = value.split() if key in PARTIAL and key in made else []
        made[key] = " ".join([*hidden, *made[key].split()[len(hidden) :]]) if hidden else value
    return made


def mjcf_default_classes(draft: Draft, root: Element) -> Defaults:
    """The default classes, each with what it inherits."""
    made = Defaults()

    def read(element: Element, name: str, above: str) -> None:
        draft.used(element)
        inherited = {tag: dict(own) for tag, own in made.classes.get(name, made.classes.get(above, {})).items()}
        for child in element.children:
            if child.tag != "default":
                kind = _kind(child.tag)
                inherited[kind] = _over(inherited.get(kind, {}), child.attributes)
        made.classes[name] = inherited
        for child in element.all("default"):
            read(child, draft.text(child, "class"), name)

    for one in root.all("default"):
        read(one, one.attributes.get("class", MAIN), MAIN)
    return made


def parts_of_mjcf_body(
    draft: Draft, element: Element, inherited: str, compiler: Compiler, frame: Frame | None = None
) -> list[Part]:
    """What is in a body, in order, with what `frame` elements hold in their places."""
    frame, parts = frame or Frame(""), []
    for child in element.children:
        if child.tag == "frame":
            draft.used(child)
            at = np.array(draft.numbers(child, "pos", 3, (0.0, 0.0, 0.0)))
            inner = frame.within(at, orientation_of_mjcf_element(draft, child, compiler))
            parts += parts_of_mjcf_body(draft, child, child.attributes.get("childclass", inherited), compiler, inner)
        else:
            parts.append(Part(child, frame.at, frame.R, inherited))
    return parts


def orientation_of_mjcf_element(draft: Draft, element: Element, compiler: Compiler) -> np.ndarray:
    """The rotation matrix of an element's frame, in whichever way it is given."""
    given = element.attributes
    several = sorted((TURNS | {"fullinertia"}) & given.keys())
    if len(several) > 1:
        raise draft.error(element, "one way to say how it is turned is enough", found=", ".join(several))
    if "quat" in given:
        return rotation_of(tuple(draft.unit(element, draft.numbers(element, "quat", 4), NO_QUATERNION)))
    if "euler" in given:
        R = np.eye(3)
        for letter, angle in zip(compiler.euler, draft.numbers(element, "euler", 3)):
            turn = turn_matrix("xyz".index(letter.lower()), angle * compiler.unit)
            R = R @ turn if letter.islower() else turn @ R
        return R
    if "axisangle" in given:
        *axis, angle = draft.numbers(element, "axisangle", 4)
        return rotation_about_mjcf_axis(draft.unit(element, axis), angle * compiler.unit)
    if "xyaxes" in given:
        values = np.array(draft.numbers(element, "xyaxes", 6))
        x = draft.unit(element, values[:3])
        y = draft.unit(element, values[3:] - (values[3:] @ x) * x)
        return np.column_stack([x, y, np.cross(x, y)])
    if "zaxis" in given:
        return rotation_towards_mjcf_axis(draft.unit(element, draft.numbers(element, "zaxis", 3)))
    return np.eye(3)


def rotation_about_mjcf_axis(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation matrix of a turn about a unit vector."""
    half = angle / 2
    return rotation_of((math.cos(half), *(math.sin(half) * axis)))


def rotation_towards_mjcf_axis(direction: np.ndarray) -> np.ndarray:
    """The rotation matrix of the shortest turn that takes z to a unit vector."""
    x, y, z = (float(c) for c in direction)
    side = math.hypot(x, y)
    if side < LEVEL:
        return np.eye(3) if z > 0 else turn_matrix(0, math.pi)
    return rotation_about_mjcf_axis(np.array([-y / side, x / side, 0.0]), math.atan2(side, z))
