"""The models that read robot files, and from which their JSON Schema is made."""

from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, StrictBool, Tag
from pydantic_core import PydanticCustomError

from ...text.fields import (
    NAME,
    Angle,
    Choice,
    FileName,
    Length,
    Name,
    Or,
    Point,
    Position,
    Reader,
    Strict,
    field_of_several,
    quantity_field,
    quantity_list_field,
    read_name,
)
from ..cuts import CUT_FORMS, CUTS
from ..joints import TYPES
from .joint_schema import (
    JOINTS,
    MARK,
    ONE_OR_SEVERAL,
    Coordinates,
    DhJoint,
    Direction,
    EffortEntry,
    FramesJoint,
    Friction,
    JointEntry,
    KhalilJoint,
    Spring,
    WithLimits,
)
from .orientation import Number, Oriented
from .shapes import Shapes

Moment1 = Annotated[float, quantity_field("first_moment")]
Moment2 = Annotated[float, quantity_field("inertia")]
Acceleration = Annotated[float, quantity_field("acceleration")]
Force = Annotated[float, quantity_field("force")]
Moment = Annotated[float, quantity_field("moment")]
CONVENTIONS = ("dh", "khalil", "frames")
GRAPH: Final = "graph"  # the mark of a joint in a mechanism's list of all joints


def _place(value: Any) -> Any:
    """A point given by three lengths or by its name."""
    if isinstance(value, str):
        return read_name(value)
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise PydanticCustomError("place", "a point is needed here", {"allowed": "[x, y, z], or the name of a point"})
    return quantity_list_field("length").read(value)


Place = Annotated[
    tuple[float, float, float] | str,
    Reader(
        _place,
        {"anyOf": [NAME, {"type": "array", "items": quantity_field("length").schema, "minItems": 3, "maxItems": 3}]},
        "length",
    ),
]


class Inertia(Strict):
    """The entries of an inertia tensor."""

    xx: Moment2
    yy: Moment2
    zz: Moment2
    xy: Moment2 = 0.0
    xz: Moment2 = 0.0
    yz: Moment2 = 0.0

    @classmethod
    def hint(cls, key: str) -> str:
        own = key.lower().removeprefix("i")
        return f"that is `{own}` here" if own in cls.model_fields else super().hint(key)


class Offset(Oriented):
    xyz: Point = Field(default=(0.0, 0.0, 0.0), description="in the parent's frame")


class CutFrame(Oriented):
    """One side of a cut: a frame in the link's axes, by point and orientation or by Khalil's parameters."""

    at: Place = Field(default=(0.0, 0.0, 0.0), description="a point in link axes, or the name of one of its points")
    axis: Direction | None = Field(default=None, description="the frame's z; default [0, 0, 1]")
    gamma: Angle = 0.0
    b: Length = 0.0
    alpha: Angle = 0.0
    d: Length = 0.0
    theta: Angle = 0.0
    r: Length = 0.0


class GraphJoint(JointEntry):
    """A joint of the spanning tree of a mechanism that is given as a graph."""

    convention: Literal["graph"] = Field(default="graph", alias=MARK, exclude=True)
    first: CutFrame = Field(default=CutFrame.model_construct(), description="in the first link")
    second: CutFrame = Field(default=CutFrame.model_construct(), description="in the second link")
    turned: bool = Field(default=False, description="the second link is the parent")


def _tag(joint: Any) -> str:
    """The tag of the model that reads the joint; for data that is no mapping, of a model that refuses it."""
    convention = joint.get(MARK) if isinstance(joint, dict) else getattr(joint, "convention", None)
    return f"({convention if convention in (*JOINTS, GRAPH) else 'frames'})"


