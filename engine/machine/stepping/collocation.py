"""Implicit Runge-Kutta methods with three stages as data for the loop.

With stages Z = y(t + c h) − y, of which the last is at the step's end, and rates F there, Z = h A F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

from ..loops import collocation
from .implicit import ImplicitMethod

STAGES = 3


@dataclass(frozen=True)
class Collocation(ImplicitMethod):
    """An implicit method whose last stage is the step's end, and constants of its step control.

    T has the eigenvectors of A⁻¹, of which the first is real and the others are real and imaginary part; `real` and
    `pair` are the eigenvalues, that of the pair with the sign that W₂ + i W₃ have.  E are the weights of the stages in
    the error; `weights` those of the stages Z in dense output.
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

    lands: ClassVar[bool] = True
    ends_on_rate: ClassVar[bool] = True
    evaluations: ClassVar[int] = 2 * STAGES + 1
    vectors: ClassVar[Mapping[str, int]] = {
        "K": 1 + STAGES,
        "trial": 0,
        "new": 0,
        "Z": STAGES,
        "F": STAGES,
        "W": STAGES,
        "B": STAGES,
        "after": 0,
        "order": 0,
        "pair_order": 0,
    }
    in_front: ClassVar[int] = 3 * STAGES + 3
    matrices: ClassVar[Sequence[str]] = (*ImplicitMethod.matrices, "pair_real", "pair_imaginary")

    @property
    def texts(self) -> ModuleType:
        """Those of collocation."""
        return collocation

    @property
    def P(self) -> tuple[Sequence[float], ...]:
        """Dense output as `march_dense.ExplicitMethod` has it."""
        return ((0.0,) * len(self.weights[0]), *self.weights)
