"""The making of a `Robot` from a file's data: names, parents, placements, inertias, and the bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import allowed_names
from ...text import Document, fixed_data
from ...text.expressions import DIMENSIONS
from ...text.fields import checked_document_model
from ..joints import FORMS, TYPES, JointType
from ..model import ZERO, Joint, Link, Robot, Three, Wrench
from ..placement import Placement, placement_number
from . import plausible
from .beyond_tree import Closing, effort_limits_of_actuator
from .bodies import (
    ReadLink,
    components_of_robot_vector,
    inertia_of_link,
    robot_number_triple,
    rows_of_robot_matrix,
    tree_of_links,
)
from .conventions import frames_of_joint, initial_coordinates_of_joint
from .drives import drives_of_joint, joint_with_cords, largest_speed_of_joint, limits_of_joint
from .graph import (
    frame_with_link_point,
    links_parents_first,
    parents_of_links,
    robot_data_with_doubles,
    robot_graph_as_tree,
)
from .orientation import oriented_placement
from .repeat import expanded_robot_repetitions
from .schema import GraphJoint, LinkEntry, RobotFile, joints_with_conventions
from .shapes import shape_of_link_entry
from .values import Complain, joint_coordinates


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

    @classmethod
    def of(cls, document: Document) -> Draft:
        """The draft of the robot that the document describes."""
        data, where = expanded_robot_repetitions(document)
        if isinstance(data, dict) and "links" not in data and "task" in data:
            raise document.error(("task",), "this is a scenario, not a robot", key=True, hint="`denoc run` runs it")
        data, where, notes = robot_graph_as_tree(document, data, where)
        data, where = robot_data_with_doubles(
            data if notes is not None else joints_with_conventions(data),
            where,
            lambda link, frame, path: frame_with_link_point(document, data["links"], link, frame, where(path)),
        )
        file = checked_document_model(RobotFile, document, data, where)

        def complain(*path: Any) -> Complain:
            return lambda *inner, **parts: document.error(where((*path, *inner[:-1])), inner[-1], **parts)

        return cls(document, file, (), (), notes or (), complain).reread(file)

    def reread(self, file: RobotFile) -> Draft:
        """The draft with links that are read from another file of its kind, whose numbers may be symbols."""
        complain = self.complain
        parents = parents_of_links(file.links, complain)
        order = links_parents_first(file.links, parents, complain)
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
        return replace(self, file=file, links=links, order=tuple(order))

    def robot(self, warnings: tuple[str, ...] = ()) -> Robot:
        """The robot of the draft, whose numbers may be symbols."""
        file, complain, links = self.file, self.complain, self.links
        q0 = [x for r in links for x in r.link.joint.initial]
        closing = Closing(file, [r.link for r in links], complain)
        loops, couplings = closing.loops(), closing.couplings()
        actuators, springs = closing.actuators(), closing.springs()
        if cords := [cord for _, cord in springs]:
            joints = (joint_with_cords(r.link.joint, cords) for r in links)
            links = tuple(replace(r, link=replace(r.link, joint=joint)) for r, joint in zip(links, joints))
        ordered = replace(self, links=links).ordered
        return Robot(
            name=file.name,
            about=file.about,
            gravity=robot_number_triple(file.gravity),
            links=tuple(r.link for r in links),
            tree=tree_of_links(ordered, merge=True),
            parts=tree_of_links(ordered, merge=False),
            q0=tuple(closing.assembly(q0)),
            nv=sum(r.link.joint.type.nv for r in links),
            wrenches=_wrenches(file, complain),
            loops=loops,
            couplings=couplings,
            actuators=actuators,
            springs=springs,
            notes=self.notes,
            warnings=warnings,
            document=replace(self.document, data=fixed_data(self.document.data)),
            vouched=True,
        )


def build_robot(document: Document) -> Robot:
    """The robot that the document describes."""
    draft = Draft.of(document)
    file, complain, links = draft.file, draft.complain, draft.links
    length = plausible.longest_distance_in_robot(links)
    warnings = [*document.warnings]
    warnings += [text for k in draft.order for text in _warnings(links[k], length, complain("links", k))]
    warnings += [
        *plausible.doubts_about_robot_numbers(file, links, complain),
        *plausible.doubts_about_unused_robot_keys(file, links, complain),
    ]
    with np.errstate(all="ignore"):
        robot = draft.robot(tuple(warnings))
    _check_sizes(robot, complain)
    return robot


def _check_sizes(robot: Robot, complain: Callable[..., Complain]) -> None:
    """Refuses masses and lengths of a link whose products, on the body that carries it, no computer's number can be."""
    for tree in (robot.tree, robot.parts):
        numbers = [(*body.origin, *body.E[0], *body.E[1], *body.E[2], *body.h, body.m) for body in tree.bodies]
        bad = np.flatnonzero(~np.isfinite(np.array(numbers, dtype=float).reshape(-1, 16)).all(axis=1))
        for k, link in enumerate(robot.links if len(bad) else ()):
            if tree.seats[link.name][0] in bad:
                raise complain("links", k)("masses and lengths together are too large to compute with")


