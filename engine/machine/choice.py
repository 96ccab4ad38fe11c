"""Which way a program runs: as plain text or compiled.  Decided by what was asked so far, unless the user says."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

BACKENDS = ("auto", "compiled", "plain")
FORMS = ("auto", "straight", "rolled")
MOST_STRAIGHT = 30  # bodies; beyond, straight-line code leaves the caches and takes long to compile

# rough costs in seconds on a present-day machine; only their proportions matter
SAMPLE, CALL = 3e-7, 3e-5  # of the plain text, for each body: one sample of many, and a call
LOAD, COMPILE = 0.03, 0.008  # to look into the cache (and to import llvmlite); to compile, for each body
ROLLED = 0.04  # to compile a loop, however long

_chosen: ContextVar[str] = ContextVar("backend", default="")
_form: ContextVar[str] = ContextVar("form", default="auto")
_lanes: ContextVar[int] = ContextVar("lanes", default=0)
_broken: list[str] = []


@dataclass
class Journal:
    """Which programs a run found in the cache where it would not have compiled them; a replay has just these."""

    found: list[str] = field(default_factory=list)
    replayed: frozenset[str] | None = None  # None: whatever is there


_journal: ContextVar[Journal | None] = ContextVar("journal", default=None)


def backend() -> str:
    """`auto`, `compiled` or `plain`: what the caller chose, else DENOC_BACKEND."""
    chosen = _chosen.get() or os.environ.get("DENOC_BACKEND", "auto")
    if _broken or chosen == "plain":
        return "plain"
    return chosen if chosen in BACKENDS else "auto"


def plain_here() -> bool:
    """Whether the caller has chosen the plain text just here; quick to ask."""
    return _chosen.get() == "plain"


def rolled(bodies: int) -> bool:
    """Whether compiled code loops over the bodies, or has all of them in one straight line."""
    form = _form.get()
    return bodies > MOST_STRAIGHT if form == "auto" else form == "rolled"


def lanes() -> int:
    """How many samples the caller wants side by side; 0 for as many as the processor has room for."""
    return _lanes.get()


def journal() -> Journal | None:
    """That of the run we are in."""
    return _journal.get()


@contextmanager
def using(name: str, form: str = "auto", lanes: int = 0) -> Iterator[None]:
    """Within this, programs run this way, and compiled code has this form and this many lanes."""
    tokens = _chosen.set(name), _form.set(form), _lanes.set(lanes)
    try:
        yield
    finally:
        _chosen.reset(tokens[0])
        _form.reset(tokens[1])
        _lanes.reset(tokens[2])


@contextmanager
def recorded(
    backend: str = "", form: str = "auto", lanes: int = 0, cached: tuple[str, ...] | None = None
) -> Iterator[Journal]:
    """Within this, what is found in the cache is noted; with an earlier run's notes, programs run as they did then.

    A backend that the caller has chosen is stronger than those notes.
    """
    made = Journal()
    token = _journal.set(made)
    try:
        if backend and _chosen.get() in ("", "auto"):
            made.replayed = frozenset(cached or ())
            with using(backend, form, lanes):
                yield made
        else:
            yield made
    finally:
        _journal.reset(token)


def description() -> dict[str, object]:
    """How programs have run here, for records; the processor is known once something was compiled."""
    import sys

    found: dict[str, object] = {"backend": backend(), "form": _form.get()}
    if (noted := _journal.get()) is not None:
        found["cached"] = list(noted.found)
    if "llvmlite" in sys.modules and not _broken:
        from . import native

        cpu, features = native.processor()
        found |= {"lanes": native.lanes(), "cpu": cpu, "features": features}
    return found


class Ledger:
    """What a program's plain runs have cost so far; renting is given up when it has cost as much as buying."""

    def __init__(self, bodies: int):
        self.bodies, self.spent = max(bodies, 1), 0.0

    def wants(self, samples: int) -> str:
        """`plain`, `cached` (compiled if it is in the cache) or `compiled`, for a call of so many samples."""
        chosen = backend()
        if chosen != "auto":
            return chosen
        self.spent += self.bodies * (CALL + SAMPLE * samples)
        if self.spent < LOAD:
            return "plain"
        price = ROLLED if rolled(self.bodies) else COMPILE * self.bodies
        return "cached" if self.spent < LOAD + price else "compiled"


def give_up(error: Exception) -> None:
    """Compiling failed: everything runs on the plain text from now on, and the user hears it once."""
    if not _broken:
        _broken.append(str(error))
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        warnings.warn(f"no compiled code on this machine ({reason}); the plain text is used instead", stacklevel=2)
