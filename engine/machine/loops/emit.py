"""Lines of LLVM IR for the operations of a text with loops.

Loops across take eight places at a time, also where the processor's registers hold fewer numbers. The last pass goes
beyond the end: tables of ours have room for that, and what is the caller's is read and written under a mask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..jit.block import FLAGS, Block, hexadecimal_of_double
from .translate import COMPARISONS
from .values import (
    BIT,
    EIGHT,
    FIRST,
    FLOAT,
    INTEGER,
    Eights,
    Numbers,
    Operand,
    Registers,
    Rows,
    Value,
    Variable,
    kind_of,
)

A = 8  # numbers side by side
TYPES = {FLOAT: "double", EIGHT: f"<{A} x double>", INTEGER: "i64", FIRST: "i64", BIT: "i1"}
FLOATING = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
WHOLE = {"add": "add", "subtract": "sub", "multiply": "mul"}
SIGNED = {name: name if name in ("eq", "ne") else f"s{name}" for name in COMPARISONS.values()}
EIGHTS, BITS = f"<{A} x i64>", f"<{A} x i1>"
MASKED = (
    f"declare {TYPES[EIGHT]} @llvm.masked.load.v{A}f64.p0(ptr, i32, {BITS}, {TYPES[EIGHT]})",
    f"declare void @llvm.masked.store.v{A}f64.p0({TYPES[EIGHT]}, ptr, i32, {BITS})",
    "declare i64 @llvm.smin.i64(i64, i64)",
)


class Pass(NamedTuple):
    """A pass of a loop across: its first place, the loop's end, and which of the eight places are before that."""

    first: Value
    end: Operand
    mask: str


