"""A program as C99 without dependencies but <math.h>."""

from __future__ import annotations

from . import trace
from .text import FORMS, lines
from .trace import Program, live

FORM = {
    **FORMS,
    trace.COSINE: "cos({a})",
    trace.SINE: "sin({a})",
    trace.SQUARE_ROOT: "sqrt({a})",
    trace.SIGN: "(double)(({a} > 0.0) - ({a} < 0.0))",
}


def c_function(program: Program, name: str) -> str:
    """The text of `void name(const double q[…], …, double out[…])`."""
    places = {node.id: f"{group}[{k}]" for group, nodes in program.inputs.items() for k, node in enumerate(nodes)}
    statements, names = lines(program.results(), FORM, repr, lambda node: places[node.id])
    used = {node.id for node in live(program.results())}
    idle = [group for group, nodes in program.inputs.items() if not any(node.id in used for node in nodes)]
    parameters = [f"const double {group}[{len(nodes)}]" for group, nodes in program.inputs.items()]
    parameters += [f"double {group}[{len(nodes)}]" for group, nodes in program.outputs.items()]
    body = [f"    (void){group};" for group in idle]
    body += [f"    const double {target} = {text};" for target, text in statements]
    for group, nodes in program.outputs.items():
        body += [f"    {group}[{k}] = {names[node.id]};" for k, node in enumerate(nodes)]
    return f"void {name}({', '.join(parameters)})\n{{\n" + "\n".join(body) + "\n}\n"
