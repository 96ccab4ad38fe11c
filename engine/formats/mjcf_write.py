"""A robot as MJCF: bodies in each other with their joints and inertias, equalities, tendons, motors.

A body stands where the robot starts: `ref` of its joints says which coordinates these are, so that both programs count
from the same zeros.  MuJoCo's own names for things are in docs/formats.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import ModelError
from ..robot import Drive, Joint, Link, Placement, Robot, Shape, zxz_turns
from ..robot.read import HERE, rotation_of
from .mjcf_write_ties import CutParts, Ties, names_of_mjcf_joints
from .pieces import quaternion_of_rotation, urdf_number_text, urdf_numbers_text
from .report import CHANGED, DROPPED, Report

LEAST = 2e-15  # mass and moment of inertia of what moves, which MuJoCo wants to have some
SLACK = 1e-9  # by which a moment may be larger than the other two together, as a rounding error
ROUNDING = 1e-15  # by which two moments are made more than the third, as a share of it
SURE = 1e-6  # the same where MuJoCo finds the moments, less closely
DEEPEST = 20  # levels of indentation
PLAIN = {"turn": "hinge", "slide": "slide"}  # moves along one coordinate
MESHES = (".stl", ".obj", ".msh")


def write_mjcf(robot: Robot) -> tuple[str, Report]:
    """The text of the robot as MJCF, and a report of what it couldn't hold."""
    writer = _Writer(robot)
    ties = writer.ties
    bodies = list(writer.bodies())
    sections = {
        "asset": writer.assets,
        "worldbody": [*writer.sites("base"), *bodies, *writer.parts_on("base")],
        "equality": list(ties.equalities()),
        "tendon": ties.tendons,
        "actuator": list(ties.actuators()),
        "keyframe": writer.keyframe(),
    }
    ties.rest()
    lines = [
        f"<mujoco model={quoteattr(robot.name)}>",
        '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
        f'  <option gravity="{urdf_numbers_text(robot.gravity)}"/>',
    ]
    for tag, inside in sections.items():
        if inside:
            lines += [f"  <{tag}>", *(f"    {line}" for line in inside), f"  </{tag}>"]
    return "\n".join([*lines, "</mujoco>", ""]), writer.report


class Freedom(NamedTuple):
    """A joint of MuJoCo's: its name and type, its axis and place in the body, where it starts, and its drive."""

    name: str
    kind: str
    axis: np.ndarray
    at: np.ndarray
    start: float
    drive: Drive


