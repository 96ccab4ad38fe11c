"""Which runs a comparison of closure methods has: methods, parameters, integrators and their accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from ...errors import InputError, did_you_mean
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
        raise InputError(
            f"no closure method has a parameter `{name}`",
            key="--values",
            found=name,
            allowed=", ".join(known),
            hint=did_you_mean(name, tuple(known)),
        )
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
    return [(varied.name, value) for value in (values[:1] if METHODS[name].afresh else values)]
