"""An adaptive Runge-Kutta loop compiled around a recorded program y' = f(u, y) with constant u.

Stages, error, step control and dense output run without Python; the loop returns to its caller when the end is reached,
a number of attempts is used up, or no step can be taken.  The method is a tableau, the step control is the text of
`control.py`: `simulate/runge_kutta.py` has both as well, and a test compares the steps.

W runs go side by side in the lanes, each with its own time, step and output rows; a single run has W = 1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from ..program.trace import Program
from . import march_block, native, objects
from .march_block import ACCEPTED, FRESH, GUARDED, PAUSED, REACHED, REJECTED, ROW, ROWS, STATUS, TOO_SMALL, H, T
from .march_code import Scheme, march

__all__ = [
    "ACCEPTED",
    "GUARDED",
    "PAUSED",
    "REACHED",
    "REJECTED",
    "ROW",
    "STATUS",
    "TOO_SMALL",
    "H",
    "March",
    "Scheme",
    "T",
    "build",
]


class March:
    """The compiled loop with its memory; `control` has a row of lanes for each quantity."""

    def __init__(self, loaded: native.Loaded, m: int, stages: int, lanes: int):
        self._loaded, self.stages = loaded, stages
        self.m, self.lanes = m, lanes
        self.control = np.zeros((ROWS, lanes))
        self._y = np.zeros((m, lanes))
        self._stages = np.zeros((stages + 3, m, lanes))
        pointer = ctypes.c_void_p
        kinds = [pointer] * 5 + [ctypes.c_long, pointer, ctypes.c_long]
        self._march = ctypes.CFUNCTYPE(ctypes.c_long, *kinds)(loaded.address("march"))
        self._first = ctypes.CFUNCTYPE(None, *[pointer] * 4)(loaded.address("first"))

    @property
    def y(self) -> np.ndarray:
        """The states, with a row for each lane."""
        return self._y.T

    def begin(self, signals: np.ndarray, y: np.ndarray, **control: float | np.ndarray) -> None:
        """Set signals and states, with a row for each lane, and the control block; evaluate the first stage."""
        rows = np.atleast_2d(signals)
        self._signals = np.ascontiguousarray(rows.T, dtype=float) if rows.size else np.zeros((1, self.lanes))
        self._y[:] = np.atleast_2d(y).T
        self.control[:] = 0.0
        self.control[FRESH] = 1.0
        for name, value in control.items():
            self.control[getattr(march_block, name)] = value
        self._first(*(x.ctypes.data for x in (self.control, self._signals, self._y, self._stages)))

    def finite(self) -> bool:
        """Whether all stages of the last attempt are finite numbers."""
        return bool(np.isfinite(self._stages).all())

    def room(self, rows: int) -> np.ndarray:
        """An array for this number of output rows in every lane."""
        return np.zeros((self.lanes, rows, self.m))

    def go(self, grid: np.ndarray, out: np.ndarray, attempts: int) -> int:
        """Run the loop for at most so many attempts, and return why it stopped: REACHED or PAUSED."""
        before = [x.ctypes.data for x in (self.control, self._signals, self._y, self._stages, grid)]
        return int(self._march(*before, len(grid), out.ctypes.data, attempts))


def build(
    program: Callable[[], Program],
    scheme: Scheme,
    m: int,
    measured: int,
    units: Sequence[int],
    lanes: int,
    identity: Sequence[str],
    cached: bool,
) -> March | None:
    """The compiled loop around a program, from the cache if it is there; with `cached`, None if it isn't."""
    kind = repr((scheme, measured, list(units)))
    form = f"march {lanes}"
    code = objects.loaded(form, (kind, *identity), lambda: march(program(), scheme, measured, units, lanes), cached)
    return March(code, m, len(scheme.B), lanes) if code is not None else None
