"""The design of a study: which values its numbers take in each run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...text.expressions import Quantity
from .schema import SAMPLED, StudyFile, VariedEntry

Value = float | str | bool


@dataclass(frozen=True)
class Design:
    """All combinations of grids and lists, the last one quickest, and at each of them the same points of samples."""

    file: StudyFile

    @cached_property
    def count(self) -> int:
        """The number of runs."""
        return sweep_design_size(self.file)

    @cached_property
    def columns(self) -> dict[str, list[Value]]:
        """The values of each number in all runs."""
        rounds = [self._round(n) for n in range(self.file.repeat)]
        return {name: [x for one in rounds for x in one[name]] for name in self.file.vary}

    def _round(self, n: int) -> dict[str, list[Value]]:
        """The values in one of the times that all of it is done."""
        samples, vary, count = sampled_sweep_points(self.file, n), self.file.vary, self.count // self.file.repeat
        block = (self.file.samples or 1) if samples else 1  # runs in which the last factor stays as it is
        made: dict[str, list[Value]] = {name: x.tolist() * (count // block) for name, x in samples.items()}
        for name in reversed([name for name, one in vary.items() if one.way not in SAMPLED]):
            turn = [x for x in sweep_list_values(vary[name]) for _ in range(block)]
            made[name] = turn * (count // len(turn))
            block = len(turn)
        return made

    def point(self, k: int) -> dict[str, Value]:
        """The values of all numbers in run k."""
        return {name: column[k] for name, column in self.columns.items()}


@dataclass(frozen=True)
class Listed:
    """Runs at given points, such as those that a search asks for."""

    columns: dict[str, list[Value]]

    @property
    def count(self) -> int:
        """The number of runs."""
        return len(next(iter(self.columns.values())))

    def point(self, k: int) -> dict[str, Value]:
        """The values of all numbers in run k."""
        return {name: column[k] for name, column in self.columns.items()}


def sweep_design_size(file: StudyFile) -> int:
    """The number of runs, however large it is."""
    lengths = [sweep_list_length(one) for one in file.vary.values() if one.way not in SAMPLED]
    some = any(one.way in SAMPLED for one in file.vary.values())
    return math.prod(lengths) * (file.samples or 1 if some else 1) * file.repeat


def sweep_list_length(one: VariedEntry) -> int:
    """The number of values of a grid or list."""
    if one.grid is not None:
        return one.grid.count
    return len(one.list_ or ())


def sweep_list_values(one: VariedEntry) -> Sequence[Value]:
    """The values of a grid or list."""
    if one.grid is None:
        return [float(x) if isinstance(x, Quantity) else x for x in one.list_ or ()]
    spaced = np.linspace if one.grid.spacing == "linear" else np.geomspace
    made: list[Value] = spaced(float(one.grid.from_), float(one.grid.to), one.grid.count).tolist()
    return made


def sampled_sweep_points(file: StudyFile, n: int = 0) -> dict[str, np.ndarray]:
    """The points of the numbers that are sampled, for the n-th time.

    Random ones don't change when another number is added behind them, and those of one time not when it is repeated.
    """
    made: dict[str, np.ndarray] = {}
    count = file.samples or 1
    for way in SAMPLED:
        names = [name for name, one in file.vary.items() if one.way == way]
        if not names:
            continue
        for name, u in zip(names, sampled_sweep_cube(way, len(names), count, (file.seed, *(n,) * (n > 0))).T):
            low, high = (float(x) for x in file.vary[name].given(way))
            made[name] = low + (high - low) * u
    return made


def sampled_sweep_cube(way: str, width: int, count: int, seed: tuple[int, ...]) -> np.ndarray:
    """Points of the unit cube, with a row for each."""
    if way == "random":
        sources = [np.random.default_rng([seed[0], k, *seed[1:]]) for k in range(width)]
        return np.stack([one.random(count) for one in sources], axis=1)
    from scipy.stats import qmc

    points: np.ndarray
    source = np.random.default_rng(seed)
    with warnings.catch_warnings():  # a Sobol sequence may have any length here
        warnings.filterwarnings("ignore", message="The balance properties")
        if way == "latin":
            points = qmc.LatinHypercube(width, seed=source).random(count)
        else:
            points = qmc.Sobol(width, seed=source).random(count)
    return points
