"""Runs of systems that differ in numbers only, carried side by side over the grid, each with its own steps and events.

All runs go on by the compiled loop until their ends, or until their events. Those that have one are brought to it all
together, go on in other modes, and join the loop again: modes are data, and their equations are the same. A run that
isn't clear, or that can't go on, is left to the loop of single runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..machine.jit.kernel import Kernel
from ..machine.jit.polynomials import EMPTY, SignalPieces, fitted_signal_pieces
from ..machine.stepping.march import ACCEPTED, EVENT, GOING, REJECTED, ROW, STATUS, WHICH, H, Many, March, T
from . import blows, modes, sticking
from .contacts import Contacts
from .integrate import INTEGRATORS
from .marching import ATTEMPTS
from .patterns import Patterns, alike
from .reasons import CHATTER
from .regimes import Regimes
from .runge_kutta import first_step_length
from .settling import Found, runs_with_pressed_joints, settled_modes_of_runs, states_after_blows_of_runs
from .settling_in_loops import settled_modes_of_mechanisms, states_of_mechanisms_after_blows
from .shut import rested, shut_states
from .signals import begin_of_run, sides_of_kink, signal_rows
from .stepper import LEAST_ATOL, LEAST_RTOL
from .together import Equations, Starts
from .trace import Solver
from .traces import Log, Traces


def integrate_runs_abreast(
    starts: Starts, grid: np.ndarray, solver: Solver, kinks: Sequence[float] = ()
) -> Traces | None:
    """The runs over the grid, by the compiled loop; None where there is none that could carry them."""
    equations = starts.equations(starts.discrete)
    if equations.march(solver) is None or (starts.modal and equations.code(cached=False) is None):
        return None
    with np.errstate(all="ignore"):
        return _Abreast(starts, grid, solver).run(kinks)


class _Abreast:
    """Runs under way; all arrays have a row for each of them."""

    def __init__(self, starts: Starts, grid: np.ndarray, solver: Solver):
        self.starts, self.solver = starts, solver
        self.grid = np.ascontiguousarray(grid)
        self.instants = self.grid.copy()
        self.system, count = starts.run.system, len(starts.y)
        self.blank = replace(self.system, symbols=None)
        self.patterns = Patterns(starts.run, starts.limits, starts.discrete)
        scheme = INTEGRATORS[solver.method].abreast
        assert scheme is not None, "these runs go by the compiled loop"
        self.scheme = scheme
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
        self.rows = np.zeros(count, dtype=int)  # that are known
        self.steps, self.rejected, self.evaluations = np.zeros((3, count), dtype=int)
        self.log: list[Log] = []
        self.happened = np.zeros(count, dtype=int)

    def run(self, kinks: Sequence[float]) -> Traces | None:
        """The traces of the runs; None where they can't go side by side."""
        t, end = begin_of_run(self.grid, kinks), float(self.grid[-1])
        everyone, self.t[:], self.instants[0] = np.arange(len(self.y)), t, t
        self._settle(everyone, blows=True)
        self.y[:, -2:] = 0.0  # a blow at the start is over before the first row
        self.states[:, 0], self.modes[:, 0], self.rows[:] = self.y, self.mode, 1
        for stop in sorted({float(x) for x in kinks if t < x < end} | {end}):
            pieces = self._pieces(t, stop)
            if pieces is None:
                return None
            self._leg(t, stop, pieces)
            if stop < end:
                earlier, stop = sides_of_kink(stop, self.grid)
                if blows.prescribed_rates_jump(self.system, earlier, stop):
                    return None
                self.t[self.alive] = stop
                self._settle(np.flatnonzero(self.alive))
            t = stop
        counts = self.steps, self.rejected, self.evaluations
        kept = self.states, self.alive, *counts, self._kept(), self.modes
        return Traces(self.grid, self.instants, *kept, tuple(self.log), self.patterns)

    def _kept(self) -> np.ndarray:
        """The signals at all rows."""
        signals = np.repeat(self._signals(self.instants)[None], len(self.y), axis=0)
        if self.starts.modal:
            flat = signals.reshape(-1, signals.shape[2])
            runs = np.repeat(np.arange(len(self.y)), len(self.grid))
            self.patterns.put_signals(flat, self.patterns.contacts(self.modes.ravel()), runs)
        return signals

    # ---- legs

    def _longest(self, t: np.ndarray, end: float) -> np.ndarray:
        """The longest steps that are allowed from these instants on."""
        longest = np.full(len(t), self.solver.max_step)
        for begin, over, step in () if self.scheme.fixed else self.solver.paces:
            if begin < end:
                longest = np.where(over > t, np.minimum(longest, step), longest)
        return longest

    def _pieces(self, begin: float, end: float) -> SignalPieces | None:
        """The signals of a leg that vary in time; None where these would be too many polynomials."""
        inputs = self.system.inputs
        if inputs.timeless:
            return EMPTY
        longest = float(self._longest(np.array([begin]), end)[0]) * (1.0 + 1e-9)
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
        many = Many(inputs, self.y[these], self.slope[these], self.states[these][:, 1:], pieces)
        if self.starts.modal:
            many.places, many.quantities = self.patterns.places[regime], self._equations(regime).watched
            many.rules = self.patterns.rules(self.mode[these], these)
        most = self.solver.max_steps
        control = march.carry(many, self.grid[1:].copy(), most, ATTEMPTS, **self._control(these, end))
        self._take(march, these, many, control)
        self.alive[these] &= np.isin(control[STATUS], (GOING, EVENT)) & (self.steps[these] <= most)
        met = (control[STATUS] == EVENT) & self.alive[these]
        if met.any():
            self._meet(regime, these[met], control[WHICH, met].astype(int))

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

    def _take(self, march: March, these: np.ndarray, many: Many, control: np.ndarray) -> None:
        """Take over what the compiled loop has done."""
        self.y[these], self.slope[these] = many.y, many.slope
        self.states[these, 1:] = many.rows
        self.t[these], self.h[these] = control[T], control[H]
        self._keep(these, control[ROW].astype(int) + 1)
        accepted, rejected = control[ACCEPTED].astype(int), control[REJECTED].astype(int)
        self.steps[these] += accepted
        self.rejected[these] += rejected
        self.evaluations[these] += march.evaluated(control)

    def _keep(self, these: np.ndarray, rows: np.ndarray) -> None:
        """Note the modes of new rows."""
        if self.starts.modal:
            place, before = np.arange(len(self.grid)), self.rows[these, None]
            new = (before <= place) & (place < rows[:, None])
            self.modes[these] = np.where(new, self.mode[these, None], self.modes[these])
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
        states[:, [self.system.place_of(k) for k in equations.discrete.fixed]] = 0.0
        self.y[these, :n] = states

    def _happened(self, these: np.ndarray, slots: np.ndarray) -> None:
        """Choose the modes of these runs after the events of the watches in these slots, and note the events."""
        before, t = self.mode[these], self.t[these]
        loose, direction = np.full(len(these), -1), np.zeros(len(these))
        for mode, slot, rows in alike(before, slots):
            watch = self.patterns.watches[mode][slot]
            if watch.what in (modes.STOPS, modes.TURNS):
                self._rest(these[rows], watch.speed)
            elif watch.what == modes.LOOSE:
                loose[rows], direction[rows] = self.patterns.switching.index(watch.speed), watch.direction
        self._settle(these, loose, direction, blows=True)
        self._note(these, t, before, np.where(self._off_limits(these, before, slots), -1, slots))

    def _off_limits(self, these: np.ndarray, before: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Whether the joint whose watch says that it reaches its limit isn't there, but for rounding between steps."""
        off = np.zeros(len(these), dtype=bool)
        for mode, slot, rows in alike(before, slots):
            watch, some = self.patterns.watches[mode][slot], self.contacts.some(these[rows])
            if watch.what in modes.AT_LIMITS:
                c = self.patterns.switching.index(watch.speed)
                off[rows] = ~(some.lower | some.upper)[:, c]
        return off

    def _rest(self, these: np.ndarray, k: int) -> None:
        """Bring speed k of these runs to rest exactly."""
        self.y[these, self.system.place_of(k)] = 0.0
        if self.system.loops.m:
            t, y = self.t[these], self.y[these]
            self.y[these] = rested(self.starts, these, t, y, *self._expanded(t, y), k)

    def _note(self, these: np.ndarray, t: np.ndarray, before: np.ndarray, slots: np.ndarray) -> None:
        """Note what has happened to these runs; those to which too much does go on no further."""
        self.log.append(Log(these, t, before, self.mode[these], slots))
        self.happened[these] += 1
        self.alive[these] &= self.happened[these] <= CHATTER

    def _settle(
        self,
        these: np.ndarray,
        loose: np.ndarray | None = None,
        direction: np.ndarray | None = None,
        *,
        blows: bool = False,
    ) -> None:
        """Choose the modes in which these runs go on; those that aren't clear go on no further."""
        if not self.starts.modal or not len(these):
            return
        none = np.full(len(these), -1)
        t, y, limits = self.t[these], self.y[these], self.starts.limits.some(these)
        tree = not self.system.loops.m
        if blows and self.system.stopped:
            q, qd = self._expanded(t, y)
            if tree:
                y = states_after_blows_of_runs(self.patterns, limits, self.starts.bodies(these), y, q, qd)
            else:
                y, sure = states_of_mechanisms_after_blows(self.starts, limits, these, y, q, qd)
                self.alive[these] &= sure
        q, _ = self._expanded(t, y)
        loose, direction = none if loose is None else loose, none if direction is None else direction
        if tree:
            now = settled_modes_of_runs(self.patterns, self._ask, these, t, y, q, loose, direction)
        else:
            now = settled_modes_of_mechanisms(self.starts, self.patterns, self._ask, these, t, y, q, loose, direction)
        self.alive[these] &= now.sure
        if tree and self.starts.timed:
            soon = t + sticking.SOON * (self.grid[-1] - self.grid[0])
            self.alive[these] &= ~runs_with_pressed_joints(self.patterns, self._ask, these, t, soon, now)
        self.y[these] = now.y
        contacts = now.contacts if tree else self._renewed(these, now.contacts, q)
        for name, values in vars(contacts).items():
            getattr(self.contacts, name)[these] = values
        before = self.mode[these]
        self.mode[these] = self.patterns.numbered(contacts, self.regimes.now[these], t, now.y)
        if loose is none:  # without an event: at the start, or at a kink of a law
            before = np.where(self.rows[these] > 0, before, -1)
            new = (before != self.mode[these]) & ((before >= 0) | bool(self.patterns.bounded))
            self._note(these[new], self.t[these[new]], before[new], np.full(new.sum(), -1))

    def _renewed(self, these: np.ndarray, contacts: Contacts, q: np.ndarray) -> Contacts:
        """The contacts of these mechanisms at q, which get the regimes of joints that are held or let go now."""
        others = np.flatnonzero((contacts.held != self.contacts.held[these]).any(axis=1) & self.alive[these])
        new, regimes = these[others], self.regimes
        self.alive[new] = regimes.renew(self.starts, self.patterns, self.solver, new, q[others], contacts.some(others))
        return replace(contacts, held=contacts.held & self.alive[these, None])

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

    def _ask(self, these: np.ndarray, t: np.ndarray, y: np.ndarray, contacts: Contacts) -> Found:
        """What the equations say about these runs; those of mechanisms are without held joints."""
        inputs, free = self._inputs(self._signals(t), these, contacts), self.regimes.free[these]
        inputs[:, self.starts.bounds] = self.regimes.free_bounds[these]
        nq, nv, held = self.system.robot.nq, self.system.robot.nv, len(self.patterns.blank.switched)
        watched, qdd = np.zeros((len(these), held + len(self.patterns.bounded))), np.zeros((len(these), nv))
        for regime in np.unique(free).tolist():
            some = np.flatnonzero(free == regime)
            found = self._said(regime, these[some], inputs[some], y[some])
            watched[some], qdd[some] = found["quantities"], found["row"][:, nq + nv : nq + 2 * nv]
            if "guard" in found:  # where the coordinates have become unusable, nothing is said
                qdd[some] = np.where(found["guard"] > 0.0, qdd[some], np.nan)
        return Found(watched[:, :held], qdd, watched[:, held:])

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
