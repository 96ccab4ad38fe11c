"""Programs written out as text: the part that C and Python share, and Python itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
