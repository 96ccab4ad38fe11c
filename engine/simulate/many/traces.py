"""What runs side by side leave: their states, modes and events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import reasons, saturation
from ..systems.discrete import Discrete
from .mode_table import ModeTable


class Log(NamedTuple):
    """What came to some runs: instants, the modes before and after, as the patterns number them, and watches."""

    runs: np.ndarray
    t: np.ndarray
    before: np.ndarray  # −1 at the start
    after: np.ndarray
    watches: np.ndarray  # that had an event; −1 where none had


@dataclass(frozen=True)
class RunTraces:
    """What runs side by side have left: for each run its states at all instants, its modes, and counts of steps."""

    t: np.ndarray
    instants: np.ndarray  # at which the rows are evaluated: a run begins behind a kink that is there
    states: np.ndarray  # (runs, instants, components), as they are integrated
    whole: np.ndarray  # whether the run has come to its end
    steps: np.ndarray
    rejected: np.ndarray
    evaluations: np.ndarray
    signals: np.ndarray  # (runs, instants, signals), but for what is a run's own
    modes: np.ndarray  # (runs, instants), as the patterns number them
    kept: np.ndarray  # (runs, instants, speeds that may be held without bearing): their supports
    log: Sequence[Log]  # in order of time for each run
    patterns: ModeTable

    def regimes(self) -> np.ndarray:
        """The regimes of all runs at all instants, as the patterns number them."""
        known = np.array(self.patterns.regime or [0])
        return np.asarray(known[self.modes])

    def discrete(self, k: int, switched: tuple[int, ...]) -> list[Discrete]:
        """The discrete states of run k at all instants, as a single run has them; nothing where there are no modes."""
        if not self.patterns.modes:
            return []
        numbers, inverse = np.unique(self.modes[k], return_inverse=True)
        each = [replace(self.patterns.mode(number, k), switched=switched) for number in numbers.tolist()]
        speeds, kept = self.patterns.switching, self.kept[k].tolist()
        if not self.kept.any():
            return [each[place] for place in inverse.tolist()]
        some = [{j: x for j, x in zip(speeds, row) if j in each[n].kept} for n, row in zip(inverse.tolist(), kept)]
        return [replace(each[n], kept=one) for n, one in zip(inverse.tolist(), some)]

    def events(self, k: int) -> list[dict[str, Any]]:
        """The events of run k, as its record has them."""
        patterns, events = self.patterns, list[dict[str, Any]]()
        for t, before, after, watch in self._of(k):
            later, earlier = patterns.mode(after, k), patterns.mode(before, k) if before >= 0 else patterns.blank
            if before < 0:
                events += saturation.saturation_events(patterns.run.system, earlier, later, t)
            elif watch < 0:
                events += reasons.describe_kink(patterns.run.system, t, earlier, later)
            else:
                events += reasons.describe_event(patterns.run, patterns.watches[watch], t, earlier, later)
        return events

    def _of(self, k: int) -> Iterator[tuple[float, int, int, int]]:
        """What came to run k: instants, modes before and after, and watches."""
        for runs, *columns in self.log:
            at = int(np.searchsorted(runs, k))
            if at < len(runs) and runs[at] == k:
                yield tuple(column[at].item() for column in columns)
