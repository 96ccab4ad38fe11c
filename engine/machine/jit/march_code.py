"""The text of the compiled loop, as LLVM IR: stages, error, step control and rows by dense output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..program.control import bounded, lengths
from ..program.trace import Node, Program, live
from . import march_time, march_watch
from .block import Block, hexadecimal
from .curves import ABREAST
from .march_block import (
    ACCEPTED,
    FRESH,
    GOING,
    GUARD,
    GUARDED,
    MAX_STEP,
    MOST,
    OPEN,
    PAUSED,
    REACHED,
    REJECTED,
    ROW,
    ROWS,
    STATUS,
    STEP,
    T_END,
    T_NEW,
    TAKEN,
    TOO_SMALL,
    WANTED,
    H,
    T,
)
from .march_lanes import Lane, LaneCode


@dataclass(frozen=True)
class Scheme:
    """An embedded pair with dense output whose last stage is the next step's first, and constants of step control."""

    A: Sequence[Sequence[float]]
    B: Sequence[float]
    C: Sequence[float]
    E: Sequence[float]
    P: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float


def march(program: Program, scheme: Scheme, measured: int, units: Sequence[int], lanes: int) -> str:
    """The IR of the loop and of its right-hand side.

    The loop takes the control block, u, y and the stages (rows of lanes), the grid of output instants and an array for
    rows, the number of attempts, the table of signals that vary in time (`curves.py`), and the watches; `units` are the
    places of Euler parameters in y, which get norm 1 after every step. A step at whose end the `guard` isn't positive,
    or within which a watch may have an event, is not taken: its lane stops before it.
    The output `closed` has the states that go into the rows in the place of those by dense output, and a number that
    says how far they are from closed; the control block gets the largest.  Only a single lane has such states.
    """
    m, count = len(program.outputs["rate"]), len(scheme.B)
    closed = len(program.outputs.get("closed", [])) if lanes == 1 else 0
    code = LaneCode(lanes, m)
    names = [*(f"K{s}" for s in range(count + 1)), "trial", "new"]
    code.line("entry:")
    code.line(f"  %total = alloca {code.vector}\n  %clock = alloca {code.vector}")
    for k, name in enumerate(names):
        code.line(f"  %{name} = getelementptr double, ptr %stages, i64 {k * m * lanes}")
    code.line("  br label %attempt\nattempt:\n  %tries = phi i64 [0, %entry], [%more, %next]")
    attempt = _begin_attempt(code, scheme)
    judgement = _try(code, scheme, attempt, measured, "guard" in program.outputs)
    taken = _choose_lengths(code, scheme, attempt, judgement)
    _put_rows(code, attempt, taken)
    _advance(code, attempt, judgement, count, units)
    code.line("  br label %next\nnext:\n  %more = add i64 %tries, 1")
    code.line("  %again = icmp slt i64 %more, %attempts\n  br i1 %again, label %attempt, label %paused")
    code.line(f"reached:\n  ret i64 {REACHED}\npaused:\n  ret i64 {PAUSED}")
    body = "\n".join(code.block.lines)
    return (
        f"{_declarations(code)}\n{_rate_function(program, lanes, closed)}"
        f"{_rows_function(scheme, m, lanes, closed)}"
        f"{march_time.signals_function(lanes)}{_watch_functions(program, scheme, m, lanes)}"
        "define i64 @march(ptr %control, ptr %u, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, "
        "i64 %attempts, ptr %table, ptr %watches) {\n"
        f"{body}\n}}\n"
        "define void @first(ptr %control, ptr %u, ptr %y, ptr %stages, ptr %table) {\n"
        f"  %clock = getelementptr double, ptr %control, i64 {T * lanes}\n"
        "  call void @signals(ptr %table, ptr %u, ptr %clock)\n"
        "  call void @rate(ptr %control, ptr %u, ptr %y, ptr %stages)\n  ret void\n}\n"
    )


def _declarations(code: LaneCode) -> str:
    """The functions of LLVM that are called, each once."""
    texts = [code.block.declarations(), Block(1).declarations(), Block(ABREAST).declarations()]
    texts += [code.power_declaration(), march_watch.declarations(code.lanes)]
    return "\n".join(dict.fromkeys(line for text in texts for line in text.splitlines()))


