"""Compiled loops, as LLVM IR: that of explicit methods, which all systems share, and the parts of implicit ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..jit.block import Block
from ..jit.llvm import number_table_ir
from ..jit.polynomials import ABREAST, FIRST
from ..loops import dense, explicit
from ..loops.dense import PARTS, RULE
from ..loops.emit import OUTSIDE, Lines
from ..loops.translate import Translator
from ..loops.values import EIGHT, INTEGER, Integers, Operand, Output, Outside, Singles, Stack, Stored, Thing, Value
from ..program.nodes import Node, live_nodes
from ..program.recording import Program
from . import march_block, march_past, march_time
from .march_block import GUARD, OPEN, PAUSED, REACHED, ROW, ROWS, STEP, T_NEW, TAKEN, T
from .march_dense import Dense, Scheme

KEEP = "  call void @keep(ptr %control, ptr %y, ptr %stages, ptr %table, i64 {})"

# numbers of a run that the loop of explicit methods reads and writes, by their names in the text
CONTROL = {
    "t_end": "T_END",
    "rtol": "RTOL",
    "atol": "ATOL",
    "max_step": "MAX_STEP",
    "t": "T",
    "h": "H",
    "most": "MOST",
    "fresh": "FRESH",
    "accepted": "ACCEPTED",
    "rejected": "REJECTED",
    "row": "ROW",
    "status": "STATUS",
    "dense": "DENSE",
    "gap": "OPEN",
    "stop": "LANDING",
    "which": "WHICH",
}
# the words of what the loop knows of a system: lengths and addresses
WORDS = M, MEASURED, CLOSING, UNITS, PLACES, RATE, QUANTITIES = range(7)


def explicit_loop_ir(scheme: Scheme, lanes: int) -> str:
    """The IR of the loop of an explicit method for all systems.

    It takes the control block, u, y and the stages (rows of lanes), the grid of output instants, which ends with
    infinity, how many rows the array behind it has for each lane, the number of attempts, the table of signals over
    time (`polynomials.py`), the watches, and the words of the system.
    """
    emit, single = Lines(lanes), lanes == 1
    translator, words = Translator(emit, runs=True), Words(emit)
    m = words.length("system", M)
    system = {
        **_functions(m),
        "measured": words.length("system", MEASURED),
        "guard": Stored(1, "%control", GUARD),
        "closing": words.length("system", CLOSING) if single else 0,
        "closes": Stored(m, "%control", ROWS),
        "units": words.length("system", UNITS),
        "places": Integers(words.address("system", PLACES)),
        "delays": words.length("table", FIRST) if single else 0,
        "keep": Outside("keeping"),
    }
    stages, rows = Stack(m, "%stages"), Output(m, Value(INTEGER, "%count"), "%out")
    memory = [stages, Stored(m, "%y"), *(translator.of.row(stages, scheme.stages + k) for k in range(2))]
    memory += [Singles("%grid"), rows, Value(INTEGER, "%attempts")]
    control = {name: getattr(march_block, row) for name, row in CONTROL.items()}
    numbers = words.rows(control.values())
    left, *results = translator.text(explicit.advance, [scheme, system, words.watch(m), *memory, *numbers])
    for k, x in zip([*control.values()][-len(results) :], results):
        emit.put_component(Stored(ROWS, "%control"), k, x)
    over = emit.compare("gt", left, 0, INTEGER).register
    emit.lines.append(f"  %why = select i1 {over}, i64 {REACHED}, i64 {PAUSED}\n  ret i64 %why")
    past = march_past.late_function_ir(scheme) + march_past.keep_function_ir(scheme) if single else ""
    signals = march_time.signals_function_ir(lanes, late=single)
    arguments = f"{OUTSIDE}, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, i64 %attempts, ptr %watches"
    march = f"define i64 @march({arguments}) {{\n{emit.body()}\n}}\n"
    return _declarations(emit) + past + signals + _functions_of_system(lanes) + march


class Words:
    """The words of tables, which a function loads at its beginning."""

    def __init__(self, emit: Lines):
        self._emit = emit

    def _loaded(self, kind: str, base: str, k: int) -> str:
        name = f"%{base}.{k}"
        self._emit.entry.append(f"  {name}.at = getelementptr i64, ptr %{base}, i64 {k}")
        self._emit.entry.append(f"  {name} = load {kind}, ptr {name}.at, align 8")
        return name

    def length(self, base: str, k: int) -> Value:
        return Value(INTEGER, self._loaded("i64", base, k))

    def address(self, base: str, k: int) -> str:
        return self._loaded("ptr", base, k)

    def watch(self, m: Operand) -> dict[str, Thing]:
        """The watches of a step (`march.py:Watches`)."""
        state = self.address("watches", 3)
        return {
            "count": self.length("watches", 0),
            "places": Integers(self.address("watches", 1)),
            "rules": Stack(RULE, self.address("watches", 2)),
            "state": Stored(m, state),
            "behind": Stored(0, state, m),
            "all": Stored(0, state),
            "values": Stack(PARTS + 1, self.address("watches", 4)),
            "deep": self.length("watches", 5),
            "finds": self.length("watches", 6),
        }

    def rows(self, places: Iterable[int]) -> list[Value]:
        """The numbers in these rows of the control block."""
        return [self._emit.component(Stored(ROWS, "%control"), k) for k in places]


def _functions(m: Operand) -> dict[str, Thing]:
    """The functions of a system that texts call."""
    return {"rate": Outside("rate_at", m), "quantities": Outside("quantities_at")}


def _declarations(emit: Lines) -> str:
    """The functions of LLVM that a loop calls, each once."""
    return "\n".join(dict.fromkeys(f"{emit.declarations()}\n{Block(ABREAST).declarations()}".splitlines())) + "\n"


def timed_functions_ir(lanes: int, rate: str, quantities: str) -> str:
    """The IR of the functions that texts call; these lines call the rate and the quantities for the signals in u."""
    number, evaluate = Lines(lanes).types[EIGHT], "alwaysinline {\nentry:\n"
    words = "".join(
        f"  %at.{k} = getelementptr i64, ptr %table, i64 {k}\n  %word{k} = load i64, ptr %at.{k}\n" for k in (0, FIRST)
    )
    evaluate += (
        f"  %clock = alloca {number}\n  store {number} %t, ptr %clock\n{words}"
        f"  %both = or i64 %word0, %word{FIRST}\n  %some = icmp ne i64 %both, 0\n"
        "  br i1 %some, label %vary, label %go\nvary:\n"
        "  call void @signals(ptr %table, ptr %u, ptr %clock)\n  br label %go\ngo:\n"
    )
    return (
        f"define internal void @rate_at({OUTSIDE}, {number} %t, ptr %y, ptr %dy) {evaluate}{rate}  ret void\n}}\n"
        f"define internal void @quantities_at({OUTSIDE}, {number} %t, ptr %y, ptr %w) {evaluate}{quantities}"
        "  ret void\n}\n"
    )


def _functions_of_system(lanes: int) -> str:
    """The functions by which the loop and its callers reach a system."""

    def address(k: int) -> str:
        return f"  %at = getelementptr i64, ptr %system, i64 {k}\n  %function = load ptr, ptr %at, align 8\n"

    rate = f"{address(RATE)}  call void %function(ptr %control, ptr %u, ptr %y, ptr %dy)\n"
    look = f"{address(QUANTITIES)}  call void %function(ptr %u, ptr %y, ptr %w)\n"
    functions = [
        timed_functions_ir(lanes, rate, look),
        f"define void @first({OUTSIDE}, ptr %y, ptr %dy) {{\n",
        f"  %clock = getelementptr double, ptr %control, i64 {T * lanes}\n",
        f"  call void @signals(ptr %table, ptr %u, ptr %clock)\n{rate}  ret void\n}}\n",
        f"define void @look(ptr %u, ptr %system, ptr %y, ptr %w) {{\n{look}  ret void\n}}\n",
    ]
    if lanes == 1:
        taken = "double %taken, double %t, double %step, ptr %y, ptr %stages"
        functions.append(f"define internal void @keeping({OUTSIDE}, {taken}) {{\n")
        for k, x in ((TAKEN, "taken"), (T, "t"), (STEP, "step")):
            functions.append(f"  %at{k} = getelementptr double, ptr %control, i64 {k}\n")
            functions.append(f"  store double %{x}, ptr %at{k}, align 8\n")
        functions.append(f"  %m = load i64, ptr %system, align 8\n{KEEP.format('%m')}\n  ret void\n}}\n")
    return "".join(functions)


def system_functions_ir(program: Program, lanes: int) -> str:
    """The IR of a system's functions for the loop of explicit methods."""
    closed = len(program.outputs.get("closed", [])) if lanes == 1 else 0
    texts = _rate_function(program, lanes, closed, ROWS) + _quantities_function(program, lanes)
    return f"{Block(lanes).declarations()}\n{number_table_ir(program)}{texts.replace('define internal', 'define')}"


