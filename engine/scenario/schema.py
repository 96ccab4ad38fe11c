"""Scenario files: the models that read them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, Tag, model_validator
from pydantic_core import PydanticCustomError

from ..files.fields import Choice, FileName, Name, Numbers, Point, Strict, number, one_or_more, several
from ..motion.forces import AnyForceLaw
from ..motion.laws import AnyMotionLaw
from ..record.plots import PLOTS
from ..simulate.integrate import METHODS

CLOSURES = (
    "denoc",
    "multipliers",
    "projection-qr",
    "projection-svd",
    "projection-gauss",
    "penalty",
    "denoc-extended",
    "projection-svd-raw",
)


class Time(Strict):
    start: Annotated[float, number("time")] = 0.0
    end: Annotated[float, number("time")]
    step: Annotated[float, number("time", above=0.0)] | None = Field(
        default=None, description="of the output; default: 200 rows"
    )

    @model_validator(mode="after")
    def _runs_forwards(self) -> Time:
        if not self.end > self.start:
            context = {
                "allowed": f"an end of more than {self.start:g} s",
                "found": f"start {self.start:g} s, end {self.end:g} s",
            }
            raise PydanticCustomError("time", "the end must come after the start", context)
        return self


# a component of a wrench: a number, or a law of time
Component = Annotated[
    Annotated[AnyForceLaw, Tag("(law)")] | Annotated[float, number("effort"), Tag("(number)")],
    Discriminator(lambda value: "(law)" if hasattr(value, "law") or isinstance(value, dict) else "(number)"),
]


class WrenchEntry(Strict):
    """A wrench on a link; each component a number or a law."""

    link: Name
    force: Annotated[tuple[Component, Component, Component], several(3)] = (0.0, 0.0, 0.0)
    moment: Annotated[tuple[Component, Component, Component], several(3)] = (0.0, 0.0, 0.0)
    at: Point = (0.0, 0.0, 0.0)
    axes: Literal["link", "base"] = "link"


def _no_bound(value: Any) -> Any:
    return None if value in ("inf", ".inf", float("inf")) else value


class SolverEntry(Strict):
    method: Annotated[str, Choice(tuple(METHODS))] = "rk45"
    rtol: Annotated[float, number("number", at_least=1e-15, below=1.0)] = 1e-8
    atol: Annotated[float, number("number", at_least=1e-30)] | None = Field(
        default=None, description="default: rtol/100"
    )
    max_step: Annotated[Annotated[float, number("time", above=0.0)] | None, BeforeValidator(_no_bound)] = None
    step: Annotated[float, number("time", above=0.0)] | None = Field(
        default=None, description="of fixed-step methods; default: the output's"
    )
    max_steps: Annotated[int, Field(strict=True, ge=1, le=100_000_000)] = 1_000_000
    at_singularity: Literal["stop", "switch", "through"] = "stop"
    friction: Literal["stick-slip", "smooth"] = "stick-slip"
    friction_rate: Annotated[float, number("velocity", above=0.0)] = Field(
        default=0.01, description="of smooth friction: rate/sqrt(rate^2 + this^2)"
    )
    limits: Literal["stop", "ignore"] = Field(default="stop", description="joint limits: inelastic stops, or none")


class ClosureEntry(Strict):
    method: Annotated[str, Choice(CLOSURES)] = "denoc"


class RecordEntry(Strict):
    torques: StrictBool = True
    reactions: StrictBool = False
    energy: StrictBool = True
    points: list[str] = Field(default=[], description="named points, `link.point`")


def _no_drives(value: Any) -> Any:
    if value not in ([], ()):
        raise PydanticCustomError(
            "drives", "drives can't be computed by this version", {"allowed": "none: [] or no `drives` at all"}
        )
    return value


class ScenarioFile(Strict):
    name: FileName | None = Field(default=None, description="default: the file's name")
    about: str = ""
    robot: str | None = Field(default=None, description="a file beside this one, or a robot of the library")
    task: Literal["inverse", "simulate"]
    time: Time
    motion: dict[str, AnyMotionLaw] = {}
    forces: dict[str, AnyForceLaw] = {}
    wrenches: list[WrenchEntry] = []
    initial: dict[str, Annotated[Numbers, one_or_more("initial")]] = {}
    rates: dict[str, Annotated[Numbers, one_or_more("velocity")]] = {}
    solver: SolverEntry = SolverEntry()
    closure: ClosureEntry = ClosureEntry()
    drives: Annotated[list[Any], BeforeValidator(_no_drives)] = []
    expect: Literal["done", "singularity"] = "done"
    record: RecordEntry = RecordEntry()
    plots: list[Annotated[str, Choice(tuple(PLOTS))]] = Field(default=["torques", "angles"])
