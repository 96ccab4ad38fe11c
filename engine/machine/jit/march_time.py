"""The function of the compiled loop that evaluates signals at an instant, from polynomials piece by piece."""

from __future__ import annotations

from .block import Block
from .polynomials import ABREAST, NODES


def signals_function_ir(lanes: int, late: bool = False) -> str:
    """The IR of `signals`: for each lane, find the piece at its instant and write all its signals that vary.

    `table` is that of `polynomials.SignalPieces`, `clock` has an instant for each lane; without pieces nothing is done.
    With `late`, those signals follow that are components of an earlier state (`march_past.py`).
    """
    block = Block(ABREAST)
    let, wide = block.let, block.double

    def at(base: str, place: str, kind: str = "double") -> str:
        return let(f"getelementptr {kind}, ptr {base}, i64 {place}")

    def word(k: int) -> str:
        return let(f"load i64, ptr {at('%table', str(k), 'i64')}")

    def address(k: int) -> str:
        return let(f"inttoptr i64 {word(k)} to ptr")

    line = block.lines.append
    line("entry:")
    count = word(0)
    line(f"  %any = icmp sgt i64 {count}, 0\n  br i1 %any, label %some, label %done\nsome:")
    groups, starts, middles, places, numbers = word(1), address(2), address(3), address(4), address(5)
    line("  br label %lanes\nlanes:\n  %lane = phi i64 [0, %some], [%lane1, %next]")
    t = let(f"load double, ptr {at('%clock', '%lane')}")
    line("  br label %search\nsearch:")
    line(f"  %low = phi i64 [0, %lanes], [%low1, %halve]\n  %high = phi i64 [{count}, %lanes], [%high1, %halve]")
    line("  %apart = sub i64 %high, %low\n  %wide = icmp sgt i64 %apart, 1")
    line("  br i1 %wide, label %halve, label %found\nhalve:")
    line("  %sum = add i64 %low, %high\n  %middle = lshr i64 %sum, 1")
    start = let(f"load double, ptr {at(starts, '%middle')}")
    before = let(f"fcmp ole double {start}, {t}")
    line(f"  %low1 = select i1 {before}, i64 %middle, i64 %low\n  %high1 = select i1 {before}, i64 %high, i64 %middle")
    line("  br label %search\nfound:")
    twice = let("shl i64 %low, 1")
    middle = let(f"load double, ptr {at(middles, twice)}")
    scale = let(f"load double, ptr {at(middles, let(f'add i64 {twice}, 1'))}")
    x = let(f"fmul double {let(f'fsub double {t}, {middle}')}, {scale}")
    first = let(f"insertelement {wide} poison, double {x}, i32 0")
    x = let(f"shufflevector {wide} {first}, {wide} poison, <{ABREAST} x i32> zeroinitializer")
    skip = let(f"mul i64 %low, {groups}")
    line("  br label %groups\ngroups:\n  %group = phi i64 [0, %found], [%group1, %groups]")
    base = at(numbers, let(f"mul i64 {let(f'add i64 {skip}, %group')}, {NODES * ABREAST}"))
    value = ""
    for k in reversed(range(NODES)):
        number = let(f"load {wide}, ptr {block.offset(base, k * ABREAST)}, align 8")
        value = block.call("fma", value, x, number) if value else number
    for k in range(ABREAST):
        place = at(places, let(f"add i64 {let(f'mul i64 %group, {ABREAST}')}, {k}"), "i64")
        row = let(f"load i64, ptr {place}")
        target = let(f"add i64 {let(f'mul i64 {row}, {lanes}')}, %lane")
        part = let(f"extractelement {wide} {value}, i32 {k}")
        line(f"  store double {part}, ptr {at('%u', target)}")
    line(f"  %group1 = add i64 %group, 1\n  %rest = icmp slt i64 %group1, {groups}")
    line("  br i1 %rest, label %groups, label %next\nnext:")
    line(f"  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    line("  br i1 %on, label %lanes, label %done\ndone:")
    if late:
        line("  call void @late(ptr %table, ptr %u, ptr %clock)")
    line("  ret void")
    body = "\n".join(block.lines)
    return f"define internal void @signals(ptr %table, ptr %u, ptr %clock) noinline {{\n{body}\n}}\n"