# ---- parts of the loops of implicit methods, which have a single lane


def implicit_loop_parts_ir(program: Program, method: Dense, m: int, *, late: bool) -> str:
    """The IR of what the loops of implicit methods call: the rate, signals that vary in time, rows and watches."""
    closed = len(program.outputs.get("closed", []))
    rate = "  call void @rate(ptr %control, ptr %u, ptr %y, ptr %dy)\n"
    return (
        f"{_declarations(Lines(1))}{number_table_ir(program)}"
        f"{_rate_function(program, 1, closed, method.block)}{_quantities_function(program, 1)}"
        f"{march_past.late_function_ir(method) + march_past.keep_function_ir(method) if late else ''}"
        f"{march_time.signals_function_ir(1, late)}"
        f"{timed_functions_ir(1, rate, '  call void @quantities(ptr %u, ptr %y, ptr %w)' + chr(10))}"
        f"{_rows_function_ir(method, m, closed)}{_seen_function_ir(method, m)}"
    )


def _rows_function_ir(method: Dense, m: int, closed: int) -> str:
    """The IR of `rows`, which writes the output rows of a step that has been taken."""
    emit = Lines(1)
    translator, words, stages = Translator(emit, runs=True, unrolled=0), Words(emit), Stack(m, "%stages")
    system = {**_functions(m), "closing": closed, "closes": Stored(m, "%control", method.block)}
    t, t_new, step, row, gap, taken = words.rows((T, T_NEW, STEP, ROW, OPEN, TAKEN))
    memory = [stages, Stored(m, "%y"), Stored(m, "%new"), translator.of.row(stages, method.stages), Singles("%grid")]
    passed = emit.compare("ne", taken, 0.0, EIGHT)
    given = [Output(m, Value(INTEGER, "%count"), "%out"), passed, t, t_new, step, row, gap]
    results = translator.text(dense.put_rows, [method, system, *memory, *given])
    for k, x in zip((ROW, OPEN), results):
        emit.put_component(Stored(ROWS, "%control"), k, x)
    arguments = f"{OUTSIDE}, ptr %y, ptr %stages, ptr %new, ptr %grid, i64 %count, ptr %out"
    return f"define internal void @rows({arguments}) noinline {{\n{emit.body()}\n  ret void\n}}\n"


