"""Checks of numbers in robot and scenario files against their joint: their count, units and norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from ...errors import InputError
from ...text import Keys, count_with_noun
from ...text.expressions import DIMENSIONS, misfit_of_unit
from ..joints import JointType

Complain = Callable[..., InputError]  # path, message, … → the error at its place
NO_EULER_PARAMETERS = "Euler parameters can't all be 0"
EULER_PARAMETERS = "four numbers, scalar first: [1, 0, 0, 0] where nothing has turned"


def joint_coordinates(values: Sequence[float], key: Keys, row: JointType, complain: Complain) -> tuple[float, ...]:
    """The coordinates of a joint after checks of their number, their units and the norm of Euler parameters."""
    if len(values) != row.nq:
        raise complain(
            *key,
            f"a {row.name} joint needs {count_with_noun(row.nq, 'number')} here: " + ", ".join(row.coordinates),
            found=str(len(values)),
            allowed=f"[{', '.join('…' * row.nq)}]" if row.nq > 1 else DIMENSIONS[row.kinds[0]][1],
        )
    for k, (value, kind) in enumerate(zip(values, row.kinds)):
        joint_number_fits_unit(value, kind, (*key, k) if row.nq > 1 else key, complain)
    return unit_euler_parameters([float(x) for x in values], row, partial(complain, *key))


def unit_euler_parameters(values: list[float], row: JointType, complain: Complain) -> tuple[float, ...]:
    """The coordinates of a joint with its Euler parameters normalized."""
    if row.orientation is not None:
        e = values[row.orientation :]
        norm = math.hypot(*e)
        if norm < 1e-6 or not math.isfinite(norm):
            raise complain(NO_EULER_PARAMETERS, allowed=EULER_PARAMETERS)
        values[row.orientation :] = [x / norm for x in e] if abs(norm - 1.0) > 1e-15 else e
    return tuple(values)


def joint_number_fits_unit(value: float, kind: str, key: Keys, complain: Complain) -> None:
    """Raises an error if the number's unit is not of this kind."""
    if message := misfit_of_unit(value, kind):
        raise complain(*key, message, allowed=DIMENSIONS[kind][1])
