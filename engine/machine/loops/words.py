"""The words of texts with loops, as they run uncompiled, on floats and arrays.

A number of one run is a float, of N runs an array (N,); a vector is (m,) or (m, N), a table of vectors (s, m) or
(s, m, N).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

Number: TypeAlias = Any  # a float, an array of them, or what a translator passes in their place
Table: TypeAlias = Any  # an array (count, places)
Vector: TypeAlias = Any  # a number for each component, in Python an array
Tables: TypeAlias = Any  # lengths and tables by their names, as attributes
Names: TypeAlias = Any  # likewise with functions and constants; or several numbers

Step = TypeVar("Step", bound=Callable[..., Any])

RECORDED = "recorded"  # attribute of a step

rolled = range  # a loop of which each pass may read what earlier ones wrote


def across(first: int, end: int) -> list[Number]:
    """The places from `first` to `end`, all at once: no pass may read what another one wrote."""
    return [slice(first, end)]


def shifted(i: Number, by: int) -> Number:
    """The places of a loop across, so much further on."""
    return slice(i.start + by, i.stop + by) if isinstance(i, slice) else i + by


def cosine_sine(x: Number) -> tuple[Number, Number]:
    """Cosine and sine of a number, of an array, or of what a translator passes in their place."""
    return x.cosine_sine() if hasattr(x, "cosine_sine") else (np.cos(x), np.sin(x))


def registers(count: int) -> Number:
    """So many zeros that a loop carries on."""
    return [0.0] * count


def sign(x: Number) -> Number:
    """1, −1, or 0 where a number is 0."""
    return x.sign() if hasattr(x, "sign") else np.sign(x)


def recorded_step(text: Step) -> Step:
    """Marks a recorded step: any Python on numbers and lists of them, which runs once, while the text is translated."""
    setattr(text, RECORDED, True)
    return text


given = functools.partial  # a text with its first values


# ---- whole vectors, and what differs from run to run

ONE, NUMBER = (bool, np.bool_), (float, int)  # a mask and a number of one run


def where(c: Number, a: Number, b: Number) -> Number:
    """The first where it holds, the second elsewhere."""
    if not isinstance(c, ONE):
        return np.where(c, a, b)
    x = a if c else b
    return +x if isinstance(x, np.ndarray) else x  # a value, not a view of a table's row


def some(c: Number) -> bool:
    """Whether it holds for any run."""
    return bool(c if isinstance(c, ONE) else c.any())


def no(c: Number) -> Number:
    """Where it doesn't hold."""
    return not c if isinstance(c, ONE) else ~c


def larger(a: Number, b: Number) -> Number:
    """The larger number; b if a isn't one."""
    return (a if a > b else b) if isinstance(a, NUMBER) and isinstance(b, NUMBER) else np.where(a > b, a, b)


def smaller(a: Number, b: Number) -> Number:
    """The smaller number; b if a isn't one."""
    return (a if a < b else b) if isinstance(a, NUMBER) and isinstance(b, NUMBER) else np.where(a < b, a, b)


def sqrt(x: Number) -> Number:
    """The square root."""
    return math.sqrt(x) if isinstance(x, float) and x >= 0.0 else np.sqrt(x)


def power(x: Number, exponent: float) -> Number:
    """The power of a number that isn't negative; infinite at 0 where the exponent is negative."""
    return (x**exponent if x else math.inf) if isinstance(x, float) else x**exponent


def spacing(x: Number) -> Number:
    """The distance to the next larger number."""
    return math.nextafter(x, math.inf) - x if isinstance(x, float) else np.nextafter(x, np.inf) - x


def whole(x: Number) -> Number:
    """A number without fraction, as a place."""
    return int(x) if isinstance(x, float) else x.astype(int)


def squares(x: Vector) -> Number:
    """The sum of squares."""
    return float(x.dot(x)) if x.ndim == 1 else np.einsum("mn,mn->n", x, x)


def dot(x: Vector, y: Vector) -> Number:
    """The sum of products."""
    return float(x.dot(y)) if x.ndim == 1 else np.einsum("mn,mn->n", x, y)


def sums(*vectors: Vector) -> list[Number]:
    """The sums of the components of some vectors of one length."""
    return [float(x.sum()) if x.ndim == 1 else x.sum(axis=0) for x in vectors]


def inner_product(x: Names, y: Names) -> list[Number]:
    """The sum of the products of two vectors' components: its parts from theirs, of real or of complex vectors."""
    if len(x) == 1:
        return [dot(x[0], y[0])]
    return [dot(x[0], y[0]) - dot(x[1], y[1]), dot(x[0], y[1]) + dot(x[1], y[0])]


def taken(x: Vector, places: Vector) -> Vector:
    """The components at these places, each run's own."""
    return x[places.astype(int)] if x.ndim == 1 else np.take_along_axis(x, places.astype(int), 0)


def weighted(weights: Vector, rows: Table) -> Vector:
    """The sum of a table's first vectors, each times its weight; weights may differ from run to run."""
    listed = np.asarray(weights)
    rows = rows[: len(listed)]
    if rows.ndim == 2:
        return rows.T.dot(listed)  # with the rounding of `numpy.dot(K.T, weights)`, as scipy has it
    return np.einsum("sn,smn->mn", listed, rows) if listed.ndim == 2 else np.tensordot(listed, rows, 1)


def shares(P: Table, x: Number) -> Vector:
    """The weights of vectors at x, from those of the powers x, x², …: Σ P[j, p] x^(p + 1)."""
    total = 0.0
    for column in np.asarray(P).T[::-1]:
        total = (total + (column if np.ndim(x) == 0 else column[:, None])) * x
    return total


def put(out: Table, row: Number, here: Number, y: Vector) -> None:
    """Writes a vector into each run's own output row, where `here` holds."""
    if isinstance(here, ONE):
        out[int(row)] = y
    else:
        runs = np.flatnonzero(here)
        out[runs, row[runs].astype(int)] = y[:, runs].T
