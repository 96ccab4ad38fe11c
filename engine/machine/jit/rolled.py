"""Compiled programs that loop over elements (`rolled_steps.py`), with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from . import cores, native, objects
from .rolled_code import rolled_kernel_ir
from .rolled_steps import Elements, SweepProgram


class Rolled:
    """A compiled loop over given elements, which is called like `kernel.Kernel`."""

    def __init__(
        self, loaded: native.Loaded, loop: SweepProgram, elements: Elements, widths: Sequence[int], lanes: int
    ):
        self._loaded, self.lanes = loaded, lanes
        self.inputs, self.outputs = tuple(widths[:-1]), (widths[-1],)
        arrays = (*loop.inputs, *loop.outputs)
        table: list[list[int]] = []
        numbers: list[float] = []
        for i, kind in enumerate(elements.kinds):
            table.append([kind, elements.parents[i], len(numbers), *(elements.columns[a][i] for a in arrays)])
            numbers += elements.numbers[i]
        self._integers = np.array(table, dtype=np.int64).reshape(len(table), -1)
        self._numbers = np.array(numbers or [0.0])
        self._widths = np.array([*widths, *[widths[-1]] * (len(loop.outputs) - 1)], dtype=np.int64)
        self._ground = {loop.rows[row]: value for row, value in elements.ground.items()}
        self._shape = len(table) + 1, len(loop.rows), lanes
        self._free: list[np.ndarray] = []  # workspaces that no thread is using
        arguments = [ctypes.c_long] * 2 + [ctypes.c_void_p] * (5 + len(arrays))
        self._call = ctypes.CFUNCTYPE(None, *arguments)(loaded.address("rolled"))

    def __call__(self, *arrays: np.ndarray, out: Sequence[np.ndarray] = ()) -> tuple[list[np.ndarray], bool, float]:
        """The outputs, whether all numbers were finite, and the largest angle; see `Kernel`."""
        count, W = len(arrays[0]), self.lanes
        result = out[0] if out else np.empty((count, self.outputs[0]))
        if not count:
            return [result], True, 0.0
        if count < W:
            filled = [np.concatenate([x, np.repeat(x[-1:], W - count, axis=0)]) for x in arrays]
            (whole,), finite, largest = self(*filled)
            result[...] = whole[:count]
            return [result], finite, largest
        reports: list[np.ndarray] = []

        def run(first: int, end: int) -> None:
            report = np.zeros((2, W))
            blocks, left = divmod(end - first, W)
            for start, many in ((first, blocks), (end - W, bool(left))):  # the last rows once more in a whole block
                if many:
                    self._run(many, [x[start:] for x in arrays], result[start:], report)
            reports.append(report)

        cores.run_on_threads_in_parts(count, W, run)
        status = reports[0] if len(reports) == 1 else np.concatenate(reports, axis=1)
        return [result], not np.isnan(status[0]).any(), float(status[1].max())

    def _run(self, blocks: int, arrays: Sequence[np.ndarray], result: np.ndarray, status: np.ndarray) -> None:
        tables = (self._integers, self._numbers, self._widths)
        work = self._workspace()
        results = [result] * (len(self._widths) - len(arrays))
        pointers = [x.ctypes.data for x in (*tables, *arrays, *results, work, status)]
        self._call(blocks, len(self._integers), *pointers)
        self._free.append(work)

    def _workspace(self) -> np.ndarray:
        """The slots of all elements for one call; each thread has its own."""
        try:
            return self._free.pop()
        except IndexError:
            work = np.zeros(self._shape)
            for row, value in self._ground.items():
                work[0, row] = value
            return work


def build_rolled_kernel(
    loop: SweepProgram, elements: Elements, widths: Sequence[int], lanes: int, cached: bool, level: int = native.SOUND
) -> Rolled | None:
    """The compiled loop, from the cache if it is there; with `cached`, None if it isn't."""
    code = objects.loaded_machine_code(
        f"rolled {lanes}", loop.identity, lambda: rolled_kernel_ir(loop, lanes, "rolled"), cached, level
    )
    return Rolled(code, loop, elements, widths, lanes) if code is not None else None
