"""Programs that loop over elements: one step is recorded for each kind of element, and runs for many of them.

An element, such as a body of a tree, has a slot of rows in a workspace, and the place of its parent's slot.  A sweep
runs over the elements, outwards or inwards; for each it runs the step of the element's kind, a recorded program on the
rows of its own slot, the rows of its parent's slot, its numbers, and its columns of the input arrays.  Slot 0 is the
ground.  The size of the code doesn't depend on the number of elements.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backend import cores, native, objects
from ..program.nodes import COSINE, INPUT, Graph, Node, live_nodes
from .block import Block

# the place of a value in a step: ("own", row), ("up", row), ("number", k) or (array, k)
Place = tuple[str, Any]


class BodyStep:
    """A step that is being recorded: `take` gives nodes of inputs, `put` sets the places of results.

    What is `watched` is no result, but has to be as moderate as these.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.places: dict[int, Place] = {}
        self.results: dict[Place, Node] = {}
        self.watched: list[Node] = []

    def take(self, where: str, what: Any) -> Node:
        node = self.graph.input(f"{where} {what}")
        self.places[node.id] = (where, what)
        return node

    def put(self, where: str, what: Any, value: Any) -> None:
        self.results[(where, what)] = self.graph.node(value)

    def watch(self, value: Any) -> None:
        self.watched.append(self.graph.node(value))


@dataclass
class Sweep:
    """One pass over all elements, with a step for each kind."""

    inwards: bool
    steps: list[BodyStep]


@dataclass
class SweepProgram:
    """A program of sweeps one after the other, with its input arrays and its output array."""

    sweeps: list[Sweep]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]  # names of columns of the output array; an element has a first column for each
    identity: tuple[str, ...]  # everything that the steps depend on
    rows: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        result: dict[Any, int] = {}
        for sweep in self.sweeps:
            for step in sweep.steps:
                for where, what in (*step.places.values(), *step.results):
                    if where in ("own", "up"):
                        result.setdefault(what, len(result))
        self.rows = result


@dataclass(frozen=True)
class Elements:
    """The elements of a loop: for each its kind, parent's slot, first column in each array, and numbers."""

    kinds: Sequence[int]
    parents: Sequence[int]  # slots: 0 for the ground, i + 1 for element i
    columns: dict[str, Sequence[int]]
    numbers: Sequence[Sequence[float]]
    ground: dict[Any, float]  # rows of the ground's slot that aren't 0


INTEGERS = 3  # of each element: kind, parent, place of its numbers; its columns follow


def rolled_kernel_ir(loop: SweepProgram, lanes: int, name: str) -> str:
    """IR of `void name(blocks, count, integers, numbers, widths, inputs…, output, work, status)`."""
    arrays = (*loop.inputs, *loop.outputs)
    functions, calls = [], []
    slot = len(loop.rows) * lanes
    for s, sweep in enumerate(loop.sweeps):
        for kind, step in enumerate(sweep.steps):
            functions.append(_step(step, loop, lanes, f"{name}_{s}_{kind}", arrays))
        calls.append(_sweep(s, sweep, slot, name, len(arrays), arrays))
    block = Block(lanes)
    pointers = ", ".join(f"ptr %{a}" for a in arrays)
    bases = "\n".join(
        f"  %width_{a}_at = getelementptr i64, ptr %widths, i64 {k}\n  %width_{a} = load i64, ptr %width_{a}_at\n"
        f"  %rows_{a} = mul i64 %width_{a}, {lanes}\n  %skip_{a} = mul i64 %k, %rows_{a}\n"
        f"  %at_{a} = getelementptr double, ptr %{a}, i64 %skip_{a}"
        for k, a in enumerate(arrays)
    )
    body = "\n".join(calls)
    arguments = f"i64 %blocks, i64 %count, ptr %integers, ptr %numbers, ptr %widths, {pointers}, ptr %work, ptr %status"
    return f"""{block.declarations()}
{"".join(functions)}
define void @{name}({arguments}) {{
entry:
  %any = icmp sgt i64 %blocks, 0
  br i1 %any, label %outer, label %done
outer:
  %k = phi i64 [0, %entry], [%next, %bottom]
{bases}
  br label %top0
{body}
top{len(loop.sweeps)}:
  br label %bottom
bottom:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %blocks
  br i1 %more, label %outer, label %done
done:
  ret void
}}
"""


