"""Builtins: functions of machine code that Python calls directly with arrays or lists, and that return a new array.

A program's code for one sample (`llvm.single_sample_ir`) doesn't use Python. Between it and the caller stands one
further function of machine code, the same for all programs: it checks the arguments, reads the items of lists, makes
the result, and is itself a builtin function of Python (`METH_FASTCALL`), so that the interpreter has no part in the
call. It can't handle arguments of another kind or shape, numbers that aren't finite, or angles out of reach; then it
calls a function of Python with the same arguments.

The differences between programs are in a table of 64-bit words that the function gets as its `self`.  The function
keeps Python's lock for one sample and for small batches, so that no other thread changes the table during the call.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import choice, cores
from ..backend.forks import ForkSafeLock
from ..program.result_parts import Part, kernel_parts_divided, words_of_kernel_parts
from . import interpreter as at
from .builtin_code import NAME, loaded_builtin_code
from .builtin_words import FUNCTIONS, LARGEST, OBJECTS, PLACES, ROUNDING, SMALLEST, WORDS
from .trigonometry import REACH


class Builtin:
    """A function for arguments of given widths, which has no code until it is aimed at some.

    `call` is the function itself; it becomes another one once there is code.  Where the code can't handle a call, the
    function calls `general`, or returns None if there is none.  With `asking`, the code is used only while no backend
    is chosen and no run keeps a journal.  Results of many samples are written into the array that is named `out`, if
    there is one.  In the first argument, the groups of four numbers that begin at the places
    `units` are normalised.  Arguments from number `joined` on are one group of the code's inputs.
    """

    def __init__(
        self,
        widths: Sequence[int],
        general: Callable[..., Any] | None = None,
        units: Sequence[int] = (),
        joined: int | None = None,
        asking: bool = False,
        name: str = NAME,
        about: str = "",
    ):
        self.widths, self.units, self.name, self.about = tuple(widths), tuple(units), name, about
        self.joined = len(self.widths) if joined is None else joined
        self._general, self._asking = general, asking
        self._parts: tuple[Part, ...] = ()
        self._alone = 0  # the largest number of samples that aren't shared
        self._kept: list[Any] = []  # objects that the code needs, kept for ever because a call may be under way
        self._words = np.zeros(len(WORDS) + len(self.widths) + len(self.units), dtype=np.int64)
        self._lock = ForkSafeLock()
        self.call: Callable[..., Any] = self._early

    def aim(
        self,
        address: int,
        outputs: int,
        shape: Sequence[int],
        checks: int = 0,
        keep: Sequence[Any] = (),
        parts: Sequence[Part] = (),
        **words: int,
    ) -> None:
        """Use the code at this address, which gives results of this shape; `keep` lives as long as the builtin.

        Of further `words`, code with `lanes` is a kernel, for up to `most` samples; more are done by `shared_call`.
        Others are the `environment` of code for one sample and the address of the same code `apart` from its watches.
        With `parts`, results are rows that are divided into these.
        """
        self._kept += [one for one in keep if not any(one is other for other in self._kept)]
        if not (kept := math.prod(shape)):
            return
        self._begin()
        place = "rows_code" if "lanes" in words else "code"
        self._set(**{place: 0})  # first, so that no other thread uses a table that is half written
        if tuple(parts) != self._parts:
            table = words_of_kernel_parts(parts)
            self._kept += [table, tuple(parts)]
            self._set(parts=0)
            self._set(parts_at=table.ctypes.data)
            self._set(parts=len(parts))
            self._parts = tuple(parts)
        if lanes := words.get("lanes", 0):
            self._alone = words["most"]
            words["block"] = max(lanes, min(MOST_ROWS, ROOM // (sum(self.widths) + outputs) // lanes * lanes))
        elif outputs != kept or parts:
            words["apart"] = 0
        self._set(outputs=outputs, kept=kept, checks=checks, dimensions=len(shape), **words)
        self._set(**dict(zip(("rows", "columns"), shape)))
        self._set(**{place: address})

    def shared_call(self, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The result for more samples than the function takes by itself; None if that is not what was given.

        The processor's cores share the samples as far as that pays.
        """
        first = given[0] if given else None
        if not self.aimed_rows or not isinstance(first, np.ndarray) or first.ndim != 2 or self._is_left_to_choice():
            return None
        count, out = len(first), named.get("out")
        if count <= self._words[PLACES["most"]] or any(np.may_share_memory(out, x) for x in given if out is not None):
            return None
        self._set(share=cores.SHARE_ROWS if cores.processors_that_pay(count) > 1 else 0, most=count, straight=id(out))
        try:
            with cores.interrupts_of_shared_rows():
                return self.call(*given, **named)
        finally:
            self._set(share=0, most=self._alone, straight=0)

    def _is_left_to_choice(self) -> bool:
        """Whether the general function has to look which code was chosen."""
        return self._asking and choice.present_backend_choice() is not choice.NOTHING

    def _begin(self) -> None:
        """Makes the function that is called from now on, where there is none yet."""
        if self.call == self._early:
            known = at.interpreter_addresses()
            self.call = self._slow
            if known is not None:
                with contextlib.suppress(RuntimeError, OSError):  # whatever keeps this machine from it
                    self.call = self._quick(known)

    def _early(self, *given: Any, **named: Any) -> Any:
        """The function before there is any code; whoever has kept it reaches the later one through it."""
        if self.call != self._early:
            return self.call(*given, **named)
        return self._general(*given, **named) if self._general is not None else None

    @property
    def aimed(self) -> int:
        """The address of the code for one sample, 0 if there is none."""
        return int(self._words[PLACES["code"]])

    @property
    def aimed_rows(self) -> int:
        """The address of the code for many samples, 0 if there is none."""
        return int(self._words[PLACES["rows_code"]])

    def _set(self, **values: int) -> None:
        """Writes these words of the table."""
        for name, value in values.items():
            self._words[PLACES[name]] = value

    def _quick(self, known: dict[str, int]) -> Callable[..., Any]:
        """The function as a builtin function, which keeps everything alive that it refers to."""
        self._set(**{name: known[name] for name in (*OBJECTS, *FUNCTIONS)})
        self._set(out=id(OUT))
        self._set(general=id(self._general) if self._general is not None else 0)
        if self._asking:
            self._set(context=id(choice.VARIABLE), nothing=id(choice.NOTHING))
        self._set(arguments=len(self.widths), numbers=sum(self.widths), joined=self.joined, units=len(self.units))
        self._words[len(WORDS) :] = (*self.widths, *self.units)
        code = loaded_builtin_code()
        method = _Method(self.name.encode(), code.address(NAME), _FASTCALL | _KEYWORDS, self.about.encode() or None)
        return _builtin(method, (self._words, self._general, self._kept, method, code))

    # ---- the builtin as a function of Python, by ctypes

    def _slow(self, *given: Any, **named: Any) -> Any:
        """The builtin as a function of Python, for interpreters whose objects machine code can't read."""
        result = None if named or self._is_left_to_choice() else self._found(given)
        return result if result is not None or self._general is None else self._general(*given, **named)

    def _found(self, given: Sequence[Any]) -> Any:
        if not self.aimed or len(given) != len(self.widths):
            return None
        groups = [_doubles(x, width) for x, width in zip(given, self.widths)]
        if any(group is None for group in groups):
            return None
        if self.units and not _unit(groups[0], self.units):
            return None
        words = dict(zip(WORDS, self._words.tolist()))
        result = np.empty(words["outputs"] + 2)
        last = groups[self.joined :]
        groups = [*groups[: self.joined], *([np.concatenate(last)] if last else [])]  # type: ignore[arg-type]
        pointers = np.array([group.ctypes.data for group in groups], dtype=np.uintp)  # type: ignore[union-attr]
        with self._lock:
            _SINGLE(words["code"])(pointers.ctypes.data, result.ctypes.data, words["environment"])
        checks = result[words["outputs"] - words["checks"] : -2]
        if result[-2] != 0.0 or not result[-1] <= REACH or not (checks >= 0.0).all():
            return None
        shape = (words["rows"], words["columns"])[: words["dimensions"]]
        kept = result[: words["kept"]].reshape(shape).copy()
        return kernel_parts_divided(kept, self._parts) if self._parts else kept


