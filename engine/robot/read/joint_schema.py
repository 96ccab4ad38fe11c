"""The models that read joints, in every convention."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, Tag

from ...text.fields import Angle, Choice, Length, Name, Or, Point, Position, Strict, field_of_several, quantity_field
from ..joints import FORMS, TYPES
from .orientation import Number, Oriented

Effort = Annotated[float, quantity_field("effort")]
Direction = Annotated[tuple[Number, Number, Number], field_of_several(3)]
MARK: Final = "(convention)"  # put into each joint by `joints_with_conventions`; no file has such a key by accident


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


ONE_OR_SEVERAL = BeforeValidator(_listed)  # beside `Or()`
Coordinates = Annotated[tuple[Position, ...], ONE_OR_SEVERAL, Or()]


class Friction(Strict):
    coulomb: Annotated[float, quantity_field("effort", at_least=0.0)] = Field(default=0.0, description="dry friction")
    viscous: Annotated[float, quantity_field("damping", at_least=0.0)] = Field(
        default=0.0, description="force over rate"
    )


class Spring(Strict):
    stiffness: Annotated[float, quantity_field("stiffness", at_least=0.0)] = Field(
        description="of a spring beside the actuator, or of an elastic joint"
    )
    rest: Position = Field(default=0.0, description="where its force is 0")
    pose: Coordinates | None = Field(
        default=None, description="where it is relaxed, of spherical and free joints: the joint's coordinates there"
    )
    damping: Annotated[float, quantity_field("damping", at_least=0.0)] = Field(
        default=0.0, description="force over rate"
    )


class EffortEntry(Strict):
    """The limits of an actuator, and its weight where it shares the work with others."""

    limits: Annotated[tuple[Effort, Effort], field_of_several(2)] | None = Field(
        default=None, description="[low, high] of its force"
    )
    weight: Annotated[float, quantity_field("number", above=0.0)] = Field(
        default=1.0, description="its share of the sum of squares that is kept least"
    )


class LimitsEntry(Strict):
    """Limits of a joint's position and of its speed."""

    position: Annotated[tuple[Position, Position], field_of_several(2)] | None = Field(
        default=None, description="[low, high]; without it the joint moves freely"
    )
    velocity: Annotated[float, quantity_field("velocity", above=0.0)] | None = Field(
        default=None, description="the largest speed to either side"
    )


def _kind_of_limits(value: Any) -> str:
    return "(mapping)" if isinstance(value, dict | LimitsEntry) else "(list)"


Limits = Annotated[
    Annotated[tuple[Position, Position], field_of_several(2), Tag("(list)")] | Annotated[LimitsEntry, Tag("(mapping)")],
    Discriminator(_kind_of_limits),
]


class WithLimits(Strict):
    """A joint whose limits are the two of its position, or a mapping."""

    limits: Limits | None = Field(
        default=None, description="[low, high] of the position, or `{position: [low, high], velocity: …}`"
    )

    @property
    def range(self) -> tuple[float, float] | None:
        """The limits of the position."""
        return self.limits.position if isinstance(self.limits, LimitsEntry) else self.limits

    @property
    def range_key(self) -> tuple[str, ...]:
        """The path of the position's limits within the joint."""
        return ("limits", "position") if isinstance(self.limits, LimitsEntry) else ("limits",)

    @property
    def largest_speed(self) -> float | None:
        return self.limits.velocity if isinstance(self.limits, LimitsEntry) else None


class JointEntry(WithLimits):
    """The keys of a joint in every convention."""

    type: Annotated[str, Choice(TYPES)] = Field(description="which way the link moves")
    name: Name | None = Field(default=None, description="defaults to joint<k>, k the link's place in the file")
    as_: Annotated[str, Choice(FORMS)] | None = Field(
        default=None, alias="as", description="another form of a spherical joint"
    )
    actuated: StrictBool | None = Field(
        default=None, description="default: 1-DOF joints are that have no spring and no part in `actuators`"
    )
    friction: Friction | None = Field(default=None, description="in the joint")
    rotor_inertia: Annotated[float, quantity_field("rotor", at_least=0.0)] = Field(
        default=0.0, description="of the drive, on the joint's side"
    )
    spring: Spring | None = Field(
        default=None, description="between parent and link; with one the joint isn't actuated by default"
    )
    effort: EffortEntry | None = Field(default=None, description="what its actuator may do")
    spin: Literal["free", "hooke"] = Field(
        default="free", description="the idle spin of a rod between two spherical joints"
    )
    pitch: Annotated[float, quantity_field("pitch")] | None = Field(default=None, description="of a helical joint")
    initial: Coordinates | None = Field(default=None, description="initial coordinates")

    @classmethod
    def form(cls) -> str:
        return "type: revolute and the parameters of its convention, for example"

    @classmethod
    def hint(cls, key: str) -> str:
        own = cls.model_fields["convention"].default if "convention" in cls.model_fields else ""
        homes = [name for name, model in JOINTS.items() if key in set(model.keys())]
        if homes:
            return f"`{key}` belongs to the convention {' and '.join(f'`{x}`' for x in homes)}; this joint's is `{own}`"
        return super().hint(key)


class DhJoint(JointEntry):
    """The papers' Denavit-Hartenberg parameters: Rz(theta) Tz(b) Tx(a) Rx(alpha)."""

    convention: Literal["dh"] = Field(default="dh", alias=MARK, exclude=True)
    a: Length = Field(default=0.0, description="along x of the end frame")
    b: Length = Field(default=0.0, description="along the joint's z; variable of a prismatic joint")
    alpha: Angle = Field(default=0.0, description="about x, between the axes")
    theta: Angle = Field(default=0.0, description="about the joint's z; variable of a revolute joint")

    @classmethod
    def hint(cls, key: str) -> str:
        if key == "d":
            return "the offset along the joint's z is `b` here; most books call it `d`"
        return super().hint(key)


class KhalilJoint(JointEntry):
    """Khalil's parameters: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)."""

    convention: Literal["khalil"] = Field(default="khalil", alias=MARK, exclude=True)
    gamma: Angle = Field(default=0.0, description="about the parent's z")
    b: Length = Field(default=0.0, description="along the parent's z")
    alpha: Angle = Field(default=0.0, description="about x, between the axes")
    d: Length = Field(default=0.0, description="along x, between the axes")
    theta: Angle = Field(default=0.0, description="about the joint's z; variable of a revolute joint")
    r: Length = Field(default=0.0, description="along the joint's z; variable of a prismatic joint")

    @classmethod
    def hint(cls, key: str) -> str:
        if key == "a":
            return "the distance along x is `d` here, and it comes before the joint; Denavit and Hartenberg call it `a`"
        return super().hint(key)


class FramesJoint(Oriented, JointEntry):
    """A joint's frame by position, roll-pitch-yaw and axis, as in URDF."""

    convention: Literal["frames"] = Field(default="frames", alias=MARK, exclude=True)
    xyz: Point = Field(default=(0.0, 0.0, 0.0), description="the joint's place in the parent's frame")
    axis: Direction | None = Field(
        default=None, description="the direction that it turns about or slides along; default: z"
    )


JOINTS: dict[str, type[JointEntry]] = {"dh": DhJoint, "khalil": KhalilJoint, "frames": FramesJoint}
