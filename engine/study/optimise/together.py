"""Searches from several starts that go on together: what they ask for next is looked at in one batch."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .objective import Landscape, LostError, SpentError

PATIENCE = 0.01  # seconds between two looks at whether a search that is broken off has ended
Search = Callable[["View"], None]


class EndedError(Exception):
    """The searches have been broken off."""


class View:
    """What one of the searches sees of a landscape: it waits for each answer until all others wait, too.

    Methods of SciPy don't hand back control, so each search has a thread; only one of all threads runs at a time.
    """

    def __init__(self, land: Landscape, search: Search):
        self.width, self.seed, self.limited = land.width, land.seed, land.limited
        self.asked: tuple[str, np.ndarray] | None = None  # a method of the landscape, and its points
        self._answer: Any = None
        self._search, self._over = search, False
        self._failure: BaseException | None = None
        self._go, self._halted = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Begins the search, and returns when it asks for something or has ended."""
        self._thread.start()
        self._halted.acquire()

    def answer(self, given: Any) -> None:
        """Goes on with an answer, or an exception to raise, until the search asks for more or has ended."""
        self._answer, self.asked = given, None
        self._go.release()
        self._halted.acquire()

    def end(self) -> None:
        """Breaks the search off, wherever it is, for an interrupt may have come while it was computing."""
        self._over = True
        while self._thread.is_alive():
            self._go.release()
            self._thread.join(PATIENCE)

    def raised(self) -> None:
        """Raises what ended the search, if it didn't end by itself."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._search(self)
        except EndedError:
            pass
        except BaseException as error:  # noqa: BLE001 - the starting thread raises it
            self._failure = error
        self._halted.release()

    def _ask(self, what: str, points: np.ndarray) -> Any:
        self.asked = what, points
        self._halted.release()
        self._go.acquire()
        if self._over:
            raise EndedError
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    # ---- for methods

    def value(self, u: np.ndarray) -> float:
        return float(self._ask("value", u))

    def slope(self, u: np.ndarray) -> np.ndarray:
        return np.array(self._ask("slope", u))

    def rooms(self, u: np.ndarray) -> np.ndarray:
        return np.array(self._ask("rooms", u))

    def room_slopes(self, u: np.ndarray) -> np.ndarray:
        return np.array(self._ask("room_slopes", u))

    def ranks(self, points: np.ndarray) -> np.ndarray:
        return np.array(self._ask("ranks", points))


def go_together(land: Landscape, searches: Sequence[Search]) -> None:
    """Carries out all searches, in rounds: each of them asks, all points are looked at, and each has its answer.

    An error that ends one of them ends all.
    """
    views = [View(land, one) for one in searches]
    with warnings.catch_warnings():  # their own contexts don't end in the order in which they began
        try:
            for one in views:
                one.begin()
                one.raised()
            while waiting := [(one, one.asked) for one in views if one.asked is not None]:
                land.look(np.concatenate([np.atleast_2d(points) for _, (_, points) in waiting]))
                for one, (what, points) in waiting:
                    try:
                        answer = getattr(land, what)(points)
                    except (LostError, SpentError) as error:
                        answer = error
                    one.answer(answer)
                    one.raised()
        finally:
            for one in views:
                one.end()
    for one in views:
        one.raised()
