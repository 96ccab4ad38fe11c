"""The patterns of contacts that occur among runs side by side, with their watches, and who has which."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..machine.loops.dense import RULE
from . import modes, saturation
from .contacts import Contacts, Limits, discrete_state_of_contacts
from .discrete import Discrete
from .events import Watch
from .runner import Runner
from .signals import first_mode_signal

NONE = (0.0, 0.0, 1.0, 0.0, 0.0)  # the rule of no watch: always positive


class Patterns:
    """The patterns of contacts that have occurred, with a number for each; `run` is any of the runs.

    The patterns of mechanisms belong to regimes: their joints that are held, and the coordinates that are independent.
    All patterns of a tree have one regime.
    """

    def __init__(self, run: Runner, limits: Limits, start: Discrete):
        self.run, self.limits, system = run, limits, run.system
        self.switching, self.bounded = list(system.switching), list(system.bounded)
        self.rough = np.array([x > 0.0 for x in system.switching.values()], dtype=bool)
        self._own = Limits.of(system, 1)  # of `run`, for which patterns are made
        self._differ = Limits.joined([self._own, limits]).differ
        self.blank = start
        self.regimes = [start]  # discrete states, of which equations depend on some parts
        self.modes: list[Discrete] = []
        self.watches: list[dict[int, Watch]] = []  # of each pattern by slots
        self.regime: list[int] = []  # of each pattern
        self.places: list[list[int]] = [[]]  # what the watches of each slot read, by regimes
        self._contacts: list[Contacts] = []
        self._numbers: dict[bytes, int] = {}
        self._slots: dict[tuple[int, int, int], int] = {}
        self._rules: list[dict[int, tuple[float, ...]]] = []

    def regime_of_discrete(self, discrete: Discrete) -> int:
        """The number of the regime to which this discrete state belongs; a new one is added."""
        names = [one.name for one in self.regimes]
        if discrete.name not in names:
            self.regimes.append(discrete)
            self.places.append([])
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

    def numbered(self, contacts: Contacts, regimes: np.ndarray, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The number of each run's pattern; those that are new are added."""
        codes = np.ascontiguousarray(np.column_stack([contacts.codes(), regimes.astype(np.int16)]))
        marks = codes.view(np.dtype((np.void, codes.shape[1] * codes.itemsize))).ravel()
        each, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
        marks_at = zip(each, first.tolist())
        numbers = [self._number(mark.tobytes(), contacts, int(regimes[k]), k, t, y) for mark, k in marks_at]
        return np.array(numbers, dtype=int)[inverse.ravel()]

    def contacts(self, numbers: np.ndarray) -> Contacts:
        """The contacts of runs in these patterns."""
        each = [vars(one).values() for one in self._contacts]
        return Contacts(*(np.concatenate(x)[numbers] for x in zip(*each)))

    def mode(self, number: int, run: int) -> Discrete:
        """The discrete state of a run in this pattern."""
        discrete = self.modes[number]
        if not discrete.saturated or not self._differ:
            return discrete
        sides = (self.limits.most[run], self._own.most[0]), (self.limits.least[run], self._own.least[0])
        saturated = {
            k: float(next(own[c] for own, usual in sides if usual[c] == x))
            for c, k in enumerate(self.bounded)
            if (x := discrete.saturated.get(k)) is not None
        }
        return replace(discrete, saturated=saturated)

    def rules(self, numbers: np.ndarray, these: np.ndarray, contacts: Contacts) -> np.ndarray:
        """The rules of the watches of these runs, (runs, slots, numbers).

        They are in these patterns of one regime, and have these contacts.
        """
        regime = self.regime[int(numbers[0])]
        table = np.zeros((len(self._rules), len(self.places[regime]), RULE))
        table[:] = NONE
        for row, rules, own in zip(table, self._rules, self.regime):
            for slot, rule in rules.items() if own == regime else ():
                row[slot] = rule
        result = np.asarray(table[numbers])
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            for slot, watch in self.watches[number].items():
                if watch.what == modes.LOOSE:
                    result[rows, slot, 2] = contacts.slack[rows, self.switching.index(watch.speed)]
                if self._differ:
                    self._put_own(result, rows, slot, watch, these[rows])
        return result

    def _put_own(self, rules: np.ndarray, rows: np.ndarray, slot: int, watch: Watch, these: np.ndarray) -> None:
        """Put the runs' own limits into the rules of a watch, as `modes.py` and `saturation.py` make them."""
        limits, rule = self.limits, watch.rule
        assert rule is not None
        assert watch.source is not None
        if watch.source[0] == "support":
            c = self.switching.index(watch.speed)
            coulomb = limits.coulomb[these, c]
            rules[rows, slot, 1] = -watch.direction * coulomb
        elif watch.source[0] == "demand":
            c = self.bounded.index(watch.speed)
            least, most = limits.least[these, c], limits.most[these, c]
            size = np.fmax(*(np.where(np.isfinite(x), abs(x), 0.0) for x in (least, most)))
            rules[rows, slot, 0] = math.copysign(1.0, rule.factor) / np.where(size, size, 1.0)
            rules[rows, slot, 1] = np.where(rule.zero == self._own.most[0, c], most, least)
        elif watch.what in modes.AT_LIMITS:
            c = self.switching.index(watch.speed)
            low, high = limits.low[these, c], limits.high[these, c]
            rules[rows, slot, 1] = low if watch.what == modes.AT_LIMITS[0] else high
            rules[rows, slot, 2] = modes.SLACK * (high - low)

    def _number(self, mark: bytes, contacts: Contacts, regime: int, k: int, t: np.ndarray, y: np.ndarray) -> int:
        if mark not in self._numbers:
            self._numbers[mark] = len(self.modes)
            self._contacts.append(contacts.some(np.array([k])))
            own, now = self._contacts[-1], self.regimes[regime]
            discrete = discrete_state_of_contacts(now, own, self._own, self.run.system, 0)
            self._add(discrete, regime, float(t[k]), self._as_own(contacts, k, y[k]))
        return self._numbers[mark]

    def _as_own(self, contacts: Contacts, k: int, y: np.ndarray) -> np.ndarray:
        """The state of run k with its joints at the stops of `run` that they touch, and else between these."""
        system, y = self.run.system, y.copy()
        for c, speed in enumerate(self.switching):
            if speed in system.stopped:
                coordinate, low, high = system.stopped[speed]
                place = low if contacts.lower[k, c] else high if contacts.upper[k, c] else (low + high) / 2
                y[system.state_coordinates.index(coordinate)] = place
        return y

    def _add(self, discrete: Discrete, regime: int, t: float, y: np.ndarray) -> None:
        """Add a pattern with its watches, which are those of a single run."""
        run, before = self.run, self.run.discrete
        run.discrete = discrete
        watches = [*modes.watches_of_present_modes(run, t, y), *saturation.saturation_watches(run)]
        rules = run.rules(watches)
        run.discrete = before
        assert rules is not None  # in the lanes
        counts: dict[int, int] = {}
        of_slots, by_slots, places = {}, {}, self.places[regime]
        for (place, *numbers), watch in zip(rules, watches):
            key = regime, int(place), counts.get(int(place), 0)
            counts[key[1]] = key[2] + 1
            if key not in self._slots:
                self._slots[key] = len(places)
                places.append(key[1])
            of_slots[self._slots[key]], by_slots[self._slots[key]] = tuple(numbers), watch
        self.modes.append(discrete)
        self.regime.append(regime)
        self.watches.append(by_slots)
        self._rules.append(of_slots)


def alike(numbers: np.ndarray, slots: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Each pair of a pattern's number and a slot that occurs, with the rows in which it does."""
    pairs = numbers * (slots.max(initial=0) + 1) + slots
    for pair in np.unique(pairs).tolist():
        rows = np.flatnonzero(pairs == pair)
        yield int(numbers[rows[0]]), int(slots[rows[0]]), rows
