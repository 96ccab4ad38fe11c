"""The few functions of scalars besides + − × ÷.

The recursion is written on scalars: floats, NumPy arrays over the samples, or any object that has the four
operations and the methods named here (a recording node, a dual number).  It may use nothing else of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Protocol, cast

import numpy as np


class Scalar(Protocol):
    """Whatever has the four operations: a float, an array over the samples, a recording node, a dual number.

    What it may meet is left open, because floats meet all of them.
    """

    def __add__(self, other: Any, /) -> Scalar: ...
    def __radd__(self, other: Any, /) -> Scalar: ...
    def __sub__(self, other: Any, /) -> Scalar: ...
    def __rsub__(self, other: Any, /) -> Scalar: ...
    def __mul__(self, other: Any, /) -> Scalar: ...
    def __rmul__(self, other: Any, /) -> Scalar: ...
    def __truediv__(self, other: Any, /) -> Scalar: ...
    def __rtruediv__(self, other: Any, /) -> Scalar: ...
    def __neg__(self) -> Scalar: ...


class Symbol(Scalar, Protocol):
    """A scalar that is no number: it knows the functions below itself."""

    def cosine_sine(self) -> tuple[Scalar, Scalar]: ...
    def sign(self) -> Scalar: ...
    def floor(self) -> Scalar: ...
    def square_root(self) -> Scalar: ...


def cosine_sine(x: Scalar) -> tuple[Scalar, Scalar]:
    """The pair (cos x, sin x)."""
    if isinstance(x, float | int):
        try:
            return math.cos(x), math.sin(x)
        except ValueError:  # at infinity, where numpy gives NaN
            return math.nan, math.nan
    if isinstance(x, np.ndarray):
        return np.cos(x), np.sin(x)
    return cast(Symbol, x).cosine_sine()


def sign(x: Scalar) -> Scalar:
    """The sign of x: −1, 0 or 1, and 0 at zero as in the papers' Coulomb friction; what is no number has none."""
    if isinstance(x, float | int):
        return float(x > 0) - float(x < 0) if x == x else math.nan
    if isinstance(x, np.ndarray):
        return np.sign(x)
    return cast(Symbol, x).sign()


def floor(x: Scalar) -> Scalar:
    """The largest whole number that isn't above x."""
    if isinstance(x, float | int):
        return float(math.floor(x)) if math.isfinite(x) else math.nan
    if isinstance(x, np.ndarray):
        return np.floor(x)
    return cast(Symbol, x).floor()


def square_root(x: Scalar) -> Scalar:
    """The square root of x."""
    if isinstance(x, float | int):
        return math.sqrt(x)
    if isinstance(x, np.ndarray):
        return np.sqrt(x)
    return cast(Symbol, x).square_root()


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers, however large the other one is: a sum of both would lose it."""
    half = 0.5 * sign(a - b)
    return (0.5 - half) * a + (0.5 + half) * b


# ---- back from scalars, where the text ran on numbers


def as_float(x: Scalar) -> float:
    """The number that a scalar is."""
    return float(x)  # type: ignore[arg-type]  # which it is here


def as_floats(values: Iterable[Scalar]) -> list[float]:
    """The numbers that scalars are."""
    return list(map(float, values))  # type: ignore[arg-type]  # which they are here


def as_samples(x: Scalar) -> float | np.ndarray:
    """The array over the samples that a scalar is, or one number for all of them."""
    return cast("float | np.ndarray", x)


def scalars_into_columns(rows: np.ndarray, values: Iterable[Scalar]) -> None:
    """Writes each scalar into a column of `rows`, which has a row for each sample."""
    values = list(values)
    if all(type(x) is float for x in values):
        rows[:, : len(values)] = values
        return
    for k, x in enumerate(values):
        rows[:, k] = as_samples(x)
