"""The ties of an MJCF file: equality constraints as cuts and couplings."""

from __future__ import annotations

import numpy as np

from ..robot.read import rotation_of
from .draft import Draft
from .mjcf_model import MAIN, Compiler, Defaults, Frame, Model
from .mjcf_motors import read_mjcf_actuators, read_mjcf_tendon
from .pieces import FileEntry, robot_file_rotation_rows
from .report import CHANGED, DROPPED
from .xml import Element

LINE = (0.0, 1.0, 0.0, 0.0, 0.0)  # a follower that moves as its leader


def read_mjcf_ties(draft: Draft, root: Element, model: Model, defaults: Defaults, compiler: Compiler) -> None:
    """Adds ties and actuators to the draft."""
    tendons: dict[str, Element] = {}
    motors = [one.attributes for section in root.all("actuator") for one in section.children]
    named = {one.get("name", one.get("tendon", "")) for one in motors}
    for section in root.all("tendon"):
        for one in section.children:
            own = defaults.apply(one, MAIN, draft, "tendon")
            tendons[own.attributes.get("name", "")] = own
            read_mjcf_tendon(draft, own, model, named, compiler)
    for section in root.all("equality"):
        if "equality" in compiler.off:
            draft.note(CHANGED, "equality", "a flag disables it", section)
            continue
        for one in section.children:
            _equality(draft, defaults.apply(one, MAIN, draft, "equality"), model, tendons)
    read_mjcf_actuators(draft, root, model, defaults, tendons, compiler)


# ---- equality


def _equality(draft: Draft, one: Element, model: Model, tendons: dict[str, Element]) -> None:
    if draft.word(one, "active", ("true", "false"), "true") == "false":
        draft.note(DROPPED, f"equality {one.tag}", "it isn't active", one)
        return
    if one.tag == "joint":
        _coupling(draft, one, model)
    elif one.tag in ("connect", "weld"):
        _cut(draft, one, model)
    elif one.tag == "tendon":
        _pulled(draft, one, model, tendons)
    else:
        draft.note(DROPPED, f"equality {one.tag}", "there is no such tie here", one)


def _cut(draft: Draft, one: Element, model: Model) -> None:
    """A point or a frame that two bodies share, as a cut."""
    if one.tag == "weld" and not draft.number(one, "torquescale", 1.0):
        draft.note(DROPPED, "weld", "without torques it ties neither a frame nor a point", one)
        return
    draft.used(one)
    first, second = _ends(draft, one, model)
    name = draft.joints.take(one.attributes.get("name", one.tag), one.line)
    between = [first.link, second.link]
    if between[0] == between[1]:
        draft.note(DROPPED, one.tag, "both bodies are the same", one)
        return
    entry: FileEntry = {
        "name": name,
        "joint": "spherical" if one.tag == "connect" else "fixed",
        "between": between,
    }
    for key, frame in (("first", first), ("second", second)):
        own: FileEntry = {"at": [float(x) for x in frame.at]}
        if one.tag == "weld" and not np.array_equal(frame.R, np.eye(3)):
            own["matrix"] = robot_file_rotation_rows(frame.R)
        entry[key] = own
    draft.put("loops", entry, one)
    draft.note(CHANGED, one.tag, "the tie is exact here, not a stiff spring", one)


def _ends(draft: Draft, one: Element, model: Model) -> tuple[Frame, Frame]:
    """The frames of two links that coincide."""
    if "site1" in one.attributes:
        first, second = (model.sites[draft.known(one, key, model.sites, "site")] for key in ("site1", "site2"))
        return first, second
    first = model.bodies[draft.known(one, "body1", model.bodies, "body")]
    second = model.bodies[draft.known(one, "body2", model.bodies, "body") if "body2" in one.attributes else "world"]
    if one.tag == "connect":
        first = first.within(np.array(draft.numbers(one, "anchor", 3)), np.eye(3))
        return first, model.seen_from(second.link, first)
    pose = np.array(draft.numbers(one, "relpose", 7, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    if not pose[3:].any():  # as they are where the model stands
        return model.seen_from(first.link, second), second
    return first.within(pose[:3], rotation_of(tuple(pose[3:] / np.linalg.norm(pose[3:])))), second


def _coupling(draft: Draft, one: Element, model: Model) -> None:
    """A joint that follows another: q1 = r1 + a0 + a1 (q2 - r2)."""
    follower = draft.known(one, "joint1", model.joints, "joint")
    a = _polynomial(draft, one)
    if "joint2" not in one.attributes:
        draft.note(DROPPED, "equality joint", "a joint that is held where it is needs no coordinate", one)
        return
    if any(a[2:]):
        draft.note(DROPPED, "equality joint", "only a constant ratio can be held", one)
        return
    draft.used(one)
    leader = draft.known(one, "joint2", model.joints, "joint")
    r1, r2 = (model.references.get(name, 0.0) for name in (follower, leader))
    names = draft.joints.own
    entry: FileEntry = {"joint": names[follower], "to": names[leader], "ratio": a[1]}
    if offset := r1 + a[0] - a[1] * r2:
        entry["offset"] = offset
    draft.put("couplings", entry, one)
    if value := a[1] * draft.started(model.joints[leader]) + entry.get("offset", 0.0):
        draft.start(model.joints[follower], value)
    model.joints[follower].setdefault("actuated", False)


def _polynomial(draft: Draft, one: Element) -> tuple[float, ...]:
    """The five coefficients of a tie, those that aren't given being those of a line."""
    given = draft.numbers(one, "polycoef", 0, LINE)
    return (*given, *LINE[len(given) :])[:5]


def _pulled(draft: Draft, one: Element, model: Model, tendons: dict[str, Element]) -> None:
    """Two tendons whose lengths follow each other, or one of a fixed length: a joint that follows the others."""
    sums, constant = [], 0.0
    a = _polynomial(draft, one)
    for key, sign in (("tendon1", 1.0), ("tendon2", -a[1])):
        if key == "tendon2" and key not in one.attributes:
            continue
        tendon = tendons[draft.known(one, key, tendons, "tendon")]
        if tendon.tag != "fixed" or any(a[2:]):
            draft.note(DROPPED, "equality tendon", "only constant sums of joints can be held", one)
            return
        for joint in tendon.all("joint"):
            name = draft.known(joint, "joint", model.joints, "joint")
            sums.append((name, sign * draft.number(joint, "coef", 1.0)))
            constant += sums[-1][1] * model.references.get(name, 0.0)
    (first, share), *others = sums
    if not share or not others or len({name for name, _ in sums}) < len(sums):
        draft.note(DROPPED, "equality tendon", "no joint follows others by it", one)
        return
    draft.used(one)
    names = draft.joints.own
    entry: FileEntry = {"joint": names[first], "to": [names[name] for name, _ in others]}
    entry |= {"ratio": [-x / share for _, x in others], "offset": (constant + a[0]) / share}
    draft.put("couplings", entry, one)
    model.joints[first].setdefault("actuated", False)
