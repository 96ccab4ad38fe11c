"""The caller's choice of how programs run, and a run's notes on how they ran.

The decision whether a program runs as plain text or compiled is made in `offer.py`, from the choice and the notes here
and from the program's own ledger.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from ...settings import environment_setting
from .forks import ForkSafeLock

FORMS = ("auto", "straight", "rolled")
MOST_STRAIGHT = 60  # bodies; beyond, straight-line code leaves the caches and takes a second to compile
MOST_IN_LOOP = 30  # bodies in the loop of a run, for which a user waits each time that its form is new


@dataclass
class Journal:
    """For each program of a run, the call from which on it ran compiled; a replay changes over at the same calls.

    The calls of a program are counted from the run's beginning, for each object that offers the program: a mechanism
    with equal legs has the same program several times, perhaps on several threads.  All of them change over at the
    same count, so that the order of threads doesn't matter.
    """

    since: dict[str, int] = field(default_factory=dict)
    plain: dict[str, int] = field(default_factory=dict)  # the largest count of plain calls of any such object
    replayed: bool = False
    calls: dict[tuple[int, str], int] = field(default_factory=dict)  # so far, by an offer's number and form
    lock: ForkSafeLock = field(default_factory=ForkSafeLock, repr=False)

    def goes_on(self, name: str, call: int, ready: bool) -> bool:
        """Whether this call may be compiled; if not, it counts as a plain one.

        `ready` says whether the program's ledger is in favour of compiling.
        """
        with self.lock:
            since = self.since.get(name)
            on = ready and not self.replayed if since is None else call >= since
            if not on:
                self._passed(name, call)
            return on

    def begins(self, name: str, call: int) -> bool:
        """Notes that there is code from now on, and returns whether this call may use it."""
        with self.lock:
            if call >= self.since.setdefault(name, self.plain.get(name, 0)):
                return True
            self._passed(name, call)
            return False

    def _passed(self, name: str, call: int) -> None:
        self.plain[name] = max(self.plain.get(name, 0), call + 1)

    def note(self, name: str) -> None:
        """Notes something that holds from the beginning."""
        with self.lock:
            self.since[name] = 0

    def notes(self) -> list[str]:
        """The notes as `journalled_backend_choices` takes them, `name@call` for each program."""
        return sorted(f"{name}@{call}" for name, call in self.since.items())


@dataclass(frozen=True, eq=False)
class Way:
    """The choice in one context: backend, form and lanes of compiled code, and the run's journal."""

    chosen: str = ""
    form: str = "auto"
    lanes: int = 0
    journal: Journal | None = None
    steady: bool = False  # nothing depends on what has run before


NOTHING = Way()  # no choice made

VARIABLE: ContextVar[Way] = ContextVar("way", default=NOTHING)
_broken: list[str] = []


def present_backend_choice() -> Way:
    """The choice in the present context, which is one object until another choice is made."""
    return VARIABLE.get()


def chosen_backend() -> str:
    """The backend `auto`, `compiled` or `plain`: the caller's choice, else DENOC_BACKEND."""
    chosen = VARIABLE.get().chosen or environment_setting("DENOC_BACKEND") or "auto"
    return "plain" if _broken else chosen


def compiled_code_may_run_freely() -> bool:
    """Whether existing code may be called without an offer: neither within a run nor when `plain` is chosen."""
    here = VARIABLE.get()
    return here.journal is None and here.chosen != "plain"


def code_runs_rolled(bodies: int, repeated: bool = False, most: int = MOST_STRAIGHT) -> bool:
    """Whether compiled code loops over the bodies instead of being one straight line for at `most` so many.

    If much of it is `repeated`, it loops over few bodies as well.
    """
    form = VARIABLE.get().form
    if form == "auto":
        return repeated or bodies > most
    return form == "rolled"


def wanted_lanes_of_code() -> int:
    """The number of samples that the caller wants side by side; 0 for as many as fit into a register."""
    return VARIABLE.get().lanes


@contextmanager
def _here(way: Way) -> Iterator[None]:
    token = VARIABLE.set(way)
    try:
        yield
    finally:
        VARIABLE.reset(token)


@contextmanager
def using_backend(name: str, form: str = "auto", lanes: int = 0) -> Iterator[None]:
    """A context in which programs run on this backend, and compiled code has this form and this many lanes."""
    with _here(replace(VARIABLE.get(), chosen=name, form=form, lanes=lanes)):
        yield


@contextmanager
def steadily_compiled() -> Iterator[None]:
    """A context in which compiled code runs, whatever has run before, so that the last bits are always the same."""
    with _here(replace(VARIABLE.get(), chosen="compiled", form="auto", lanes=0, steady=True)):
        yield


@contextmanager
def compiled_only_where_it_pays() -> Iterator[None]:
    """A context in which nothing is compiled that doesn't pay, even where compiled code is chosen.

    What pays depends on the calls so far; where the way has to be `steady`, nothing is compiled at all.
    """
    here = VARIABLE.get()
    other = "plain" if here.steady else "auto"
    with _here(replace(here, chosen=other) if chosen_backend() == "compiled" else here):
        yield


@contextmanager
def journalled_backend_choices(
    backend: str = "", form: str = "auto", lanes: int = 0, cached: Iterable[str] | None = None
) -> Iterator[Journal]:
    """A context with a journal; with the notes of an earlier run, programs run as they did then.

    A backend that the caller has chosen takes precedence over those notes.
    """
    before, journal = VARIABLE.get(), Journal()
    here = replace(before, journal=journal)
    if backend and before.chosen in ("", "auto"):
        journal.since, journal.replayed = dict(_read(note) for note in cached or ()), True
        here = Way(backend, form, lanes, journal)
    with _here(here):
        yield journal


def _read(note: str) -> tuple[str, int]:
    """The name and the call in a note; a note without a call stands for the first call."""
    name, _, call = note.partition("@")
    return name, int(call) if call.isdigit() else 0


def compiling_given_up() -> bool:
    """Whether compiling has failed in this process."""
    return bool(_broken)


def give_up_compiling(error: Exception) -> None:
    """Runs everything as plain text from now on, because compiling has failed, and warns the user once."""
    if not _broken:
        _broken.append(str(error))
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        warnings.warn(f"no compiled code on this machine ({reason}); the plain text is used instead", stacklevel=2)
