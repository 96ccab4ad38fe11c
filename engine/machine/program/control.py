"""Step control of adaptive integrators, on scalars: floats in the stepper, lanes of a register in compiled loops."""

from __future__ import annotations

import math
from typing import Any, Protocol

Scalar = Any  # a float, or an object with × and the methods named here


class Control(Protocol):
    """The constants; those of scipy, whose steps ours are."""

    @property
    def exponent(self) -> float:
        """−1 / (order of the error estimate + 1)."""

    @property
    def safety(self) -> float: ...

    @property
    def least_factor(self) -> float: ...

    @property
    def most_factor(self) -> float: ...


def bounded(h: Scalar, shortest: Scalar, longest: Scalar) -> Scalar:
    """The length of a new step within its bounds; the longest one has the last word."""
    return smaller(larger(h, shortest), longest)


def lengths(error: Scalar, h: Scalar, wanted: Scalar, most: Scalar, cut: Scalar, c: Control) -> tuple[Scalar, Scalar]:
    """The next step's length after a step of length h with this error: if it is accepted, and if it is rejected.

    A step that its end `cut` short says nothing against the length `wanted` before.  An error that isn't a number
    shortens as much as can be.
    """
    factor = c.safety * power(error, c.exponent)
    grown = h * smaller(most, where_zero(error, c.most_factor, factor))
    return where(cut, larger(wanted, grown), grown), h * larger(factor, c.least_factor)


def power(x: Scalar, exponent: float) -> Scalar:
    if isinstance(x, float | int):
        return math.inf if x == 0.0 else x**exponent
    return x.power(exponent)


def larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger one; b if a isn't a number."""
    return (a if a > b else b) if isinstance(a, float | int) else a.larger(b)


def smaller(a: Scalar, b: Scalar) -> Scalar:
    return (a if a < b else b) if isinstance(a, float | int) else a.smaller(b)


def where(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """A where the condition holds, else b."""
    return (a if condition else b) if isinstance(a, float | int) else a.where(condition, b)


def where_zero(x: Scalar, a: Scalar, b: Scalar) -> Scalar:
    return (a if x == 0.0 else b) if isinstance(x, float | int) else b.where_zero(x, a)
