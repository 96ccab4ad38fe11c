"""How many operations of each kind recorded results need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .nodes import ADD, CONSTANT, COSINE, DIVIDE, MULTIPLY, SIGN, SINE, SQUARE_ROOT, SUBTRACT, Node, live_nodes


@dataclass(frozen=True)
class Count:
    """Numbers of operations of each kind; subtractions count as additions, sines and cosines as trigonometric."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    trigonometric: int = 0
    square_roots: int = 0
    signs: int = 0

    def __str__(self) -> str:
        text = f"{self.multiplications}M {self.additions}A"
        for number, letter in ((self.divisions, "D"), (self.trigonometric, "T"), (self.square_roots, "R")):
            text += f" {number}{letter}" if number else ""
        return text


_COUNTED = {
    MULTIPLY: "multiplications",
    ADD: "additions",
    SUBTRACT: "additions",
    DIVIDE: "divisions",
    COSINE: "trigonometric",
    SINE: "trigonometric",
    SQUARE_ROOT: "square_roots",
    SIGN: "signs",
}


def count_operations(results: Iterable[Node], known: Iterable[Node] = ()) -> Count:
    """Numbers of operations that the results need; a change of sign is free, and so is what follows from `known`."""
    totals: dict[str, int] = {}
    before = {node.id for node in known}
    for node in live_nodes(results):
        kind, operands = _COUNTED.get(node.op), [x for x in (node.a, node.b) if x is not None]
        if node.op == CONSTANT or (operands and all(x.id in before for x in operands)):
            before.add(node.id)
        elif kind:
            totals[kind] = totals.get(kind, 0) + 1
    return Count(**totals)
