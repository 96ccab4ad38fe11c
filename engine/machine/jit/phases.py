"""Steps of a loop over elements that are recorded as one text, and divided among the sweeps afterwards.

A text about one element runs through several phases, one for each sweep.  What a later phase needs of an earlier one is
found here, and kept in rows of the element's slot.  Rows that are 0 in all elements, because nothing but zeros is ever
put there, are found by repeated recording and cost nothing; nor do rows that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

from ..program.nodes import CONSTANT, INPUT, NEGATE, Graph, Node, live_nodes
from .rolled import BodyStep, Place

SLOTS = ("own", "up")


@dataclass(frozen=True)
class PhaseResult:
    """What a phase leaves in a place; None is a number that is only watched."""

    phase: int
    place: Place | None
    node: Node


class PhasedStep:
    """The text of one element that is being recorded: `take` gives nodes of inputs, `put` sets the places of results.

    Rows of slots that aren't in `filled` are 0.
    """

    def __init__(self, phases: int, filled: Container[Any]):
        self.phases, self._filled, self.graph = phases, filled, Graph()
        self.results: list[PhaseResult] = []
        self.inputs: dict[int, tuple[int, Place]] = {}  # by node: the phase in which it is taken, and its place

    def take(self, phase: int, where: str, what: Any) -> Any:
        """A number of the element: of a slot, its own numbers, or an input array."""
        if where in SLOTS and what not in self._filled:
            return 0.0
        node = self.graph.input(f"{phase} {where} {what}")
        self.inputs[node.id] = phase, (where, what)
        return node

    def put(self, phase: int, where: str, what: Any, value: Any) -> None:
        """Leaves a value in a row of a slot, or in an output array."""
        self.results.append(PhaseResult(phase, (where, what), self.graph.node(value)))

    def watch(self, phase: int, value: Any) -> None:
        """Has a value looked at, which has to be as moderate as results."""
        self.results.append(PhaseResult(phase, None, self.graph.node(value)))

    def filled(self) -> set[Any]:
        """The rows in which anything but 0 may be put."""
        return {
            one.place[1]
            for one in self.results
            if one.place is not None and one.place[0] in SLOTS and not _is_zero(one.node)
        }

    def read(self, wanted: set[Any]) -> set[Any]:
        """The rows that are read, if those in `wanted` are."""
        nodes = live_nodes(one.node for one in self.results if self._wanted(one, wanted))
        places = (self.inputs[node.id][1] for node in nodes if node.op == INPUT)
        return {what for where, what in places if where in SLOTS}

    def steps(self, wanted: set[Any]) -> list[BodyStep]:
        """A step for each phase, with rows for what it takes over from earlier ones."""
        results = [one for one in self.results if self._wanted(one, wanted)]
        phase_of = self._phases(results)
        made, kept = [BodyStep() for _ in range(self.phases)], dict[int, tuple[str, int]]()
        # later phases first: they say what has to be kept
        for phase in reversed(range(self.phases)):
            step = made[phase]
            copies: dict[int, Node] = {}
            own = [one for one in results if one.phase == phase]
            keeping = [self.graph.nodes[number] for number in kept if phase_of[number] == phase]
            for node in _within([*(one.node for one in own), *keeping], phase, phase_of):
                copies[node.id] = self._copied(step, node, phase, phase_of, copies, kept)
            for one in own:
                node = copies[one.node.id]
                step.watch(node) if one.place is None else step.put(*one.place, node)
            for node in keeping:
                step.put("own", kept[node.id], copies[node.id])
        for phase, place in self.inputs.values():  # what no result needs may have to be looked at as well
            if place[0] not in (*SLOTS, "number"):
                made[phase].take(*place)
        return made

    def _wanted(self, one: PhaseResult, wanted: set[Any]) -> bool:
        return one.place is None or one.place[0] not in SLOTS or one.place[1] in wanted

    def _phases(self, results: Sequence[PhaseResult]) -> dict[int, int]:
        """The first phase in which each node is known."""
        result: dict[int, int] = {}
        for node in live_nodes(one.node for one in results):
            if node.op == INPUT:
                phase, (where, _) = self.inputs[node.id]
                result[node.id] = -1 if where == "number" else phase
            else:
                result[node.id] = max((result[x.id] for x in (node.a, node.b) if x is not None), default=-1)
        return result

    def _copied(
        self,
        step: BodyStep,
        node: Node,
        phase: int,
        phase_of: dict[int, int],
        copies: dict[int, Node],
        kept: dict[int, tuple[str, int]],
    ) -> Node:
        """The node in the graph of a phase's step; one of an earlier phase is taken from the slot."""
        if node.op == INPUT and phase_of[node.id] in (-1, phase):
            return step.take(*self.inputs[node.id][1])
        if node.op == CONSTANT:
            return step.graph.node(node.value)
        if 0 <= phase_of[node.id] < phase and node.op != NEGATE:
            kept.setdefault(node.id, ("kept", len(kept)))
            return step.take("own", kept[node.id])
        a, b = (copies[x.id] if x is not None else None for x in (node.a, node.b))
        return step.graph.copied(node, a, b)


def _within(results: Sequence[Node], phase: int, phase_of: dict[int, int]) -> list[Node]:
    """The nodes that a phase computes or takes over for these results, operands first."""
    return live_nodes(results, lambda node: 0 <= phase_of[node.id] < phase and node.op != NEGATE)


def _is_zero(node: Node) -> bool:
    return node.op == CONSTANT and node.value == 0.0


class _Everything:
    """A set that contains everything."""

    def __contains__(self, _: object) -> bool:
        return True


def settled_kernel_elements(record: Callable[[Container[Any]], list[PhasedStep]]) -> tuple[list[PhasedStep], set[Any]]:
    """The texts of all kinds of elements, recorded with the rows that aren't 0, and the rows that are read."""
    try:
        kinds = _with_zeros(record)
    except ZeroDivisionError:  # by a number that is 0 as long as nothing has been added to it
        kinds = record(_Everything())
    wanted: set[Any] = set()
    while True:
        more_read = wanted.union(*(kind.read(wanted) for kind in kinds))
        if more_read == wanted:
            return kinds, wanted
        wanted = more_read


def _with_zeros(record: Callable[[Container[Any]], list[PhasedStep]]) -> list[PhasedStep]:
    """The texts, recorded again and again until no more rows are found in which something other than 0 is put."""
    filled: frozenset[Any] = frozenset()
    while True:
        kinds = record(filled)
        more = filled.union(*(kind.filled() for kind in kinds))
        if more == filled:
            return kinds
        filled = more
