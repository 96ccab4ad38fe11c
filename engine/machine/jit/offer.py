"""The offer of one program: plain text, code from the cache, or code compiled afresh.  Decided here and nowhere else.

A program is rented until renting has cost as much as buying would.  What the plain text has cost is measured by the
processor's own clock and kept in a ledger, one for each program and process: a robot or a plant that is made anew goes
on where the last one with the same program was.  What compiling costs is known from the plain text, too, for both grow
with the number of operations.

Within a run, `choice.Journal` notes at which call a program changed over, so that a replay can do the same.
"""

from __future__ import annotations

import hashlib
import math
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from time import thread_time
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..program.trace import Program
from . import choice, kernel
from .kernel import Kernel, Single

# seconds on a present-day machine
IMPORT, LOOK = 0.04, 0.002  # to look into the cache: with the import of llvmlite, and without
LOOP = 0.05  # to compile a loop, however long

RUNS = 100  # plain runs of one sample take as long as compiling
WIDE = 64  # samples at which a plain run on arrays takes twice what it takes for one sample
MANY = 256  # samples from which on what one more costs can be told

Code = TypeVar("Code")
Given = ParamSpec("Given")
Found = TypeVar("Found")


class Ledger:
    """What the plain text of one program has cost in this process: seconds in all, of one run, and of one sample."""

    def __init__(self) -> None:
        self.spent, self.run, self.sample = 0.0, math.inf, 0.0

    def charge(self, seconds: float, samples: int) -> None:
        """Enters a plain run of so many samples."""
        self.spent += seconds
        self.run = min(self.run, seconds / (1.0 + (samples - 1) / WIDE))
        if samples >= MANY:
            self.sample = seconds / samples

    def wants(self, samples: int, price: float | None) -> str:
        """`plain`, `cached` (compiled if the code is in the cache) or `compiled`, with so many samples ahead."""
        due = self.spent + self.sample * samples
        load = LOOK if "llvmlite" in sys.modules else IMPORT
        if due < load:
            return "plain"
        return "cached" if due < load + (RUNS * self.run if price is None else price) else "compiled"


@lru_cache(maxsize=4096)
def ledger(name: str) -> Ledger:
    """The ledger of the program of this name."""
    return Ledger()


