"""Newton's method for an implicit step in the compiled loop, as LLVM IR.

It is simplified: one matrix of derivatives J serves for many steps (Hairer, Wanner: Solving Ordinary Differential
Equations II, sec. IV.8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..jit.block import Block
from ..jit.flow import ir_leave, ir_loop
from ..program.control import larger_in_step_control, smaller_in_step_control
from . import elimination
from .implicit import POINTERS, Code, ImplicitMethod, ImplicitStep
from .march_block import FACTORED, PACE, ROUNDS, RTOL
from .march_lanes import Lane


def newton_functions_ir(step: ImplicitStep, method: ImplicitMethod, measured: int) -> str:
    """The IR of `factors`, which makes the matrices of all systems ready, and of `newton`, which solves them."""
    return (
        f"{_newton(step, method, measured)}{_factors(step, method, measured)}"
        f"{elimination.elimination_ir(measured, step.parts)}{''.join(_rest(measured, parts) for parts in step.parts)}"
    )


def _factors(step: ImplicitStep, method: ImplicitMethod, measured: int) -> str:
    """The function that makes and factors the matrices s − J of all systems: a real one, and perhaps a complex one."""
    code = Code(method, measured)
    n, shifts = measured, step.shifts(code)
    with ir_loop(code.block, "0", str(n)) as rows, ir_loop(code.block, "0", str(n)) as columns:
        place = code.let(f"add i64 {code.let(f'mul i64 {rows.index}, {n}')}, {columns.index}")
        corner = code.let(f"icmp eq i64 {rows.index}, {columns.index}")
        own = [code.select(corner, shift, code.number(0.0)) for shift in shifts]
        J = code.get("J", place)
        code.set("real", place, code.operation("fsub", own[0], J))
        if 2 in step.parts:
            double = code.let(f"mul i64 {place}, 2")
            code.set("complex", double, code.operation("fsub", own[1], J))
            code.set("complex", code.let(f"add i64 {double}, 1"), own[2])
    for parts in step.parts:
        code.line(f"  call void @factor.{parts}(ptr %{MATRICES[parts]}, ptr %pivots{parts})")
    code.put(FACTORED, code.number(1.0))
    step.factored(code, shifts)
    code.line("  ret void")
    return code.function(f"define internal void @factors({POINTERS}) noinline")


MATRICES = {1: "real", 2: "complex"}  # by the parts of their numbers


def solve_lines(code: Code, parts: int, b: str, inverse: Sequence[str]) -> None:
    """Write the solution of a system (s − J) x = b in the place of b, quadratures included, given the parts of 1/s."""
    code.line(f"  call void @solve.{parts}(ptr %{MATRICES[parts]}, ptr %pivots{parts}, ptr %{b})")
    real, imaginary = [*inverse, code.number(0.0)][:2]
    code.line(f"  call void @rest.{parts}(ptr %J, ptr %{b}, double {real}, double {imaginary})")


def _rest(measured: int, parts: int) -> str:
    """The function for the quadratures of a solution x of (s − J) x = b: (b + J x) / s, given 1/s."""
    block, n = Block(1), measured
    let = block.let

    def at(base: str, place: str) -> str:
        return let(f"getelementptr double, ptr {base}, i64 {place}")

    block.lines.append("entry:")
    for row in (n, n + 1):
        own = [let(f"load double, ptr {at('%b', str(row * parts + k))}") for k in range(parts)]
        with ir_loop(block, "0", str(n), [("double", x) for x in own]) as along:
            J = let(f"load double, ptr {at('%J', let(f'add i64 {along.index}, {row * n}'))}")
            for k in range(parts):
                place = let(f"add i64 {let(f'mul i64 {along.index}, {parts}')}, {k}")
                x = let(f"load double, ptr {at('%b', place)}")
                along.following.append(block.call("fma", J, x, along.values[k]))
        a, result = along.values, [let(f"fmul double {along.values[0]}, %s")]
        if parts == 2:
            minus = let("fneg double %i")
            result = [block.call("fma", a[1], minus, result[0]), let(f"fmul double {a[1]}, %s")]
            result[1] = block.call("fma", a[0], "%i", result[1])
        for k, x in enumerate(result):
            block.do(f"store double {x}, ptr {at('%b', str(row * parts + k))}")
    body = "\n".join(block.lines)
    arguments = "ptr %J, ptr %b, double %s, double %i"
    return f"define internal void @rest.{parts}({arguments}) noinline {{\n{body}\n  ret void\n}}\n"


def _newton(step: ImplicitStep, method: ImplicitMethod, measured: int) -> str:
    """The function that solves for what the step's end follows from, and says whether it has come to an end."""
    code = Code(method, measured)
    step.guess(code)
    tolerance = Lane(code, code.block.call("sqrt", code.row(RTOL)))
    least = code.operation("fdiv", code.number(10 * float(np.finfo(float).eps)), code.row(RTOL))
    tolerance = larger_in_step_control(smaller_in_step_control(tolerance, 0.03), Lane(code, least))
    with ir_loop(code.block, "0", str(method.rounds), [("double", code.number(-1.0))]) as each:
        done = code.let(f"add i64 {each.index}, 1")
        code.put(ROUNDS, code.let(f"sitofp i64 {done} to double"))
        step.rates(code)
        _finite(code, step)
        step.corrections(code)
        size = code.size(step.corrected, step.scaled)
        _judge(code, step, each.index, size, each.values[0], tolerance.register)
        each.following.append(size)
    code.line("  br label %failed\nfailed:\n  ret i1 false\nsolved:\n  ret i1 true")
    return code.function(f"define internal i1 @newton({POINTERS}) noinline")


def _finite(code: Code, step: ImplicitStep) -> None:
    """Leave where a rate isn't finite: Newton's method has failed."""
    with ir_loop(code.block, "0", str(code.m), [("double", code.number(0.0))]) as each:
        watch = each.values[0]
        for name in step.corrected:
            watch = code.block.watched(code.get(name, each.index), watch)
        each.following.append(watch)
    ir_leave(code.block, code.compare("uno", each.values[0], each.values[0]), "failed")


def _judge(code: Code, step: ImplicitStep, k: str, size: str, before: str, tolerance: str) -> None:
    """Leave where the corrections don't become small enough in the rounds that are left, or are small enough.

    `before` is the size of the last corrections, negative in the first round.
    """
    method, number, compare = code.method, code.number, code.compare
    pace, second = code.operation("fdiv", size, before), compare("oge", before, number(0.0))
    code.put(PACE, code.select(second, pace, number(0.0)))
    rest = code.operation("fsub", number(1.0), pace)
    left = code.let(f"sitofp i64 {code.let(f'sub i64 {method.rounds}, {k}')} to double")
    far = code.let(f"call double @llvm.pow.f64(double {pace}, double {left})")
    far = code.operation("fmul", code.operation("fdiv", far, rest), size)
    hopeless = code.let(f"or i1 {compare('uge', pace, number(1.0))}, {compare('ugt', far, tolerance)}")
    ir_leave(code.block, code.both(second, hopeless), "failed")
    with code.each(code.m) as i:
        step.correct(code, i)
    near = code.operation("fmul", code.operation("fdiv", pace, rest), size)
    enough = code.both(second, compare("olt", near, tolerance))
    ir_leave(code.block, code.let(f"or i1 {enough}, {compare('oeq', size, number(0.0))}"), "solved")