class LinkEntry(Strict):
    name: Name = Field(description="its own among links; `base` is the ground")
    parent: Name | None = Field(default=None, description="defaults to the link before; the first hangs on `base`")
    convention: Annotated[str, Choice(CONVENTIONS)] | None = Field(
        default=None, description="of this link; default: the robot's"
    )
    joint: Annotated[
        Annotated[DhJoint, Tag("(dh)")]
        | Annotated[KhalilJoint, Tag("(khalil)")]
        | Annotated[FramesJoint, Tag("(frames)")]
        | Annotated[GraphJoint, Tag("(graph)")],
        Discriminator(_tag),
    ] = Field(description="on which it hangs")
    offset: Offset | None = Field(default=None, description="fixed placement before the joint")
    mass: Annotated[float, quantity_field("mass", at_least=0.0)] | None = Field(
        default=None, description="0 for a link without any"
    )
    com: Point | None = Field(default=None, description="mass centre from the link's origin, link axes")
    com_from: Literal["link", "end"] | None = Field(
        default=None, description="the frame of `com`, its origin and axes; `end` with dh only"
    )
    r: Point | None = Field(
        default=None, description="from the mass centre to the end frame's origin, end-frame axes; dh only"
    )
    first_moments: Annotated[tuple[Moment1, Moment1, Moment1], field_of_several(3)] | None = Field(
        default=None, description="mass times `com`"
    )
    inertia: Inertia | None = Field(default=None, description="entries of its tensor")
    about: Literal["com", "origin"] = Field(
        default="com", description="what the inertia is about: the mass centre or the link's origin"
    )
    frame: Literal["link", "end"] | None = Field(default=None, description="axes of the inertia")
    points: dict[Name, Point] = Field(default={}, description="named points, link axes")
    shape: Shapes = Field(default=[], description="what it looks like: one body or several; pictures only")


class WrenchEntry(Strict):
    """A constant wrench on a link."""

    link: Name = Field(description="on which it acts")
    force: Annotated[tuple[Force, Force, Force], field_of_several(3)] = (0.0, 0.0, 0.0)
    moment: Annotated[tuple[Moment, Moment, Moment], field_of_several(3)] = (0.0, 0.0, 0.0)
    at: Point = Field(default=(0.0, 0.0, 0.0), description="where the force acts, link axes")
    axes: Literal["link", "base"] = Field(default="link", description="of force and moment")


class OwnCoordinate(WithLimits):
    """The keys of a cut joint that needs its own coordinate, and has one then as any joint of the tree has."""

    actuated: StrictBool | None = Field(default=None, description="default: it is not")
    friction: Friction | None = Field(default=None, description="against the motion")
    rotor_inertia: Annotated[float, quantity_field("rotor", at_least=0.0)] = Field(
        default=0.0, description="of its motor"
    )
    spring: Spring | None = Field(default=None, description="along the joint's coordinate")
    effort: EffortEntry | None = Field(default=None, description="what its actuator may do")
    initial: Coordinates | None = Field(default=None, description="initial coordinates")


class LoopEntry(OwnCoordinate):
    """A cut joint, which closes a loop."""

    name: Name | None = Field(default=None, description="default: loop<k>, k its place among the loops")
    joint: Annotated[str, Choice(CUTS)] = Field(description="the type of the cut joint")
    between: Annotated[tuple[Name, Name], field_of_several(2, "links")] = Field(
        description="the two links; one may be `base`"
    )
    first: CutFrame = Field(default=CutFrame(), description="the cut's frame in the first link")
    second: CutFrame = Field(default=CutFrame(), description="the cut's frame in the second link")
    radius: Annotated[float, quantity_field("length", above=0.0)] | None = Field(
        default=None, description="of what rolls"
    )
    as_: Annotated[str, Choice(CUT_FORMS)] | None = Field(
        default=None, alias="as", description="another form of a rolling cut; default: a disc"
    )
    spin: Literal["free", "hooke"] = Field(
        default="free", description="the idle spin of a rod between two spherical joints"
    )

    @classmethod
    def form(cls) -> str:
        return "{joint: revolute, between: [link, link], first: {at: [x, y, z]}, second: {at: [x, y, z]}}"


class CouplingEntry(Strict):
    """`joint` follows `to`: q = ratio × q_to + offset; or several joints, the sum of their ratio × q."""

    joint: Name = Field(description="which follows")
    to: Annotated[tuple[Name, ...], ONE_OR_SEVERAL, Or()] = Field(
        description="which leads; or a list of joints", min_length=1
    )
    ratio: Annotated[tuple[Number, ...], ONE_OR_SEVERAL, Or()] = Field(
        description="of their motions; one for each joint that leads"
    )
    offset: Position = Field(default=0.0, description="of `joint` where `to` is 0")


