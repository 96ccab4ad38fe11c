"""The compiled loop of an implicit Runge-Kutta method with three stages, as LLVM IR, for a single run.

Decisions are those of scipy's `Radau`, and so are the steps.  They end on output rows, for dense output is of a low
order.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..program.control import bounded_step_length, foreseen_step_factor, larger_in_step_control, smaller_in_step_control
from ..program.recording import Program
from . import march_code, march_dense, newton
from .collocation import POINTERS, STAGES, Code, Collocation
from .flow import ir_leave, ir_when
from .march_block import (
    ACCEPTED,
    BEFORE,
    CURRENT,
    DERIVED,
    ERROR,
    FACTORED,
    FRESH,
    GOING,
    GUARD,
    GUARDED,
    LAST,
    MAX_STEP,
    PACE,
    PAUSED,
    REACHED,
    REFUSED,
    REJECTED,
    ROUNDS,
    ROW,
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
from .march_lanes import Lane

ARGUMENTS = (
    "ptr %control, ptr %u, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, i64 %attempts, ptr %table, "
    "ptr %watches, ptr %jacobian"
)


def implicit_compiled_loop_ir(
    program: Program, method: Collocation, measured: int, units: Sequence[int], *, late: bool = False
) -> str:
    """The IR of the loop and of its right-hand side, with arguments that mean what they do in `march_code`.

    The last argument is the address of code for one sample that gives the derivatives of the rate along the measured
    components of the state, row by row; the others are quadratures, which nothing depends on.
    """
    m = measured + 2
    shared = march_code.compiled_loop_parts_ir(program, method, m, 1, late=late)
    steps = _loop(method, measured, units, "guard" in program.outputs, late)
    return f"{shared}{newton.newton_functions_ir(method, measured)}{steps}{march_code.first_stage_ir(1)}"


def _loop(method: Collocation, measured: int, units: Sequence[int], guarded: bool, late: bool) -> str:
    """The loop over attempts at steps."""
    code = Code(method, measured)
    code.line("  br label %attempt\nattempt:\n  %tries = phi i64 [0, %entry], [%more, %next]")
    t, h = _begin(code)
    _solve_stages(code, t, h)
    error, safety = _error(code, t, h)
    before = code.row(BEFORE)
    factor = foreseen_step_factor(
        Lane(code, error), code.lane(ERROR), Lane(code, h), Lane(code, before), method.exponent
    ) * Lane(code, safety)
    with ir_when(code.block, code.compare("ugt", error, code.number(1.0))):
        code.put(H, (Lane(code, h) * larger_in_step_control(factor, method.least_factor)).register)
        code.put(REFUSED, code.number(1.0))
        _refuse(code)
    ir_leave(code.block, code.compare("ugt", error, code.number(1.0)), "next")
    _look(code, t, h, guarded)
    _accept(code, h, error, factor, units, late)
    code.line("  br label %next\nnext:\n  %more = add i64 %tries, 1")
    code.line("  %again = icmp slt i64 %more, %attempts\n  br i1 %again, label %attempt, label %paused")
    code.line(f"reached:\n  ret i64 {REACHED}\npaused:\n  ret i64 {PAUSED}")
    return code.function(f"define i64 @march({ARGUMENTS})")


def _begin(code: Code) -> tuple[str, str]:
    """Begin an attempt: the registers of its instant and its length, which ends on the next row at the latest."""
    t, end, number = code.row(T), code.row(T_END), code.number
    over = code.let(f"or i1 {code.compare('oge', t, end)}, {code.compare('one', code.row(STATUS), number(GOING))}")
    ir_leave(code.block, over, "reached")
    spacing = code.spacing(t)
    with ir_when(code.block, code.compare("one", code.row(FRESH), number(0.0))):
        wanted = code.row(H)
        h = bounded_step_length(Lane(code, wanted), spacing, code.row(MAX_STEP)).register
        code.put(WANTED, wanted)
        code.put(H, h)
        code.put(BEFORE, code.select(code.compare("oeq", h, wanted), code.row(BEFORE), number(0.0)))
        code.put(REFUSED, number(0.0))
    h = code.row(H)
    small = code.compare("ult", h, spacing)
    code.put(STATUS, code.select(small, number(TOO_SMALL), number(GOING)))
    ir_leave(code.block, small, "reached")
    row = code.let(f"fptosi double {code.row(ROW)} to i64")
    some = code.let(f"icmp slt i64 {row}, %count")
    at = code.let(f"getelementptr double, ptr %grid, i64 {row}")
    at = code.let(f"select i1 {some}, ptr {at}, ptr {code.block.offset('%control', T_END)}")
    end = smaller_in_step_control(Lane(code, code.let(f"load double, ptr {at}")), Lane(code, end)).register
    ahead = code.operation("fadd", t, h)
    t_new = code.select(code.compare("ogt", ahead, end), end, ahead)
    h = code.operation("fsub", t_new, t)
    code.put(T_NEW, t_new)
    code.put(H, h)
    code.put(FRESH, number(0.0))
    return t, h


def _solve_stages(code: Code, t: str, h: str) -> None:
    """Solve for the stages, with new derivatives if it doesn't work with old ones; else the step is halved."""
    with ir_when(code.block, code.is_zero(DERIVED)):
        code.derive("y", t)
    with ir_when(code.block, code.is_zero(FACTORED)):
        code.line(f"  call void @factors({POINTERS})")
    solved = code.let(f"call i1 @newton({POINTERS})")
    code.put(STEP, code.let(f"uitofp i1 {solved} to double"))
    old = code.both(code.is_zero(STEP), code.is_zero(CURRENT))
    with ir_when(code.block, old):
        code.derive("y", t)
        code.line(f"  call void @factors({POINTERS})")
        again = code.let(f"call i1 @newton({POINTERS})")
        code.put(STEP, code.let(f"uitofp i1 {again} to double"))
    failed = code.is_zero(STEP)
    with ir_when(code.block, failed):
        code.put(H, code.operation("fmul", h, code.number(0.5)))
        _refuse(code)
    ir_leave(code.block, failed, "next")


