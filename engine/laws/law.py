"""What motion laws and force laws have in common: parameters with kinds, files over time, instants, short steps."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

import numpy as np
from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from ..text.fields import Strict, quantity_field, quantity_kinds_of_fields
from .csv_tables import OVERSHOOT, Spline, read_law_table_columns, refuse_units_of_law_table

Duration = Annotated[float, quantity_field("time", above=0.0)]
Pace = tuple[float, float, float]  # from, to, and the longest step in between that misses nothing
STEPS = 40  # in a period or a profile, so that an integrator at rest doesn't step over it

# the kinds of quantities whose units depend on the joint: (if it turns, if it slides)
OF_JOINT = {
    "position": ("angle", "length"),
    "velocity": ("rate", "speed"),
    "effort": ("moment", "force"),
    "stiffness": ("turn stiffness", "slide stiffness"),
    "damping": ("turn damping", "slide damping"),
}


class Law(Strict):
    """A motion or force law: a row of a table, which the key `law` names.

    The type of a parameter gives its kind of quantity, such as `one_or_more("position")`; `OF_JOINT` says which units
    that allows for joints that turn and for joints that slide.
    """

    example: ClassVar[Mapping[str, Any]] = {}  # parameters for the reference page, for editors, and for tests

    @classmethod
    def law_name(cls) -> str:
        """The law's name, which is the value of the key `law`."""
        return str(get_args(cls.model_fields["law"].annotation)[0])

    @classmethod
    def exemplary(cls) -> Self:
        """The law with the parameters of its example."""
        return cls.model_validate({"law": cls.law_name(), **cls.example})

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler(schema)
        handler.resolve_ref_schema(made)["examples"] = [{"law": cls.law_name(), **cls.example}]
        return made

    def measured(self) -> Iterator[tuple[str, str, Any]]:
        """The key, kind and value of each parameter whose units depend on the joint."""
        for name, kind in quantity_kinds_of_fields(type(self)).items():
            value = getattr(self, name)
            if kind in OF_JOINT and value is not None:
                yield type(self).model_fields[name].alias or name, kind, value

    def pace(self, t0: float, t1: float, folder: Path) -> Pace | None:
        """The time in which the law needs short steps, and their length; None if it needs none."""
        return None

    def breaks(self, folder: Path) -> Sequence[float]:
        """Instants at which derivatives of the law may jump."""
        return ()

    def file(self) -> str | None:
        """The name of the CSV file that the law reads over time, if there is one."""
        return None

    def files(self) -> list[str]:
        """The names of all files that the law reads."""
        name = self.file()
        return [] if name is None else [name]

    def refuse_units(self, folder: Path, kinds: Sequence[str]) -> None:
        """Raises an error if a column of the law's file has a unit of another kind than that in its place."""

    def columns_by_key(self) -> dict[str, list[str]]:
        """The names of the columns that the law reads, by the keys that name them."""
        return {}

    def columns_read(self) -> list[str]:
        """The names of the columns that the law reads."""
        return [name for names in self.columns_by_key().values() for name in names]

    def doubts(self, folder: Path) -> Iterator[str]:
        """Warnings about the file that the law reads."""
        yield from ()


class TableLaw(Law):
    """A law that reads columns of a CSV file over its time and joins their rows by a spline."""

    example = {"file": "table.csv", "columns": ["first", "second"]}
    cure: ClassVar[str] = "`interpolation: pchip` or `linear` stays within"
    law: Literal["table"]
    file_: str = Field(alias="file", description="a CSV file beside the scenario, in SI or the units in its header")
    column: str | None = Field(default=None, description="for a joint with one coordinate")
    columns: list[str] | None = Field(default=None, min_length=1, description="one for each coordinate")
    interpolation: Literal["spline", "pchip", "linear"] = Field(
        default="spline", description="between the rows; `spline` may leave the range of the rows around"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        law_has_one_parameter_of(self, "column", "columns")
        return self

    def splines(self, folder: Path) -> list[Spline]:
        """A spline through each of the columns."""
        t, values = read_law_table_columns(folder / self.file_, self.columns_read())
        return [Spline(t, values[:, k], self.interpolation) for k in range(values.shape[1])]

    def refuse_units(self, folder: Path, kinds: Sequence[str]) -> None:
        refuse_units_of_law_table(folder / self.file_, self.columns_read(), kinds)

    def doubts(self, folder: Path) -> Iterator[str]:
        """Warnings about splines that leave the range of the rows around them."""
        for name, spline in zip(self.columns_read(), self.splines(folder)):
            begin, end, share = spline.overshoot()
            if share > OVERSHOOT:
                yield (
                    f"between {begin:g} and {end:g} s the spline through `{name}` of `{self.file_}` leaves the range "
                    f"of the rows around by {100 * share:.3g} % of the column's range; {self.cure}"
                )

    def pace(self, t0: float, t1: float, folder: Path) -> Pace | None:
        """The time of the table, with a step for every two rows."""
        t, _ = read_law_table_columns(folder / self.file_, self.columns_read())
        return float(t[0]), float(t[-1]), 2 * float(t[-1] - t[0]) / (len(t) - 1)

    def breaks(self, folder: Path) -> Sequence[float]:
        """The instants of the rows."""
        rows: list[float] = read_law_table_columns(folder / self.file_, self.columns_read())[0].tolist()
        return rows

    def file(self) -> str | None:
        return self.file_

    def columns_by_key(self) -> dict[str, list[str]]:
        return {"columns": self.columns} if self.columns else {"column": [str(self.column)]}


def law_has_one_parameter_of(law: Strict, first: str, second: str) -> None:
    """Raises an error unless the law has exactly one of the two parameters."""
    if (getattr(law, first) is None) == (getattr(law, second) is None):
        context = {"first": first, "second": second, "allowed": f"`{first}` or `{second}`"}
        raise PydanticCustomError("one_of", "exactly one of `{first}` and `{second}` is needed", context)


def law_angular_frequency(frequency: float | None, period: float | None) -> float:
    """The angular frequency, from the frequency or from the period."""
    if frequency is None:
        assert period is not None, "`law_has_one_parameter_of` has checked it"
        frequency = 1.0 / period
    return 2 * np.pi * frequency
