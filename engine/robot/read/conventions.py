"""The conventions for placing joints, as rows of one table.

A convention says where the joint is (`before`, from the parent's frame to the joint with nothing moved), where the
joint's own z axis points in link axes (`pointing`), where the link ends (`end`, the papers' frame i + 1), and which
key holds the initial value of a joint with one coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...text import Keys
from ..joints import JointType
from ..model import ZERO, Three
from ..placement import Placement, X, Z, frame_pointing_along_axis
from .joint_schema import DhJoint, FramesJoint, JointEntry, KhalilJoint
from .orientation import WAYS, oriented_placement
from .schema import CutFrame, GraphJoint
from .values import Complain

Frames = tuple[Placement, Placement, Placement]


def dh_joint_placement(joint: DhJoint, row: JointType, complain: Complain) -> Frames:
    """Rz(θ) Tz(b) Tx(a) Rx(α) (Saha 1999, appendix A); the link frame comes right after the joint's own motion."""
    if row.name == "prismatic":
        return Placement().turn(Z, joint.theta), Placement(), Placement().shift(joint.a, 0, 0).turn(X, joint.alpha)
    end = Placement().shift(joint.a, 0, joint.b).turn(X, joint.alpha)
    return Placement().turn(Z, joint.theta if row.name == "fixed" else 0.0), Placement(), end


def khalil_joint_placement(joint: KhalilJoint, row: JointType, complain: Complain) -> Frames:
    """Rz(γ) Tz(b) Rx(α) Tx(d) Rz(θ) Tz(r) (Khalil and Kleinfinger)."""
    before = Placement().turn(Z, joint.gamma).shift(0, 0, joint.b).turn(X, joint.alpha).shift(joint.d, 0, 0)
    if row.name in ("prismatic", "fixed"):
        before = before.turn(Z, joint.theta)
    if row.name != "prismatic":
        before = before.shift(0, 0, joint.r)
    return before, Placement(), Placement()


def frame_joint_placement(joint: FramesJoint, row: JointType, complain: Complain) -> Frames:
    """The joint by position, orientation and axis, as in URDF."""
    before = oriented_placement(joint.xyz, joint, ("joint",), complain)
    if joint.axis is None:
        return before, Placement(), Placement()
    if not row.has_axis:
        raise complain("joint", "axis", f"a {joint.type} joint has no axis", allowed="`rpy` turns its frame", key=True)
    axis = unit_direction_of_frame(joint.axis, ("joint", "axis"), complain, "the axis")
    return before, frame_pointing_along_axis(axis), Placement()


def graph_joint_placement(joint: GraphJoint, row: JointType, complain: Complain) -> Frames:
    """The joint from its first frame to its second; if the second link is the parent, its motion is reversed."""
    first, second = (
        frame_of_cut(frame, frame.at if isinstance(frame.at, tuple) else ZERO, key, complain)
        for key, frame in (("first", joint.first), ("second", joint.second))
    )
    if joint.turned:
        swap = Placement(TURNED.get(row.name, ()))
        first, second = second.then(swap), first.then(swap)
    return first.then(second.inverse()), second, Placement()


# motion⁻¹ = P motion' P⁻¹ with motion' of the same kind and P a half turn about x, or about the bisector of x and y
TURNED = {
    **dict.fromkeys(("revolute", "prismatic", "helical", "cylindrical"), ((X, math.pi),)),
    "universal": ((Z, math.pi / 2), (X, math.pi)),
}


def reversed_joint_coordinates(values: tuple[float, ...], row: JointType) -> tuple[float, ...]:
    """The coordinates of the first link in the second, from those of the second in the first."""
    if row.name == "universal":
        return (-values[1], -values[0])
    if row.name == "spherical":
        return (values[0], *(-x for x in values[1:]))
    if row.name == "planar":
        x, y, angle = values
        c, s = math.cos(angle), math.sin(angle)
        return (-(c * x + s * y), s * x - c * y, -angle)
    return values


