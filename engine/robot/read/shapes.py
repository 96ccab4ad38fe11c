"""What links look like: simple bodies and mesh files, for pictures only."""

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from ...text.fields import Or, Point, Strict, field_of_several, quantity_field
from ..model import Shape
from .joint_schema import ONE_OR_SEVERAL
from .orientation import Number, Oriented, oriented_placement
from .values import Complain

Extent = Annotated[float, quantity_field("length", at_least=0.0)]
KINDS = ("box", "cylinder", "sphere", "capsule", "mesh")


class Rod(Strict):
    """A cylinder, or a capsule, about z of its frame, whose origin is in the middle."""

    radius: Extent = Field(description="of its section")
    length: Extent = Field(description="along z; of a capsule without its round ends")


class Sphere(Strict):
    radius: Extent = Field(description="of the sphere")


class Mesh(Strict):
    file: str = Field(
        description="STL, OBJ or Collada file: its path from the robot's file, or its address in a package",
        min_length=1,
    )
    scale: Annotated[tuple[Number, Number, Number], field_of_several(3)] = Field(
        default=(1.0, 1.0, 1.0), description="along x, y and z of the mesh"
    )


class ShapeEntry(Oriented):
    """One body of a link's picture: exactly one of box, cylinder, sphere, capsule and mesh."""

    name: str = Field(default="", description="what it shows")
    box: Annotated[tuple[Extent, Extent, Extent], field_of_several(3, "lengths")] | None = Field(
        default=None, description="its edges along x, y and z; the origin is in its middle"
    )
    cylinder: Rod | None = Field(default=None, description="about z")
    sphere: Sphere | None = Field(default=None, description="about the origin")
    capsule: Rod | None = Field(default=None, description="a cylinder about z with round ends")
    mesh: Mesh | None = Field(default=None, description="a file")
    xyz: Point = Field(default=(0.0, 0.0, 0.0), description="where its frame is, link axes")
    colour: Annotated[tuple[Number, Number, Number, Number], field_of_several(4)] | None = Field(
        default=None, description="red, green, blue and opacity, from 0 to 1"
    )
    spare: bool = Field(
        default=False, description="whether it is drawn only in place of the others, where one of them can't be"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if len(self.kinds()) != 1:
            which = " and ".join(f"`{kind}`" for kind in self.kinds()) or "none of them"
            raise PydanticCustomError("shape", "a shape is one body", {"found": which, "allowed": ", ".join(KINDS)})
        return self

    def kinds(self) -> list[str]:
        """The kinds of body that the entry names, which have to be one."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]


Shapes = Annotated[list[ShapeEntry], ONE_OR_SEVERAL, Or()]


def shape_of_link_entry(entry: ShapeEntry, place: int, complain: Complain) -> Shape:
    """The body that an entry describes; `place` is its own in the link's list."""
    kind = entry.kinds()[0]
    body = getattr(entry, kind)
    at = oriented_placement(entry.xyz, entry, ("shape", place), complain)
    if isinstance(body, Mesh):
        return Shape(kind, at, body.scale, body.file, entry.name, entry.colour, entry.spare)
    size = (body.radius, body.length) if isinstance(body, Rod) else (body.radius,) if isinstance(body, Sphere) else body
    return Shape(kind, at, tuple(map(float, size)), "", entry.name, entry.colour, entry.spare)
