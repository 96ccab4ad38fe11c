"""The few functions of scalars besides + − × ÷.

The recursion is written on scalars: floats, NumPy arrays over the samples, or any object that has the four
operations and the methods named here (a recording node, a dual number).  It may use nothing else of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Scalar = Any  # float, array over the samples, or an object with + − × ÷ and the methods below


def cosine_sine(x: Scalar) -> tuple[Scalar, Scalar]:
    """The pair (cos x, sin x)."""
    if isinstance(x, float | int):
        try:
            return math.cos(x), math.sin(x)
        except ValueError:  # at infinity, where numpy gives NaN
            return math.nan, math.nan
    if isinstance(x, np.ndarray):
        return np.cos(x), np.sin(x)
    pair: tuple[Scalar, Scalar] = x.cosine_sine()
    return pair


def sign(x: Scalar) -> Scalar:
    """The sign of x: −1, 0 or 1, and 0 at zero as in the papers' Coulomb friction."""
    if isinstance(x, float | int):
        return float(x > 0) - float(x < 0)
    if isinstance(x, np.ndarray):
        return np.sign(x)
    return x.sign()


def square_root(x: Scalar) -> Scalar:
    """The square root of x."""
    if isinstance(x, float | int):
        return math.sqrt(x)
    if isinstance(x, np.ndarray):
        return np.sqrt(x)
    return x.square_root()


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers."""
    return 0.5 * (a + b - (a - b) * sign(a - b))
