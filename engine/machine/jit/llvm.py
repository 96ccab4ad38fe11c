"""Programs as LLVM IR, with W samples side by side in vector lanes, or with one sample in scalars.

Arrays have a row for each sample.  W rows are loaded, transposed in the registers so that each column is one vector of
lanes, computed, transposed back and stored.  Kernels also check their numbers: they leave NaN in `status` where one
wasn't finite or a result was enormous, which the plain text then examines, and the size of the largest angle, which has
to be within reach of the reduction in `trigonometry.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..backend.native import NUMBERS
from ..program.nodes import CONSTANT, COSINE, SINE, live_nodes
from ..program.recording import Program
from . import program_pieces
from .block import ENORMOUS, Block, hexadecimal_of_double
from .program_pieces import Pieces

APART = ".apart"


@dataclass
class Computed:
    """The registers of a program's two checks, functions that its code calls, and IR for the room that these need."""

    finite: str
    largest: str
    functions: str = ""
    room: str = ""
    left: str = ""


def _computed(
    block: Block, program: Program, bases: dict[str, str], finite: str, largest: str, abreast: int = 1
) -> Computed:
    """Write loads, operations and stores of one block of samples, or of one with so many columns `abreast`."""
    values: dict[int, str] = {}
    for group, nodes in program.inputs.items():
        if nodes:
            values.update(zip((node.id for node in nodes), block.load_columns(bases[group], len(nodes))))
    results = [*program.results(), *program.watched]
    angles = {node.a.id for node in live_nodes(results) if node.op in (COSINE, SINE)}  # type: ignore[union-attr]
    for number in sorted(angles & set(values)):
        largest = block.larger(block.call("fabs", values[number]), largest)
    for number, value in values.items():
        finite = block.watched(block.blank(value) if number in program.blank else value, finite)
    own = {node.id: k for k, node in enumerate(program.numbers)}
    if (parts := program_pieces.cut_long_program(program, block.lanes)) is not None:
        long = Pieces(block, parts, bases, own, abreast)
        finite = long.run(values, finite)
        return Computed(finite, largest, "\n".join([*long.declarations(), *long.functions]), long.room(), long.left())
    registers = block.run(results, lambda node: block.number(own[node.id]) if node.id in own else values[node.id])
    for node, value in zip(results, registers):
        if node.op != CONSTANT or not abs(node.value) < ENORMOUS:
            finite = block.watched(block.overflowing(value), finite)
    taken = 0
    for group, nodes in program.outputs.items():
        if nodes:
            columns = registers[taken : taken + len(nodes)]
            block.store_columns(bases[group], columns, cleared=block.cleared(bases[group], columns))
        taken += len(nodes)
    return Computed(finite, largest)


def kernel_ir(program: Program, lanes: int, name: str) -> str:
    """IR of `void name(i64 count, ptr inputs, ptr outputs, ptr status)` for at least `lanes` rows.

    `inputs` and `outputs` point to the addresses of the groups' rows.  The last block ends with the last row: where
    the rows aren't a multiple of the lanes, it does some of them a second time.
    """
    block, widths, bases = Block(lanes), _widths(program), {}
    for group, width in widths.items():
        skip = block.let(f"mul i64 %row, {width}")
        bases[group] = block.let(f"getelementptr double, ptr %group.{group}, i64 {skip}")
    computed = _computed(block, program, bases, "%finite", "%largest")
    finite, largest = computed.finite, computed.largest
    zero = "zeroinitializer" if lanes > 1 else hexadecimal_of_double(0.0)
    body = "\n".join(block.lines)
    addresses = "\n".join(
        f"  %at.{group} = getelementptr ptr, ptr %{side}, i64 {k}\n  %group.{group} = load ptr, ptr %at.{group}"
        for side, groups in (("inputs", program.inputs), ("outputs", program.outputs))
        for k, group in enumerate(groups)
    )
    return f"""{block.declarations()}{number_table_ir(program)}{computed.functions}
define void @{name}(i64 %count, ptr %inputs, ptr %outputs, ptr %status) {{
entry:
  %end = sub i64 %count, {lanes}
{addresses}
{computed.room}
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %finite = phi {block.double} [{zero}, %entry], [{finite}, %loop]
  %largest = phi {block.double} [{zero}, %entry], [{largest}, %loop]
  %whole = icmp slt i64 %k, %end
  %row = select i1 %whole, i64 %k, i64 %end
{body}
  %next = add i64 %k, {lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %last
last:
  store {block.double} {finite}, ptr %status, align 8
  %second = getelementptr double, ptr %status, i64 {lanes}
  store {block.double} {largest}, ptr %second, align 8
{computed.left}
  ret void
}}
"""


def number_table_ir(program: Program) -> str:
    """The table of the code's own numbers, if it has any."""
    if not program.numbers:
        return ""
    return f"@{NUMBERS} = global [{len(program.numbers)} x double] zeroinitializer, align 64\n!0 = !{{}}\n"


def _widths(program: Program) -> dict[str, int]:
    return {group: len(nodes) for group, nodes in (*program.inputs.items(), *program.outputs.items())}


def single_sample_ir(program: Program, name: str, abreast: int = 2) -> str:
    """IR of `void name(ptr groups, ptr results, ptr environment)` for one sample, with columns so many `abreast`.

    `groups` points to the inputs' groups; outputs go to `results`, one behind the other, the two watches last.  Another
    function, whose name goes on with `APART`, takes the address for the watches as a fourth argument.
    """
    block = Block(1)
    bases, at = {}, 0
    for k, group in enumerate(program.inputs):
        place = block.let(f"getelementptr ptr, ptr %groups, i64 {k}")
        bases[group] = block.let(f"load ptr, ptr {place}")
    for group, nodes in program.outputs.items():
        bases[group] = block.offset("%results", at)
        at += len(nodes)
    computed = _computed(block, program, bases, hexadecimal_of_double(0.0), hexadecimal_of_double(0.0), abreast)
    for k, watch in enumerate((computed.finite, computed.largest)):
        block.do(f"store double {watch}, ptr {block.offset('%watches', k)}, align 8")
    body = "\n".join(block.lines)
    arguments = "ptr %groups, ptr %results, ptr %environment"
    functions, room = computed.functions, computed.room
    functions = number_table_ir(program) + functions
    return f"""{block.declarations()}{functions}
define void @{name}{APART}({arguments}, ptr %watches) {{
{room}
{body}
{computed.left}
  ret void
}}
define void @{name}({arguments}) {{
  %watches = getelementptr double, ptr %results, i64 {at}
  tail call void @{name}{APART}({arguments}, ptr %watches)
  ret void
}}
"""
