"""The loop over the columns of matrices among a program's results, which another program replaces.

For one sample, several columns of a matrix are side by side in the lanes: a row's numbers are neighbours in memory, and
what all columns share is in all lanes.  For samples side by side, columns come one after the other.
"""

from __future__ import annotations

from ..program.nodes import Node
from ..program.recording import Columns
from .block import Block


def loop_of_one(columns: Columns, lanes: int, shared: int) -> str:
    """IR of `@columns(ptr base, ptr room)` for one sample's results at `base`, this many columns at a time.

    Shared numbers are in the room from the place `shared` on.  The last block of a matrix ends with its last column:
    lanes whose columns have been done before leave these as they are.
    """
    size = columns.size
    while lanes > size:
        lanes //= 2
    block, chunks = Block(lanes), -(-size // lanes)
    wanted, last = block.let(f"mul i64 %k, {lanes}"), size - lanes
    is_inside = block.let(f"icmp sle i64 {wanted}, {last}")
    first = block.let(f"select i1 {is_inside}, i64 {wanted}, i64 {last}")
    done = block.let(f"sub i64 {wanted}, {first}")
    at = block.let(f"add i64 {first}, {columns.first}")
    at = block.let(f"getelementptr double, ptr %base, i64 {block.let(f'add i64 {at}, %matrix')}")
    fresh = block.let(f"icmp uge {block.integer} {_counted(lanes)}, {_in_all_lanes(block, 'i64', done)}")

    def value(node: Node) -> str:
        group, k = places[node.id]
        if group == "column":
            return block.let(f"load {block.double}, ptr {block.offset(at, k * size)}, align 8")
        x = block.let(f"load double, ptr {block.offset('%room', shared + k)}, align 8")
        return _in_all_lanes(block, "double", x)

    places = _places(columns)
    for k, solved in enumerate(block.run(columns.program.results(), value)):
        row = block.offset(at, k * size)
        before = block.let(f"load {block.double}, ptr {row}, align 8")
        block.do(f"store {block.double} {block.select(fresh, solved, before)}, ptr {row}, align 8")
    return _loop(block, columns, chunks)


def loop_of_rows(columns: Columns, lanes: int, shared: int, first: int) -> str:
    """IR of `@columns` for samples in the lanes, one column at a time; the matrices are in the room from `first` on."""
    block, size = Block(lanes), columns.size
    at = block.let(f"add i64 %matrix, {first}")
    at = block.let(f"getelementptr {block.double}, ptr %room, i64 {block.let(f'add i64 {at}, %k')}")
    places = _places(columns)

    def place(group: str, k: int) -> str:
        base, step = (at, k * size) if group == "column" else ("%room", shared + k)
        return block.let(f"getelementptr {block.double}, ptr {base}, i64 {step}")

    results = block.run(
        columns.program.results(), lambda node: block.let(f"load {block.double}, ptr {place(*places[node.id])}")
    )
    for k, solved in enumerate(results):
        block.do(f"store {block.double} {solved}, ptr {place('column', k)}")
    return _loop(block, columns, size)


def _places(columns: Columns) -> dict[int, tuple[str, int]]:
    """The group of each input of the columns' program, and its place there."""
    inputs = columns.program.inputs.items()
    return {node.id: (group, k) for group, nodes in inputs for k, node in enumerate(nodes)}


def _loop(block: Block, columns: Columns, chunks: int) -> str:
    """The lines of a block for each chunk `%k` of each matrix, which is `%matrix` numbers behind the first one."""
    body, count, size = "\n".join(block.lines), columns.matrices * chunks, columns.size**2
    return f"""
define internal void @columns(ptr %base, ptr %room) noinline {{
  br label %loop
loop:
  %step = phi i64 [0, %0], [%next, %loop]
  %number = udiv i64 %step, {chunks}
  %k = urem i64 %step, {chunks}
  %matrix = mul i64 %number, {size}
{body}
  %next = add i64 %step, 1
  %more = icmp slt i64 %next, {count}
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def _counted(lanes: int) -> str:
    """The numbers of the lanes."""
    return f"<{', '.join(f'i64 {k}' for k in range(lanes))}>"


def _in_all_lanes(block: Block, kind: str, x: str) -> str:
    vector = f"<{block.lanes} x {kind}>"
    first = block.let(f"insertelement {vector} poison, {kind} {x}, i64 0")
    return block.let(f"shufflevector {vector} {first}, {vector} poison, <{block.lanes} x i32> zeroinitializer")
