"""Pieces of LLVM IR: the lines of a basic block on vectors of W doubles, one for each of W samples, or on doubles."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence

from ..backend.native import NUMBERS
from ..program.nodes import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    FLOOR,
    INPUT,
    MULTIPLY,
    NEGATE,
    SIGN,
    SINE,
    SUBTRACT,
    Node,
    live_nodes,
)
from . import trigonometry

# contraction to fused multiply-adds and no negative zeros, but no reordering: results don't depend on the compiler
FLAGS = "contract nsz"
OVERFLOW = 2.0**990  # a factor by which enormous numbers overflow
ENORMOUS = 2.0**34  # size of results from which on the plain text has to examine them
STACK = (
    48 * 1024
)  # bytes that one function of ours takes on the stack at most: threads may have little; more is malloc's
HEAP = "declare ptr @malloc(i64)\ndeclare void @free(ptr)\n"
CLEARED = 64  # zeros among results from which on all of them are set to 0 first
_ARITHMETIC = {ADD: "fadd", SUBTRACT: "fsub", MULTIPLY: "fmul", DIVIDE: "fdiv"}


def hexadecimal_of_double(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Block:
    """The lines of one basic block, on vectors of W doubles, or on doubles if W = 1."""

    def __init__(self, lanes: int, name: str = "r"):
        """`name` is how the names of its registers begin."""
        self.lanes, self.lines, self._name, self._count = lanes, [], name, 0  # type: ignore[var-annotated]
        wide = lanes > 1
        self.double = f"<{lanes} x double>" if wide else "double"
        self.integer = f"<{lanes} x i64>" if wide else "i64"
        self.bit = f"<{lanes} x i1>" if wide else "i1"
        self._suffix = f"v{lanes}f64" if wide else "f64"

    def let(self, text: str) -> str:
        """A new register with this value."""
        self._count += 1
        register = f"%{self._name}{self._count}"
        self.lines.append(f"  {register} = {text}")
        return register

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def constant(self, x: float) -> str:
        return f"splat (double {hexadecimal_of_double(x)})" if self.lanes > 1 else hexadecimal_of_double(x)

    def whole(self, k: int) -> str:
        return f"splat (i64 {k})" if self.lanes > 1 else str(k)

    def operation(self, name: str, a: str, b: str, flags: str = FLAGS) -> str:
        return self.let(f"{name} {flags} {self.double} {a}, {b}")

    def call(self, name: str, *arguments: str) -> str:
        listed = ", ".join(f"{self.double} {a}" for a in arguments)
        return self.let(f"call {self.double} @llvm.{name}.{self._suffix}({listed})")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.let(f"select {self.bit} {condition}, {self.double} {a}, {self.double} {b}")

    def number(self, k: int) -> str:
        """A register with number k of the code's own, in all lanes."""
        place = f"getelementptr (double, ptr @{NUMBERS}, i64 {k})"
        return self.spread("double", self.let(f"load double, ptr {place}, align 8, !invariant.load !0"))

    def spread(self, kind: str, x: str) -> str:
        """A register with this number in all lanes."""
        if self.lanes == 1:
            return x
        vector = f"<{self.lanes} x {kind}>"
        first = self.let(f"insertelement {vector} poison, {kind} {x}, i64 0")
        return self.let(f"shufflevector {vector} {first}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def opposite(self, condition: str) -> str:
        return self.let(f"xor {self.bit} {condition}, {'splat (i1 true)' if self.lanes > 1 else 'true'}")

    def declarations(self) -> str:
        d = self.double
        return (
            f"declare {d} @llvm.fma.{self._suffix}({d}, {d}, {d})\n"
            f"declare {d} @llvm.fabs.{self._suffix}({d})\ndeclare {d} @llvm.sqrt.{self._suffix}({d})\n"
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
        )

    # ---- functions of one scalar

    def sine_cosine(self, x: str) -> tuple[str, str]:
        """Registers of sin x and cos x, computed together and without branches; see `trigonometry.py`."""
        t = trigonometry
        rounded = self.call("fma", x, self.constant(t.TWO_OVER_PI), self.constant(t.ROUNDER))
        quadrant = self.let(f"bitcast {self.double} {rounded} to {self.integer}")
        k = self.let(f"fsub {self.double} {rounded}, {self.constant(t.ROUNDER)}")
        r = x
        for part in (t.P1, t.P2, t.P3):
            r = self.call("fma", k, self.constant(-part), r)
        square = self.let(f"fmul {self.double} {r}, {r}")
        s, c = self.constant(t.SINE[-1]), self.constant(t.COSINE[-1])
        for coefficient in reversed(t.SINE[:-1]):
            s = self.call("fma", s, square, self.constant(coefficient))
        for coefficient in reversed(t.COSINE[:-1]):
            c = self.call("fma", c, square, self.constant(coefficient))
        s = self.call("fma", self.let(f"fmul {self.double} {r}, {square}"), s, r)
        c = self.call("fma", square, c, self.constant(1.0))
        odd = self.let(f"and {self.integer} {quadrant}, {self.whole(1)}")
        swap = self.let(f"icmp ne {self.integer} {odd}, {self.whole(0)}")
        next_quadrant = self.let(f"add {self.integer} {quadrant}, {self.whole(1)}")
        return self._signed(self.select(swap, c, s), quadrant), self._signed(self.select(swap, s, c), next_quadrant)

    def _signed(self, x: str, quadrant: str) -> str:
        """The number x with its sign changed in the quadrants 2 and 3."""
        second = self.let(f"and {self.integer} {quadrant}, {self.whole(2)}")
        sign = self.let(f"shl {self.integer} {second}, {self.whole(62)}")
        bits = self.let(f"bitcast {self.double} {x} to {self.integer}")
        return self.let(f"bitcast {self.integer} {self.let(f'xor {self.integer} {bits}, {sign}')} to {self.double}")

    def sign(self, x: str) -> str:
        zero = self.constant(0.0)
        up, down = (self.let(f"fcmp {how} {self.double} {x}, {zero}") for how in ("ogt", "olt"))
        # what is neither is 0, or no number, and stays so
        return self.select(up, self.constant(1.0), self.select(down, self.constant(-1.0), x))

    def floor(self, x: str) -> str:
        """The largest whole number that isn't above x, for |x| below 2^51, as angles in turns are."""
        d, rounder = self.double, self.constant(trigonometry.ROUNDER)
        rounded = self.let(f"fadd {d} {x}, {rounder}")
        nearest = self.let(f"fsub {d} {rounded}, {rounder}")
        above = self.let(f"fcmp ogt {d} {nearest}, {x}")
        return self.let(f"fsub {d} {nearest}, {self.select(above, self.constant(1.0), self.constant(0.0))}")

    def larger(self, a: str, b: str) -> str:
        return self.select(self.let(f"fcmp ogt {self.double} {a}, {b}"), a, b)

    def watched(self, x: str, finite: str) -> str:
        """The watch after one more value: x · 0 is NaN where x isn't finite."""
        return self.call("fma", x, self.constant(0.0), finite)

    def overflowing(self, x: str) -> str:
        """A register that isn't finite if x is enormous."""
        return self.operation("fmul", x, self.constant(OVERFLOW))

    def blank(self, x: str) -> str:
        """0 where x is NaN, else NaN."""
        missing = self.let(f"fcmp uno {self.double} {x}, {self.constant(0.0)}")
        return self.select(missing, self.constant(0.0), self.constant(math.nan))

    # ---- a program's operations

    def run(self, results: Sequence[Node], value: Callable[[Node], str]) -> list[str]:
        """Registers of the results, computed from those that `value` gives for inputs."""
        nodes = live_nodes(results)
        at = {node.id: register for node, register in self.computed(nodes, value)}
        return [at[node.id] for node in results]

    def computed(self, nodes: Sequence[Node], value: Callable[[Node], str]) -> Iterator[tuple[Node, str]]:
        """Registers of these nodes, operands before results; `value` gives those of inputs and of other operands."""
        at: dict[int, str] = {}
        circular: dict[str, tuple[str, str]] = {}
        for node in nodes:
            for operand in (node.a, node.b):
                if operand is not None and operand.id not in at:  # as late as can be, so that registers suffice
                    constant = operand.op == CONSTANT
                    at[operand.id] = self.constant(operand.value) if constant else value(operand)
            a = at[node.a.id] if node.a is not None else ""
            b = at[node.b.id] if node.b is not None else ""
            if node.op == CONSTANT:
                at[node.id] = self.constant(node.value)
            elif node.op in _ARITHMETIC:
                at[node.id] = self.operation(_ARITHMETIC[node.op], a, b)
            elif node.op == NEGATE:
                at[node.id] = self.let(f"fneg {self.double} {a}")
            elif node.op in (COSINE, SINE):
                if a not in circular:
                    circular[a] = self.sine_cosine(a)
                at[node.id] = circular[a][node.op == COSINE]
            elif node.op == SIGN:
                at[node.id] = self.sign(a)
            elif node.op == FLOOR:
                at[node.id] = self.floor(a)
            elif node.op == INPUT:
                at[node.id] = value(node)
            else:
                at[node.id] = self.call("sqrt", a)
            yield node, at[node.id]

    # ---- rows of memory ↔ columns of lanes

    def load_columns(self, base: str, width: int) -> list[str]:
        """Registers of the columns of W consecutive rows of `width` doubles."""
        W = self.lanes
        if W == 1:
            return [self.let(f"load double, ptr {self.offset(base, k)}, align 8") for k in range(width)]
        if width < W:
            whole = f"<{W * width} x double>"
            rows = self.let(f"load {whole}, ptr {base}, align 8")
            picks = [", ".join(f"i32 {lane * width + k}" for lane in range(W)) for k in range(width)]
            return [self.let(f"shufflevector {whole} {rows}, {whole} poison, <{W} x i32> <{pick}>") for pick in picks]
        columns: dict[int, str] = {}
        for first in _chunks(width, W):
            rows_ = [
                self.let(f"load {self.double}, ptr {self.offset(base, lane * width + first)}, align 8")
                for lane in range(W)
            ]
            columns.update(zip(range(first, first + W), self.transposed(rows_)))
        return [columns[k] for k in range(width)]

    def cleared(self, base: str, columns: Sequence[str]) -> bool:
        """Set W consecutive rows to 0, if that is worth while for these columns; returns whether it was done."""
        if columns.count(self.constant(0.0)) < CLEARED:
            return False
        self.do(f"call void @llvm.memset.p0.i64(ptr {base}, i8 0, i64 {8 * self.lanes * len(columns)}, i1 false)")
        return True

    def store_columns(self, base: str, columns: list[str], pitch: int = 0, *, cleared: bool = False) -> None:
        """Store columns into rows that are `pitch` numbers apart, by default as many as there are columns.

        Where the rows have been `cleared`, zeros needn't be stored.
        """
        W, width, zero = self.lanes, len(columns), self.constant(0.0)
        pitch = pitch or width
        if W == 1:
            for k, column in enumerate(columns):
                if not (cleared and column == zero):
                    self.do(f"store double {column}, ptr {self.offset(base, k)}, align 8")
            return
        if width < W:
            assert pitch == width
            self._store_narrow(base, columns)
            return
        for first in _chunks(width, W):
            if cleared and columns[first : first + W].count(zero) == W:
                continue
            for lane, row in enumerate(self.transposed(columns[first : first + W])):
                self.do(f"store {self.double} {row}, ptr {self.offset(base, lane * pitch + first)}, align 8")

    def _store_narrow(self, base: str, columns: list[str]) -> None:
        """Store rows shorter than W as one vector: columns are joined two by two, then shuffled."""
        W, width = self.lanes, len(columns)
        joined, size = list(columns), W
        while len(joined) > 1:
            kind = f"<{size} x double>"
            pick = ", ".join(f"i32 {k}" for k in range(2 * size))
            pairs = [(joined[k], joined[k + 1] if k + 1 < len(joined) else "poison") for k in range(0, len(joined), 2)]
            joined = [self.let(f"shufflevector {kind} {a}, {kind} {b}, <{2 * size} x i32> <{pick}>") for a, b in pairs]
            size *= 2
        kind = f"<{size} x double>"
        pick = ", ".join(f"i32 {k * W + lane}" for lane in range(W) for k in range(width))
        rows = self.let(f"shufflevector {kind} {joined[0]}, {kind} poison, <{W * width} x i32> <{pick}>")
        self.do(f"store <{W * width} x double> {rows}, ptr {base}, align 8")

    def transposed(self, rows: list[str]) -> list[str]:
        """The transpose of W vectors of W lanes, by log2 W rounds of shuffles."""
        W, rows = self.lanes, list(rows)
        step = 1
        while step < W:
            low = ", ".join(f"i32 {j if not j & step else W + j - step}" for j in range(W))
            high = ", ".join(f"i32 {j + step if not j & step else W + j}" for j in range(W))
            for i in range(W):
                if not i & step:
                    a, b = rows[i], rows[i + step]
                    for place, pick in ((i, low), (i + step, high)):
                        rows[place] = self.let(
                            f"shufflevector {self.double} {a}, {self.double} {b}, <{W} x i32> <{pick}>"
                        )
            step *= 2
        return rows

    def offset(self, base: str, k: int) -> str:
        return self.let(f"getelementptr double, ptr {base}, i64 {k}") if k else base


def _chunks(width: int, W: int) -> list[int]:
    """First columns of chunks of W that cover the width; the last chunk may overlap the one before."""
    starts = list(range(0, width - W + 1, W))
    return starts if width % W == 0 else [*starts, width - W]
