"""What compiled loops remember of their steps, for signals that are components of the state of some time ago.

A step that is taken leaves its dense output as polynomials in x = (t − begin) · scale, of those components that a
signal will read. The function `late`, behind all other signals, finds the step that a dead time before an instant lies
in. As no step is longer than the shortest dead time, that is always one that has been taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..jit.block import Block, hexadecimal_of_double
from ..jit.flow import ir_loop, ir_when
from ..jit.polynomials import FIRST
from .march_block import Lane
from .march_dense import Dense

ROOM = 512  # steps


@dataclass(frozen=True)
class PastSteps:
    """Steps in the order of time: their beginnings, and polynomials of some components of the state."""

    begins: np.ndarray  # (steps,)
    scales: np.ndarray  # (steps,): 1 over the length; 0 where the state is constant
    coefficients: np.ndarray  # (steps, components, powers)

    def at(self, times: np.ndarray) -> np.ndarray:
        """The components at many instants, (instants, components), each by the step that it lies in."""
        k = np.maximum(np.searchsorted(self.begins, times, side="right") - 1, 0)
        x = ((times - self.begins[k]) * self.scales[k])[:, None]
        value = self.coefficients[k, :, -1]
        for p in reversed(range(self.coefficients.shape[2] - 1)):
            value = value * x + self.coefficients[k, :, p]
        return np.asarray(value)

    def at_one(self, t: float) -> np.ndarray:
        """The components at one instant, by the same rule."""
        k = max(int(self.begins.searchsorted(t, side="right")) - 1, 0)
        x, powers = (t - float(self.begins[k])) * float(self.scales[k]), self.coefficients[k].T
        value: np.ndarray = powers[-1]
        for part in powers[-2::-1]:
            value = value * x + part
        return value

    def behind(self, t: float) -> PastSteps:
        """Those steps that aren't over at t."""
        first = max(int(np.searchsorted(self.begins, t, side="right")) - 1, 0)
        return PastSteps(self.begins[first:], self.scales[first:], self.coefficients[first:])


class PastOfLane:
    """The memory of a single lane's steps; `reads` are pairs of a signal and a component, for each dead time."""

    def __init__(self, dead_times: Sequence[float], reads: Sequence[Sequence[tuple[int, int]]], places: Sequence[int]):
        self._dead_times = np.array(dead_times)
        self._ends = np.cumsum([0, *map(len, reads)])
        self._reads = np.array([pair for pairs in reads for pair in pairs], dtype=np.int64).reshape(-1, 2)
        self._places = np.array(places, dtype=np.int64)
        self._count = np.zeros(1, dtype=np.int64)

    def begin(self, known: PastSteps) -> None:
        """Forgets everything but these steps."""
        count, room = len(known.begins), max(ROOM, 2 * len(known.begins))
        self._begins, self._scales = np.zeros((2, room))
        self._coefficients = np.zeros((room, *known.coefficients.shape[1:]))
        self._begins[:count], self._scales[:count] = known.begins, known.scales
        self._coefficients[:count] = known.coefficients
        self._count[0] = self._known = count

    @property
    def room(self) -> int:
        """The number of steps that it can still take up."""
        return len(self._begins) - int(self._count[0])

    def added(self) -> PastSteps:
        """The steps since this was asked last, whose arrays nobody else has; there is room for further ones then."""
        first, end = self._known, int(self._count[0])
        new = PastSteps(*(x[first:end].copy() for x in (self._begins, self._scales, self._coefficients)))
        if 2 * end > len(self._begins):
            whole = PastSteps(self._begins[:end], self._scales[:end], self._coefficients[:end])
            self.begin(whole.behind(self._begins[end - 1] - self._dead_times[-1]))
        self._known = int(self._count[0])
        return new

    def words(self) -> np.ndarray:
        """The numbers and addresses that compiled code reads, which hold until steps are `added`."""
        arrays = (self._dead_times, self._ends, self._reads, self._places, self._count)
        before = [x.ctypes.data for x in arrays]
        steps = [x.ctypes.data for x in (self._begins, self._scales, self._coefficients)]
        return np.array([len(self._dead_times), *before[:4], len(self._places), before[4], *steps], dtype=np.int64)


class _Words:
    """The registers of the words, at the beginning of a function with the argument `table`."""

    def __init__(self, block: Block):
        self._block = block
        block.lines.append("entry:")
        word, address = self._word, self._address
        self.delays = word(0)
        self.dead_times, self.ends, self.reads, self.places = (address(k) for k in range(1, 5))
        self.components = word(5)
        self.counts, self.begins, self.scales, self.coefficients = (address(k) for k in range(6, 10))

    def _word(self, k: int) -> str:
        let = self._block.let
        return let(f"load i64, ptr {let(f'getelementptr i64, ptr %table, i64 {FIRST + k}')}")

    def _address(self, k: int) -> str:
        return self._block.let(f"inttoptr i64 {self._word(k)} to ptr")


