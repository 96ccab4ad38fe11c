"""The lines of the compiled loop: arithmetic on lanes, rows of the control block, loops over a state's components."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..jit.block import Block


class Lane:
    """A register with the operations that scalars of `control.py` have."""

    def __init__(self, code: LaneCode, register: str):
        self._code, self.register = code, register

    def _of(self, x: Any) -> str:
        return x.register if isinstance(x, Lane) else x if isinstance(x, str) else self._code.number(x)

    def _made(self, register: str) -> Lane:
        return Lane(self._code, register)

    def __mul__(self, other: Any) -> Lane:
        return self._made(self._code.operation("fmul", self.register, self._of(other)))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Lane:
        return self._made(self._code.operation("fadd", self.register, self._of(other)))

    def __truediv__(self, other: Any) -> Lane:
        return self._made(self._code.operation("fdiv", self.register, self._of(other)))

    def square_root(self) -> Lane:
        return self._made(self._code.block.call("sqrt", self.register))

    def power(self, exponent: float) -> Lane:
        return self._made(self._code.power(self.register, exponent))

    def _select(self, condition: str, a: Any, b: Any) -> Lane:
        return self._made(self._code.select(condition, self._of(a), self._of(b)))

    def larger(self, other: Any) -> Lane:
        return self._select(self._code.compare("ogt", self.register, self._of(other)), self, other)

    def smaller(self, other: Any) -> Lane:
        return self._select(self._code.compare("olt", self.register, self._of(other)), self, other)

    def where(self, condition: str, other: Any) -> Lane:
        return self._select(condition, self, other)

    def where_zero(self, x: Lane, other: Any) -> Lane:
        return self._select(self._code.compare("oeq", x.register, self._code.number(0.0)), other, self)


class LaneCode:
    """The lines of the loop, on vectors of lanes."""

    def __init__(self, lanes: int, m: int):
        self.block, self.lanes, self.m, self._loops = Block(lanes), lanes, m, 0
        self.vector = self.block.double

    def line(self, text: str) -> None:
        self.block.lines.append(text)

    def let(self, text: str) -> str:
        return self.block.let(text)

    def number(self, x: float) -> str:
        return self.block.constant(x)

    def operation(self, name: str, a: str, b: str) -> str:
        return self.let(f"{name} {self.vector} {a}, {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self.let(f"fcmp {how} {self.vector} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.block.select(condition, a, b)

    def both(self, a: str, b: str) -> str:
        return self.let(f"and {self.block.bit} {a}, {b}")

    def opposite(self, a: str) -> str:
        return self.block.opposite(a)

    def power(self, x: str, exponent: float) -> str:
        kind = f"v{self.lanes}f64" if self.lanes > 1 else "f64"
        arguments = f"{self.vector} {x}, {self.vector} {self.number(exponent)}"
        return self.let(f"call {self.vector} @llvm.pow.{kind}({arguments})")

    def spacing(self, t: str) -> str:
        """Ten times the distance from t to the next larger double."""
        whole, kind = self.block.whole, self.block.integer
        bits = self.let(f"bitcast {self.vector} {t} to {kind}")
        negative = self.let(f"icmp slt {kind} {bits}, {whole(0)}")
        step = self.let(f"select {self.block.bit} {negative}, {kind} {whole(-1)}, {kind} {whole(1)}")
        after = self.let(f"bitcast {kind} {self.let(f'add {kind} {bits}, {step}')} to {self.vector}")
        return self.operation("fmul", self.operation("fsub", after, t), self.number(10.0))

    # ---- rows of the control block

    def row(self, k: int) -> str:
        return self.let(f"load {self.vector}, ptr {self.block.offset('%control', k * self.lanes)}, align 8")

    def put(self, k: int, value: str) -> None:
        self.line(f"  store {self.vector} {value}, ptr {self.block.offset('%control', k * self.lanes)}, align 8")

    # ---- states: loops over components

    @contextmanager
    def each(self, count: int) -> Iterator[str]:
        """A context whose lines are the body of a loop over components, with the register of a component's offset."""
        self._loops += 1
        n = self._loops
        self.line(f"  br label %before{n}\nbefore{n}:\n  br label %each{n}\neach{n}:")
        self.line(f"  %i{n} = phi i64 [0, %before{n}], [%next{n}, %each{n}]")
        yield self.let(f"mul i64 %i{n}, {self.lanes}")
        self.line(f"  %next{n} = add i64 %i{n}, 1\n  %rest{n} = icmp slt i64 %next{n}, {count}")
        self.line(f"  br i1 %rest{n}, label %each{n}, label %after{n}\nafter{n}:")

    def _at(self, name: str, i: str) -> str:
        return self.let(f"getelementptr double, ptr %{name}, i64 {i}")

    def get(self, name: str, i: str) -> str:
        return self.let(f"load {self.vector}, ptr {self._at(name, i)}, align 8")

    def set(self, name: str, i: str, value: str) -> None:
        self.line(f"  store {self.vector} {value}, ptr {self._at(name, i)}, align 8")

    def rate(self, state: str, target: str, t: str) -> None:
        """Write the evaluation of the program at the instants t, with the signals that hold there."""
        self.line(f"  store {self.vector} {t}, ptr %clock")
        self.line("  call void @signals(ptr %table, ptr %u, ptr %clock)")
        self.line(f"  call void @rate(ptr %control, ptr %u, ptr %{state}, ptr %{target})")

    def normalise(self, first: int, where: str) -> None:
        """Write the division of four components of y by their norm, in the lanes `where`."""
        places = [str((first + r) * self.lanes) for r in range(4)]
        parts = [self.get("y", place) for place in places]
        total = self.operation("fmul", parts[0], parts[0])
        for part in parts[1:]:
            total = self.operation("fadd", total, self.operation("fmul", part, part))
        norm = self.block.call("sqrt", total)
        for place, part in zip(places, parts):
            self.set("y", place, self.select(where, self.operation("fdiv", part, norm), part))
