"""Texts with loops as objects of machine code that serve all robots: lengths and tables come with a robot.

The object of a text is compiled once and kept on the disk; a robot's own tables are bound to it, which takes no
compiler.  Inputs and results are watched as those of all code for one sample are (`jit/llvm.py`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..backend import objects
from ..jit.block import OVERFLOW, hexadecimal_of_double
from ..jit.kernel import Single
from ..jit.llvm import APART
from .emit import A, Lines
from .translate import Translator
from .values import INTEGER, Eights, Fields, Integers, Rows, TextTable, Thing, Value

RESULTS = "results"  # the name of a length that all objects have: how many numbers the result has
WATCHES = """define internal double @finite(ptr %x, i64 %count, double %factor) {
entry:
  %one = insertelement <8 x double> poison, double %factor, i64 0
  %factors = shufflevector <8 x double> %one, <8 x double> poison, <8 x i32> zeroinitializer
  %end.one = insertelement <8 x i64> poison, i64 %count, i64 0
  %end = shufflevector <8 x i64> %end.one, <8 x i64> poison, <8 x i32> zeroinitializer
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %inside]
  %sum = phi <8 x double> [zeroinitializer, %entry], [%more, %inside]
  %places = phi <8 x i64> [<i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, %entry], [%following, %inside]
  %on = icmp slt i64 %k, %count
  br i1 %on, label %inside, label %after
inside:
  %mask = icmp slt <8 x i64> %places, %end
  %at = getelementptr double, ptr %x, i64 %k
  %eight = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %at, i32 8, <8 x i1> %mask, <8 x double> zeroinitializer)
  %scaled = fmul <8 x double> %eight, %factors
  %more = call <8 x double> @llvm.fma.v8f64(<8 x double> %scaled, <8 x double> zeroinitializer, <8 x double> %sum)
  %next = add i64 %k, 8
  %following = add <8 x i64> %places, splat (i64 8)
  br label %head
after:
  %whole = call double @llvm.vector.reduce.fadd.v8f64(double 0.0, <8 x double> %sum)
  ret double %whole
}
define internal double @largest(ptr %x, i64 %count) {
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %inside]
  %found = phi double [0.0, %entry], [%more, %inside]
  %on = icmp slt i64 %k, %count
  br i1 %on, label %inside, label %after
inside:
  %at = getelementptr double, ptr %x, i64 %k
  %number = load double, ptr %at, align 8
  %size = call double @llvm.fabs.f64(double %number)
  %above = fcmp ogt double %size, %found
  %more = select i1 %above, double %size, double %found
  %next = add i64 %k, 1
  br label %head