def _watch_functions(program: Program, scheme: Scheme, m: int, lanes: int) -> str:
    """The functions that look for events, and the one for the program's quantities that they watch."""
    quantities = program.outputs.get("quantities", [])

    def dense(block: Block, stages: list[str], x: str) -> str:
        return _dense(block, scheme, stages, x)

    text = _function(program, lanes, "quantities", ("u", "y", "w"), [(quantities, "%w", 0)])
    return text + march_watch.functions(lanes, m, len(quantities), dense, len(scheme.B) + 1)


class Attempt(NamedTuple):
    """The registers of one attempt at a step, each with a number for every lane."""

    t: str
    t_new: str
    h: str
    wanted: str  # the length that this step was to have, before its end cut it short
    most: str  # the largest factor for the next length
    cut: str  # whether the end cuts the step short
    going: str  # whether the lane takes part


class Judgement(NamedTuple):
    """The registers of what came of an attempt."""

    error: str
    accept: str
    reject: str


def _begin_attempt(code: LaneCode, scheme: Scheme) -> Attempt:
    """Choose the attempt's length: the wanted one within bounds for a new step, else that of the last attempt."""
    t, end, h = code.row(T), code.row(T_END), code.row(H)
    fresh = code.compare("one", code.row(FRESH), code.number(0.0))
    spacing = code.spacing(t)
    h = code.select(fresh, bounded(Lane(code, h), spacing, code.row(MAX_STEP)).register, h)
    wanted = code.select(fresh, h, code.row(WANTED))
    most = code.select(fresh, code.number(scheme.most_factor), code.row(MOST))
    going = code.both(code.compare("olt", t, end), code.compare("oeq", code.row(STATUS), code.number(GOING)))
    small = code.both(going, code.compare("ult", h, spacing))
    code.put(STATUS, code.select(small, code.number(TOO_SMALL), code.row(STATUS)))
    going = code.both(going, code.opposite(small))
    code.line(f"  br i1 {code.any(going)}, label %try, label %reached\ntry:")
    ahead = code.operation("fadd", t, h)
    cut = code.compare("ogt", ahead, end)
    t_new = code.select(cut, end, ahead)
    h = code.select(going, code.operation("fsub", t_new, t), code.number(0.0))
    return Attempt(t, t_new, h, wanted, most, cut, going)


def _try(code: LaneCode, scheme: Scheme, attempt: Attempt, measured: int, guarded: bool) -> Judgement:
    """Evaluate the stages, the new state and its error; a lane with an event ahead stops."""
    count, h, going = len(scheme.B), attempt.h, attempt.going
    for s in range(1, count):
        code.combine("trial", "y", [(scheme.A[s][j], f"K{j}") for j in range(s)], h)
        code.rate("trial", f"K{s}", code.block.call("fma", h, code.number(scheme.C[s]), attempt.t))
    code.combine("new", "y", [(b, f"K{j}") for j, b in enumerate(scheme.B)], h)
    code.rate("new", f"K{count}", attempt.t_new)
    error = code.error([(e, f"K{j}") for j, e in enumerate(scheme.E)], measured, h)
    passed = code.compare("olt", error, code.number(1.0))
    if guarded:
        barred = code.both(code.both(going, passed), code.compare("ole", code.row(GUARD), code.number(0.0)))
        code.put(STATUS, code.select(barred, code.number(GUARDED), code.row(STATUS)))
        going = code.both(going, code.opposite(barred))
    arguments = "ptr %u, ptr %y, ptr %new, ptr %stages, ptr %table, ptr %watches"
    seen = code.let(f"call {code.block.bit} @seen({arguments}, {code.vector} {attempt.t}, {code.vector} {h})")
    barred = code.both(code.both(going, passed), seen)
    code.put(STATUS, code.select(barred, code.number(GUARDED), code.row(STATUS)))
    going = code.both(going, code.opposite(barred))
    return Judgement(error, code.both(going, passed), code.both(going, code.opposite(passed)))


