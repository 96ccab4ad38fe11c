"""Programs as LLVM IR, with W samples side by side in vector lanes, or with one sample in scalars.

Arrays have a row for each sample.  W rows are loaded, transposed in the registers so that each column is one vector of
lanes, computed, transposed back and stored.  Kernels also check their numbers: they leave NaN in `status` where one
wasn't finite or a result was enormous, which the plain text then examines, and the size of the largest angle, which has
to be within reach of the reduction in `trigonometry.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ..program import trace
from ..program.trace import Node, Program, live
from . import trigonometry

# contraction to fused multiply-adds and no negative zeros, but no reordering: results don't depend on the compiler
FLAGS = "contract nsz"
ENORMOUS = 2.0**34  # size of results from which on the plain text has to examine them
_OVERFLOW = 2.0**990  # a factor by which enormous numbers overflow
_ARITHMETIC = {trace.ADD: "fadd", trace.SUBTRACT: "fsub", trace.MULTIPLY: "fmul", trace.DIVIDE: "fdiv"}


def hexadecimal(x: float) -> str:
    """A double as LLVM IR writes it, without rounding."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Block:
    """The lines of one basic block, on vectors of W doubles, or on doubles if W = 1."""

    def __init__(self, lanes: int):
        self.lanes, self.lines, self._count = lanes, [], 0  # type: ignore[var-annotated]
        wide = lanes > 1
        self.double = f"<{lanes} x double>" if wide else "double"
        self.integer = f"<{lanes} x i64>" if wide else "i64"
        self.bit = f"<{lanes} x i1>" if wide else "i1"
        self._suffix = f"v{lanes}f64" if wide else "f64"

    def let(self, text: str) -> str:
        """A new register with this value."""
        self._count += 1
        self.lines.append(f"  %r{self._count} = {text}")
        return f"%r{self._count}"

    def do(self, text: str) -> None:
        """Adds an instruction without a result."""
        self.lines.append(f"  {text}")

    def constant(self, x: float) -> str:
        """A constant double in each lane."""
        return f"splat (double {hexadecimal(x)})" if self.lanes > 1 else hexadecimal(x)

    def whole(self, k: int) -> str:
        """A constant integer in each lane."""
        return f"splat (i64 {k})" if self.lanes > 1 else str(k)

    def operation(self, name: str, a: str, b: str, flags: str = FLAGS) -> str:
        return self.let(f"{name} {flags} {self.double} {a}, {b}")

    def call(self, name: str, *arguments: str) -> str:
        listed = ", ".join(f"{self.double} {a}" for a in arguments)
        return self.let(f"call {self.double} @llvm.{name}.{self._suffix}({listed})")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.let(f"select {self.bit} {condition}, {self.double} {a}, {self.double} {b}")

    def declarations(self) -> str:
        d = self.double
        return (
            f"declare {d} @llvm.fma.{self._suffix}({d}, {d}, {d})\n"
            f"declare {d} @llvm.fabs.{self._suffix}({d})\ndeclare {d} @llvm.sqrt.{self._suffix}({d})\n"
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
        return self.select(up, self.constant(1.0), self.select(down, self.constant(-1.0), zero))

    def larger(self, a: str, b: str) -> str:
        return self.select(self.let(f"fcmp ogt {self.double} {a}, {b}"), a, b)

    # ---- a program's operations

    def run(self, results: Sequence[Node], value: Callable[[Node], str]) -> list[str]:
        """Registers of the results, computed from those that `value` gives for inputs."""
        at: dict[int, str] = {}
        circular: dict[str, tuple[str, str]] = {}
        for node in live(results):
            a = at[node.a.id] if node.a is not None else ""
            b = at[node.b.id] if node.b is not None else ""
            if node.op == trace.CONSTANT:
                at[node.id] = self.constant(node.value)
            elif node.op == trace.INPUT:
                at[node.id] = value(node)
            elif node.op in _ARITHMETIC:
                at[node.id] = self.operation(_ARITHMETIC[node.op], a, b)
            elif node.op == trace.NEGATE:
                at[node.id] = self.let(f"fneg {self.double} {a}")
            elif node.op in (trace.COSINE, trace.SINE):
                if a not in circular:
                    circular[a] = self.sine_cosine(a)
                at[node.id] = circular[a][node.op == trace.COSINE]
            elif node.op == trace.SIGN:
                at[node.id] = self.sign(a)
            else:
                at[node.id] = self.call("sqrt", a)
        return [at[node.id] for node in results]

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

    def store_columns(self, base: str, columns: list[str]) -> None:
        """Stores columns of lanes as W consecutive rows of memory."""
        W, width = self.lanes, len(columns)
        if W == 1:
            for k, column in enumerate(columns):
                self.do(f"store double {column}, ptr {self.offset(base, k)}, align 8")
            return
        if width < W:
            self._store_narrow(base, columns)
            return
        for first in _chunks(width, W):
            for lane, row in enumerate(self.transposed(columns[first : first + W])):
                self.do(f"store {self.double} {row}, ptr {self.offset(base, lane * width + first)}, align 8")

    def _store_narrow(self, base: str, columns: list[str]) -> None:
        """Stores rows shorter than W as one vector: columns are joined two by two, then shuffled."""
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


def _computed(block: Block, program: Program, bases: dict[str, str], finite: str, largest: str) -> tuple[str, str]:
    """Writes loads, operations and stores of one block of samples; returns the registers of the two checks."""
    values: dict[int, str] = {}
    for group, nodes in program.inputs.items():
        if nodes:
            values.update(zip((node.id for node in nodes), block.load_columns(bases[group], len(nodes))))
    results = program.results()
    angles = {node.a.id for node in live(results) if node.op in (trace.COSINE, trace.SINE)}  # type: ignore[union-attr]
    for number in sorted(angles & set(values)):
        largest = block.larger(block.call("fabs", values[number]), largest)
    registers = block.run(results, lambda node: values[node.id])
    enormous = [block.operation("fmul", value, block.constant(_OVERFLOW)) for value in registers]
    for value in (*values.values(), *enormous):  # x · 0 is NaN where x isn't finite
        finite = block.call("fma", value, block.constant(0.0), finite)
    taken = 0
    for group, nodes in program.outputs.items():
        if nodes:
            block.store_columns(bases[group], registers[taken : taken + len(nodes)])
        taken += len(nodes)
    return finite, largest


def kernel(program: Program, lanes: int, name: str) -> str:
    """IR of `void name(i64 count, ptr inputs, ptr outputs, ptr status)` for at least `lanes` rows.

    `inputs` and `outputs` point to the addresses of the groups' rows.  The last block ends with the last row: where
    the rows aren't a multiple of the lanes, it does some of them a second time.
    """
    block, widths, bases = Block(lanes), _widths(program), {}
    for group, width in widths.items():
        skip = block.let(f"mul i64 %row, {width}")
        bases[group] = block.let(f"getelementptr double, ptr %group.{group}, i64 {skip}")
    finite, largest = _computed(block, program, bases, "%finite", "%largest")
    zero = "zeroinitializer" if lanes > 1 else hexadecimal(0.0)
    body = "\n".join(block.lines)
    addresses = "\n".join(
        f"  %at.{group} = getelementptr ptr, ptr %{side}, i64 {k}\n  %group.{group} = load ptr, ptr %at.{group}"
        for side, groups in (("inputs", program.inputs), ("outputs", program.outputs))
        for k, group in enumerate(groups)
    )
    return f"""{block.declarations()}
define void @{name}(i64 %count, ptr %inputs, ptr %outputs, ptr %status) {{
entry:
  %end = sub i64 %count, {lanes}
{addresses}
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %finite = phi {block.double} [{zero}, %entry], [{finite}, %loop]
  %largest = phi {block.double} [{zero}, %entry], [{largest}, %loop]
  %whole = icmp slt i64 %k, %end
  %row = select i1 %whole, i64 %k, i64 %end
{body}
  %next = add i64 %k, {lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %last
last:
  store {block.double} {finite}, ptr %status, align 8
  %second = getelementptr double, ptr %status, i64 {lanes}
  store {block.double} {largest}, ptr %second, align 8
  ret void
}}
"""


def _widths(program: Program) -> dict[str, int]:
    return {group: len(nodes) for group, nodes in (*program.inputs.items(), *program.outputs.items())}


def single(program: Program, name: str) -> str:
    """IR of `void name(ptr groups, ptr results, ptr environment)` for one sample.

    `groups` points to the inputs' groups; outputs go to `results`, one behind the other, the two watches last.
    """
    block = Block(1)
    bases, at = {}, 0
    for k, group in enumerate(program.inputs):
        place = block.let(f"getelementptr ptr, ptr %groups, i64 {k}")
        bases[group] = block.let(f"load ptr, ptr {place}")
    for group, nodes in program.outputs.items():
        bases[group] = block.offset("%results", at)
        at += len(nodes)
    finite, largest = _computed(block, program, bases, hexadecimal(0.0), hexadecimal(0.0))
    for k, watch in enumerate((finite, largest)):
        block.do(f"store double {watch}, ptr {block.offset('%results', at + k)}, align 8")
    body = "\n".join(block.lines)
    arguments = "ptr %groups, ptr %results, ptr %environment"
    return f"{block.declarations()}\ndefine void @{name}({arguments}) {{\n{body}\n  ret void\n}}\n"
