"""A robot as URDF: its links in their own axes, loops as those of URDF+; what URDF can't hold is noted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import ModelError
from ..robot import Joint, Link, Placement, Robot, X, Y, Z
from .pieces import ENTRIES, urdf_number_text, urdf_numbers_text, urdf_origin_line
from .report import CHANGED, DROPPED, Report
from .urdf_drives import UNBOUNDED
from .urdf_shapes import urdf_visual_elements

DEFAULT_GRAVITY = (0.0, 0.0, -9.81)
LOOPS = ("revolute", "prismatic", "fixed", "spherical", "universal", "planar", "cylindrical")
PLAIN = ("fixed", "revolute", "prismatic", "planar", "free")
# a joint with several freedoms as a chain of joints with one: what each turns about or slides along
CHAINS = {
    "universal": (("revolute", X), ("revolute", Y)),
    "cylindrical": (("revolute", Z), ("prismatic", Z)),
    "spherical": (("revolute", Z), ("revolute", Y), ("revolute", X)),
    "three-revolutes": (("revolute", Z), ("revolute", Y), ("revolute", X)),
}


def write_urdf(robot: Robot) -> tuple[str, Report]:
    """The text of the robot as URDF, and a report of what it couldn't hold."""
    writer = _Writer(robot)
    lines = [*writer.links(), *writer.loops()]
    writer.rest()
    text = "\n".join(['<?xml version="1.0"?>', f"<robot name={quoteattr(robot.name)}>", *lines, "</robot>", ""])
    return text, writer.report


