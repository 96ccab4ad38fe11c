"""The force laws of a run at many instants at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..machine.scalars import Scalar
from .inputs import Driven


def law_forces(driven: Sequence[Driven], t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The force that the laws exert along each speed: a row for each instant, 0 where no law acts."""
    found = np.zeros(qd.shape)
    for one in driven:
        if one.timed:
            found[:, one.speed] += [one.force(float(instant), 0.0, 0.0, None) for instant in t]
            continue
        wanted = None
        if one.reference is not None:
            places, rates, _ = one.reference.at(t)
            wanted = places[one.place], rates[one.place]
        place: Scalar = q[:, one.coordinate] if one.coordinate is not None else 0.0
        rate: Scalar = qd[:, one.speed]
        found[:, one.speed] += one.force(0.0, place, rate, wanted)
    return found
