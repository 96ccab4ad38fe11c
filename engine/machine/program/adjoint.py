"""Scalars that remember where they come from: the derivatives of one number along everything that it was made of.

A text runs forward on `Taped` scalars; `recorded_gradient` then goes back from its result, once, whatever the number of
inputs. Values and slopes may be floats, arrays or nodes, so that what runs as it stands is also what is recorded and
compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scalars import Scalar, cosine_sine, floor, sign, square_root


class Taped:
    """A value, and the scalars that it was computed from, each with the partial derivative of the value along it."""

    __slots__ = ("sources", "value")
    __array_priority__ = 1000  # so that `array * taped` calls __rmul__ here once, not for each element
    __array_ufunc__ = None

    def __init__(self, value: Scalar, sources: tuple[tuple[Taped, Scalar], ...] = ()):
        self.value, self.sources = value, sources

    def __add__(self, other: Any) -> Taped:
        if not isinstance(other, Taped):
            return self if _is_zero(other) else Taped(self.value + other, ((self, 1.0),))
        return Taped(self.value + other.value, ((self, 1.0), (other, 1.0)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Taped:
        if not isinstance(other, Taped):
            return self if _is_zero(other) else Taped(self.value - other, ((self, 1.0),))
        return Taped(self.value - other.value, ((self, 1.0), (other, -1.0)))

    def __rsub__(self, other: Any) -> Taped:
        return Taped(other - self.value, ((self, -1.0),))

    def __neg__(self) -> Taped:
        return Taped(-self.value, ((self, -1.0),))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Taped):
            return 0.0 if _is_zero(other) else Taped(self.value * other, ((self, other),))
        return Taped(self.value * other.value, ((self, other.value), (other, self.value)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Taped:
        if not isinstance(other, Taped):
            return Taped(self.value / other, ((self, 1.0 / other),))
        one_over = 1.0 / other.value
        quotient = self.value * one_over
        return Taped(quotient, ((self, one_over), (other, -(quotient * one_over))))

    def __rtruediv__(self, other: Any) -> Any:
        if _is_zero(other):
            return 0.0
        one_over = 1.0 / self.value
        quotient = other * one_over
        return Taped(quotient, ((self, -(quotient * one_over)),))

    def cosine_sine(self) -> tuple[Taped, Taped]:
        c, s = cosine_sine(self.value)
        return Taped(c, ((self, -s),)), Taped(s, ((self, c),))

    def sign(self) -> Scalar:
        """The sign, which is as good as constant."""
        return sign(self.value)

    def floor(self) -> Scalar:
        """The largest whole number that isn't above it, which is as good as constant."""
        return floor(self.value)

    def square_root(self) -> Taped:
        root = square_root(self.value)
        return Taped(root, ((self, 0.5 / root),))


def _is_zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0


def recorded_gradient(results: Sequence[Any], weights: Sequence[Scalar], inputs: Sequence[Scalar]) -> list[Scalar]:
    """The derivatives of Σ weight · result along each of the inputs."""
    slopes: dict[int, Scalar] = {}
    order = _from_inputs(results)
    for result, weight in zip(results, weights):
        if isinstance(result, Taped):
            _add(slopes, result, weight)
    for scalar in reversed(order):
        slope = slopes.get(id(scalar))
        if slope is None:
            continue
        for source, partial in scalar.sources:
            _add(slopes, source, slope * partial)
    return [slopes.get(id(one), 0.0) for one in inputs]


def _add(slopes: dict[int, Scalar], scalar: Taped, slope: Scalar) -> None:
    known = slopes.get(id(scalar))
    slopes[id(scalar)] = slope if known is None else known + slope


def _from_inputs(results: Sequence[Any]) -> list[Taped]:
    """All scalars that the results were made of, sources before what was made of them."""
    order: list[Taped] = []
    done: set[int] = set()
    waiting = [(one, False) for one in results if isinstance(one, Taped)]
    while waiting:
        scalar, complete = waiting.pop()
        if complete:
            order.append(scalar)
        elif id(scalar) not in done:
            done.add(id(scalar))
            waiting.append((scalar, True))
            waiting += [(source, False) for source, _ in scalar.sources if id(source) not in done]
    return order


def recorded_value_without_history(x: Any) -> Scalar:
    """The value of a scalar without its history."""
    return x.value if isinstance(x, Taped) else x
