"""The models that read what a scenario wants of a run: the columns under `record`, and the figures under `plots`."""

from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from ..record import PLOTS
from ..text.fields import FORMULA_SCHEMA as FORMULA
from ..text.fields import Choice, FileName, Generated, Name, Or, Strict, formula_field, unit_field
from .tabulate import FAMILIES


class FormulaEntry(Strict):
    """A column that is a formula over other columns."""

    formula: Annotated[str, formula_field()] = Field(description="over time `t` and the columns of the result, in SI")
    unit: Annotated[str, unit_field()] | None = Field(
        default=None, description="of the column, whose numbers are given in it; default: SI, and not said"
    )


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _entry_of(key: str) -> BeforeValidator:
    """A validator that takes anything but a mapping as the value of this key."""
    return BeforeValidator(lambda value: value if isinstance(value, dict | Strict) else {key: value})


class DrawingEntry(Strict):
    """A plot of columns against any other, or one of the usual plots in degrees."""

    plot: Annotated[str, Choice(PLOTS)] | None = Field(default=None, description="one of the usual plots, or:")
    y: Annotated[list[str], BeforeValidator(_listed), Or()] = Field(default=[], description="columns, or one of them")
    x: Annotated[list[str], BeforeValidator(_listed), Or()] = Field(
        default=["t"], description="the column that they are drawn over, or one for each of them"
    )
    name: FileName | None = Field(default=None, description="of the file, behind the scenario's; default: `y` and `x`")
    title: str = Field(default="", description="default: the robot's name")
    degrees: StrictBool = Field(default=False, description="angles in degrees")
    equal: StrictBool | None = Field(
        default=None, description="the same scale on both axes; default: where both are positions of a point"
    )

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if (self.plot is None) == (not self.y):
            found = "both" if self.y else "neither"
            allowed = "`plot`, one of the usual plots, or `y`, columns"
            raise PydanticCustomError("drawing", "either `plot` or `y`", {"allowed": allowed, "found": found})
        if len(self.x) not in (1, len(self.y) or 1):
            found = f"{len(self.x)} under `x`, {len(self.y)} under `y`"
            allowed = "one column under `x`, or as many as under `y`"
            raise PydanticCustomError("drawing", "columns in pairs", {"allowed": allowed, "found": found})
        return self


def _is_mapping(value: Any) -> str:
    return "(drawing)" if isinstance(value, dict | DrawingEntry) else "(name)"


Drawn = Annotated[
    Annotated[DrawingEntry, Tag("(drawing)")] | Annotated[str, Choice(PLOTS), Tag("(name)")], Discriminator(_is_mapping)
]


class RecordEntry(Strict):
    points: list[str] = Field(default=[], description="named points, `link.point`")
    axes: Literal["base", "link"] = Field(
        default="base",
        description="of wrenches in joints and cuts: the ground's, or those of the link on which they act",
    )

    expressions: dict[Name, Annotated[FormulaEntry, _entry_of("formula"), Or(tuple(FORMULA.items()))]] = Field(
        default={}, description="further columns: name: formula, or {formula, unit}"
    )

    def wants(self, family: str) -> bool:
        """Whether the columns of a family are wanted; families without a key always are."""
        return bool(getattr(self, family, True))


def record_section_model() -> type[RecordEntry]:
    """The model of the section `record`, with a key for each optional family in the present table."""
    return _record_entry(
        tuple((name, row.default, row.about) for name, row in FAMILIES.items() if row.default is not None)
    )


@lru_cache(maxsize=16)
def _record_entry(switches: tuple[tuple[str, bool, str], ...]) -> type[RecordEntry]:
    fields: dict[str, Any] = {name: (StrictBool, Field(default=x, description=about)) for name, x, about in switches}
    return create_model(RecordEntry.__name__, __base__=RecordEntry, **fields)


RECORD = Generated(record_section_model)
