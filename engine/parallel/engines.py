"""Where nodes run: in this process one after the other, or on threads; a cluster is in `cluster`.

An engine keeps what its nodes know and what their steps leave there; only messages pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from ..machine.jit.choice import backend, using

Message = dict[str, Any]
Work = Callable[..., Message]  # what a node knows, what its steps have left, the message that has come


class Engine(Protocol):
    name: str

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        """Gives each node what it has to know: a list of parts."""
        ...

    def restart(self) -> None:
        """What steps have left at the nodes is needed no more."""
        ...

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        """One exchange: a message to every node, for each of its parts, and the answers."""
        ...

    def close(self) -> None: ...


def carried_out(
    work: Work, way: str, parts: Sequence[Any], kept: Sequence[dict[str, Any]], inbox: Sequence[Message]
) -> list[Message]:
    """A step of all parts of one node."""
    with using(way):
        return [work(part, own, message) for part, own, message in zip(parts, kept, inbox)]


class Process:
    """Everything in this process, one node after the other: the reference."""

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
        way = backend()
        return [carried_out(work, way, *one) for one in zip(self._groups, self._kept, inboxes)]

    def close(self) -> None:
        pass


class Timing(Process):
    """Likewise, and how much of the processor's time each node's steps have taken so far."""

    def __init__(self) -> None:
        super().__init__()
        self.spent: list[float] = []

    def begin(self, groups: Sequence[Sequence[Any]]) -> None:
        super().begin(groups)
        self.spent = [0.0] * len(groups)

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        found = []
        for n, one in enumerate(zip(self._groups, self._kept, inboxes)):
            begun = time.thread_time()
            found.append(carried_out(work, backend(), *one))
            self.spent[n] += time.thread_time() - begun
        return found


class Threads(Process):
    """A thread for each node."""

    name = "threads"

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(nodes, "denoc-node")

    def step(self, work: Work, inboxes: Sequence[Sequence[Message]]) -> list[list[Message]]:
        way = backend()
        asked = [
            self._pool.submit(partial(copy_context().run, carried_out, work, way, parts, kept, inbox))
            for parts, kept, inbox in zip(self._groups, self._kept, inboxes)
        ]
        return [one.result() for one in asked]

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


@dataclass
class Sent:
    """What one exchange has sent, each way: messages, bytes of their numbers, names of their fields."""

    messages: int = 0
    bytes: int = 0
    fields: set[str] = field(default_factory=set)

    def count(self, message: Sequence[Message]) -> None:
        """What is the same for several legs of a node goes there once."""
        self.messages += 1
        seen: set[int] = set()
        for one in message:
            for name, x in one.items():
                self.bytes += 0 if id(x) in seen else x.nbytes
                seen.add(id(x))
                self.fields.add("wrenches" if name.startswith("wrench:") else name)


class Counting:
    """Another engine, with everything counted that passes."""

    def __init__(self, engine: Engine):
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


def echo(part: Any, own: dict[str, Any], inbox: Message) -> Message:
    """The message itself: to measure what an exchange costs."""
    return inbox
