"""The functions of the compiled loop that look for events within a step, as `simulate/events.py:first_crossing` does.

Each watch is a rule: an affine function, with a slack, of a component of the state or of a quantity of the program.
The loop only says that there may be an event; which one, and where, its caller finds with the same step.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from .block import Block, hexadecimal

RULE = 6  # numbers of a rule: the place of its quantity, and those of `Rule`
SAMPLES = 4  # parts of a step whose ends are looked at


def functions(m: int, quantities: int, dense: Callable[[Block, list[str], str], str], stages: int) -> str:
    """The IR of `seen`, which says whether a watch may have an event in the step to `new`, and of what it calls.

    `dense` writes a component's share of dense output, from its stages and the place within the step.
    """
    return _between(m, dense, stages) + _measure() + _verdict() + _seen(m, quantities)


def _seen(m: int, quantities: int) -> str:
    block = Block(1)
    let, line = block.let, block.lines.append
    line("entry:\n  %count = load i64, ptr %watches\n  %any = icmp sgt i64 %count, 0")
    line("  br i1 %any, label %some, label %none\nnone:\n  ret i1 false\nsome:")
    line("  %at.w = getelementptr i64, ptr %watches, i64 2\n  %word = load i64, ptr %at.w")
    line("  %w = inttoptr i64 %word to ptr\n  %behind = getelementptr double, ptr %w, i64 " + str(m))
    line("  %clock = alloca double")
    for k in range(SAMPLES + 1):
        x = hexadecimal(k / SAMPLES)
        if 0 < k < SAMPLES:
            line(f"  call void @between(ptr %y, ptr %stages, double {x}, double %h, ptr %w)")
        else:
            line(f"  call void @llvm.memcpy.p0.p0.i64(ptr %w, ptr {'%new' if k else '%y'}, i64 {8 * m}, i1 false)")
        if quantities:
            after = let(f"fmul double {x}, %h")
            line(f"  store double {let(f'fadd double %t, {after}')}, ptr %clock")
            line("  call void @signals(ptr %table, ptr %u, ptr %clock)")
            line("  call void @quantities(ptr %u, ptr %w, ptr %behind)")
        line(f"  call void @measure(ptr %watches, ptr %w, i64 {k})")
    line("  %result = call i1 @verdict(ptr %watches)\n  ret i1 %result")
    arguments = "ptr %u, ptr %y, ptr %new, ptr %stages, ptr %table, ptr %watches, double %t, double %h"
    return _function("i1", "seen", arguments, block)


def _between(m: int, dense: Callable[[Block, list[str], str], str], stages: int) -> str:
    """The state at a place within the step."""
    block = Block(1)
    let, line = block.let, block.lines.append
    line("entry:\n  br label %each\neach:\n  %i = phi i64 [0, %entry], [%i1, %each]")

    def load(base: str, skip: int) -> str:
        at = let(f"add i64 %i, {skip}")
        return let(f"load double, ptr {let(f'getelementptr double, ptr {base}, i64 {at}')}")

    total = dense(block, [load("%stages", j * m) for j in range(stages)], "%x")
    value = block.call("fma", total, "%h", load("%y", 0))
    line(f"  store double {value}, ptr {let('getelementptr double, ptr %w, i64 %i')}")
    line(f"  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, {m}")
    line("  br i1 %rest, label %each, label %done\ndone:\n  ret void")
    return _function("void", "between", "ptr %y, ptr %stages, double %x, double %h, ptr %w", block)


def _each_watch(block: Block) -> tuple[str, str]:
    """Begin a loop over the watches; the registers of a watch's rule and of its values in the step."""
    let, line = block.let, block.lines.append
    line("entry:\n  %count = load i64, ptr %watches")
    tables = []
    for k in (1, 3):
        word = let(f"load i64, ptr {let(f'getelementptr i64, ptr %watches, i64 {k}')}")
        tables.append(let(f"inttoptr i64 {word} to ptr"))
    line("  br label %each\neach:\n  %i = phi i64 [0, %entry], [%i1, %next]")
    rule = let(f"getelementptr double, ptr {tables[0]}, i64 {let(f'mul i64 %i, {RULE}')}")
    return rule, let(f"getelementptr double, ptr {tables[1]}, i64 {let(f'mul i64 %i, {SAMPLES + 1}')}")


