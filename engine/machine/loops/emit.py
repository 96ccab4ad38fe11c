"""Lines of LLVM IR for the operations of a text with loops.

Loops across take eight places at a time, also where the processor's registers hold fewer numbers. The last pass goes
beyond the end: tables of ours have room for that, and what is the caller's is read and written under a mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ..jit.block import FLAGS, Block, hexadecimal_of_double
from .values import (
    BIT,
    COMPARISONS,
    EIGHT,
    FIRST,
    FLOAT,
    INTEGER,
    MASK,
    PLACES,
    Eights,
    Numbers,
    Operand,
    Output,
    Registers,
    Rows,
    Stack,
    Stored,
    Thing,
    Value,
    Variable,
    kind_of,
)

A = 8  # numbers side by side in loops across
TYPES = {FLOAT: "double", INTEGER: "i64", FIRST: "i64", BIT: "i1"}
ONE = {EIGHT: "double", MASK: "i1", PLACES: "i64"}  # of what is side by side
FLOATING = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
WHOLE = {"add": "add", "subtract": "sub", "multiply": "mul"}
SIGNED = {name: name if name in ("eq", "ne") else f"s{name}" for name in COMPARISONS}
EIGHTS, BITS, WIDE = f"<{A} x i64>", f"<{A} x i1>", f"<{A} x double>"
MASKED = (
    f"declare {WIDE} @llvm.masked.load.v{A}f64.p0(ptr, i32, {BITS}, {WIDE})",
    f"declare void @llvm.masked.store.v{A}f64.p0({WIDE}, ptr, i32, {BITS})",
    "declare i64 @llvm.smin.i64(i64, i64)",
)


OUTSIDE = "ptr %control, ptr %u, ptr %table, ptr %system"  # what functions from outside take first


class Pass(NamedTuple):
    """A pass of a loop across: its first place, the loop's end, and which of the eight places are before that."""

    first: Value
    end: Operand
    mask: str


