"""Scalars that record: a text that runs on `Node`s leaves a graph of the operations that its results need.

Nodes are made once: equal operations on equal nodes are the same node.  Constants are folded, also those of sums within
sums; factors of 0, 1 and −1 disappear, and so does what is added and subtracted again; signs move outwards.  Operations
that no result needs are left out, so a robot's zeros cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

CONSTANT, INPUT = "const", "input"
ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE = "add", "sub", "mul", "div", "neg"
COSINE, SINE, SQUARE_ROOT, SIGN, FLOOR = "cos", "sin", "sqrt", "sign", "floor"


class Node:
    """One operation; `a` and `b` are its operands, `value` is the value of a constant or the name of an input."""

    __slots__ = ("a", "b", "graph", "id", "op", "value")

    def __init__(self, graph: Graph, op: str, a: Node | None, b: Node | None, number: int, value: Any):
        self.graph, self.op, self.a, self.b, self.id, self.value = graph, op, a, b, number, value

    def __add__(self, other: Any) -> Node:
        return NotImplemented if scalar_takes_nodes(other) else self.graph.add(self, self.graph.node(other))

    def __radd__(self, other: Any) -> Node:
        return self.graph.add(self.graph.node(other), self)

    def __sub__(self, other: Any) -> Node:
        return NotImplemented if scalar_takes_nodes(other) else self.graph.subtract(self, self.graph.node(other))

    def __rsub__(self, other: Any) -> Node:
        return self.graph.subtract(self.graph.node(other), self)

    def __mul__(self, other: Any) -> Node:
        return NotImplemented if scalar_takes_nodes(other) else self.graph.multiply(self, self.graph.node(other))

    def __rmul__(self, other: Any) -> Node:
        return self.graph.multiply(self.graph.node(other), self)

    def __truediv__(self, other: Any) -> Node:
        return NotImplemented if scalar_takes_nodes(other) else self.graph.divide(self, self.graph.node(other))

    def __rtruediv__(self, other: Any) -> Node:
        return self.graph.divide(self.graph.node(other), self)

    def __neg__(self) -> Node:
        return self.graph.negate(self)

    def __bool__(self) -> bool:
        # `if link.coulomb` asks whether a number of the robot is other than 0: an input has to count as such
        if self.op == CONSTANT:
            return bool(self.value)
        if self.op == INPUT:
            return True
        raise TypeError("a traced program can't decide on a computed value")

    def cosine_sine(self) -> tuple[Node, Node]:
        return self.graph.cosine_sine(self)

    def sign(self) -> Node:
        return self.graph.sign(self)

    def floor(self) -> Node:
        return self.graph.floor(self)

    def square_root(self) -> Node:
        return self.graph.square_root(self)


def scalar_takes_nodes(other: Any) -> bool:
    """Whether an operand is neither a node nor a number, but a scalar whose own operators take nodes: a `Dual`."""
    return type(other) is not Node and not hasattr(other, "__float__")


class Graph:
    """All nodes of one program, in the order in which they were made and can be computed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int, Any], Node] = {}
        self._circular: dict[int, tuple[Node, Node]] = {}
        self.nodes: list[Node] = []
        self.doubted: list[Node] = []  # roots and quotients of formulas, which may be no finite numbers

    def _make(self, op: str, a: Node | None = None, b: Node | None = None, value: Any = None) -> Node:
        key = (op, a.id if a is not None else -1, b.id if b is not None else -1, value)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = Node(self, op, a, b, len(self.nodes), value)
            self.nodes.append(node)
        return node

    def node(self, x: Any) -> Node:
        """The node itself, or a constant for a number."""
        return x if type(x) is Node else self._make(CONSTANT, value=float(x) + 0.0)

    def input(self, name: str) -> Node:
        return self._make(INPUT, value=name)

    def negate(self, a: Node) -> Node:
        if a.op == CONSTANT:
            return self.node(-a.value)
        if a.op == NEGATE:
            return a.a  # type: ignore[return-value]
        if a.op == SUBTRACT:
            return self._make(SUBTRACT, a.b, a.a)
        return self._make(NEGATE, a)

    def opposite(self, a: Node) -> Node:
        """The same as `negate`, from a itself: for a difference that is needed anyway."""
        return self._make(NEGATE, a) if a.op == SUBTRACT else self.negate(a)

    def add(self, a: Node, b: Node) -> Node:
        if a.op == CONSTANT:
            if a.value == 0:
                return b
            if b.op == CONSTANT:
                return self.node(a.value + b.value)
        elif b.op == CONSTANT and b.value == 0:
            return a
        if b.op == NEGATE:
            return self.subtract(a, b.a)  # type: ignore[arg-type]
        if a.op == NEGATE:
            return self.subtract(b, a.a)  # type: ignore[arg-type]
        if a.op == SUBTRACT and a.b is b:
            return a.a  # type: ignore[return-value]
        if b.op == SUBTRACT and b.b is a:
            return b.a  # type: ignore[return-value]
        c, x = (a, b) if a.op == CONSTANT else (b, a)
        if c.op == CONSTANT:
            if (parts := _with_constant(x)) is not None:
                constant, y, sign = parts
                return (self.add if sign > 0 else self.subtract)(self.node(constant + c.value), y)
            if c.value < 0:
                return self._make(SUBTRACT, x, self.node(-c.value))
        return self._make(ADD, *self._ordered(a, b))

    def subtract(self, a: Node, b: Node) -> Node:
        if a is b:
            return self.node(0.0)
        if b.op == CONSTANT:
            if b.value == 0:
                return a
            if a.op == CONSTANT:
                return self.node(a.value - b.value)
        elif a.op == CONSTANT and a.value == 0:
            return self.negate(b)
        if b.op == NEGATE:
            return self.add(a, b.a)  # type: ignore[arg-type]
        if a.op == NEGATE:
            return self.negate(self.add(a.a, b))  # type: ignore[arg-type]
        if a.op == ADD and b in (a.a, a.b):
            return a.b if b is a.a else a.a  # type: ignore[return-value]
        if b.op == ADD and a in (b.a, b.b):
            return self.negate(b.b if a is b.a else b.a)  # type: ignore[arg-type]
        if a.op == SUBTRACT and a.a is b:
            return self.negate(a.b)  # type: ignore[arg-type]
        if b.op == SUBTRACT and b.a is a:
            return b.b  # type: ignore[return-value]
        if b.op == CONSTANT and (b.value < 0 or _with_constant(a) is not None):
            return self.add(a, self.node(-b.value))
        if a.op == CONSTANT and (parts := _with_constant(b)) is not None:
            constant, y, sign = parts
            return (self.subtract if sign > 0 else self.add)(self.node(a.value - constant), y)
        return self._make(SUBTRACT, a, b)

    def multiply(self, a: Node, b: Node) -> Node:
        if b.op == CONSTANT:
            a, b = b, a
        if a.op == CONSTANT:
            if b.op == CONSTANT:
                return self.node(a.value * b.value)
            if a.value == 0:
                return a
            if a.value == 1:
                return b
            if a.value == -1:
                return self.negate(b)
            if b.op == NEGATE:
                return self.multiply(self.node(-a.value), b.a)  # type: ignore[arg-type]
            if b.op == MULTIPLY and b.a.op == CONSTANT:  # type: ignore[union-attr]
                return self.multiply(self.node(a.value * b.a.value), b.b)  # type: ignore[arg-type, union-attr]
        if a.op == NEGATE:
            if b.op == NEGATE:
                return self.multiply(a.a, b.a)  # type: ignore[arg-type]
            return self.negate(self.multiply(a.a, b))  # type: ignore[arg-type]
        if b.op == NEGATE:
            return self.negate(self.multiply(a, b.a))  # type: ignore[arg-type]
        for x, y in ((a, b), (b, a)):
            if x.op == DIVIDE and x.b is y and x.a is self.node(1.0):
                return x.a
        return self._make(MULTIPLY, *((a, b) if a.op == CONSTANT else self._ordered(a, b)))

    def divide(self, a: Node, b: Node) -> Node:
        if b.op == CONSTANT and b.value != 0:
            return self.multiply(a, self.node(1.0 / b.value))
        if a.op == CONSTANT and a.value == 0:
            return a
        if a.op == NEGATE:
            return self.negate(self.divide(a.a, b))  # type: ignore[arg-type]
        if b.op == NEGATE:
            return self.negate(self.divide(a, b.a))  # type: ignore[arg-type]
        return self._make(DIVIDE, a, b)

    def set_cosine_sine(self, a: Node, cosine: Node, sine: Node) -> None:
        """Sets the cosine and sine of an input, so that they needn't be computed."""
        self._circular[a.id] = (cosine, sine)

    def cosine_sine(self, a: Node) -> tuple[Node, Node]:
        if a.id in self._circular:
            return self._circular[a.id]
        if a.op == CONSTANT:
            from .scalars import cosine_sine

            c, s = cosine_sine(a.value)
            return self.node(c), self.node(s)
        if a.op == NEGATE:
            c, s = self.cosine_sine(a.a)  # type: ignore[arg-type]
            return c, self.negate(s)
        return self._make(COSINE, a), self._make(SINE, a)

    def sign(self, a: Node) -> Node:
        if a.op == CONSTANT:
            return self.node((a.value > 0) - (a.value < 0) if a.value == a.value else a.value)
        if a.op == NEGATE:
            return self.negate(self.sign(a.a))  # type: ignore[arg-type]
        return self._make(SIGN, a)

    def floor(self, a: Node) -> Node:
        if a.op == CONSTANT:
            from .scalars import floor

            return self.node(floor(a.value))
        return self._make(FLOOR, a)

    def square_root(self, a: Node) -> Node:
        return self.node(a.value**0.5) if a.op == CONSTANT else self._make(SQUARE_ROOT, a)

    def copied(self, node: Node, a: Node | None, b: Node | None) -> Node:
        """The same operation in this graph, on these operands."""
        return self._make(node.op, a, b, node.value)

    @staticmethod
    def _ordered(a: Node, b: Node) -> tuple[Node, Node]:
        return (a, b) if a.id <= b.id else (b, a)