def _sweep(s: int, sweep: Sweep, slot: int, name: str, columns: int, arrays: tuple[str, ...]) -> str:
    """IR of a loop over the elements, which calls the step of each element's kind."""
    stride = INTEGERS + columns
    first = "%last_" + str(s) if sweep.inwards else "0"
    passed = ", ".join(f"ptr %at_{a}, i64 %width_{a}, i64 %column_{s}_{k}" for k, a in enumerate(arrays))
    loads = "\n".join(
        f"  %column_at_{s}_{k} = getelementptr i64, ptr %element_{s}, i64 {INTEGERS + k}\n"
        f"  %column_{s}_{k} = load i64, ptr %column_at_{s}_{k}"
        for k in range(columns)
    )
    cases = " ".join(f"i64 {kind}, label %case_{s}_{kind}" for kind in range(len(sweep.steps)))
    branches = "\n".join(
        f"case_{s}_{kind}:\n"
        f"  call void @{name}_{s}_{kind}(ptr %own_{s}, ptr %up_{s}, ptr %these_{s}, {passed}, ptr %status)\n"
        f"  br label %end_{s}"
        for kind in range(len(sweep.steps))
    )
    onwards = f"%j_{s} = add i64 %i_{s}, {-1 if sweep.inwards else 1}"
    going = f"icmp sge i64 %j_{s}, 0" if sweep.inwards else f"icmp slt i64 %j_{s}, %count"
    return f"""top{s}:
  %last_{s} = add i64 %count, -1
  br label %loop_{s}
loop_{s}:
  %i_{s} = phi i64 [{first}, %top{s}], [%j_{s}, %end_{s}]
  %at_{s} = mul i64 %i_{s}, {stride}
  %element_{s} = getelementptr i64, ptr %integers, i64 %at_{s}
  %kind_{s} = load i64, ptr %element_{s}
  %parent_at_{s} = getelementptr i64, ptr %element_{s}, i64 1
  %parent_{s} = load i64, ptr %parent_at_{s}
  %numbers_at_{s} = getelementptr i64, ptr %element_{s}, i64 2
  %numbers_{s} = load i64, ptr %numbers_at_{s}
{loads}
  %own_slot_{s} = add i64 %i_{s}, 1
  %own_skip_{s} = mul i64 %own_slot_{s}, {slot}
  %own_{s} = getelementptr double, ptr %work, i64 %own_skip_{s}
  %up_skip_{s} = mul i64 %parent_{s}, {slot}
  %up_{s} = getelementptr double, ptr %work, i64 %up_skip_{s}
  %these_{s} = getelementptr double, ptr %numbers, i64 %numbers_{s}
  switch i64 %kind_{s}, label %end_{s} [{cases}]
{branches}
end_{s}:
  {onwards}
  %more_{s} = {going}
  br i1 %more_{s}, label %loop_{s}, label %top{s + 1}
"""


