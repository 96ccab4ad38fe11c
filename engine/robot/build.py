"""The making of a `Robot` from a file's data: names, parents, placements, inertias, and the bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import did_you_mean
from ..text.checking import checked
from ..text.document import Document
from ..text.units import DIMENSIONS
from . import plausible, unused
from .bodies import ReadLink, components, scalar, tree, triple, triples
from .closing import Closing, effort_of
from .conventions import frames_of, initial_of
from .doubles import with_doubles
from .graph import as_tree, with_point
from .inertia import inertial
from .joints import FORMS, RATE_OF, TYPES, JointType
from .model import ZERO, Drive, Joint, Link, Robot, Three, Wrench
from .orientation import oriented
from .placement import Placement, number
from .repeat import expanded
from .schema import GraphJoint, JointEntry, LinkEntry, RobotFile, with_conventions
from .shapes import shape_of
from .values import Complain, fits, joint_coordinates


@dataclass(frozen=True)
class Draft:
    """A robot's file, checked, with its links as they are read: in the file's order, and parents first in `order`."""

    document: Document
    file: RobotFile
    links: tuple[ReadLink, ...]
    order: tuple[int, ...]
    notes: tuple[str, ...]
    complain: Callable[..., Complain]

    @property
    def direct(self) -> bool:
        """Whether the document's entries under `links` are the links: none is repeated, made of `joints`, a double."""
        data = self.document.data
        plain = "joints" not in data and not any("repeat" in entry for entry in data["links"])
        return plain and len(data["links"]) == len(self.links)  # no doubles

    @property
    def ordered(self) -> list[ReadLink]:
        return [self.links[k] for k in self.order]


def build(document: Document) -> Robot:
    """The robot that the document describes."""
    draft = drafted(document)
    file, complain, links = draft.file, draft.complain, draft.links
    length = plausible.longest(links)
    warnings = [*document.warnings]
    warnings += [text for k in draft.order for text in _warnings(links[k], length, complain("links", k))]
    warnings += [*plausible.doubts(file, links, complain), *unused.doubts(file, links, complain)]
    return made(draft, document, tuple(warnings))


def made(draft: Draft, document: Document, warnings: tuple[str, ...] = ()) -> Robot:
    """The robot of a draft, whose numbers may be symbols."""
    file, complain, links = draft.file, draft.complain, draft.links
    q0 = [x for r in links for x in r.link.joint.initial]
    closing = Closing(file, [r.link for r in links], complain)
    return Robot(
        name=file.name,
        about=file.about,
        gravity=triple(file.gravity),
        links=tuple(r.link for r in links),
        tree=tree(draft.ordered, merge=True),
        parts=tree(draft.ordered, merge=False),
        q0=tuple(closing.assembly(q0)),
        nv=sum(r.link.joint.type.nv for r in links),
        wrenches=_wrenches(file, complain),
        loops=closing.loops(),
        couplings=closing.couplings(),
        actuators=closing.actuators(),
        notes=draft.notes,
        warnings=warnings,
        document=document,
    )


def drafted(document: Document) -> Draft:
    """The draft of the robot that the document describes."""
    data, where = expanded(document)
    if isinstance(data, dict) and "links" not in data and "task" in data:
        raise document.error(("task",), "this is a scenario, not a robot", key=True, hint="`denoc run` runs it")
    data, where, notes = as_tree(document, data, where)
    data, where = with_doubles(
        data if notes is not None else with_conventions(data),
        where,
        lambda link, frame, path: with_point(document, data["links"], link, frame, where(path)),
    )
    file = checked(RobotFile, document, data, where)

    def complain(*path: Any) -> Complain:
        return lambda *inner, **parts: document.error(where((*path, *inner[:-1])), inner[-1], **parts)

    return reread(Draft(document, file, (), (), notes or (), complain), file)


