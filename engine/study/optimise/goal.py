"""What a study minimises, and the limits that it keeps: numbers of the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...text.expressions import PLAIN, Dimension, dimension_in_words
from ..sweep.keep import dimension_of_sweep_column
from ..sweep.probe import Probed, si_unit_of_study_dimension
from ..sweep.table import Table


@dataclass(frozen=True)
class Limit:
    """A limit of an output; `sign` is 1 for a largest value that is allowed, and −1 for a smallest one."""

    output: str
    sign: float
    value: float
    words: str


class Goal:
    """A weighted sum of outputs that is to be small, and limits of outputs."""

    def __init__(self, ready: Probed):
        file = ready.study.file
        self._ready = ready
        self.weights = {name: float(weight) for name, weight in (file.minimise or {}).items()}
        (name, weight), *others = (file.minimise or {}).items()
        self.unit = si_unit_of_study_dimension(self._dimension())
        if not others and weight.dimension == PLAIN:
            self.unit = ready.units[name]
        self.limits = [
            Limit(name, sign, float(limit), f"{name} {words} {limit.written}")
            for name, limits in file.subject_to.items()
            for limit, sign, words in ((limits.at_least, -1.0, "at least"), (limits.at_most, 1.0, "at most"))
            if limit is not None
        ]

    @cached_property
    def name(self) -> str:
        """The sum in words."""
        factors = {1.0: "", -1.0: "-"}
        parts = [factors.get(weight, f"{weight:g} ") + name for name, weight in self.weights.items()]
        return " + ".join(parts).replace("+ -", "- ")

    def _dimension(self) -> Dimension:
        """The dimension of all parts of the sum, which is the same."""
        study, units = self._ready.study, self._ready.units
        parts: dict[str, Dimension] = {}
        for name, weight in (study.file.minimise or {}).items():
            a, b = weight.dimension, dimension_of_sweep_column(units[name])
            parts[name] = (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
        (first, dimension), *others = parts.items()
        for name, other in others:
            if other != dimension:
                words = f"`{name}` is {dimension_in_words(other)}, `{first}` {dimension_in_words(dimension)}"
                hint = "a weight may have a unit, such as `2 m/N`"
                raise study.document.error(("minimise", name), words, hint=hint, allowed="parts of one kind")
        return dimension

    def values(self, made: Table) -> np.ndarray:
        """The sum for each run; NaN where a run has no sound numbers, or didn't end as expected."""
        total = sum(weight * np.asarray(made[name]) for name, weight in self.weights.items())
        return np.where(made.as_expected, total, np.nan)

    def rooms(self, made: Table) -> np.ndarray:
        """How far each run is inside of each limit, (runs, limits); negative outside."""
        columns = [one.sign * (one.value - np.asarray(made[one.output])) for one in self.limits]
        return np.column_stack([np.zeros((len(made), 0)), *columns])

    def slopes(self, outputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of the sum, and of the rooms of all limits, from those of the outputs."""
        total = np.array([weight * outputs[name] for name, weight in self.weights.items()]).sum(axis=0)
        rooms = [-one.sign * outputs[one.output] for one in self.limits]
        return total, np.array(rooms).reshape(-1, len(total))
