"""Runs of systems that differ in numbers only, carried side by side over the grid, each with its own steps and events.

All runs go on by the compiled loop until their ends, or until their events. Those that have one are brought to it all
together, go on in other modes, and join the loop again: modes are data, and their equations are the same. A run that
isn't clear, or that can't go on, is left to the loop of single runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...machine.jit import EMPTY, Kernel, SignalPieces, fitted_signal_pieces
from ...machine.stepping import Lane, LaneStatus, ManyRuns, March
from .. import modes
from ..contacts import Contacts, stiction_force_ranges
from ..impacts import prescribed_rates_jump
from ..integrators.integrate import INTEGRATORS
from ..integrators.runge_kutta import first_step_length
from ..integrators.stepper import LEAST_ATOL, LEAST_RTOL
from ..marching import ATTEMPTS
from ..reasons import CHATTER
from ..recorded import place_of_watched_quantity
from ..sticking import settled_modes
from ..systems.signals import begin_of_run, sides_of_kink, signal_rows
from ..trace import Solver
from .batch_program import BatchInstants, Equations, Starts, shut_states
from .mode_table import ModeTable, Regimes
from .traces import Log, RunTraces


def integrate_batch(starts: Starts, grid: np.ndarray, solver: Solver, kinks: Sequence[float] = ()) -> RunTraces | None:
    """The runs over the grid, by the compiled loop; None where there is none that could carry them."""
    equations = starts.equations(starts.discrete)
    if equations.march(solver) is None or (starts.modal and equations.code(cached=False) is None):
        return None
    with np.errstate(all="ignore"):
        return _BatchRun(starts, grid, solver).run(kinks)


class _BatchRun:
    """Runs under way; all arrays have a row for each of them."""

    def __init__(self, starts: Starts, grid: np.ndarray, solver: Solver):
        self.starts, self.solver = starts, solver
        self.grid = np.ascontiguousarray(grid)
        self.instants = self.grid.copy()
        self.system, count = starts.run.system, len(starts.y)
        self.blank = replace(self.system, symbols=None)
        self.patterns = ModeTable(starts.run, starts.limits, starts.discrete)
        scheme = INTEGRATORS[solver.method].abreast
        assert scheme is not None, "these runs go by the compiled loop"
        self.scheme = scheme
        self._longest = partial(solver.longest_steps, adaptive=not scheme.fixed)
        self.rtol, self.atol = max(solver.rtol, LEAST_RTOL), max(solver.atol, LEAST_ATOL)
        self.y, self.t = starts.y.copy(), np.full(count, float(grid[0]))
        self.h, self.slope = np.zeros(count), np.zeros_like(self.y)
        self.fresh = np.ones(count, dtype=bool)  # whether a run needs a new first step
        self.alive = np.ones(count, dtype=bool)
        self.mode = np.zeros(count, dtype=int)
        self.regimes = Regimes.at_start(starts)
        self.contacts = Contacts.none(count, len(self.patterns.switching), len(self.patterns.bounded))
        self.states = np.zeros((count, len(grid), self.y.shape[1]))
        self.modes = np.zeros((count, len(grid)), dtype=int)
        self.kept = np.zeros((count, len(grid), len(self.system.keeping)))
        self.rows = np.zeros(count, dtype=int)  # that are known
        self.steps, self.rejected, self.evaluations = np.zeros((3, count), dtype=int)
        self.log: list[Log] = []
        self.happened = np.zeros(count, dtype=int)

    def run(self, kinks: Sequence[float]) -> RunTraces | None:
        """The traces of the runs; None where they can't go side by side."""
        t, end = begin_of_run(self.grid, kinks), float(self.grid[-1])
        everyone, self.t[:], self.instants[0] = np.arange(len(self.y)), t, t
        self._settle(everyone)
        self.y[:, -2:] = 0.0  # a blow at the start is over before the first row
        self.states[:, 0], self.modes[:, 0], self.rows[:] = self.y, self.mode, 1
        self.kept[:, 0] = self.contacts.kept[:, : self.kept.shape[2]]
        for stop in sorted({float(x) for x in kinks if t < x < end} | {end}):
            pieces = self._pieces(t, stop)
            if pieces is None:
                return None
            self._leg(t, stop, pieces)
            if stop < end:
                earlier, stop = sides_of_kink(stop, self.grid)
                if prescribed_rates_jump(self.system, earlier, stop):
                    return None
                self.t[self.alive] = stop
                self._settle(np.flatnonzero(self.alive), kink=True)
            t = stop
        counts = self.steps, self.rejected, self.evaluations
        kept = self.states, self.alive, *counts, self._kept(), self.modes, self.kept
        return RunTraces(self.grid, self.instants, *kept, tuple(self.log), self.patterns)

    def _kept(self) -> np.ndarray:
        """The signals at all rows."""
        signals = np.repeat(self._signals(self.instants)[None], len(self.y), axis=0)
        if self.starts.modal:
            flat = signals.reshape(-1, signals.shape[2])
            runs = np.repeat(np.arange(len(self.y)), len(self.grid))
            contacts = self.patterns.contacts(self.modes.ravel())
            if self.system.keeping:
                contacts = replace(contacts, kept=self.kept.reshape(len(flat), -1))
            self.patterns.put_signals(flat, contacts, runs)
        return signals

    # ---- legs

    def _pieces(self, begin: float, end: float) -> SignalPieces | None:
        """The signals of a leg that vary in time; None where these would be too many polynomials."""
        inputs = self.system.inputs
        if inputs.timeless:
            return EMPTY
        longest = float(self._longest(np.array(begin), end)) * (1.0 + 1e-9)
        numbers, followed = len(self.starts.symbols), self.system.planning and self.system.follows

        def sampled(t: np.ndarray) -> np.ndarray:
            return np.pad(self._signals(t), ((0, 0), (0, numbers)))

        return fitted_signal_pieces(sampled, begin, end, inputs.breaks, longest, followed=followed)

    def _leg(self, begin: float, end: float, pieces: SignalPieces) -> None:
        """Carry all runs to the end of a leg."""
        constants = self._signals(np.full(1, begin + (end - begin) / 2))[0]
        self.fresh[:] = True
        while len(these := np.flatnonzero(self.alive & (self.t < end))):
            regimes = self.regimes.now[these]
            for regime in np.unique(regimes).tolist():
                self._carry(regime, these[regimes == regime], constants, pieces, end)

    def _carry(self, regime: int, these: np.ndarray, constants: np.ndarray, pieces: SignalPieces, end: float) -> None:
        """Carry runs of one regime to the end of a leg, or through their next event."""
        march = self._equations(regime).march(self.solver)
        assert march is not None, "no run has a regime without code"
        inputs = self._inputs(np.repeat(constants[None], len(these), axis=0), these, self.contacts.some(these))
        self._begin(march, these, inputs, pieces, end)
        many = ManyRuns(inputs, self.y[these], self.slope[these], self.states[these][:, 1:], pieces)
        watched = np.zeros(0, dtype=int)  # those of all watches that any of these runs has
        if self.starts.modal:
            watched, many.rules = modes.rules_of_watches(self._beside(these), self.contacts.some(these))
            many.quantities = self._equations(regime).watched
            sources, discrete = (self.patterns.watches[n].source for n in watched), self.patterns.regimes[regime]
            many.places = [place_of_watched_quantity(self.system, discrete, one) for one in sources]
        most = self.solver.max_steps
        control = march.carry(many, self.grid[1:].copy(), most, ATTEMPTS, **self._control(these, end))
        self._take(march, these, many, control)
        going = np.isin(control[Lane.STATUS], (LaneStatus.GOING, LaneStatus.EVENT))
        self.alive[these] &= going & (self.steps[these] <= most)
        met = (control[Lane.STATUS] == LaneStatus.EVENT) & self.alive[these]
        if met.any():
            self._meet(regime, these[met], watched[control[Lane.WHICH, met].astype(int)])

    def _control(self, these: np.ndarray, end: float) -> dict[str, Any]:
        longest = self._longest(self.t[these], end)
        known = {"T": self.t[these], "H": self.h[these], "ROW": self.rows[these] - 1.0}
        return {**known, "T_END": end, "RTOL": self.rtol, "ATOL": self.atol, "MAX_STEP": longest}

    def _begin(self, march: March, these: np.ndarray, inputs: np.ndarray, pieces: SignalPieces, end: float) -> None:
        """The slopes and the lengths of first steps, of those runs that start anew."""
        fresh = self.fresh[these]
        new, inputs, n = these[fresh], inputs[fresh], self.system.measured
        if not len(new):
            return
        t, y = self.t[new], self.y[new]

        def later(h: np.ndarray) -> np.ndarray:
            return march.rates(t + h, inputs, y + h[:, None] * f, pieces)[:, :n]

        f = march.rates(t, inputs, y, pieces)
        self.slope[new], self.fresh[new] = f, False
        self.evaluations[new] += 1
        longest = self._longest(t, end)
        if self.scheme.fixed:
            assert self.solver.step is not None
            self.h[new] = np.fmin(longest, self.solver.step)
            return
        stops = np.minimum(end, self.grid[self.rows[new]]) if self.scheme.lands else end
        scale, rest = self.atol + abs(y[:, :n]) * self.rtol, stops - t
        longest = np.minimum(rest, longest)
        self.h[new] = first_step_length(later, y[:, :n], f[:, :n], scale, rest, longest, self.scheme.exponent)
        self.evaluations[new] += 1

    def _take(self, march: March, these: np.ndarray, many: ManyRuns, control: np.ndarray) -> None:
        """Take over what the compiled loop has done."""
        self.y[these], self.slope[these] = many.y, many.slope
        self.states[these, 1:] = many.rows
        self.t[these], self.h[these] = control[Lane.T], control[Lane.H]
        self._keep(these, control[Lane.ROW].astype(int) + 1)
        accepted, rejected = control[Lane.ACCEPTED].astype(int), control[Lane.REJECTED].astype(int)
        self.steps[these] += accepted
        self.rejected[these] += rejected
        self.evaluations[these] += march.evaluated(control)

    def _keep(self, these: np.ndarray, rows: np.ndarray) -> None:
        """Note the modes of new rows."""
        if self.starts.modal:
            place, before = np.arange(len(self.grid)), self.rows[these, None]
            new = (before <= place) & (place < rows[:, None])
            self.modes[these] = np.where(new, self.mode[these, None], self.modes[these])
            kept = self.contacts.kept[these, None, : self.kept.shape[2]]
            self.kept[these] = np.where(new[:, :, None], kept, self.kept[these])
        self.rows[these] = rows

    # ---- events

    def _meet(self, regime: int, these: np.ndarray, watches: np.ndarray) -> None:
        """Carry these runs, which have come to events of these watches, through them."""
        self.y[these], self.fresh[these] = self.system.unit(self.y[these]), True
        if self.system.loops.m:
            self._shut(regime, these)
        self._happened(these, watches)

    def _shut(self, regime: int, these: np.ndarray) -> None:
        """Close the loops of these mechanisms, whose held joints keep still."""
        inputs, n = self._inputs(self._signals(self.t[these]), these, self.contacts.some(these)), self.system.measured
        states, equations = np.ascontiguousarray(self.y[these, :n]), self._equations(regime)
        self.alive[these] &= shut_states(equations, self._code(regime), inputs, states)
        states[:, [self.system.place_of(k) for k in equations.discrete.held]] = 0.0
        self.y[these, :n] = states

    def _happened(self, these: np.ndarray, watches: np.ndarray) -> None:
        """Choose the modes of these runs after the events of these watches, and note the events."""
        before, t, off = self.mode[these], self.t[these], self._settle(these, watches)
        loose = np.array([one.what == modes.LOOSE for one in self.patterns.watches], dtype=bool)[watches]
        self.alive[these] &= ~loose | (before != self.mode[these])  # rounding still holds what has been let go
        self._note(these, t, before, np.where(off, -1, watches))

    def _note(self, these: np.ndarray, t: np.ndarray, before: np.ndarray, watches: np.ndarray) -> None:
        """Note what has happened to these runs; those to which too much does go on no further."""
        self.log.append(Log(these, t, before, self.mode[these], watches))
        self.happened[these] += 1
        self.alive[these] &= self.happened[these] <= CHATTER

    def _settle(self, these: np.ndarray, watches: np.ndarray | None = None, *, kink: bool = False) -> np.ndarray:
        """Choose the modes in which these runs go on; those without equations for them go on no further.

        The runs are at the events of these watches or, without any, at their starts or at a `kink` of a law. Returned
        is which joints that were to reach their limits aren't there.
        """
        off, sound = np.zeros(len(these), dtype=bool), self.alive[these] & np.isfinite(self.y[these]).all(axis=1)
        these = these[sound]
        if not self.starts.modal or not len(these):
            return off
        at, which = self._beside(these), np.full(len(these), -1) if watches is None else watches[sound]
        if kink:
            self.y[these], contacts = settled_modes(
                at, self.y[these], np.zeros((len(these), len(at.columns)), dtype=bool)
            )
            dead = np.zeros_like(contacts.held)
        else:
            self.y[these], contacts, dead, off[sound] = modes.runs_after_events(
                at, self.y[these], self.patterns.watches, which
            )
        # a stop at the end of a stroke: rounding between steps says whether there is an event
        self.alive[these] &= ~(contacts.grazing | (dead & (contacts.lower | contacts.upper))).any(axis=1)
        if self.system.loops.m:
            contacts = self._renewed(these, contacts, self._expanded(self.t[these], self.y[these])[0])
        elif self.starts.timed:
            self.alive[these] &= ~self._break_loose_at_once(these, contacts)
        for name, values in vars(contacts).items():
            getattr(self.contacts, name)[these] = values
        before = self.mode[these]
        self.mode[these] = self.patterns.numbered(contacts, self.regimes.now[these])
        if watches is None:
            before = np.where(self.rows[these] > 0, before, -1)
            new = (before != self.mode[these]) & ((before >= 0) | bool(self.patterns.bounded))
            self._note(these[new], self.t[these[new]], before[new], np.full(new.sum(), -1))
        return off

    def _break_loose_at_once(self, these: np.ndarray, contacts: Contacts) -> np.ndarray:
        """Whether laws of time press a held joint beyond its bound right behind these instants, as in `modes.py`."""
        soon = self.t[these] + modes.SOON * (self.grid[-1] - self.grid[0])
        inputs = self._inputs(self._signals(soon), these, contacts)
        s = self._said(0, these, inputs, self.y[these])["quantities"][:, : len(self.patterns.switching)]
        coulomb = self.starts.limits.coulomb[these]
        low, high = stiction_force_ranges(coulomb, contacts.lower, contacts.upper)
        loose = (s >= high + contacts.slack) | (s <= low - contacts.slack)
        return np.asarray((contacts.held & loose).any(axis=1))

    def _renewed(self, these: np.ndarray, contacts: Contacts, q: np.ndarray) -> Contacts:
        """The contacts of these mechanisms at q, which get the regimes of joints that are held or let go now."""
        here = self.contacts.some(these)
        differ = (contacts.held != here.held) | (contacts.bear != here.bear)
        others = np.flatnonzero(differ.any(axis=1) & self.alive[these])
        new, regimes = these[others], self.regimes
        self.alive[new] = regimes.renew(self.starts, self.patterns, self.solver, new, q[others], contacts.some(others))
        on = self.alive[these, None]
        return replace(contacts, held=contacts.held & on, bear=contacts.bear & on)

    def _expanded(self, t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coordinates and speeds of the robots."""
        columns = list(self._signals(t)[:, : self.system.motion_signals].T)
        q, qd, _ = self.system.expanded(columns, list(y.T))
        wide = [np.broadcast_to(np.asarray(x, dtype=float), len(t)) for x in (*q, *qd)]
        both = np.array(wide).reshape(-1, len(t)).T
        return both[:, : len(q)], both[:, len(q) :]

    def _signals(self, t: np.ndarray) -> np.ndarray:
        return signal_rows(self.blank, t, self.patterns.blank, self.starts.run.planned)

    def _equations(self, regime: int) -> Equations:
        """The equations of a regime."""
        return self.starts.equations(self.patterns.regimes[regime])

    def _code(self, regime: int) -> Kernel:
        """Their code, which every regime has that runs take."""
        code = self._equations(regime).code(cached=False)
        assert code is not None
        return code

    def _beside(self, these: np.ndarray) -> BatchInstants:
        """These runs at their instants."""
        return BatchInstants(self.starts, these, self.t[these], self.contacts.some(these), self._ask, self._expanded)

    def _ask(self, these: np.ndarray, y: np.ndarray, contacts: Contacts, free: bool) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, forces of actuators and friction, and what is demanded, of these runs at their instants.

        The equations of mechanisms are those without held joints, if `free`; where they say nothing, a run ends.
        """
        inputs, regimes = self._inputs(self._signals(self.t[these]), these, contacts), self.regimes
        now, bounds = (regimes.free, regimes.free_bounds) if free else (regimes.now, regimes.bounds)
        inputs[:, self.starts.bounds] = bounds[these]
        nq, nv = self.system.robot.nq, self.system.robot.nv
        rows, demanded = np.zeros((len(these), 3 * nv)), np.zeros((len(these), len(self.patterns.bounded)))
        for regime in np.unique(now[these]).tolist():
            some = np.flatnonzero(now[these] == regime)
            found = self._said(regime, these[some], inputs[some], y[some])
            rows[some] = found["row"][:, nq + nv : nq + 4 * nv]
            demanded[some] = found["quantities"][:, found["quantities"].shape[1] - demanded.shape[1] :]
            if "guard" in found:
                self.alive[these[some]] &= found["guard"][:, 0] > 0.0
        self.alive[these] &= np.isfinite(rows).all(axis=1)
        return np.where(np.isfinite(rows), rows, 0.0), demanded

    def _said(self, regime: int, these: np.ndarray, inputs: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        """The groups of outputs of a regime's equations with these inputs."""
        self.evaluations[these] += 1
        return self._equations(regime).groups(self._code(regime), inputs, y[:, : self.system.measured])

    def _inputs(self, signals: np.ndarray, these: np.ndarray, contacts: Contacts) -> np.ndarray:
        """The inputs of these runs' equations, with their modes and with what is their own."""
        if self.starts.modal:
            self.patterns.put_signals(signals, contacts, these)
        inputs = self.starts.inputs(signals[:, None], these)[:, 0]
        inputs[:, self.starts.bounds] = self.regimes.bounds[these]
        return inputs
