"""The text of the compiled loop, as LLVM IR: stages, error, step control and rows by dense output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..program.control import bounded_step_length, combined_step_error, next_step_lengths
from ..program.nodes import Node, live_nodes
from ..program.recording import Program
from . import march_dense, march_past, march_time, march_watch
from .block import Block
from .llvm import number_table_ir
from .march_block import (
    ACCEPTED,
    FRESH,
    GOING,
    GUARD,
    GUARDED,
    LANDING,
    MAX_STEP,
    MOST,
    PAUSED,
    REACHED,
    REJECTED,
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
from .march_dense import Attempt, Dense, Scheme
from .march_lanes import Lane, LaneCode
from .polynomials import ABREAST

KEEP = "  call void @keep(ptr %control, ptr %y, ptr %stages, ptr %table)"


def compiled_loop_ir(
    program: Program, scheme: Scheme, measured: int, units: Sequence[int], lanes: int, *, late: bool = False
) -> str:
    """The IR of the loop and of its right-hand side.

    The loop takes the control block, u, y and the stages (rows of lanes), the grid of output instants and an array for
    rows, the number of attempts, the table of signals over time (`polynomials.py`), and the watches; `units` are
    the places of Euler parameters in y, which get norm 1 after every step. A step at whose end the `guard` isn't
    positive, or within which a watch may have an event, is not taken: its lane stops before it.
    The output `closed` has the states that go into the rows in the place of those by dense output, and a number that
    says how far they are from closed; the control block gets the largest.  Only a single lane has such states.
    With `late`, steps are remembered for signals that are components of an earlier state; of a single lane, too.
    """
    m, count = len(program.outputs["rate"]), len(scheme.B)
    code = LaneCode(lanes, m)
    names = [*(f"K{s}" for s in range(scheme.stages)), "trial", "new"]
    code.line("entry:")
    code.line(f"  %total = alloca {code.vector}\n  %clock = alloca {code.vector}")
    for k, name in enumerate(names):
        code.line(f"  %{name} = getelementptr double, ptr %stages, i64 {k * m * lanes}")
    code.line("  br label %attempt\nattempt:\n  %tries = phi i64 [0, %entry], [%more, %next]")
    attempt = _begin_attempt(code, scheme)
    judgement = _try(code, scheme, attempt, measured, "guard" in program.outputs)
    taken = _choose_lengths(code, scheme, attempt, judgement)
    _put_rows(code, attempt, taken)
    if late:
        code.line(KEEP)
    _advance(code, attempt, judgement, count, units)
    code.line("  br label %next\nnext:\n  %more = add i64 %tries, 1")
    code.line("  %again = icmp slt i64 %more, %attempts\n  br i1 %again, label %attempt, label %paused")
    code.line(f"reached:\n  ret i64 {REACHED}\npaused:\n  ret i64 {PAUSED}")
    body = "\n".join(code.block.lines)
    return (
        f"{compiled_loop_parts_ir(program, scheme, m, lanes, late=late)}"
        f"{march_dense.due_function_ir(lanes) if scheme.further else ''}"
        f"{march_dense.landing_function_ir(lanes) if scheme.lands else ''}"
        "define i64 @march(ptr %control, ptr %u, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, "
        "i64 %attempts, ptr %table, ptr %watches) {\n"
        f"{body}\n}}\n{first_stage_ir(lanes)}"
    )


def compiled_loop_parts_ir(program: Program, scheme: Dense, m: int, lanes: int, *, late: bool = False) -> str:
    """The IR of what loops of all methods call: the rate, signals that vary in time, rows and watches."""
    closed = len(program.outputs.get("closed", [])) if lanes == 1 else 0
    return (
        f"{_declarations(LaneCode(lanes, m))}\n{number_table_ir(program)}"
        f"{_rate_function(program, lanes, closed, scheme.block)}"
        f"{march_dense.rows_function_ir(scheme, m, lanes, closed)}"
        f"{march_past.late_function_ir(scheme) + march_past.keep_function_ir(scheme, m) if late else ''}"
        f"{march_time.signals_function_ir(lanes, late)}{_watch_functions(program, scheme, m, lanes)}"
    )


def first_stage_ir(lanes: int) -> str:
    """The IR of the functions for callers: `first` evaluates the first stage, `look` the quantities of one state."""
    return (
        "define void @look(ptr %u, ptr %y, ptr %w) {\n  call void @quantities(ptr %u, ptr %y, ptr %w)\n  ret void\n}\n"
        "define void @first(ptr %control, ptr %u, ptr %y, ptr %stages, ptr %table) {\n"
        f"  %clock = getelementptr double, ptr %control, i64 {T * lanes}\n"
        "  call void @signals(ptr %table, ptr %u, ptr %clock)\n"
        "  call void @rate(ptr %control, ptr %u, ptr %y, ptr %stages)\n  ret void\n}\n"
    )


def _declarations(code: LaneCode) -> str:
    """The functions of LLVM that are called, each once."""
    texts = [code.block.declarations(), Block(1).declarations(), Block(ABREAST).declarations()]
    texts += [code.power_declaration(), march_watch.watch_declarations_ir(code.lanes)]
    return "\n".join(dict.fromkeys(line for text in texts for line in text.splitlines()))


def _watch_functions(program: Program, scheme: Dense, m: int, lanes: int) -> str:
    """The functions that look for events, and the one for the program's quantities that they watch."""
    quantities = program.outputs.get("quantities", [])

    def dense(block: Block, stages: list[str], x: str) -> str:
        return march_dense.dense_output_ir(block, scheme, stages, x)

    text = _function(program, lanes, "quantities", ("u", "y", "w"), [(quantities, "%w", 0)])
    return text + march_watch.watch_functions_ir(lanes, m, len(quantities), dense, scheme.stages)


