"""What compiled loops need to know of a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .march_block import Lane


class Dense(Protocol):
    """What dense output needs to know of a method."""

    @property
    def P(self) -> Sequence[Sequence[float]]:
        """The weights of each stage for the powers of the place within a step, from the first power on."""

    @property
    def stages(self) -> int:
        """The number of stages that dense output is made of."""


@dataclass(frozen=True)
class ExplicitMethod:
    """An embedded pair with dense output whose last stage is the next step's first, and constants of step control.

    The letters are those of `integrators/tableau.py`; `further` has a row and a place for each stage that only dense
    output needs. A method without estimates of its error, E, takes steps of one length.
    """

    A: Sequence[Sequence[float]]
    B: Sequence[float]
    C: Sequence[float]
    E: Sequence[float]
    P: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float
    E_low: Sequence[float] = ()
    further: Sequence[tuple[Sequence[float], float]] = ()
    lands: bool = False  # whether steps end on the output rows, because dense output isn't good enough for these

    @property
    def fixed(self) -> bool:
        """Whether all steps have one length, but for those that are cut short."""
        return len(self.E) == 0

    @property
    def stages(self) -> int:
        """The number of all stages, with the derivative at the step's end and those for dense output."""
        return len(self.B) + 1 + len(self.further)

    @property
    def evaluations(self) -> int:
        """The number of evaluations of an attempt."""
        return len(self.B)

    def memory(self, m: int) -> int:
        """The number of rows of m numbers that the loop needs: its stages, a trial state, and the one at the end."""
        return self.stages + 2

    def examined(self, m: int) -> list[int]:
        """The rows that say whether an attempt met numbers that aren't finite: all of them."""
        return [*range(self.memory(m))]

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The number of evaluations of all lanes, or runs, from their rows of control blocks."""
        count = (
            len(self.B) * (control[Lane.ACCEPTED] + control[Lane.REJECTED]) + len(self.further) * control[Lane.DENSE]
        )
        return np.asarray(count, dtype=int)
