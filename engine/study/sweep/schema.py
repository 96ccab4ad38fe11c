"""The models that read study files, and from which their JSON Schema is made."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from ...text.expressions import PLAIN, Dimension, ExpressionError, Quantity, dimension_in_words, evaluate_expression
from ...text.fields import QUANTITY, Choice, FileName, Or, Reader, Schema, Strict, json_schema
from ..minimisers import METHODS

SAMPLED = ("random", "latin", "sobol")
SEARCHED = "between"  # the way in which a search for a minimum varies a number
NO_NUMBERS = ("nan", "inf", "infinity")
WAYS = ("grid", "list", *SAMPLED, SEARCHED)
MOST_RUNS = 1_000_000
MOST_NUMBER = sys.float_info.max
ALLOWED_NUMBER = "a number, or text with a unit such as `30 deg`"


def any_study_quantity(value: Any) -> Quantity:
    """A number of any dimension, from a number or an expression."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PydanticCustomError("quantity", "a number is needed here", {"allowed": ALLOWED_NUMBER})
    if not isinstance(value, str):
        if not abs(value) <= MOST_NUMBER:
            raise PydanticCustomError("quantity", "a finite number is needed here", {"allowed": ALLOWED_NUMBER})
        return Quantity(value, PLAIN, str(value))
    try:
        made = evaluate_expression(value)
    except ExpressionError as error:
        raise PydanticCustomError("quantity", "{message}", {"message": str(error), "allowed": ALLOWED_NUMBER}) from None
    return Quantity(made, made.dimension, value)