def reread(draft: Draft, file: RobotFile) -> Draft:
    """The draft with links that are read from another file of its kind, whose numbers may be symbols."""
    complain = draft.complain
    parents = _parents(file.links, complain)
    order = _parents_first(file.links, parents, complain)
    read: dict[int, ReadLink] = {}
    places = _numbered(file.links, complain)
    by_name = {entry.name: k for k, entry in enumerate(file.links)}
    for k in order:
        above = read[by_name[parents[k]]] if parents[k] != "base" else None
        previous = file.links[by_name[parents[k]]] if above else None
        chained = previous is None or _convention(file, previous) == "dh"
        start = above.link.end if above and chained and _convention(file, file.links[k]) == "dh" else Placement()
        one = complain("links", k)
        with np.errstate(all="ignore"):  # numbers too large to compute with are refused below
            actuated = _actuated(file, file.links[k], k)
            read[k] = _link(
                file.links[k], _convention(file, file.links[k]), k, parents[k], start, places[k], actuated, one
            )
    links = tuple(read[k] for k in range(len(file.links)))
    return replace(draft, file=file, links=links, order=tuple(order))


def _convention(file: RobotFile, entry: LinkEntry) -> str:
    return entry.convention or file.convention


# ---- names and the tree's order


def _parents(links: list[LinkEntry], complain: Callable[..., Complain]) -> list[str]:
    """The name of each link's parent; names that are taken or unknown are refused."""
    names = [link.name for link in links]
    joints: dict[str, str] = {}
    for k, link in enumerate(links):
        if link.name == "base" or names.index(link.name) < k:
            what = "`base` is the ground" if link.name == "base" else f"link {names.index(link.name) + 1} has it too"
            ground = "leave it out where it stands for the ground (its children have `parent: base`), or rename it"
            raise complain("links", k)(
                "name",
                f"the name `{link.name}` is taken: {what}",
                allowed="a name of its own; in what is repeated `{k}` stands for the count, as in link{k}",
                hint=ground if link.name == "base" else "",
            )
        joint = link.joint.name or f"joint{k + 1}"
        if joint == "all":
            raise complain("links", k)(
                "joint", "name", "the name `all` is taken: in scenarios it means every joint", allowed="another name"
            )
        if joint in joints:
            raise complain("links", k)(
                "joint",
                "name",
                f"the name `{joint}` is taken by the joint of `{joints[joint]}`",
                allowed="a name of its own (joints without a name are called joint1, joint2, … in the file's order)",
            )
        joints[joint] = link.name
    parents = []
    for k, link in enumerate(links):
        parent = link.parent or (names[k - 1] if k else "base")
        if parent not in names and parent != "base":
            raise complain("links", k)(
                "parent",
                "no such link",
                found=f"`{parent}`",
                allowed=f"base, {', '.join(n for n in names[:40] if n != link.name)}",
                hint=did_you_mean(parent, names),
            )
        parents.append(parent)
    return parents


def _parents_first(links: list[LinkEntry], parents: list[str], complain: Callable[..., Complain]) -> list[int]:
    """The places of the links, every parent before its children, otherwise in the file's order."""
    children: dict[str, list[int]] = {}
    for k, parent in enumerate(parents):
        children.setdefault(parent, []).append(k)
    names = [link.name for link in links]
    if all(p == "base" or names.index(p) < k for k, p in enumerate(parents)):
        return list(range(len(links)))
    order, stack = [], list(reversed(children.get("base", [])))
    while stack:
        k = stack.pop()
        order.append(k)
        stack += reversed(children.get(names[k], []))
    if len(order) < len(links):
        circle = _circle(min(set(range(len(links))) - set(order)), names, parents)
        at = min(circle, key=lambda k: (links[k].parent is None, k))  # where a parent is named
        turn = circle.index(at)
        around = [names[k] for k in (*circle[turn:], *circle[:turn], at)]
        raise complain("links", at)(
            "parent",
            "the parents go round in a circle",
            found=" → ".join(around if len(around) < 12 else [*around[:10], "…", around[-1]]),
            allowed="a tree that hangs on `base`",
        )
    return order


