"""Newton's method for the stages of an implicit step in the compiled loop, as LLVM IR.

It is simplified: one matrix of derivatives J serves for many steps, in coordinates W in which a real and a complex
system of the state's size stand apart (Hairer, Wanner: Solving Ordinary Differential Equations II, sec. IV.8).
"""

from __future__ import annotations

import numpy as np

from ..program.control import larger_in_step_control, smaller_in_step_control
from . import elimination, march_dense
from .block import Block
from .collocation import POINTERS, STAGES, Code, Collocation
from .flow import ir_leave, ir_loop, ir_when
from .march_block import FACTORED, LAST, PACE, ROUNDS, RTOL, H, T
from .march_lanes import Lane


def newton_functions_ir(method: Collocation, measured: int) -> str:
    """The IR of `factors`, which makes the matrices of both systems ready, and of `newton`, which solves for Z."""
    return (
        f"{_newton(method, measured)}{_factors(method, measured)}{elimination.elimination_ir(measured)}"
        f"{_rest(measured, 1)}{_rest(measured, 2)}"
    )


def _factors(method: Collocation, measured: int) -> str:
    """The function that makes and factors the matrices λ/h − J of both systems."""
    code = Code(method, measured)
    h, n = code.row(H), measured
    shifts = [code.operation("fdiv", code.number(x), h) for x in (method.real, method.pair.real, method.pair.imag)]
    with ir_loop(code.block, "0", str(n)) as rows, ir_loop(code.block, "0", str(n)) as columns:
        place = code.let(f"add i64 {code.let(f'mul i64 {rows.index}, {n}')}, {columns.index}")
        corner = code.let(f"icmp eq i64 {rows.index}, {columns.index}")
        own = [code.select(corner, shift, code.number(0.0)) for shift in shifts]
        J, double = code.get("J", place), code.let(f"mul i64 {place}, 2")
        code.set("real", place, code.operation("fsub", own[0], J))
        code.set("complex", double, code.operation("fsub", own[1], J))
        code.set("complex", code.let(f"add i64 {double}, 1"), own[2])
    code.line("  call void @factor.1(ptr %real, ptr %pivots1)\n  call void @factor.2(ptr %complex, ptr %pivots2)")
    code.put(FACTORED, code.number(1.0))
    code.line("  ret void")
    return code.function(f"define internal void @factors({POINTERS}) noinline")


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


def _newton(method: Collocation, measured: int) -> str:
    """The function that solves for the stages Z, and says whether it has come to an end."""
    code = Code(method, measured)
    h, t = code.row(H), code.row(T)
    _guess(code, h)
    with code.each(code.m) as i:
        Z = [code.get(f"Z{k}", i) for k in range(STAGES)]
        for k in range(STAGES):
            code.set(f"W{k}", i, code.sum([*zip(method.inverse[k], Z)]))
    tolerance = Lane(code, code.block.call("sqrt", code.row(RTOL)))
    least = code.operation("fdiv", code.number(10 * float(np.finfo(float).eps)), code.row(RTOL))
    tolerance = larger_in_step_control(smaller_in_step_control(tolerance, 0.03), Lane(code, least))
    with ir_loop(code.block, "0", str(method.rounds), [("double", code.number(-1.0))]) as each:
        done = code.let(f"add i64 {each.index}, 1")
        code.put(ROUNDS, code.let(f"sitofp i64 {done} to double"))
        _stage_rates(code, t, h)
        _corrections(code, h)
        size = code.size([f"F{k}" for k in range(STAGES)], "y")
        _judge(code, each.index, size, each.values[0], tolerance.register)
        each.following.append(size)
    code.line("  br label %failed\nfailed:\n  ret i1 false\nsolved:\n  ret i1 true")
    return code.function(f"define internal i1 @newton({POINTERS}) noinline")


