"""Compiled code by itself: a loop of machine code that calls it so many times, with addresses that stay the same."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from denoc.machine.backend import native
from denoc.machine.jit import Kernel, Rolled, Single

LOOPS = """
define void @{name}({types}, ptr %code, i64 %times) {{
  br label %once
once:
  %k = phi i64 [0, %0], [%k.next, %once]
  call void %code({types})
  %k.next = add i64 %k, 1
  %is_more = icmp slt i64 %k.next, %times
  br i1 %is_more, label %once, label %leave
leave:
  ret void
}}
"""
OF_KERNEL, OF_SINGLE = "i64 %a, ptr %b, ptr %c, ptr %d", "ptr %a, ptr %b, ptr %c"
Again = Callable[[int], object]  # runs the code so many times
Noted = list[tuple[Any, Again]]


@contextmanager
def watched() -> Iterator[Noted]:
    """The code that is called within, each with a function that does the same so many times."""
    runs: Noted = []
    called = {kind: kind.__call__ for kind in (Kernel, Rolled, Single)}
    rows = Kernel.rows

    def noted(kind: type, call: Callable[..., Any]) -> Callable[..., Any]:
        def calling(self: Any, *arrays: Any, **named: Any) -> Any:
            before, result = len(runs), call(self, *arrays, **named)
            del runs[before:]  # a kernel calls itself for samples that are fewer than its lanes
            if result is not None:
                runs.append((self, _again(self, arrays, call)))
            return result

        return calling

    for kind, call in called.items():
        kind.__call__ = noted(kind, call)  # type: ignore[method-assign]
    Kernel.rows = noted(Kernel, rows)  # type: ignore[method-assign]
    try:
        yield runs
    finally:
        Kernel.rows = rows  # type: ignore[method-assign]
        for kind, call in called.items():
            kind.__call__ = call  # type: ignore[method-assign]


def _again(code: Any, arrays: Sequence[Any], call: Callable[..., Any]) -> Again:
    """A function that runs the code on copies of these arrays as often as it is told to."""
    given = [np.array(x, dtype=float) for x in arrays]
    if isinstance(code, Single):
        return _single_again(code, given)
    if len(given[0]) < code.lanes:
        given = [np.concatenate([x, np.repeat(x[-1:], code.lanes - len(x), axis=0)]) for x in given]
    out = [np.zeros((len(given[0]), width)) for width in code.outputs]
    if isinstance(code, Kernel):
        return _kernel_again(code, given, out)
    return lambda times: [call(code, *given, out=out) for _ in range(times)]


def _kernel_again(code: Kernel, given: list[np.ndarray], out: list[np.ndarray]) -> Again:
    inputs, outputs, report = _addresses(given), _addresses(out), np.zeros((2, code.lanes))
    begin = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int64)(_loops().address("kernel"))

    def again(times: int) -> None:
        begin(len(given[0]), inputs.ctypes.data, outputs.ctypes.data, report.ctypes.data, code.address, times)

    again.kept = given, out  # type: ignore[attr-defined]
    return again


def _single_again(code: Single, given: list[np.ndarray]) -> Again:
    inputs, result = _addresses(given), np.zeros(sum(code.outputs) + 2)
    own = code._environment
    environment = own.ctypes.data if own is not None else 0
    begin = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(_loops().address("single"))

    def again(times: int) -> None:
        begin(inputs.ctypes.data, result.ctypes.data, environment, code.address, times)

    again.kept = given  # type: ignore[attr-defined]
    return again


def _addresses(arrays: list[np.ndarray]) -> np.ndarray:
    return np.array([x.ctypes.data for x in arrays], dtype=np.uintp)


@cache
def _loops() -> native.Loaded:
    loops = (LOOPS.format(name=name, types=types) for name, types in (("kernel", OF_KERNEL), ("single", OF_SINGLE)))
    return native.Loaded(native.compile_ir("\n".join(loops)))
