"""Programs that loop over elements: one step is recorded for each kind of element, and runs for many of them.

An element, such as a body of a tree, has a slot of rows in a workspace, and the place of its parent's slot.  A sweep
runs over the elements, outwards or inwards; for each it runs the step of the element's kind, a recorded program on the
rows of its own slot, the rows of its parent's slot, its numbers, and its columns of the input arrays.  Slot 0 is the
ground.  The size of the code doesn't depend on the number of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..program.nodes import Graph, Node

# the place of a value in a step: ("own", row), ("up", row), ("number", k) or (array, k)
Place = tuple[str, Any]


class BodyStep:
    """A step that is being recorded: `take` gives nodes of inputs, `put` sets the places of results.

    What is `watched` is no result, but has to be as moderate as these.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.places: dict[int, Place] = {}
        self.results: dict[Place, Node] = {}
        self.watched: list[Node] = []

    def take(self, where: str, what: Any) -> Node:
        node = self.graph.input(f"{where} {what}")
        self.places[node.id] = (where, what)
        return node

    def put(self, where: str, what: Any, value: Any) -> None:
        self.results[(where, what)] = self.graph.node(value)

    def watch(self, value: Any) -> None:
        self.watched.append(self.graph.node(value))


@dataclass
class Sweep:
    """One pass over all elements, with a step for each kind."""

    inwards: bool
    steps: list[BodyStep]


@dataclass
class SweepProgram:
    """A program of sweeps one after the other, with its input arrays and its output array."""

    sweeps: list[Sweep]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]  # names of columns of the output array; an element has a first column for each
    identity: tuple[str, ...]  # everything that the steps depend on
    rows: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        result: dict[Any, int] = {}
        for sweep in self.sweeps:
            for step in sweep.steps:
                for where, what in (*step.places.values(), *step.results):
                    if where in ("own", "up"):
                        result.setdefault(what, len(result))
        self.rows = result


@dataclass(frozen=True)
class Elements:
    """The elements of a loop: for each its kind, parent's slot, first column in each array, and numbers."""

    kinds: Sequence[int]
    parents: Sequence[int]  # slots: 0 for the ground, i + 1 for element i
    columns: dict[str, Sequence[int]]
    numbers: Sequence[Sequence[float]]
    ground: dict[Any, float]  # rows of the ground's slot that aren't 0
