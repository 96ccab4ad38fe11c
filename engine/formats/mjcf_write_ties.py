"""What ties and moves a robot's bodies, as MJCF: equalities, tendons, motors, and the sites at which they act.

Cuts that MJCF has no tie for are bodies: a part of one link on joints of the other, tied to the rest of its own. What
slides is a point of the second link: some of its mass at the origin of the cut's second frame becomes a body that
slides along the first frame's axes, and is tied to the rest as a point, an axis or a frame is. Of a universal cut a
half of the second link hangs on the first by two turns, and a weld holds it in the place of the other half. As long
as the ties do, all parts together are the link, and no number of the motion is another. The ground has nothing to
give; a part of it rests, whatever it weighs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from xml.sax.saxutils import quoteattr

import numpy as np

from ..robot import Actuator, Coupling, Effort, Joint, Link, Loop, Placement, Robot, Wrench
from .mjcf_motors import BY_ITSELF
from .pieces import urdf_number_text, urdf_numbers_text
from .report import CHANGED, DROPPED, Report

X, Y, Z = 0, 1, 2
UNIVERSAL = "universal"
# the axes of the first frame along which the part slides, and the cut that it has with the rest of its link
SLIDES: dict[str, tuple[tuple[int, ...], str]] = {
    "prismatic": ((Z,), "fixed"),
    "cylindrical": ((Z,), "revolute"),
    "planar": ((X, Y), "revolute"),
    "point-on-line": ((Z,), "spherical"),
    "point-on-plane": ((X, Y), "spherical"),
}
WITH_PARTS = (*SLIDES, UNIVERSAL)
SHARE = 0.5  # of the mass that a link can have at a point, or altogether
ROUNDING = 1e-12
AT_REST = 1.0  # kg, of a part of the ground


def cut_of_part(loop: Loop) -> str:
    """The type of the cut with which a loop closes, or of that between a part and the rest of its link."""
    return SLIDES[loop.type.name][1] if loop.type.name in SLIDES else loop.type.name


@dataclass(frozen=True)
class CutPart:
    """A part of a link on the joints of a cut: the cut, the body's name, its place in the first link, its joints."""

    loop: Loop
    name: str
    link: Link  # with the mass and the inertia that the part has
    placed: Placement
    joints: tuple[str, ...]
    start: tuple[float, ...]  # MuJoCo's coordinates

    @property
    def borne(self) -> bool:
        """Whether its weight is borne where that of its link is."""
        return self.loop.between[1] != "base"


