"""The modes that occur among runs side by side, with a number for each, and the regimes of mechanisms.

A regime says which joints are held and which coordinates are independent. Each has equations of its own, and so a
program of its own. When other joints are held than before, a run takes the partition of its own position, as it does by
itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from ...machine.backend import chosen_backend
from ...mechanics.closure import Partition, best_partitions_of_many
from .. import modes
from ..contacts import Contacts, ModeLimits, discrete_state_of_contacts, stiction_force_ranges
from ..coordinates import nearness_of_pivot_guard, speeds_given_at_positions
from ..recorded import held_speeds_with_supports
from ..runner import Runner
from ..systems.discrete import Discrete
from ..systems.signals import first_mode_signal, pivot_limit_signals
from ..trace import Solver
from .batch_program import Starts

FEWEST = 16  # runs for which the equations of another regime are compiled where that has to pay
MOST = 100  # regimes of runs side by side


@dataclass(frozen=True)
class Regimes:
    """The regimes of many runs, as patterns number them, with the inverse bounds of their pivots.

    The last ones in which no joint was held are known as well.
    """

    now: np.ndarray
    bounds: np.ndarray
    free: np.ndarray
    free_bounds: np.ndarray
    wanted: Counter[str] = field(default_factory=Counter)  # regimes without code, by their names

    @staticmethod
    def at_start(starts: Starts) -> Regimes:
        """Those with which the runs start."""
        count, width = len(starts.y), starts.bounds.stop - starts.bounds.start
        bounds = starts.constants[:, starts.constants.shape[1] - width :]
        return Regimes(np.zeros(count, dtype=int), bounds.copy(), np.zeros(count, dtype=int), bounds.copy())

    def renew(
        self, starts: Starts, patterns: ModeTable, solver: Solver, these: np.ndarray, q: np.ndarray, contacts: Contacts
    ) -> np.ndarray:
        """Give these runs at these coordinates the regimes of what holds them now; say which of them have one."""
        done, system = np.zeros(len(these), dtype=bool), starts.run.system
        if not len(these) or system.method.basis != "independent":
            return done
        _, J = starts.alike.near(q, these)
        near = nearness_of_pivot_guard(system)
        for ranges, kept, some in _alike(patterns, contacts):
            for part, places in _partitions(starts, tuple(k for k in ranges if k not in kept), J[some]):
                at = some[places]
                pivots = starts.alike.pivots(part, J[at], these[at])
                bounds = pivot_limit_signals(pivots, near)
                part = replace(part, pivots=tuple(pivots[0].tolist()))
                regime = replace(patterns.blank, held=ranges, kept=kept, partition=part, near=near)
                if self._ready(starts, patterns, solver, regime, len(at)):
                    done[at] = np.isfinite(bounds).all(axis=1) & (pivots != 0.0).all(axis=1)
                    self.now[these[at]], self.bounds[these[at]] = patterns.regime_of_discrete(regime), bounds
        loose = these[done & ~contacts.held.any(axis=1)]
        self.free[loose], self.free_bounds[loose] = self.now[loose], self.bounds[loose]
        return done

    def _ready(self, starts: Starts, patterns: ModeTable, solver: Solver, regime: Discrete, count: int) -> bool:
        """Whether there is code for a regime that so many runs want, or it is worth it."""
        equations = starts.equations(regime)
        bears = len(held_speeds_with_supports(starts.run.system, regime)) == len(regime.bearing)
        if not bears or (regime.kept and not regime.sharing):
            return False
        if regime.name in [one.name for one in patterns.regimes]:
            return True
        if len(patterns.regimes) >= MOST:
            return False
        self.wanted[regime.name] += count
        few = self.wanted[regime.name] < FEWEST and chosen_backend() != "compiled"
        if equations.code(cached=few) is None:
            return False
        return equations.march(solver) is not None


def _alike(
    patterns: ModeTable, contacts: Contacts
) -> list[tuple[dict[int, tuple[float, float]], dict[int, float], np.ndarray]]:
    """The sets of held speeds that occur, with ranges of what holds them, those that don't bear, and their rows.

    The ranges tell friction from stops; how strong it is makes no other regime.
    """
    held, bear, speeds = contacts.held, contacts.bear, patterns.switching
    low, high = stiction_force_ranges(np.ones(held.shape), contacts.lower & held, contacts.upper & held)
    each, which = np.unique(np.concatenate([held, bear, low, high], axis=1), axis=0, return_inverse=True)
    result = []
    for n, (now, bears, *bounds) in enumerate(each.reshape(len(each), 4, -1).tolist()):
        ranges = {k: (a, b) for k, is_held, a, b in zip(speeds, now, *bounds) if is_held}
        kept = {k: 0.0 for k, does_bear in zip(speeds, bears) if k in ranges and not does_bear}
        result.append((ranges, kept, np.flatnonzero(which.ravel() == n)))
    return result


def _partitions(starts: Starts, held: tuple[int, ...], J: np.ndarray) -> list[tuple[Partition, np.ndarray]]:
    """The partitions at positions with these scaled Jacobians, as `partition_at_run_positions` has each."""
    system, loops = starts.run.system, starts.run.system.loops
    preferred = system.preferred if system.preferred is not None else system.robot.driven
    return [
        (part, these[some])
        for given, these in speeds_given_at_positions(system, J, held)
        for part, some in best_partitions_of_many(loops, J[these], given, preferred)
    ]


class ModeTable:
    """The patterns of contacts that have occurred, with a number for each; `run` is any of the runs.

    The patterns of mechanisms belong to regimes: their joints that are held, and the coordinates that are independent.
    All patterns of a tree have one regime.
    """

    def __init__(self, run: Runner, limits: ModeLimits, start: Discrete):
        self.run, self.limits, system = run, limits, run.system
        self.switching, self.bounded = list(system.switching), list(system.bounded)
        self._own = ModeLimits.of(system, 1)  # of `run`, for which patterns are made
        self._differ = ModeLimits.joined([self._own, limits]).differ
        self.watches = modes.watches_of_system(system)
        self.blank = start
        self.regimes = [start]  # discrete states, of which equations depend on some parts
        self.modes: list[Discrete] = []
        self.regime: list[int] = []  # of each pattern
        self._contacts: list[Contacts] = []
        self._numbers: dict[bytes, int] = {}

    def regime_of_discrete(self, discrete: Discrete) -> int:
        """The number of the regime to which this discrete state belongs; a new one is added."""
        names = [one.name for one in self.regimes]
        if discrete.name not in names:
            self.regimes.append(discrete)
            names.append(discrete.name)
        return names.index(discrete.name)

    # ---- signals

    def put_signals(self, signals: np.ndarray, contacts: Contacts, these: np.ndarray) -> None:
        """Put the signals that belong to the modes of these runs into rows of signals."""
        system, first = self.run.system, first_mode_signal(self.run.system)
        at_limit = contacts.saturated != 0.0
        limit = np.where(contacts.saturated > 0.0, self.limits.most[these], self.limits.least[these])
        for c in range(len(self.bounded)):
            signals[:, first + 2 * c] = ~at_limit[:, c]
            signals[:, first + 2 * c + 1] = np.where(at_limit[:, c], limit[:, c], 0.0)
        behind = first + 2 * len(self.bounded) + 6 * len(system.inputs.wrenches)
        if not system.smooth:
            for k in system.coulomb:
                if k in self.switching:
                    signals[:, behind] = contacts.slip[:, self.switching.index(k)]
                behind += 1
        if system.keeping:
            signals[:, behind : behind + len(self.switching)] = contacts.kept
        elif self.blank.switched:
            signals[:, behind : behind + len(self.switching)] = contacts.held

    # ---- patterns

    def numbered(self, contacts: Contacts, regimes: np.ndarray) -> np.ndarray:
        """The number of each run's pattern; those that are new are added."""
        codes = np.ascontiguousarray(np.column_stack([contacts.codes(), regimes.astype(np.int16)]))
        marks = codes.view(np.dtype((np.void, codes.shape[1] * codes.itemsize))).ravel()
        each, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
        marks_at = zip(each, first.tolist())
        numbers = [self._number(mark.tobytes(), contacts, int(regimes[k]), k) for mark, k in marks_at]
        return np.array(numbers, dtype=int)[inverse.ravel()]

    def contacts(self, numbers: np.ndarray) -> Contacts:
        """The contacts of runs in these patterns."""
        each = [vars(one).values() for one in self._contacts]
        return Contacts(*(np.concatenate(x)[numbers] for x in zip(*each)))

    def mode(self, number: int, run: int) -> Discrete:
        """The discrete state of a run in this pattern, with its own limits."""
        if not self._differ:
            return self.modes[number]
        now, limits = self.regimes[self.regime[number]], self.limits.some(np.array([run]))
        return discrete_state_of_contacts(now, self._contacts[number], limits, self.run.system)

    def _number(self, mark: bytes, contacts: Contacts, regime: int, k: int) -> int:
        if mark not in self._numbers:
            self._numbers[mark] = len(self.modes)
            self._contacts.append(contacts.some(np.array([k])))
            own, now = self._contacts[-1], self.regimes[regime]
            self.modes.append(discrete_state_of_contacts(now, own, self._own, self.run.system))
            self.regime.append(regime)
        return self._numbers[mark]
