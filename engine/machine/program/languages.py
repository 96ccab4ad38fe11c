"""Programs written out as C99 that includes nothing but <math.h>, as JavaScript, and as Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...errors import safe_to_print
from .nodes import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    FLOOR,
    INPUT,
    MULTIPLY,
    NEGATE,
    SIGN,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Node,
    live_nodes,
)
from .recording import Program

FORMS = {
    ADD: "{a} + {b}",
    SUBTRACT: "{a} - {b}",
    MULTIPLY: "{a} * {b}",
    DIVIDE: "{a} / {b}",
    NEGATE: "-{a}",
}
PYTHON = {
    **FORMS,
    COSINE: "cos({a})",
    SINE: "sin({a})",
    SQUARE_ROOT: "sqrt({a})",
    SIGN: "(float({a} > 0.0) - float({a} < 0.0))",
    FLOOR: "float(floor({a}))",
}


def program_operation_lines(
    results: list[Node], form: dict[str, str], constant: Callable[[float], str], named: Callable[[Node], str]
) -> tuple[list[tuple[str, str]], dict[int, str]]:
    """Pairs (variable, expression) of all live operations in order, and the name of each node."""
    names: dict[int, str] = {}
    statements: list[tuple[str, str]] = []
    for node in live_nodes(results):
        if node.op == CONSTANT:
            text = constant(node.value)
            names[node.id] = f"({text})" if node.value < 0 else text
        elif node.op == INPUT:
            names[node.id] = named(node)
        else:
            a = names[node.a.id] if node.a is not None else ""
            b = names[node.b.id] if node.b is not None else ""
            names[node.id] = _variable_name(node, len(statements))
            statements.append((names[node.id], form[node.op].format(a=a, b=b)))
    return statements, names


def _variable_name(node: Node, number: int) -> str:
    """The name of a variable: such as `cos_q2` for the cosine of an input, else `t` with a number."""
    if node.op in (COSINE, SINE) and node.a is not None and node.a.op == INPUT:
        return f"{node.op}_{node.a.value}"
    return f"t{number}"


def python_function(program: Program, name: str, about: str) -> str:
    """The text of a Python function from one sequence for each group of inputs to a list for each group of outputs."""
    used = {node.id for node in live_nodes(program.results())}
    loads = [
        f"    {node.value} = {group}[{k}]"
        for group, nodes in program.inputs.items()
        for k, node in enumerate(nodes)
        if node.id in used
    ]
    statements, names = program_operation_lines(program.results(), PYTHON, repr, lambda node: str(node.value))
    returned = ", ".join("[" + ", ".join(names[node.id] for node in group) + "]" for group in program.outputs.values())
    body = [f'    """{about}"""', *loads, *(f"    {target} = {text}" for target, text in statements)]
    return f"def {name}({', '.join(program.inputs)}):\n" + "\n".join([*body, f"    return {returned}"]) + "\n"


def python_call(program: Program, name: str) -> str:
    """The statement that calls the function of a program."""
    return f"{next(iter(program.outputs))} = {name}({', '.join(program.inputs)})"


def block_comment(head: Sequence[str]) -> str:
    """Lines as a comment of C and its relatives, which ends where it ends, whatever stands in them."""
    lines = "\n".join(f" * {safe_to_print(line)}".rstrip() for line in head)
    return f"/*\n{lines.replace('*/', '* /')}\n */\n"


def python_file(program: Program, name: str, about: str, head: Sequence[str]) -> str:
    """The text of a module with a program's function, under a docstring of the lines `head`."""
    docstring = "\n".join(map(safe_to_print, head)).replace("\\", "/").replace('"', "'")
    imports = "from math import cos, floor, sin, sqrt  # noqa: F401\n\n\n"
    return f'"""{docstring}\n"""\n\n{imports}{python_function(program, name, about)}'


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
    statements, names = program_operation_lines(
        program.results(), FORMS_OF_JAVASCRIPT, repr, lambda node: places[node.id]
    )
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


@dataclass(frozen=True)
class Language:
    """A language of exported programs.

    `call(program, name)` gives the statement that calls the function; `file(program, name, about, head)` gives the text
    of a self-contained file, with the lines `head` as its comment, and `header(text)` that of the file with the suffix
    `.h` which declares what is in there.
    """

    about: str
    suffix: str
    call: Callable[[Program, str], str]
    file: Callable[[Program, str, str, Sequence[str]], str]
    header: Callable[[str], str] | None = None


LANGUAGES = {
    "c": Language("C99, without dependencies but <math.h>", ".c", c_call, c_file, c_header),
    "javascript": Language("JavaScript, for browsers and Node.js", ".js", c_call, javascript_file),
    "python": Language("Python, without dependencies but `math`", ".py", python_call, python_file),
}