class _Writer:
    """Writes links and joints as lines, and notes what is lost."""

    def __init__(self, robot: Robot):
        self.robot, self.report = robot, Report(robot.name)
        self.followers = {c.coordinate: c for c in robot.couplings}
        self.names = {k: joint.name for joint in robot.moving for k in joint.coordinates}

    def links(self) -> Iterable[str]:
        root = self._root()
        if root is None:
            yield '  <link name="base"/>'
        elif root.joint.type.name == "free":
            self.report.note(CHANGED, "free base", "it is the root, which a reader has to set free: --floating")
        for link in self.robot.links:
            if link is not root:
                yield from self._joint(link)
            yield from self._link(link)

    def _root(self) -> Link | None:
        """The link that can be the root: the only one on the ground, where the ground is, fixed or free."""
        on_ground = [link for link in self.robot.links if link.parent == "base"]
        tied = any("base" in loop.between for loop in self.robot.loops)
        if len(on_ground) != 1 or tied or on_ground[0].joint.type.name not in ("fixed", "free"):
            return None
        one = on_ground[0]
        return one if np.array_equal(one.before.matrix(), np.eye(4)) else None

    def _link(self, link: Link) -> Iterable[str]:
        inside = [*self._inertial(link), *urdf_visual_elements(link)]
        if not inside:
            yield f"  <link name={quoteattr(link.name)}/>"
            return
        yield f"  <link name={quoteattr(link.name)}>"
        yield from inside
        yield "  </link>"

    def _inertial(self, link: Link) -> Iterable[str]:
        if not link.mass and not np.any(link.inertia):
            return
        yield "    <inertial>"
        if any(link.com):
            yield f'      <origin xyz="{urdf_numbers_text(link.com)}"/>'
        yield f'      <mass value="{urdf_number_text(link.mass)}"/>'
        inertia = " ".join(f'i{name}="{urdf_number_text(link.inertia[i][j])}"' for name, i, j in ENTRIES)
        yield f"      <inertia {inertia}/>"
        yield "    </inertial>"

    # ---- joints

    def _joint(self, link: Link) -> Iterable[str]:
        """The joint of a link, or the chain of joints and links without mass that stands for it."""
        joint, kind = link.joint, link.joint.type.name
        _, seat = self.robot.parts.seats[link.name]
        axes, before, parent = seat.inverse().rotation(), link.before.then(seat), link.parent
        if kind in PLAIN:
            yield from self._one(joint.name, kind, (parent, link.name), before, axes[:, Z], joint)
            return
        if kind not in CHAINS:
            known = ", ".join((*PLAIN, *CHAINS))
            raise ModelError(f"URDF has no {kind} joint, as `{joint.name}` is", allowed=known)
        self.report.note(CHANGED, f"{kind} joint", "it is a chain of joints with one freedom each")
        if kind == "spherical" and any(drive.viscous for drive in joint.drives):
            self.report.note(CHANGED, "friction of a spherical joint", "each joint of the chain has it, about its axis")
        parts = CHAINS[kind]
        for k, (own, axis) in enumerate(parts):
            last = k == len(parts) - 1
            child = link.name if last else f"{link.name}_{k + 1}"
            yield from self._one(f"{joint.name}_{k + 1}", own, (parent, child), before, axes[:, axis], joint, k)
            if not last:
                yield f"  <link name={quoteattr(child)}/>"
            before, parent = Placement(), child

    def _one(
        self,
        name: str,
        kind: str,
        links: tuple[str, str],
        before: Placement,
        axis: Iterable[float],
        joint: Joint,
        place: int = 0,
    ) -> Iterable[str]:
        """One joint of URDF."""
        limited = joint.limits is not None and kind in ("revolute", "prismatic")
        own = {"revolute": "revolute" if limited else "continuous", "free": "floating"}.get(kind, kind)
        independent = ' independent="true"' if joint.actuated and self.robot.loops else ""
        yield f'  <joint name={quoteattr(name)} type="{own}"{independent}>'
        yield f"    <parent link={quoteattr(links[0])}/>"
        yield f"    <child link={quoteattr(links[1])}/>"
        yield from urdf_origin_line(before, "    ")
        if kind in ("revolute", "prismatic", "planar"):
            yield f'    <axis xyz="{urdf_numbers_text(axis)}"/>'
        if kind in ("revolute", "prismatic"):
            yield from self._limits(kind, joint)
            yield from self._dynamics(joint, place)
        coupling = self.followers.get(joint.coordinates[0]) if joint.coordinates else None
        if coupling is not None and len(coupling.leaders) > 1:
            self.report.note(DROPPED, f"coupling of `{joint.name}`", "a mimic joint follows one joint alone")
        elif coupling is not None:
            (leader,) = coupling.leaders
            values = f'multiplier="{urdf_number_text(leader.ratio)}" offset="{urdf_number_text(coupling.offset)}"'
            yield f"    <mimic joint={quoteattr(self.names[leader.coordinate])} {values}/>"
        yield "  </joint>"

    def _limits(self, kind: str, joint: Joint) -> Iterable[str]:
        effort = joint.effort
        most = max(abs(effort.low), abs(effort.high)) if effort.limited else UNBOUNDED
        if effort.limited and effort.low != -effort.high:
            self.report.note(CHANGED, "effort limits", "they are the same to either side, the larger of the two")
        if effort.weight != 1.0:
            self.report.note(DROPPED, "effort weight", "URDF has none")
        speed = min(joint.largest_speed, UNBOUNDED)
        low, high = joint.limits or ((-UNBOUNDED, UNBOUNDED) if kind == "prismatic" else (0.0, 0.0))
        between = f'lower="{urdf_number_text(low)}" upper="{urdf_number_text(high)}" ' if low != high else ""
        if between or most < UNBOUNDED or speed < UNBOUNDED:
            largest = urdf_number_text(min(most, UNBOUNDED))
            yield f'    <limit {between}effort="{largest}" velocity="{urdf_number_text(speed)}"/>'

    def _dynamics(self, joint: Joint, place: int) -> Iterable[str]:
        drive = joint.drives[place]
        if drive.viscous or drive.coulomb:
            damping, friction = urdf_number_text(drive.viscous), urdf_number_text(drive.coulomb)
            yield f'    <dynamics damping="{damping}" friction="{friction}"/>'
        for what, value in (("rotor inertia", drive.rotor), ("spring", drive.stiffness)):
            if value:
                self.report.note(DROPPED, what, "URDF has none")

    # ---- loops, and what is lost

    def loops(self) -> Iterable[str]:
        for loop in self.robot.loops:
            if loop.type.name not in LOOPS:
                self.report.note(DROPPED, f"loop `{loop.name}`", f"URDF+ has no {loop.type.name}")
                continue
            self.report.note(CHANGED, "loop", "it is a <loop> of URDF+, which other programs leave out")
            yield f'  <loop name={quoteattr(loop.name)} type="{loop.type.name}">'
            for tag, link, frame in zip(("predecessor", "successor"), loop.between, (loop.first, loop.second)):
                yield f"    <{tag} link={quoteattr(link)}>"
                yield from urdf_origin_line(frame, "      ")
                yield f"    </{tag}>"
            yield '    <axis xyz="0 0 1"/>'
            yield "  </loop>"

    def rest(self) -> None:
        """Notes what nothing above has written."""
        robot = self.robot
        if robot.gravity != DEFAULT_GRAVITY:
            self.report.note(DROPPED, "gravity", f"{list(robot.gravity)} isn't the usual one, and URDF has none")
        lost: dict[str, Sequence[object]] = {
            "wrenches": robot.wrenches,
            "actuators": robot.actuators,
            "springs over several joints": robot.springs,
            "points": [link for link in robot.links if link.points],
            "initial positions": [
                joint for joint in robot.moving if tuple(robot.q0[k] for k in joint.coordinates) != joint.type.start
            ],
            "idle spin": [
                *(joint for joint in robot.moving if joint.hooke),
                *(loop for loop in robot.loops if loop.hooke),
            ],
            "actuators of joints": self._undriven(),
        }
        for kind in ("planar", "free"):
            joints = [joint for joint in robot.moving if joint.type.name == kind]
            drives = [drive for joint in joints for drive in joint.drives[:1]]
            lost |= {
                f"friction of {kind} joints": [d for d in drives if d.viscous or d.coulomb],
                f"rotor inertias of {kind} joints": [d for d in drives if d.rotor],
                f"springs of {kind} joints": [d for d in drives if d.stiffness],
                f"effort limits of {kind} joints": [joint for joint in joints if joint.effort.limited],
            }
        self.report.drop_all(lost, "URDF has none")

    def _undriven(self) -> list[Joint]:
        """The joints whose `actuated` a reader would guess otherwise."""
        if self.robot.loops:
            return []
        follow = set(self.followers)
        return [
            joint
            for joint in self.robot.moving
            if joint.actuated != (joint.type.nv == 1 and joint.coordinates[0] not in follow)
        ]
