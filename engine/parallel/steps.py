"""Tables of the steps of each task, in their order, and of the messages between them.

Central and nodes take turns, so a task with n steps at the nodes has n exchanges; in each, every node gets one message
and sends one, with all its legs and all samples of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import node
from .central import (
    minimal_equations_of_legs,
    platform_twist,
    platform_twist_and_columns,
    platform_twist_rate,
    total_of_legs,
)
from .part import LegPart

Widths = Callable[[LegPart], dict[str, int]]  # for each field of a leg's message, its count of numbers per sample


@dataclass(frozen=True)
class TaskStep:
    """One step of a task: where it runs, and the message that it sends."""

    number: str  # in the thesis
    place: str  # nodes or central
    run: Callable[..., Any] | None  # None: central gets the result from outside
    sends: Widths
    shared: bool = False  # all legs get the same message, which is sent once to each node


@dataclass(frozen=True)
class Exchange:
    """A line of the message plan: the messages that one step sends to or from all nodes."""

    number: str
    way: str  # to nodes or to central
    fields: dict[str, int]  # numbers per sample, to or from all nodes
    messages: int
    bytes: int


def _state(part: LegPart) -> dict[str, int]:
    return {"q": part.nq + 7, "rates": len(part.kept)}


def _twist(part: LegPart) -> dict[str, int]:
    return {"twist": 6}


def _twist_and_columns(part: LegPart) -> dict[str, int]:
    return {"twist": 6, "X": 6 * part.independent}


def _columns(part: LegPart) -> dict[str, int]:
    return {"Phi": 21, "columns": 6 * len(part.kept)}


def _motion(part: LegPart) -> dict[str, int]:
    return {"qd": part.nv, "qdd": part.nv}


def _given(part: LegPart) -> dict[str, int]:
    return {**_state(part), "accelerations": len(part.kept)}


_RATE = TaskStep("kinematics iii", "nodes", node.leg_rates, lambda part: {"bias": 6})
_BIAS = TaskStep("kinematics iv", "central", platform_twist_rate, lambda part: {"twist_rate": 6}, True)
_START = (
    TaskStep("positions", "central", None, _given),
    TaskStep("kinematics i", "nodes", node.leg_projector, lambda part: {"Phi": 21, "phi": 6}),
    TaskStep("kinematics ii", "central", platform_twist, _twist, True),
    _RATE,
    _BIAS,
)

TASKS: dict[str, tuple[TaskStep, ...]] = {
    "kinematics": (*_START, TaskStep("kinematics v", "nodes", node.leg_accelerations, _motion)),
    "inverse": (
        *_START,
        TaskStep("kinematics v, inverse i", "nodes", node.leg_forces, lambda part: {"p": 6}),
        TaskStep("inverse ii", "central", total_of_legs, lambda part: {"sum": 6}, True),
        TaskStep("inverse iii", "nodes", node.leg_torques, lambda part: {"tau": len(part.kept)}),
    ),
    "inverse, redundant": (
        TaskStep("positions", "central", None, _given),
        TaskStep("kinematics i", "nodes", node.leg_projector_columns, _columns),
        TaskStep("kinematics ii", "central", platform_twist_and_columns, _twist_and_columns, True),
        _RATE,
        _BIAS,
        TaskStep(
            "kinematics v, inverse i",
            "nodes",
            node.projected_leg_forces,
            lambda part: {"f": part.independent, "J": len(part.driven) * part.independent},
        ),
    ),
    "forward": (
        TaskStep("forward i", "central", None, lambda part: {**_state(part), "tau": part.nv}),
        TaskStep("kinematics i", "nodes", node.leg_projector_columns, _columns),
        TaskStep("kinematics ii", "central", platform_twist_and_columns, _twist_and_columns, True),
        _RATE,
        _BIAS,
        TaskStep(
            "forward ii, iii",
            "nodes",
            node.reduced_leg_equations,
            lambda part: {"I": part.independent * (part.independent + 1) // 2, "f": part.independent},
        ),
        TaskStep(
            "forward iv",
            "central",
            minimal_equations_of_legs,
            lambda part: {"accelerations": part.independent},
            True,
        ),
        TaskStep("forward v", "nodes", node.all_leg_accelerations, _motion),
    ),
}


def message_plan(
    task: str, groups: Sequence[Sequence[LegPart]], samples: int, wrenches: Sequence[str] = ()
) -> Iterator[Exchange]:
    """The messages of one batch; the legs of a group share a node."""
    for number, step in enumerate(TASKS[task]):
        fields: dict[str, int] = {}
        for part in (part for group in groups for part in (group[:1] if step.shared else group)):
            for name, width in step.sends(part).items():
                fields[name] = fields.get(name, 0) + width
            if number == 0 and (own := sum(link in (*part.links, *part.carried) for link in wrenches)):
                fields["wrenches"] = fields.get("wrenches", 0) + 6 * own
        way = "to central" if step.place == "nodes" else "to nodes"
        yield Exchange(step.number, way, fields, len(groups), 8 * samples * sum(fields.values()))
