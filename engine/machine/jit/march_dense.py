"""Dense output in the compiled loop, as LLVM IR: the stages that only it needs, and the rows that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from .block import Block, hexadecimal_of_double
from .march_block import ACCEPTED, DENSE, LANDING, OPEN, REJECTED, ROW, ROWS, STEP, T_END, T_NEW, TAKEN, T
from .march_lanes import LaneCode

ROWS_ARGUMENTS = "ptr %control, ptr %y, ptr %stages, ptr %new, ptr %grid, i64 %count, ptr %out, ptr %u, ptr %table"


class Dense(Protocol):
    """What dense output needs to know of a method."""

    @property
    def P(self) -> Sequence[Sequence[float]]:
        """The weights of each stage for the powers of the place within a step, from the first power on."""

    @property
    def stages(self) -> int:
        """The number of stages that dense output is made of."""

    @property
    def block(self) -> int:
        """The number of rows of the control block; behind them is room for a closed state."""


@dataclass(frozen=True)
class Scheme:
    """An embedded pair with dense output whose last stage is the next step's first, and constants of step control.

    The letters are those of `simulate/tableau.py`; `further` has a row and a place for each stage that only dense
    output needs. A method without estimates of its error, E, takes steps of one length.
    """

    A: Sequence[Sequence[float]]
    B: Sequence[float]
    C: Sequence[float]
    E: Sequence[float]
    P: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float
    E_low: Sequence[float] = ()
    further: Sequence[tuple[Sequence[float], float]] = ()
    lands: bool = False  # whether steps end on the output rows, because dense output isn't good enough for these

    @property
    def fixed(self) -> bool:
        """Whether all steps have one length, but for those that are cut short."""
        return not self.E

    @property
    def stages(self) -> int:
        """The number of all stages, with the derivative at the step's end and those for dense output."""
        return len(self.B) + 1 + len(self.further)

    @property
    def block(self) -> int:
        """The number of rows of the control block."""
        return ROWS

    @property
    def evaluations(self) -> int:
        """The number of evaluations of an attempt."""
        return len(self.B)

    def memory(self, m: int) -> int:
        """The number of rows of m numbers that the loop needs: its stages, a trial state, and the one at the end."""
        return self.stages + 2

    def examined(self, m: int) -> int:
        """The number of rows in front that say whether an attempt met numbers that aren't finite."""
        return self.memory(m)

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The number of evaluations of all lanes, or runs, from their rows of control blocks."""
        count = len(self.B) * (control[ACCEPTED] + control[REJECTED]) + len(self.further) * control[DENSE]
        return np.asarray(count, dtype=int)


class Attempt(NamedTuple):
    """The registers of one attempt at a step, each with a number for every lane."""

    t: str
    t_new: str
    h: str
    wanted: str  # the length that this step was to have, before its end cut it short
    most: str  # the largest factor for the next length
    cut: str  # whether the end cuts the step short
    going: str  # whether the lane takes part


def further_stages_ir(code: LaneCode, scheme: Scheme, attempt: Attempt, taken: str) -> None:
    """Evaluate the stages for dense output if a lane that takes its step has rows within it, or watches."""
    code.put(T_NEW, attempt.t_new)
    code.put(TAKEN, code.select(taken, code.number(1.0), code.number(0.0)))
    code.line("  call void @due(ptr %control, ptr %grid, i64 %count, ptr %watches)")
    due = code.row(TAKEN)
    code.put(DENSE, code.operation("fadd", code.row(DENSE), due))
    some = code.any(code.compare("one", due, code.number(0.0)))
    code.line(f"  br i1 {some}, label %further, label %decided\nfurther:")
    for s, (weights, c) in enumerate(scheme.further, start=len(scheme.B) + 1):
        code.combine("trial", "y", [(a, f"K{j}") for j, a in enumerate(weights)], attempt.h)
        code.rate("trial", f"K{s}", code.block.call("fma", attempt.h, code.number(c), attempt.t))
    code.line("  br label %decided\ndecided:")


def due_function_ir(lanes: int) -> str:
    """The IR of `due`: of the lanes that take their steps, keep those in TAKEN that need dense output there.

    Watches need it in all of them, and so does a caller whose table of watches has the number -1 (`march.py:DEMAND`).
    """
    block = Block(1)
    let, line = block.let, block.lines.append
    line("entry:\n  %any = load i64, ptr %watches\n  %some = icmp ne i64 %any, 0")
    line("  br i1 %some, label %done, label %lanes")
    line("lanes:\n  %lane = phi i64 [0, %entry], [%lane1, %next]")

    def at(k: int) -> str:
        return let(f"getelementptr double, ptr %control, i64 {let(f'add i64 %lane, {k * lanes}')}")

    taken = at(TAKEN)
    row = let(f"fptosi double {let(f'load double, ptr {at(ROW)}')} to i64")
    line(f"  br i1 {let(f'icmp slt i64 {row}, %count')}, label %compare, label %idle\ncompare:")
    instant = let(f"load double, ptr {let(f'getelementptr double, ptr %grid, i64 {row}')}")
    end = let(f"load double, ptr {at(T_NEW)}")
    line(f"  br i1 {let(f'fcmp olt double {instant}, {end}')}, label %next, label %idle")
    line(f"idle:\n  store double {hexadecimal_of_double(0.0)}, ptr {taken}\n  br label %next")
    line(f"next:\n  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    line("  br i1 %on, label %lanes, label %done\ndone:\n  ret void")
    body = "\n".join(block.lines)
    head = "define internal void @due(ptr %control, ptr %grid, i64 %count, ptr %watches) noinline"
    return f"{head} {{\n{body}\n}}\n"


def landing_function_ir(lanes: int) -> str:
    """The IR of `land`, which notes for each lane where its step ends at the latest: at its next output row."""
    block = Block(1)
    let, line = block.let, block.lines.append
    line("entry:\n  br label %lanes\nlanes:\n  %lane = phi i64 [0, %entry], [%lane1, %next]")

    def at(k: int) -> str:
        return let(f"getelementptr double, ptr %control, i64 {let(f'add i64 %lane, {k * lanes}')}")

    row = let(f"fptosi double {let(f'load double, ptr {at(ROW)}')} to i64")
    end, landing = let(f"load double, ptr {at(T_END)}"), at(LANDING)
    line(f"  store double {end}, ptr {landing}")
    line(f"  br i1 {let(f'icmp slt i64 {row}, %count')}, label %compare, label %next\ncompare:")
    instant = let(f"load double, ptr {let(f'getelementptr double, ptr %grid, i64 {row}')}")
    line(f"  br i1 {let(f'fcmp ult double {instant}, {end}')}, label %nearer, label %next")
    line(f"nearer:\n  store double {instant}, ptr {landing}\n  br label %next")
    line(f"next:\n  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    line("  br i1 %on, label %lanes, label %done\ndone:\n  ret void")
    body = "\n".join(block.lines)
    return f"define internal void @land(ptr %control, ptr %grid, i64 %count) noinline {{\n{body}\n}}\n"


def dense_output_ir(block: Block, scheme: Dense, stages: Sequence[str], x: str) -> str:
    """The register of Σ_p (Σ_j K_j P_jp) x^(p + 1), by Horner's rule: dense output is y + h times that."""
    total, number = "", block.constant
    for p in reversed(range(len(scheme.P[0]))):
        term = ""
        for j, K in enumerate(stages):
            weight = number(scheme.P[j][p])
            if scheme.P[j][p]:
                term = block.call("fma", K, weight, term) if term else block.operation("fmul", K, weight)
        term = term or number(0.0)
        total = block.call("fma", total, x, term) if total else term
    return block.operation("fmul", total, x)


