"""The models that read scenario files, and from which their JSON Schema is made."""

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from ..laws import MOTION_LAWS, AnyForceLaw, AnyMotionLaw
from ..mechanics.closure import METHODS, Parameter, parameters_of_closure_methods
from ..record import PLOTS
from ..robot.read import Direction, Place
from ..simulate.integrators import INTEGRATORS
from ..text.fields import FORMULA_SCHEMA as FORMULA
from ..text.fields import (
    Choice,
    FileName,
    Generated,
    Name,
    Numbers,
    Or,
    Point,
    Strict,
    field_of_several,
    formula_field,
    quantity_field,
    quantity_list_field,
    unit_field,
)
from .tabulate import FAMILIES

if TYPE_CHECKING:
    from ..text.fields import Schema


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


class Time(Strict):
    start: Annotated[float, quantity_field("time")] = Field(default=0.0, description="of the run")
    end: Annotated[float, quantity_field("time")] = Field(description="of the run")
    step: Annotated[float, quantity_field("time", above=0.0)] | None = Field(
        default=None, description="of the output; default: 200 rows"
    )

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if not self.end > self.start:
            context = {
                "allowed": f"an end of more than {self.start:g} s",
                "found": f"start {self.start:g} s, end {self.end:g} s",
            }
            raise PydanticCustomError("time", "the end must come after the start", context)
        return self


# a component of a wrench: a number, or a law of time
Component = Annotated[
    Annotated[AnyForceLaw, Tag("(law)")] | Annotated[float, quantity_field("effort"), Tag("(number)")],
    Discriminator(lambda value: "(law)" if hasattr(value, "law") or isinstance(value, dict) else "(number)"),
]


class WrenchEntry(Strict):
    """A wrench on a link, with numbers or laws as components."""

    link: Name = Field(description="on which it acts")
    force: Annotated[tuple[Component, Component, Component], field_of_several(3)] = (0.0, 0.0, 0.0)
    moment: Annotated[tuple[Component, Component, Component], field_of_several(3)] = (0.0, 0.0, 0.0)
    at: Point = Field(default=(0.0, 0.0, 0.0), description="where the force acts, link axes")
    axes: Literal["link", "base"] = Field(default="link", description="of force and moment")


def _no_bound(value: Any) -> Any:
    return None if value in ("inf", ".inf", float("inf")) else value


class SolverEntry(Strict):
    method: Annotated[str, Choice(INTEGRATORS)] = Field(default="rk45", description="of integration")
    rtol: Annotated[float, quantity_field("number", at_least=1e-15, below=1.0)] = Field(
        default=1e-8, description="relative tolerance of a step"
    )
    atol: Annotated[float, quantity_field("number", at_least=1e-30)] | None = Field(
        default=None, description="default: rtol/100"
    )
    max_step: Annotated[
        Annotated[float, quantity_field("time", above=0.0)] | None, BeforeValidator(_no_bound), Or((("const", "inf"),))
    ] = Field(default=None, description="default: no bound")
    step: Annotated[float, quantity_field("time", above=0.0)] | None = Field(
        default=None, description="of fixed-step methods; default: the output's"
    )
    max_steps: Annotated[int, Field(strict=True, ge=1, le=100_000_000)] = Field(
        default=1_000_000, description="more end the run as failed"
    )
    at_singularity: Literal["stop", "switch", "through"] = Field(default="stop", description="of closed loops")
    friction: Literal["stick-slip", "smooth"] = Field(
        default="stick-slip", description="dry friction: joints that stick, or a smooth law"
    )
    friction_rate: Annotated[float, quantity_field("velocity", above=0.0)] = Field(
        default=0.01, description="of smooth friction: rate/sqrt(rate^2 + this^2)"
    )
    limits: Literal["stop", "ignore"] = Field(default="stop", description="joint limits: inelastic stops, or none")
    energy: Literal["judge", "accept"] = Field(
        default="judge", description="a broken energy balance fails the run, or is a warning"
    )
    error: Literal["accept", "estimate"] = Field(
        default="accept", description="run once more with a tenth of the tolerances, and say what that changes"
    )


class ClosureEntry(Strict):
    method: Annotated[str, Choice(METHODS)] = Field(default="denoc", description="of closing loops")
    independent: list[Name] | None = Field(
        default=None, description="joints; default: the actuated ones where they are as many as the freedoms"
    )

    def values(self) -> dict[str, float | None]:
        """The values of all methods' parameters, None for those that have neither a value in the file nor a default."""
        return {name: getattr(self, name) for name in type(self).model_fields if name not in ClosureEntry.model_fields}


def closure_section_model() -> type[ClosureEntry]:
    """The model of the section `closure`, with the parameters of all methods in the present table."""
    return _closure_entry(tuple((one, tuple(methods)) for one, methods in parameters_of_closure_methods().items()))


@lru_cache(maxsize=16)
def _closure_entry(rows: tuple[tuple[Parameter, tuple[str, ...]], ...]) -> type[ClosureEntry]:
    fields: dict[str, Any] = {}
    for one, methods in rows:
        annotation: Any = Annotated[float, quantity_field(one.kind, at_least=one.at_least, above=one.above)]
        of = ", ".join(f"`{method}`" for method in methods)
        field = Field(default=one.default, description=f"of {of}: {one.about}")
        fields[one.name] = (annotation if one.default is not None else annotation | None, field)
    return create_model(ClosureEntry.__name__, __base__=ClosureEntry, **fields)


CLOSURE = Generated(closure_section_model)


class PointEntry(Strict):
    """A point of a link."""

    link: Name = Field(description="or `base`")
    at: Place = Field(default=(0.0, 0.0, 0.0), description="link axes, or the name of a point")