after:
  ret double %found
}
declare double @llvm.vector.reduce.fadd.v8f64(double, <8 x double>)
"""


@dataclass(frozen=True)
class LoopText:
    """A text `text(tables, *inputs, result)`, and what its arguments are.

    The caller's `inputs` are rows of so many numbers, and the `result` has rows of so many, by the names of `lengths`,
    which come with a robot. So do the `tables`, or they are room for what the text keeps.
    """

    name: str
    text: Callable[..., None]
    lengths: tuple[str, ...]
    inputs: Mapping[str, str]
    result: tuple[str, str]
    tables: Mapping[str, TextTable]
    watched: tuple[str, str] | None = None  # a table of one number a body that Python has to look at if it is enormous

    def ir(self) -> str:
        """The IR of the text, with `name(groups, results, environment)` and the same with its watches apart."""
        emit, (result, width) = Lines(), self.result
        lengths = {name: Value(INTEGER, f"%{name}") for name in self.lengths}
        given: dict[str, Thing] = dict(lengths)
        for name, table in self.tables.items():
            known = replace(table, length=lengths[table.length]) if isinstance(table, Rows) else table
            given[name] = replace(known, base=f"%{name}")
        callers = {**self.inputs, result: width}
        arrays = [Rows(lengths[one], callers=True, base=f"%{name}") for name, one in callers.items()]
        Translator(emit).text(self.text, [given, *arrays])
        numbers = [f"i64 %{name}" for name in self.lengths]
        pointers = [f"%{name}" for name in (*self.inputs, result, *self.tables)]
        return "\n".join(
            [
                emit.declarations(),
                WATCHES,
                f"define internal void @body({', '.join([*numbers, *(f'ptr noalias {x}' for x in pointers)])})",
                "noinline {",
                emit.body(),
                "  ret void\n}",
                self._entries(", ".join([*numbers, *(f"ptr {x}" for x in pointers)])),
            ]
        )

    def _entries(self, passed: str) -> str:
        def loaded(name: str, kind: str, base: str, place: int) -> str:
            return (
                f"  %at.{name} = getelementptr i64, ptr {base}, i64 {place}\n"
                f"  %{name} = load {kind}, ptr %at.{name}, align 8"
            )

        own = [loaded(RESULTS, "i64", "%environment", 0)]
        own += [loaded(name, "i64", "%environment", 1 + k) for k, name in enumerate(self.lengths)]
        own += [loaded(name, "ptr", "%environment", 1 + len(self.lengths) + k) for k, name in enumerate(self.tables)]
        own += [loaded(name, "ptr", "%groups", k) for k, name in enumerate(self.inputs)]
        result, (first, *_) = self.result[0], self.inputs
        watched = [f"  %finite.0 = call double @finite(ptr %{result}, i64 %{RESULTS}, double {_ENORMOUS})"]
        for k, (name, width) in enumerate(self.inputs.items()):
            watched.append(f"  %of.{name} = call double @finite(ptr %{name}, i64 %{width}, double {_ONE})")
            watched.append(f"  %finite.{k + 1} = fadd double %finite.{k}, %of.{name}")
        if self.watched is not None:
            table, width = self.watched
            watched.append(f"  %of.watched = call double @finite(ptr %{table}, i64 %{width}, double {_ENORMOUS})")
            watched.append(f"  %finite.all = fadd double %finite.{len(self.inputs)}, %of.watched")
        finite = f"%finite.{len(self.inputs)}" if self.watched is None else "%finite.all"
        last = "\n".join([*own, f"  %bytes = mul i64 %{RESULTS}, 8"])
        watches = "\n".join(watched)
        arguments = "ptr %groups, ptr %{0}, ptr %environment"
        return f"""define void @{self.name}{APART}({arguments.format(result)}, ptr %watches) {{
{last}
  call void @llvm.memset.p0.i64(ptr %{result}, i8 0, i64 %bytes, i1 false)
  call void @body({passed})
{watches}
  %largest = call double @largest(ptr %{first}, i64 %{self.inputs[first]})
  store double {finite}, ptr %watches, align 8
  %second = getelementptr double, ptr %watches, i64 1
  store double %largest, ptr %second, align 8
  ret void
}}
define void @{self.name}({arguments.format("results")}) {{
  %count = load i64, ptr %environment, align 8
  %watches = getelementptr double, ptr %results, i64 %count
  call void @{self.name}{APART}({arguments.format("results")}, ptr %watches)
  ret void
}}
"""

    @cached_property
    def _identity(self) -> tuple[str, ...]:
        """What the code depends on besides the package's own sources."""
        own = self.text.__module__.startswith(f"{__name__.partition('.')[0]}.")
        return self.name, "" if own else inspect.getsource(inspect.getmodule(self.text) or self.text)

    def bound(
        self, lengths: Mapping[str, int], tables: Mapping[str, np.ndarray], shape: tuple[int, ...], only: bool
    ) -> Single | None:
        """The text's machine code with these lengths and tables; with `only`, None if it has to be compiled.

        Numbers of bodies are arrays `(count, places)`. What isn't among the `tables` is room, as long as the longest.
        """
        code = objects.loaded_machine_code("loops", self._identity, self.ir, only, passes=("sroa",))
        if code is None:
            return None
        places = max(array.shape[-1] for array in tables.values()) // A * A + 2 * A
        kept = [_in_memory(table, tables.get(name), places, lengths) for name, table in self.tables.items()]
        words = [math.prod(shape), *(lengths[name] for name in self.lengths), *(one.ctypes.data for one in kept)]
        environment = np.array(words, dtype=np.int64)
        inputs = [lengths[width] for width in self.inputs.values()]
        return Single(code, self.name, inputs, [math.prod(shape)], environment, kept)


_ENORMOUS, _ONE = hexadecimal_of_double(OVERFLOW), hexadecimal_of_double(1.0)


def _in_memory(table: TextTable, given: np.ndarray | None, places: int, lengths: Mapping[str, int]) -> np.ndarray:
    """A table as the machine code has it, aligned and with room behind it."""
    if isinstance(table, Integers):
        assert given is not None
        return np.ascontiguousarray(given, dtype=np.int64)
    width = lengths[table.length] if isinstance(table, Rows) else places
    if isinstance(table, Eights):
        return _aligned(table.count * width * A)
    whole = np.zeros((table.count, width))
    if given is not None:
        whole[:, : given.shape[1]] = given
    eights = whole.reshape(table.count, places // A, A).transpose(1, 0, 2) if isinstance(table, Fields) else whole
    room = _aligned(whole.size)
    room[: whole.size] = eights.ravel()
    return room


def _aligned(count: int) -> np.ndarray:
    """Zeros that begin at a multiple of 64 bytes, with room for eight more behind them."""
    room = np.zeros(count + 3 * A)
    first = -(room.ctypes.data // 8) % A
    return room[first : first + count + A]