def _refuse(code: Code) -> None:
    """Count a refused attempt; the next one has another length, and so other matrices."""
    code.put(FACTORED, code.number(0.0))
    code.put(REJECTED, code.operation("fadd", code.row(REJECTED), code.number(1.0)))


def _error(code: Code, t: str, h: str) -> tuple[str, str]:
    """The registers of the error, in units of the tolerance, and of the safety factor."""
    method, last = code.method, f"Z{STAGES - 1}"
    with code.each(code.m) as i:
        code.set("new", i, code.operation("fadd", code.get("y", i), code.get(last, i)))
        Z = [code.get(f"Z{k}", i) for k in range(STAGES)]
        share = code.operation("fdiv", code.sum([*zip(method.E, Z)]), h)
        code.set("W0", i, share)
        code.set("W1", i, code.operation("fadd", code.get("K0", i), share))
        code.set("W2", i, code.number(0.0))
    code.line("  call void @solve.1(ptr %real, ptr %pivots1, ptr %W1)")
    code.put(STEP, code.size(["W1"], "y", "new"))
    large = code.compare("ogt", code.row(STEP), code.number(1.0))
    with ir_when(code.block, code.both(large, code.opposite(code.is_zero(REFUSED)))):
        with code.each(code.measured) as i:
            code.set("W2", i, code.get("W1", i))
        with code.each(code.m) as i:
            code.set("trial", i, code.operation("fadd", code.get("y", i), code.get("W2", i)))
        code.rate("trial", "after", t)
        with code.each(code.m) as i:
            code.set("W1", i, code.operation("fadd", code.get("after", i), code.get("W0", i)))
        code.line("  call void @solve.1(ptr %real, ptr %pivots1, ptr %W1)")
        code.put(STEP, code.size(["W1"], "y", "new"))
    most = 2.0 * method.rounds
    rounds = code.operation("fadd", code.row(ROUNDS), code.number(most))
    return code.row(STEP), code.operation("fdiv", code.number(method.safety * (most + 1)), rounds)


def _look(code: Code, t: str, h: str, guarded: bool) -> None:
    """Evaluate the rate at the step's end, and stop before a step within which there may be an event."""
    code.rate("new", "after", code.row(T_NEW))
    for k in range(STAGES):
        with code.each(code.m) as i:
            code.set(f"K{k + 1}", i, code.operation("fdiv", code.get(f"Z{k}", i), h))
    arguments = "ptr %u, ptr %y, ptr %new, ptr %stages, ptr %table, ptr %watches"
    barred = code.compare("ole", code.row(GUARD), code.number(0.0)) if guarded else "false"
    seen = code.let(f"call i1 @seen({arguments}, double {t}, double {h})")
    barred = code.let(f"or i1 {barred}, {seen}")
    code.put(STATUS, code.select(barred, code.number(GUARDED), code.number(GOING)))
    ir_leave(code.block, barred, "reached")


def _accept(code: Code, h: str, error: str, factor: Lane, units: Sequence[int], late: bool) -> None:
    """Write the rows of the step, choose the next length, and put the new state in the place of the old one."""
    method, number = code.method, code.number
    code.put(STEP, h)
    code.put(TAKEN, number(1.0))
    code.line(f"  call void @rows({march_dense.ROWS_ARGUMENTS})")
    if late:
        code.line(march_code.KEEP)
    many = code.compare("ogt", code.row(ROUNDS), number(2.0))
    renew = code.both(many, code.compare("ogt", code.row(PACE), number(method.slow)))
    grown = smaller_in_step_control(factor, method.most_factor).register
    keep = code.both(code.opposite(renew), code.compare("olt", grown, number(method.worth)))
    code.put(FACTORED, code.select(keep, number(1.0), number(0.0)))
    code.put(BEFORE, code.row(WANTED))
    code.put(ERROR, error)
    code.put(LAST, h)
    code.put(H, code.operation("fmul", h, code.select(keep, number(1.0), grown)))
    code.put(FRESH, number(1.0))
    code.put(ACCEPTED, code.operation("fadd", code.row(ACCEPTED), number(1.0)))
    t = code.row(T_NEW)
    code.put(T, t)
    with code.each(code.m) as i:
        code.set("y", i, code.get("new", i))
        code.set("K0", i, code.get("after", i))
    code.put(CURRENT, number(0.0))
    with ir_when(code.block, renew):
        code.derive("y", t)
    for first in units:
        code.normalise(first, "true")
    if units:
        code.rate("y", "K0", t)
