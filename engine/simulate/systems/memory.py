"""What a run's state was some time ago, for force laws with dead time.

Every accepted step leaves the function of time by which it joins its ends, the stepper's dense output.  As no step is
longer than the shortest dead time, the state that a law sees within a step lies in steps that have been taken: for the
step under way its force is a function of time alone.  The compiled loop remembers its own steps
(`machine/stepping/march_past.py`), which are handed to it and taken back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...machine.stepping import PastSteps
from ..integrators.runge_kutta import Course
from .inputs import Driven

ROUNDING = 32  # spacings of floating-point numbers by which two ways to the same instant may differ
AnyCourse = Callable[[float], np.ndarray]  # the state within a step


@dataclass(eq=False)
class Memory:
    """The states of a run up to now, of those components that laws see; before its start it was in its first state."""

    dead_times: tuple[float, ...]
    whole: bool = False  # whether all of the run is kept, not only what laws still see
    start: float = 0.0
    _places: list[int] = field(default_factory=list, repr=False)  # of these components in the state
    _begins: list[float] = field(default_factory=list, repr=False)
    _courses: list[AnyCourse | PastSteps] = field(default_factory=list, repr=False)

    def begin(self, t: float, y: np.ndarray, places: Sequence[int]) -> None:
        """Forgets everything: a run begins in this state."""
        self.start, self._places = t, list(places)
        first = PastSteps(np.array([t]), np.zeros(1), y[self._places][None, :, None])
        self._begins, self._courses = [t], [first]

    def add(self, begin: float, course: AnyCourse | PastSteps) -> None:
        """Adds a step that has been taken; what was known of the time behind its beginning is no longer so."""
        while len(self._begins) > 1 and self._begins[-1] >= begin:
            del self._begins[-1], self._courses[-1]
        self._begins.append(begin)
        self._courses.append(course)
        gone = 0 if self.whole else bisect_right(self._begins, begin - max(self.dead_times)) - 1
        if gone > len(self._begins) // 2:
            del self._begins[:gone], self._courses[:gone]

    def at(self, t: float | np.ndarray) -> np.ndarray:
        """The components at an instant, or at many, (instants, components); the later ones where a blow changed them.

        What isn't known, because no run has begun, is 0.
        """
        if not self._begins:
            return np.zeros((*np.shape(t), len(self._places)))
        if isinstance(t, np.ndarray):
            return self._at_many(t)
        step = max(bisect_right(self._begins, t) - 1, 0)
        return self._within(self._courses[step], max(t, self.start))

    def _at_many(self, times: np.ndarray) -> np.ndarray:
        now, values = np.maximum(times, self.start), np.zeros((len(times), len(self._places)))
        steps = np.maximum(np.searchsorted(self._begins, times, side="right") - 1, 0)
        for step in np.unique(steps).tolist():
            rows, course = np.flatnonzero(steps == step), self._courses[step]
            if isinstance(course, PastSteps):
                values[rows] = course.at(now[rows])
            else:
                values[rows] = [self._within(course, float(t)) for t in now[rows]]
        return values

    def _within(self, course: AnyCourse | PastSteps, t: float) -> np.ndarray:
        if isinstance(course, PastSteps):
            return course.at_one(t)
        return course(t)[self._places]

    def known(self, t: float, powers: int) -> PastSteps:
        """What laws may still see from t on, as polynomials with so many coefficients, for the compiled loop."""
        since = t - max(self.dead_times)
        first = max(bisect_right(self._begins, since) - 1, 0)
        parts = [self._steps(course) for course in self._courses[first:]]
        parts[0] = parts[0].behind(since)
        begins, scales = (np.concatenate([getattr(x, name) for x in parts]) for name in ("begins", "scales"))
        coefficients, row = np.zeros((len(begins), len(self._places), powers)), 0
        for part in parts:
            coefficients[row : row + len(part.begins), :, : part.coefficients.shape[2]] = part.coefficients
            row += len(part.begins)
        return PastSteps(begins, scales, coefficients)

    def _steps(self, course: AnyCourse | PastSteps) -> PastSteps:
        if isinstance(course, PastSteps):
            return course
        assert isinstance(course, Course)  # that of LSODA is another, and its runs take all steps in Python
        coefficients = np.concatenate([course.y[self._places, None], course.h * course.Q[self._places]], axis=1)
        return PastSteps(np.array([course.begin]), np.array([1.0 / course.h]), coefficients[None])

    def breaks_behind(self, t: float) -> list[float]:
        """Instants at which a break of the motion at t comes back by the laws."""
        return [t + dead_time for dead_time in self.dead_times]


def joined_instants(new: Iterable[float], known: Sequence[float] | np.ndarray) -> list[float]:
    """These instants without repetition; those that are known ones but for rounding are these."""
    old, joined = np.unique(np.asarray(known, dtype=float)), list[float]()
    for x in sorted(new):
        k = int(np.searchsorted(old, x))
        near = [*old[max(k - 1, 0) : k + 1].tolist(), *joined[-1:]]
        close = [y for y in near if abs(x - y) <= ROUNDING * np.spacing(abs(x))]
        joined += [y for y in close[:1] or [x] if y not in joined[-1:]]
    return joined


def memory_for_laws(driven: Sequence[Driven], whole: Callable[[Driven], bool]) -> Memory | None:
    """A memory for laws with dead time, if there are any.

    `whole` says whether a law's forces are computed again, when the run has ended, from the times of its rows.
    """
    late = [one for one in driven if one.dead_time]
    times = sorted({one.dead_time for one in late})
    return Memory(tuple(times), any(whole(one) for one in late)) if late else None
