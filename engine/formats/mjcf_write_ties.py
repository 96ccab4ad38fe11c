"""What ties and moves a robot's bodies, as MJCF: equalities, tendons, motors, and the sites at which they act."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import quoteattr

import numpy as np

from ..robot import Actuator, Coupling, Effort, Joint, Loop, Placement, Robot, Wrench
from .mjcf_tendons import BY_ITSELF
from .mjcf_write_cuts import ROUNDING, SLIDES, UNIVERSAL, WITH_PARTS, CutParts, cut_of_part
from .pieces import urdf_number_text, urdf_numbers_text
from .report import CHANGED, DROPPED, Report

SIDES = ("first", "second")
ARM = 0.1  # m, between the two points of an axis that coincide


class Ties:
    """Writes ties, springs over joints and actuators as lines, and notes what is lost; tendons serve all of them."""

    def __init__(self, robot: Robot, report: Report, parts: CutParts, called: Mapping[str, str]):
        self.robot, self.report, self.parts, self.called = robot, report, parts, called
        self.names = {k: name for joint in robot.moving for k, name in names_of_mjcf_joints(joint)}  # by the place in q
        self.tendons: list[str] = []
        self.weightless = {one.link: share for one in robot.wrenches if (share := _share_of_weight(robot, one))}
        self._springs()

    def sites(self) -> Iterator[tuple[str, str, Placement]]:
        """The sites at which actuators and cuts act: their links, names and frames."""
        for one in self.robot.actuators:
            if one.on_link:
                yield one.link, one.name, Placement(origin=one.at)
                if one.axes == "base":
                    yield "base", f"{one.name}.axes", Placement()
        for loop in self.robot.loops:
            yield from self._points(loop)

    def _points(self, loop: Loop) -> Iterator[tuple[str, str, Placement]]:
        """The sites of a cut: their links, names and frames."""
        kind = cut_of_part(loop)
        for link, side, frame in zip(loop.between, SIDES, (loop.first, loop.second)):
            if side == "first" and loop.type.name in SLIDES:  # where the part is, which has its own
                frame = Placement()
                link = self.parts.names[loop.name]
            if kind in ("spherical", "fixed", "revolute"):
                yield link, f"{loop.name}.{side}", frame
            if kind == "revolute":
                yield link, f"{loop.name}.{side}.axis", frame.shift(0.0, 0.0, ARM)

    def equalities(self) -> Iterator[str]:
        """The cuts of loops, then couplings."""
        for loop in self.robot.loops:
            kind = cut_of_part(loop)
            if loop.type.name in WITH_PARTS:
                why = "a part of its second link is a body on the first one, which is tied to the rest"
                self.report.note(CHANGED, f"{loop.type.name} cut", why)
            if kind == UNIVERSAL:
                yield self.parts.tie(loop, self.called)
                continue
            if not list(self._points(loop)):
                self.report.note(DROPPED, f"loop `{loop.name}`", f"MJCF has nothing that a {kind} cut could be")
                continue
            ends = [""] if kind != "revolute" else ["", ".axis"]
            why = "it is kept closed by stiff springs" + "; two points of its axis coincide" * (len(ends) > 1)
            self.report.note(CHANGED, "loop", why)
            if loop.hooke:
                self.report.note(DROPPED, "idle spin", "MJCF has none")
            tag = "weld" if kind == "fixed" else "connect"
            for end in ends:
                sites = (f"site{k + 1}={quoteattr(f'{loop.name}.{side}{end}')}" for k, side in enumerate(SIDES))
                yield f"<{tag} name={quoteattr(loop.name + end)} {' '.join(sites)}/>"
        for one in self.robot.couplings:
            yield self._coupling(one)

    def _springs(self) -> None:
        """Adds tendons for the springs over several joints."""
        for name, cord in self.robot.springs:
            values = {"stiffness": cord.stiffness, "damping": cord.damping}
            own = "".join(f' {key}="{urdf_number_text(x)}"' for key, x in values.items() if x)
            rest = cord.rest if cord.rest != BY_ITSELF else math.nextafter(BY_ITSELF, 0.0)
            ends = [rest, rest + cord.slack] if cord.slack else [rest]
            own += f' springlength="{urdf_numbers_text(ends)}"' if cord.stiffness else ""
            self.tendons += _fixed(name, {self.names[x.coordinate]: x.ratio for x in cord.joints}, own)

    def _coupling(self, one: Coupling) -> str:
        """A joint that follows others, as far as it is from where it starts."""
        q0, name = self.robot.q0, self.names[one.coordinate]
        start = sum(x.ratio * q0[x.coordinate] for x in one.leaders) + one.offset - q0[one.coordinate]
        self.report.note(CHANGED, "coupling", "it is kept by stiff springs")
        if len(one.leaders) == 1:
            (leader,) = one.leaders
            follows = f"joint1={quoteattr(name)} joint2={quoteattr(self.names[leader.coordinate])}"
            return f'<joint {follows} polycoef="{urdf_numbers_text([start, leader.ratio, 0, 0, 0])}"/>'
        cord = f"{name}.coupling"
        coefficients = {name: 1.0} | {self.names[x.coordinate]: -x.ratio for x in one.leaders}
        self.tendons += _fixed(cord, coefficients)
        return f'<tendon tendon1={quoteattr(cord)} polycoef="{urdf_numbers_text([start, 1, 0, 0, 0])}"/>'

    # ---- actuators

    def actuators(self) -> Iterator[str]:
        """The motors of joints, then the robot's further actuators."""
        for joint in self.robot.moving:
            if joint.actuated:
                yield from self._motors(joint)
        for one in self.robot.actuators:
            yield from self._actuator(one)
        robot, followers = self.robot, {one.coordinate for one in self.robot.couplings}
        none_left = not any(joint.actuated for joint in robot.moving) and not robot.actuators
        if (
            none_left
            and not robot.loops
            and any(  # which a reader would take for actuated
                joint.type.nv == 1 and not joint.elastic and joint.coordinates[0] not in followers
                for joint in robot.moving
            )
        ):
            self.report.note(DROPPED, "joints without actuators", "where a file has no actuator at all, all have one")

    def _motors(self, joint: Joint) -> Iterator[str]:
        if joint.type.nv == 6:
            self.report.note(DROPPED, "actuators of free joints", "MuJoCo's act in other axes")
            return
        limits = self._range(joint.effort)
        if joint.type.orientation is not None:
            for k, suffix in enumerate(joint.type.forces):
                gear = urdf_numbers_text([float(j == k) for j in range(3)])
                name = quoteattr(f"{joint.name}.{suffix}")
                yield f'<motor name={name} joint={quoteattr(joint.name)} gear="{gear}"{limits}/>'
            return
        for _, name in names_of_mjcf_joints(joint):
            yield f"<motor name={quoteattr(name)} joint={quoteattr(name)}{limits}/>"

    def _actuator(self, one: Actuator) -> Iterator[str]:
        """An actuator on a sum of joints, or at a point of a link."""
        name, limits = quoteattr(one.name), self._range(one.effort)
        if not one.on_link:
            self.tendons += _fixed(one.name, {self.names[x.coordinate]: x.ratio for x in one.joints})
            yield f"<motor name={name} tendon={name}{limits}/>"
        else:
            gear = [0.0, 0.0, 0.0, *one.direction] if one.moment else [*one.direction, 0.0, 0.0, 0.0]
            still = f" refsite={quoteattr(f'{one.name}.axes')}" if one.axes == "base" else ""
            yield f'<motor name={name} site={name}{still} gear="{urdf_numbers_text(gear)}"{limits}/>'

    def _range(self, effort: Effort) -> str:
        """The limits of a motor."""
        if effort.weight != 1.0:
            self.report.note(DROPPED, "effort weight", "MJCF has none")
        if not (math.isfinite(effort.low) and math.isfinite(effort.high)):
            return ""
        return f' ctrlrange="{urdf_numbers_text([effort.low, effort.high])}"'

    # ---- what is lost

    def rest(self) -> None:
        """Notes what nothing above has written."""
        for one in self.robot.wrenches:
            if one.link not in self.weightless or not _share_of_weight(self.robot, one):
                self.report.note(DROPPED, "wrenches", "MJCF has none")
        for joint in self.robot.moving:
            if joint.hooke:
                self.report.note(DROPPED, "idle spin", "MJCF has none")