def _circle(k: int, names: list[str], parents: list[str]) -> list[int]:
    """The links of the circle that the ancestors of link k run into, each before its parent."""
    places = {name: k for k, name in enumerate(names)}
    seen: list[int] = []
    while k not in seen:
        seen.append(k)
        k = places[parents[k]]
    return seen[seen.index(k) :]


def _numbered(links: list[LinkEntry], complain: Callable[..., Complain]) -> list[tuple[int, int]]:
    """For each link in the file's order, the first places of its joint in q and qd."""
    places, nq, nv = [], 0, 0
    for k, link in enumerate(links):
        row = _type(link, complain("links", k))
        places.append((nq, nv))
        nq, nv = nq + row.nq, nv + row.nv
    return places


def _type(entry: LinkEntry, complain: Complain) -> JointType:
    if entry.joint.as_ is None:
        return TYPES[entry.joint.type]
    form = FORMS[entry.joint.as_]
    if entry.joint.type != form.form_of:
        raise complain("joint", "as", f"only a {form.form_of} joint has this form", found=f"type: {entry.joint.type}")
    return form


# ---- one link


def _actuated(file: RobotFile, entry: LinkEntry, k: int) -> bool:
    """Whether the joint has an actuator; in a mechanism, only if the file says so."""
    joint = entry.joint
    if joint.actuated is not None:
        return joint.actuated
    name = joint.name or f"joint{k + 1}"
    if file.loops or isinstance(joint, GraphJoint) or any(name == coupling.joint for coupling in file.couplings):
        return False
    return TYPES[joint.type].nv == 1 and joint.spring is None


def _link(
    entry: LinkEntry,
    convention: str,
    k: int,
    parent: str,
    start: Placement,
    place: tuple[int, int],
    actuated: bool,
    complain: Complain,
) -> ReadLink:
    """One link with its joint, placements and inertia, read from its entry."""
    row = _type(entry, complain)
    before, pointing, end = frames_of(entry.joint, row, complain)
    offset = entry.offset
    if offset:
        start = start.then(oriented(offset.xyz, offset, ("offset",), complain))
    joint = Joint(
        name=entry.joint.name or f"joint{k + 1}",
        type=row,
        link=entry.name,
        coordinates=tuple(range(place[0], place[0] + row.nq)),
        speeds=tuple(range(place[1], place[1] + row.nv)),
        actuated=actuated,
        drives=_drives(entry, row, place[0], complain),
        limits=_limits(entry, row, complain),
        largest_speed=_largest_speed(entry, row, complain),
        initial=_initial(entry, row, complain),
        hooke=_hooke(entry, row, complain),
        effort=effort_of(entry.joint.effort, set(row.turning), ("joint", "effort"), complain),
    )
    if joint.actuated and not row.nv:
        raise complain("joint", "actuated", "a fixed joint can't be actuated", found="true", allowed="false")
    mass, com, inertia, G = _inertia(entry, row, convention, end, complain)
    points = {name: triple(at) for name, at in entry.points.items()}
    before = start.then(before)
    shape = tuple(shape_of(one, k, complain) for k, one in enumerate(entry.shape))
    link = Link(entry.name, parent, joint, mass, com, inertia, end, points, before.then(pointing), shape)
    return ReadLink(link, before, pointing, _pitch(entry, complain), G)


def _hooke(entry: LinkEntry, row: JointType, complain: Complain) -> bool:
    if entry.joint.spin == "hooke" and row.name != "spherical":
        raise complain("joint", "spin", "only a spherical joint has an idle spin", found=f"type: {row.name}", key=True)
    return entry.joint.spin == "hooke"


def _pitch(entry: LinkEntry, complain: Complain) -> float:
    """The pitch of a helical joint, 0 of any other."""
    pitch = entry.joint.pitch
    if entry.joint.type != "helical":
        if pitch is not None:
            raise complain(
                "joint", "pitch", "only a helical joint has a pitch", found=f"type: {entry.joint.type}", key=True
            )
        return 0.0
    if pitch is None:
        raise complain("joint", "`pitch` is missing: a helical joint needs it", allowed=DIMENSIONS["pitch"][1])
    if not pitch:
        raise complain(
            "joint", "pitch", "a helical joint can't have a pitch of 0", hint="without a pitch it is a revolute joint"
        )
    return number(pitch)


