"""The patterns of contacts that occur among runs side by side, with their watches, and who has which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import modes
from .contacts import Contacts, Limits, discrete_state_of_contacts
from .discrete import Discrete
from .runner import Runner
from .signals import first_mode_signal


class Patterns:
    """The patterns of contacts that have occurred, with a number for each; `run` is any of the runs.

    The patterns of mechanisms belong to regimes: their joints that are held, and the coordinates that are independent.
    All patterns of a tree have one regime.
    """

    def __init__(self, run: Runner, limits: Limits, start: Discrete):
        self.run, self.limits, system = run, limits, run.system
        self.switching, self.bounded = list(system.switching), list(system.bounded)
        self._own = Limits.of(system, 1)  # of `run`, for which patterns are made
        self._differ = Limits.joined([self._own, limits]).differ
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

    def _number(self, mark: bytes, contacts: Contacts, regime: int, k: int) -> int:
        if mark not in self._numbers:
            self._numbers[mark] = len(self.modes)
            self._contacts.append(contacts.some(np.array([k])))
            own, now = self._contacts[-1], self.regimes[regime]
            self.modes.append(discrete_state_of_contacts(now, own, self._own, self.run.system, 0))
            self.regime.append(regime)
        return self._numbers[mark]
