"""Compiled loops, as LLVM IR: those of methods, which all systems share, and the functions of a system."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence

from ..jit.block import Block
from ..jit.llvm import number_table_ir
from ..jit.polynomials import ABREAST, FIRST
from ..loops import explicit, implicit
from ..loops.dense import PARTS, RULE_SIZE
from ..loops.emit import OUTSIDE, Lines
from ..loops.operations import Operations
from ..loops.translate import Translator
from ..loops.values import EIGHT, INTEGER, Integers, Operand, Output, Outside, Singles, Stack, Stored, Thing, Value
from ..program.nodes import Node, live_nodes
from ..program.recording import Program
from . import march_past, march_time
from .implicit import ImplicitMethod
from .march_block import LOOP_PAUSED, LOOP_REACHED, ROWS, Lane
from .march_dense import ExplicitMethod

KEEP = "  call void @keep(ptr %control, ptr %y, ptr %stages, ptr %table, i64 {})"

ROW_NAMES = {"gap": "OPEN", "stop": "LANDING"}  # of numbers that the text has other names for
# the words of what the loop knows of a system: lengths and addresses
WORDS = M, MEASURED, CLOSING, UNITS, PLACES, RATE, QUANTITIES, GUARDING, SLOPES = range(9)


def loop_ir(method: ExplicitMethod | ImplicitMethod, lanes: int) -> str:
    """The IR of the loop of a method for all systems.

    It takes the control block, u, y and the stages (rows of lanes), the grid of output instants, which ends with
    infinity, how many rows the array behind it has for each lane, the number of attempts, the table of signals over
    time (`polynomials.py`), the watches, and the words of the system.
    """
    emit, single = Lines(lanes), lanes == 1
    translator, words = Translator(emit, runs=True), Words(emit)
    m, n = (words.length("system", k) for k in (M, MEASURED))
    system = {
        "rate": Outside("rate_at", m),
        "quantities": Outside("quantities_at"),
        "size": m,
        "measured": n,
        "guard": Stored(1, "%control", Lane.GUARD),
        "closing": words.length("system", CLOSING) if single else 0,
        "closes": Stored(m, "%control", ROWS),
        "units": words.length("system", UNITS),
        "places": Integers(words.address("system", PLACES)),
        "delays": words.length("table", FIRST) if single else 0,
        "keep": Outside("keeping"),
    }
    stages, rows = Stack(m, "%stages"), Output(m, Value(INTEGER, "%count"), "%out")
    if isinstance(method, ExplicitMethod):
        text: Callable[..., Thing] = explicit.advance
        own: list[Thing] = [stages, Stored(m, "%y"), *(translator.of.row(stages, method.stages + k) for k in range(2))]
    else:
        text = implicit.advance
        squared = translator.of.arithmetic("multiply", m, n)
        system |= {"guarded": words.length("system", GUARDING), "slopes": Outside("slopes_at", squared)}
        own = [_implicit_memory(method, translator.of, m, n), Stored(m, "%y")]
    memory = [*own, Singles("%grid"), rows, Value(INTEGER, "%attempts")]
    names = [*inspect.signature(text).parameters]
    control = [getattr(Lane, ROW_NAMES.get(name, name.upper())) for name in names[names.index("attempts") + 1 :]]
    left, *results = translator.text(text, [method, system, words.watch(m), *memory, *words.rows(control)])
    for k, x in zip(control[-len(results) :], results):
        emit.put_component(Stored(ROWS, "%control"), k, x)
    over = emit.compare("gt", left, 0, INTEGER).register
    emit.lines.append(f"  %why = select i1 {over}, i64 {LOOP_REACHED}, i64 {LOOP_PAUSED}\n  ret i64 %why")
    past = march_past.late_function_ir(method) + march_past.keep_function_ir(method) if single else ""
    signals = march_time.signals_function_ir(lanes, late=single)
    arguments = f"{OUTSIDE}, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, i64 %attempts, ptr %watches"
    march = f"define i64 @march({arguments}) {{\n{emit.body()}\n}}\n"
    return _declarations(emit) + past + signals + _functions_of_system(lanes) + march


def _implicit_memory(method: ImplicitMethod, of: Operations, m: Operand, n: Operand) -> dict[str, Thing]:
    """The memory of an implicit method by its names."""
    stages, place, found = Stack(m, "%stages"), 0, dict[str, Thing]()
    for name, count in method.vectors.items():
        row = of.row(stages, place)
        found[name] = Stack(m, row.base) if count else row
        place += max(count, 1)
    for k, name in enumerate(method.matrices):
        at = of.arithmetic("add", of.arithmetic("multiply", m, k), place)
        found[name] = Stack(n, of.row(stages, at).base)
    slopes = Stored(of.arithmetic("multiply", m, n), found["rows"].base)
    return found | {"slopes": slopes, "own": Stored(implicit.OWN, "%control", Lane.OWN)}


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
            "rules": Stack(RULE_SIZE, self.address("watches", 2)),
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


def _timed_functions_ir(lanes: int, **lines: str) -> str:
    """The IR of the functions that texts call, of t, y and a result; their lines use the signals in u."""
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
    arguments = f"{OUTSIDE}, {number} %t, ptr %y, ptr %result"
    return "".join(
        f"define internal void @{name}_at({arguments}) {evaluate}{own}  ret void\n}}\n" for name, own in lines.items()
    )


def _functions_of_system(lanes: int) -> str:
    """The functions by which the loop and its callers reach a system."""

    def address(k: int) -> str:
        return f"  %at = getelementptr i64, ptr %system, i64 {k}\n  %function = load ptr, ptr %at, align 8\n"

    rate = f"{address(RATE)}  call void %function(ptr %control, ptr %u, ptr %y, ptr %result)\n"
    look, slopes = (f"{address(k)}  call void %function(ptr %u, ptr %y, ptr %result)\n" for k in (QUANTITIES, SLOPES))
    if lanes == 1:  # code for one sample, which takes groups of inputs
        slopes = (
            "  %groups = alloca ptr, i64 2\n  %second = getelementptr ptr, ptr %groups, i64 1\n"
            "  store ptr %u, ptr %groups\n  store ptr %y, ptr %second\n"
            f"{address(SLOPES)}  call void %function(ptr %groups, ptr %result, ptr null)\n"
        )
    functions = [
        _timed_functions_ir(lanes, rate=rate, quantities=look, slopes=slopes),
        f"define void @first({OUTSIDE}, ptr %y, ptr %result) {{\n",
        f"  %clock = getelementptr double, ptr %control, i64 {Lane.T * lanes}\n",
        f"  call void @signals(ptr %table, ptr %u, ptr %clock)\n{rate}  ret void\n}}\n",
        f"define void @look(ptr %u, ptr %system, ptr %y, ptr %result) {{\n{look}  ret void\n}}\n",
    ]
    if lanes == 1:
        taken = "double %taken, double %t, double %step, ptr %y, ptr %stages"
        functions.append(f"define internal void @keeping({OUTSIDE}, {taken}) {{\n")
        for k, x in ((Lane.TAKEN, "taken"), (Lane.T, "t"), (Lane.STEP, "step")):
            functions.append(f"  %at{k} = getelementptr double, ptr %control, i64 {k}\n")
            functions.append(f"  store double %{x}, ptr %at{k}, align 8\n")
        functions.append(f"  %m = load i64, ptr %system, align 8\n{KEEP.format('%m')}\n  ret void\n}}\n")
    return "".join(functions)


def system_functions_ir(program: Program, lanes: int, slopes: Program | None = None) -> str:
    """The IR of a system's functions for the loop; that of `guarded` says that there is a guard."""
    rate = [(program.outputs["rate"], "%dy", 0), (program.outputs.get("guard", []), "%control", Lane.GUARD)]
    if lanes == 1:
        rate.append((program.outputs.get("closed", []), "%control", ROWS))
    quantities = [(program.outputs.get("quantities", []), "%w", 0)]
    texts = _function(program, lanes, "rate", ("control", "u", "y", "dy"), rate)
    texts += _function(program, lanes, "quantities", ("u", "y", "w"), quantities)
    if slopes is not None:
        texts += _function(slopes, lanes, "slopes", ("u", "y", "J"), [(slopes.outputs["slopes"], "%J", 0)])
    if "guard" in program.outputs:
        texts += "define void @guarded() {\n  ret void\n}\n"
    return f"{Block(lanes).declarations()}\n{number_table_ir(program)}{texts.replace('define internal', 'define')}"


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