class _Writer:
    """Writes the parts of a robot as lines, and notes what is lost."""

    def __init__(self, robot: Robot):
        self.robot, self.report = robot, Report(robot.name)
        self.turned = False  # whether a ball joint starts elsewhere than MuJoCo has it
        self.start: list[float] = []  # MuJoCo's coordinates
        self.assets: list[str] = []
        self.called = self._body_names()
        self.freedoms = {link.name: self._freedoms(link) for link in robot.links}
        self._ends: dict[str, list[str]] = {}  # sites at which ties and actuators act, by link
        self._shown: set[str] = set()
        self._meshes: dict[tuple[str, tuple[float, ...]], str] = {}
        self.parts = CutParts(robot, self._placed)
        self.ties = Ties(robot, self.report, self.parts, self.called)
        for link, name, placement in self.ties.sites():
            self._ends.setdefault(link, []).append(f"<site name={quoteattr(name)}{_frame(placement)}/>")

    def _body_names(self) -> dict[str, str]:
        """MuJoCo's names of the links, none of which is that of its world."""
        names = {link.name: link.name for link in self.robot.links}
        if "world" in names:
            own = "world_"
            while own in names:
                own += "_"
            names["world"] = own
            self.report.note(CHANGED, "link `world`", f"it is `{own}`, for MuJoCo's ground has this name")
        return names

    # ---- bodies

    def bodies(self) -> Iterator[str]:
        """The bodies, each with what is on it; without recursion, as chains may be long."""
        children: dict[str, list[Link]] = {}
        for one in self.robot.links:
            children.setdefault(one.parent, []).append(one)
        waiting: list[tuple[int, Link | None]] = [(0, one) for one in reversed(children.get("base", []))]
        while waiting:
            depth, link = waiting.pop()
            pad = "  " * min(depth, DEEPEST)
            if link is None:
                yield f"{pad}</body>"
                continue
            yield from (pad + line for line in self._body(link))
            waiting.append((depth, None))
            waiting += [(depth + 1, child) for child in reversed(children.get(link.name, []))]

    def _body(self, link: Link) -> Iterator[str]:
        """The lines of a body without its end."""
        pose = self._pose(link)
        yield f"<body name={quoteattr(self.called[link.name])}{_frame(pose)}{self._light(link.name)}>"
        for one in self.freedoms[link.name]:
            self.start += _start(one, link.joint, pose, self.robot.q0)
            yield f"  <joint {self._joint(one, link.joint)}/>"
        yield from (f"  {line}" for line in self._inertial(self.parts.left[link.name]))
        yield from (f"  {line}" for shape in link.shape if not shape.spare for line in self._geom(shape))
        yield from (f"  {line}" for line in self.sites(link.name))
        for name, at in link.points.items():
            self.report.note(CHANGED, "points", "they are sites, named by link and point")
            yield f'  <site name={quoteattr(f"{link.name}.{name}")} pos="{urdf_numbers_text(at)}"/>'
        yield from (f"  {line}" for line in self.parts_on(link.name))

    def parts_on(self, link: str) -> Iterator[str]:
        """The bodies on a link that are parts of others, where these are cut."""
        for part in self.parts.on(link):
            self.start += part.start
            yield f"<body name={quoteattr(part.name)}{_frame(part.placed)}{self._light(part.link.name, part.borne)}>"
            yield from (f"  {line}" for line in (*part.joints, *self._inertial(part.link), *self.sites(part.name)))
            yield "</body>"

    def sites(self, link: str) -> Iterable[str]:
        """The sites on a link at which ties and actuators act."""
        return self._ends.get(link, ())

    def _inertial(self, link: Link) -> Iterator[str]:
        """The inertia of a link, if it has any or needs some."""
        J = np.array(link.inertia)
        if link.joint.type.nv and link.mass < LEAST:
            self.report.note(CHANGED, "link without mass", f"MuJoCo wants {LEAST:g} kg of what moves")
        elif not link.mass and not J.any():
            return
        where = f'pos="{urdf_numbers_text(link.com)}" mass="{urdf_number_text(max(link.mass, LEAST))}"'
        own, axes = np.linalg.eigh(J)
        moments = np.maximum(own, max(LEAST, 2 * ROUNDING * own[2]))
        _, middle, most = moments
        moments[0] = max(moments[0], most - middle + ROUNDING * most)  # which the others need, to be those of a body
        if own[0] >= moments[0] and own[0] + middle - most > SURE * most:
            entries = J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            yield f'<inertial {where} fullinertia="{urdf_numbers_text(entries)}"/>'
            return
        if (moments - own).max() > max(2 * LEAST, SLACK * most):
            self.report.note(CHANGED, "inertia", "no body can have it, so its smallest moments are raised")
        turned = Placement(zxz_turns(axes * np.linalg.det(axes)))
        yield f'<inertial {where} diaginertia="{urdf_numbers_text(moments)}"{_turn(turned)}/>'

    def _geom(self, shape: Shape) -> Iterator[str]:
        """A body of a link's picture."""
        size: Sequence[float] = shape.size
        own = ""
        if shape.kind == "mesh":
            file = shape.file.removeprefix(HERE)
            if PurePosixPath(file).suffix.lower() not in MESHES or "://" in file:
                self.report.note(DROPPED, "mesh", f"MuJoCo reads {', '.join(MESHES)} by paths alone")
                return
            own = f" mesh={quoteattr(self._mesh(file, shape.size))}"
        else:
            size = [x / 2 for x in size] if shape.kind == "box" else [size[0], *(x / 2 for x in size[1:])]
            own = f' size="{urdf_numbers_text(size)}"'
        if shape.name and shape.name not in self._shown:
            self._shown.add(shape.name)
            own = f" name={quoteattr(shape.name)}{own}"
        if shape.colour:
            own += f' rgba="{urdf_numbers_text(shape.colour)}"'
        yield f'<geom type="{shape.kind}"{own}{_frame(shape.at)} contype="0" conaffinity="0" group="2"/>'

    def _mesh(self, file: str, size: tuple[float, ...]) -> str:
        """The name of a mesh among the assets."""
        if (file, size) not in self._meshes:
            self._meshes[file, size] = name = f"mesh{len(self._meshes) + 1}"
            scale = "" if size == (1.0, 1.0, 1.0) else f' scale="{urdf_numbers_text(size)}"'
            self.assets.append(f"<mesh name={quoteattr(name)} file={quoteattr(file)}{scale}/>")
        return self._meshes[file, size]

    # ---- joints

    def _freedoms(self, link: Link) -> list[Freedom]:
        """The joints of MuJoCo's for one of denoc's, the outermost first."""
        joint, result = link.joint, []
        _, seat = self.robot.parts.seats[link.name]
        if joint.type.orientation is not None:
            return self._turning(link)
        rest, names = seat, dict(names_of_mjcf_joints(joint))
        for what, axis, place in reversed(_moves(joint)):
            if what not in PLAIN:
                raise ModelError(f"MJCF has no {joint.type.name} joint, as `{joint.name}` is")
            start, back = self.robot.q0[joint.coordinates[place]], rest.inverse()
            own = back.rotation()[:, axis], np.array(back.origin), start, joint.drives[place]
            result.append(Freedom(names[joint.coordinates[place]], PLAIN[what], *own))
            rest = _moved(what, axis, start).then(rest)
        if len(result) > 1:
            self.report.note(CHANGED, f"{joint.type.name} joint", "it is several joints of one body")
        result.reverse()
        return result

    def _turning(self, link: Link) -> list[Freedom]:
        """The joints for a spherical or a free one; only the world has free ones."""
        joint, none = link.joint, np.zeros(3)
        kind = "ball" if joint.type.nv == 3 else "free"
        stiff = next((drive for drive in joint.drives if drive.stiffness), None)
        q = [self.robot.q0[k] for k in joint.coordinates]
        relaxed = [*(x for d in joint.drives[:1] if d.pose for x in d.pose.rest if kind == "free")]
        relaxed += [x for d in joint.drives[-1:] if d.pose for x in d.pose.rest]
        if stiff is not None and relaxed != (q if kind == "free" else [1.0, 0.0, 0.0, 0.0]):
            self.report.note(DROPPED, "spring", f"MuJoCo's of a {kind} joint is relaxed where the model starts")
            joint = replace(joint, drives=tuple(replace(drive, stiffness=0.0) for drive in joint.drives))
        if kind == "ball" and q != [1.0, 0.0, 0.0, 0.0]:
            self.report.note(DROPPED, "initial position", "a ball joint starts unturned; it is in the keyframe `start`")
            self.turned = True
        if kind == "free" and link.parent != "base":
            raise ModelError(f"in MJCF only bodies of the world are free, not that of `{joint.name}`")
        if kind == "free" and not np.array_equal(link.before.matrix(), np.eye(4)):
            self.report.note(CHANGED, "free joint", "its coordinates are those in the world")
        if kind == "free" and joint.drives[0].rotor:
            self.report.note(CHANGED, "rotor inertia", "of a free joint it doesn't turn with the link in MuJoCo")
        return [Freedom(joint.name, kind, none, none, 0.0, joint.drives[0])]

    def _pose(self, link: Link) -> Placement:
        """Where the body starts in its parent."""
        _, seat = self.robot.parts.seats[link.name]
        joint, rest = link.joint, seat
        if joint.type.nv == 6:
            x, y, z, *e = (self.robot.q0[k] for k in joint.coordinates)
            rest = Placement(zxz_turns(rotation_of(tuple(e))), (x, y, z)).then(seat)
        elif joint.type.orientation is None:
            for what, axis, place in reversed(_moves(joint)):
                rest = _moved(what, axis, self.robot.q0[joint.coordinates[place]]).then(rest)
        return link.before.then(rest)

    def _light(self, link: str, borne: bool = True) -> str:
        """The attribute of a body whose weight is borne, by a share."""
        share = self.ties.weightless.get(link, 0.0) if borne else 0.0
        return f' gravcomp="{urdf_number_text(share)}"' if share else ""

    def _placed(self, name: str) -> Placement:
        """Where a link starts in the world."""
        chain, at = [], Placement()
        while name != "base":
            chain.append(self.robot.link(name))
            name = chain[-1].parent
        for link in reversed(chain):
            at = at.then(self._pose(link))
        return at

    def _joint(self, one: Freedom, joint: Joint) -> str:
        """The attributes of a joint."""
        words = [f'name={quoteattr(one.name)} type="{one.kind}"']
        simple = one.kind in PLAIN.values()
        if simple:
            words.append(f'axis="{urdf_numbers_text(one.axis)}"')
        if simple and one.kind == "hinge" and one.at.any():
            words.append(f'pos="{urdf_numbers_text(one.at)}"')
        drive = one.drive
        values = {"damping": drive.viscous, "frictionloss": drive.coulomb, "armature": drive.rotor}
        values |= {"stiffness": drive.stiffness, "springref": drive.rest if simple and drive.stiffness else 0.0}
        values["ref"] = one.start
        words += [f'{key}="{urdf_number_text(x)}"' for key, x in values.items() if x]
        if joint.limits is not None and simple:
            words.append(f'range="{urdf_numbers_text(joint.limits)}"')
        if math.isfinite(joint.largest_speed):
            self.report.note(DROPPED, "velocity limit", "MJCF has none")
        return " ".join(words)

    def keyframe(self) -> list[str]:
        """The position in which the robot starts, where MuJoCo wouldn't start there by itself."""
        return [f'<key name="start" qpos="{urdf_numbers_text(self.start)}"/>'] if self.turned else []


