"""What the caller says about how programs run, and what a run notes about how they ran.

Whether a program runs as plain text or compiled is decided in `offer.py`; here is what that decision stands on besides
the program's own ledger.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

BACKENDS = ("auto", "compiled", "plain")
FORMS = ("auto", "straight", "rolled")
MOST_STRAIGHT = 30  # bodies; beyond, straight-line code leaves the caches and takes long to compile


@dataclass
class Journal:
    """From which of its calls on each program of a run was compiled; a replay compiles the same ones at the same calls.

    The calls of a program are counted from the run's beginning, for each object that offers the program: a mechanism
    with equal legs has the same program several times, perhaps on several threads.  All of them change over at the
    same count, so that it doesn't matter which of them comes first.
    """

    since: dict[str, int] = field(default_factory=dict)
    plain: dict[str, int] = field(default_factory=dict)  # calls that went the plain way, at most, of any such object
    replayed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def goes_on(self, name: str, call: int, ready: bool) -> bool:
        """Whether this call may be compiled; if not, it counts as a plain one.

        `ready` says that the program would change over now if that is up to its ledger.
        """
        with self.lock:
            since = self.since.get(name)
            on = ready and not self.replayed if since is None else call >= since
            if not on:
                self._passed(name, call)
            return on

    def begins(self, name: str, call: int) -> bool:
        """Notes that code is there; whether this call is one of those that have it."""
        with self.lock:
            if call >= self.since.setdefault(name, self.plain.get(name, 0)):
                return True
            self._passed(name, call)
            return False

    def _passed(self, name: str, call: int) -> None:
        self.plain[name] = max(self.plain.get(name, 0), call + 1)

    def notes(self) -> list[str]:
        """`name@call` of each program, as `recorded` takes them."""
        return sorted(f"{name}@{call}" for name, call in self.since.items())


@dataclass(frozen=True, eq=False)
class Way:
    """What is chosen in one context: backend, form and lanes of compiled code, and the run's journal."""

    chosen: str = ""
    form: str = "auto"
    lanes: int = 0
    journal: Journal | None = None


NOTHING = Way()  # is chosen

VARIABLE: ContextVar[Way] = ContextVar("way", default=NOTHING)
_broken: list[str] = []


def way() -> Way:
    """What is chosen just here; the same object as long as nothing is chosen anew."""
    return VARIABLE.get()


def backend() -> str:
    """`auto`, `compiled` or `plain`: what the caller chose, else DENOC_BACKEND."""
    chosen = VARIABLE.get().chosen or os.environ.get("DENOC_BACKEND", "auto")
    if _broken or chosen == "plain":
        return "plain"
    return chosen if chosen in BACKENDS else "auto"


def free() -> bool:
    """Whether code that is there may be called without asking: not by choice of the plain text, nor within a run."""
    here = VARIABLE.get()
    return here.journal is None and here.chosen != "plain"


def rolled(bodies: int) -> bool:
    """Whether compiled code loops over the bodies, or has all of them in one straight line."""
    form = VARIABLE.get().form
    return bodies > MOST_STRAIGHT if form == "auto" else form == "rolled"


def lanes() -> int:
    """How many samples the caller wants side by side; 0 for as many as the processor has room for."""
    return VARIABLE.get().lanes


@contextmanager
def _here(way: Way) -> Iterator[None]:
    token = VARIABLE.set(way)
    try:
        yield
    finally:
        VARIABLE.reset(token)


@contextmanager
def using(name: str, form: str = "auto", lanes: int = 0) -> Iterator[None]:
    """Within this, programs run this way, and compiled code has this form and this many lanes."""
    with _here(replace(VARIABLE.get(), chosen=name, form=form, lanes=lanes)):
        yield


@contextmanager
def recorded(
    backend: str = "", form: str = "auto", lanes: int = 0, cached: Iterable[str] | None = None
) -> Iterator[Journal]:
    """Within this, a journal is kept; with an earlier run's notes, programs run as they did then.

    A backend that the caller has chosen is stronger than those notes.
    """
    before, journal = VARIABLE.get(), Journal()
    here = replace(before, journal=journal)
    if backend and before.chosen in ("", "auto"):
        journal.since, journal.replayed = dict(_read(note) for note in cached or ()), True
        here = Way(backend, form, lanes, journal)
    with _here(here):
        yield journal


def _read(note: str) -> tuple[str, int]:
    """Name and call of a note; one without a call holds from the first call on."""
    name, _, call = note.partition("@")
    return name, int(call) if call.isdigit() else 0


def given_up() -> bool:
    """Whether compiling has failed here."""
    return bool(_broken)


def give_up(error: Exception) -> None:
    """Compiling failed: everything runs on the plain text from now on, and the user hears it once."""
    if not _broken:
        _broken.append(str(error))
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        warnings.warn(f"no compiled code on this machine ({reason}); the plain text is used instead", stacklevel=2)
