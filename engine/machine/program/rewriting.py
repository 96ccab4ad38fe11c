"""Recorded results written again: with other nodes in the places of inputs, or with fewer products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .nodes import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    FLOOR,
    MULTIPLY,
    NEGATE,
    SIGN,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Node,
    live_nodes,
)


def substituted_nodes(results: Iterable[Node], instead: Mapping[int, Node]) -> list[Node]:
    """The results with other nodes of the same graph in the places of inputs, by the numbers of these."""
    results = list(results)
    made: dict[int, Node] = {}
    for node in live_nodes(results):
        a, b = (made[x.id] if x is not None else None for x in (node.a, node.b))
        made[node.id] = instead[node.id] if node.id in instead else _again(node, a, b)
    return [made[node.id] for node in results]


def _again(node: Node, a: Node | None, b: Node | None) -> Node:
    """The node's operation on other operands."""
    graph = node.graph
    if a is None:
        return node
    if b is not None:
        two = {ADD: graph.add, SUBTRACT: graph.subtract, MULTIPLY: graph.multiply, DIVIDE: graph.divide}
        return two[node.op](a, b)
    if node.op in (COSINE, SINE):
        return graph.cosine_sine(a)[node.op == SINE]
    one = {NEGATE: graph.negate, SQUARE_ROOT: graph.square_root, SIGN: graph.sign, FLOOR: graph.floor}
    return one[node.op](a)


def gathered_factors(results: Sequence[Node]) -> list[Node]:
    """The results with c (x (k y)) as (c k) (x y) where no other node needs k y or x (k y)."""
    made, uses = dict[int, Node](), Counter(node.id for node in results)
    alive = live_nodes(results)
    for node in alive:
        uses.update(x.id for x in (node.a, node.b) if x is not None)
    for node in alive:
        a, b = (made[x.id] if x is not None else None for x in (node.a, node.b))
        found = _chain(node, uses)
        if found is not None:
            factor, x, y = found
            made[node.id] = node.graph.multiply(node.graph.node(factor), node.graph.multiply(made[x.id], made[y.id]))
        else:
            made[node.id] = node if a is node.a and b is node.b else _again(node, a, b)
    return [made[node.id] for node in results]


def _chain(node: Node, uses: Mapping[int, int]) -> tuple[float, Node, Node] | None:
    """The factors c k, x and y of a product c (x (k y)) whose inner products nothing else uses."""
    outer, inner = node.a, node.b
    if node.op != MULTIPLY or outer is None or inner is None or outer.op != CONSTANT or inner.op != MULTIPLY:
        return None
    for x, own in ((inner.a, inner.b), (inner.b, inner.a)):
        if x is None or own is None or own.op != MULTIPLY or own.a is None or own.b is None or own.a.op != CONSTANT:
            continue
        if uses[inner.id] == uses[own.id] == 1:
            return outer.value * own.a.value, x, own.b
    return None