_FRAMES: dict[type, Callable[..., Frames]] = {
    DhJoint: dh_joint_placement,
    KhalilJoint: khalil_joint_placement,
    FramesJoint: frame_joint_placement,
    GraphJoint: graph_joint_placement,
}

# the key of the variable of a joint with one coordinate, by convention and by whether the joint turns
_VARIABLE: dict[type[JointEntry], dict[bool, str]] = {
    DhJoint: {True: "theta", False: "b"},
    KhalilJoint: {True: "theta", False: "r"},
}


def frames_of_joint(joint: JointEntry, row: JointType, complain: Complain) -> Frames:
    """The joint's `before`, `pointing` and `end`."""
    if row.nv > 1 and not isinstance(joint, FramesJoint):
        for key in ("theta", "r"):
            if getattr(joint, key, 0.0):
                raise complain(
                    "joint",
                    key,
                    f"a {joint.type} joint moves where Rz(theta) stands",
                    allowed="0 or absent; `initial: […]`",
                )
    return _FRAMES[type(joint)](joint, row, complain)


def initial_coordinates_of_joint(
    joint: JointEntry, row: JointType, complain: Complain
) -> tuple[tuple[float, ...] | None, tuple[str, ...]]:
    """The initial coordinates in the file, if there are any, and their key."""
    variable = _VARIABLE.get(type(joint), {}).get(row.turning[0]) if row.nv == 1 else None
    if variable is None:
        if joint.initial is not None and not row.nv:
            raise complain("joint", "initial", "a fixed joint has no coordinates", key=True, allowed="no `initial`")
        if isinstance(joint, GraphJoint) and joint.turned and joint.initial and len(joint.initial) == row.nq:
            return reversed_joint_coordinates(joint.initial, row), ("joint", "initial")
        return joint.initial, ("joint", "initial")
    if joint.initial is not None:
        raise complain(
            "joint",
            "initial",
            f"here the joint's own variable `{variable}` is its initial value",
            key=True,
            hint=f"write `{variable}: …`",
        )
    return (getattr(joint, variable),) if variable in joint.model_fields_set else None, ("joint", variable)


# ---- frames of cuts, and of joints in a list of all joints


KHALIL = ("gamma", "b", "alpha", "d", "theta", "r")


def frame_of_cut(frame: CutFrame, at: Three, key: str, complain: Complain) -> Placement:
    """The placement in its link of a frame with the origin `at`."""
    given = [name for name in KHALIL if name in frame.model_fields_set]
    plain = [name for name in ("at", "axis", *WAYS) if name in frame.model_fields_set]
    if given and plain:
        message = f"the frame is given twice: by `{plain[0]}` and by `{given[0]}`"
        raise complain(key, given[0], message, key=True, allowed="one of the two")
    if given:  # Rz(γ) Tz(b) Rx(α) Tx(d) Rz(θ) Tz(r): the cut's frame as Khalil's R_k and R_(k+B)
        placed = Placement().turn(Z, frame.gamma).shift(0, 0, frame.b).turn(X, frame.alpha)
        return placed.shift(frame.d, 0, 0).turn(Z, frame.theta).shift(0, 0, frame.r)
    placed = oriented_placement(at, frame, (key,), complain, "axis")
    if frame.axis is None:
        return placed
    return placed.then(frame_pointing_along_axis(unit_direction_of_frame(frame.axis, (key, "axis"), complain)))


def unit_direction_of_frame(direction: Sequence[float], key: Keys, complain: Complain, what: str = "it") -> Three:
    """The unit vector in this direction."""
    length = math.hypot(*direction)
    if not 1e-9 < length < math.inf:
        components = str(list(map(float, direction)))
        raise complain(*key, f"{what} has no direction", found=components, allowed="[0, 0, 1], say")
    x, y, z = (float(c) / length for c in direction)
    return (x, y, z)