def _drives(entry: LinkEntry, row: JointType, q: int, complain: Complain) -> tuple[Drive, ...]:
    """The drive of each speed of a joint: rotor, friction, damping and spring."""
    joint = entry.joint
    friction, spring = joint.friction, joint.spring
    coulomb = friction.coulomb if friction else 0.0
    kinds = (
        (("friction",), friction, False),
        (("rotor_inertia",), joint.rotor_inertia, False),
        (("spring",), spring, True),
    )
    for key, value, plain in (*kinds, (("friction", "coulomb"), coulomb, True)):
        if value and (not row.nv or (plain and row.orientation is not None)):
            raise complain(
                "joint",
                *key,
                f"a {joint.type} joint can't have this",
                allowed="on joints whose coordinates are angles or lengths",
            )
    for turning in sorted(set(row.turning)):
        what = "turn" if turning else "slide"
        fits(joint.rotor_inertia, f"{what} rotor", ("joint", "rotor_inertia"), complain)
        if friction:
            fits(friction.coulomb, "moment" if turning else "force", ("joint", "friction", "coulomb"), complain)
            fits(friction.viscous, f"{what} damping", ("joint", "friction", "viscous"), complain)
        if spring:
            fits(spring.rest, "angle" if turning else "length", ("joint", "spring", "rest"), complain)
            fits(spring.stiffness, f"{what} stiffness", ("joint", "spring", "stiffness"), complain)
            fits(spring.damping, f"{what} damping", ("joint", "spring", "damping"), complain)
    return drives(joint, row, q)


def drives(joint: JointEntry, row: JointType, q: int) -> tuple[Drive, ...]:
    """The drives of a joint whose first coordinate is q; its numbers may be arrays."""
    friction, spring = joint.friction, joint.spring
    return tuple(
        Drive(
            rotor=scalar(joint.rotor_inertia),
            viscous=scalar((friction.viscous if friction else 0.0) + (spring.damping if spring else 0.0)),
            coulomb=scalar(friction.coulomb) if friction else 0.0,
            stiffness=scalar(spring.stiffness) if spring else 0.0,
            rest=scalar(spring.rest) if spring else 0.0,
            coordinate=q + k if row.orientation is None else -1,
        )
        for k in range(row.nv)
    )


def _limits(entry: LinkEntry, row: JointType, complain: Complain) -> tuple[float, float] | None:
    """The limits of a joint's position, if it has any."""
    if entry.joint.limits is None:
        return None
    if row.nv != 1:
        raise complain("joint", "limits", f"a {entry.joint.type} joint can't have limits", allowed="1-DOF joints")
    limits, key = entry.joint.range, ("joint", *entry.joint.range_key)
    if limits is None:
        return None
    for k in (0, 1):
        fits(limits[k], row.kinds[0], (*key, k), complain)
    if not limits[0] < limits[1]:
        raise complain(
            *key,
            "the low limit must be below the high one",
            found=f"{limits[0]:g}, {limits[1]:g}",
            allowed="[low, high]",
            hint=f"write [{limits[1]:g}, {limits[0]:g}]"
            if limits[1] < limits[0]
            else "a joint that keeps still is `type: fixed`; without `limits` it is free to move",
        )
    return (float(limits[0]), float(limits[1]))


def _largest_speed(entry: LinkEntry, row: JointType, complain: Complain) -> float:
    """The largest speed of a joint to either side; infinite where the file gives none."""
    speed = entry.joint.largest_speed
    if speed is None:
        return math.inf
    fits(speed, RATE_OF[row.kinds[0]], ("joint", "limits", "velocity"), complain)
    return float(speed)


