"""Implicit Runge-Kutta methods with three stages as data for the compiled loop.

With stages Z = y(t + c h) − y, of which the last is at the step's end, and rates F there, Z = h A F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .march_block import EVALUATED, IMPLICIT_ROWS

STAGES = 3


@dataclass(frozen=True)
class Collocation:
    """An implicit method whose last stage is the step's end, and constants of its step control.

    T has the eigenvectors of A⁻¹, of which the first is real and the others are real and imaginary part; `real` and
    `pair` are the eigenvalues, that of the pair with the sign that W₂ + i W₃ have.  E are the weights of the stages in
    the error; P those of the stages Z in dense output.
    """

    C: Sequence[float]
    T: Sequence[Sequence[float]]
    inverse: Sequence[Sequence[float]]  # of T
    real: float
    pair: complex
    E: Sequence[float]
    weights: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float
    rounds: int  # of Newton's method, at most
    slow: float  # quotient of corrections from which on derivatives are renewed
    worth: float  # factor of a step's length from which on new factors of the matrices pay

    @property
    def stages(self) -> int:
        """The number of rows behind dense output: the rate at the step's start, which has no share, and Z/h."""
        return 1 + STAGES

    @property
    def P(self) -> tuple[Sequence[float], ...]:
        """Dense output as `march_dense.Scheme` has it."""
        return ((0.0,) * len(self.weights[0]), *self.weights)

    @property
    def lands(self) -> bool:
        """Whether steps end on the output rows."""
        return False

    @property
    def evaluations(self) -> int:
        """Evaluations of a step, about."""
        return 2 * STAGES + 1

    def memory_rows(self, m: int) -> list[tuple[str, int]]:
        """The names of the loop's memory, and their rows of m numbers."""
        vectors = ["K0", "K1", "K2", "K3", "trial", "new", "Z0", "Z1", "Z2", "F0", "F1", "F2"]
        tables = [("J", m), ("W0", 1), ("W1", 1), ("W2", 1), ("after", 1), ("pairs", 2), ("real", m)]
        return [*((name, 1) for name in vectors), *tables, ("complex", 2 * m), ("pivots1", 1), ("pivots2", 1)]

    def memory(self, m: int) -> int:
        """The number of rows of m numbers that the loop needs."""
        return sum(rows for _, rows in self.memory_rows(m))

    def examined(self, m: int) -> int:
        """The number of rows in front that say whether an attempt met numbers that aren't finite."""
        return 2 * STAGES + 6 + m

    @property
    def block(self) -> int:
        """The number of rows of the control block."""
        return IMPLICIT_ROWS

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The number of evaluations, from the control block."""
        return np.asarray(control[EVALUATED], dtype=int)