def _measure() -> str:
    """The values of all watches at one place of the step."""
    block = Block(1)
    let, line = block.let, block.lines.append
    rule, values = _each_watch(block)
    place, a, zero, slack, share, floor = (let(f"load double, ptr {block.offset(rule, k)}") for k in range(RULE))
    source = let(f"getelementptr double, ptr %w, i64 {let(f'fptosi double {place} to i64')}")
    x = let(f"load double, ptr {source}")
    main = let(f"fmul double {a}, {let(f'fsub double {x}, {zero}')}")
    size = block.larger(block.call("fabs", x), floor)
    g = let(f"fadd double {let(f'fadd double {main}, {slack}')}, {let(f'fmul double {share}, {size}')}")
    line(f"  store double {g}, ptr {let(f'getelementptr double, ptr {values}, i64 %k')}")
    line("  br label %next\nnext:\n  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, %count")
    line("  br i1 %rest, label %each, label %done\ndone:\n  ret void")
    return _function("void", "measure", "ptr %watches, ptr %w, i64 %k", block)


def _verdict() -> str:
    """Whether a watch falls from positive to not positive between two places, or may do so in a dip between three."""
    block = Block(1)
    let, line = block.let, block.lines.append
    _, values = _each_watch(block)
    g = [let(f"load double, ptr {block.offset(values, k)}") for k in range(SAMPLES + 1)]
    positive = [let(f"fcmp ogt double {x}, {hexadecimal(0.0)}") for x in g]
    found = "false"
    for (before, here), up in zip(pairwise(positive), range(SAMPLES)):
        falls = let(f"and i1 {before}, {let(f'xor i1 {here}, true')}")
        found = let(f"or i1 {found}, {falls}")
        if up:
            found = let(f"or i1 {found}, {_dips(block, g[up - 1 : up + 2], positive[up - 1 : up + 2])}")
    line(f"  br i1 {found}, label %yes, label %next\nyes:\n  ret i1 true")
    line("next:\n  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, %count")
    line("  br i1 %rest, label %each, label %done\ndone:\n  ret i1 false")
    return _function("i1", "verdict", "ptr %watches", block)


def _dips(block: Block, g: list[str], positive: list[str]) -> str:
    """Whether a parabola through three values is worth a look at its lowest point, by the rule of `first_crossing`.

    With places −1, 0 and 1, slope s = g_b − g_a and bend c = (g_c − g_b − s) / 2, that point is at −s/(2c) − 1/2.
    """
    let, number = block.let, hexadecimal
    a, b, c = g

    def op(name: str, x: str, y: str) -> str:
        return let(f"{name} double {x}, {y}")

    slope = op("fsub", b, a)
    bend = op("fmul", op("fsub", op("fsub", c, b), slope), number(0.5))
    place = op("fsub", op("fdiv", op("fmul", slope, number(-0.5)), bend), number(0.5))
    rise = op("fmul", op("fadd", slope, op("fmul", bend, place)), op("fadd", place, number(1.0)))
    low = let(f"call double @llvm.minnum.f64(double {a}, double {b})")
    low = let(f"call double @llvm.minnum.f64(double {low}, double {c})")
    high = block.larger(block.larger(a, b), c)
    promising = block.larger(op("fmul", low, number(0.5)), op("fmul", op("fsub", high, low), number(0.2)))
    conditions = [
        *positive,
        let(f"fcmp ogt double {bend}, {number(0.0)}"),
        let(f"fcmp ogt double {place}, {number(-1.0)}"),
        let(f"fcmp olt double {place}, {number(1.0)}"),
        let(f"fcmp olt double {op('fadd', a, rise)}, {promising}"),
    ]
    result = conditions[0]
    for condition in conditions[1:]:
        result = let(f"and i1 {result}, {condition}")
    return result


def _function(kind: str, name: str, arguments: str, block: Block) -> str:
    body = "\n".join(block.lines)
    return f"define internal {kind} @{name}({arguments}) noinline {{\n{body}\n}}\n"


DECLARATIONS = (
    "declare double @llvm.minnum.f64(double, double)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
)
