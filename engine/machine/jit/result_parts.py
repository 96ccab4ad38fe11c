"""Results that are divided into parts: the arrays of a dictionary or a tuple, which share the numbers of one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np


@dataclass(frozen=True)
class Part:
    """One part of a sample's numbers: where it begins, its shape, and its name, which is empty in a tuple."""

    name: str
    first: int
    shape: tuple[int, ...]


def kernel_parts_in_order(shapes: Sequence[tuple[str, tuple[int, ...]]], first: int = 0) -> tuple[Part, ...]:
    """Parts with these names and shapes that lie one behind the other."""
    result = []
    for name, shape in shapes:
        result.append(Part(name, first, shape))
        first += prod(shape)
    return tuple(result)


def kernel_parts_divided(numbers: np.ndarray, parts: Sequence[Part]) -> dict[str, np.ndarray] | tuple[np.ndarray, ...]:
    """The parts of one sample's numbers `(n,)`, or of many samples' `(N, n)`, as views."""
    ahead = numbers.shape[:-1]
    arrays = [numbers[..., one.first : one.first + prod(one.shape)].reshape((*ahead, *one.shape))[()] for one in parts]
    return dict(zip([one.name for one in parts], arrays)) if parts[0].name else tuple(arrays)