def _convention(file: RobotFile, entry: LinkEntry) -> str:
    return entry.convention or file.convention


# ---- names and the tree's order


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
    if any(name in actuator.joints for actuator in file.actuators):
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
    before, pointing, end = frames_of_joint(entry.joint, row, complain)
    offset = entry.offset
    if offset:
        start = start.then(oriented_placement(offset.xyz, offset, ("offset",), complain))
    drives = drives_of_joint(entry, row, place[0], complain)
    limits, speed = limits_of_joint(entry, row, complain), largest_speed_of_joint(entry, row, complain)
    values, key = initial_coordinates_of_joint(entry.joint, row, complain)
    initial = row.start if values is None else joint_coordinates(values, key, row, complain)
    if entry.joint.spin == "hooke" and row.name != "spherical":
        raise complain("joint", "spin", "only a spherical joint has an idle spin", found=f"type: {row.name}", key=True)
    joint = Joint(
        name=entry.joint.name or f"joint{k + 1}",
        type=row,
        link=entry.name,
        coordinates=tuple(range(place[0], place[0] + row.nq)),
        speeds=tuple(range(place[1], place[1] + row.nv)),
        actuated=actuated,
        drives=drives,
        limits=limits,
        largest_speed=speed,
        initial=initial,
        placed=key[-1] if values is not None and row.nv else "",
        hooke=entry.joint.spin == "hooke",
        effort=effort_limits_of_actuator(entry.joint.effort, set(row.turning), ("joint", "effort"), complain),
    )
    if joint.actuated and not row.nv:
        raise complain("joint", "actuated", "a fixed joint can't be actuated", found="true", allowed="false")
    mass, com, inertia, G = _inertia(entry, row, convention, end, complain)
    points = fixed_data({name: robot_number_triple(at) for name, at in entry.points.items()})
    before = start.then(before)
    shape = tuple(shape_of_link_entry(one, k, complain) for k, one in enumerate(entry.shape))
    link = Link(entry.name, parent, joint, mass, com, inertia, end, points, before.then(pointing), shape)
    return ReadLink(link, before, pointing, _pitch(entry, complain), G)


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
    return placement_number(pitch)


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
    m = placement_number(entry.mass)
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
    com, about_com, G = inertia_of_link(entry, end)
    if G.dtype != object and not (np.isfinite(G).all() and np.isfinite(about_com).all()):
        raise complain("mass, mass centre and inertia together are too large to compute with", found=f"mass {m:g}")
    return m, components_of_robot_vector(com), rows_of_robot_matrix(about_com), G


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
            error = complain("wrenches", k)
            raise error("link", "no such link", found=f"`{entry.link}`", **allowed_names(entry.link, links))
        six = (*robot_number_triple(entry.moment), *robot_number_triple(entry.force))
        wrenches.append(Wrench(entry.link, six, robot_number_triple(entry.at), entry.axes))
    return tuple(wrenches)
