"""Compiled programs that take and give NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from . import cache, llvm, native
from .trace import Program
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


def build(program: Callable[[], Program], inputs: Sequence[int], outputs: Sequence[int], *identity: str) -> Kernel:
    """The kernel of a program, from the cache where it is there; `identity` is all that the program depends on."""
    lanes = native.lanes()
    name = cache.key("kernel", str(lanes), *native.processor(), native.version(), *identity)
    code = cache.load(name)
    if code is None:
        code = native.compile_ir(llvm.kernel(program(), lanes, "kernel"))
        cache.store(name, code)
    return Kernel(native.Loaded(code), "kernel", inputs, outputs, lanes)


__all__ = ["REACH", "Kernel", "build"]
