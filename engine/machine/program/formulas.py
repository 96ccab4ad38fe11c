"""Formulas (`text.expressions`) as text on scalars, so that what a file says is recorded and compiled like all else.

Piecewise functions are sums of clipped arguments, for programs have no branches: a table's curve is the sum of what it
climbs in each of its intervals up to the argument, which needs no digits that it then loses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...text.expressions import Formula, Lookup, Named, Number
from .nodes import CONSTANT, Node
from .scalars import Scalar, cosine_sine, floor, sign, smaller, square_root


@dataclass(frozen=True)
class Curve:
    """A continuous function, a polynomial in each interval; outside it holds its end values, or repeats itself."""

    ends: tuple[float, ...]  # of the intervals
    climbs: tuple[tuple[float, ...], ...]  # coefficients of each interval's polynomial from the first power on
    start: float  # value at the first end
    periodic: bool = False

    def at(self, x: Scalar) -> Scalar:
        """The value at x."""
        if self.periodic:
            first, period = self.ends[0], self.ends[-1] - self.ends[0]
            x = x - period * floor((x - first) * (1.0 / period))
        total: Scalar = self.start
        distances = [absolute(x - end) for end in self.ends]
        for k, coefficients in enumerate(self.climbs):
            length = self.ends[k + 1] - self.ends[k]
            into = 0.5 * ((distances[k] - distances[k + 1]) + length)
            climb: Scalar = coefficients[-1]
            for c in reversed(coefficients[:-1]):
                climb = climb * into + c
            total = total + climb * into
        return total


def formula_value_on_scalars(formula: Formula, known: Mapping[str, Scalar], curves: Mapping[Lookup, Curve]) -> Scalar:
    """The value of a formula; `known` are the quantities that it names, `curves` those of its tables."""
    if isinstance(formula, Number):
        return formula.value
    if isinstance(formula, Named):
        return known[formula.name]
    if isinstance(formula, Lookup):
        return curves[formula].at(formula_value_on_scalars(formula.argument, known, curves))
    if formula.name == "^":
        base, exponent = formula.operands
        assert isinstance(exponent, Number)
        return power(formula_value_on_scalars(base, known, curves), exponent.value)
    return FUNCTIONS[formula.name](*(formula_value_on_scalars(one, known, curves) for one in formula.operands))


def absolute(x: Scalar) -> Scalar:
    """The size of x."""
    return x * sign(x)


def larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers."""
    return -smaller(-a, -b)


def root(x: Scalar) -> Scalar:
    """The square root, which is no number for negative ones."""
    return float("nan") if isinstance(x, float | int) and x < 0 else _doubted(square_root(x))


def power(x: Scalar, exponent: float) -> Scalar:
    """A power whose exponent is a multiple of a half."""
    whole, result = int(abs(exponent)), None
    square = x
    while whole:
        if whole & 1:
            result = square if result is None else result * square
        whole >>= 1
        square = square * square if whole else square
    if abs(exponent) % 1:
        result = root(x) if result is None else result * root(x)
    made: Scalar = 1.0 if result is None else result
    return made if exponent >= 0 else quotient(1.0, made)


def quotient(a: Scalar, b: Scalar) -> Scalar:
    """A over b; where Python would raise an error, what arrays and compiled code have."""
    if isinstance(b, float | int) and b == 0:
        signed = math.copysign(math.inf, b)
        return a * signed if not isinstance(a, float | int) else math.copysign(signed, a * b) if a else math.nan
    result = a / b
    if isinstance(result, Node) and result.op == CONSTANT:
        _doubted(1.0 / b)
    return _doubted(result)


def _doubted(x: Scalar) -> Scalar:
    """The same scalar, of which a recording notes that it may be no finite number."""
    if isinstance(x, Node):
        x.graph.doubted.append(x)
    return x


def tangent(x: Scalar) -> Scalar:
    """The tangent of x."""
    c, s = cosine_sine(x)
    return quotient(s, c)


def clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """The number nearest to x that isn't below `low` nor above `high`."""
    return smaller(larger(x, low), high)


def smooth_step(x: Scalar, begin: Scalar = 0.0, end: Scalar = 1.0) -> Scalar:
    """0 up to `begin`, 1 from `end` on, and in between a cubic without slope at both."""
    s = clipped(quotient(x - begin, end - begin), 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


FUNCTIONS: dict[str, Callable[..., Scalar]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": quotient,
    "neg": lambda a: -a,
    "sin": lambda x: cosine_sine(x)[1],
    "cos": lambda x: cosine_sine(x)[0],
    "tan": tangent,
    "sqrt": root,
    "abs": absolute,
    "sign": sign,
    "floor": floor,
    "step": lambda x: 0.5 * (1.0 + sign(x)),
    "smoothstep": smooth_step,
    "min": smaller,
    "max": larger,
    "clip": clipped,
}
