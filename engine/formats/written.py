"""Numbers and placements as they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..errors import ModelError
from ..robot.placement import Placement, rpy_of_placement


def urdf_origin_line(placement: Placement, pad: str) -> Iterable[str]:
    """The line of an `origin`, if there is anything to say."""
    rpy = rpy_of_placement(placement)
    if any(placement.origin) or any(rpy):
        yield f'{pad}<origin xyz="{urdf_numbers_text(placement.origin)}" rpy="{urdf_numbers_text(rpy)}"/>'


def urdf_numbers_text(values: Iterable[float]) -> str:
    return " ".join(map(urdf_number_text, values))


def urdf_number_text(value: float) -> str:
    """A number to its last bit, whole ones without a fraction."""
    value = float(value)
    if not math.isfinite(value):
        raise ModelError("a number isn't finite, which this format can't hold")
    return f"{value + 0.0:.0f}" if value == round(value) and abs(value) < 1e15 else repr(value)
