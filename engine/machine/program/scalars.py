"""The few functions of a scalar that are not + − × ÷, for whatever the recursion runs on.

The recursion is written on scalars: floats, NumPy arrays over the samples, or any object that has the four
operations and the methods named here (a recording node, a dual number).  Nothing else may be asked of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Scalar = Any  # float, array over the samples, or an object with + − × ÷ and the methods below


def cosine_sine(x: Scalar) -> tuple[Scalar, Scalar]:
    """Cos x, sin x."""
    if isinstance(x, float | int):
        try:
            return math.cos(x), math.sin(x)
        except ValueError:  # of infinity, where numpy has NaN
            return math.nan, math.nan
    if isinstance(x, np.ndarray):
        return np.cos(x), np.sin(x)
    found: tuple[Scalar, Scalar] = x.cosine_sine()
    return found


def sign(x: Scalar) -> Scalar:
    """−1, 0 or 1; zero at zero, as the papers' Coulomb friction has it."""
    if isinstance(x, float | int):
        return float(x > 0) - float(x < 0)
    if isinstance(x, np.ndarray):
        return np.sign(x)
    return x.sign()


def square_root(x: Scalar) -> Scalar:
    """√x."""
    if isinstance(x, float | int):
        return math.sqrt(x)
    if isinstance(x, np.ndarray):
        return np.sqrt(x)
    return x.square_root()


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of the two."""
    return 0.5 * (a + b - (a - b) * sign(a - b))