class Lines:
    """An emitter of IR; `lines` are those of the function's body, `entry` what stands before them.

    Side by side are eight bodies, or the runs of so many lanes; with one lane, that is no vector.
    """

    def __init__(self, lanes: int = A) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.lanes = lanes
        self.types = TYPES | {kind: f"<{lanes} x {one}>" if lanes > 1 else one for kind, one in ONE.items()}
        self._blocks = {FLOAT: Block(1, "s"), EIGHT: Block(lanes, "v")}
        for block in self._blocks.values():
            block.lines = self.lines
        self._count, self._here = 0, "entry"  # of names; the label of the block that is being written
        self._pass: Pass | None = None

    def declarations(self) -> str:
        """The functions that the lines call."""
        blocks = [*self._blocks.values(), Block(A)]
        lines = [one for block in blocks for one in block.declarations().splitlines()]
        lines += [f"declare {t} @llvm.pow.{x}({t}, {t})" for t, x in ((self.types[EIGHT], self._suffix(EIGHT)),)]
        return "\n".join(dict.fromkeys([*lines, *MASKED]))

    def body(self) -> str:
        """The lines of the function but for its return."""
        return "\n".join(["entry:", *self.entry, *self.lines])

    # ---- numbers

    def _let(self, kind: str, text: str) -> Value:
        self._count += 1
        self.lines.append(f"  %x{self._count} = {text}")
        return Value(kind, f"%x{self._count}")

    def _text(self, x: Operand, kind: str) -> str:
        """An operand of this kind, to which a narrower one is widened."""
        one = ONE.get(kind)
        if not isinstance(x, Value):
            word = hexadecimal_of_double(float(x)) if kind in (FLOAT, EIGHT) else str(int(x))
            return f"splat ({one} {word})" if one and self.lanes > 1 else word
        if x.kind == kind:
            return x.register
        if kind == FLOAT and x.kind == INTEGER:
            return self._let(FLOAT, f"sitofp i64 {x.register} to double").register
        if kind == EIGHT and x.kind == PLACES:
            return self._let(EIGHT, f"sitofp {self.types[PLACES]} {x.register} to {self.types[EIGHT]}").register
        if one:
            return self._spread(one, self._text(x, FLOAT) if kind == EIGHT else x.register)
        return x.register

    def _spread(self, one: str, x: str) -> str:
        """The same number side by side."""
        if self.lanes == 1:
            return x
        whole = f"<{self.lanes} x {one}>"
        first = self._let(EIGHT, f"insertelement {whole} poison, {one} {x}, i64 0").register
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self._let(EIGHT, f"shufflevector {whole} {first}, {whole} poison, {zeros}").register

    def operation(self, name: str, a: Operand, b: Operand, kind: str) -> Value:
        word = f"{FLOATING[name]} {FLAGS}" if kind in (FLOAT, EIGHT) else WHOLE.get(name, name)
        x, y = self._text(a, kind), self._text(b, kind)
        return self._let(kind, f"{word} {self.types[kind]} {x}, {y}")

    def compare(self, name: str, a: Operand, b: Operand, kind: str) -> Value:
        floating = kind in (FLOAT, EIGHT)
        word = f"fcmp {'u' if name == 'ne' else 'o'}{name}" if floating else f"icmp {SIGNED[name]}"
        x, y = self._text(a, kind), self._text(b, kind)
        return self._let(MASK if kind in ONE else BIT, f"{word} {self.types[kind]} {x}, {y}")

    def select(self, test: Value, a: Operand, b: Operand, kind: str) -> Value:
        """The first where the test holds, else the second."""
        x, y, bit = self._text(a, kind), self._text(b, kind), f"{self.types[test.kind]} {test.register}"
        return self._let(kind, f"select {bit}, {self.types[kind]} {x}, {self.types[kind]} {y}")

    def opposite(self, x: Value) -> Value:
        return self._let(x.kind, f"xor {self.types[x.kind]} {x.register}, {self._text(True, x.kind)}")

    def some(self, x: Value) -> Value:
        """Whether it holds in any lane."""
        if self.lanes == 1:
            return Value(BIT, x.register)
        bits = self._let(BIT, f"bitcast {self.types[MASK]} {x.register} to i{self.lanes}").register
        return self._let(BIT, f"icmp ne i{self.lanes} {bits}, 0")

    def _suffix(self, kind: str) -> str:
        return f"v{self.lanes}f64" if kind == EIGHT and self.lanes > 1 else "f64"

    def function(self, name: str, *values: Operand) -> Value:
        """A function of LLVM's."""
        kind = EIGHT if EIGHT in map(kind_of, values) else FLOAT
        given = ", ".join(f"{self.types[kind]} {self._text(x, kind)}" for x in values)
        return self._let(kind, f"call {self.types[kind]} @llvm.{name}.{self._suffix(kind)}({given})")

    def next_up(self, x: Operand) -> Value:
        """The next larger double."""
        number, places = self.types[EIGHT], self.types[PLACES]
        bits = self._let(PLACES, f"bitcast {number} {self._text(x, EIGHT)} to {places}")
        one = self.select(self.compare("lt", x, 0.0, EIGHT), -1, 1, PLACES)
        more = self.operation("add", bits, one, PLACES)
        return self._let(EIGHT, f"bitcast {places} {more.register} to {number}")

    def whole(self, x: Operand) -> Value:
        """A number without fraction, as a place."""
        return self._let(PLACES, f"fptosi {self.types[EIGHT]} {self._text(x, EIGHT)} to {self.types[PLACES]}")

    def cosine_sine(self, x: Value) -> tuple[Value, Value]:
        sine, cosine = self._blocks[x.kind].sine_cosine(x.register)
        return Value(x.kind, cosine), Value(x.kind, sine)

    def sign(self, x: Value) -> Value:
        return Value(x.kind, self._blocks[x.kind].sign(x.register))

    # ---- whole vectors, and what each run has of its own

    def vector(self, n: Operand) -> Stored:
        """Memory for a vector."""
        self._count += 1
        name, count = f"%vector{self._count}", f"%count{self._count}"
        self.entry.append(f"  {count} = mul i64 {n.register if isinstance(n, Value) else n}, {self.lanes}")
        self.entry.append(f"  {name} = alloca double, i64 {count}, align 64")
        return Stored(n, name)

    def row(self, table: Stack, k: Operand) -> Stored:
        """A vector of a table."""
        if k == 0:
            return Stored(table.n, table.base)
        return Stored(table.n, self._address(table.base, self._product(self._product(k, table.n), self.lanes)))

    def _component(self, vector: Stored, i: Operand) -> str:
        return self._address(vector.base, self._product(self._sum(vector.first, i), self.lanes))

    def component(self, vector: Stored, i: Operand) -> Value:
        return self._let(EIGHT, f"load {self.types[EIGHT]}, ptr {self._component(vector, i)}, align 8")

    def put_component(self, vector: Stored, i: Operand, x: Operand) -> None:
        text = self._text(x, EIGHT)
        self.lines.append(f"  store {self.types[EIGHT]} {text}, ptr {self._component(vector, i)}, align 8")

    def taken(self, vector: Stored, places: Value) -> Value:
        """Each run's own component."""
        found, kind = "poison", self.types[EIGHT]
        for k in range(self.lanes):
            own = Value(INTEGER, self._of_lane(places, k))
            at = self._address(self._component(vector, own), k)
            x = self._let(FLOAT, f"load double, ptr {at}, align 8").register
            if self.lanes == 1:
                return Value(EIGHT, x)
            found = self._let(EIGHT, f"insertelement {kind} {found}, double {x}, i64 {k}").register
        return Value(EIGHT, found)

    def _of_lane(self, x: Value, k: int) -> str:
        if self.lanes == 1:
            return x.register
        return self._let(x.kind, f"extractelement {self.types[x.kind]} {x.register}, i64 {k}").register

    def single(self, base: str, at: Operand) -> Value:
        """A number that is the same for all runs, or each run's own one of a row of these."""
        if kind_of(at) == INTEGER:
            return self._let(FLOAT, f"load double, ptr {self._address(base, at)}, align 8")
        assert isinstance(at, Value)
        found, kind = "poison", self.types[EIGHT]
        for k in range(self.lanes):
            place = self._address(base, Value(INTEGER, self._of_lane(at, k)))
            x = self._let(FLOAT, f"load double, ptr {place}, align 8").register
            if self.lanes == 1:
                return Value(EIGHT, x)
            found = self._let(EIGHT, f"insertelement {kind} {found}, double {x}, i64 {k}").register
        return Value(EIGHT, found)

    def put_row(self, out: Output, row: Operand, here: Value, y: Stored) -> None:
        """The numbers of each lane go to its own row, where they are to."""
        places = self.whole(row)

        def own(k: int) -> None:
            skip = self._sum(self._product(k, out.count), Value(INTEGER, self._of_lane(places, k)))
            target = self._address(out.base, self._product(skip, out.n))

            def copy(i: Value) -> None:
                first = self._product(self._sum(y.first, i), self.lanes)
                x = self._let(FLOAT, f"load double, ptr {self._address(y.base, self._sum(first, k))}, align 8")
                self.lines.append(f"  store double {x.register}, ptr {self._address(target, i)}, align 8")

            self.rolled(0, out.n, copy)

        for k in range(self.lanes):
            self.branch(Value(BIT, self._of_lane(here, k)), partial(own, k))

    def call(self, name: str, arguments: Sequence[Thing]) -> None:
        """A function of numbers side by side and of vectors, behind what all functions from outside take."""
        given = [
            f"ptr {self._component(x, 0)}" if isinstance(x, Stored) else f"{self.types[EIGHT]} {self._text(x, EIGHT)}"
            for x in arguments
        ]
        self.lines.append(f"  call void @{name}({', '.join([OUTSIDE, *given])})")

    # ---- memory

    def variable(self, kind: str) -> Variable:
        self._count += 1
        self.entry.append(f"  %place{self._count} = alloca {self.types[kind]}")
        return Variable(kind, f"%place{self._count}")

    def get(self, variable: Variable) -> Value:
        return self._let(variable.kind, f"load {self.types[variable.kind]}, ptr {variable.place}")

    def set(self, variable: Variable, x: Operand) -> None:
        kind = variable.kind
        self.lines.append(f"  store {self.types[kind]} {self._text(x, kind)}, ptr {variable.place}")

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
        kind = self.types[EIGHT]
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
            given = f"{self.types[EIGHT]} {text}, ptr {place}, i32 8, {BITS} {self._mask()}"
            self.lines.append(f"  call void @llvm.masked.store.v{A}f64.p0({given})")
        else:
            align = 64 if kind == EIGHT and not isinstance(table, Rows) else 8
            self.lines.append(f"  store {self.types[kind]} {text}, ptr {place}, align {align}")

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
            number = self._let(FLOAT, f"extractelement {self.types[EIGHT]} {text}, i64 {k}").register
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
