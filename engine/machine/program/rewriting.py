"""Recorded results written again, with other nodes in the places of inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .nodes import (
    ADD,
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
        made[node.id] = instead[node.id] if node.id in instead else node_again(node, a, b)
    return [made[node.id] for node in results]


def node_again(node: Node, a: Node | None, b: Node | None) -> Node:
    """The node's operation on other operands."""
    graph = node.graph
    if a is None:
        return node
    if b is not None:
        two = {ADD: graph.add, SUBTRACT: graph.subtract, MULTIPLY: graph.multiply, DIVIDE: graph.divide}
        return two[node.op](a, b)
    if node.op in (COSINE, SINE):
        return graph.cosine_sine(a)[node.op == SINE]
    one = {NEGATE: graph.opposite, SQUARE_ROOT: graph.square_root, SIGN: graph.sign, FLOOR: graph.floor}
    return one[node.op](a)
