"""The steps of the central task between those of the nodes, and tables of all steps and of the messages between them.

A step of the central task takes the results of earlier ones (`own`) and one message from each leg, in the order of the
legs; it returns one message for each leg (Khan 2002, sections 3.1 to 3.3).

Central and nodes take turns, so a task with n steps at the nodes has n exchanges; in each, every node gets one message
and sends one, with all its legs and all samples of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..errors import NumericalError
from ..mechanics.mechanisms import least_loop_effort, singular_loop_message
from ..robot import Effort
from . import node
from .node import UPPER, Message
from .part import LegPart

Own = dict[str, Any]


def platform_twist(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Kinematics (ii): K t_P = Σ Φ p θ̇, K = Σ Φ (eq. 3.10)."""
    own["K"] = _total(_unpacked(one["Phi"]) for one in inboxes)
    return _to_all_legs(inboxes, twist=_solve(own, _total(one["phi"] for one in inboxes)))


def platform_twist_and_columns(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Kinematics (ii) where every node needs t_P = X θ̇ for all kept joints, X = [S p]^I, [S p]^II, … (eq. 3.39)."""
    own["K"] = _total(_unpacked(one["Phi"]) for one in inboxes)
    N = len(own["rates"])
    X = _solve(own, np.concatenate([one["columns"].reshape(N, 6, -1) for one in inboxes], axis=2))
    t = (X @ own["rates"][..., None])[..., 0]
    return _to_all_legs(inboxes, twist=t, X=X.reshape(N, -1))


def platform_twist_rate(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Kinematics (iv): K ṫ_P = Σ Φ (Σ p θ̈ + c), with one term from each leg (eq. 3.28)."""
    return _to_all_legs(inboxes, twist_rate=_solve(own, _total(one["bias"] for one in inboxes)))


def total_of_legs(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Inverse (ii): K⁻¹ Σ p̄ (eq. 3.40)."""
    return _to_all_legs(inboxes, sum=_solve(own, _total(one["p"] for one in inboxes)))


def least_effort_of_legs(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Inverse (ii) with more actuators than freedoms: the τ of least weighted norm with Jᵀ τ = Σ Jᵀ τ̃."""
    f = _total(one["f"] for one in inboxes)
    k = f.shape[1]
    J = np.concatenate([one["J"].reshape(len(f), -1, k) for one in inboxes], axis=1)
    limits: Sequence[Effort] = own["efforts"]
    tau = np.array([least_loop_effort(J[n].T, f[n], limits) for n in range(len(f))])
    ends = np.cumsum([one["J"].shape[1] // k for one in inboxes])
    return [{"tau": tau[:, end - one["J"].shape[1] // k : end]} for one, end in zip(inboxes, ends)]


def minimal_equations_of_legs(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Forward (iv): the accelerations of the kept joints from the minimal equations (eq. 3.45)."""
    f = _total(one["f"] for one in inboxes)
    k = f.shape[1]
    I = np.zeros((len(f), k, k))
    rows, columns = np.triu_indices(k)
    I[:, rows, columns] = _total(one["I"] for one in inboxes)
    I[:, columns, rows] = I[:, rows, columns]
    return _to_all_legs(inboxes, accelerations=_solved(own, I, f[..., None])[..., 0])


def _total(terms: Iterable[np.ndarray]) -> np.ndarray:
    return reduce(np.add, terms)


def _to_all_legs(inboxes: Sequence[Message], **fields: np.ndarray) -> list[Message]:
    """One message for each leg, all with the same fields."""
    return [dict(fields) for _ in inboxes]


def _solve(own: Own, right: np.ndarray) -> np.ndarray:
    if right.ndim == 2:
        return _solved(own, own["K"], right[..., None])[..., 0]
    return _solved(own, own["K"], right)


def _solved(own: Own, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise NumericalError(singular_loop_message(own["robot"])) from None
    return x


def _unpacked(packed: np.ndarray) -> np.ndarray:
    Phi = np.empty((len(packed), 6, 6))
    Phi[:, UPPER[0], UPPER[1]] = packed
    Phi[:, UPPER[1], UPPER[0]] = packed
    return Phi


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
