"""The functions of the compiled loop that look for events in a step, like `simulate/events.py:first_event_crossing`.

Each watch is a rule: an affine function, with a slack, of a component of the state or of a quantity of the program. Its
numbers may differ from lane to lane. The loop only says in which lanes there may be an event; which one, and where, its
caller finds with the same step.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from .block import Block

RULE = 5  # numbers of a rule: those of `Rule`
SAMPLES = 4  # parts of a step whose ends are looked at

Dense = Callable[[Block, list[str], str], str]


def watch_functions_ir(lanes: int, m: int, quantities: int, dense: Dense, stages: int) -> str:
    """The IR of `seen`, which says whether a watch may have an event in the step to `new`, and of what it calls.

    `dense` writes a component's share of dense output, from its stages and the place within the step.
    """
    return _between(lanes, m, dense, stages) + _measure(lanes) + _verdict(lanes) + _seen(lanes, m, quantities)


def _seen(lanes: int, m: int, quantities: int) -> str:
    block = Block(lanes)
    let, line, wide = block.let, block.lines.append, block.double
    line("entry:\n  %count = load i64, ptr %watches\n  %any = icmp sgt i64 %count, 0")
    line(f"  br i1 %any, label %some, label %none\nnone:\n  ret {block.bit} {_false(lanes)}\nsome:")
    line("  %at.w = getelementptr i64, ptr %watches, i64 3\n  %word = load i64, ptr %at.w")
    line(f"  %w = inttoptr i64 %word to ptr\n  %behind = getelementptr double, ptr %w, i64 {m * lanes}")
    line("  %at.more = getelementptr i64, ptr %watches, i64 5\n  %more = load i64, ptr %at.more")
    line(f"  %deep = icmp sgt i64 %more, 0\n  %clock = alloca {wide}")
    for k in range(SAMPLES + 1):
        x = block.constant(k / SAMPLES)
        if 0 < k < SAMPLES:
            line(f"  call void @between(ptr %y, ptr %stages, {wide} {x}, {wide} %h, ptr %w)")
        else:
            state = "%new" if k else "%y"
            line(f"  call void @llvm.memcpy.p0.p0.i64(ptr %w, ptr {state}, i64 {8 * m * lanes}, i1 false)")
        if quantities:
            line(f"  br i1 %deep, label %deep{k}, label %shallow{k}\ndeep{k}:")
            after = let(f"fmul {wide} {x}, %h")
            line(f"  store {wide} {let(f'fadd {wide} %t, {after}')}, ptr %clock")
            line("  call void @signals(ptr %table, ptr %u, ptr %clock)")
            line("  call void @quantities(ptr %u, ptr %w, ptr %behind)")
            line(f"  br label %shallow{k}\nshallow{k}:")
        line(f"  call void @measure(ptr %watches, ptr %w, i64 {k})")
    line(f"  %result = call {block.bit} @verdict(ptr %watches)\n  ret {block.bit} %result")
    arguments = f"ptr %u, ptr %y, ptr %new, ptr %stages, ptr %table, ptr %watches, {wide} %t, {wide} %h"
    return _function(block.bit, "seen", arguments, block)


def _false(lanes: int) -> str:
    return "zeroinitializer" if lanes > 1 else "false"


def _between(lanes: int, m: int, dense: Dense, stages: int) -> str:
    """The state at a place within the step."""
    block = Block(lanes)
    let, line, wide = block.let, block.lines.append, block.double
    line("entry:\n  br label %each\neach:\n  %i = phi i64 [0, %entry], [%i1, %each]")
    at = let(f"mul i64 %i, {lanes}")

    def load(base: str, skip: int) -> str:
        place = let(f"add i64 {at}, {skip}")
        return let(f"load {wide}, ptr {let(f'getelementptr double, ptr {base}, i64 {place}')}, align 8")

    total = dense(block, [load("%stages", j * m * lanes) for j in range(stages)], "%x")
    value = block.call("fma", total, "%h", load("%y", 0))
    line(f"  store {wide} {value}, ptr {let(f'getelementptr double, ptr %w, i64 {at}')}, align 8")
    line(f"  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, {m}")
    line("  br i1 %rest, label %each, label %done\ndone:\n  ret void")
    return _function("void", "between", f"ptr %y, ptr %stages, {wide} %x, {wide} %h, ptr %w", block)


def _each_watch(block: Block, more: str = "") -> tuple[str, str, str]:
    """Begin a loop over the watches; the place that a watch reads, its rule, and its values in the step."""
    let, line, lanes = block.let, block.lines.append, block.lanes
    line("entry:\n  %count = load i64, ptr %watches")
    tables = []
    for k in (1, 2, 4):
        word = let(f"load i64, ptr {let(f'getelementptr i64, ptr %watches, i64 {k}')}")
        tables.append(let(f"inttoptr i64 {word} to ptr"))
    line(f"  br label %each\neach:\n  %i = phi i64 [0, %entry], [%i1, %next]{more}")
    place = let(f"load i64, ptr {let(f'getelementptr i64, ptr {tables[0]}, i64 %i')}")
    rule = let(f"getelementptr double, ptr {tables[1]}, i64 {let(f'mul i64 %i, {RULE * lanes}')}")
    values = let(f"getelementptr double, ptr {tables[2]}, i64 {let(f'mul i64 %i, {(SAMPLES + 1) * lanes}')}")
    return place, rule, values


def _measure(lanes: int) -> str:
    """The values of all watches at one place of the step."""
    block = Block(lanes)
    let, line, wide = block.let, block.lines.append, block.double
    place, rule, values = _each_watch(block)
    a, zero, slack, share, floor = (
        let(f"load {wide}, ptr {block.offset(rule, k * lanes)}, align 8") for k in range(RULE)
    )
    source = let(f"getelementptr double, ptr %w, i64 {let(f'mul i64 {place}, {lanes}')}")
    x = let(f"load {wide}, ptr {source}, align 8")
    main = let(f"fmul {wide} {a}, {let(f'fsub {wide} {x}, {zero}')}")
    size = block.larger(block.call("fabs", x), floor)
    g = let(f"fadd {wide} {let(f'fadd {wide} {main}, {slack}')}, {let(f'fmul {wide} {share}, {size}')}")
    target = let(f"getelementptr double, ptr {values}, i64 {let(f'mul i64 %k, {lanes}')}")
    line(f"  store {wide} {g}, ptr {target}, align 8")
    line("  br label %next\nnext:\n  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, %count")
    line("  br i1 %rest, label %each, label %done\ndone:\n  ret void")
    return _function("void", "measure", "ptr %watches, ptr %w, i64 %k", block)


def _verdict(lanes: int) -> str:
    """Whether a watch falls from positive to not positive between two places, or may do so in a dip between three."""
    block = Block(lanes)
    let, line, wide, bit = block.let, block.lines.append, block.double, block.bit
    _, _, values = _each_watch(block, f"\n  %before = phi {bit} [{_false(lanes)}, %entry], [FOUND, %next]")
    g = [let(f"load {wide}, ptr {block.offset(values, k * lanes)}, align 8") for k in range(SAMPLES + 1)]
    positive = [let(f"fcmp ogt {wide} {x}, {block.constant(0.0)}") for x in g]
    found = "%before"
    for (before, here), up in zip(pairwise(positive), range(SAMPLES)):
        falls = let(f"and {bit} {before}, {block.opposite(here)}")
        found = let(f"or {bit} {found}, {falls}")
        if up:
            found = let(f"or {bit} {found}, {_dips(block, g[up - 1 : up + 2], positive[up - 1 : up + 2])}")
    line("  br label %next\nnext:\n  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, %count")
    line(f"  br i1 %rest, label %each, label %done\ndone:\n  ret {bit} {found}")
    block.lines = [text.replace("FOUND", found) for text in block.lines]
    return _function(bit, "verdict", "ptr %watches", block)


def _dips(block: Block, g: list[str], positive: list[str]) -> str:
    """Whether a parabola through three values is worth a look at its lowest point, as for `first_event_crossing`.

    With places −1, 0 and 1, slope s = g_b − g_a and bend c = (g_c − g_b − s) / 2, that point is at −s/(2c) − 1/2.
    """
    let, number, wide = block.let, block.constant, block.double
    a, b, c = g

    def op(name: str, x: str, y: str) -> str:
        return let(f"{name} {wide} {x}, {y}")

    slope = op("fsub", b, a)
    bend = op("fmul", op("fsub", op("fsub", c, b), slope), number(0.5))
    place = op("fsub", op("fdiv", op("fmul", slope, number(-0.5)), bend), number(0.5))
    rise = op("fmul", op("fadd", slope, op("fmul", bend, place)), op("fadd", place, number(1.0)))
    low = block.call("minnum", block.call("minnum", a, b), c)
    high = block.larger(block.larger(a, b), c)
    promising = block.larger(op("fmul", low, number(0.5)), op("fmul", op("fsub", high, low), number(0.2)))
    conditions = [
        *positive,
        let(f"fcmp ogt {wide} {bend}, {number(0.0)}"),
        let(f"fcmp ogt {wide} {place}, {number(-1.0)}"),
        let(f"fcmp olt {wide} {place}, {number(1.0)}"),
        let(f"fcmp olt {wide} {op('fadd', a, rise)}, {promising}"),
    ]
    result = conditions[0]
    for condition in conditions[1:]:
        result = let(f"and {block.bit} {result}, {condition}")
    return result


def _function(kind: str, name: str, arguments: str, block: Block) -> str:
    body = "\n".join(block.lines)
    return f"define internal {kind} @{name}({arguments}) noinline {{\n{body}\n}}\n"


def watch_declarations_ir(lanes: int) -> str:
    """The functions of LLVM that are called, each in a line."""
    kind, wide = (f"v{lanes}f64", f"<{lanes} x double>") if lanes > 1 else ("f64", "double")
    return (
        f"declare {wide} @llvm.minnum.{kind}({wide}, {wide})\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    )
