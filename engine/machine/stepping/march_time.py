"""The function of the compiled loop that evaluates signals at an instant, from polynomials piece by piece."""

from __future__ import annotations

from ..jit.block import Block
from ..jit.polynomials import ABREAST, NODES


def signals_function_ir(lanes: int, late: bool = False) -> str:
    """The IR of `signals`: for each lane, find the piece at its instant and write all its signals that vary.

    `table` is that of `polynomials.SignalPieces`, `clock` has an instant for each lane; without pieces nothing is done.
    With `late`, those signals follow that are components of an earlier state (`march_past.py`).
    """
    block = Block(ABREAST)
    line = block.lines.append
    line("entry:")
    count = _word(block, 0)
    line(f"  %any = icmp sgt i64 {count}, 0\n  br i1 %any, label %some, label %done\nsome:")
    groups = _word(block, 1)
    starts, middles, places, numbers = (_address(block, k) for k in (2, 3, 4, 5))
    line("  br label %lanes\nlanes:\n  %lane = phi i64 [0, %some], [%lane1, %next]")
    t = block.let(f"load double, ptr {_at(block, '%clock', '%lane')}")
    _search(block, t, count, starts)
    x = _place_in_piece(block, t, middles)
    skip = block.let(f"mul i64 %low, {groups}")
    line("  br label %groups\ngroups:\n  %group = phi i64 [0, %found], [%group1, %groups]")
    first = block.let(f"mul i64 {block.let(f'add i64 {skip}, %group')}, {NODES * ABREAST}")
    _write_group(block, x, _at(block, numbers, first), places, lanes)
    line(f"  %group1 = add i64 %group, 1\n  %rest = icmp slt i64 %group1, {groups}")
    line("  br i1 %rest, label %groups, label %next\nnext:")
    line(f"  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    line("  br i1 %on, label %lanes, label %done\ndone:")
    if late:
        line("  call void @late(ptr %table, ptr %u, ptr %clock)")
    line("  ret void")
    body = "\n".join(block.lines)
    return f"define internal void @signals(ptr %table, ptr %u, ptr %clock) noinline {{\n{body}\n}}\n"


def _search(block: Block, t: str, count: str, starts: str) -> None:
    """Halves the pieces until `%low` is the last one that starts no later than t; then goes on at `found`."""
    line = block.lines.append
    line("  br label %search\nsearch:")
    line(f"  %low = phi i64 [0, %lanes], [%low1, %halve]\n  %high = phi i64 [{count}, %lanes], [%high1, %halve]")
    line("  %apart = sub i64 %high, %low\n  %wide = icmp sgt i64 %apart, 1")
    line("  br i1 %wide, label %halve, label %found\nhalve:")
    line("  %sum = add i64 %low, %high\n  %middle = lshr i64 %sum, 1")
    start = block.let(f"load double, ptr {_at(block, starts, '%middle')}")
    before = block.let(f"fcmp ole double {start}, {t}")
    line(f"  %low1 = select i1 {before}, i64 %middle, i64 %low\n  %high1 = select i1 {before}, i64 %high, i64 %middle")
    line("  br label %search\nfound:")


def _place_in_piece(block: Block, t: str, middles: str) -> str:
    """The variable x = (t − middle) · scale of the piece `%low`, in all places of a vector."""
    let, wide = block.let, block.double
    twice = let("shl i64 %low, 1")
    middle = let(f"load double, ptr {_at(block, middles, twice)}")
    scale = let(f"load double, ptr {_at(block, middles, let(f'add i64 {twice}, 1'))}")
    x = let(f"fmul double {let(f'fsub double {t}, {middle}')}, {scale}")
    first = let(f"insertelement {wide} poison, double {x}, i32 0")
    return let(f"shufflevector {wide} {first}, {wide} poison, <{ABREAST} x i32> zeroinitializer")


def _write_group(block: Block, x: str, coefficients: str, places: str, lanes: int) -> None:
    """Evaluates the polynomials of a group at x, by Horner's rule, and writes them among the signals."""
    let, wide = block.let, block.double
    value = ""
    for k in reversed(range(NODES)):
        number = let(f"load {wide}, ptr {block.offset(coefficients, k * ABREAST)}, align 8")
        value = block.call("fma", value, x, number) if value else number
    for k in range(ABREAST):
        place = _at(block, places, let(f"add i64 {let(f'mul i64 %group, {ABREAST}')}, {k}"), "i64")
        row = let(f"load i64, ptr {place}")
        target = let(f"add i64 {let(f'mul i64 {row}, {lanes}')}, %lane")
        part = let(f"extractelement {wide} {value}, i32 {k}")
        block.do(f"store double {part}, ptr {_at(block, '%u', target)}")


def _at(block: Block, base: str, place: str, kind: str = "double") -> str:
    return block.let(f"getelementptr {kind}, ptr {base}, i64 {place}")


def _word(block: Block, k: int) -> str:
    """A word of the table."""
    return block.let(f"load i64, ptr {_at(block, '%table', str(k), 'i64')}")


def _address(block: Block, k: int) -> str:
    return block.let(f"inttoptr i64 {_word(block, k)} to ptr")
