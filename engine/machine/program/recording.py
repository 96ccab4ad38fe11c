"""Programs: the operations that named groups of results need, recorded by running a text on nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .gather import gathered_nodes, with_one_constant_per_product
from .nodes import Graph, Node


@dataclass(frozen=True)
class MatrixColumns:
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
    columns: MatrixColumns | None = None

    def results(self) -> list[Node]:
        return [node for group in self.outputs.values() for node in group]

    def gathered(self) -> Program:
        """The program with its results from as few operations as what they have in common allows."""
        return self._rewritten(gathered_nodes)

    def with_constants_gathered(self) -> Program:
        """The program with the constants of products of products in one."""
        return self._rewritten(with_one_constant_per_product)

    def _rewritten(self, rewrite: Callable[[Sequence[Node]], list[Node]]) -> Program:
        made = iter(rewrite([*self.results(), *self.watched]))
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
