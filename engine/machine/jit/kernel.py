"""Compiled programs that take and return NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..backend import cores, native, objects
from ..program.recording import Program
from ..program.result_parts import Part
from . import llvm
from .builtin import Builtin


class Kernel:
    """A program for many samples, W at a time; groups of inputs and outputs are arrays with a row for each sample."""

    def __init__(self, loaded: native.Loaded, name: str, inputs: Sequence[int], outputs: Sequence[int], lanes: int):
        self._loaded = loaded  # keeps the code in memory
        self.inputs, self.outputs, self.lanes = tuple(inputs), tuple(outputs), lanes
        self.address = loaded.address(name)
        self._call = _KERNEL(self.address)
        self._builtin: Builtin | None = None

    def rows(self, *arrays: np.ndarray) -> np.ndarray | None:
        """The only group of outputs, by a builtin, which begins at once; None where a call has to say what is wrong.

        That is so for numbers that aren't finite and huge angles, and for samples that several processors share, too.
        """
        if self._builtin is None:
            builtin = Builtin(self.inputs)
            self.serve(builtin, self.outputs)
            self._builtin = builtin
        result: np.ndarray | None = self._builtin.call(*arrays)
        return result

    def __call__(self, *arrays: np.ndarray, out: Sequence[np.ndarray] = ()) -> tuple[list[np.ndarray], bool, float]:
        """The outputs, whether all numbers were finite, and the largest angle; inputs are C-contiguous doubles.

        `out` are C-contiguous arrays for the outputs; large batches are shared among the processor's cores.
        """
        count, W = len(arrays[0]), self.lanes
        result = list(out) or [np.empty((count, width)) for width in self.outputs]
        if not count:
            return result, True, 0.0
        if count < W:
            filled = [np.concatenate([x, np.repeat(x[-1:], W - count, axis=0)]) for x in arrays]
            whole, finite, largest = self(*filled)
            for target, source in zip(result, whole):
                target[...] = source[:count]
            return result, finite, largest
        inputs, outputs = [x.ctypes.data for x in arrays], [x.ctypes.data for x in result]
        reports: list[np.ndarray] = []

        def run(first: int, end: int) -> None:
            report = np.empty((2, W))
            rows = (
                (ctypes.c_void_p * len(widths))(*(at + 8 * first * width for at, width in zip(starts, widths)))
                for starts, widths in ((inputs, self.inputs), (outputs, self.outputs))
            )
            self._call(end - first, *rows, report.ctypes.data)
            reports.append(report)

        cores.run_on_threads_in_parts(count, W, run)
        status = reports[0] if len(reports) == 1 else np.concatenate(reports, axis=1)
        return result, not np.isnan(status[0]).any(), float(status[1].max())

    def serve(self, builtin: Builtin, shape: Sequence[int], checks: int = 0, parts: Sequence[Part] = ()) -> None:
        """Aim a builtin for the same groups at this code, for results of this shape; the last outputs are checks."""
        if builtin.aimed_rows == self.address:
            return
        if len(self.outputs) == 1 and 0 < 2 * self.lanes * (sum(self.inputs) + sum(self.outputs)) <= MOST_NUMBERS:
            most = 2 * cores.FEWEST - 1  # more are shared among processors
            own = (self._loaded,)
            builtin.aim(self.address, self.outputs[0], shape, checks, own, parts, lanes=self.lanes, most=most)


_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Single:
    """A program for one sample, whose call is as quick as Python allows."""

    def __init__(
        self,
        loaded: native.Loaded,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        environment: np.ndarray | None = None,
        keep: Sequence[Any] = (),
    ):
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.address, self._apart = loaded.address(name), loaded.address_if_any(name + llvm.APART)
        self._environment, self._keep = environment, (loaded, environment, *keep)
        self._builtin = Builtin(self.inputs)
        self.serve(self._builtin, self.outputs[:1])
        self._call = self._builtin.call  # made by now, but where the numbers are too many
        self._all: Builtin | None = None  # one whose result has all groups of outputs

    def __call__(self, *groups: np.ndarray | Sequence[float]) -> np.ndarray | None:
        """The first group of outputs, or None where the plain text has to run."""
        result: np.ndarray | None = self._call(*groups)
        if result is None and not all(type(group) is np.ndarray and group.dtype is _DOUBLE for group in groups):
            result = self._call(*(np.asarray(group).astype(float) for group in groups))
        return result

    @property
    def quick(self) -> Callable[..., np.ndarray | None]:
        """The builtin for the first group of outputs itself, which takes NumPy's own doubles alone."""
        return self._call

    def groups(self, *groups: np.ndarray | Sequence[float]) -> list[np.ndarray] | None:
        """All groups of outputs, or None where the plain text has to run."""
        if self._all is None:
            self._all = Builtin(self.inputs)
            self.serve(self._all, (sum(self.outputs),))
        result = self._all.call(*groups)
        if result is None:
            return None
        ends = list(accumulate(self.outputs))
        return [result[end - width : end] for end, width in zip(ends, self.outputs)]

    def of_doubles(self, *groups: np.ndarray) -> np.ndarray | None:
        """The first group of outputs for arrays of doubles; None for arrays of any other type."""
        for group in groups:
            if group.dtype is not _DOUBLE:
                return None
        result: np.ndarray | None = self._call(*groups)
        return result

    def serve(self, builtin: Builtin, shape: Sequence[int], checks: int = 0, parts: Sequence[Part] = ()) -> None:
        """Aim a builtin for the same groups at this code, for results of this shape; the last outputs are checks."""
        environment = 0 if self._environment is None else self._environment.ctypes.data
        straight = parts or (self._apart and not checks)  # into the array that the caller gets
        if sum(self.inputs) + (0 if straight else sum(self.outputs)) <= MOST_NUMBERS:
            places = {"environment": environment, "apart": self._apart}
            builtin.aim(self.address, sum(self.outputs), shape, checks, self._keep, parts, **places)


_DOUBLE = np.dtype(float)
MOST_NUMBERS = 100_000  # on the stack in one call


def build_kernel(
    program: Callable[[], Program],
    inputs: Sequence[int],
    outputs: Sequence[int],
    identity: Sequence[str],
    cached: bool,
    level: int = native.SOUND,
    numbers: Sequence[float] = (),
) -> Kernel | None:
    """The kernel of a program with this `identity`; with `cached`, None if the cache doesn't have it."""
    lanes = native.native_lanes()
    text = lambda: llvm.kernel_ir(program(), lanes, "kernel")  # noqa: E731
    code = objects.loaded_machine_code(f"lanes {lanes}", identity, text, cached, level, numbers)
    return Kernel(code, "kernel", inputs, outputs, lanes) if code is not None else None


def build_single_kernel(
    program: Callable[[], Program],
    inputs: Sequence[int],
    outputs: Sequence[int],
    identity: Sequence[str],
    cached: bool,
    level: int = native.SOUND,
    numbers: Sequence[float] = (),
) -> Single | None:
    """The code of a program with this `identity` for one sample; with `cached`, None if the cache doesn't have it."""
    text = lambda: llvm.single_sample_ir(program(), "single", native.native_lanes())  # noqa: E731
    code = objects.loaded_machine_code("single", identity, text, cached, level, numbers)
    return Single(code, "single", inputs, outputs) if code is not None else None
