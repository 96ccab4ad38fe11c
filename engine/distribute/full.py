"""The penalty and projection methods fully distributed: one exchange a step (Khan 2002, sections 1.1.3, 2.2 and 2.3).

At the start of a step every node is told the whole state; it takes the step and tells its own leg's part of the new
one.  Within the step the legs depend on each other, through the springs at the cuts (eq. 2.9) or through (Sᵀ I S)⁻¹
(eq. 2.24), so every node computes that for itself: "extra repeated computations in each chain" (Fig. 1.6).  With a
method of several stages that is all of it but the last stage's own part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..closure.legs import legs
from ..errors import InputError, NumericalError
from ..simulate.closed import ClosedPlant
from ..simulate.integrate import start
from ..simulate.loop import Solver, Trace
from .engines import Engine, Message
from .plant import refuse
from .steps import Row

METHODS = ("penalty", "projection-qr", "projection-svd", "projection-gauss")
FIXED = "rk4"


@dataclass(frozen=True, eq=False)
class Block:
    """What a node knows: the whole plant, and which part of its state is this node's."""

    plant: ClosedPlant
    places: tuple[int, ...]
    step: float | None


def advance(block: Block, own: dict[str, Any], inbox: Message) -> Message:
    """One step from the whole state; this node's part of the new one."""
    t, end = inbox["time"][0].tolist()
    plant = block.plant
    if "partition" not in own:
        own["partition"] = True
        plant.begin(inbox["start"][0])
    stepper = start(FIXED, plant.derivative, t, inbox["state"][0], end, step=block.step, measured=plant.measured)
    failure = stepper.step()
    if failure:
        raise NumericalError(f"at t = {t:.9g} s: {failure}")
    return {"time": np.array([[stepper.t]]), "state": stepper.y[None, list(block.places)]}


class Full:
    """The run of one plant."""

    def __init__(self, plant: ClosedPlant, solver: Solver, engine: Engine, nodes: int | None = None):
        refuse(plant)
        if plant.method_name not in METHODS:
            raise InputError(
                "this closure method has no fully distributed form",
                key="closure.method",
                found=plant.method_name,
                allowed=", ".join(METHODS),
            )
        if solver.method != FIXED:
            raise InputError(
                "a fully distributed run takes fixed steps: nodes that choose their own would have to agree on them",
                key="solver.method",
                found=solver.method,
                allowed=FIXED,
                hint="`--set solver.method=rk4 --set solver.step=1e-3`",
            )
        self.plant, self.solver, self.engine = plant, solver, engine
        found = legs(plant.robot).legs
        self.nodes = min(nodes or len(found), len(found))
        self.blocks = self._blocks(plant)

    def _blocks(self, plant: ClosedPlant) -> list[Block]:
        """Of every node; what no leg has, the quadratures, is the first one's."""
        bodies, found = plant.robot.tree.bodies, legs(plant.robot).legs
        places: list[list[int]] = [[] for _ in range(self.nodes)]
        for n, leg in enumerate(found):
            coordinates = [k for i in leg.bodies for k in bodies[i].coordinates]
            places[n % self.nodes] += [plant.cq.index(k) for k in coordinates]
            places[n % self.nodes] += [plant.place_of(k) for k in leg.speeds]
        places[0] += [plant.measured, plant.measured + 1]
        return [Block(plant, tuple(own), self.solver.step) for own in places]

    def begin(self, plants: Sequence[ClosedPlant] = ()) -> None:
        """Tells the nodes the equations; nodes in this process need plants of their own."""
        own = plants or [self.plant] * self.nodes
        self.engine.begin([[Block(one, b.places, b.step)] for one, b in zip(own, self.blocks)])

    def run(self, q: Sequence[float], qd: Sequence[float], grid: np.ndarray, tell: Callable[[float], None]) -> Trace:
        """Over the grid, where steps end on its instants."""
        plant, trace = self.plant, Trace()
        t, y, begin = float(grid[0]), plant.start(q, qd), np.array(q, dtype=float)
        guard = plant.guard
        assert guard is not None
        trace.keep(plant, t, y)
        for end in grid[1:].tolist():
            while t < end:
                t, y = self._step(t, y, end, begin)
                y = plant.settled(t, y)
                trace.steps += 1
                if not np.isfinite(y).all():
                    trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: the state is not finite"
                    return trace
                if guard(t, y) <= 0.0:
                    trace.ended = "failed"
                    trace.reason = f"at t = {t:.9g} s: the coordinates come to the end of their use, and a fully " + (
                        "distributed run doesn't take others"
                    )
                    return trace
                if trace.steps > self.solver.max_steps:
                    trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: more than {self.solver.max_steps} steps"
                    return trace
            trace.keep(plant, t, y)
            tell(t)
        stages = 4
        trace.evaluations = stages * trace.steps
        return trace

    def _step(self, t: float, y: np.ndarray, end: float, begin: np.ndarray) -> tuple[float, np.ndarray]:
        message = {"time": np.array([[t, end]]), "state": y[None], "start": begin[None]}
        answers = self.engine.step(advance, [[message] for _ in range(self.nodes)])
        after = np.empty_like(y)
        for block, (answer,) in zip(self.blocks, answers):
            after[list(block.places)] = answer["state"][0]
        return float(answers[0][0]["time"][0, 0]), after

    def plan(self) -> Iterator[Row]:
        """The messages of one step."""
        width, start_width = self.plant.measured + 2, self.plant.robot.nq
        down = {"time": 2, "state": width, "start": start_width}
        fields = {name: x * self.nodes for name, x in down.items()}
        yield Row("step", "to nodes", fields, self.nodes, 8 * sum(fields.values()))
        fields = {"time": self.nodes, "state": width}
        yield Row("step", "to central", fields, self.nodes, 8 * sum(fields.values()))