def _entry(value: Any) -> Quantity | str | bool:
    """A value of a list: a number where it can be one, else a word, or true or false."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.strip().lower().lstrip("+-.") in NO_NUMBERS:
            raise PydanticCustomError(
                "number", "not a finite number", {"found": f"`{value}`", "allowed": "finite numbers, words"}
            )
        try:
            return any_study_quantity(value) if re.search("[0-9]|pi", value) else value
        except PydanticCustomError:
            return value
    return any_study_quantity(value)


def _upwards(bounds: tuple[Quantity, Quantity]) -> tuple[Quantity, Quantity]:
    low, high = bounds
    study_dimension_of_alike_numbers(low, high)
    if not high > low:
        context = {"found": f"from {low.written} to {high.written}", "allowed": "the lower bound first"}
        raise PydanticCustomError("bounds", "the bounds are upside down", context)
    return bounds


def study_dimension_of_alike_numbers(*numbers: Quantity) -> Dimension:
    """The dimension of numbers, of which those without a unit are in SI units; different ones are an error."""
    units = [one for one in numbers if one.dimension != PLAIN]
    for one in units[1:]:
        if one.dimension != units[0].dimension:
            words = f"{dimension_in_words(units[0].dimension)} and {dimension_in_words(one.dimension)}"
            found = f"{units[0].written}, {one.written}"
            raise PydanticCustomError("units", "units of different kinds: {words}", {"words": words, "found": found})
    return units[0].dimension if units else PLAIN


def _all_alike(entries: tuple[Quantity | str | bool, ...]) -> tuple[Quantity | str | bool, ...]:
    study_dimension_of_alike_numbers(*(one for one in entries if isinstance(one, Quantity)))
    return entries


def _weighted(value: Any) -> Any:
    """The weights of outputs, where a name alone has the weight 1."""
    return {value: 1} if isinstance(value, str) else value


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


ANY: Schema = {"anyOf": [{"type": "number"}, QUANTITY]}
Number = Annotated[Quantity, Reader(any_study_quantity, ANY)]
Entry = Annotated[
    Quantity | str | bool, Reader(_entry, {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}]})
]
Bounds = Annotated[tuple[Number, Number], AfterValidator(_upwards)]


class GridEntry(Strict):
    """Numbers from one to another, evenly spaced."""

    from_: Number = Field(alias="from", description="the first number")
    to: Number = Field(description="the last number")
    count: Annotated[int, Field(strict=True, ge=2)] = Field(description="how many, both ends included")
    spacing: Literal["linear", "logarithmic"] = Field(default="linear", description="equal steps or equal ratios")

    @model_validator(mode="after")
    def _runs_upwards(self) -> GridEntry:
        _upwards((self.from_, self.to))
        if self.spacing == "logarithmic" and not self.from_ > 0:
            raise PydanticCustomError(
                "bounds", "equal ratios need positive numbers", {"found": f"from {self.from_.written}"}
            )
        return self


class VariedEntry(Strict):
    """A number that varies, by one of `grid`, `list`, `random`, `latin` and `sobol`, or `between` bounds."""

    key: Annotated[list[str], Or((("type", "string"),)), BeforeValidator(_one_or_more)] = Field(
        default=[], description="of the scenario or, after `robot.`, of the robot, as for `--set`; several in a list"
    )
    grid: GridEntry | None = Field(default=None, description="each with each of the other grids and lists")
    list_: Annotated[tuple[Entry, ...], Field(min_length=1), AfterValidator(_all_alike)] | None = Field(
        default=None,
        alias="list",
        description="numbers or words, each with each of the others",
    )
    random: Bounds | None = Field(default=None, description="two bounds; evenly distributed between them")
    latin: Bounds | None = Field(default=None, description="two bounds; together a Latin hypercube")
    sobol: Bounds | None = Field(default=None, description="two bounds; together a Sobol sequence, scrambled")
    between: Bounds | None = Field(default=None, description="two bounds; sought between them, with `minimise`")
    start: Number | None = Field(
        default=None, description="where a search begins; default: halfway `between` the bounds"
    )

    @model_validator(mode="after")
    def _one_way(self) -> VariedEntry:
        ways = [way for way in WAYS if self.given(way) is not None]
        if len(ways) != 1:
            raise PydanticCustomError(
                "ways", "one way to vary is needed", {"found": ", ".join(ways) or "none", "allowed": ", ".join(WAYS)}
            )
        if self.start is not None:
            if self.between is None:
                raise PydanticCustomError(
                    "start", "`start` is for a number that is sought", {"found": ways[0], "allowed": SEARCHED}
                )
            study_dimension_of_alike_numbers(self.start, *self.between)
            if not self.between[0] <= self.start <= self.between[1]:
                low, high = (bound.written for bound in self.between)
                context = {"found": self.start.written, "allowed": f"from {low} to {high}"}
                raise PydanticCustomError("start", "the start is out of the bounds", context)
        return self

    @property
    def way(self) -> str:
        """The name of the way in which it varies."""
        return next(way for way in WAYS if self.given(way) is not None)

    def given(self, way: str) -> Any:
        """What the file gives for one of the ways."""
        return self.list_ if way == "list" else getattr(self, way)


class CrossingEntry(Strict):
    """The first instant at which a column comes to a value from another one."""

    column: str = Field(description="of the results")
    reaches: Number = Field(description="the value that it comes to")
    going: Literal["up", "down", "either"] = Field(default="either", description="the way in which it passes the value")


class KeptEntry(Strict):
    """A number of each run that is kept: of a column, or an expression over others."""

    column: str | None = Field(default=None, description="of the results, such as `joint1.tau`, or `t`")
    take: Literal["max", "min", "largest", "rms", "mean", "final", "settles"] | None = Field(
        default=None,
        description="over the run; `largest` of absolute values, `rms` and `mean` over time, when it `settles`",
    )
    within: Number | None = Field(default=None, description="how far from `goal` it may be when it has settled")
    goal: Number | None = Field(default=None, description="what it settles at; default: its final value")
    at: CrossingEntry | None = Field(default=None, description="in place of `take`: the value when a column …")
    expression: str | None = Field(default=None, description="over the names of numbers that vary or are kept above")

    @model_validator(mode="after")
    def _one_source(self) -> KeptEntry:
        if (self.take == "settles") != (self.within is not None) or (self.goal is not None and self.within is None):
            allowed = "{column: joint1.q, take: settles, within: 1 deg, goal: 30 deg}"
            together = "`settles` and `within` go together, and `goal` with both"
            raise PydanticCustomError("kept", together, {"allowed": allowed})
        if self.within is not None and not self.within > 0:
            raise PydanticCustomError("kept", "`within` has to be above 0", {"found": self.within.written})
        ways = (self.take is not None) + (self.at is not None)
        if (self.expression is not None, self.column is not None, ways) in ((True, False, 0), (False, True, 1)):
            return self
        allowed = "{column: joint1.tau, take: max}, {column: t, at: {column: joint1.q, reaches: 0}}, or {expression: …}"
        raise PydanticCustomError("kept", "not a number of a run", {"allowed": allowed})


class RangeEntry(Strict):
    """The range that a kept number has to be in: in each run that came to its end, or at a minimum."""

    at_least: Number | None = Field(default=None, description="not below it")
    at_most: Number | None = Field(default=None, description="not above it")


class ExpectedEntry(Strict):
    """What the study has to come to; else the exit code is 3."""

    failed: Annotated[int, Field(strict=True, ge=0)] | None = Field(
        default=None, description="how many runs may end otherwise than their scenario expects; default: any number"
    )
    outputs: dict[str, RangeEntry] = Field(default={}, description="kept number: its range")


SEARCHES = ("subject_to", "method", "starts", "evaluations", "tolerance")  # fields that need `minimise`


class StudyFile(Strict):
    name: FileName | None = Field(default=None, description="default: the file's name")
    about: str = Field(default="", description="one line")
    scenario: str = Field(description="a file beside this one, or a scenario of the library")
    robot: str | None = Field(default=None, description="in place of the scenario's")
    vary: dict[str, VariedEntry] = Field(description="name: a number that varies", min_length=1)
    set_: dict[str, StrictBool | str | float] = Field(
        default={},
        alias="set",
        description="key: an expression over the names under `vary`, a number, or `true` or `false`",
    )
    samples: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None, description="how many points `random`, `latin` and `sobol` have, with each point of the grid"
    )
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(default=0, description="of `random`, `latin` and `sobol`")
    repeat: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=1, description="how many times over all of it is done, each time with samples of its own"
    )
    keep: dict[str, KeptEntry] = Field(description="name: a number of each run", min_length=1)
    rows: list[str] = Field(default=[], description="columns that are kept whole, with a row for each instant")
    pareto: dict[str, Literal["min", "max"]] = Field(
        default={}, description="kept number: which is better; runs that no other run beats in all of them are marked"
    )
    expect: ExpectedEntry = Field(default=ExpectedEntry(), description="what the study has to come to")
    minimise: Annotated[dict[str, Number], Or((("type", "string"),)), BeforeValidator(_weighted)] | None = Field(
        default=None,
        min_length=1,
        description="a kept number, or several with weights, that `denoc optimise` makes as small as it can",
    )
    subject_to: dict[str, RangeEntry] = Field(
        default={}, alias="subject-to", description="kept number: its range at the minimum"
    )
    method: Annotated[str, Choice(METHODS)] | None = Field(
        default=None, description="of the search; default: by derivatives where there are any, else without"
    )
    starts: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None,
        description="how many searches, the first from `start`, the others from a Sobol sequence",
    )
    evaluations: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None, description="how many runs the search may take; default: 1000"
    )
    tolerance: Annotated[float, Field(gt=0.0, lt=1.0)] | None = Field(
        default=None, description="of what is minimised, as a share of its value at the start; default: 1e-8"
    )
    plot: StrictBool = Field(default=True, description="the kept numbers over those that vary")


def study_schema() -> Schema:
    """The JSON Schema by which editors check study files."""
    return json_schema(StudyFile, "a study of denoc")
