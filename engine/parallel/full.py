"""The penalty and projection methods fully distributed: one exchange a step (Khan 2002, sections 1.1.3, 2.2 and 2.3).

At the start of a step every node gets the whole state; it takes the step and returns the part of the new state that
is its leg's or, of robots that aren't legs with a platform, that of all that one joint of the base carries.  Within the
step the legs depend on each other, through the springs at the cuts (eq. 2.9) or through (Sᵀ I S)⁻¹ (eq. 2.24), so every
node computes these terms for itself: "extra repeated computations in each chain" (Fig. 1.6).  In a method of several
stages, these terms are all of the work except the leg's own part of the last stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, NumericalError
from ..machine.backend import chosen_backend, using_backend
from ..mechanics.closure import distributed_closure_methods
from ..mechanics.platforms import bodies_shared_by_legs
from ..simulate import Runner, Solver, Trace, runner_with_feedforward
from ..simulate.integrators import stepper_of_integrator
from ..simulate.systems import System, begin_of_run
from .conduct import refuse_given_motions_of_legs
from .engines import Message, NodeEngine
from .steps import Exchange

FIXED = "rk4"
STAGES = 4


@dataclass(frozen=True, eq=False)
class NodeRun:
    """The data of a node: how the whole system is made, and which part of its state belongs to this node."""

    make: Callable[[], System]
    start: tuple[float, ...]  # positions at which all nodes choose their coordinates, hence the same ones
    places: tuple[int, ...]
    step: float | None
    max_step: float
    backend: str  # the sender's: a node computes in the same way on any thread or machine

    @cached_property
    def run(self) -> Runner:
        """The run, which is begun on the node itself, because compiled code can't be sent."""
        return runner_with_feedforward(self.make(), self.start)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in self.__dict__.items() if name != "run"}


def advance_whole_state_on_node(node: NodeRun, own: dict[str, Any], inbox: Message) -> Message:
    """Takes one step from the whole state and returns this node's part of the new state."""
    t, end = inbox["time"][0].tolist()
    run, y = node.run, inbox["state"][0]
    measured = run.system.measured
    stepper = stepper_of_integrator(
        FIXED, run.derivative, t, y, end, step=node.step, max_step=node.max_step, measured=measured
    )
    with using_backend(node.backend):
        failure = stepper.step()
    if failure:
        raise NumericalError(f"at t = {t:.9g} s: {failure}")
    return {"time": np.array([[stepper.t]]), "state": stepper.y[None, list(node.places)]}


class FullyDistributed:
    """A fully distributed run of one system."""

    run: Runner

    def __init__(self, make: Callable[[], System], solver: Solver, engine: NodeEngine, nodes: int | None = None):
        """Checks the system and shares it out; `make` returns a new copy of it at each call."""
        system = make()
        refuse_given_motions_of_legs(system)
        if not system.method.distributed:
            raise InputError(
                "this closure method has no fully distributed form",
                key="closure.method",
                found=system.closure,
                allowed=", ".join(distributed_closure_methods()),
            )
        if solver.method != FIXED:
            raise InputError(
                "a fully distributed run takes fixed steps: nodes that choose their own would have to agree on them",
                key="solver.method",
                found=solver.method,
                allowed=FIXED,
                hint="`--set solver.method=rk4 --set solver.step=1e-3`",
            )
        self.make, self.system, self.solver, self.engine = make, system, solver, engine
        count = len(bodies_shared_by_legs(system.robot)[1])
        self.nodes = min(nodes or count, count)
        self.places = self._places(system)

    def _places(self, system: System) -> list[list[int]]:
        """Places in the state, node by node; the quadratures, which belong to no leg, are the first node's."""
        bodies = system.robot.tree.bodies
        places: list[list[int]] = [[] for _ in range(self.nodes)]
        for n, own in enumerate(bodies_shared_by_legs(system.robot)[1]):
            coordinates = [k for i in own for k in bodies[i].coordinates]
            places[n % self.nodes] += [system.state_coordinates.index(k) for k in coordinates]
            places[n % self.nodes] += [system.place_of(k) for i in own for k in bodies[i].speeds]
        places[0] += [system.measured, system.measured + 1]
        return places

    def _begin(self, q: Sequence[float]) -> None:
        self.run = runner_with_feedforward(self.system, q)
        start, solver = tuple(float(x) for x in q), self.solver
        given = solver.step, solver.max_step, chosen_backend()
        self.engine.begin([[NodeRun(self.make, start, tuple(x), *given)] for x in self.places])

    def carried_out(
        self,
        q: Sequence[float],
        qd: Sequence[float],
        grid: np.ndarray,
        kinks: Sequence[float] = (),
        tell: Callable[[float], None] = lambda t: None,
    ) -> Trace:
        """The run over the grid; steps end on its instants and on the kinks of laws.  An interrupt leaves its rows."""
        trace = Trace()
        self._begin(q)
        with trace.ends_where_interrupted():
            t, y = begin_of_run(grid, kinks), self.run.start(q, qd)
            trace.keep(self.run, float(grid[0]), y, t)
            stops = sorted({float(x) for x in kinks if t < x < grid[-1]} | set(grid[1:].tolist()))
            rows = set(grid.tolist())
            for end in stops:
                while t < end:
                    t, y = self._step(t, y, end)
                    y = self.run.settled(t, y)
                    trace.steps += 1
                    trace.evaluations += STAGES
                    why = self._stopped(t, y, trace.steps)
                    if why:
                        trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: {why}"
                        return trace
                if end in rows:
                    trace.keep(self.run, t, y)
                    tell(t)
        return trace

    def _stopped(self, t: float, y: np.ndarray, steps: int) -> str:
        """The reason why the run can't go on, or an empty string."""
        if steps > self.solver.max_steps:
            return f"more than {self.solver.max_steps} steps (`max_steps` of the solver)"
        guard = self.run.guard
        if guard is not None and guard(t, y) <= 0.0:
            return "the coordinates come to the end of their use, and a fully distributed run doesn't take others"
        return ""

    def _step(self, t: float, y: np.ndarray, end: float) -> tuple[float, np.ndarray]:
        message = {"time": np.array([[t, end]]), "state": y[None]}
        self.engine.restart()
        answers = self.engine.step(advance_whole_state_on_node, [[message] for _ in range(self.nodes)])
        after = np.empty_like(y)
        for places, (answer,) in zip(self.places, answers):
            after[places] = answer["state"][0]
        return float(answers[0][0]["time"][0, 0]), after

    def plan(self) -> Iterator[Exchange]:
        """The messages of one step."""
        width = self.system.measured + 2
        for way, fields in (
            ("to nodes", {"time": 2 * self.nodes, "state": width * self.nodes}),
            ("to central", {"time": self.nodes, "state": width}),
        ):
            yield Exchange("step", way, fields, self.nodes, 8 * sum(fields.values()))