SLIVER = 1e-9  # a fixed step that ends this close to the end, relative to its length, ends on it


class Judgement(NamedTuple):
    """The registers of what came of an attempt."""

    error: str
    accept: str
    reject: str


def _begin_attempt(code: LaneCode, scheme: Scheme) -> Attempt:
    """Choose the attempt's length: the wanted one within bounds for a new step, else that of the last attempt."""
    t, end, h = code.row(T), code.row(T_END), code.row(H)
    stop = end
    if scheme.lands:
        code.line("  call void @land(ptr %control, ptr %grid, i64 %count)")
        stop = code.row(LANDING)
    if scheme.fixed:
        return _begin_fixed_attempt(code, t, (stop, end), h)
    fresh = code.compare("one", code.row(FRESH), code.number(0.0))
    spacing = code.spacing(t)
    h = code.select(fresh, bounded_step_length(Lane(code, h), spacing, code.row(MAX_STEP)).register, h)
    wanted = code.select(fresh, h, code.row(WANTED))
    most = code.select(fresh, code.number(scheme.most_factor), code.row(MOST))
    going = _going(code, t, end, code.compare("ult", h, spacing))
    ahead = code.operation("fadd", t, h)
    return _up_to_end(code, t, stop, ahead, code.compare("ogt", ahead, stop), (wanted, most), going)


def _begin_fixed_attempt(code: LaneCode, t: str, ends: tuple[str, str], h: str) -> Attempt:
    """Choose the end of an attempt of this length: the next stop, if hardly anything is left up to it."""
    stop, end = ends
    ahead = code.operation("fadd", t, h)
    going = _going(code, t, end, code.compare("ule", ahead, t))
    nearly = code.operation("fadd", t, code.operation("fmul", h, code.number(1 + SLIVER)))
    return _up_to_end(code, t, stop, ahead, code.compare("oge", nearly, stop), (h, code.number(1.0)), going)


def _up_to_end(code: LaneCode, t: str, end: str, ahead: str, cut: str, lengths: tuple[str, str], going: str) -> Attempt:
    """The attempt from t to `ahead`, or to its end where that cuts it."""
    t_new = code.select(cut, end, ahead)
    h = code.select(going, code.operation("fsub", t_new, t), code.number(0.0))
    return Attempt(t, t_new, h, *lengths, cut, going)


def _going(code: LaneCode, t: str, end: str, small: str) -> str:
    """Leave the loop if no lane has a step to take, and the lanes out whose steps are too small."""
    going = code.both(code.compare("olt", t, end), code.compare("oeq", code.row(STATUS), code.number(GOING)))
    small = code.both(going, small)
    code.put(STATUS, code.select(small, code.number(TOO_SMALL), code.row(STATUS)))
    going = code.both(going, code.opposite(small))
    code.line(f"  br i1 {code.any(going)}, label %try, label %reached\ntry:")
    return going


