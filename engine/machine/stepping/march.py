"""An adaptive Runge-Kutta loop compiled around a recorded program y' = f(u, y) with constant u.

Stages, error, step control and dense output run without Python; the loop returns to its caller when the end is reached,
a number of attempts is used up, or no step can be taken.  The method is a tableau, the step control is the text of
`control.py`: `simulate/integrators/runge_kutta.py` has both as well, and a test compares the steps.

W runs go side by side in the lanes, each with its own time, step and output rows; a single run has W = 1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backend import cores, native, objects
from ..jit.kernel import Single
from ..jit.polynomials import EMPTY, FIRST, SignalPieces
from ..loops.dense import PARTS, RULE_SIZE
from ..program.recording import Program
from .differences import BackwardDifferences, StepHistory
from .implicit import ImplicitMethod
from .march_block import LOOP_PAUSED, ROWS, Lane
from .march_code import loop_ir, system_functions_ir
from .march_dense import ExplicitMethod
from .march_past import PastOfLane

LoopMethod = ExplicitMethod | ImplicitMethod


class March:
    """The compiled loop with its memory; `control` has a row of lanes for each quantity.

    `closes` says whether its output rows are closed states, and behind the rows of the control block is
    room for one.
    """

    def __init__(
        self, loaded: native.Loaded, m: int, scheme: LoopMethod, lanes: int, system: System, *, closes: bool = False
    ):
        self._loaded, self._scheme, self._system, self.closes = loaded, scheme, system, closes
        self.m, self.lanes = m, lanes
        self._rows, self._words = ROWS + m * closes, system.words.ctypes.data
        self.control = np.zeros((self._rows, lanes))
        self._pieces, self._watches = EMPTY, Watches(m, lanes)
        self._y = np.zeros((m, lanes))
        self._stages = np.zeros((scheme.memory(m), m, lanes))
        pointer = ctypes.c_void_p
        kinds = [pointer] * 7 + [ctypes.c_long, pointer, ctypes.c_long, pointer]
        self._march = ctypes.CFUNCTYPE(ctypes.c_long, *kinds)(loaded.address("march"))
        self._first = ctypes.CFUNCTYPE(None, *[pointer] * 6)(loaded.address("first"))
        self._look = ctypes.CFUNCTYPE(None, *[pointer] * 4)(loaded.address("look"))

    @property
    def derivatives(self) -> Single | None:
        """The code for the derivatives of the rate, of implicit methods."""
        return self._system.derivatives

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
        past: PastOfLane | None = None,
        history: StepHistory | None = None,
        **control: float | np.ndarray,
    ) -> None:
        """Set signals and states, with a row for each lane, and the control block; evaluate the first stage.

        `pieces` are the signals that vary in time; `watches` are rules, each behind the place of what it watches among
        the components of the state and the program's `quantities`. A `slope` that is known is the first stage.
        `past` is what is remembered, for a loop that looks back: it grows with the steps. `history` is what a multistep
        method goes on with; then the first stage isn't needed.
        """
        rows = np.atleast_2d(signals)
        self._signals = np.zeros((rows.shape[1] + 1, self.lanes))  # with a place for what pads groups of pieces
        self._signals[:-1] = rows.T
        self._pieces, self._table, self._past = pieces, pieces.table(), past
        self._watches = Watches(self.m, self.lanes, [int(place) for place, *_ in watches], quantities)
        self._watches.look(np.array([rule for _, *rule in watches]).reshape(len(watches), RULE_SIZE, 1))
        if past is not None:
            self._table[FIRST:] = past.words()
        self._y[:] = np.atleast_2d(y).T
        self.control[:] = 0.0
        self.control[Lane.FRESH] = self.control[Lane.GUARD] = 1.0  # of systems without a guard nothing changes it
        for name, value in control.items():
            self.control[getattr(Lane, name)] = value
        if slope is not None:
            self._stages[0, :, 0] = slope
        elif history is None:
            places = (x.ctypes.data for x in (self.control, self._signals, self._table))
            self._first(*places, self._words, self._y.ctypes.data, self._stages.ctypes.data)
        if isinstance(self._scheme, BackwardDifferences):
            D, J, own = self._kept(self._scheme)
            if history is None:
                self._scheme.begin(D, J, own, self._stages[0] * self.control[Lane.H])
            else:
                self._scheme.begin(D[..., 0], J[..., 0], own[..., 0], D[1, :, 0], history)

    def rate(self, signals: Sequence[float], y: np.ndarray) -> np.ndarray:
        """The rate of one state under these signals, for a loop with one lane; what is under way isn't touched."""
        control, rate, state = np.zeros(self._rows), np.empty(self.m), np.array(y, dtype=float)
        places = (x.ctypes.data for x in (control, np.array([*signals, 0.0]), EMPTY.table()))
        self._first(*places, self._words, state.ctypes.data, rate.ctypes.data)
        return rate

    def watched(self, signals: Sequence[float], y: np.ndarray, quantities: int) -> np.ndarray:
        """The program's quantities for watches, so many of them, in one state under these signals, likewise."""
        found, u, state = np.empty(quantities), np.array([*signals, 0.0]), np.array(y, dtype=float)
        self._look(u.ctypes.data, self._words, state.ctypes.data, found.ctypes.data)
        return found

    @property
    def history(self) -> StepHistory | None:
        """What the next step begins with besides the state, where the method has several steps."""
        if not isinstance(self._scheme, BackwardDifferences):
            return None
        D, J, own = self._kept(self._scheme)
        return self._scheme.history(D[..., 0], J[..., 0], own[..., 0])

    def _kept(self, method: BackwardDifferences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Differences, derivatives and numbers that lanes keep from step to step."""
        measured = self._system.measured
        J = method.rows_of(self._stages, "J").reshape(-1, self.lanes)[: self.m * measured]
        return method.rows_of(self._stages, "D"), J.reshape(self.m, measured, -1), self.control[Lane.OWN : ROWS]

    @property
    def wanted(self) -> float:
        """The length of the step that the first lane was to take next."""
        return float(self.control[Lane.H, 0])

    @property
    def ahead(self) -> float:
        """The end of that step."""
        ends = self.control[Lane.LANDING if self._scheme.lands else Lane.T_END, 0]
        return float(min(self.control[Lane.T, 0] + self.control[Lane.H, 0], ends))

    @property
    def evaluations(self) -> int:
        """The number of evaluations in the first lane since the last beginning, without that of the first stage."""
        return int(self.evaluated(self.control)[0])

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The same for all lanes, or runs, from their rows of control blocks."""
        return self._scheme.evaluated(control)

    def finite(self) -> bool:
        """Whether all stages of the last attempt are finite numbers."""
        return bool(np.isfinite(self._stages[self._scheme.examined(self.m)]).all())

    def room(self, rows: int) -> np.ndarray:
        """An array for this number of output rows in every lane."""
        return np.zeros((self.lanes, rows, self.m))

    def go(self, grid: np.ndarray, out: np.ndarray, attempts: int) -> int:
        """Run the loop for at most so many attempts, and return why it stopped: LOOP_REACHED or LOOP_PAUSED."""
        if self._past is not None:
            attempts, self._table[FIRST:] = min(attempts, self._past.room), self._past.words()
        ends = np.append(grid, np.inf)
        before = (x.ctypes.data for x in (self.control, self._signals, self._table))
        memory = (x.ctypes.data for x in (self._y, self._stages, ends))
        given = len(grid), out.ctypes.data, attempts, self._watches.table.ctypes.data
        return int(self._march(*before, self._words, *memory, *given))

    # ---- many runs

    def rates(self, t: np.ndarray, signals: np.ndarray, y: np.ndarray, pieces: SignalPieces = EMPTY) -> np.ndarray:
        """The rates y' of many runs at their instants; all arrays have a row for each run."""
        u, states, table = self._signal_blocks(signals), self._blocks(y), pieces.table()
        control, rate, clocks = np.zeros((ROWS, self.lanes)), np.empty_like(states), self._blocks(t[:, None])
        control_at, table_at = control.ctypes.data, table.ctypes.data
        for k, (u_at, y_at, rate_at) in enumerate(addresses(u, states, rate)):
            control[Lane.T] = clocks[k, 0]
            self._first(control_at, u_at, table_at, self._words, y_at, rate_at)
        return self._runs(rate, len(y))

    def carry(self, runs: ManyRuns, grid: np.ndarray, most: int, attempts: int, **control: Any) -> np.ndarray:
        """Carry many runs on, each until its end, an event, or until a run beside it has made more than `most` steps.

        Returns the control block at their ends; states, slopes and rows are put into `runs`.  `attempts` bounds the
        time between two looks at Ctrl-C.  The blocks of lanes are shared among the processor's cores.
        """
        count, lanes, table = len(runs.y), self.lanes, runs.pieces.table()
        u, states, slopes = self._signal_blocks(runs.signals), self._blocks(runs.y), self._blocks(runs.slope)
        blocks = np.zeros((len(states), ROWS, lanes))
        blocks[:, Lane.FRESH] = blocks[:, Lane.GUARD] = 1.0
        for name, value in control.items():
            each = np.broadcast_to(np.asarray(value, dtype=float), count)
            blocks[:, getattr(Lane, name)] = self._blocks(each[:, None])[:, 0]
        out = np.zeros((len(states), lanes, len(grid), self.m))
        out.reshape(-1, len(grid), self.m)[:count] = runs.rows
        rules = None
        if runs.places:
            rules = self._blocks(runs.rules.reshape(count, -1)).reshape(len(states), -1, RULE_SIZE, lanes)

        ends = np.append(grid, np.inf)
        grid_at, table_at = ends.ctypes.data, table.ctypes.data

        def run(first: int, end: int) -> None:
            watches = Watches(self.m, lanes, runs.places, runs.quantities, finds=True)
            looks = np.tile(watches.table, (end - first, 1)) if rules is None else watches.tables(rules[first:end])
            kept = np.zeros((end - first, *self._stages.shape))
            kept[:, 0] = slopes[first:end]
            arrays = (blocks[first:end], u[first:end], states[first:end], kept, out[first:end], looks)
            for k, (control_at, u_at, y_at, kept_at, out_at, watched_at) in enumerate(addresses(*arrays), start=first):
                before = control_at, u_at, table_at, self._words, y_at, kept_at, grid_at, len(grid), out_at
                accepted = 0
                while self._march(*before, min(attempts, most + 1 - accepted), watched_at) == LOOP_PAUSED:
                    accepted = int(blocks[k, Lane.ACCEPTED].max())
                    if accepted > most:
                        break
            slopes[first:end] = kept[:, 0]

        cores.run_on_threads_in_parts(len(states), 1, run, FEWEST)
        runs.y, runs.slope = self._runs(states, count), self._runs(slopes, count)
        runs.rows = out.reshape(-1, len(grid), self.m)[:count]
        return self._runs(blocks, count).T

    def _signal_blocks(self, signals: np.ndarray) -> np.ndarray:
        """The signals in blocks of lanes, with a place for what pads groups of pieces."""
        return self._blocks(np.column_stack([signals, np.zeros(len(signals))]))

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


@dataclass
class ManyRuns:
    """Runs on their way, with a row for each run in all arrays."""

    signals: np.ndarray
    y: np.ndarray
    slope: np.ndarray  # the rates of y
    rows: np.ndarray  # the output rows, (runs, instants, components)
    pieces: SignalPieces = EMPTY  # the signals that vary in time, which all runs share
    places: Sequence[int] = ()  # what each watch reads: a component of the state or, behind these, a quantity
    rules: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, RULE_SIZE)))  # (runs, watches, numbers)
    quantities: int = 0  # that the program has for watches


