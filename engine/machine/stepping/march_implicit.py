"""The compiled loop of implicit methods, as LLVM IR, for a single run; the methods differ in their steps only."""

from __future__ import annotations

from collections.abc import Sequence

from ..jit.flow import ir_leave, ir_when
from ..loops.emit import OUTSIDE
from ..program.control import bounded_step_length
from ..program.recording import Program
from . import march_code, newton
from .collocation import Collocation
from .differences import Differences
from .implicit import POINTERS, Code, ImplicitStep
from .march_block import (
    ACCEPTED,
    CURRENT,
    DERIVED,
    FACTORED,
    FRESH,
    GOING,
    GUARD,
    GUARDED,
    MAX_STEP,
    PAUSED,
    REACHED,
    REJECTED,
    STATUS,
    STEP,
    T_END,
    T_NEW,
    TAKEN,
    TOO_SMALL,
    H,
    T,
)
from .march_collocation import CollocationStep
from .march_differences import DifferencesStep
from .march_lanes import Lane

ARGUMENTS = (
    f"{OUTSIDE}, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, i64 %attempts, ptr %watches, ptr %jacobian"
)
Implicit = Collocation | Differences


def implicit_compiled_loop_ir(
    program: Program, method: Implicit, measured: int, units: Sequence[int], *, late: bool = False
) -> str:
    """The IR of the loop and of its right-hand side, with arguments that mean what they do in `march_code`.

    The last argument is the address of code for one sample that gives the derivatives of the rate along the measured
    components of the state, row by row; the others are quadratures, which nothing depends on.
    """
    m = measured + 2
    step = CollocationStep(method) if isinstance(method, Collocation) else DifferencesStep(method)
    shared = march_code.implicit_loop_parts_ir(program, method, m, late=late)
    own = newton.newton_functions_ir(step, method, measured) + step.functions(measured)
    steps = _loop(step, Code(method, measured), units, "guard" in program.outputs, late)
    return f"{shared}{own}{steps}{march_code.first_stage_ir()}"


def _loop(step: ImplicitStep, code: Code, units: Sequence[int], guarded: bool, late: bool) -> str:
    """The loop over attempts at steps."""
    code.line("  br label %attempt\nattempt:\n  %tries = phi i64 [0, %entry], [%more, %next]")
    t, h = _begin(step, code)
    step.predict(code)
    _solve(step, code, t)
    error = step.error(code, t, h)
    large = code.compare("ugt", error, code.number(1.0))
    with ir_when(code.block, large):
        step.refuse(code, error, h)
        code.add(REJECTED, 1.0)
    ir_leave(code.block, large, "next")
    step.finish(code, error, h, guarded=guarded)
    _look(code, t, h, guarded)
    _accept(step, code, error, h, units, late)
    code.line("  br label %next\nnext:\n  %more = add i64 %tries, 1")
    code.line("  %again = icmp slt i64 %more, %attempts\n  br i1 %again, label %attempt, label %paused")
    code.line(f"reached:\n  ret i64 {REACHED}\npaused:\n  ret i64 {PAUSED}")
    return code.function(f"define i64 @march({ARGUMENTS})")


def _begin(step: ImplicitStep, code: Code) -> tuple[str, str]:
    """Begin an attempt: the registers of its instant and its length."""
    t, end, number = code.row(T), code.row(T_END), code.number
    over = code.let(f"or i1 {code.compare('oge', t, end)}, {code.compare('one', code.row(STATUS), number(GOING))}")
    ir_leave(code.block, over, "reached")
    spacing = code.spacing(t)
    with ir_when(code.block, code.compare("one", code.row(FRESH), number(0.0))):
        wanted = code.row(H)
        h = bounded_step_length(Lane(code, wanted), spacing, code.row(MAX_STEP)).register
        code.put(H, h)
        step.fresh(code, h, wanted)
    h = code.row(H)
    small = code.compare("ult", h, spacing)
    code.put(STATUS, code.select(small, number(TOO_SMALL), number(GOING)))
    ir_leave(code.block, small, "reached")
    end = step.bound(code, end)
    ahead = code.operation("fadd", t, h)
    cut = code.compare("ogt", ahead, end)
    t_new = code.select(cut, end, ahead)
    left = code.operation("fsub", t_new, t)
    code.put(T_NEW, t_new)
    code.put(H, left)
    code.put(FRESH, number(0.0))
    step.cut(code, cut, code.operation("fdiv", left, h))
    return t, left


def _solve(step: ImplicitStep, code: Code, t: str) -> None:
    """Solve the step's equations, with new derivatives if it doesn't work with old ones; else the step is halved."""
    with ir_when(code.block, code.is_zero(DERIVED)):
        code.derive("y", t)
    with ir_when(code.block, code.is_zero(FACTORED)):
        code.line(f"  call void @factors({POINTERS})")
    solved = code.let(f"call i1 @newton({POINTERS})")
    code.put(STEP, code.let(f"uitofp i1 {solved} to double"))
    old = code.both(code.is_zero(STEP), code.is_zero(CURRENT))
    with ir_when(code.block, old):
        code.derive(step.guessed, t if step.guessed == "y" else code.row(T_NEW))
        code.line(f"  call void @factors({POINTERS})")
        again = code.let(f"call i1 @newton({POINTERS})")
        code.put(STEP, code.let(f"uitofp i1 {again} to double"))
    failed = code.is_zero(STEP)
    with ir_when(code.block, failed):
        code.put(H, code.operation("fmul", code.row(H), code.number(0.5)))
        step.resize(code, code.number(0.5))
        code.put(FACTORED, code.number(0.0))
        code.add(REJECTED, 1.0)
    ir_leave(code.block, failed, "next")


def _look(code: Code, t: str, h: str, guarded: bool) -> None:
    """Stop before a step within which there may be an event."""
    arguments = f"{OUTSIDE}, ptr %y, ptr %new, ptr %stages, ptr %watches"
    barred = code.compare("ole", code.row(GUARD), code.number(0.0)) if guarded else "false"
    seen = code.let(f"call i1 @seen({arguments}, double {t}, double {h})")
    barred = code.let(f"or i1 {barred}, {seen}")
    code.put(STATUS, code.select(barred, code.number(GUARDED), code.number(GOING)))
    ir_leave(code.block, barred, "reached")


def _accept(step: ImplicitStep, code: Code, error: str, h: str, units: Sequence[int], late: bool) -> None:
    """Write the rows of the step, put the new state in the place of the old one, and choose the next length."""
    number = code.number
    code.put(STEP, h)
    code.put(TAKEN, number(1.0))
    code.line(f"  call void @rows({OUTSIDE}, ptr %y, ptr %stages, ptr %new, ptr %grid, i64 %count, ptr %out)")
    if late:
        code.line(march_code.KEEP.format(code.m))
    code.put(FRESH, number(1.0))
    code.put(CURRENT, number(0.0))
    code.add(ACCEPTED, 1.0)
    code.put(T, code.row(T_NEW))
    with code.each(code.m) as i:
        code.set("y", i, code.get("new", i))
    step.accept(code, error, h)
    for first in units:
        code.normalise(first, "true")
    step.settle(code, units)
