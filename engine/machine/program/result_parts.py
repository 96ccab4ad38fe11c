"""Results that are divided into parts: the arrays of a dictionary or a tuple, which share the numbers of one array.

A dictionary may have verdicts and other objects among its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

# words of a part: its name (0 in a tuple), where it begins, its dimensions, three lengths, its kind; a verdict has the
# addresses of False and True as its lengths, and a thing begins where the object is
WIDTH = 7
ARRAY, VERDICT, THING = range(3)  # kinds
Results = dict[str, Any] | tuple[np.ndarray, ...] | np.ndarray


@dataclass(frozen=True)
class Part:
    """One part of a sample's numbers: where it begins, its shape, and its name, which is empty in a tuple.

    A `verdict` says whether the number isn't negative, for one sample alone.  A `thing` is the same in every result.
    """

    name: str
    first: int
    shape: tuple[int, ...] = ()
    verdict: bool = False
    thing: object = None


def kernel_parts_in_order(shapes: Sequence[tuple[str, tuple[int, ...]]], first: int = 0) -> tuple[Part, ...]:
    """Parts with these names and shapes that lie one behind the other."""
    result = []
    for name, shape in shapes:
        result.append(Part(name, first, shape))
        first += prod(shape)
    return tuple(result)


def undivided_kernel_results(*shape: int) -> tuple[Part]:
    """The only part of results that are one array of this shape."""
    return (Part("", 0, shape),)


def numbers_of_kernel_parts(parts: Sequence[Part]) -> int:
    """The number of a sample's numbers up to the end of the last of these parts."""
    return max((one.first + prod(one.shape) for one in parts if one.thing is None), default=0)


def words_of_kernel_parts(parts: Sequence[Part]) -> np.ndarray:
    """The words that describe parts to machine code; the parts have to outlive them."""
    lines = []
    for one in parts:
        lengths = [id(False), id(True), 0] if one.verdict else [*one.shape, 1, 1, 1][:3]
        kind = THING if one.thing is not None else VERDICT if one.verdict else ARRAY
        first = id(one.thing) if kind == THING else 8 * one.first
        lines.append([id(one.name) if one.name else 0, first, len(one.shape), *lengths, kind])
    return np.array(lines, dtype=np.int64).reshape(-1, WIDTH)


def kernel_parts_divided(numbers: np.ndarray, parts: Sequence[Part]) -> Results:
    """The parts of one sample's numbers `(n,)`, or of many samples' `(N, n)`, as views."""
    arrays = [_divided(numbers, one) for one in parts]
    if not parts[0].name:
        return tuple(arrays) if len(arrays) > 1 else arrays[0]
    return dict(zip([one.name for one in parts], arrays))


def _divided(numbers: np.ndarray, one: Part) -> Any:
    if one.thing is not None:
        return one.thing
    if one.verdict:
        return bool(numbers[one.first] >= 0.0)
    own = numbers[..., one.first : one.first + prod(one.shape)]
    return own.reshape((*numbers.shape[:-1], *one.shape))[()]