def _choose_lengths(code: LaneCode, scheme: Scheme, attempt: Attempt, judgement: Judgement) -> str:
    """Choose the next length and count the attempt; return the register that is 1 where the step was accepted."""
    error, h, wanted, most = (Lane(code, x) for x in (judgement.error, attempt.h, attempt.wanted, attempt.most))
    longer, shorter = (lane.register for lane in lengths(error, h, wanted, most, attempt.cut, scheme))
    accept, reject = judgement.accept, judgement.reject
    code.put(H, code.select(accept, longer, code.select(reject, shorter, code.row(H))))
    code.put(WANTED, code.select(reject, shorter, attempt.wanted))
    code.put(MOST, code.select(reject, code.number(1.0), attempt.most))
    code.put(FRESH, code.select(accept, code.number(1.0), code.number(0.0)))
    taken = code.select(accept, code.number(1.0), code.number(0.0))
    for place, add in ((ACCEPTED, taken), (REJECTED, code.select(reject, code.number(1.0), code.number(0.0)))):
        code.put(place, code.operation("fadd", code.row(place), add))
    return taken


def _put_rows(code: LaneCode, attempt: Attempt, taken: str) -> None:
    """Write the output rows of each lane within its step, by dense output."""
    code.put(STEP, attempt.h)
    code.put(T_NEW, attempt.t_new)
    code.put(TAKEN, taken)
    arguments = "ptr %control, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, ptr %u, ptr %table"
    code.line(f"  call void @rows({arguments})")


def _advance(code: LaneCode, attempt: Attempt, judgement: Judgement, count: int, units: Sequence[int]) -> None:
    """Put the new state in the place of the old one, with Euler parameters of norm 1."""
    accept = judgement.accept
    with code.each(code.m) as i:
        code.set("y", i, code.select(accept, code.get("new", i), code.get("y", i)))
        code.set("K0", i, code.select(accept, code.get(f"K{count}", i), code.get("K0", i)))
    t = code.select(accept, attempt.t_new, attempt.t)
    code.put(T, t)
    for first in units:
        code.normalise(first, accept)
    if units:
        code.rate("y", "K0", t)


def _rate_function(program: Program, lanes: int, closed: int) -> str:
    """The rate of the state as a function of pointers; the guard and the closed state go into the control block."""
    guard = program.outputs.get("guard", [])
    outputs = [(program.outputs["rate"], "%dy", 0), (guard, "%control", GUARD)]
    if closed:
        outputs.append((program.outputs["closed"], "%control", ROWS))
    return _function(program, lanes, "rate", ("control", "u", "y", "dy"), outputs)


def _function(
    program: Program, lanes: int, name: str, pointers: Sequence[str], outputs: Sequence[tuple[list[Node], str, int]]
) -> str:
    """A part of the program, which is called so that its code is there once; outputs go to rows from a place on."""
    block = Block(lanes)
    needed = {node.id for node in live([node for nodes, _, _ in outputs for node in nodes])}
    values = {}
    for group, nodes in program.inputs.items():
        for k, node in enumerate(nodes):
            if node.id in needed:
                place = block.offset(f"%{group}", k * lanes)
                values[node.id] = block.let(f"load {block.double}, ptr {place}, align 8")
    registers = iter(block.run([node for nodes, _, _ in outputs for node in nodes], lambda node: values[node.id]))
    for nodes, base, first in outputs:
        for k, register in zip(range(len(nodes)), registers):
            block.do(f"store {block.double} {register}, ptr {block.offset(base, (first + k) * lanes)}, align 8")
    body = "\n".join(block.lines)
    arguments = ", ".join(f"ptr noalias %{pointer}" for pointer in pointers)
    return f"define internal void @{name}({arguments}) noinline {{\n{body}\n  ret void\n}}\n"


def _dense(block: Block, scheme: Scheme, stages: Sequence[str], x: str) -> str:
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


