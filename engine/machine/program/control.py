"""Step control of adaptive integrators, written on scalars: floats in steppers, lanes of a register in machine code."""

from __future__ import annotations

import math
from typing import Any

LOW_SHARE = 0.01  # of the estimate of lower order, where there are two

Scalar = Any  # a float, or an object with × and the methods named here


def bounded_step_length(h: Scalar, shortest: Scalar, longest: Scalar) -> Scalar:
    """The length of a new step within its bounds; where they contradict each other, `longest` holds."""
    return smaller_in_step_control(larger_in_step_control(h, shortest), longest)


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


def where_zero(x: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """The number a where x is 0, b elsewhere."""
    return (a if x == 0.0 else b) if isinstance(x, float | int) else b.where_zero(x, a)
