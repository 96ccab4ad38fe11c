"""Dual numbers: a value with its derivatives along some directions, on which any text runs that runs on scalars.

`x = Dual(value, {k: derivative along direction k})`; value and derivatives may be floats, arrays or nodes.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from .scalars import Scalar, cosine_sine, floor, sign, square_root

Parts = dict[int, Scalar]


class Dual:
    """A value and its derivatives; along directions that `parts` doesn't name, the derivative is 0."""

    __slots__ = ("parts", "value")
    __array_priority__ = 1000  # so that `array * dual` calls __rmul__ here once, not for each element
    __array_ufunc__ = None

    def __init__(self, value: Scalar, parts: Parts | None = None):
        self.value, self.parts = value, parts or {}

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.parts)
        return Dual(self.value + other.value, _sum(self.parts, other.parts))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dual:
        difference: Dual = self + (-other)
        return difference

    def __rsub__(self, other: Any) -> Dual:
        difference: Dual = (-self) + other
        return difference

    def __neg__(self) -> Dual:
        return Dual(-self.value, {k: -x for k, x in self.parts.items()})

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            if isinstance(other, float | int) and other == 0:
                return Dual(0.0)
            return Dual(self.value * other, {k: x * other for k, x in self.parts.items()})
        left = {k: x * other.value for k, x in self.parts.items()}
        right = {k: self.value * x for k, x in other.parts.items()}
        return Dual(self.value * other.value, _sum(left, right))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value / other, {k: x / other for k, x in self.parts.items()})
        return self * other._inverted()

    def __rtruediv__(self, other: Any) -> Dual:
        quotient: Dual = self._inverted() * other
        return quotient

    def _inverted(self) -> Dual:
        one_over = 1.0 / self.value
        slope = -(one_over * one_over)
        return Dual(one_over, {k: slope * x for k, x in self.parts.items()})

    def cosine_sine(self) -> tuple[Dual, Dual]:
        c, s = cosine_sine(self.value)
        return Dual(c, {k: -(s * x) for k, x in self.parts.items()}), Dual(s, {k: c * x for k, x in self.parts.items()})

    def sign(self) -> Dual:
        return Dual(sign(self.value))

    def floor(self) -> Dual:
        return Dual(floor(self.value))

    def square_root(self) -> Dual:
        root = square_root(self.value)
        half = 0.5 / root
        return Dual(root, {k: half * x for k, x in self.parts.items()})


def _sum(a: Parts, b: Parts) -> Parts:
    if not b:
        return a
    if not a:
        return b
    total = dict(a)
    for k, x in b.items():
        total[k] = total[k] + x if k in total else x
    return total


def dual_value(x: Any) -> Scalar:
    """The value of a scalar without its derivatives."""
    return x.value if isinstance(x, Dual) else x


def dual_derivative(x: Any, direction: int) -> Scalar:
    """The derivative of a scalar along a direction."""
    return x.parts.get(direction, 0.0) if isinstance(x, Dual) else 0.0


def dual_depends(x: Any, direction: int) -> bool:
    """Whether the derivative of a scalar along a direction may be other than 0."""
    part = dual_derivative(x, direction)
    return not (isinstance(part, float | int) and part == 0.0)


def dual_without(x: Any, directions: Container[int]) -> Scalar:
    """The scalar with no derivatives along these directions."""
    return Dual(x.value, {k: y for k, y in x.parts.items() if k not in directions}) if isinstance(x, Dual) else x