def _rows_function(scheme: Scheme, m: int, lanes: int, closed: int) -> str:
    """Output rows of lanes that have taken a step, one by one: y + h Σ_p (Σ_j K_j P_jp) x^(p + 1), by Horner's rule.

    Where the program gives closed states, they take the place of so many numbers of each row.
    """
    block = Block(1)
    let, count = block.let, len(scheme.B)

    def control(k: int) -> str:
        at = let(f"add i64 %lane, {k * lanes}")
        return let(f"getelementptr double, ptr %control, i64 {at}")

    def load(pointer: str) -> str:
        return let(f"load double, ptr {pointer}, align 8")

    block.lines.append(
        "entry:\n  %clock = alloca double\n  br label %lanes\nlanes:\n  %lane = phi i64 [0, %entry], [%lane1, %done]"
    )
    taken = let(f"fcmp one double {load(control(TAKEN))}, {hexadecimal(0.0)}")
    block.lines.append(f"  br i1 {taken}, label %look, label %done\nlook:")
    row = let(f"fptosi double {load(control(ROW))} to i64")
    block.lines.append(f"  br i1 {let(f'icmp slt i64 {row}, %count')}, label %compare, label %done\ncompare:")
    at = load(let(f"getelementptr double, ptr %grid, i64 {row}"))
    due = let(f"fcmp ole double {at}, {load(control(T_NEW))}")
    block.lines.append(f"  br i1 {due}, label %write, label %done\nwrite:")
    h = load(control(STEP))
    x = let(f"fdiv double {let(f'fsub double {at}, {load(control(T))}')}, {h}")
    skip = let(f"add i64 {let('mul i64 %lane, %count')}, {row}")
    target = let(f"getelementptr double, ptr %out, i64 {let(f'mul i64 {skip}, {m}')}")
    block.lines.append("  br label %component\ncomponent:\n  %i = phi i64 [0, %write], [%i1, %component]")
    place = let(f"add i64 {let(f'mul i64 %i, {lanes}')}, %lane")
    stages = [
        load(let(f"getelementptr double, ptr %stages, i64 {let(f'add i64 {place}, {j * m * lanes}')}"))
        for j in range(count + 1)
    ]
    total = _dense(block, scheme, stages, x)
    y = load(let(f"getelementptr double, ptr %y, i64 {place}"))
    block.do(f"store double {block.call('fma', total, h, y)}, ptr {let(f'getelementptr double, ptr {target}, i64 %i')}")
    block.lines.append(f"  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, {m}")
    block.lines.append("  br i1 %rest, label %component, label %written\nwritten:")
    if closed:
        _close_row(block, at, target, m, count, closed)
    pointer = control(ROW)
    block.do(f"store double {let(f'fadd double {load(pointer)}, {hexadecimal(1.0)}')}, ptr {pointer}")
    block.lines.append(f"  br label %look\ndone:\n  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    block.lines.append("  br i1 %on, label %lanes, label %out_of_lanes\nout_of_lanes:\n  ret void")
    body = "\n".join(block.lines)
    arguments = "ptr %control, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, ptr %u, ptr %table"
    return f"define internal void @rows({arguments}) noinline {{\n{body}\n}}\n"


def _close_row(block: Block, at: str, target: str, m: int, count: int, closed: int) -> None:
    """Put the closed state in the place of a row, and note how far it is from closed if that is more than before."""
    spare = block.let(f"getelementptr double, ptr %stages, i64 {(count + 1) * m}")  # that of the trial states
    block.do(f"store double {at}, ptr %clock")
    block.do("call void @signals(ptr %table, ptr %u, ptr %clock)")
    block.do(f"call void @rate(ptr %control, ptr %u, ptr {target}, ptr {spare})")
    numbers = [block.let(f"load double, ptr {block.offset('%control', ROWS + k)}, align 8") for k in range(closed)]
    for k, x in enumerate(numbers[:-1]):
        block.do(f"store double {x}, ptr {block.offset(target, k)}, align 8")
    widest = block.offset("%control", OPEN)
    before = block.let(f"load double, ptr {widest}, align 8")
    more = block.let(f"fcmp ugt double {numbers[-1]}, {before}")  # what isn't a number is more than any
    now = block.let(f"select i1 {more}, double {numbers[-1]}, double {before}")
    block.do(f"store double {now}, ptr {widest}, align 8")
