"""The regimes of mechanisms that run side by side: which joints are held, and which coordinates are independent.

Each has equations of its own, and so a program of its own. When other joints are held than before, a run takes the
partition of its own position, as it does by itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from ..machine.jit import choice
from ..mechanics.closure import Partition, best_partitions_of_many
from .contacts import Contacts, stiction_force_ranges
from .coordinates import nearness_of_pivot_guard, speeds_given_at_positions
from .discrete import Discrete
from .patterns import Patterns
from .recorded import held_speeds_with_supports
from .signals import pivot_limit_signals
from .together import Starts
from .trace import Solver

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
        self, starts: Starts, patterns: Patterns, solver: Solver, these: np.ndarray, q: np.ndarray, contacts: Contacts
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

    def _ready(self, starts: Starts, patterns: Patterns, solver: Solver, regime: Discrete, count: int) -> bool:
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
        few = self.wanted[regime.name] < FEWEST and choice.chosen_backend() != "compiled"
        if equations.code(cached=few) is None:
            return False
        return equations.march(solver) is not None


def _alike(
    patterns: Patterns, contacts: Contacts
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