class Offer:
    """One program in all its forms.

    `identity` is everything that the program depends on; `inputs` and `outputs` are the widths of its groups, which
    are asked for where code is built.
    """

    def __init__(
        self,
        program: Callable[[], Program],
        inputs: Sequence[int],
        outputs: Sequence[int] | Callable[[], Sequence[int]],
        identity: Callable[[], Sequence[str]],
    ):
        self.program, self.inputs, self._outputs = program, tuple(inputs), outputs
        self._identity = identity
        self._code: dict[tuple[str, int], Any] = {}  # by form and lanes wanted
        self._missed: set[tuple[str, int]] = set()  # looked for in the cache in vain
        self._settled: dict[str, tuple[choice.Way, Any]] = {}  # what all further calls of a context are given
        self._calls: dict[str, tuple[choice.Journal, int]] = {}  # of each form in the run that asked last
        self._lock = threading.RLock()

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """All that the program depends on, as text."""
        return tuple(self._identity())

    @cached_property
    def name(self) -> str:
        """A short name of the program that is the same in all processes and on all machines."""
        return hashlib.sha256("\0".join(self.identity).encode()).hexdigest()[:20]

    @cached_property
    def ledger(self) -> Ledger:
        """What the program has cost so far, whoever has asked for it."""
        return ledger(self.name)

    # ---- what callers take

    def plain(
        self, samples: int, text: Callable[Given, Found], /, *arguments: Given.args, **named: Given.kwargs
    ) -> Found:
        """What the plain text gives; its time is charged."""
        if choice.backend() != "auto":
            return text(*arguments, **named)
        begun = thread_time()
        try:
            return text(*arguments, **named)
        finally:
            self.ledger.charge(thread_time() - begun, samples)

    def single(self) -> Single | None:
        """Code for one sample at a time."""
        return self.form("single", lambda cached: kernel.build_single(*self._given(cached)))

    def lanes(self, samples: int) -> Kernel | None:
        """Code for many samples side by side, with so many of them ahead."""
        return self.form("lanes", lambda cached: kernel.build(*self._given(cached)), samples)

    def form(
        self, form: str, build: Callable[[bool], Code | None], samples: int = 0, price: float | None = None
    ) -> Code | None:
        """Code of this form where this call is to have it, else None: the caller takes the plain text.

        `build` makes the code, or with True looks for it in the cache only; `price` is what making it costs in
        seconds, where that doesn't follow from the plain text.
        """
        here = choice.way()
        settled = self._settled.get(form)
        if settled is not None and settled[0] is here:
            code: Code | None = settled[1]
            return code
        backend = choice.backend()
        if backend == "plain":
            return None
        if backend == "auto" and here.journal is not None:
            code = self._in_run(here.journal, (form, here.lanes), build, samples, price)
        else:
            code = self._now((form, here.lanes), build, "compiled" if backend == "compiled" else None, samples, price)
        if code is not None:
            self._settled[form] = here, code
        return code

    def at_once(self, form: str, build: Callable[[bool], Code | None]) -> Code | None:
        """Code of this form, whatever it costs; None where none can be had."""
        return self._made((form, choice.lanes()), build, False)

    # ---- decisions

    def _now(
        self,
        key: tuple[str, int],
        build: Callable[[bool], Code | None],
        wanted: str | None,
        samples: int,
        price: float | None,
    ) -> Code | None:
        """Code that is there already, else what is wanted or the ledger says."""
        if key in self._code:
            found: Code = self._code[key]
            return found
        wanted = wanted or self.ledger.wants(samples, price)
        return None if wanted == "plain" else self._made(key, build, wanted == "cached")

    def _in_run(
        self,
        journal: choice.Journal,
        key: tuple[str, int],
        build: Callable[[bool], Code | None],
        samples: int,
        price: float | None,
    ) -> Code | None:
        """The same within a run: as its notes say, or else noted."""
        form = key[0]
        with self._lock:
            last, call = self._calls.get(form, (journal, 0))
            call = call if last is journal else 0
            self._calls[form] = journal, call + 1
        name = f"{self.name}-{form}"
        ready = key in self._code or self.ledger.wants(samples, price) != "plain"
        if not journal.goes_on(name, call, ready):
            return None
        known = name in journal.since
        code = self._now(key, build, "compiled" if known else None, samples, price)
        if code is None:
            journal.goes_on(name, call, False)
            return None
        return code if journal.begins(name, call) else None

    def _made(self, key: tuple[str, int], build: Callable[[bool], Code | None], cached: bool) -> Code | None:
        """Code that is built once, however many threads ask for it."""
        with self._lock:
            if key not in self._code and not (cached and key in self._missed):
                self._missed.add(key)
                try:
                    code = build(cached)
                except (ImportError, RuntimeError, OSError) as error:
                    choice.give_up(error)
                    return None
                if code is not None:
                    self._code[key] = code
            found: Code | None = self._code.get(key)
            return found

    def _given(self, cached: bool) -> tuple[Any, ...]:
        outputs = self._outputs() if callable(self._outputs) else self._outputs
        return self.program, self.inputs, outputs, self.identity, cached


def in_blocks(
    found: np.ndarray,
    block: int,
    ask: Callable[[int], Code | None],
    by: Callable[[Code, int], np.ndarray | None],
    text: Callable[[slice], np.ndarray],
) -> np.ndarray:
    """Fills `found`, a row a sample: by the plain text, block by block, until code takes the rest.

    `ask` asks the offer, with so many samples ahead; `by` gives what code makes of the samples from a place on, None
    where it can't, so that the text says what is wrong; `text` gives the rows of a block.
    """
    count, able = len(found), True
    for first in range(0, count, block):
        code = ask(count - first) if able else None
        if code is not None and (answer := by(code, first)) is not None:
            if not first:
                return answer
            found[first:] = answer
            break
        able = code is None
        these = slice(first, min(first + block, count))
        found[these] = text(these)
    return found