def _initial(entry: LinkEntry, row: JointType, complain: Complain) -> tuple[float, ...]:
    """The initial coordinates of the link's joint."""
    values, key = initial_of(entry.joint, row, complain)
    return row.start if values is None else joint_coordinates(values, key, row, complain)


# ---- mass and inertia


def _inertia(
    entry: LinkEntry, row: JointType, convention: str, end: Placement, complain: Complain
) -> tuple[float, Three, tuple[Three, Three, Three], np.ndarray]:
    """The mass, mass centre and inertia about it in link axes, and the pseudo-inertia about the link's origin."""
    given = [key for key in ("com", "r", "first_moments") if getattr(entry, key) is not None]
    if len(given) > 1:
        raise complain(
            given[1],
            f"the mass centre is given twice: by `{given[0]}` and by `{given[1]}`",
            key=True,
            allowed="one of `com`, `first_moments` and, with `dh`, `r`",
        )
    if entry.mass is None:
        if row.nv or given or entry.inertia:
            raise complain("`mass` is missing", allowed="a mass in kg; 0 for a link without any")
        return 0.0, ZERO, (ZERO, ZERO, ZERO), np.zeros((4, 4))
    m = number(entry.mass)
    if entry.com_from is not None and entry.com is None:
        raise complain("com_from", "there is no `com` that it belongs to", key=True, allowed="`com` beside it")
    ends = (("r", entry.r), ("frame", entry.frame == "end" or None), ("com_from", entry.com_from == "end" or None))
    for key, value in ends:
        if value is not None and convention != "dh":
            raise complain(
                key,
                f"only the convention `dh` has an end frame; here it is `{convention}`",
                key=True,
                allowed="`com` or `first_moments`" if key == "r" else "link",
            )
    if not given and m:
        raise complain("the mass centre is missing", allowed="`com`, `first_moments`, or, with `dh`, `r`")

    if entry.first_moments is not None and not m and any(entry.first_moments):
        moments = [float(x) for x in entry.first_moments]
        raise complain(
            "first_moments", "a link without mass has no first moments", found=str(moments), allowed="[0, 0, 0]"
        )
    com, about_com, G = inertial(entry, end)
    if G.dtype != object and not (np.isfinite(G).all() and np.isfinite(about_com).all()):
        raise complain("mass, mass centre and inertia together are too large to compute with", found=f"mass {m:g}")
    return m, components(com), triples(about_com), G


def _warnings(read: ReadLink, length: float, complain: Complain) -> list[str]:
    """Warnings about an inertia that no body can have, and an initial position outside the limits."""
    link, warnings = read.link, []
    moments = np.linalg.eigvalsh(np.array(link.inertia))
    slack = max(1e-9 * abs(moments).max(), plausible.ROUNDING * link.mass * length * length, 1e-300)
    a, b, c = (float(x) for x in moments)
    if a < -slack or a + b < c - slack:
        rule = "a moment is negative" if a < -slack else f"{a:.6g} + {b:.6g} < {c:.6g}"
        warnings.append(str(complain("inertia", f"no body can have this inertia about its mass centre: {rule}")))
    elif not link.mass and abs(moments).max() > 0:
        warnings.append(str(complain("inertia", "a link without mass has an inertia")))
    limits = link.joint.limits
    if limits and not limits[0] <= link.joint.initial[0] <= limits[1]:
        warnings.append(str(complain("joint", "limits", f"the initial position {link.joint.initial[0]:g} is outside")))
    return warnings


# ---- wrenches


def _wrenches(file: RobotFile, complain: Callable[..., Complain]) -> tuple[Wrench, ...]:
    wrenches, links = [], [entry.name for entry in file.links]
    for k, entry in enumerate(file.wrenches):
        if entry.link not in links:
            raise complain("wrenches", k)(
                "link",
                "no such link",
                found=f"`{entry.link}`",
                allowed=", ".join(links),
                hint=did_you_mean(entry.link, links),
            )
        six = (*triple(entry.moment), *triple(entry.force))
        wrenches.append(Wrench(entry.link, six, triple(entry.at), entry.axes))
    return tuple(wrenches)
