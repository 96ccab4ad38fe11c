"""Multistep methods by backward differences as data for the loop, and what a run hands over of its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial
from types import ModuleType
from typing import ClassVar

import numpy as np

from ..loops import backward
from ..loops.backward import DIFFERENCES, HIGHEST
from ..loops.implicit import DERIVED, EQUAL, ORDER
from .implicit import ImplicitMethod


@dataclass(frozen=True, eq=False)
class StepHistory:
    """What the next step of a multistep method begins with: differences of the state at steps of the wanted length."""

    D: np.ndarray  # (differences, components), from ∇ in row 1 on
    order: int
    equal: int  # steps of this length that they have seen
    J: np.ndarray  # the derivatives of the rate by which Newton's method goes on


@dataclass(frozen=True)
class BackwardDifferences(ImplicitMethod):
    """A family of multistep methods of the orders 1, 2, …, and constants of its step control.

    For order k, α_k (y − y_p) + Σ_j γ_j ∇^j y = h f with the predicted state y_p (Shampine and Reichelt 1997); its
    error is `errors[k]` (y − y_p).  `weights` are those of h⁻¹ ∇^j, j = 1, 2, …, in dense output.
    """

    gamma: Sequence[float]  # from order 0 on
    alpha: Sequence[float]
    errors: Sequence[float]
    weights: Sequence[Sequence[float]]
    safety: float
    least_factor: float
    most_factor: float
    rounds: int  # of Newton's method, at most

    lands: ClassVar[bool] = False  # dense output is as good as the steps, which needn't end on output rows
    ends_on_rate: ClassVar[bool] = False
    evaluations: ClassVar[int] = 2
    vectors: ClassVar[Mapping[str, int]] = {
        "K": 1 + HIGHEST,
        "trial": 0,
        "new": 0,
        "F": 0,
        "predicted": 0,
        "Z": 0,
        "W": 0,
        "D": DIFFERENCES,
        "E": DIFFERENCES,
        "after": 0,
        "B": 0,
        "order": 0,
    }
    in_front: ClassVar[int] = HIGHEST + 7

    @property
    def texts(self) -> ModuleType:
        """Those of backward differences."""
        return backward

    @property
    def P(self) -> tuple[Sequence[float], ...]:
        """Dense output as `march_dense.ExplicitMethod` has it."""
        return ((0.0,) * len(self.weights[0]), *self.weights)

    @property
    def errors_below(self) -> tuple[float, ...]:
        """The constants of errors of the order below each one."""
        return (0.0, *self.errors[:-1])

    @property
    def errors_above(self) -> tuple[float, ...]:
        """Those of the order above."""
        return (*self.errors[1:], 0.0)

    @cached_property
    def rescaled(self) -> tuple[tuple[tuple[float, ...], ...], ...]:
        """The shares of ∇^i, i = 0, 1, …, in ∇^k at instants x times as far apart, as weights of x, x², ….

        They are the entries of R(x) R(1), where R(x) has the columns Π_{s ≤ i} (s − 1 − x l)/s (sec. 2.2).
        """
        count = range(HIGHEST + 1)
        columns: list[list[list[int]]] = []  # for each l those of the rows i, times i!, from the power 0 on
        for l in count:
            rows = [[1] + [0] * HIGHEST]
            for s in count[1:]:
                rows.append([(s - 1) * a - l * b for a, b in zip(rows[-1], [0, *rows[-1]])])
            columns.append(rows)

        def share(k: int, i: int, p: int) -> float:
            return sum(comb(k, l) * columns[l][i][p] * (-1 if l % 2 else 1) for l in range(k + 1)) / factorial(i)

        return tuple(tuple(tuple(share(k, i, p) for p in count[1:]) for i in count) for k in count)

    # ---- what one run keeps from step to step: differences D, derivatives J, numbers of its own

    def begin(
        self, D: np.ndarray, J: np.ndarray, own: np.ndarray, change: np.ndarray, history: StepHistory | None = None
    ) -> None:
        """Write what a run begins with, whose state changes so much in a step at first, or goes on with."""
        own[ORDER], D[1] = 1.0, change
        if history is not None:
            D[:], J[:] = history.D, history.J[:, : J.shape[1]]
            own[ORDER], own[EQUAL], own[DERIVED] = history.order, history.equal, 1.0

    def history(self, D: np.ndarray, J: np.ndarray, own: np.ndarray) -> StepHistory:
        """What the next step of a run begins with."""
        return StepHistory(D.copy(), int(own[ORDER]), int(own[EQUAL]), J.copy())