def _step(step: BodyStep, loop: SweepProgram, lanes: int, name: str, arrays: tuple[str, ...]) -> str:
    """IR of a function for one element: loads, operations, stores."""
    block = Block(lanes)
    results = [*step.results.values(), *step.watched]
    values: dict[int, str] = {}
    columns: list[str] = []
    for node in live_nodes(results):
        if node.op == INPUT:
            where, what = step.places[node.id]
            values[node.id] = _loaded(block, loop, where, what)
            if where in loop.inputs:
                columns.append(values[node.id])
    # columns that no result needs are checked for NaN as well, in the step that takes them
    for node in step.graph.nodes:
        if node.op == INPUT and node.id not in values and step.places[node.id][0] in loop.inputs:
            columns.append(_loaded(block, loop, *step.places[node.id]))
    angles = [
        values[node.a.id]
        for node in live_nodes(results)
        if node.op == COSINE and node.a is not None and node.a.op == INPUT
    ]
    registers = block.run(results, lambda node: values[node.id])
    enormous = registers[len(step.results) :]
    for place, register in zip(step.results, registers):
        where, what = place
        if where in loop.outputs:
            _scatter(block, where, what, register)
            enormous.append(register)
        else:
            block.do(
                f"store {block.double} {register}, ptr {block.offset(f'%{where}', loop.rows[what] * lanes)}, align 8"
            )
    watched = [*columns, *(block.overflowing(register) for register in enormous)]
    if watched or angles:
        _watch(block, watched, angles, lanes)
    parameters = ", ".join(f"ptr noalias %{a}, i64 %width_{a}, i64 %column_{a}" for a in arrays)
    body = "\n".join(block.lines)
    return (
        f"define internal void @{name}(ptr noalias %own, ptr noalias %up, ptr noalias %number, {parameters}, "
        f"ptr noalias %status) noinline {{\n{body}\n  ret void\n}}\n"
    )


def _loaded(block: Block, loop: SweepProgram, where: str, what: Any) -> str:
    if where in ("own", "up"):
        return block.let(
            f"load {block.double}, ptr {block.offset(f'%{where}', loop.rows[what] * block.lanes)}, align 8"
        )
    if where == "number":
        x = block.let(f"load double, ptr {block.offset('%number', what)}, align 8")
        return block.spread("double", x)
    return _gather(block, where, what)


def _element(block: Block, array: str, what: int, lane: int) -> str:
    """The address of a column's number in one lane: row `lane`, column `column + what`."""
    at = block.let(f"add i64 %column_{array}, {what}")
    if lane:
        row = block.let(f"mul i64 %width_{array}, {lane}")
        at = block.let(f"add i64 {at}, {row}")
    return block.let(f"getelementptr double, ptr %{array}, i64 {at}")


def _gather(block: Block, array: str, what: int) -> str:
    if block.lanes == 1:
        return block.let(f"load double, ptr {_element(block, array, what, 0)}, align 8")
    value = "poison"
    for lane in range(block.lanes):
        x = block.let(f"load double, ptr {_element(block, array, what, lane)}, align 8")
        value = block.let(f"insertelement {block.double} {value}, double {x}, i64 {lane}")
    return value


def _scatter(block: Block, array: str, what: int, register: str) -> None:
    for lane in range(block.lanes):
        x = block.let(f"extractelement {block.double} {register}, i64 {lane}") if block.lanes > 1 else register
        block.do(f"store double {x}, ptr {_element(block, array, what, lane)}, align 8")


def _watch(block: Block, watched: list[str], angles: list[str], lanes: int) -> None:
    """Writes the checks: in `status` a NaN where a number isn't finite, and behind it the largest angle."""
    finite = block.let(f"load {block.double}, ptr %status, align 8")
    for x in watched:
        finite = block.call("fma", x, block.constant(0.0), finite)
    block.do(f"store {block.double} {finite}, ptr %status, align 8")
    if angles:
        at = block.offset("%status", lanes)
        largest = block.let(f"load {block.double}, ptr {at}, align 8")
        for x in angles:
            largest = block.larger(block.call("fabs", x), largest)
        block.do(f"store {block.double} {largest}, ptr {at}, align 8")


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
    loop: SweepProgram, elements: Elements, widths: Sequence[int], cached: bool, level: int = native.SOUND
) -> Rolled | None:
    """The compiled loop, from the cache if it is there; with `cached`, None if it isn't."""
    lanes = native.native_lanes()
    code = objects.loaded_machine_code(
        f"rolled {lanes}", loop.identity, lambda: rolled_kernel_ir(loop, lanes, "rolled"), cached, level
    )
    return Rolled(code, loop, elements, widths, lanes) if code is not None else None