def _moves(joint: Joint) -> list[tuple[str, int, int]]:
    """The moves of a joint as (what, axis, coordinate), in an order in which they may be done, outermost first."""
    moves, first = [], 0
    for part in joint.type.parts:
        moves += [(what, axis, first + place) for what, axis, place in part.moves]
        first += part.coordinates
    # a slide along the axis of a turn can be on either side of it
    return sorted(moves, key=lambda move: move[2])


def _moved(what: str, axis: int, by: float) -> Placement:
    """The placement by a move."""
    if what == "turn":
        return Placement().turn(axis, by)
    return Placement().shift(*(by * (k == axis) for k in range(3)))


def _start(one: Freedom, joint: Joint, pose: Placement, q0: Sequence[float]) -> Iterable[float]:
    """MuJoCo's coordinates of a joint where the robot starts."""
    if one.kind == "free":
        return *pose.origin, *quaternion_of_rotation(pose.rotation())
    return [q0[k] for k in joint.coordinates] if one.kind == "ball" else [one.start]


def _frame(placement: Placement) -> str:
    """The attributes of a place and a turn, each only where there is one."""
    pos = f' pos="{urdf_numbers_text(placement.origin)}"' if any(placement.origin) else ""
    return pos + _turn(placement)


def _turn(placement: Placement) -> str:
    e = quaternion_of_rotation(placement.rotation())
    return f' quat="{urdf_numbers_text(e)}"' if any(e[1:]) else ""
