"""The words of texts with loops, as they run uncompiled, on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

Number: TypeAlias = Any  # a float, an array of them, or what a translator passes in their place
Table: TypeAlias = Any  # an array (count, places)
Tables: TypeAlias = Any  # lengths and tables by their names, as attributes

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


def step(text: Step) -> Step:
    """Marks a recorded step: any Python on numbers and lists of them, which runs once, while the text is translated."""
    setattr(text, RECORDED, True)
    return text
