"""Which runs a comparison has, the numbers of one of them, and the tables of all: a summary by method, and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ...errors import InputError, allowed_names
from ...mechanics.closure import METHODS, Parameter, parameters_of_closure_methods

STAGES = {"rk4": 4}
ADAPTIVE, FIXED = "rk45", "rk4"


@dataclass(frozen=True)
class Options:
    """The methods, integrators and parameters to be compared."""

    methods: Sequence[str] = field(default_factory=lambda: tuple(METHODS))
    rtols: Sequence[float] = (1e-3, 1e-6)
    steps: Sequence[float] = (0.01, 0.001)
    values: Mapping[str, Sequence[float]] = field(
        default_factory=dict
    )  # of parameters; by default the `compared` of their rows
    feedback: bool = True
    max_step: float | None = None  # None: a fiftieth of the duration
    max_evaluations: int = 20_000


@dataclass(frozen=True)
class RunSetting:
    """The setting of one run; `accuracy` is the relative tolerance or the step."""

    method: str
    parameter: str
    value: float | None
    integrator: str
    accuracy: float
    feedback: bool = False

    @property
    def adaptive(self) -> bool:
        return self.integrator == ADAPTIVE

    @property
    def model(self) -> str:
        return self.method + (f" {self.parameter} = {self.value:g}" if self.value is not None else "")

    @property
    def integration(self) -> str:
        return f"rtol {self.accuracy:g}" if self.adaptive else f"step {self.accuracy:g} s"

    def __str__(self) -> str:
        return f"{self.model}, {self.integration}" + (", feedback" if self.feedback else "")


def compared_method_parameter(name: str) -> Parameter:
    """The parameter of a closure method that has this name."""
    known = {one.name: one for one in parameters_of_closure_methods()}
    if name not in known:
        message = f"no closure method has a parameter `{name}`"
        raise InputError(message, key="--values", found=name, **allowed_names(name, known))
    return known[name]


def settings_to_compare(options: Options) -> list[RunSetting]:
    """The settings of all runs: each model with each integrator, then with feedback at the smallest step."""
    result: list[RunSetting] = []
    ways = [(ADAPTIVE, x) for x in sorted(options.rtols, reverse=True)]
    ways += [(FIXED, x) for x in sorted(options.steps, reverse=True)]
    for name in options.methods:
        models = _models(options, name)
        result += [RunSetting(name, *model, *way) for model, way in product(models, ways)]
        if options.feedback and options.steps:
            varied = _varied(options, name)
            few = models if varied is None or varied.bends else models[:1]
            result += [RunSetting(name, *model, FIXED, min(options.steps), True) for model in few]
    return result


def _varied(options: Options, name: str) -> Parameter | None:
    """The method's first parameter that has values to compare."""
    return next((one for one in METHODS[name].parameters if _values(options, one)), None)


def _values(options: Options, parameter: Parameter) -> Sequence[float]:
    return options.values.get(parameter.name, parameter.compared)


def _models(options: Options, name: str) -> list[tuple[str, float | None]]:
    """The varied parameter with each of its values, or only the first one for a slow method."""
    varied = _varied(options, name)
    if varied is None:
        return [("", None)]
    values = _values(options, varied)
    return [(varied.name, value) for value in (values[:1] if METHODS[name].recomputes_null_space else values)]


@dataclass
class Run:
    """The numbers of a run; unknown ones are NaN."""

    setting: RunSetting
    ended: str
    reason: str = ""
    reached: float = math.nan  # s
    evaluations: int = 0
    steps: int = 0
    rejected: int = 0
    switches: int = 0  # of coordinates
    seconds: float = math.nan
    evaluation: float = math.nan  # s, one of the equations of motion alone
    error_max: float = math.nan  # of the driven joints, rad or m
    error_rms: float = math.nan
    closure: float = math.nan  # m
    closure_angle: float = math.nan
    energy: float = math.nan  # J
    stiffness: float = math.nan  # largest |eigenvalue| times the duration
    correction: float = math.nan  # percent of the joint's largest planned force
    correction_rms: float = math.nan
    correction_now: float = math.nan  # percent of the force that is planned at the same instant
    unit: str = ""  # of errors: rad, m, or both
    t: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    table: dict[str, np.ndarray] = field(default_factory=dict, repr=False)  # the columns of the result
    errors: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    corrections: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def row(self) -> dict[str, Any]:
        """The run as a row of the CSV file."""
        s = self.setting
        return {
            "method": s.method,
            "parameter": s.parameter,
            "value": s.value,
            "integrator": s.integrator,
            "rtol": s.accuracy if s.adaptive else None,
            "step": None if s.adaptive else s.accuracy,
            "feedback": int(s.feedback),
            "ended": self.ended,
            "reason": self.reason,
            "unit": self.unit,
            **{name: getattr(self, name) for name in NUMBERS},
        }


NUMBERS = (
    "reached",
    "evaluations",
    "steps",
    "rejected",
    "switches",
    "seconds",
    "evaluation",
    "error_max",
    "error_rms",
    "closure",
    "closure_angle",
    "energy",
    "stiffness",
    "correction",
    "correction_rms",
    "correction_now",
)
COLUMNS = tuple(Run(RunSetting("", "", None, "", 0.0), "").row())


def comparison_summary(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A row for each method, in the manner of the thesis' Table 5.1, but with numbers."""
    rows = []
    for method in dict.fromkeys(run.setting.method for run in runs):
        own = [run for run in runs if run.setting.method == method]
        free = [run for run in own if not run.setting.feedback]
        done = [run for run in free if run.ended == "done"]
        fed = [run for run in own if run.setting.feedback and run.ended == "done"]
        row: dict[str, Any] = {"method": method, "runs": len(own), "failed": sum(run.ended != "done" for run in own)}
        for rtol in sorted({run.setting.accuracy for run in free if run.setting.adaptive}, reverse=True):
            counts = [run.evaluations for run in done if run.setting.adaptive and run.setting.accuracy == rtol]
            row[f"evaluations at rtol {rtol:g}"] = comparison_span(counts)
        row["microseconds an evaluation"] = comparison_span([1e6 * run.evaluation for run in free])
        row["stiffness"] = comparison_span([run.stiffness for run in free])
        row["least joint error"] = min((run.error_max for run in done), default=math.nan)
        row["largest closure error, m"] = max((run.closure for run in done), default=math.nan)
        row["correction, percent"] = comparison_span([run.correction for run in fed])
        row["switches"] = max((run.switches for run in own), default=0)
        rows.append(row)
    return rows


def comparison_span(values: Sequence[float]) -> str:
    """The range from the least to the largest known value, as text."""
    known = [x for x in values if math.isfinite(x)]
    if not known:
        return ""
    low, high = f"{min(known):.3g}", f"{max(known):.3g}"
    if all(isinstance(x, int) for x in known):
        low, high = str(min(known)), str(max(known))
    return low if low == high else f"{low} to {high}"


def comparison_csv(rows: Sequence[dict[str, Any]], heads: Sequence[str] = ()) -> str:
    """The rows as CSV, with all digits of the numbers, and empty cells for unknown ones."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads or (rows[0] if rows else []))
    for row in rows:
        writer.writerow([_cell(x) for x in row.values()])
    return out.getvalue()


def _cell(x: Any) -> Any:
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return ""
    return repr(float(x)) if isinstance(x, float) else x