def _try(code: LaneCode, scheme: Scheme, attempt: Attempt, measured: int, guarded: bool) -> Judgement:
    """Evaluate the stages, the new state and its error; a lane with an event ahead stops."""
    count, h, going = len(scheme.B), attempt.h, attempt.going
    for s in range(1, count):
        code.combine("trial", "y", [(scheme.A[s][j], f"K{j}") for j in range(s)], h)
        code.rate("trial", f"K{s}", code.block.call("fma", h, code.number(scheme.C[s]), attempt.t))
    code.combine("new", "y", [(b, f"K{j}") for j, b in enumerate(scheme.B)], h)
    code.rate("new", f"K{count}", attempt.t_new)
    error = code.unsound("new") if scheme.fixed else _error(code, scheme, measured, h)
    passed = code.compare("olt", error, code.number(1.0))
    if guarded:
        barred = code.both(code.both(going, passed), code.compare("ole", code.row(GUARD), code.number(0.0)))
        code.put(STATUS, code.select(barred, code.number(GUARDED), code.row(STATUS)))
        going = code.both(going, code.opposite(barred))
    if scheme.further:
        march_dense.further_stages_ir(code, scheme, attempt, code.both(going, passed))
    arguments = "ptr %u, ptr %y, ptr %new, ptr %stages, ptr %table, ptr %watches"
    seen = code.let(f"call {code.block.bit} @seen({arguments}, {code.vector} {attempt.t}, {code.vector} {h})")
    barred = code.both(code.both(going, passed), seen)
    code.put(STATUS, code.select(barred, code.number(GUARDED), code.row(STATUS)))
    going = code.both(going, code.opposite(barred))
    return Judgement(error, code.both(going, passed), code.both(going, code.opposite(passed)))


def _error(code: LaneCode, scheme: Scheme, measured: int, h: str) -> str:
    """The error of an attempt, in units of the tolerance."""
    E, low = ([(e, f"K{j}") for j, e in enumerate(weights)] for weights in (scheme.E, scheme.E_low))
    if not low:
        return code.block.call(
            "sqrt", code.operation("fdiv", code.squares(E, measured, h), code.number(float(measured)))
        )
    high_square, low_square = (Lane(code, code.squares(terms, measured, code.number(1.0))) for terms in (E, low))
    register: str = combined_step_error(high_square, low_square, Lane(code, h), float(measured)).register
    return register


def _choose_lengths(code: LaneCode, scheme: Scheme, attempt: Attempt, judgement: Judgement) -> str:
    """Choose the next length and count the attempt; return the register that is 1 where the step was accepted."""
    error, h, wanted, most = (Lane(code, x) for x in (judgement.error, attempt.h, attempt.wanted, attempt.most))
    accept, reject = judgement.accept, judgement.reject
    if scheme.fixed:  # no other length can help
        code.put(STATUS, code.select(reject, code.number(TOO_SMALL), code.row(STATUS)))
    else:
        longer, shorter = (lane.register for lane in next_step_lengths(error, h, wanted, most, attempt.cut, scheme))
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
    code.line(f"  call void @rows({march_dense.ROWS_ARGUMENTS})")


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


def _rate_function(program: Program, lanes: int, closed: int, behind: int) -> str:
    """The rate of the state as a function of pointers; the guard and the closed state go into the control block."""
    guard = program.outputs.get("guard", [])
    outputs = [(program.outputs["rate"], "%dy", 0), (guard, "%control", GUARD)]
    if closed:
        outputs.append((program.outputs["closed"], "%control", behind))
    return _function(program, lanes, "rate", ("control", "u", "y", "dy"), outputs)


def _function(
    program: Program, lanes: int, name: str, pointers: Sequence[str], outputs: Sequence[tuple[list[Node], str, int]]
) -> str:
    """A part of the program, which is called so that its code is there once; outputs go to rows from a place on."""
    block = Block(lanes)
    needed = {node.id for node in live_nodes([node for nodes, _, _ in outputs for node in nodes])}
    values = {}
    for group, nodes in program.inputs.items():
        for k, node in enumerate(nodes):
            if node.id in needed:
                place = block.offset(f"%{group}", k * lanes)
                values[node.id] = block.let(f"load {block.double}, ptr {place}, align 8")
    own = {node.id: k for k, node in enumerate(program.numbers)}

    def value(node: Node) -> str:
        return block.number(own[node.id]) if node.id in own else values[node.id]

    registers = iter(block.run([node for nodes, _, _ in outputs for node in nodes], value))
    for nodes, base, first in outputs:
        for k, register in zip(range(len(nodes)), registers):
            block.do(f"store {block.double} {register}, ptr {block.offset(base, (first + k) * lanes)}, align 8")
    body = "\n".join(block.lines)
    arguments = ", ".join(f"ptr noalias %{pointer}" for pointer in pointers)
    return f"define internal void @{name}({arguments}) noinline {{\n{body}\n  ret void\n}}\n"
