"""Gaussian elimination with row pivoting in LLVM IR, for real and for complex matrices, from one text.

A matrix has n rows of n numbers, one behind the other, a complex number being two doubles.  Its factors take its place,
with the reciprocals of the pivots on the diagonal; `pivots` gets the row that was exchanged with each one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..jit.block import Block, hexadecimal_of_double
from ..jit.flow import ir_loop, ir_when

Number = tuple[str, ...]  # the registers of the parts of a number


def elimination_ir(n: int, kinds: Sequence[int] = (1, 2)) -> str:
    """The IR of `factor.1`, `solve.1` for real numbers and `factor.2`, `solve.2` for complex ones, of these kinds."""
    return "".join(_factor(n, parts) + _solve(n, parts) for parts in kinds)


class _Matrix:
    """Lines on matrices and columns of numbers with this number of parts."""

    def __init__(self, n: int, parts: int):
        self.block, self.n, self.parts = Block(1), n, parts
        self.block.lines.append("entry:")

    def place(self, row: str, column: str) -> str:
        return self.sum(self.block.let(f"mul i64 {row}, {self.n}"), column)

    def sum(self, a: str, b: str) -> str:
        return self.block.let(f"add i64 {a}, {b}")

    def get(self, base: str, place: str) -> Number:
        return tuple(self.block.let(f"load double, ptr {at}, align 8") for at in self._at(base, place))

    def put(self, base: str, place: str, number: Number) -> None:
        for at, x in zip(self._at(base, place), number):
            self.block.do(f"store double {x}, ptr {at}, align 8")

    def _at(self, base: str, place: str) -> list[str]:
        let = self.block.let
        first = let(f"getelementptr double, ptr {base}, i64 {let(f'mul i64 {place}, {self.parts}')}")
        return [first, let(f"getelementptr double, ptr {first}, i64 1")][: self.parts]

    def op(self, name: str, a: str, b: str) -> str:
        return self.block.let(f"{name} double {a}, {b}")

    def less(self, total: Number, a: Number, b: Number) -> Number:
        """The number total − a b."""
        fma, minus = self.block.call, [self.block.let(f"fneg double {x}") for x in a]
        if self.parts == 1:
            return (fma("fma", minus[0], b[0], total[0]),)
        real = fma("fma", a[1], b[1], fma("fma", minus[0], b[0], total[0]))
        return real, fma("fma", minus[1], b[0], fma("fma", minus[0], b[1], total[1]))

    def times(self, a: Number, b: Number) -> Number:
        zero = hexadecimal_of_double(0.0)
        return self.less((zero,) * self.parts, tuple(self.block.let(f"fneg double {x}") for x in a), b)

    def reciprocal(self, a: Number) -> Number:
        if self.parts == 1:
            return (self.op("fdiv", hexadecimal_of_double(1.0), a[0]),)
        square = self.op("fadd", self.op("fmul", a[0], a[0]), self.op("fmul", a[1], a[1]))
        return self.op("fdiv", a[0], square), self.op("fdiv", self.block.let(f"fneg double {a[1]}"), square)

    def size(self, a: Number) -> str:
        sizes = [self.block.call("fabs", x) for x in a]
        return sizes[0] if self.parts == 1 else self.op("fadd", *sizes)

    def exchange(self, base: str, one: str, other: str) -> None:
        first, second = self.get(base, one), self.get(base, other)
        self.put(base, one, second)
        self.put(base, other, first)

    def pivot(self, k: str) -> str:
        return self.block.let(f"getelementptr i64, ptr %pivots, i64 {k}")

    def function(self, name: str, arguments: str) -> str:
        body = "\n".join(self.block.lines)
        return f"define internal void @{name}.{self.parts}({arguments}) noinline {{\n{body}\n  ret void\n}}\n"


def _factor(n: int, parts: int) -> str:
    """Column by column: the largest number below comes to the diagonal, and its multiples leave the rows below."""
    code = _Matrix(n, parts)
    block, let, end = code.block, code.block.let, str(n)
    with ir_loop(block, "0", end) as column:
        k = column.index
        with ir_loop(block, k, end, [("double", hexadecimal_of_double(-1.0)), ("i64", k)]) as search:
            size = code.size(code.get("%A", code.place(search.index, k)))
            more = let(f"fcmp ogt double {size}, {search.values[0]}")
            search.following += [
                let(f"select i1 {more}, double {size}, double {search.values[0]}"),
                let(f"select i1 {more}, i64 {search.index}, i64 {search.values[1]}"),
            ]
        largest = search.values[1]
        block.do(f"store i64 {largest}, ptr {code.pivot(k)}")
        with ir_when(block, let(f"icmp ne i64 {largest}, {k}")), ir_loop(block, "0", end) as along:
            code.exchange("%A", code.place(k, along.index), code.place(largest, along.index))
        corner = code.place(k, k)
        pivot = code.reciprocal(code.get("%A", corner))
        code.put("%A", corner, pivot)
        with ir_loop(block, code.sum(k, "1"), end) as below:
            first = code.place(below.index, k)
            share = code.times(code.get("%A", first), pivot)
            code.put("%A", first, share)
            with ir_loop(block, code.sum(k, "1"), end) as right:
                at = code.place(below.index, right.index)
                code.put("%A", at, code.less(code.get("%A", at), share, code.get("%A", code.place(k, right.index))))
    return code.function("factor", "ptr %A, ptr %pivots")


def _solve(n: int, parts: int) -> str:
    """The solution in the place of b: exchanges, forward and backward substitution."""
    code = _Matrix(n, parts)
    block, let, end = code.block, code.block.let, str(n)
    kinds = ["double"] * parts

    def without(row: str, first: str, last: str) -> Number:
        """The number b[row] − Σ A[row, k] b[k] for k from first up to before last."""
        with ir_loop(block, first, last, [*zip(kinds, code.get("%b", row))]) as along:
            k = along.index
            along.following += code.less(tuple(along.values), code.get("%A", code.place(row, k)), code.get("%b", k))
        return tuple(along.values)

    with ir_loop(block, "0", end) as exchanges:
        other = let(f"load i64, ptr {code.pivot(exchanges.index)}")
        code.exchange("%b", exchanges.index, other)
    with ir_loop(block, "0", end) as forward:
        code.put("%b", forward.index, without(forward.index, "0", forward.index))
    with ir_loop(block, "0", end) as backward:
        row = let(f"sub i64 {n - 1}, {backward.index}")
        rest = without(row, code.sum(row, "1"), end)
        code.put("%b", row, code.times(rest, code.get("%A", code.place(row, row))))
    return code.function("solve", "ptr %A, ptr %pivots, ptr %b")
