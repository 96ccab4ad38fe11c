"""Scenario files: the models that read them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from ..files.fields import FileName, Name, Point, Strict, number, one_or_more, several
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
    start: number("time") = 0.0  # type: ignore[valid-type]
    end: number("time")  # type: ignore[valid-type]
    step: number("time", above=0.0) | None = Field(None, description="of the output; default: 200 rows")  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _runs_forwards(self) -> Time:
        if not self.end > self.start:
            raise PydanticCustomError(
                "time", "the end must come after the start", {"allowed": f"end more than {self.start:g} s"}
            )
        return self


# a component of a wrench: a number, or a law of time
Component = Annotated[
    Annotated[AnyForceLaw, Tag("law")] | Annotated[number("effort"), Tag("number")],
    Discriminator(lambda value: "law" if hasattr(value, "law") or isinstance(value, dict) else "number"),
]


class WrenchEntry(Strict):
    """A wrench on a link; each component a number or a law."""

    link: Name
    force: several(Component, 3) = (0.0, 0.0, 0.0)  # type: ignore[valid-type]
    moment: several(Component, 3) = (0.0, 0.0, 0.0)  # type: ignore[valid-type]
    at: Point = (0.0, 0.0, 0.0)
    axes: Literal["link", "base"] = "link"


def _no_bound(value: Any) -> Any:
    return None if value in ("inf", ".inf", float("inf")) else value


class SolverEntry(Strict):
    method: Literal[tuple(METHODS)] = "rk45"  # type: ignore[valid-type]
    rtol: number("number", above=0.0) = 1e-8  # type: ignore[valid-type]
    atol: number("number", above=0.0) | None = Field(None, description="default: rtol/100")  # type: ignore[valid-type]
    max_step: Annotated[number("time", above=0.0) | None, BeforeValidator(_no_bound)] = None  # type: ignore[valid-type]
    step: number("time", above=0.0) | None = Field(None, description="of fixed-step methods; default: the output's")  # type: ignore[valid-type]
    max_steps: Annotated[int, Field(ge=1, le=100_000_000)] = 1_000_000
    at_singularity: Literal["stop", "switch", "through"] = "stop"
    friction: Literal["stick-slip", "smooth"] = "stick-slip"
    friction_rate: number("velocity", above=0.0) = Field(0.01, description="of smooth friction: tanh(rate/this)")  # type: ignore[valid-type]
    limits: Literal["stop", "ignore"] = Field("stop", description="joint limits: inelastic stops, or none")


class ClosureEntry(Strict):
    method: Literal[CLOSURES] = "denoc"  # type: ignore[valid-type]


class RecordEntry(Strict):
    torques: bool = True
    reactions: bool = False
    energy: bool = True
    points: list[str] = Field([], description="named points, `link.point`")


class ScenarioFile(Strict):
    name: FileName | None = Field(None, description="default: the file's name")
    about: str = ""
    robot: str | None = Field(None, description="a file beside this one, or a robot of the library")
    task: Literal["inverse", "simulate"]
    time: Time
    motion: dict[str, AnyMotionLaw] = {}
    forces: dict[str, AnyForceLaw] = {}
    wrenches: list[WrenchEntry] = []
    initial: dict[str, one_or_more("initial")] = {}  # type: ignore[valid-type]
    rates: dict[str, one_or_more("velocity")] = {}  # type: ignore[valid-type]
    solver: SolverEntry = SolverEntry()
    closure: ClosureEntry = ClosureEntry()
    drives: list[Any] = Field([], max_length=0)
    expect: Literal["done", "singularity"] = "done"
    record: RecordEntry = RecordEntry()
    plots: list[Literal[tuple(PLOTS)]] = Field(["torques", "angles"])  # type: ignore[valid-type]
