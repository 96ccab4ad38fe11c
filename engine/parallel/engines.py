"""Engines, on which nodes run: this process or its threads; `parallel/cluster.py` has the one on a Dask cluster.

An engine keeps the data of its nodes and the results of their steps; only messages pass between nodes and central task.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from ..machine.backend import chosen_backend, using_backend

Message = dict[str, Any]
Work = Callable[..., Message]  # a step: (a node's part, results of its earlier steps, a message) → a message


class NodeEngine(Protocol):
    """A place where nodes run."""

    name: str

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        """Gives each node its list of parts."""
        ...

    def restart(self) -> None:
        """Forgets the results of all steps."""
        ...

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        """Carries out one exchange: each node takes one message for each of its parts, and returns as many answers."""
        ...

    def close(self) -> None: ...


def node_steps_carried_out(
    work: Work, way: str, parts: Sequence[Any], kept: Sequence[dict[str, Any]], inbox: Sequence[Message]
) -> list[Message]:
    """The answers of one node: a step carried out for each of its parts."""
    with using_backend(way):
        return [work(part, own, message) for part, own, message in zip(parts, kept, inbox)]


class ProcessEngine:
    """An engine that runs all nodes in this process, one after the other; the reference for the others."""

    name = "process"

    def __init__(self) -> None:
        self._groups: Sequence[Sequence[Any]] = ()
        self._kept: list[list[dict[str, Any]]] = []

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        self._groups = groups
        self.restart()

    def restart(self) -> None:
        self._kept = [[{} for _ in group] for group in self._groups]

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        way = chosen_backend()
        return [node_steps_carried_out(work, way, *task) for task in zip(self._groups, self._kept, inboxes)]

    def close(self) -> None:
        pass


class TimedProcessEngine(ProcessEngine):
    """The engine in this process, which also measures the processor time that each node has used so far."""

    def __init__(self) -> None:
        super().__init__()
        self.spent: list[float] = []

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        super().begin(groups)
        self.spent = [0.0] * len(groups)

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        answers = []
        for n, task in enumerate(zip(self._groups, self._kept, inboxes)):
            begun = time.thread_time()
            answers.append(node_steps_carried_out(work, chosen_backend(), *task))
            self.spent[n] += time.thread_time() - begun
        return answers


class ThreadsEngine(ProcessEngine):
    """An engine with a thread for each node."""

    name = "threads"

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(nodes, "denoc-node")

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        way = chosen_backend()
        futures = [
            self._pool.submit(partial(copy_context().run, node_steps_carried_out, work, way, parts, kept, inbox))
            for parts, kept, inbox in zip(self._groups, self._kept, inboxes)
        ]
        return [future.result() for future in futures]

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


@dataclass
class Sent:
    """The messages of one exchange in one direction: their number, bytes of data, and names of fields."""

    messages: int = 0
    bytes: int = 0
    fields: set[str] = field(default_factory=set)

    def count(self, message: Sequence[Message]) -> None:
        """Adds the message to one node; an array that several of its legs share is sent once."""
        self.messages += 1
        seen: set[int] = set()
        for one in message:
            for name, x in one.items():
                self.bytes += 0 if id(x) in seen else x.nbytes
                seen.add(id(x))
                self.fields.add("wrenches" if name.startswith("wrench:") else name)


class CountingEngine:
    """A wrapper of another engine that counts all messages."""

    def __init__(self, engine: NodeEngine):
        self.engine, self.name = engine, engine.name
        self.sent: list[tuple[str, Sent]] = []

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        self.engine.begin(groups)

    def restart(self) -> None:
        self.engine.restart()

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        down, up = Sent(), Sent()
        for message in inboxes:
            down.count(message)
        answers = self.engine.step(work, inboxes)
        for message in answers:
            up.count(message)
        self.sent += [("to nodes", down), ("to central", up)]
        return answers

    def close(self) -> None:
        self.engine.close()


def echo_message_of_node(part: Any, own: dict[str, Any], inbox: Message) -> Message:
    """A step that returns its message, to measure the cost of an exchange."""
    return inbox