class Watches:
    """The memory of the watches of a step: their rules, what they watch, and their values in a step."""

    def __init__(self, m: int, lanes: int, places: Sequence[int] = (), quantities: int = 0, *, finds: bool = False):
        """`finds` says whether runs go on to their events, or stop before steps in which there may be one."""
        self._places = np.array(places, dtype=np.int64)
        self._inner = self._places >= m  # what isn't in the state has to be computed
        self._rules = np.zeros((len(places), RULE_SIZE, lanes))
        self._watched, self._values = np.zeros((m + quantities, lanes)), np.zeros((len(places), PARTS + 1, lanes))
        arrays = (self._places, self._rules, self._watched, self._values)
        self.table = np.array([len(places), *(x.ctypes.data for x in arrays), 0, finds], dtype=np.int64)

    def look(self, rules: np.ndarray) -> None:
        """Take other rules, (watches, numbers, lanes); a rule whose factor is 0 is none."""
        self._rules[:] = rules
        self.table[DEEP] = (rules[self._inner, 0] != 0.0).sum()

    def tables(self, rules: np.ndarray) -> np.ndarray:
        """A table for each of these blocks of rules, (blocks, watches, numbers, lanes), which have to be kept."""
        tables = np.tile(self.table, (len(rules), 1))
        tables[:, RULES] = rules.ctypes.data + rules.strides[0] * np.arange(len(rules))
        tables[:, DEEP] = (rules[:, self._inner, 0] != 0.0).sum(axis=(1, 2))
        return tables


