"""Numbers and placements as they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..errors import ModelError
from ..robot import Placement, rpy_of_placement


def urdf_origin_line(placement: Placement, pad: str) -> Iterable[str]:
    """The line of an `origin`, if there is anything to say."""
    rpy = rpy_of_placement(placement)
    if any(placement.origin) or any(rpy):
        yield f'{pad}<origin xyz="{urdf_numbers_text(placement.origin)}" rpy="{urdf_numbers_text(rpy)}"/>'


def quaternion_of_rotation(R: np.ndarray) -> tuple[float, float, float, float]:
    """The Euler parameters of a rotation matrix, the scalar first and not negative."""
    # by the largest of the four, whose square is the surest one
    squares = [R[0, 0] + R[1, 1] + R[2, 2], *(2.0 * R[k, k] - np.trace(R) for k in range(3))]
    sides = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    most = int(np.argmax(squares))
    if most == 0:
        e = [1.0 + squares[0], *sides]
    else:
        i = most - 1
        e = [sides[i], *(R[i, k] + R[k, i] if k != i else 1.0 + squares[most] for k in range(3))]
    size = math.copysign(math.hypot(*e), e[0])
    return (float(e[0] / size), float(e[1] / size), float(e[2] / size), float(e[3] / size))


def urdf_numbers_text(values: Iterable[float]) -> str:
    return " ".join(map(urdf_number_text, values))


def urdf_number_text(value: float) -> str:
    """A number to its last bit, whole ones without a fraction."""
    value = float(value)
    if not math.isfinite(value):
        raise ModelError("a number isn't finite, which this format can't hold")
    return f"{value + 0.0:.0f}" if value == round(value) and abs(value) < 1e15 else repr(value)