def _share_of_weight(robot: Robot, wrench: Wrench) -> float:
    """How much of the weight of its link a wrench bears, if it does nothing else."""
    link = robot.link(wrench.link)
    weight = link.mass * np.array(robot.gravity)
    if wrench.axes != "base" or any(wrench.wrench[:3]) or wrench.at != link.com or not weight.any():
        return 0.0
    share = -float(np.dot(wrench.wrench[3:], weight) / np.dot(weight, weight))
    left = abs(np.array(wrench.wrench[3:]) + share * weight).max()
    return share if left <= ROUNDING * abs(weight).max() else 0.0


def names_of_mjcf_joints(joint: Joint) -> Iterator[tuple[int, str]]:
    """The names of MuJoCo's joints, by the places of their coordinates in q."""
    several = joint.type.orientation is None and joint.type.nv > 1
    for k, place in enumerate(joint.coordinates if joint.type.orientation is None else ()):
        yield place, f"{joint.name}_{k + 1}" if several else joint.name


def _fixed(name: str, coefficients: dict[str, float], own: str = "") -> list[str]:
    """A tendon over joints, with attributes of its own."""
    inside = [f'  <joint joint={quoteattr(joint)} coef="{urdf_number_text(x)}"/>' for joint, x in coefficients.items()]
    return [f"<fixed name={quoteattr(name)}{own}>", *inside, "</fixed>"]
