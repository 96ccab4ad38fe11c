"""Gaps, Jacobian and `J̇ q̇` of constraints in one state by compiled code, for iterations from state to state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...machine.backend import code_runs_rolled
from ...machine.jit import Offer
from ...machine.program import Program, Recording, Scalar

GapText = Callable[[Sequence[Scalar], Sequence[Scalar]], tuple[list[Scalar], list[dict[int, Scalar]], list[Scalar]]]


class CompiledGaps:
    """Compiled values, Jacobian and `J̇ q̇` of one set of constraints, whose text is `text`."""

    def __init__(self, text: GapText, nq: int, nv: int, m: int, identity: tuple[Any, ...], bodies: int):
        self._text, self._nq, self._nv, self._m, self._bodies = text, nq, nv, m, bodies
        self.offer = Offer(self._program, [nq, nv], self._outputs, lambda: (repr(identity), "constraints"))

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries of J that aren't 0 everywhere."""
        _, rows, _ = self._text([0.1] * self._nq, [0.1] * self._nv)
        places = [(r, k) for r, row in enumerate(rows) for k in row]
        return np.array([r for r, _ in places], dtype=int), np.array([k for _, k in places], dtype=int)

    def _outputs(self) -> list[int]:
        return [2 * self._m + len(self._entries[0])]

    def __call__(self, q: np.ndarray, qd: np.ndarray | None = None) -> tuple[np.ndarray, ...] | None:
        """Values, Jacobian and `J̇ q̇` in one state, or None where the plain text is to run."""
        single = self.offer.single() if self._m and not code_runs_rolled(self._bodies) else None
        if single is None:
            return None
        result = single(q, np.zeros(self._nv) if qd is None else qd)
        if result is None or not np.isfinite(result).all():
            return None
        J = np.zeros((self._m, self._nv))
        J[self._entries] = result[self._m : len(result) - self._m]
        return result[: self._m], J, result[len(result) - self._m :]

    def _program(self) -> Program:
        recording = Recording("constraints")
        q, qd = recording.input("q", self._nq), recording.input("qd", self._nv)
        values, rows, drift = self._text(q, qd)
        return recording.program(found=[*values, *(x for row in rows for x in row.values()), *drift])