class CutParts:
    """The parts of links that are bodies of their own, and what is left of the links."""

    def __init__(self, robot: Robot, poses: Callable[[str], Placement]):
        """`poses` has the place of each link in the world, as the robot starts."""
        self.robot, self.poses = robot, poses
        self.left = {link.name: link for link in robot.links}  # what links keep
        self.names: dict[str, str] = {}  # of the bodies, by cut
        taken = {"world", *self.left}
        self.given: dict[str, list[CutPart]] = {}  # by the link on which they hang
        # halves come first, so that points are taken from what is left
        for loop in sorted(robot.loops, key=lambda one: one.type.name != UNIVERSAL):
            if loop.type.name in WITH_PARTS:
                name = f"{loop.name}_part"
                while name in taken:
                    name += "_"
                taken.add(name)
                self.names[loop.name] = name
                part = self._turning(loop, name) if loop.type.name == UNIVERSAL else self._sliding(loop, name)
                self.given.setdefault(loop.between[0], []).append(part)

    def on(self, link: str) -> Iterator[CutPart]:
        """The bodies that hang on a link, or on the ground."""
        return iter(self.given.get(link, ()))

    def tie(self, loop: Loop, called: Mapping[str, str]) -> str:
        """The weld of a half to the other, in whose place it is."""
        own = f"body1={quoteattr(self.names[loop.name])}"
        if loop.between[1] != "base":
            own += f" body2={quoteattr(called[loop.between[1]])}"
        return f'<weld name={quoteattr(loop.name)} {own} relpose="0 0 0 1 0 0 0"/>'

    def _seen(self, loop: Loop) -> Placement:
        """The cut's second frame in its first, as the robot starts."""
        outer, inner = (self.poses(name) for name in loop.between)
        return outer.then(loop.first).inverse().then(inner.then(loop.second))

    # ---- points that slide

    def _sliding(self, loop: Loop, name: str) -> CutPart:
        p, axes = self._seen(loop).origin, SLIDES[loop.type.name][0]
        words = []
        for k, axis in enumerate(axes):
            along = urdf_numbers_text([float(j == axis) for j in (X, Y, Z)])
            own = f'name={quoteattr(f"{name}_{k + 1}")} type="slide" axis="{along}" ref="{urdf_number_text(p[axis])}"'
            words.append(f"<joint {own}/>")
        placed = loop.first.shift(*(p[axis] * (axis in axes) for axis in (X, Y, Z)))
        start = tuple(p[axis] for axis in axes)
        return CutPart(loop, name, self._point_of(loop), placed, tuple(words), start)

    def _point_of(self, loop: Loop) -> Link:
        """Some of the mass of a loop's second link at a point, which the link doesn't have any more."""
        first, second = loop.between
        some = self.robot.link(second if second != "base" else first)
        point = replace(some, com=(0.0, 0.0, 0.0), inertia=((0.0,) * 3,) * 3)
        if second == "base":
            return replace(point, mass=AT_REST)
        link = self.left[second]
        mass, self.left[second] = _without_mass_at(link, np.array(loop.second.origin))
        return replace(point, mass=mass)

    # ---- halves that turn

    def _turning(self, loop: Loop, name: str) -> CutPart:
        first, second = loop.between
        R = self._seen(loop).rotation()
        q = [math.atan2(R[2, 1], R[1, 1]), math.atan2(R[0, 2], R[0, 0])]
        placed = loop.first.turn(X, q[0]).turn(Y, q[1]).then(loop.second.inverse())
        axes = placed.inverse().then(loop.first).rotation()[:, X], loop.second.rotation()[:, Y]
        at = f' pos="{urdf_numbers_text(loop.second.origin)}"' if any(loop.second.origin) else ""
        words = (
            f'<joint name={quoteattr(f"{name}_{k + 1}")} type="hinge" axis="{urdf_numbers_text(axes[k])}"{at} '
            f'ref="{urdf_number_text(q[k])}"/>'
            for k in (0, 1)
        )
        if second == "base":
            moments = ((AT_REST, 0.0, 0.0), (0.0, AT_REST, 0.0), (0.0, 0.0, AT_REST))
            half = replace(self.robot.link(first), mass=AT_REST, com=(0.0, 0.0, 0.0), inertia=moments)
        else:
            half = self.left[second]
            (a, b, c), (d, e, f), (g, h, i) = (tuple(SHARE * x for x in row) for row in half.inertia)
            half = self.left[second] = replace(half, mass=SHARE * half.mass, inertia=((a, b, c), (d, e, f), (g, h, i)))
        return CutPart(loop, name, half, placed, tuple(words), tuple(q))


def _without_mass_at(link: Link, point: np.ndarray) -> tuple[float, Link]:
    """A mass that a link can have at a point, and the link without it, which is a body that can be.

    The link's mass, first and second moments are the matrix P = ∫ [r; 1] [r; 1]ᵀ dm, and a body has one without
    negative eigenvalues; at v = [p; 1] it can so have a mass of at most 1/(vᵀ P⁻¹ v).
    """
    c, J, m = np.array(link.com), np.array(link.inertia), link.mass
    Jo = J + m * (c @ c * np.eye(3) - np.outer(c, c))
    P = np.zeros((4, 4))
    P[:3, :3], P[:3, 3], P[3, :3], P[3, 3] = np.trace(Jo) / 2 * np.eye(3) - Jo, m * c, m * c, m
    v = np.append(point, 1.0)
    w = np.linalg.pinv(P, rcond=ROUNDING, hermitian=True) @ v
    if not m or not v @ w > 0 or abs(P @ w - v).max() > math.sqrt(ROUNDING) * abs(v).max():
        return 0.0, link
    mass = SHARE * min(1.0 / float(v @ w), m)
    left = P - mass * np.outer(v, v)
    if np.linalg.eigvalsh(left)[0] < min(0.0, np.linalg.eigvalsh(P)[0]) - math.sqrt(ROUNDING) * abs(P).max():
        return 0.0, link
    m, c, S = left[3, 3], left[:3, 3] / left[3, 3], left[:3, :3]
    Jc = np.trace(S) * np.eye(3) - S - m * (c @ c * np.eye(3) - np.outer(c, c))
    Jc = (Jc + Jc.T) / 2
    com = (float(c[0]), float(c[1]), float(c[2]))
    one, two, three = ((float(x), float(y), float(z)) for x, y, z in Jc)
    return mass, replace(link, mass=float(m), com=com, inertia=(one, two, three))


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