def _guess(code: Code, h: str) -> None:
    """Write the stages by which Newton's method begins: the last step's polynomial goes on, if there is one."""
    method, last = code.method, code.row(LAST)
    with code.each(code.m) as i:
        for k in range(STAGES):
            code.set(f"Z{k}", i, code.number(0.0))
    with ir_when(code.block, code.compare("one", last, code.number(0.0))):
        ratio = code.operation("fdiv", h, last)
        places = [code.block.call("fma", code.number(c), ratio, code.number(1.0)) for c in method.C]
        with code.each(code.m) as i:
            K = [code.get(f"K{k}", i) for k in range(method.stages)]
            for k, x in enumerate(places):
                ahead = code.operation("fsub", march_dense.dense_output_ir(code.block, method, K, x), K[-1])
                code.set(f"Z{k}", i, code.operation("fmul", last, ahead))


def _stage_rates(code: Code, t: str, h: str) -> None:
    """Write the rates F at the stages; Newton's method has failed where one isn't finite."""
    for k, c in enumerate(code.method.C):
        with code.each(code.m) as i:
            code.set("trial", i, code.operation("fadd", code.get("y", i), code.get(f"Z{k}", i)))
        code.rate("trial", f"F{k}", code.block.call("fma", h, code.number(c), t))
    with ir_loop(code.block, "0", str(code.m), [("double", code.number(0.0))]) as each:
        watch = each.values[0]
        for k in range(STAGES):
            watch = code.block.watched(code.get(f"F{k}", each.index), watch)
        each.following.append(watch)
    ir_leave(code.block, code.compare("uno", each.values[0], each.values[0]), "failed")


def _corrections(code: Code, h: str) -> None:
    """Write the corrections of W into F: the solutions of the real and of the complex system."""
    method = code.method
    real, a, b = (code.operation("fdiv", code.number(x), h) for x in (method.real, method.pair.real, method.pair.imag))
    with code.each(code.m) as i:
        F, W = ([code.get(f"{name}{k}", i) for k in range(STAGES)] for name in "FW")
        mixed = [code.sum([*zip(method.inverse[k], F)]) for k in range(STAGES)]
        code.set("F0", i, code.operation("fsub", mixed[0], code.operation("fmul", real, W[0])))
        upper = code.operation("fsub", code.operation("fmul", a, W[1]), code.operation("fmul", b, W[2]))
        lower = code.operation("fadd", code.operation("fmul", a, W[2]), code.operation("fmul", b, W[1]))
        twice = code.let(f"mul i64 {i}, 2")
        code.set("pairs", twice, code.operation("fsub", mixed[1], upper))
        code.set("pairs", code.let(f"add i64 {twice}, 1"), code.operation("fsub", mixed[2], lower))
    code.line("  call void @solve.1(ptr %real, ptr %pivots1, ptr %F0)")
    code.line("  call void @solve.2(ptr %complex, ptr %pivots2, ptr %pairs)")
    for name, parts, number in (("F0", 1, complex(method.real)), ("pairs", 2, method.pair)):
        inverse = [code.operation("fmul", h, code.number(x)) for x in ((1 / number).real, (1 / number).imag)]
        code.line(f"  call void @rest.{parts}(ptr %J, ptr %{name}, double {inverse[0]}, double {inverse[1]})")
    with code.each(code.m) as i:
        twice = code.let(f"mul i64 {i}, 2")
        code.set("F1", i, code.get("pairs", twice))
        code.set("F2", i, code.get("pairs", code.let(f"add i64 {twice}, 1")))


def _judge(code: Code, k: str, size: str, before: str, tolerance: str) -> None:
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
        W = [code.operation("fadd", code.get(f"W{j}", i), code.get(f"F{j}", i)) for j in range(STAGES)]
        for j in range(STAGES):
            code.set(f"W{j}", i, W[j])
            code.set(f"Z{j}", i, code.sum([*zip(method.T[j], W)]))
    near = code.operation("fmul", code.operation("fdiv", pace, rest), size)
    enough = code.both(second, compare("olt", near, tolerance))
    ir_leave(code.block, code.let(f"or i1 {enough}, {compare('oeq', size, number(0.0))}"), "solved")
