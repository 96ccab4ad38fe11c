"""An adaptive Runge-Kutta loop compiled around a recorded program y' = f(u, y) with constant u.

Stages, error, step control and dense output run without Python; the loop returns to its caller when the end is reached,
a number of attempts is used up, or no step can be taken.  The method is a tableau, the step control is the text of
`control.py`: `simulate/runge_kutta.py` has both as well, and a test compares the steps.

W runs go side by side in the lanes, each with its own time, step and output rows; a single run has W = 1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program.trace import Program
from . import cores, march_block, native, objects
from .curves import EMPTY, SignalPieces
from .march_block import (
    ACCEPTED,
    FRESH,
    GUARDED,
    OPEN,
    PAUSED,
    REACHED,
    REJECTED,
    ROW,
    ROWS,
    STATUS,
    T_END,
    TOO_SMALL,
    H,
    T,
)
from .march_code import Scheme, march
from .march_watch import RULE, SAMPLES

__all__ = [
    "ACCEPTED",
    "GUARDED",
    "OPEN",
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
    """The compiled loop with its memory; `control` has a row of lanes for each quantity.

    `closes` says whether its output rows are closed states; behind the rows of the control block is room for one.
    """

    def __init__(self, loaded: native.Loaded, m: int, stages: int, lanes: int, *, closes: bool = False):
        self._loaded, self.stages, self.closes = loaded, stages, closes
        self.m, self.lanes = m, lanes
        self._rows = ROWS + m * closes
        self.control = np.zeros((self._rows, lanes))
        self._pieces, self._watches = EMPTY, Watches((), 0)
        self._y = np.zeros((m, lanes))
        self._stages = np.zeros((stages + 3, m, lanes))
        pointer = ctypes.c_void_p
        kinds = [pointer] * 5 + [ctypes.c_long, pointer, ctypes.c_long, pointer, pointer]
        self._march = ctypes.CFUNCTYPE(ctypes.c_long, *kinds)(loaded.address("march"))
        self._first = ctypes.CFUNCTYPE(None, *[pointer] * 5)(loaded.address("first"))

    @property
    def y(self) -> np.ndarray:
        """The states, with a row for each lane."""
        return self._y.T

    def begin(
        self,
        signals: np.ndarray,
        y: np.ndarray,
        pieces: SignalPieces = EMPTY,
        watches: Sequence[Sequence[float]] = (),
        quantities: int = 0,
        slope: np.ndarray | None = None,
        **control: float | np.ndarray,
    ) -> None:
        """Set signals and states, with a row for each lane, and the control block; evaluate the first stage.

        `pieces` are the signals that vary in time; `watches` are rules, each behind the place of what it watches among
        the components of the state and the program's `quantities`. A `slope` that is known is the first stage.
        """
        rows = np.atleast_2d(signals)
        self._signals = np.zeros((rows.shape[1] + 1, self.lanes))  # with a place for what pads groups of pieces
        self._signals[:-1] = rows.T
        self._pieces, self._table = pieces, pieces.table()
        self._watches = Watches(watches, self.m + quantities)
        self._y[:] = np.atleast_2d(y).T
        self.control[:] = 0.0
        self.control[FRESH] = 1.0
        for name, value in control.items():
            self.control[getattr(march_block, name)] = value
        if slope is not None:
            self._stages[0, :, 0] = slope
            return
        self._first(*(x.ctypes.data for x in (self.control, self._signals, self._y, self._stages, self._table)))

    def rate(self, signals: Sequence[float], y: np.ndarray) -> np.ndarray:
        """The rate of one state under these signals, for a loop with one lane; what is under way isn't touched."""
        control, rate = np.zeros(self._rows), np.empty(self.m)
        arrays = (control, np.array([*signals, 0.0]), np.array(y, dtype=float), rate, EMPTY.table())
        self._first(*(x.ctypes.data for x in arrays))
        return rate

    @property
    def wanted(self) -> float:
        """The length of the step that the first lane was to take next."""
        return float(self.control[H, 0])

    @property
    def ahead(self) -> float:
        """The end of that step."""
        return float(min(self.control[T, 0] + self.control[H, 0], self.control[T_END, 0]))

    def finite(self) -> bool:
        """Whether all stages of the last attempt are finite numbers."""
        return bool(np.isfinite(self._stages).all())

    def room(self, rows: int) -> np.ndarray:
        """An array for this number of output rows in every lane."""
        return np.zeros((self.lanes, rows, self.m))

    def go(self, grid: np.ndarray, out: np.ndarray, attempts: int) -> int:
        """Run the loop for at most so many attempts, and return why it stopped: REACHED or PAUSED."""
        before = [x.ctypes.data for x in (self.control, self._signals, self._y, self._stages, grid)]
        behind = self._table.ctypes.data, self._watches.table.ctypes.data
        return int(self._march(*before, len(grid), out.ctypes.data, attempts, *behind))

    # ---- many runs

    def rates(self, signals: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The rates y' of many runs; all arrays have a row for each run."""
        u, states = self._blocks(signals), self._blocks(y)
        control, rate = np.zeros((ROWS, self.lanes)), np.empty_like(states)
        for k in range(len(states)):
            self._first(*(x.ctypes.data for x in (control, u[k], states[k], rate[k], NOTHING)))
        return self._runs(rate, len(y))

    def carry(
        self,
        signals: np.ndarray,
        y: np.ndarray,
        slope: np.ndarray,
        grid: np.ndarray,
        most: int,
        attempts: int,
        **control: Any,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The output rows of many runs, (runs, instants, components), and the control block at their ends.

        `slope` has the rates of the states y, which are the first stage.
        Every run goes on until its end, or until a run beside it has made more than `most` steps; `attempts` bounds the
        time between two looks at Ctrl-C.  The blocks of lanes are shared among the processor's cores.
        """
        u, states, slopes = self._blocks(signals), self._blocks(y), self._blocks(slope)
        blocks = np.zeros((len(states), ROWS, self.lanes))
        blocks[:, FRESH] = 1.0
        for name, value in control.items():
            each = np.broadcast_to(np.asarray(value, dtype=float), len(y))
            blocks[:, getattr(march_block, name)] = self._blocks(each[:, None])[:, 0]
        out = np.zeros((len(states), self.lanes, len(grid), self.m))

        def run(first: int, end: int) -> None:
            stages = np.zeros_like(self._stages)
            for k in range(first, end):
                before = [x.ctypes.data for x in (blocks[k], u[k], states[k], stages)]
                stages[0] = slopes[k]
                status, accepted = PAUSED, 0
                while status == PAUSED and accepted <= most:
                    tries = min(attempts, most + 1 - accepted)
                    behind = out[k].ctypes.data, tries, NOTHING.ctypes.data, UNWATCHED.table.ctypes.data
                    status = self._march(*before, grid.ctypes.data, len(grid), *behind)
                    accepted = int(blocks[k, ACCEPTED].max())

        cores.run_in_parts(len(states), 1, run, FEWEST)
        rows = out.reshape(-1, len(grid), self.m)[: len(y)]
        return rows, self._runs(blocks, len(y)).T

    def _blocks(self, rows: np.ndarray) -> np.ndarray:
        """The columns of many runs in blocks of lanes, (blocks, columns, lanes); the last run fills the last block."""
        count, width = rows.shape
        blocks = -(-count // self.lanes)
        filled = rows[np.minimum(np.arange(blocks * self.lanes), count - 1)]
        lanes = filled.reshape(blocks, self.lanes, width).transpose(0, 2, 1)
        return np.array(lanes, dtype=float, order="C") if width else np.zeros((blocks, 1, self.lanes))

    def _runs(self, blocks: np.ndarray, count: int) -> np.ndarray:
        """The columns of so many runs, with a row for each of them, from blocks of lanes."""
        return blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:count]


class Watches:
    """The memory of the watches of a step: their rules, what they watch, and their values in a step."""

    def __init__(self, rules: Sequence[Sequence[float]], quantities: int):
        self._rules = np.array(rules, dtype=float).reshape(-1, RULE)
        self._watched, self._values = np.zeros(quantities), np.zeros((len(rules), SAMPLES + 1))
        arrays = (self._rules, self._watched, self._values)
        self.table = np.array([len(rules), *(x.ctypes.data for x in arrays)], dtype=np.int64)


NOTHING, UNWATCHED = EMPTY.table(), Watches((), 0)  # of runs in which nothing depends on time and no mode changes
FEWEST = 8  # blocks of lanes from which on another thread pays


def build(
    program: Callable[[], Program],
    scheme: Scheme,
    m: int,
    measured: int,
    units: Sequence[int],
    lanes: int,
    identity: Sequence[str],
    cached: bool,
    level: int = native.SOUND,
    *,
    closes: bool = False,
) -> March | None:
    """The compiled loop around a program, from the cache if it is there; with `cached`, None if it isn't.

    `closes` says whether the program has the output `closed`.
    """
    kind = repr((scheme, measured, list(units), closes))
    text = lambda: march(program(), scheme, measured, units, lanes)  # noqa: E731
    code = objects.loaded(f"march {lanes}", (kind, *identity), text, cached, level)
    return March(code, m, len(scheme.B), lanes, closes=closes) if code is not None else None