class _Memory:
    """Numbers and whole numbers at places of arrays, for one lane at a time."""

    def __init__(self, block: Block):
        self._let, self._do = block.let, block.do

    def at(self, base: str, place: str, kind: str = "double") -> str:
        return self._let(f"getelementptr {kind}, ptr {base}, i64 {place}")

    def get(self, base: str, place: str, kind: str = "double") -> str:
        return self._let(f"load {kind}, ptr {self.at(base, place, kind)}, align 8")

    def put(self, x: str, base: str, place: str, kind: str = "double") -> None:
        self._do(f"store {kind} {x}, ptr {self.at(base, place, kind)}, align 8")

    def sum(self, a: str, b: str) -> str:
        return self._let(f"add i64 {a}, {b}")

    def product(self, a: str, b: str) -> str:
        return self._let(f"mul i64 {a}, {b}")


def late_function_ir(scheme: Dense) -> str:
    """The IR of `late`, which writes all signals that are components of an earlier state; for a single lane."""
    block = Block(1)
    words, of, line, let = _Words(block), _Memory(block), block.lines.append, block.let
    powers = len(scheme.P[0]) + 1
    t = of.get("%clock", "0")
    with ir_loop(block, "0", words.delays) as delay:
        count = of.get(words.counts, "0", "i64")  # there may be none where there are no delays
        before = let(f"fsub double {t}, {of.get(words.dead_times, delay.index)}")
        line("  br label %near\nnear:\n  br label %search\nsearch:")
        line(f"  %low = phi i64 [0, %near], [%low1, %halve]\n  %high = phi i64 [{count}, %near], [%high1, %halve]")
        line("  %apart = sub i64 %high, %low\n  %wide = icmp sgt i64 %apart, 1")
        line("  br i1 %wide, label %halve, label %found\nhalve:")
        line("  %sum = add i64 %low, %high\n  %middle = lshr i64 %sum, 1")
        begun = let(f"fcmp ole double {of.get(words.begins, '%middle')}, {before}")
        line(
            f"  %low1 = select i1 {begun}, i64 %middle, i64 %low\n  %high1 = select i1 {begun}, i64 %high, i64 %middle"
        )
        line("  br label %search\nfound:")
        into = let(f"fsub double {before}, {of.get(words.begins, '%low')}")
        x = let(f"fmul double {into}, {of.get(words.scales, '%low')}")
        skip = of.product("%low", words.components)
        first, end = of.get(words.ends, delay.index, "i64"), of.get(words.ends, of.sum(delay.index, "1"), "i64")
        with ir_loop(block, first, end) as read:
            pair = of.product(read.index, "2")
            signal, component = of.get(words.reads, pair, "i64"), of.get(words.reads, of.sum(pair, "1"), "i64")
            base = of.at(words.coefficients, of.product(of.sum(skip, component), str(powers)))
            value = of.get(base, str(powers - 1))
            for p in reversed(range(powers - 1)):
                value = block.call("fma", value, x, of.get(base, str(p)))
            of.put(value, "%u", signal)
    line("  ret void")
    return _function("late", "ptr %table, ptr %u, ptr %clock", block)


def keep_function_ir(scheme: Dense) -> str:
    """The IR of `keep`, which remembers the step from `y`, of length m, if it is taken; for a single lane."""
    block = Block(1)
    words, of, line, let = _Words(block), _Memory(block), block.lines.append, block.let
    powers, zero = len(scheme.P[0]) + 1, hexadecimal_of_double(0.0)
    with ir_when(block, let(f"fcmp one double {of.get('%control', str(Lane.TAKEN))}, {zero}")):
        count, h = of.get(words.counts, "0", "i64"), of.get("%control", str(Lane.STEP))
        of.put(of.get("%control", str(Lane.T)), words.begins, count)
        of.put(let(f"fdiv double {hexadecimal_of_double(1.0)}, {h}"), words.scales, count)
        skip = of.product(count, words.components)
        with ir_loop(block, "0", words.components) as each:
            place = of.get(words.places, each.index, "i64")
            base = of.at(words.coefficients, of.product(of.sum(skip, each.index), str(powers)))
            of.put(of.get("%y", place), base, "0")
            stages = [of.get("%stages", of.sum(place, of.product("%m", str(j)))) for j in range(scheme.stages)]
            for p in range(powers - 1):
                total = ""
                for j, K in enumerate(stages):
                    if scheme.P[j][p]:
                        weight = block.constant(scheme.P[j][p])
                        total = block.call("fma", K, weight, total) if total else block.operation("fmul", K, weight)
                of.put(block.operation("fmul", total, h) if total else zero, base, str(p + 1))
        of.put(of.sum(count, "1"), words.counts, "0", "i64")
    line("  ret void")
    return _function("keep", "ptr %control, ptr %y, ptr %stages, ptr %table, i64 %m", block)


def _function(name: str, arguments: str, block: Block) -> str:
    body = "\n".join(block.lines)
    return f"define internal void @{name}({arguments}) noinline {{\n{body}\n}}\n"
