"""Compiled programs that take and give NumPy arrays."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program.trace import Program
from . import cache, llvm, native
from .trigonometry import REACH


class Kernel:
    """A program for many samples, W at a time; groups of inputs and outputs are arrays with one row a sample."""

    def __init__(self, loaded: native.Loaded, name: str, inputs: Sequence[int], outputs: Sequence[int], lanes: int):
        self._loaded = loaded  # keeps the code in memory
        self.inputs, self.outputs, self.lanes = tuple(inputs), tuple(outputs), lanes
        arguments = [ctypes.c_long] + [ctypes.c_void_p] * (len(inputs) + len(outputs) + 1)
        self._call = ctypes.CFUNCTYPE(None, *arguments)(loaded.address(name))

    def __call__(self, *arrays: np.ndarray) -> tuple[list[np.ndarray], bool, float]:
        """Outputs, whether all inputs were finite, and the largest angle; inputs are C-contiguous doubles."""
        count, W = len(arrays[0]), self.lanes
        out = [np.empty((count, width)) for width in self.outputs]
        status = np.zeros((2, 2 * W))
        blocks, left = divmod(count, W)
        if blocks:
            self._call(blocks, *(x.ctypes.data for x in (*arrays, *out)), status[0].ctypes.data)
        if left:  # the last samples once more with copies of the last one up to a whole block
            tail = [np.concatenate([x[count - left :], np.repeat(x[-1:], W - left, axis=0)]) for x in arrays]
            end = [np.empty((W, width)) for width in self.outputs]
            self._call(1, *(x.ctypes.data for x in (*tail, *end)), status[1].ctypes.data)
            for target, source in zip(out, end):
                target[count - left :] = source[:left]
        return out, not np.isnan(status[:, :W]).any(), float(status[:, W:].max())


class Single:
    """A program for one sample at a time, as quick to call as Python allows."""

    def __init__(self, loaded: native.Loaded, name: str, inputs: Sequence[int], outputs: Sequence[int]):
        self._loaded = loaded
        self.shapes = tuple((width,) for width in inputs)
        total = sum(inputs) + sum(outputs)
        self.block = np.zeros(total + 2)
        self.parts, at = [], 0
        for width in (*inputs, *outputs):
            self.parts.append(self.block[at : at + width])
            at += width
        self.output = self.parts[len(inputs)]
        self._watch = self.block.data[total:]
        self._taken = self.block.data.cast("B")[: 8 * sum(inputs)]
        # the interpreter isn't let go of: it would take longer than the call
        self._call = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(loaded.address(name))
        self._address = ctypes.c_void_p(self.block.ctypes.data)
        self._lock = threading.Lock()

    def __call__(self, *groups: np.ndarray | Sequence[float]) -> np.ndarray | None:
        """The first group of outputs; None if an argument isn't fit for this way."""
        watch = self._watch
        with self._lock:
            try:
                self._taken[:] = _joined(groups)
            except (TypeError, AttributeError, BufferError, ValueError):
                for part, group in zip(self.parts, groups):
                    part[:] = group
            self._call(self._address)
            if watch[0] != 0.0 or watch[1] > REACH:
                return None
            return self.output.copy()

    def of_doubles(self, *groups: np.ndarray) -> np.ndarray | None:
        """The same of arrays of doubles; None of any others, which would be converted without a word."""
        for group in groups:
            if group.dtype is not _DOUBLE:
                return None
        return self(*groups)


_DOUBLE = np.dtype(float)


def _joined(groups: Sequence[Any]) -> bytes:
    """The numbers of the groups as they lie in memory, where all are contiguous arrays of doubles."""
    for group in groups:
        if group.dtype is not _DOUBLE:
            raise TypeError
    return b"".join(groups)


def build(
    program: Callable[[], Program], inputs: Sequence[int], outputs: Sequence[int], identity: Sequence[str], cached: bool
) -> Kernel | None:
    """The kernel of a program; `identity` is all that the program depends on.  With `cached`, only from the cache."""
    lanes = native.lanes()
    code = _object(f"lanes {lanes}", lambda: llvm.kernel(program(), lanes, "kernel"), identity, cached)
    return Kernel(native.Loaded(code), "kernel", inputs, outputs, lanes) if code is not None else None


def build_single(
    program: Callable[[], Program], inputs: Sequence[int], outputs: Sequence[int], identity: Sequence[str], cached: bool
) -> Single | None:
    """Likewise for one sample at a time."""
    code = _object("single", lambda: llvm.single(program(), "single"), identity, cached)
    return Single(native.Loaded(code), "single", inputs, outputs) if code is not None else None


def _object(form: str, text: Callable[[], str], identity: Sequence[str], cached: bool) -> bytes | None:
    """Object code from the cache, else compiled and kept there."""
    name = cache.key(form, *native.processor(), native.version(), *identity)
    return cache.kept(name, lambda: native.compile_ir(text()), cached)
