"""Programs written out as C99 that includes nothing but <math.h>."""

from __future__ import annotations

from collections.abc import Sequence

from .lines import FORMS, block_comment, program_operation_lines
from .nodes import COSINE, FLOOR, SIGN, SINE, SQUARE_ROOT, live_nodes
from .recording import Program

INCLUDED = "#include <math.h>\n\n"
OF_C = '#ifdef __cplusplus\nextern "C"\n#endif\n'  # else C++ would look for the function under another name
FORMS_OF_C = {
    **FORMS,
    COSINE: "cos({a})",
    SINE: "sin({a})",
    SQUARE_ROOT: "sqrt({a})",
    SIGN: "(double)(({a} > 0.0) - ({a} < 0.0))",
    FLOOR: "floor({a})",
}


def c_function(program: Program, name: str) -> str:
    """The text of a C function whose arguments are the arrays of the inputs, then those of the outputs."""
    places = {node.id: f"{group}[{k}]" for group, nodes in program.inputs.items() for k, node in enumerate(nodes)}
    statements, names = program_operation_lines(program.results(), FORMS_OF_C, repr, lambda node: places[node.id])
    used = {node.id for node in live_nodes(program.results())}
    idle = [group for group, nodes in program.inputs.items() if not any(node.id in used for node in nodes)]
    body = [f"    (void){group};" for group in idle]
    body += [f"    const double {target} = {text};" for target, text in statements]
    for group, nodes in program.outputs.items():
        body += [f"    {group}[{k}] = {names[node.id]};" for k, node in enumerate(nodes)]
    return f"{c_prototype(program, name)}\n{{\n" + "\n".join(body) + "\n}\n"


def c_prototype(program: Program, name: str) -> str:
    """The declaration `void name(const double q[…], …, double out[…])` of a program's function."""
    parameters = [f"const double {group}[{len(nodes)}]" for group, nodes in program.inputs.items()]
    parameters += [f"double {group}[{len(nodes)}]" for group, nodes in program.outputs.items()]
    return f"void {name}({', '.join(parameters)})"


def c_call(program: Program, name: str) -> str:
    """The statement that calls the function of a program, in JavaScript, too."""
    return f"{name}({', '.join([*program.inputs, *program.outputs])});"


def c_file(program: Program, name: str, about: str, head: Sequence[str]) -> str:
    """The text of a file with a program's function, under a comment of the lines `head`."""
    declared = f"{OF_C}{c_prototype(program, name)};"
    return f"{block_comment(head)}{INCLUDED}{declared}\n\n{c_function(program, name)}"


def c_header(text: str) -> str:
    """The header for the text of such a file, for programs in C or C++."""
    comment, _, code = text.partition(INCLUDED)
    return f"{comment}#pragma once\n\n{code.partition(';')[0]};\n"
