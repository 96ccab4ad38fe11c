"""Programs written out as text: the part that C and Python share, and Python itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import trace
from .trace import Node, Program, live_nodes

FORMS = {
    trace.ADD: "{a} + {b}",
    trace.SUBTRACT: "{a} - {b}",
    trace.MULTIPLY: "{a} * {b}",
    trace.DIVIDE: "{a} / {b}",
    trace.NEGATE: "-{a}",
}
PYTHON = {
    **FORMS,
    trace.COSINE: "cos({a})",
    trace.SINE: "sin({a})",
    trace.SQUARE_ROOT: "sqrt({a})",
    trace.SIGN: "(float({a} > 0.0) - float({a} < 0.0))",
    trace.FLOOR: "float(floor({a}))",
}


def program_operation_lines(
    results: list[Node], form: dict[str, str], constant: Callable[[float], str], named: Callable[[Node], str]
) -> tuple[list[tuple[str, str]], dict[int, str]]:
    """Pairs (variable, expression) of all live operations in order, and the name of each node."""
    names: dict[int, str] = {}
    statements: list[tuple[str, str]] = []
    for node in live_nodes(results):
        if node.op == trace.CONSTANT:
            text = constant(node.value)
            names[node.id] = f"({text})" if node.value < 0 else text
        elif node.op == trace.INPUT:
            names[node.id] = named(node)
        else:
            a = names[node.a.id] if node.a is not None else ""
            b = names[node.b.id] if node.b is not None else ""
            names[node.id] = _variable_name(node, len(statements))
            statements.append((names[node.id], form[node.op].format(a=a, b=b)))
    return statements, names


def _variable_name(node: Node, number: int) -> str:
    """The name of a variable: such as `cos_q2` for the cosine of an input, else `t` with a number."""
    if node.op in (trace.COSINE, trace.SINE) and node.a is not None and node.a.op == trace.INPUT:
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


def python_file(program: Program, name: str, about: str, head: Sequence[str]) -> str:
    """The text of a module with a program's function, under a docstring of the lines `head`."""
    docstring = "\n".join(head).replace("\\", "/").replace('"', "'")
    imports = "from math import cos, floor, sin, sqrt  # noqa: F401\n\n\n"
    return f'"""{docstring}\n"""\n\n{imports}{python_function(program, name, about)}'
