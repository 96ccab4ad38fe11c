"""Step control of adaptive integrators, written on scalars: floats in steppers, lanes of a register in machine code."""

from __future__ import annotations

import math
from typing import Any, Protocol

from .scalars import square_root

LOW_SHARE = 0.01  # of the estimate of lower order, where there are two

Scalar = Any  # a float, or an object with × and the methods named here


class StepControl(Protocol):
    """The constants of a step control; every integrator here takes those of scipy, and so the same steps."""

    @property
    def exponent(self) -> float:
        """−1 / (order of the error estimate + 1)."""

    @property
    def safety(self) -> float: ...

    @property
    def least_factor(self) -> float: ...

    @property
    def most_factor(self) -> float: ...


def bounded_step_length(h: Scalar, shortest: Scalar, longest: Scalar) -> Scalar:
    """The length of a new step within its bounds; where they contradict each other, `longest` holds."""
    return smaller_in_step_control(larger_in_step_control(h, shortest), longest)


def next_step_lengths(
    error: Scalar, h: Scalar, wanted: Scalar, most: Scalar, cut: Scalar, c: StepControl
) -> tuple[Scalar, Scalar]:
    """Lengths of the next step after one of length h with this error: if that is accepted, and if it is rejected.

    After a step that was `cut` at the end of the interval, the next one is at least as long as `wanted` before.  Where
    the error isn't a number, the step shrinks by the least factor.
    """
    factor = c.safety * power_of_step_control(error, c.exponent)
    grown = h * smaller_in_step_control(most, where_zero(error, c.most_factor, factor))
    return where(cut, larger_in_step_control(wanted, grown), grown), h * larger_in_step_control(factor, c.least_factor)


def foreseen_step_factor(error: Scalar, before: Scalar, h: Scalar, wanted: Scalar, exponent: float) -> Scalar:
    """The factor for the next step's length from the errors of this step, of length h, and of the one `before`.

    That one's length was to be `wanted`, which is 0 where there is none (Hairer and Wanner, sec. IV.8).
    """
    trend = (
        h / where_zero(wanted, 1.0, wanted) * power_of_step_control(error / where_zero(before, 1.0, before), exponent)
    )
    return smaller_in_step_control(where_zero(wanted, 1.0, where_zero(error, 1.0, trend)), 1.0) * power_of_step_control(
        error, exponent
    )


def combined_step_error(high: Scalar, low: Scalar, h: Scalar, count: Scalar) -> Scalar:
    """The error of a step of length h from the sums of squares of two estimates' slopes, of `count` components.

    The estimate of lower order makes it larger where that of higher order may be small by chance (Hairer, sec. II.5).
    """
    size = high + LOW_SHARE * low
    return h * high / square_root(where_zero(size, 1.0, size) * count)


def power_of_step_control(x: Scalar, exponent: float) -> Scalar:
    """The power of a number; infinite at 0, because the exponents of step control are negative."""
    if isinstance(x, float | int):
        return math.inf if x == 0.0 else x**exponent
    return x.power(exponent)


def larger_in_step_control(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers; b if a is NaN."""
    return (a if a > b else b) if isinstance(a, float | int) else a.larger(b)


def smaller_in_step_control(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers; b if a is NaN."""
    return (a if a < b else b) if isinstance(a, float | int) else a.smaller(b)


def where(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """The first number where the condition holds, the second elsewhere."""
    return (a if condition else b) if isinstance(a, float | int) else a.where(condition, b)


def where_zero(x: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """The number a where x is 0, b elsewhere."""
    return (a if x == 0.0 else b) if isinstance(x, float | int) else b.where_zero(x, a)
