"""Forces by functions of Python's, from the time and the state, at every stage of a step or once at its beginning."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import DenocError
from ...machine.program import Scalar, as_floats


class State:
    """What a function of a force sees: `q`, `qd`, and either by the names of their columns, as in `state["A0.q"]`."""

    __slots__ = ("_coordinates", "_speeds", "q", "qd")

    def __init__(self, q: list[float], qd: list[float], coordinates: Mapping[str, int], speeds: Mapping[str, int]):
        self.q, self.qd, self._coordinates, self._speeds = q, qd, coordinates, speeds

    def __getitem__(self, name: str) -> float:
        place = self._coordinates.get(name)
        return self.q[place] if place is not None else self.qd[self._speeds[name]]


Called = Callable[[float, State], Any]  # the force of a joint, or a sequence with one for each of its speeds


@dataclass(eq=False)
class Caller:
    """A joint's function, called once for all of its speeds and for every state only once in a row."""

    joint: str
    function: Called
    count: int
    coordinates: Mapping[str, int]
    speeds: Mapping[str, int]
    _last: tuple[Any, list[float]] | None = field(default=None, repr=False)

    def at(self, t: float, q: Sequence[float], qd: Sequence[float]) -> list[float]:
        """The forces along the joint's speeds."""
        state = State(list(q), list(qd), self.coordinates, self.speeds)
        key = (t, state.q[:], state.qd[:])
        if self._last is None or self._last[0] != key:
            self._last = key, self._called(t, state)
        return self._last[1]

    def _called(self, t: float, state: State) -> list[float]:
        try:
            given = self.function(t, state)
        except ArithmeticError as error:  # which equations of motion take for a singular state
            raise RuntimeError(f"the function of `{self.joint}` failed at t = {t:.9g} s: {error!r}") from error
        forces = np.atleast_1d(np.asarray(given, dtype=object))
        try:
            made = [float(x) for x in forces]
        except (TypeError, ValueError):
            made = []
        if forces.ndim != 1 or len(made) != self.count:
            raise DenocError(
                f"the function of `{self.joint}` gave {given!r:.60} at t = {t:.9g} s; "
                + ("a number is needed" if self.count == 1 else f"{self.count} numbers are needed")
            )
        return made


@dataclass(frozen=True, eq=False)
class CalledForce:
    """The force along one speed by a joint's function, which may be called at any instant, and any number of times."""

    caller: Caller
    place: int

    @property
    def timed(self) -> bool:
        return True

    @property
    def recordable(self) -> bool:
        return False

    @property
    def reads(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(self.caller.coordinates.values()), tuple(self.caller.speeds.values())

    def __call__(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        columns = [np.asarray(x) for x in (t, *q, *qd)]
        if all(x.ndim == 0 for x in columns):
            return self.caller.at(float(columns[0]), as_floats(q), as_floats(qd))[self.place]
        rows = np.array(np.broadcast_arrays(*columns), dtype=float).T.tolist()
        end = 1 + len(q)
        return np.array([self.caller.at(row[0], row[1:end], row[end:])[self.place] for row in rows])


@dataclass(eq=False)
class HeldForce:
    """Forces of a joint that are found at the beginning of a step and kept through it, within the actuator's limits."""

    caller: Caller
    low: float
    high: float
    forces: list[float]
    _times: list[float] = field(default_factory=list, repr=False)  # at which steps have begun
    _past: list[list[float]] = field(default_factory=list, repr=False)  # the forces of these steps

    def sample(self, t: float, q: Sequence[float], qd: Sequence[float]) -> None:
        """Finds the forces of the step that begins here."""
        self.forces = [min(max(x, self.low), self.high) for x in self.caller.at(t, q, qd)]
        first = bisect_left(self._times, t)  # a run that begins anew forgets the last one
        self._times[first:], self._past[first:] = [t], [self.forces]

    def at(self, t: float) -> list[float]:
        """The forces of the step that an instant lies in; those of the last one from its beginning on."""
        if not self._times or t >= self._times[-1]:
            return self.forces
        return self._past[max(bisect_right(self._times, t) - 1, 0)]

    def along(self, place: int) -> Callable[[float, float, float, tuple[float, float] | None], float]:
        """The force along one speed, as a law of time has it."""
        return lambda t, q, qd, ref: self.at(t)[place]
