"""A program as Python text: what `codegen` exports, and the quickest way to run it without a compiler."""

from __future__ import annotations

from collections.abc import Callable

from .trace import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    INPUT,
    MULTIPLY,
    NEGATE,
    SIGN,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Node,
    Program,
    live,
)

FORMS = {ADD: "{a} + {b}", SUBTRACT: "{a} - {b}", MULTIPLY: "{a} * {b}", DIVIDE: "{a} / {b}", NEGATE: "-{a}"}


def lines(
    results: list[Node], form: dict[str, str], constant: Callable[[float], str], named: Callable[[Node], str]
) -> tuple[list[tuple[str, str]], dict[int, str]]:
    """(variable, expression) of each live operation, in order, and what each node is called."""
    names: dict[int, str] = {}
    statements: list[tuple[str, str]] = []
    for node in live(results):
        if node.op == CONSTANT:
            text = constant(node.value)
            names[node.id] = f"({text})" if node.value < 0 else text
        elif node.op == INPUT:
            names[node.id] = named(node)
        else:
            a = names[node.a.id] if node.a is not None else ""
            b = names[node.b.id] if node.b is not None else ""
            names[node.id] = f"t{len(statements)}"
            statements.append((names[node.id], form[node.op].format(a=a, b=b)))
    return statements, names


PYTHON = {
    **FORMS,
    COSINE: "cos({a})",
    SINE: "sin({a})",
    SQUARE_ROOT: "sqrt({a})",
    SIGN: "(({a} > 0.0) - ({a} < 0.0))",
}


def python_function(program: Program, name: str) -> str:
    """The text of a function of one sequence for each group of inputs; it returns a list for each group of outputs."""
    places = {node.id: f"{group}[{k}]" for group, nodes in program.inputs.items() for k, node in enumerate(nodes)}
    used = {node.id for node in live(program.results())}
    loads = [
        f"    {node.value} = {places[node.id]}"
        for nodes in program.inputs.values()
        for node in nodes
        if node.id in used
    ]
    statements, names = lines(program.results(), PYTHON, repr, lambda node: str(node.value))
    returned = ", ".join("[" + ", ".join(names[node.id] for node in group) + "]" for group in program.outputs.values())
    body = [*loads, *(f"    {target} = {text}" for target, text in statements), f"    return {returned}"]
    return f"def {name}({', '.join(program.inputs)}):\n" + "\n".join(body) + "\n"
