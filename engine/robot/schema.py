"""Robot files: the models that read them (and from which their JSON Schema comes)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from ..files.fields import Angle, Angles, FileName, Length, Name, Point, Position, Strict, number, several
from .joints import NAMES

Mass = number("mass", at_least=0.0)
Moment2 = number("inertia")
CONVENTIONS = ("dh", "khalil", "frames")
MARK = "(convention)"  # put into each joint by `with_conventions`; no file can have such a key by accident


class Friction(Strict):
    coulomb: number("effort", at_least=0.0) = 0.0  # type: ignore[valid-type]
    viscous: number("damping", at_least=0.0) = 0.0  # type: ignore[valid-type]


class Spring(Strict):
    stiffness: number("stiffness", at_least=0.0)  # type: ignore[valid-type]
    rest: Position = 0.0
    damping: number("damping", at_least=0.0) = 0.0  # type: ignore[valid-type]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Coordinates = Annotated[tuple[number("position"), ...], BeforeValidator(_listed)]  # type: ignore[misc]


class JointEntry(Strict):
    """What every joint may say, whatever the convention."""

    type: Literal[NAMES]  # type: ignore[valid-type]
    name: Name | None = Field(None, description="defaults to joint<k>, k the link's place in the file")
    as_: Literal["three-revolutes"] | None = Field(None, alias="as", description="for a spherical joint")
    actuated: bool | None = Field(None, description="default: 1-DOF joints without a spring are")
    friction: Friction | None = None
    rotor_inertia: number("rotor", at_least=0.0) = 0.0  # type: ignore[valid-type]
    spring: Spring | None = None
    limits: several(Position, 2) | None = Field(None, description="[low, high] of the position")  # type: ignore[valid-type]
    pitch: number("pitch") | None = Field(None, description="of a helical joint")  # type: ignore[valid-type]
    initial: Coordinates | None = Field(None, description="initial coordinates")


class DhJoint(JointEntry):
    """The papers' Denavit-Hartenberg parameters: Rz(theta) Tz(b) Tx(a) Rx(alpha)."""

    convention: Literal["dh"] = Field("dh", alias=MARK, exclude=True)
    a: Length = 0.0
    b: Length = 0.0
    alpha: Angle = 0.0
    theta: Angle = 0.0


class KhalilJoint(JointEntry):
    """Khalil's parameters: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)."""

    convention: Literal["khalil"] = Field("khalil", alias=MARK, exclude=True)
    gamma: Angle = 0.0
    b: Length = 0.0
    alpha: Angle = 0.0
    d: Length = 0.0
    theta: Angle = 0.0
    r: Length = 0.0


class FramesJoint(JointEntry):
    """The joint's frame by position, roll-pitch-yaw and axis, as in URDF."""

    convention: Literal["frames"] = Field("frames", alias=MARK, exclude=True)
    xyz: Point = (0.0, 0.0, 0.0)
    rpy: Angles = (0.0, 0.0, 0.0)
    axis: several(number("number"), 3) | None = None  # type: ignore[valid-type]


class Inertia(Strict):
    """Entries of the inertia tensor."""

    xx: Moment2
    yy: Moment2
    zz: Moment2
    xy: Moment2 = 0.0
    xz: Moment2 = 0.0
    yz: Moment2 = 0.0


class Offset(Strict):
    xyz: Point = (0.0, 0.0, 0.0)
    rpy: Angles = (0.0, 0.0, 0.0)


class LinkEntry(Strict):
    name: Name
    parent: Name | None = Field(None, description="defaults to the link before; the first hangs on `base`")
    convention: Literal[CONVENTIONS] | None = None  # type: ignore[valid-type]
    joint: Annotated[
        Annotated[DhJoint, Tag("dh")] | Annotated[KhalilJoint, Tag("khalil")] | Annotated[FramesJoint, Tag("frames")],
        Discriminator(lambda joint: joint.get(MARK) if isinstance(joint, dict) else joint.convention),
    ]
    offset: Offset | None = Field(None, description="fixed placement before the joint")
    mass: Mass | None = None
    com: Point | None = Field(None, description="mass centre from the link's origin, link axes")
    r: Point | None = Field(None, description="from the mass centre to the end frame's origin, end-frame axes; dh only")
    first_moments: several(number("first_moment"), 3) | None = None  # type: ignore[valid-type]
    inertia: Inertia | None = None
    about: Literal["com", "origin"] = "com"
    frame: Literal["link", "end"] | None = Field(None, description="axes of the inertia")
    points: dict[Name, Point] = Field({}, description="named points, link axes")


class WrenchEntry(Strict):
    """A constant wrench on a link."""

    link: Name
    force: several(number("force"), 3) = (0.0, 0.0, 0.0)  # type: ignore[valid-type]
    moment: several(number("moment"), 3) = (0.0, 0.0, 0.0)  # type: ignore[valid-type]
    at: Point = (0.0, 0.0, 0.0)
    axes: Literal["link", "base"] = "link"


class RobotFile(Strict):
    name: FileName
    about: str = ""
    convention: Literal[CONVENTIONS]  # type: ignore[valid-type]
    gravity: several(number("acceleration"), 3) = (0.0, 0.0, -9.81)  # type: ignore[valid-type]
    links: list[LinkEntry] = Field(min_length=1)
    wrenches: list[WrenchEntry] = []


LOOP_KEYS = ("loops", "assembly", "couplings", "actuators", "joints")


def with_conventions(data: Any) -> Any:
    """The file's data with each joint marked by its convention, which decides the keys that it may have."""
    if not isinstance(data, dict) or not isinstance(data.get("links"), list):
        return data
    marked = []
    for link in data["links"]:
        if isinstance(link, dict) and isinstance(link.get("joint"), dict):
            convention = link.get("convention") or data.get("convention")
            convention = convention if convention in CONVENTIONS else "frames"
            link = {**link, "joint": {**link["joint"], MARK: convention}}
        marked.append(link)
    return {**data, "links": marked}