class DriveEntry(Strict):
    """The motion of a point's coordinate, or of the distance of two points, as a function of time.

    The law's keys stand beside the others, or under `motion` if the law has a `to` of its own.
    """

    name: Name = Field(description="of the drive; its force is in the column `<name>.force`")
    link: Name | None = Field(default=None, description="the link whose point is driven")
    at: Place = Field(default=(0.0, 0.0, 0.0), description="the point: link axes, or the name of a point")
    to: Name = Field(default="base", description="the link from whose origin the coordinate is measured")
    along: Direction = Field(default=(0.0, 0.0, 1.0), description="the direction, in the axes of `to`")
    distance: Annotated[tuple[PointEntry, PointEntry], field_of_several(2, "points")] | None = Field(
        default=None, description="of two points, instead of a coordinate"
    )
    motion: AnyMotionLaw = Field(description="the law")

    @model_validator(mode="before")
    @classmethod
    def _law_beside(cls, data: Any) -> Any:
        if isinstance(data, dict) and "motion" not in data and "law" in data:
            known = cls.keys()
            own = {key: value for key, value in data.items() if key in known}
            return {**own, "motion": {key: value for key, value in data.items() if key not in own}}
        return data

    @classmethod
    def form(cls) -> str:
        return "{name: …, link: …, at: [x, y, z], along: [0, 0, 1], law: …}"


class ToleranceEntry(Strict):
    rtol: Annotated[float, quantity_field("number", at_least=0.0, below=1.0)] | None = Field(
        default=None, description="of the column's largest number"
    )
    atol: Annotated[float, quantity_field("number", at_least=0.0)] | None = Field(
        default=None, description="in the column's unit"
    )


class RegressEntry(ToleranceEntry):
    """The tolerances of a comparison with a baseline, and its extent."""

    until: Annotated[float, quantity_field("time")] | None = Field(
        default=None, description="rows after it aren't compared"
    )
    columns: dict[str, ToleranceEntry] = Field(default={}, description="by column; * stands for any letters")
    pinned: list[Annotated[str, Choice(PLOTS)]] = Field(default=[], description="plots compared as images")


class ReplayEntry(Strict):
    """Notes on how the programs of a run ran, written by denoc beside results and followed by a replay."""

    backend: Literal["auto", "compiled", "plain"] = Field(default="auto", description="as `--backend`, which overrides")
    form_: Literal["auto", "straight", "rolled"] = Field(default="auto", alias="form", description="of compiled code")
    lanes: Annotated[int, Field(strict=True, ge=0, le=64)] = Field(default=0, description="0: what the processor has")
    cpu: str = Field(default="", description="the processor that it ran on")
    cached: list[str] = Field(
        default=[], description="programs that ran compiled: their names, and from which call on (`name@call`)"
    )
    versions: dict[str, str] = Field(default={}, description="of denoc and what it stands on")


class ScenarioFile(Strict):
    name: FileName | None = Field(default=None, description="default: the file's name")
    about: str = Field(default="", description="one line")
    robot: str | None = Field(default=None, description="a file beside this one, or a robot of the library")
    task: Literal["inverse", "simulate"] = Field(
        description="`inverse`: motion given, forces sought; `simulate`: forces given, motion sought"
    )
    time: Time = Field(description="of the run and of the output's rows")
    motion: dict[str, AnyMotionLaw] = Field(
        default={}, description="joint: motion law; `all` for every actuated joint that isn't named"
    )
    forces: dict[str, AnyForceLaw] = Field(
        default={}, description="joint or actuator: force law; `all` for every actuated joint that isn't named"
    )
    wrenches: list[WrenchEntry] = Field(
        default=[], description="on links; components may be laws of time, or formulas over time and state"
    )
    initial: dict[str, Annotated[Numbers, quantity_list_field("initial")]] = Field(
        default={}, description="joint: coordinates at the start, where they aren't the robot's"
    )
    rates: dict[str, Annotated[Numbers, quantity_list_field("velocity")]] = Field(
        default={}, description="joint: speeds at the start, where they aren't 0"
    )
    solver: SolverEntry = Field(default=SolverEntry(), description="of simulations")
    closure: Annotated[ClosureEntry, CLOSURE] = CLOSURE.field("of closed loops")
    drives: list[DriveEntry] = Field(default=[], description="points and distances whose motion is given")
    expect: Literal["done", "singularity", "either"] = Field(default="done", description="how the run should end")
    record: Annotated[RecordEntry, RECORD] = RECORD.field("what is among the columns")
    plots: list[Drawn] = Field(
        default=["torques", "angles"], description="what is drawn: usual plots, or columns against any other"
    )
    regress: RegressEntry = Field(default=RegressEntry(), description="how results are compared with a baseline")
    replay: ReplayEntry | None = Field(default=None, description="written by denoc beside results")


def scenario_schema() -> "Schema":
    """The JSON Schema by which editors check scenario files."""
    from ..text.fields import json_schema

    schema = json_schema(ScenarioFile, "a scenario of denoc")
    definitions = schema["$defs"]
    drive = definitions[DriveEntry.__name__]
    own = {key: value for key, value in drive["properties"].items() if key != "motion"}
    laws = [definitions[law.__name__] for law in MOTION_LAWS.values()]
    needed = [key for key in drive["required"] if key != "motion"]
    beside = [  # the keys of a law beside those of the drive
        {**law, "properties": {**own, **law["properties"]}, "required": needed + law["required"]}
        for law in laws
        if not set(law["properties"]) & set(own)
    ]
    definitions[DriveEntry.__name__] = {"if": {"required": ["motion"]}, "then": drive, "else": {"anyOf": beside}}
    return schema
