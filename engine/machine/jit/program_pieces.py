"""Long programs as several functions, one for each piece of their operations, with what passes between them in memory.

The time to compile a straight line of code grows faster than its length; in pieces it grows with the length.  What one
piece computes and another needs has a place in a table of vectors, which is on the stack of the call.  Operations come
result by result and column by column, because then few numbers wait for their use, in registers or in the table.
Behind these places are those of what the loop over a program's columns reads: numbers that all columns share and, for
samples side by side, the columns.

For one sample, several columns of a matrix are side by side in the lanes: a row's numbers are neighbours in memory, and
what all columns share is in all lanes.  For samples side by side, columns come one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..program.nodes import CONSTANT, INPUT, Node, live_nodes, nodes_result_by_result
from ..program.recording import MatrixColumns, Program
from .block import HEAP, OVERFLOW, STACK, Block, hexadecimal_of_double


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


LONG = 8000  # operations from which on a program is cut into pieces
MANY = 150  # results of one sample: from so many on they are stored as they are computed, and watched in a loop
PIECE = 500  # operations of a piece
STORED = 256  # columns of results that one function stores
CHAINS = 8  # of watched results that don't wait for each other
WATCH = 0  # the place of the watch for numbers that aren't finite


@dataclass(frozen=True)
class Cut:
    """The operations of a program in pieces, and the places of what passes between them."""

    program: Program
    pieces: tuple[tuple[Node, ...], ...]
    places: dict[int, int]


def cut_long_program(program: Program, lanes: int) -> Cut | None:
    """The pieces of a program that is long, or has columns or, for one sample, many results; else None.

    The results of one sample don't pass between pieces, nor do columns.
    """
    results, columns = program.results(), program.columns
    is_many = lanes == 1 and len(results) >= MANY
    if not (is_many or columns is not None or len(_operations(live_nodes([*results, *program.watched]))) >= LONG):
        return None
    shared = columns.shared if columns is not None else []
    of_columns = columns.results() if columns is not None else {}
    own_results = [node for k, node in enumerate(results) if k not in of_columns]
    by_column = [results[k] for k in sorted(of_columns, key=of_columns.__getitem__)]
    nodes = _operations(nodes_result_by_result([*own_results, *program.watched, *shared, *by_column]))
    piece, own = {node.id: k // PIECE for k, node in enumerate(nodes)}, {node.id for node in program.numbers}
    passing = {node.id for node in own_results if node.op != CONSTANT} if lanes > 1 else set[int]()
    for node in nodes:
        for operand in (node.a, node.b):
            if operand is None or operand.op == CONSTANT or operand.id in own:
                continue  # each piece has these for itself
            if piece.get(operand.id) != piece[node.id]:
                passing.add(operand.id)
    places = {number: k for k, number in enumerate(sorted(passing), start=WATCH + 1)}
    return Cut(program, tuple(tuple(nodes[k : k + PIECE]) for k in range(0, len(nodes), PIECE)), places)


def _operations(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if node.op not in (CONSTANT, INPUT)]


class Pieces:
    """The functions of a long program, which a block calls one after the other.

    `bases` are the registers with the addresses of the groups' rows; one sample's outputs lie one behind the other.
    """

    def __init__(self, block: Block, parts: Cut, bases: dict[str, str], numbers: dict[int, int], abreast: int):
        """`numbers` are the places of the code's own numbers, by their nodes; `abreast` are one sample's columns."""
        self._block, self._parts, self._bases, self._numbers = block, parts, bases, numbers
        self._watched, self._abreast = {node.id for node in parts.program.watched}, abreast
        self._cleared = False  # whether one sample's results were set to 0 first
        self._targets: dict[int, list[tuple[str, int]]] = {}  # of each node, where its number has to go besides
        self._shared = self._room = WATCH + 1 + len(parts.places)
        self._columns: dict[int, int] = {}  # of the results, those that are in the room, and where
        self.functions: list[str] = []
        self._aim()

    def _aim(self) -> None:
        """Say where the numbers go that the columns need, and one sample's results."""
        program, columns = self._parts.program, self._parts.program.columns
        results = program.results()
        if columns is not None:
            for k, node in enumerate(columns.shared):
                self._targets.setdefault(node.id, []).append(("room", self._shared + k))
            self._room += len(columns.shared)
            if self._block.lanes > 1:
                self._columns = columns.results()
        for k in range(len(results)) if self._block.lanes == 1 else ():
            self._targets.setdefault(results[k].id, []).append(("base", k))
        for k, place in self._columns.items():
            self._targets.setdefault(results[k].id, []).append(("room", self._room + place))

    @property
    def _size(self) -> int:
        return self._room + len(self._columns)

    @property
    def _bytes(self) -> int:
        return 8 * self._block.lanes * self._size

    def room(self) -> str:
        """IR for the table, at the beginning of the function that calls the pieces."""
        if self._bytes <= STACK:
            return f"  %room = alloca {self._block.double}, i64 {self._size}, align 64"
        return f"""  %room.heap = call ptr @malloc(i64 {self._bytes + 64})
  %room.beyond = getelementptr i8, ptr %room.heap, i64 63
  %room = call ptr @llvm.ptrmask.p0.i64(ptr %room.beyond, i64 -64)"""

    def declarations(self) -> list[str]:
        """What the table needs besides, where it is too large for the stack."""
        return [] if self._bytes <= STACK else [HEAP, "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"]

    def left(self) -> str:
        """IR for the end of that function."""
        return "" if self._bytes <= STACK else "  call void @free(ptr %room.heap)"

    def run(self, values: dict[int, str], finite: str) -> str:
        """Write the calls, with the inputs in these registers; return the register of the watch."""
        block, places = self._block, self._parts.places
        for node in self._parts.program.watched:
            if node.op in (CONSTANT, INPUT):
                finite = block.watched(block.overflowing(self._given(node, values)), finite)
        self._store(block, WATCH, finite)
        for number, value in values.items():
            if number in places:
                self._store(block, places[number], value)
        for number, k in self._numbers.items():
            if number in places:  # as a result
                self._store(block, places[number], block.number(k))
        if block.lanes == 1:
            self._one(values)
        else:
            self._rows(values)
        return self._load(block, WATCH)

    def _given(self, node: Node, values: dict[int, str]) -> str:
        """The register of a constant, of an input, or of one of the code's own numbers."""
        if node.op == CONSTANT:
            return self._block.constant(node.value)
        return self._block.number(self._numbers[node.id]) if node.id in self._numbers else values[node.id]

    def _one(self, values: dict[int, str]) -> None:
        """The operations for one sample, whose results are stored at once and watched in a loop."""
        block, program = self._block, self._parts.program
        base = next(self._bases[group] for group, columns in program.outputs.items() if columns)
        self._cleared = block.cleared(base, [_zero_or_not(block, node) for node in program.results()])
        self._begin(values, base)
        for nodes in self._parts.pieces:
            self._compute(nodes, base)
        if program.columns is not None:
            self.functions.append(loop_of_one(program.columns, self._abreast, self._shared))
            block.do(f"call void @columns(ptr {base}, ptr %room)")
        self.functions.append(_watch_of_row(len(program.results())))
        seen = block.let(f"call double @watched(ptr {base})")
        self._store(block, WATCH, block.operation("fadd", seen, self._load(block, WATCH)))

    def _rows(self, values: dict[int, str]) -> None:
        """The operations for samples side by side, whose results are stored at the end, column by column."""
        lanes, program, before = self._block.lanes, self._parts.program, 0
        self._begin(values, "null")
        for nodes in self._parts.pieces:
            self._compute(nodes, "null")
        if program.columns is not None:
            self.functions.append(loop_of_rows(program.columns, lanes, self._shared, self._room))
            self._block.do("call void @columns(ptr null, ptr %room)")
        for group, columns in program.outputs.items():
            fixed = ["" if k in self._columns else _zero_or_not(self._block, x) for k, x in enumerate(columns, before)]
            cleared = bool(columns) and self._block.cleared(self._bases[group], fixed)
            firsts = list(range(0, max(len(columns) - lanes, 1), STORED))  # no function has fewer columns than lanes
            for first, end in zip(firsts, [*firsts[1:], len(columns)]):
                if columns:
                    self._keep(group, columns, first, end, before, cleared)
            before += len(columns)

    def _begin(self, values: dict[int, str], base: str) -> None:
        """What is known before the first operation goes where it has to be."""
        program, constants = self._parts.program, list[Node]()
        shared = program.columns.shared if program.columns is not None else ()
        for node in {node.id: node for node in (*program.results(), *shared)}.values():
            if node.op == CONSTANT:
                constants.append(node)
            elif node.op == INPUT:
                self._deliver(self._block, base, node, self._given(node, values))
        inner = Block(self._block.lanes)
        for node in constants:
            self._deliver(inner, "%base", node, inner.constant(node.value))
        if inner.lines:
            self._call(inner, base)

    def _deliver(self, block: Block, base: str, node: Node, register: str) -> None:
        """Store a number everywhere where it has to go besides."""
        for where, k in self._targets.get(node.id, ()):
            if where == "room":
                self._store(block, k, register)
            elif not (self._cleared and register == block.constant(0.0)):
                block.do(f"store double {register}, ptr {block.offset(base, k)}")

    def _compute(self, nodes: tuple[Node, ...], base: str) -> None:
        """A function for these operations, which loads as late and stores as early as it can: registers are few."""
        inner, places = Block(self._block.lanes), self._parts.places

        def value(node: Node) -> str:
            own = self._numbers.get(node.id)
            return self._load(inner, places[node.id]) if own is None else inner.number(own)

        for node, register in inner.computed(nodes, value):
            if node.id in places:
                self._store(inner, places[node.id], register)
            if node.id in self._watched:
                finite = inner.watched(inner.overflowing(register), self._load(inner, WATCH))
                self._store(inner, WATCH, finite)
            self._deliver(inner, "%base", node, register)
        self._call(inner, base)

    def _keep(self, group: str, columns: list[Node], first: int, end: int, before: int, cleared: bool) -> None:
        """A function that stores these columns of results, which it watches; so many results are `before` the group."""
        inner, own = Block(self._block.lanes), list[str]()
        for k, node in enumerate(columns[first:end], start=before + first):
            if k in self._columns:
                own.append(self._load(inner, self._room + self._columns[k]))
            elif node.op == CONSTANT:
                own.append(inner.constant(node.value))
            else:
                own.append(self._load(inner, self._parts.places[node.id]))
        chains = [inner.constant(0.0)] * CHAINS
        for k, value in enumerate(own):
            chains[k % CHAINS] = inner.watched(inner.overflowing(value), chains[k % CHAINS])
        finite = self._load(inner, WATCH)
        for chain in chains:
            finite = inner.operation("fadd", finite, chain)
        self._store(inner, WATCH, finite)
        inner.store_columns(inner.offset("%base", first), own, len(columns), cleared=cleared)
        self._call(inner, self._bases[group])

    def _load(self, inner: Block, place: int) -> str:
        at = inner.let(f"getelementptr {inner.double}, ptr %room, i64 {place}")
        return inner.let(f"load {inner.double}, ptr {at}")

    def _store(self, inner: Block, place: int, value: str) -> None:
        at = inner.let(f"getelementptr {inner.double}, ptr %room, i64 {place}")
        inner.do(f"store {inner.double} {value}, ptr {at}")

    def _call(self, inner: Block, base: str) -> None:
        """Make a function of the inner block, and call it."""
        name, body = f"@piece.{len(self.functions)}", "\n".join(inner.lines)
        self.functions.append(f"define internal void {name}(ptr %base, ptr %room) noinline {{\n{body}\n  ret void\n}}")
        self._block.do(f"call void {name}(ptr {base}, ptr %room)")


