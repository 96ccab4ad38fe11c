"""The offer of one program: plain text, code from the cache, or freshly compiled code.  Only here is that decided.

As in the ski rental problem, a program runs as plain text until that has cost as much as compiling would.  The cost of
plain text is measured by the processor's own clock and kept in a ledger, one for each program and process, so a robot
or a system that is made anew goes on with the ledger of the last one with the same program.  The cost of compiling is
estimated from that of the plain text, because both grow with the number of operations.

Within a run, `choice.Journal` notes at which call a program changed over, so that a replay can do the same.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import thread_time
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..backend import choice, native, objects
from ..backend.account import note_backend_run
from ..backend.forks import ForkSafeLock
from ..backend.ledger import FEWER, RUNS, Ledger, compile_ledger
from ..backend.native import QUICK, SOUND
from ..program.recording import Program
from . import kernel
from .kernel import Kernel, Single

NUMBERS = "numbers"  # how the note ends that a program had its numbers as inputs
STEADY = ", steadily"  # behind the name of a form in a context in which nothing depends on what has run before

MOST_KNOWN = 32  # programs of which is known what they share

_KNOWN: dict[tuple[str, str], Shared] = {}  # by a program's name and form
_KNOWN_LOCK = ForkSafeLock()
_SERIALS = itertools.count()  # of all offers in this process

Code = TypeVar("Code")
Given = ParamSpec("Given")
Text = Callable[[], Program]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Shared:
    """A program for all robots that differ in numbers only: it is recorded with symbols for the `numbers` of one."""

    program: Callable[[], Program]
    identity: tuple[str, ...]
    numbers: tuple[float, ...]


class Offer:
    """One program in all its forms.

    `identity` is everything that the program depends on; `inputs` and `outputs` are the widths of its groups, which
    are evaluated only when code is built.
    """

    def __init__(
        self,
        program: Callable[[], Program],
        inputs: Sequence[int],
        outputs: Sequence[int] | Callable[[], Sequence[int]],
        identity: Callable[[], Sequence[str]],
        level: int = SOUND,
        shared: Callable[[], Shared] | None = None,
        *,
        runs: bool = False,
    ):
        """`level` is that of the code generator: the quick one for programs that are run some thousand times.

        `shared` is the same program with symbols for numbers, for code that serves other robots, too.  A program of
        `runs` has that only where the backend is to be found out.
        """
        self.program, self.inputs, self._outputs = program, tuple(inputs), outputs
        self._identity, self.level, self._shared, self._runs = identity, level, shared, runs
        self._taken = False  # whether the code that was made last is shared
        self._code: dict[tuple[str, int], Any] = {}  # by form and wanted lanes
        self._missed: set[tuple[str, int]] = set()  # keys that are not in the cache
        self._shares: set[tuple[str, int]] = set()  # keys of code that it shares with others
        self._settled: dict[str, tuple[choice.Way, Any]] = {}  # by form: the code for all further calls in one context
        self._serial = next(_SERIALS)
        self._lock = ForkSafeLock()

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """Everything that the program depends on, as strings."""
        return tuple(self._identity())

    @cached_property
    def name(self) -> str:
        """A short name of the program that is the same in all processes and on all machines."""
        return hashlib.sha256("\0".join(self.identity).encode()).hexdigest()[:20]

    @cached_property
    def ledger(self) -> Ledger:
        """The program's ledger, which all offers of the same program share."""
        return compile_ledger(self.name)

    # ---- the forms of the program

    def plain(
        self, samples: int, text: Callable[Given, Found], /, *arguments: Given.args, **named: Given.kwargs
    ) -> Found:
        """The result of the plain text, whose time is charged to the ledger."""
        note_backend_run("plain")
        if choice.chosen_backend() != "auto":
            return text(*arguments, **named)
        begun = thread_time()
        try:
            return text(*arguments, **named)
        finally:
            self.ledger.charge(thread_time() - begun, samples)

    def charge(self, seconds: float) -> None:
        """Add the time of whatever ran in the place of this program's code."""
        if choice.chosen_backend() == "auto":
            self.ledger.spent += seconds

    def single(self, price: float | None = None) -> Single | None:
        """Code for one sample, or None where the plain text is to run; `price` is that of `form`."""
        return self.form(
            "single", lambda cached: self._built("single", kernel.build_single_kernel, cached), price=price
        )

    def lanes(self, samples: int) -> Kernel | None:
        """Code for many samples side by side, or None where the plain text is to run on this number of them."""
        return self.form(
            "lanes", lambda cached: self._built(f"lanes {native.native_lanes()}", kernel.build_kernel, cached), samples
        )

    def form(
        self,
        form: str,
        build: Callable[[bool], Code | None],
        samples: int = 0,
        price: float | None = None,
        ahead: float = 0.0,
    ) -> Code | None:
        """Code of this form, or None where this call is to run the plain text.

        `build` makes the code or, if its argument is True, only looks for it in the cache; `price` is the time that
        compiling takes, in seconds, where that doesn't follow from the plain text; `ahead` is that of the ledger.
        """
        here = choice.present_backend_choice()
        settled = self._settled.get(form)
        if settled is not None and settled[0] is here:
            note_backend_run(form)
            code: Code | None = settled[1]
            return code
        backend = choice.chosen_backend()
        if backend == "plain":
            return None
        if backend == "auto" and here.journal is not None:
            code = self._in_run(here.journal, (form, here.lanes), build, samples, price, ahead)
        else:
            wanted = "compiled" if backend == "compiled" else None
            key = form, here.lanes
            if here.steady:
                key = form + STEADY, here.lanes
            elif here.journal is not None:
                key = self._keyed(*key, shares=False)
            code = self._now(key, build, wanted, samples, price, ahead)
        if code is not None:
            note_backend_run(form)
            self._settled[form] = here, code
        return code

    def at_once(self, form: str, build: Callable[[bool], Code | None]) -> Code | None:
        """Code of this form at any cost; None where compiling fails."""
        return self._made((form, choice.wanted_lanes_of_code()), build, False)

    def settled(self, form: str) -> Any:
        """The code of this form if this context has begun to run it already."""
        settled = self._settled.get(form)
        return settled[1] if settled is not None and settled[0] is choice.present_backend_choice() else None

    def kernel(self, cached: bool) -> Kernel | None:
        """Code for many samples side by side at any cost, or, with `cached`, if the cache has it."""
        return self._made(
            ("lanes", choice.wanted_lanes_of_code()), lambda only: kernel.build_kernel(*self._given(only)), cached
        )

    def called(self, cached: bool, *, shares: bool) -> Single | None:
        """Code for one sample at any cost, or, with `cached`, if the cache has it; other code calls it.

        It `shares` its code with other robots where its caller does.
        """
        own = self._given(cached)
        if not shares or self._shared is None:
            return kernel.build_single_kernel(*own)
        given = self._shared()
        _, inputs, outputs, *_ = own
        return kernel.build_single_kernel(
            given.program, inputs, outputs, given.identity, cached, self.level, given.numbers
        )

    # ---- decisions

    def wants(self, samples: int, price: float | None, ahead: float = 0.0) -> str:
        """The cheapest way by the ledger."""
        if price is None:
            price = self.ledger.run * (FEWER if self.level == QUICK else RUNS)
        return self.ledger.wants(samples, price, ahead)

    def _now(
        self,
        key: tuple[str, int],
        build: Callable[[bool], Code | None],
        wanted: str | None,
        samples: int,
        price: float | None,
        ahead: float,
    ) -> Code | None:
        """Existing code, else code (or None) as `wanted` or the ledger decides."""
        if key in self._code:
            result: Code = self._code[key]
            return result
        wanted = wanted or self.wants(samples, price, ahead)
        return None if wanted == "plain" else self._made(key, build, wanted == "cached")

    def _in_run(
        self,
        journal: choice.Journal,
        key: tuple[str, int],
        build: Callable[[bool], Code | None],
        samples: int,
        price: float | None,
        ahead: float,
    ) -> Code | None:
        """Code (or None) within a run, as the notes of its journal decide, or with a new note there."""
        form = key[0]
        with self._lock:
            call = journal.calls.get((self._serial, form), 0)
            journal.calls[self._serial, form] = call + 1
        name, mark = f"{self.name}-{form}", self._mark(form)
        if journal.replayed:
            key = self._keyed(*key, shares=mark in journal.since)
        ready = key in self._code or self.wants(samples, price, ahead) != "plain"
        if not journal.goes_on(name, call, ready):
            return None
        known = name in journal.since
        code = self._now(key, build, "compiled" if known else None, samples, price, ahead)
        if code is None:
            journal.goes_on(name, call, False)
            return None
        if not journal.begins(name, call):
            return None
        if key in self._shares:
            journal.note(mark)
        return code

    def _mark(self, form: str) -> str:
        """The name of the note that code of this form is shared in a run."""
        return f"{self.name}-{form.split()[0]}-{NUMBERS}"

    def _keyed(self, form: str, lanes: int, *, shares: bool) -> tuple[str, int]:
        """The key of code that is shared, or that isn't."""
        key = form, lanes
        return key if key not in self._code or (key in self._shares) == shares else (f"{form} {shares}", lanes)

    def _made(self, key: tuple[str, int], build: Callable[[bool], Code | None], cached: bool) -> Code | None:
        """Code of this key, which is built once for all threads."""
        with self._lock:
            if key not in self._code and not (cached and key in self._missed):
                self._missed.add(key)
                self._taken = False
                try:
                    code = build(cached)
                except (ImportError, RuntimeError, OSError) as error:
                    choice.give_up_compiling(error)
                    return None
                except (ZeroDivisionError, OverflowError):  # by known numbers: the plain text says what becomes of it
                    self._code[key] = code = None
                if code is not None:
                    self._code[key] = code
                    if self._taken:
                        self._shares.add(key)
            result: Code | None = self._code.get(key)
            return result

    def _built(self, form: str, build: Callable[..., Code | None], cached: bool) -> Code | None:
        """Code of this form by one of the functions of `kernel`."""
        _, inputs, outputs, *_ = self._given(cached)

        def make(program: Text, identity: Sequence[str], only: bool, numbers: Sequence[float]) -> Code | None:
            return build(program, inputs, outputs, identity, only, self.level, numbers)

        return self.chosen(form, make, cached, self.program, self._shared)

    def chosen(
        self,
        form: str,
        make: Callable[[Text, Sequence[str], bool, Sequence[float]], Code | None],
        cached: bool,
        program: Text,
        shared: Callable[[], Shared] | None,
    ) -> Code | None:
        """Code of the program's own, or code that it shares with robots that differ in numbers only.

        The first of these robots has code of its own, which is a little quicker.  With the second, code is compiled
        that serves all others.  So that a run can be done again to the last bit, the journal notes what it shares;
        where compiled code is chosen, runs have code of their own, whatever has run before.  Where nothing may depend
        on that, what no time loop needs is shared from the first robot on.
        """
        if (
            shared is not None
            and choice.present_backend_choice().steady
            and not self._runs
            and (every := shared()).numbers
        ):
            return self._common(make, cached, every)
        journal = choice.present_backend_choice().journal
        of_run = journal is not None or self._runs
        if shared is None or (of_run and choice.chosen_backend() != "auto"):
            return self._own(make, cached, program)
        if journal is not None and journal.replayed:
            taken = self._mark(form) in journal.since
            return self._common(make, cached, shared()) if taken else self._own(make, cached, program)
        code = self._own(make, True, program)
        if code is not None:
            return code
        others = self._found_once(form, shared)
        if not others.numbers:
            return self._own(make, cached, program)
        code = self._common(make, True, others)
        if code is None and cached:
            return None
        if code is None and not objects.machine_code_numbers_vary(form, others.identity, self.identity):
            self._taken = False
            return self._own(make, False, program)
        return code if code is not None else self._common(make, False, others)

    def _found_once(self, form: str, shared: Callable[[], Shared]) -> Shared:
        """What this program shares, which takes longer to find out than a short run: of the last ones it is known."""
        key = self.name, form
        with _KNOWN_LOCK:
            known = _KNOWN.get(key)
        if known is None:
            known = shared()
            with _KNOWN_LOCK:
                _KNOWN[key] = known
                while len(_KNOWN) > MOST_KNOWN:
                    del _KNOWN[next(iter(_KNOWN))]
        return known

    def _own(self, make: Callable[..., Code | None], cached: bool, program: Text) -> Code | None:
        return make(program, self.identity, cached, ())

    def _common(self, make: Callable[..., Code | None], cached: bool, shared: Shared) -> Code | None:
        self._taken = True
        return make(shared.program, shared.identity, cached, shared.numbers)

    def _given(self, cached: bool) -> tuple[Any, ...]:
        outputs = self._outputs() if callable(self._outputs) else self._outputs
        return self.program, self.inputs, outputs, self.identity, cached, self.level


def plain_or_compiled_in_blocks(
    result: np.ndarray,
    block: int,
    ask: Callable[[int], Code | None],
    by: Callable[[Code, int], np.ndarray | None],
    text: Callable[[slice], np.ndarray],
) -> np.ndarray:
    """Fills `result`, with a row for each sample, by plain text in blocks until compiled code does the rest.

    `ask` takes the number of samples ahead and returns code or None; `by` runs code on the samples from a place on, and
    returns None where it can't, so that the text raises the error; `text` returns the rows of a block.
    """
    count, able = len(result), True
    for first in range(0, count, block):
        code = ask(count - first) if able else None
        if code is not None and (answer := by(code, first)) is not None:
            if not first:
                return answer
            result[first:] = answer
            break
        able = able and code is None
        these = slice(first, min(first + block, count))
        result[these] = text(these)
    return result
