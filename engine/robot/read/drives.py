"""What acts along a joint itself: rotor, friction, spring, and how far and how fast it may go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..joints import RATE_OF, JointType
from ..model import Cord, Drive, Joint, PoseStretch, Pull
from .bodies import robot_number
from .joint_schema import JointEntry
from .schema import LinkEntry
from .values import Complain, joint_coordinates, joint_number_fits_unit


def drives_of_joint(entry: LinkEntry, row: JointType, q: int, complain: Complain) -> tuple[Drive, ...]:
    """The drive of each speed of a joint: rotor, friction, damping and spring."""
    joint = entry.joint
    friction, spring = joint.friction, joint.spring
    coulomb = friction.coulomb if friction else 0.0
    dry = (("friction", "coulomb"), coulomb)
    kinds = ((("friction",), friction), (("rotor_inertia",), joint.rotor_inertia), (("spring",), spring), dry)
    for key, value in kinds:
        if value and (not row.nv or (len(key) > 1 and row.orientation is not None)):
            raise complain(
                "joint",
                *key,
                f"a {joint.type} joint can't have this",
                allowed="on joints whose coordinates are angles or lengths",
            )
    for turning in sorted(set(row.turning)):
        what = "turn" if turning else "slide"
        joint_number_fits_unit(joint.rotor_inertia, f"{what} rotor", ("joint", "rotor_inertia"), complain)
        if friction:
            joint_number_fits_unit(
                friction.coulomb, "moment" if turning else "force", ("joint", "friction", "coulomb"), complain
            )
            joint_number_fits_unit(friction.viscous, f"{what} damping", ("joint", "friction", "viscous"), complain)
        if spring:
            _rest(joint, row, complain)
            joint_number_fits_unit(spring.rest, "angle" if turning else "length", ("joint", "spring", "rest"), complain)
            joint_number_fits_unit(spring.stiffness, f"{what} stiffness", ("joint", "spring", "stiffness"), complain)
            joint_number_fits_unit(spring.damping, f"{what} damping", ("joint", "spring", "damping"), complain)
    return joint_drives(joint, row, q)


def _rest(joint: JointEntry, row: JointType, complain: Complain) -> None:
    """Raises an error if a spring is relaxed where its joint can't be."""
    spring = joint.spring
    assert spring is not None
    if row.orientation is None and spring.pose is not None:
        raise complain("joint", "spring", "pose", "only spherical and free joints have it", key=True, allowed="`rest`")
    if row.orientation is not None and "rest" in spring.model_fields_set:
        raise complain(
            "joint", "spring", "rest", f"a {joint.type} joint has several coordinates", key=True, allowed="`pose`"
        )
    if spring.pose is not None:
        joint_coordinates(spring.pose, ("joint", "spring", "pose"), row, complain)


def _pose(joint: JointEntry, row: JointType, q: int, k: int) -> PoseStretch | None:
    """What the spring of a joint with Euler parameters measures along its speed k."""
    if joint.spring is None or row.orientation is None:
        return None
    first, given = row.orientation, joint.spring.pose
    pose = [*[0.0] * first, 1.0, 0.0, 0.0, 0.0] if given is None else [float(x) for x in given]
    norm = math.hypot(*pose[first:])
    e = tuple(x / norm for x in pose[first:])
    turns = row.turning[k]
    orientation, place = (tuple(q + n for n in some) for some in (range(first, first + 4), range(first)))
    return PoseStretch(k % 3, orientation, () if turns else place, e if turns else tuple(pose[:first]))


def joint_drives(joint: JointEntry, row: JointType, q: int) -> tuple[Drive, ...]:
    """The drives of a joint whose first coordinate is q; its numbers may be arrays."""
    friction, spring = joint.friction, joint.spring
    return tuple(
        Drive(
            rotor=robot_number(joint.rotor_inertia),
            viscous=robot_number((friction.viscous if friction else 0.0) + (spring.damping if spring else 0.0)),
            coulomb=robot_number(friction.coulomb) if friction else 0.0,
            stiffness=robot_number(spring.stiffness) if spring else 0.0,
            rest=robot_number(spring.rest) if spring else 0.0,
            coordinate=q + k if row.orientation is None else -1,
            pose=_pose(joint, row, q, k),
        )
        for k in range(row.nv)
    )


def joint_with_cords(joint: Joint, cords: Sequence[Cord]) -> Joint:
    """The joint with the pulls of springs over several joints, which are counted at their first one."""
    pulls = {
        k: tuple(
            Pull(cord, one.ratio, one is cord.joints[0]) for cord in cords for one in cord.joints if one.speed == k
        )
        for k in joint.speeds
    }
    if not any(pulls.values()):
        return joint
    return replace(joint, drives=tuple(replace(d, pulls=pulls[k]) for k, d in zip(joint.speeds, joint.drives)))


def limits_of_joint(entry: LinkEntry, row: JointType, complain: Complain) -> tuple[float, float] | None:
    """The limits of a joint's position, if it has any."""
    if entry.joint.limits is None:
        return None
    if row.nv != 1:
        raise complain("joint", "limits", f"a {entry.joint.type} joint can't have limits", allowed="1-DOF joints")
    limits, key = entry.joint.range, ("joint", *entry.joint.range_key)
    if limits is None:
        return None
    for k in (0, 1):
        joint_number_fits_unit(limits[k], row.kinds[0], (*key, k), complain)
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


def largest_speed_of_joint(entry: LinkEntry, row: JointType, complain: Complain) -> float:
    """The largest speed of a joint to either side; infinite where the file gives none."""
    speed = entry.joint.largest_speed
    if speed is None:
        return math.inf
    joint_number_fits_unit(speed, RATE_OF[row.kinds[0]], ("joint", "limits", "velocity"), complain)
    return float(speed)
