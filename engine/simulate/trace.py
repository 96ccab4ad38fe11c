"""The limits of a run, and what it leaves: rows, events and how it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .runner import Runner
    from .systems.discrete import Discrete

Progress = Callable[[float], None]  # is told how far a run has come, and infinity once all of its rows are there


@dataclass
class Solver:
    """The integrator and its limits; the defaults are those of scenarios."""

    method: str = "rk45"
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = math.inf
    step: float | None = None
    max_steps: int = 1_000_000
    max_evaluations: float = math.inf
    at_singularity: str = "stop"
    paces: tuple[tuple[float, float, float], ...] = ()  # (from, to, longest step in between), for adaptive methods

    def longest_steps(self, t: np.ndarray, end: float, *, adaptive: bool) -> np.ndarray:
        """The longest steps that are allowed from these instants towards the end of a leg."""
        longest = np.full(t.shape, self.max_step)
        for begin, over, step in self.paces if adaptive else ():
            if begin < end:
                longest = np.where(over > t, np.minimum(longest, step), longest)
        return longest


@dataclass
class Trace:
    """The rows of a run, one for each instant, with its events and how it ended."""

    t: list[float] = field(default_factory=list)
    states: list[np.ndarray] = field(default_factory=list)
    signals: list[list[float]] = field(default_factory=list)
    discrete: list[Discrete] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[float] = field(default_factory=list)  # instants at which modes may have changed
    ended: str = "done"
    reason: str = ""
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    singular: Any = None  # the first singular position that the run met

    @contextmanager
    def ends_where_interrupted(self) -> Iterator[None]:
        """A context in which rows are computed; an interrupt ends them, and leaves those that are complete."""
        try:
            yield
        except KeyboardInterrupt as interrupt:
            if not self.discrete:
                raise
            whole = len(self.discrete)  # the number of complete rows, as this list is appended last
            del self.t[whole:], self.states[whole:], self.signals[whole:]
            self.ended, self.reason = "interrupted", str(interrupt) or "interrupted by the user"

    def raise_if_interrupted(self) -> None:
        """If the user has interrupted the run, the work that it is part of ends, too."""
        if self.ended == "interrupted":
            raise KeyboardInterrupt(self.reason)

    def keep(self, run: Runner, t: float, y: np.ndarray, at: float | None = None) -> None:
        """Keeps a row, which is evaluated together with all others at the end, with the signals `at` that instant."""
        # first, so that an interrupt here leaves all lists of one length
        signals = run.signals(min(t if at is None else at, run.shown))
        self.t.append(t)
        self.states.append(y)
        self.signals.append(signals)
        self.discrete.append(run.discrete)

    def keep_rows(self, run: Runner, times: np.ndarray, states: np.ndarray, *, closed: bool = False) -> None:
        """Keep many rows that compiled code has left, whose loops it may have closed already."""
        settled = run.held_still(states) if closed else run.settled_rows(times, states)
        signals = run.signal_rows(np.minimum(times, run.shown)).tolist()
        self.t += times.tolist()
        self.states += list(settled)
        self.signals += signals
        self.discrete += [run.discrete] * len(times)