OUT = sys.intern("out")
ROOM, MOST_ROWS = 16_000, 512  # numbers of a block of samples, which stay in the processor's cache; its samples
_SINGLE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)  # Python's lock is kept
_FASTCALL, _KEYWORDS = 0x80, 0x02


class _Method(ctypes.Structure):
    """Python's structure `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def _builtin(method: _Method, own: tuple[Any, ...]) -> Callable[..., Any]:
    """A builtin function whose `self` is `own`."""
    maker = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = maker(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), own, None)
    return made


def _doubles(x: Any, width: int) -> np.ndarray | None:
    """A copy of one argument, or None if machine code wouldn't take it."""
    if type(x) is np.ndarray:
        return x.copy() if x.dtype is np.dtype(float) and x.shape == (width,) and x.flags.aligned else None
    if type(x) not in (list, tuple) or len(x) != width or any(type(y) not in (float, np.float64, int) for y in x):
        return None
    try:
        return np.array([float(y) for y in x])
    except OverflowError:
        return None


def _unit(numbers: Any, places: Sequence[int]) -> bool:
    """Divides groups of four numbers by their norms; returns whether all norms are within bounds."""
    for place in places:
        four = numbers[place : place + 4]
        with np.errstate(all="ignore"):
            norm = np.sqrt((four * four).sum())
        if not SMALLEST <= norm <= LARGEST:
            return False
        if abs(norm - 1.0) > ROUNDING:
            four /= norm
    return True