def _zero_or_not(block: Block, node: Node) -> str:
    """The register of 0 for the constant 0, nothing for any other result."""
    return block.constant(0.0) if node.op == CONSTANT and node.value == 0.0 else ""


def _watch_of_row(count: int) -> str:
    """IR of the watch over one sample's results, many at a time; the last ones may be looked at twice."""
    chains = min(CHAINS, count)
    kind = f"<{chains} x double>"
    return f"""
define internal double @watched(ptr %row) {{
  br label %loop
loop:
  %k = phi i64 [0, %0], [%next, %loop]
  %finite = phi {kind} [zeroinitializer, %0], [%sum, %loop]
  %is_inside = icmp sle i64 %k, {count - chains}
  %first = select i1 %is_inside, i64 %k, i64 {count - chains}
  %at = getelementptr double, ptr %row, i64 %first
  %x = load {kind}, ptr %at, align 8
  %large = fmul {kind} %x, splat (double {hexadecimal_of_double(OVERFLOW)})
  %none = fmul {kind} %large, zeroinitializer
  %sum = fadd {kind} %finite, %none
  %next = add i64 %k, {chains}
  %more = icmp slt i64 %next, {count}
  br i1 %more, label %loop, label %done
done:
  %all = call double @llvm.vector.reduce.fadd.v{chains}f64(double 0.0, {kind} %sum)
  ret double %all
}}
declare double @llvm.vector.reduce.fadd.v{chains}f64(double, {kind})"""
