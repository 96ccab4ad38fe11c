"""What compiled loops have to know of implicit methods: the memory of their steps, by names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np

from ..loops import implicit
from .march_block import Lane


class ImplicitMethod(ABC):
    """An implicit method, of which one's own are `texts`, constants, and the memory that its steps need.

    `vectors` are the numbers of vectors in tables, or 0 for a vector alone; `matrices` have a row for each component.
    """

    fixed: ClassVar[bool] = False
    lands: ClassVar[bool]  # whether steps end on the output rows
    ends_on_rate: ClassVar[bool]  # whether the rate at a step's end is always needed
    evaluations: ClassVar[int]  # of a step, about
    vectors: ClassVar[Mapping[str, int]]
    in_front: ClassVar[int]  # number of vectors in front that say whether an attempt met numbers that aren't finite
    matrices: ClassVar[Sequence[str]] = ("J", "rows", "real")

    @property
    @abstractmethod
    def texts(self) -> ModuleType:
        """The texts in which methods differ, with the functions that `loops/implicit.py` calls."""

    @property
    @abstractmethod
    def P(self) -> tuple[Sequence[float], ...]:
        """Dense output as `march_dense.ExplicitMethod` has it."""

    @property
    def stages(self) -> int:
        """The number of rows behind dense output, of which the first one, a rate, has no share."""
        return len(self.P)

    def first_row(self, name: str, m: int) -> int:
        """The place of a vector, a table or a matrix among the rows of m numbers that the loop needs."""
        if name in self.matrices:
            return sum(max(count, 1) for count in self.vectors.values()) + m * self.matrices.index(name)
        before = [*self.vectors][: [*self.vectors].index(name)]
        return sum(max(self.vectors[one], 1) for one in before)

    def rows_of(self, memory: np.ndarray, name: str) -> np.ndarray:
        """The rows of a table or a matrix."""
        m = memory.shape[1]
        first = self.first_row(name, m)
        return memory[first : first + self.vectors.get(name, m)]

    def memory(self, m: int) -> int:
        """The number of these rows."""
        return self.first_row(self.matrices[-1], m) + m

    def examined(self, m: int) -> list[int]:
        """The rows that say whether an attempt met numbers that aren't finite: of vectors in front, and of J."""
        first = self.first_row("J", m)
        return [*range(self.in_front), *range(first, first + m)]

    def arrays(self, m: int, measured: int, *runs: int) -> SimpleNamespace:
        """The memory for the text as it stands: for one run, or for so many."""
        tables = {name: np.zeros((count or 1, m, *runs)) for name, count in self.vectors.items()}
        found = {name: table if self.vectors[name] else table[0] for name, table in tables.items()}
        found |= {name: np.zeros((m, measured, *runs)) for name in self.matrices}
        return SimpleNamespace(
            **found, slopes=found["rows"].reshape(m * measured, *runs), own=np.zeros((implicit.OWN, *runs))
        )

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The number of evaluations, from the control block."""
        return np.asarray(control[Lane.OWN + implicit.EVALUATED], dtype=int)