def _seen_function_ir(method: Dense, m: int) -> str:
    """The IR of `seen`, which says whether a watch may have an event in the step to `new`."""
    emit = Lines(1)
    translator, words, stages = Translator(emit, runs=True, unrolled=0), Words(emit), Stack(m, "%stages")
    memory = [stages, Stored(m, "%y"), Stored(m, "%new"), Value(EIGHT, "%t"), *words.rows((T_NEW,)), Value(EIGHT, "%h")]
    found = translator.text(dense.event_is_possible, [method, _functions(m), words.watch(m), *memory])
    arguments = f"{OUTSIDE}, ptr %y, ptr %new, ptr %stages, ptr %watches, double %t, double %h"
    return f"define internal i1 @seen({arguments}) noinline {{\n{emit.body()}\n  ret i1 {found.register}\n}}\n"


def first_stage_ir() -> str:
    """The IR of the functions for callers: `first` evaluates the first stage, `look` the quantities of one state."""
    return (
        "define void @look(ptr %u, ptr %system, ptr %y, ptr %w) {\n"
        "  call void @quantities(ptr %u, ptr %y, ptr %w)\n  ret void\n}\n"
        f"define void @first({OUTSIDE}, ptr %y, ptr %dy) {{\n"
        f"  %clock = getelementptr double, ptr %control, i64 {T}\n"
        "  call void @signals(ptr %table, ptr %u, ptr %clock)\n"
        "  call void @rate(ptr %control, ptr %u, ptr %y, ptr %dy)\n  ret void\n}\n"
    )


# ---- the functions of a program


def _quantities_function(program: Program, lanes: int) -> str:
    """The program's quantities for watches as a function of pointers."""
    return _function(program, lanes, "quantities", ("u", "y", "w"), [(program.outputs.get("quantities", []), "%w", 0)])


def _rate_function(program: Program, lanes: int, closed: int, behind: int) -> str:
    """The rate of the state as a function of pointers; the guard and the closed state go into the control block."""
    guard = program.outputs.get("guard", [])
    outputs = [(program.outputs["rate"], "%dy", 0), (guard, "%control", GUARD)]
    if closed:
        outputs.append((program.outputs["closed"], "%control", behind))
    return _function(program, lanes, "rate", ("control", "u", "y", "dy"), outputs)


def _function(
    program: Program, lanes: int, name: str, pointers: Sequence[str], outputs: Sequence[tuple[list[Node], str, int]]
) -> str:
    """A part of the program, which is called so that its code is there once; outputs go to rows from a place on."""
    block = Block(lanes)
    needed = {node.id for node in live_nodes([node for nodes, _, _ in outputs for node in nodes])}
    values = {}
    for group, nodes in program.inputs.items():
        for k, node in enumerate(nodes):
            if node.id in needed:
                place = block.offset(f"%{group}", k * lanes)
                values[node.id] = block.let(f"load {block.double}, ptr {place}, align 8")
    own = {node.id: k for k, node in enumerate(program.numbers)}

    def value(node: Node) -> str:
        return block.number(own[node.id]) if node.id in own else values[node.id]

    registers = iter(block.run([node for nodes, _, _ in outputs for node in nodes], value))
    for nodes, base, first in outputs:
        for k, register in zip(range(len(nodes)), registers):
            block.do(f"store {block.double} {register}, ptr {block.offset(base, (first + k) * lanes)}, align 8")
    body = "\n".join(block.lines)
    arguments = ", ".join(f"ptr noalias %{pointer}" for pointer in pointers)
    return f"define internal void @{name}({arguments}) noinline {{\n{body}\n  ret void\n}}\n"
