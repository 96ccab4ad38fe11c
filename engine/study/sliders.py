"""Numbers of a robot's file that a page lets its reader change, and how everything that the page reads follows them.

What follows is a vector of numbers, f(s), which is fitted once by Chebyshev polynomials over the sliders' ranges, as
the sum of what each slider does alone and of what two of them do together. Whether that is all is tried where all of
them are somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError

NODES = 12  # of each slider's range
EXACT = 1e-12  # by which the fit may differ from the numbers, relative to the largest of their kind in the vector
SMALL = 1e-15  # of coefficients, relative to the number, that are left out

Function = Callable[[Sequence[float]], np.ndarray]

_TURNS = np.pi * (np.arange(NODES) + 0.5) / NODES
_PLACES = np.cos(_TURNS)
_TO_CHEBYSHEV = np.cos(np.outer(np.arange(NODES), _TURNS)) * np.where(np.arange(NODES) == 0, 1.0, 2.0)[:, None] / NODES


@dataclass(frozen=True)
class Slider:
    """A number of the file: its key, its range, its value there, its unit, and what it is in words."""

    key: str
    low: float
    high: float
    value: float
    unit: str = ""
    words: str = ""

    def at(self, x: np.ndarray | float) -> np.ndarray:
        """The value at a place between −1 and 1."""
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / 2 * x)


def fit_slider_polynomials(sliders: Sequence[Slider], f: Function) -> dict[str, Any]:
    """The vector at the sliders' own values, and the polynomials of those of its numbers that change.

    `alone[i]` has pairs of a place in the vector and the coefficients of what slider i adds there; `together` has the
    same for pairs of sliders, with a matrix of coefficients.
    """
    own = [one.value for one in sliders]
    base = f(own)

    def changed(values: dict[int, float]) -> np.ndarray:
        return f([values.get(k, x) for k, x in enumerate(own)]) - base

    alone = [
        np.array([changed({i: float(x)}) for x in one.at(_PLACES)])
        if one.high > one.low
        else np.zeros((NODES, len(base)))
        for i, one in enumerate(sliders)
    ]
    for i, one in enumerate(sliders):  # so that nothing is added at the slider's own value
        alone[i] = alone[i] - _series(_TO_CHEBYSHEV @ alone[i], _place(one)) if one.high > one.low else alone[i]
    polynomials = [_TO_CHEBYSHEV @ values for values in alone]
    together = {}
    for i, j in combinations(range(len(sliders)), 2):
        away = {i: float(sliders[i].at(0.83)), j: float(sliders[j].at(-0.71))}
        rest = changed(away) - _series(polynomials[i], 0.83) - _series(polynomials[j], -0.71)
        if (abs(rest) > EXACT * _sizes(base)).any():
            together[i, j] = _pair(sliders, i, j, changed, polynomials)
    _check(sliders, f, base, polynomials, together)
    return {
        "base": base.tolist(),
        "alone": [_kept(table, base) for table in polynomials],
        "together": [[i, j, _kept(table.reshape(-1, len(base)), base)] for (i, j), table in together.items()],
    }


def _pair(
    sliders: Sequence[Slider],
    i: int,
    j: int,
    changed: Callable[[dict[int, float]], np.ndarray],
    polynomials: Sequence[np.ndarray],
) -> np.ndarray:
    """The coefficients of what two sliders do together, beyond what each does alone."""
    values = np.array(
        [[changed({i: float(x), j: float(y)}) for y in sliders[j].at(_PLACES)] for x in sliders[i].at(_PLACES)]
    )
    for n, place in enumerate(_PLACES):
        values[n] -= _series(polynomials[i], place)
        values[:, n] -= _series(polynomials[j], place)
    coefficients: np.ndarray = np.einsum("ka,lb,abn->kln", _TO_CHEBYSHEV, _TO_CHEBYSHEV, values)
    return coefficients


def _check(
    sliders: Sequence[Slider],
    f: Function,
    base: np.ndarray,
    polynomials: Sequence[np.ndarray],
    together: dict[tuple[int, int], np.ndarray],
) -> None:
    """Raises an error if the fit isn't the function where all sliders are somewhere else."""
    random = np.random.default_rng(5)
    for _ in range(3):
        places = random.uniform(-1, 1, len(sliders))
        fit = base + sum((_series(table, x) for table, x in zip(polynomials, places)), np.zeros(len(base)))
        for (i, j), table in together.items():
            fit = fit + np.polynomial.chebyshev.chebval2d(places[i], places[j], table)
        off = abs(fit - f([float(one.at(x)) for one, x in zip(sliders, places)])) / _sizes(base)
        if off.max(initial=0.0) > 1e3 * EXACT:
            raise InputError(
                "these numbers change the machine in a way that a page can't follow",
                found=", ".join(one.key for one in sliders),
                hint="fewer sliders, shorter ranges, or bodies under `shape` for links whose rods or plates change",
            )


def _place(slider: Slider) -> float:
    """Where the slider's own value is, between −1 and 1."""
    return (2 * slider.value - slider.low - slider.high) / (slider.high - slider.low)


def _series(table: np.ndarray, place: float) -> np.ndarray:
    values: np.ndarray = np.polynomial.chebyshev.chebval(place, table)
    return values


def _sizes(base: np.ndarray) -> np.ndarray:
    sizes: np.ndarray = np.maximum(abs(base), 1e-3 * abs(base).max(initial=1e-30))
    return sizes


def _kept(table: np.ndarray, base: np.ndarray) -> list[tuple[int, list[float]]]:
    """The columns of a table that aren't zero, with their places, down to their last coefficient that counts."""
    made = []
    for place in np.flatnonzero((abs(table) > SMALL * np.maximum(_sizes(base), abs(table).max(axis=0))).any(axis=0)):
        column = table[:, place]
        made.append((int(place), np.where(abs(column) > SMALL * abs(column).max(), column, 0.0).tolist()))
    return made