def with_doubts(results: Sequence[Any]) -> list[Any]:
    """These results, the first of which is no number where anything doubted isn't finite that all of them leave out.

    What is multiplied by 0, or taken off itself, is left out of a recording; on numbers it would be NaN.
    """
    nodes, made = [x for x in results if type(x) is Node], list(results)
    if not nodes or not nodes[0].graph.doubted:
        return made
    needed = {node.id for node in live_nodes(nodes)}
    for x in nodes[0].graph.doubted:
        if x.id not in needed:
            made[0] = made[0] + (0.5 + 0.5 * (x / (x * x + 1.0))).floor()  # 0, or NaN
            needed.add(x.id)
    return made


def folded(x: Any) -> Any:
    """A constant of a recording as a plain number, anything else as it is."""
    return x.value if isinstance(x, Node) and x.op == CONSTANT else x


def _with_constant(x: Node) -> tuple[float, Node, float] | None:
    """The numbers c and s and the node y of a sum x = c + s y that has a constant addend."""
    a, b = x.a, x.b
    if x.op not in (ADD, SUBTRACT) or a is None or b is None:
        return None
    if b.op == CONSTANT:
        return (b.value if x.op == ADD else -b.value), a, 1.0
    return (a.value, b, 1.0 if x.op == ADD else -1.0) if a.op == CONSTANT else None


def live_nodes(results: Iterable[Node], known: Callable[[Node], bool] | None = None) -> list[Node]:
    """All nodes that the results need, operands before results; what `known` nodes need is left out."""
    seen: dict[int, Node] = {}
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node.id in seen:
            continue
        seen[node.id] = node
        if known is not None and known(node):
            continue
        if node.a is not None:
            waiting.append(node.a)
        if node.b is not None:
            waiting.append(node.b)
    return [seen[number] for number in sorted(seen)]


def nodes_result_by_result(results: Iterable[Node]) -> list[Node]:
    """All nodes that the results need, operands before results, and what one result needs before what others do.

    So a number is used soon after it is computed; in the order of recording, those of all results wait side by side.
    """
    seen: set[int] = set()
    ordered: list[Node] = []
    for result in results:
        waiting = [(result, False)]
        while waiting:
            node, has_operands = waiting.pop()
            if has_operands:
                ordered.append(node)
            elif node.id not in seen:
                seen.add(node.id)
                waiting.append((node, True))
                waiting += [(x, False) for x in (node.b, node.a) if x is not None and x.id not in seen]
    return ordered


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
