"""The loop over the columns of matrices among a program's results, which another program replaces.

For one sample, several columns of a matrix are side by side in the lanes: a row's numbers are neighbours in memory, and
what all columns share is in all lanes.  For samples side by side, columns come one after the other.
"""

from __future__ import annotations

from ..program.nodes import Node
from ..program.recording import MatrixColumns
from .block import Block


def loop_of_one(columns: MatrixColumns, lanes: int, shared: int) -> str:
    """IR of `@columns(ptr base, ptr room)` for one sample's results at `base`, this many columns at a time.

    Shared numbers are in the room from the place `shared` on.  The last block of a matrix ends with its last column:
    lanes whose columns have been done before leave these as they are.
    """
    matrices = _matrices(columns)
    while lanes > min(count for _, _, count in matrices):
        lanes //= 2
    block, table = Block(lanes), list[int]()  # of each step: the place of its first column, the pitch, columns done
    for first, pitch, count in matrices:
        for wanted in range(0, count, lanes):
            begun = min(wanted, count - lanes)
            table += [first + begun, pitch, wanted - begun]
    line = block.let("mul i64 %k, 3")
    step = block.let(f"getelementptr i64, ptr @steps, i64 {line}")
    at, distance, done = (block.let(f"load i64, ptr {block.offset(step, k)}") for k in range(3))
    at = block.let(f"getelementptr double, ptr %base, i64 {at}")
    counted = f"<{', '.join(f'i64 {k}' for k in range(lanes))}>" if lanes > 1 else "0"
    fresh = block.let(f"icmp uge {block.integer} {counted}, {block.spread('i64', done)}")

    def row(k: int) -> str:
        skip = block.let(f"mul i64 {distance}, {k}")
        return block.let(f"getelementptr double, ptr {at}, i64 {skip}")

    def value(node: Node) -> str:
        group, k = places[node.id]
        if group == "column":
            return block.let(f"load {block.double}, ptr {row(k)}, align 8")
        x = block.let(f"load double, ptr {block.offset('%room', shared + k)}, align 8")
        return block.spread("double", x)

    places = _places(columns)
    for k, solved in enumerate(block.run(columns.program.results(), value)):
        to = row(k)
        before = block.let(f"load {block.double}, ptr {to}, align 8")
        block.do(f"store {block.double} {block.select(fresh, solved, before)}, ptr {to}, align 8")
    numbers = ", ".join(f"i64 {x}" for x in table)
    return f"\n@steps = internal constant [{len(table)} x i64] [{numbers}]" + _loop(block, len(table) // 3)


def _matrices(columns: MatrixColumns) -> list[tuple[int, int, int]]:
    """Neighbouring columns as one: the place of the first, their pitch, and their number."""
    result: list[tuple[int, int, int]] = []
    for first, pitch in columns.places:
        if result and (pitch, first) == (result[-1][1], result[-1][0] + result[-1][2]):
            result[-1] = (result[-1][0], pitch, result[-1][2] + 1)
        else:
            result.append((first, pitch, 1))
    return result


def loop_of_rows(columns: MatrixColumns, lanes: int, shared: int, first: int) -> str:
    """IR of `@columns` for samples in the lanes, one column at a time; they are in the room from `first` on."""
    block = Block(lanes)
    at = block.let(f"add i64 {block.let(f'mul i64 %k, {columns.size}')}, {first}")
    at = block.let(f"getelementptr {block.double}, ptr %room, i64 {at}")
    places = _places(columns)

    def place(group: str, k: int) -> str:
        base, step = (at, k) if group == "column" else ("%room", shared + k)
        return block.let(f"getelementptr {block.double}, ptr {base}, i64 {step}")

    results = block.run(
        columns.program.results(), lambda node: block.let(f"load {block.double}, ptr {place(*places[node.id])}")
    )
    for k, solved in enumerate(results):
        block.do(f"store {block.double} {solved}, ptr {place('column', k)}")
    return _loop(block, len(columns.places))


def _places(columns: MatrixColumns) -> dict[int, tuple[str, int]]:
    """The group of each input of the columns' program, and its place there."""
    inputs = columns.program.inputs.items()
    return {node.id: (group, k) for group, nodes in inputs for k, node in enumerate(nodes)}


def _loop(block: Block, count: int) -> str:
    """The lines of a block for each step `%k`."""
    body = "\n".join(block.lines)
    return f"""
define internal void @columns(ptr %base, ptr %room) noinline {{
  br label %loop
loop:
  %k = phi i64 [0, %0], [%next, %loop]
{body}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {count}
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