def addresses(*arrays: np.ndarray) -> Iterator[tuple[int, ...]]:
    """The addresses of the blocks of arrays, which NumPy takes longer to tell than many a block takes to march."""
    return zip(*((x.ctypes.data + x.strides[0] * np.arange(len(x))).tolist() for x in arrays))


RULES, DEEP = 2, 5  # places in the table of watches: of the rules' address, and how many watches read quantities
FEWEST = 8  # blocks of lanes from which on another thread pays


def build_compiled_loop(
    program: Callable[[], Program],
    scheme: LoopMethod,
    m: int,
    measured: int,
    units: Sequence[int],
    lanes: int,
    identity: Sequence[str],
    cached: bool,
    level: int = native.SOUND,
    *,
    closes: bool = False,
    derivatives: Single | None = None,
    slopes: Callable[[], Program] | None = None,
    numbers: Sequence[float] = (),
) -> March | None:
    """The compiled loop around a program, from the cache if it is there; with `cached`, None if it isn't.

    `closes` says whether the program has the output `closed`; implicit methods need `derivatives` of the
    rate, as code for one sample, or in several lanes their program, `slopes`.
    """
    code = objects.loaded_machine_code(
        f"system {lanes}",
        (repr((closes, slopes is not None)), *identity),
        lambda: system_functions_ir(program(), lanes, None if slopes is None else slopes()),
        cached,
        level,
        numbers,
    )
    if code is None or (shared := time_loop(scheme, lanes, cached)) is None:
        return None
    system = System(code, m, measured, units, closes=closes, derivatives=derivatives)
    return March(shared, m, scheme, lanes, system, closes=closes)


def time_loop(method: LoopMethod, lanes: int, cached: bool) -> native.Loaded | None:
    """The loop of a method for all systems, in so many lanes."""
    passes = "always_inliner", "sroa"
    return objects.loaded_machine_code(
        f"loop {lanes}", (repr(method),), lambda: loop_ir(method, lanes), cached, passes=passes
    )


class System:
    """What the loop has to know of a system, in words that compiled code reads; implicit methods need `derivatives`."""

    def __init__(
        self,
        code: native.Loaded,
        m: int,
        measured: int,
        units: Sequence[int],
        *,
        closes: bool,
        derivatives: Single | None = None,
    ):
        self._code, self._places, self.derivatives = code, np.array(units, dtype=np.int64), derivatives
        self.measured = measured
        addresses = self._places.ctypes.data, code.address("rate"), code.address("quantities")
        slopes = code.address_if_any("slopes") if derivatives is None else derivatives.address
        guarding = code.address_if_any("guarded") != 0
        sizes = m, measured, (measured + 1) * closes, len(units)
        self.words = np.array([*sizes, *addresses, guarding, slopes], dtype=np.int64)
