"""Programs written out as JavaScript: functions on arrays of numbers, for browsers and for Node.js."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lines import FORMS, block_comment, program_operation_lines
from .nodes import COSINE, FLOOR, SIGN, SINE, SQUARE_ROOT
from .recording import Program

FORMS_OF_JAVASCRIPT = {
    **FORMS,
    COSINE: "Math.cos({a})",
    SINE: "Math.sin({a})",
    SQUARE_ROOT: "Math.sqrt({a})",
    SIGN: "Math.sign({a})",
    FLOOR: "Math.floor({a})",
}


def javascript_function(program: Program, name: str, *, compact: bool = False) -> str:
    """The text of a function whose arguments are the arrays of the inputs, then those of the outputs.

    A compact text has no white space that isn't needed; its results are the same.
    """
    places = {node.id: f"{group}[{k}]" for group, nodes in program.inputs.items() for k, node in enumerate(nodes)}
    statements, names = program_operation_lines(program.results(), FORMS_OF_JAVASCRIPT, repr, lambda node: places[node.id])
    body = [f"  const {target} = {text};" for target, text in statements]
    for group, nodes in program.outputs.items():
        body += [f"  {group}[{k}] = {names[node.id]};" for k, node in enumerate(nodes)]
    arguments = ", ".join([*program.inputs, *program.outputs])
    if compact:
        given = "const " + ",".join(f"{target}={text}" for target, text in statements) + ";" if statements else ""
        results = [line.strip() for line in body[len(statements) :]]
        whole = re.sub(r" ?([-+*/=]) ?(?=[^-+]|$)", r"\1", given + "".join(results))
        return f"function {name}({arguments}){{{whole}}}"
    return f"function {name}({arguments}) {{\n" + "\n".join(body) + "\n}\n"


def javascript_file(program: Program, name: str, about: str, head: Sequence[str]) -> str:
    """The text of a file with a program's function, which is exported where there are modules of Node.js."""
    exported = f'if (typeof module !== "undefined") module.exports = {{ {name} }};\n'
    return f'{block_comment(head)}"use strict";\n\n{javascript_function(program, name)}\n{exported}'