class Lines:
    """An emitter of IR; `lines` are those of the function's body, `entry` what stands before them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self._blocks = {FLOAT: Block(1, "s"), EIGHT: Block(A, "v")}
        for block in self._blocks.values():
            block.lines = self.lines
        self._count, self._here = 0, "entry"  # of names; the label of the block that is being written
        self._pass: Pass | None = None

    def declarations(self) -> str:
        """The functions that the lines call."""
        lines = [one for block in self._blocks.values() for one in block.declarations().splitlines()]
        return "\n".join(dict.fromkeys([*lines, *MASKED]))

    def body(self) -> str:
        return "\n".join(["entry:", *self.entry, *self.lines, "  ret void"])

    # ---- numbers

    def _let(self, kind: str, text: str) -> Value:
        self._count += 1
        self.lines.append(f"  %x{self._count} = {text}")
        return Value(kind, f"%x{self._count}")

    def _text(self, x: Operand, kind: str) -> str:
        """An operand of this kind, to which a narrower one is widened."""
        if not isinstance(x, Value):
            number = hexadecimal_of_double(float(x))
            return {FLOAT: number, EIGHT: f"splat (double {number})"}.get(kind) or str(int(x))
        if kind == FLOAT and x.kind == INTEGER:
            return self._let(FLOAT, f"sitofp i64 {x.register} to double").register
        if kind == EIGHT and x.kind != EIGHT:
            return self._spread("double", self._text(x, FLOAT))
        return x.register

    def _spread(self, one: str, x: str) -> str:
        """Eight times the same number."""
        first = self._let(EIGHT, f"insertelement <{A} x {one}> poison, {one} {x}, i64 0").register
        zeros = f"<{A} x i32> zeroinitializer"
        return self._let(EIGHT, f"shufflevector <{A} x {one}> {first}, <{A} x {one}> poison, {zeros}").register

    def operation(self, name: str, a: Operand, b: Operand, kind: str) -> Value:
        word = f"{FLOATING[name]} {FLAGS}" if kind in (FLOAT, EIGHT) else WHOLE[name]
        x, y = self._text(a, kind), self._text(b, kind)
        return self._let(kind, f"{word} {TYPES[kind]} {x}, {y}")

    def compare(self, name: str, a: Operand, b: Operand, kind: str) -> Value:
        word = f"icmp {SIGNED[name]}" if kind in (INTEGER, FIRST) else f"fcmp {'u' if name == 'ne' else 'o'}{name}"
        x, y = self._text(a, kind), self._text(b, kind)
        return self._let(BIT, f"{word} {TYPES[kind]} {x}, {y}")

    def cosine_sine(self, x: Value) -> tuple[Value, Value]:
        sine, cosine = self._blocks[x.kind].sine_cosine(x.register)
        return Value(x.kind, cosine), Value(x.kind, sine)

    def sign(self, x: Value) -> Value:
        return Value(x.kind, self._blocks[x.kind].sign(x.register))

    # ---- memory

    def variable(self, kind: str) -> Variable:
        self._count += 1
        self.entry.append(f"  %place{self._count} = alloca {TYPES[kind]}")
        return Variable(kind, f"%place{self._count}")

    def get(self, variable: Variable) -> Value:
        return self._let(variable.kind, f"load {TYPES[variable.kind]}, ptr {variable.place}")

    def set(self, variable: Variable, x: Operand) -> None:
        kind = variable.kind
        self.lines.append(f"  store {TYPES[kind]} {self._text(x, kind)}, ptr {variable.place}")

    def registers(self, count: int) -> Registers:
        found = Registers(tuple(self.variable(EIGHT if self._pass is not None else FLOAT) for _ in range(count)))
        for one in found.variables:
            self.set(one, 0.0)
        return found

    def integer(self, base: str, at: Operand) -> Value:
        place = self._let(INTEGER, f"getelementptr i64, ptr {base}, i64 {self._text(at, INTEGER)}")
        return self._let(INTEGER, f"load i64, ptr {place.register}, align 8")

    def _address(self, base: str, at: Operand) -> str:
        return self._let(INTEGER, f"getelementptr double, ptr {base}, i64 {self._text(at, INTEGER)}").register

    def _sum(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Value) or isinstance(b, Value):
            return b if a == 0 else a if b == 0 else self.operation("add", a, b, INTEGER)
        return a + b

    def _product(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Value) or isinstance(b, Value):
            return b if a == 1 else a if b == 1 else self.operation("multiply", a, b, INTEGER)
        return a * b

    def _place(self, table: Numbers, k: Operand, at: Operand) -> str:
        """The address of number k of a body, or of eight bodies from one on."""
        if isinstance(table, Rows):
            return self._address(table.base, self._sum(self._product(k, table.length), at))
        if isinstance(table, Eights):
            return self._address(table.base, self._product(A, self._sum(self._product(at, table.count), k)))
        first: Operand
        if isinstance(at, Value) and at.kind == INTEGER:
            whole, rest = (self._let(INTEGER, f"and i64 {at.register}, {bits}") for bits in (-A, A - 1))
            first = self._sum(self._product(whole, table.count), rest)
        elif isinstance(at, Value):  # a multiple of eight
            first = self._product(at, table.count)
        else:
            first = (int(at) & -A) * table.count + (int(at) & A - 1)
        return self._address(table.base, self._sum(first, self._product(A, k)))

    def number(self, table: Numbers, k: Operand, at: Operand) -> Value:
        place = self._place(table, k, at)
        if kind_of(at) != FIRST and not isinstance(table, Eights):
            return self._let(FLOAT, f"load double, ptr {place}, align 8")
        kind = TYPES[EIGHT]
        if isinstance(table, Rows) and table.callers:
            given = f"ptr {place}, i32 8, {BITS} {self._mask()}, {kind} zeroinitializer"
            return self._let(EIGHT, f"call {kind} @llvm.masked.load.v{A}f64.p0({given})")
        return self._let(EIGHT, f"load {kind}, ptr {place}, align {8 if isinstance(table, Rows) else 64}")

    def _mask(self) -> str:
        assert self._pass is not None
        return self._pass.mask

    def put(self, table: Numbers, k: Operand, at: Operand, x: Operand) -> None:
        if kind_of(k) == FIRST:
            self._put_column(table, at, x)
            return
        eight = kind_of(at) == FIRST or isinstance(table, Eights)
        place, kind = self._place(table, k, at), EIGHT if eight else FLOAT
        text = self._text(x, kind)
        if kind == EIGHT and isinstance(table, Rows) and table.callers:
            given = f"{TYPES[EIGHT]} {text}, ptr {place}, i32 8, {BITS} {self._mask()}"
            self.lines.append(f"  call void @llvm.masked.store.v{A}f64.p0({given})")
        else:
            align = 64 if kind == EIGHT and not isinstance(table, Rows) else 8
            self.lines.append(f"  store {TYPES[kind]} {text}, ptr {place}, align {align}")

    def _put_column(self, table: Numbers, at: Operand, x: Operand) -> None:
        """Eight rows' numbers in one column; what lies past the end goes to the last row, before its own number."""
        assert isinstance(table, Rows)
        assert self._pass is not None
        first, end, _ = self._pass
        text, last = self._text(x, EIGHT), self._text(self._sum(end, -1), INTEGER)
        for k in reversed(range(A)):
            row = self._let(INTEGER, f"add i64 {first.register}, {k}").register
            row = self._let(INTEGER, f"call i64 @llvm.smin.i64(i64 {row}, i64 {last})").register
            place = self._address(table.base, self._sum(self._product(Value(INTEGER, row), table.length), at))
            number = self._let(FLOAT, f"extractelement {TYPES[EIGHT]} {text}, i64 {k}").register
            self.lines.append(f"  store double {number}, ptr {place}, align 8")

    # ---- control

    def _label(self, what: str) -> str:
        self._count += 1
        return f"{what}{self._count}"

    def _begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self._here = label

    def branch(self, test: Value, body: Callable[[], None]) -> None:
        then, after = self._label("then"), self._label("after")
        self.lines.append(f"  br i1 {test.register}, label %{then}, label %{after}")
        self._begin(then)
        body()
        self.lines.append(f"  br label %{after}")
        self._begin(after)

    def loop(self, test: Callable[[], Value], body: Callable[[], None]) -> None:
        head, inside, after = self._label("head"), self._label("inside"), self._label("after")
        self.lines.append(f"  br label %{head}")
        self._begin(head)
        self.lines.append(f"  br i1 {test().register}, label %{inside}, label %{after}")
        self._begin(inside)
        body()
        self.lines.append(f"  br label %{head}")
        self._begin(after)

    def rolled(self, first: Operand, end: Operand, body: Callable[[Value], None]) -> None:
        self._counted(first, end, 1, INTEGER, body)

    def across(self, first: Operand, end: Operand, body: Callable[[Value], None]) -> None:
        before = self._pass

        def once(at: Value) -> None:
            steps = ", ".join(f"i64 {k}" for k in range(A))
            places = self._let(EIGHT, f"add {EIGHTS} {self._spread('i64', at.register)}, <{steps}>").register
            ends = self._spread("i64", self._text(end, INTEGER))
            self._pass = Pass(at, end, self._let(BIT, f"icmp slt {EIGHTS} {places}, {ends}").register)
            body(at)

        self._counted(first, end, A, FIRST, once)
        self._pass = before

    def _counted(self, first: Operand, end: Operand, by: int, kind: str, body: Callable[[Value], None]) -> None:
        head, inside, after = self._label("head"), self._label("inside"), self._label("after")
        start, bound, before = self._text(first, INTEGER), self._text(end, INTEGER), self._here
        self._count += 1
        here, following = f"%i{self._count}", f"%next{self._count}"
        self.lines.append(f"  br label %{head}")
        self._begin(head)
        phi = len(self.lines)
        self.lines.append("")
        more = self._let(BIT, f"icmp slt i64 {here}, {bound}")
        self.lines.append(f"  br i1 {more.register}, label %{inside}, label %{after}")
        self._begin(inside)
        body(Value(kind, here))
        self.lines.append(f"  {following} = add i64 {here}, {by}")
        self.lines.append(f"  br label %{head}")
        self.lines[phi] = f"  {here} = phi i64 [{start}, %{before}], [{following}, %{self._here}]"
        self._begin(after)
