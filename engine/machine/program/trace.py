"""Scalars that record: a text that runs on `Node`s leaves a graph of the operations that its results need.

Nodes are made once: equal operations on equal nodes are the same node.  Constants are folded, factors of 0, 1 and −1
disappear, signs move outwards.  Operations that no result needs are left out, so a robot's zeros cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
        return self._make(MULTIPLY, *((a, b) if a.op == CONSTANT else self._ordered(a, b)))

    def divide(self, a: Node, b: Node) -> Node:
        if b.op == CONSTANT and b.value != 0:
            return self.multiply(a, self.node(1.0 / b.value))
        if a.op == CONSTANT and a.value == 0:
            return a
        if a.op == NEGATE:
            return self.negate(self.divide(a.a, b))  # type: ignore[arg-type]
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
            return self.node((a.value > 0) - (a.value < 0))
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


@dataclass(frozen=True)
class Columns:
    """What follows for some columns of matrices among the results, which it replaces by its own results.

    `program` takes the numbers that all columns `shared`, and one `column`.  Of each column there are in `places` the
    number of its first result, and the distance from one to the next.
    """

    program: Program
    shared: list[Node]
    places: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.program.inputs["column"])

    def results(self) -> dict[int, int]:
        """The numbers of the results that it replaces, with their places if all columns lie one behind the other."""
        return {
            first + r * pitch: c * self.size + r
            for c, (first, pitch) in enumerate(self.places)
            for r in range(self.size)
        }


@dataclass(frozen=True)
class Program:
    """A recorded program with named groups of inputs and outputs; a group is an array with a column for each node.

    Inputs whose numbers are in `blank` have to be NaN.  `numbers` belong to whoever runs the code, not to a sample.
    Of a program with `columns`, these results have yet to go through another program; only compiled code does that.
    """

    name: str
    inputs: dict[str, list[Node]]
    outputs: dict[str, list[Node]]
    graph: Graph = field(repr=False, compare=False)
    watched: list[Node] = field(default_factory=list)  # no results, but they have to be as moderate as these
    blank: frozenset[int] = frozenset()
    numbers: list[Node] = field(default_factory=list)
    columns: Columns | None = None

    def results(self) -> list[Node]:
        return [node for group in self.outputs.values() for node in group]

    def gathered(self) -> Program:
        """The program with the constants of products of products in one."""
        made = iter(_gathered([*self.results(), *self.watched]))
        outputs = {name: [next(made) for _ in group] for name, group in self.outputs.items()}
        return replace(self, outputs=outputs, watched=list(made))


class Recording:
    """Makes a `Program` in three steps: `input` gives nodes, a text runs on them, `program` takes the outputs."""

    def __init__(self, name: str):
        self.name, self.graph = name, Graph()
        self.inputs: dict[str, list[Node]] = {}
        self.blank, self._numbers = set[int](), list[Node]()

    def input(self, name: str, count: int) -> list[Node]:
        """A new group of input nodes, named `name0`, `name1`, …"""
        self.inputs[name] = [self.graph.input(f"{name}{k}") for k in range(count)]
        return self.inputs[name]

    def numbers(self, count: int) -> list[Node]:
        """New nodes for numbers that are the same for all samples, but others in another robot."""
        self._numbers = [self.graph.input(f"number {k}") for k in range(count)]
        return self._numbers

    def leave_blank(self, nodes: Iterable[Node]) -> None:
        """Have the program refuse all samples in which any of these inputs is a number and not NaN."""
        self.blank |= {node.id for node in nodes}

    def program(self, watched: Sequence[Any] = (), **outputs: Sequence[Any]) -> Program:
        """The program from the inputs to these groups of outputs; compiled code looks at what is `watched`, too."""
        made = {name: [self.graph.node(x) for x in group] for name, group in outputs.items()}
        looked_at = [self.graph.node(x) for x in watched]
        blank = frozenset(self.blank)
        return Program(self.name, self.inputs, made, self.graph, looked_at, blank, self._numbers)


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


def _gathered(results: Sequence[Node]) -> list[Node]:
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


def live_nodes(results: Iterable[Node]) -> list[Node]:
    """All nodes that the results need, operands before results."""
    seen: dict[int, Node] = {}
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node.id in seen:
            continue
        seen[node.id] = node
        if node.a is not None:
            waiting.append(node.a)
        if node.b is not None:
            waiting.append(node.b)
    return [seen[number] for number in sorted(seen)]


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


def folded(x: Any) -> Any:
    """A constant of a recording as a plain number, anything else as it is."""
    return x.value if isinstance(x, Node) and x.op == CONSTANT else x


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
