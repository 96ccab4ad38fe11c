"""Multistep methods by backward differences as data for the compiled loop, and what a run hands over of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .march_block import DERIVED, EQUAL, EVALUATED, IMPLICIT_ROWS, ORDER, H

DIFFERENCES = 8  # rows for the state and its differences: two more than the highest order needs to go on with


@dataclass(frozen=True, eq=False)
class History:
    """What the next step of a multistep method begins with: differences of the state at steps of the wanted length."""

    D: np.ndarray  # (differences, components), from the state itself on
    order: int
    equal: int  # steps of this length that they have seen
    J: np.ndarray  # the derivatives of the rate by which Newton's method goes on


@dataclass(frozen=True)
class Differences:
    """A family of multistep methods of the orders 1, 2, …, and constants of its step control.

    For order k, α_k (y − y_p) + Σ_j γ_j ∇^j y = h f with the predicted state y_p (Shampine and Reichelt 1997); its
    error is `errors[k]` (y − y_p).  P has the weights of h⁻¹ ∇^j, j = 1, 2, …, in dense output.
    """

    gamma: Sequence[float]  # from order 0 on
    alpha: Sequence[float]
    errors: Sequence[float]
    weights: Sequence[Sequence[float]]
    safety: float
    least_factor: float
    most_factor: float
    rounds: int  # of Newton's method, at most

    @property
    def lands(self) -> bool:
        """Whether steps end on the output rows: they needn't, because dense output is as good as the steps."""
        return False

    @property
    def most(self) -> int:
        """The highest order."""
        return len(self.weights)

    @property
    def stages(self) -> int:
        """The number of rows behind dense output: the rate at the run's start, which has no share, and differences."""
        return 1 + self.most

    @property
    def P(self) -> tuple[Sequence[float], ...]:
        """Dense output as `march_dense.Scheme` has it."""
        return ((0.0,) * len(self.weights[0]), *self.weights)

    @property
    def evaluations(self) -> int:
        """Evaluations of a step, about."""
        return 2

    def memory_rows(self, m: int) -> list[tuple[str, int]]:
        """The names of the loop's memory, and their rows of m numbers; E are the differences at the step's end."""
        vectors = [*(f"K{k}" for k in range(self.stages)), "trial", "new", "F0", "predicted", "Z0", "W0"]
        tables = [("J", m), ("D", DIFFERENCES), ("E", DIFFERENCES), ("after", 1), ("real", m), ("pivots1", 1)]
        return [*((name, 1) for name in vectors), *tables]

    def memory(self, m: int) -> int:
        """The number of rows of m numbers that the loop needs."""
        return sum(rows for _, rows in self.memory_rows(m))

    def examined(self, m: int) -> int:
        """The number of rows in front that say whether an attempt met numbers that aren't finite."""
        return self.stages + 6 + m

    @property
    def block(self) -> int:
        """The number of rows of the control block."""
        return IMPLICIT_ROWS

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The number of evaluations, from the control block."""
        return np.asarray(control[EVALUATED], dtype=int)

    # ---- the memory of a loop, (rows, components), and its control block

    def begin(self, memory: np.ndarray, control: np.ndarray, y: np.ndarray, history: History | None) -> None:
        """Write the differences of a run that begins at y, where the rate is known, or goes on."""
        D, J = self._rows(memory, "D"), self._rows(memory, "J")
        if history is None:
            D[0], D[1] = y, memory[0] * control[H]
            control[ORDER] = 1.0
            return
        measured = len(y) - 2
        D[:], J.reshape(-1)[: len(y) * measured] = history.D, history.J[:, :measured].ravel()
        control[ORDER], control[EQUAL], control[DERIVED] = history.order, history.equal, 1.0

    def history(self, memory: np.ndarray, control: np.ndarray, y: np.ndarray) -> History:
        """What the next step of a run at y begins with."""
        D, measured = self._rows(memory, "D").copy(), len(y) - 2
        J = np.zeros((len(y), len(y)))
        J[:, :measured] = self._rows(memory, "J").reshape(-1)[: len(y) * measured].reshape(len(y), measured)
        D[0] = y
        return History(D, int(control[ORDER]), int(control[EQUAL]), J)

    def _rows(self, memory: np.ndarray, name: str) -> np.ndarray:
        place = 0
        for one, rows in self.memory_rows(memory.shape[1]):
            if one == name:
                break
            place += rows
        return memory[place : place + rows]