class ActuatorEntry(Strict):
    """A sought force (or moment) on a link, or on a weighted sum of joints (a tendon, a motor behind a gear)."""

    name: Name = Field(description="its own among joints, loops and actuators")
    link: Name | None = Field(default=None, description="on which it acts; or `joints`")
    at: Place = Field(default=(0.0, 0.0, 0.0), description="where it acts on the link")
    direction: Direction | None = Field(default=None, description="in which it acts on the link")
    axes: Literal["link", "base"] = Field(default="link", description="of the direction")
    joints: dict[Name, Number] = Field(
        default={}, description="joint: coefficient; the actuator moves by the sum of coefficient × coordinate"
    )
    gear: Number = Field(default=1.0, description="by which all coefficients of `joints` are multiplied")
    kind: Literal["force", "moment"] | None = Field(
        default=None, description="what is sought; default: a force, on revolute joints a moment"
    )
    effort: EffortEntry | None = Field(default=None, description="what it may do, before its gear")

    @classmethod
    def form(cls) -> str:
        return "{name: …, link: …, direction: [1, 0, 0]}, or {name: …, joints: {joint1: 1, joint2: -0.5}}"


class SpringEntry(Strict):
    """A spring with a damper over a weighted sum of joints: a tendon, or a shaft between gears."""

    name: Name = Field(description="its own among joints, loops, actuators and springs")
    joints: dict[Name, Number] = Field(
        description="joint: coefficient; it is stretched by the sum of coefficient × coordinate", min_length=1
    )
    stiffness: Annotated[float, quantity_field("stiffness", at_least=0.0)] = Field(
        default=0.0, description="its force over its stretch"
    )
    rest: Position = Field(default=0.0, description="the sum at which its force is 0")
    slack: Annotated[float, quantity_field("position", at_least=0.0)] = Field(
        default=0.0, description="how much larger than `rest` the sum may be before the spring is stretched"
    )
    damping: Annotated[float, quantity_field("damping", at_least=0.0)] = Field(
        default=0.0, description="force over rate"
    )

    @classmethod
    def form(cls) -> str:
        return "{name: …, joints: {joint1: 1, joint2: -0.5}, stiffness: 20}"


class JointInGraph(LoopEntry):
    """A joint of a mechanism given as a graph."""

    joint: Annotated[str, Choice(CUTS, TYPES)] = Field(description="the joint's type")
    pitch: Annotated[float, quantity_field("pitch")] | None = Field(default=None, description="of a helical joint")


class GraphFile(Strict):
    joints: list[JointInGraph] = Field(min_length=1, description="all joints, cut ones too")


class RobotFile(Strict):
    name: FileName = Field(description="results and titles carry it")
    about: str = Field(default="", description="one line")
    convention: Annotated[str, Choice(CONVENTIONS)] = Field(description="how joints are placed")
    gravity: Annotated[tuple[Acceleration, Acceleration, Acceleration], field_of_several(3)] = Field(
        default=(0.0, 0.0, -9.81), description="base frame"
    )
    links: list[LinkEntry] = Field(min_length=1, description="parents may come after their children")
    wrenches: list[WrenchEntry] = Field(default=[], description="constant ones, on links")
    loops: list[LoopEntry] = Field(default=[], description="the cut joints that close loops")
    assembly: dict[Name, Coordinates] = Field(
        default={}, description="a guess, by joint, of the positions in which the loops close"
    )
    couplings: list[CouplingEntry] = Field(default=[], description="gears, rack and pinion: joints that follow others")
    actuators: list[ActuatorEntry] = Field(
        default=[], description="further sought forces, on links or on sums of joints"
    )
    springs: list[SpringEntry] = Field(default=[], description="springs and dampers over sums of joints")
    joints: list[JointInGraph] = Field(
        default=[], description="all joints of a mechanism, instead of a tree and `loops`: cuts are chosen"
    )


def joints_with_conventions(data: Any) -> Any:
    """The file's data with each joint marked by its convention, which decides which keys it may have."""
    if not isinstance(data, dict) or not isinstance(data.get("links"), list):
        return data
    marked = []
    for link in data["links"]:
        if isinstance(link, dict) and isinstance(link.get("joint"), dict):
            convention = link.get("convention") or data.get("convention")
            if convention not in CONVENTIONS:
                convention = _likeliest(link["joint"])
            link = {**link, "joint": {**link["joint"], MARK: convention}}
        marked.append(link)
    return {**data, "links": marked}


def _likeliest(joint: dict[str, Any]) -> str:
    """The convention that knows most of the joint's keys, so that a file without one isn't also blamed for its keys."""
    return max(JOINTS, key=lambda name: len(set(JOINTS[name].keys()).intersection(joint)))
