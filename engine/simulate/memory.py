"""What a run's state was some time ago, for force laws with dead time.

Every accepted step leaves the function of time by which it joins its ends, the stepper's dense output.  As no step is
longer than the shortest dead time, the state that a law sees within a step lies in steps that have been taken: for the
step under way its force is a function of time alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import field, replace

import numpy as np

from ..dataclass import dataclass
from .inputs import Driven

Course = Callable[[float], np.ndarray]  # the state within a step
Complete = Callable[[float, np.ndarray], tuple[list[float], list[float]]]  # all coordinates and speeds of a state


@dataclass(eq=False)
class Memory:
    """The states of a run up to now; before its start it was in its first state."""

    dead_times: tuple[float, ...]
    whole: bool = False  # whether all of the run is kept, not only what laws still see
    _complete: Complete | None = field(default=None, repr=False)
    _begins: list[float] = field(default_factory=list, repr=False)
    _courses: list[Course] = field(default_factory=list, repr=False)
    _seen: tuple[float, tuple[list[float], list[float]]] = field(default=(math.nan, ([], [])), repr=False)

    def begin(self, t: float, y: np.ndarray, complete: Complete) -> None:
        """Forgets everything: a run begins in this state."""
        self._complete, self._begins, self._courses = complete, [t], [lambda _: y]
        self._seen = (math.nan, ([], []))

    def add(self, begin: float, course: Course) -> None:
        """Adds a step that has been taken; what was known of the time behind its beginning is no longer so."""
        while len(self._begins) > 1 and self._begins[-1] >= begin:
            del self._begins[-1], self._courses[-1]
        self._begins.append(begin)
        self._courses.append(course)
        gone = 0 if self.whole else bisect_right(self._begins, begin - max(self.dead_times)) - 1
        if gone > len(self._begins) // 2:
            del self._begins[:gone], self._courses[:gone]
        self._seen = (math.nan, ([], []))

    def at(self, t: float) -> tuple[list[float], list[float]]:
        """All coordinates and speeds at an instant; the later ones where a blow has changed them."""
        if t != self._seen[0]:
            assert self._complete is not None
            step = bisect_right(self._begins, t) - 1
            now = max(t, self._begins[0])
            self._seen = t, self._complete(now, self._courses[max(step, 0)](now))
        return self._seen[1]

    def breaks_behind(self, t: float) -> list[float]:
        """Instants at which a break of the motion at t comes back by the laws."""
        return [t + dead_time for dead_time in self.dead_times]


def laws_with_dead_time_memory(
    driven: Sequence[Driven], whole: Callable[[Driven], bool]
) -> tuple[tuple[Driven, ...], Memory | None]:
    """The laws, those with dead time as functions of time that look into a memory, and this memory, if any needs it.

    `whole` says whether a law's forces are computed again, when the run has ended, from the times of its rows.
    """
    late = [one for one in driven if one.dead_time]
    if not late:
        return tuple(driven), None
    times = sorted({one.dead_time for one in late})
    memory = Memory(tuple(times), any(whole(one) for one in late))
    return tuple(_late(one, memory) if one.dead_time else one for one in driven), memory


def _late(one: Driven, memory: Memory) -> Driven:
    def force(t: float, q: float, qd: float, reference: tuple[float, float] | None) -> float:
        return one.demand(t, *memory.at(t - one.dead_time))

    of_time = replace(one, coordinate=None, force=force, reference=None, timed=True, steady=False, law=None, whole=None)
    return replace(of_time, gains=(), tuned=None)
