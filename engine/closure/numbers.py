"""Gaps, Jacobian and `J̇ q̇` of one state at a time by compiled code, for what goes from state to state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from ..machine import choice, kernel
from ..machine.choice import Ledger
from ..machine.kernel import Single
from ..machine.scalars import Scalar
from ..machine.trace import Program, Recording

Text = Callable[[Sequence[Scalar], Sequence[Scalar]], tuple[list[Scalar], list[dict[int, Scalar]], list[Scalar]]]


class Numbers:
    """Of one set of constraints; `text` gives values, rows of the Jacobian and `J̇ q̇`."""

    def __init__(self, text: Text, nq: int, nv: int, m: int, bodies: int, identity: tuple):
        self._text, self._nq, self._nv, self._m, self._identity = text, nq, nv, m, identity
        self._ledger = Ledger(bodies)
        self._single: Single | None = None
        self._entries: list[tuple[int, int]] | None = None
        self._missed = False
        self._lock = threading.Lock()

    def __call__(self, q: np.ndarray, qd: np.ndarray | None = None) -> tuple[np.ndarray, ...] | None:
        """Values, J, `J̇ q̇`; None where the plain text is to be used."""
        single = self._ready()
        if single is None:
            return None
        found = single(q, np.zeros(self._nv) if qd is None else qd)
        if found is None or not np.isfinite(found).all():
            return None
        assert self._entries is not None
        J = np.zeros((self._m, self._nv))
        J[tuple(np.array(self._entries).T)] = found[self._m : len(found) - self._m]
        return found[: self._m], J, found[len(found) - self._m :]

    def _ready(self) -> Single | None:
        wanted = self._ledger.wants(1)
        if wanted == "plain" or not self._m:
            return None
        with self._lock:
            if self._single is None and not (wanted == "cached" and self._missed):
                self._missed = True
                _, rows, _ = self._text([0.1] * self._nq, [0.1] * self._nv)
                self._entries = [(r, k) for r, row in enumerate(rows) for k in row]
                sizes = [self._nq, self._nv], [2 * self._m + len(self._entries)]
                try:
                    identity = (repr(self._identity), "constraints")
                    self._single = kernel.build_single(self._program, *sizes, identity, wanted == "cached")
                except (ImportError, RuntimeError, OSError) as error:
                    choice.give_up(error)
            return self._single

    def _program(self) -> Program:
        recording = Recording("constraints")
        q, qd = recording.input("q", self._nq), recording.input("qd", self._nv)
        values, rows, drift = self._text(q, qd)
        return recording.program(found=[*values, *(x for row in rows for x in row.values()), *drift])