def rows_function_ir(scheme: Dense, m: int, lanes: int, closed: int) -> str:
    """Output rows of lanes that have taken a step, one by one: y + h Σ_p (Σ_j K_j P_jp) x^(p + 1), by Horner's rule.

    Where the program gives closed states, they take the place of so many numbers of each row.
    """
    block = Block(1)
    let = block.let

    def control(k: int) -> str:
        at = let(f"add i64 %lane, {k * lanes}")
        return let(f"getelementptr double, ptr %control, i64 {at}")

    def load(pointer: str) -> str:
        return let(f"load double, ptr {pointer}, align 8")

    block.lines.append("entry:\n  %clock = alloca double\n  br label %lanes")
    block.lines.append("lanes:\n  %lane = phi i64 [0, %entry], [%lane1, %done]")
    taken = let(f"fcmp one double {load(control(TAKEN))}, {hexadecimal_of_double(0.0)}")
    block.lines.append(f"  br i1 {taken}, label %look, label %done\nlook:")
    row = let(f"fptosi double {load(control(ROW))} to i64")
    block.lines.append(f"  br i1 {let(f'icmp slt i64 {row}, %count')}, label %compare, label %done\ncompare:")
    at = load(let(f"getelementptr double, ptr %grid, i64 {row}"))
    due = let(f"fcmp ole double {at}, {load(control(T_NEW))}")
    block.lines.append(f"  br i1 {due}, label %write, label %done\nwrite:")
    h = load(control(STEP))
    x = let(f"fdiv double {let(f'fsub double {at}, {load(control(T))}')}, {h}")
    ends = let(f"fcmp oeq double {at}, {load(control(T_NEW))}")
    skip = let(f"add i64 {let('mul i64 %lane, %count')}, {row}")
    target = let(f"getelementptr double, ptr %out, i64 {let(f'mul i64 {skip}, {m}')}")
    block.lines.append("  br label %component\ncomponent:\n  %i = phi i64 [0, %write], [%i1, %component]")
    place = let(f"add i64 {let(f'mul i64 %i, {lanes}')}, %lane")
    stages = [
        load(let(f"getelementptr double, ptr %stages, i64 {let(f'add i64 {place}, {j * m * lanes}')}"))
        for j in range(scheme.stages)
    ]
    total = dense_output_ir(block, scheme, stages, x)
    y = load(let(f"getelementptr double, ptr %y, i64 {place}"))
    end = load(let(f"getelementptr double, ptr %new, i64 {place}"))
    value = block.select(ends, end, block.call("fma", total, h, y))  # what a step ends with is better than dense output
    block.do(f"store double {value}, ptr {let(f'getelementptr double, ptr {target}, i64 %i')}")
    block.lines.append(f"  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, {m}")
    block.lines.append("  br i1 %rest, label %component, label %written\nwritten:")
    if closed:
        _close_row(block, at, target, m, scheme, closed)
    pointer = control(ROW)
    block.do(f"store double {let(f'fadd double {load(pointer)}, {hexadecimal_of_double(1.0)}')}, ptr {pointer}")
    block.lines.append(f"  br label %look\ndone:\n  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    block.lines.append("  br i1 %on, label %lanes, label %out_of_lanes\nout_of_lanes:\n  ret void")
    body = "\n".join(block.lines)
    return f"define internal void @rows({ROWS_ARGUMENTS}) noinline {{\n{body}\n}}\n"


def _close_row(block: Block, at: str, target: str, m: int, scheme: Dense, closed: int) -> None:
    """Put the closed state in the place of a row, and note how far it is from closed if that is more than before."""
    spare = block.let(f"getelementptr double, ptr %stages, i64 {scheme.stages * m}")  # that of the trial states
    block.do(f"store double {at}, ptr %clock")
    block.do("call void @signals(ptr %table, ptr %u, ptr %clock)")
    block.do(f"call void @rate(ptr %control, ptr %u, ptr {target}, ptr {spare})")
    numbers = [
        block.let(f"load double, ptr {block.offset('%control', scheme.block + k)}, align 8") for k in range(closed)
    ]
    for k, x in enumerate(numbers[:-1]):
        block.do(f"store double {x}, ptr {block.offset(target, k)}, align 8")
    widest = block.offset("%control", OPEN)
    before = block.let(f"load double, ptr {widest}, align 8")
    more = block.let(f"fcmp ugt double {numbers[-1]}, {before}")  # what isn't a number is more than any
    now = block.let(f"select i1 {more}, double {numbers[-1]}, double {before}")
    block.do(f"store double {now}, ptr {widest}, align 8")
