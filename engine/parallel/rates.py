"""Accelerations computed by legs (Khan 2002, section 3.3): forward steps i to v in each evaluation of a run.

The central task integrates, and closes the loops again in every evaluation.  The thesis integrates at the nodes; here
the step length depends on the errors of all coordinates, so the state is in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError, NumericalError
from ..machine.program.scalars import Scalar, as_floats, scalars_into_columns
from ..mechanics.closure import ConstrainedEquations
from ..mechanics.tree import dot
from ..simulate import equations
from ..simulate.acting import wrenches_at_instants
from ..simulate.discrete import discrete_partition
from ..simulate.equations import Evaluation, Moved
from ..simulate.feedforward import runner_with_feedforward
from ..simulate.runner import Runner
from ..simulate.situation import situation_of_state
from ..simulate.system import System
from .conduct import Distributed
from .engines import Engine


class RatesByLegs:
    """The equations of a system whose accelerations come from the nodes of an engine."""

    def __init__(self, system: System, engine: Engine, nodes: int | None = None):
        refuse_given_motions_of_legs(system)
        smooth = replace(system.robot, tree=replace(system.robot.tree, bodies=system.model.bodies), vouched=True)
        self.conductor = Distributed(smooth, engine, nodes)

    def begun(self, system: System, q: Sequence[float]) -> Runner:
        """A run of the system from coordinates q, with these equations."""
        return runner_with_feedforward(system, q, solve=self)

    def __call__(self, run: Runner, signals: Sequence[Scalar], y: Sequence[Scalar], t: float | None) -> Evaluation:
        """An evaluation of one state or of many, with one exchange of messages for each step."""
        try:
            return self._evaluated(run, signals, y, t)
        except (NumericalError, ZeroDivisionError, OverflowError):
            if t is None:
                raise
            return equations.evaluation_of_lost_state(run.system, signals, y, run.discrete)

    def _evaluated(self, run: Runner, signals: Sequence[Scalar], y: Sequence[Scalar], t: float | None) -> Evaluation:
        """The evaluation of one state or of many, with accelerations that the nodes compute."""
        system, discrete = run.system, run.discrete
        loops, part = system.loops, discrete_partition(discrete)
        now = situation_of_state(system, signals, y, discrete)
        closing = ConstrainedEquations(loops, part, system.model.bodies)
        q = equations.closed_positions_in_run(system, closing, now.q, now.values)
        rates = now.qd
        if system.coulomb:
            K = closing.factors(closing.rows(q, loops.ties_at(q)))
            rates = K.solve([*([0.0] * len(part.rows)), *(dot(list(row), now.qd) for row in part.N)])
        count = next((len(x) for x in (*q, *now.qd) if isinstance(x, np.ndarray)), None)
        pushed = equations.pushed_by_force_laws(system, now, rates, system.model)
        places, speeds, forces = (_stacked(x, count) for x in (q, now.qd, pushed))
        wrenches = (
            wrenches_at_instants(system.robot, system.inputs.wrenches, t, places, speeds) if t is not None else None
        )
        answer = self.conductor.moved(places, speeds, forces, wrenches, part.independent)
        qd, qdd = (x.tolist() if count is None else list(x.T) for x in answer)
        return equations.conclude_evaluation(system, now, Moved(q, qd, qdd, {}, guard=1.0), discrete, system.model)


def refuse_given_motions_of_legs(system: System) -> None:
    """Raises an error for given motions, and for joints that stick or stop: nodes find accelerations of all joints."""
    inputs = system.inputs
    given = [motion.joint.name for motion in (*inputs.prescribed, *inputs.commanded)] + [d.name for d in inputs.drives]
    if given:
        raise InputError(
            f"{system.robot.name}: a distributed simulation can't have given motions",
            found=f"the motion of `{given[0]}`",
            allowed="force laws but `computed-torque`, no `drives`",
        )
    if system.switching:
        raise InputError(
            f"{system.robot.name}: a distributed simulation has no joints that stick or come to a stop",
            allowed="`friction: smooth` and `limits: ignore` under `solver`",
        )


def _stacked(values: Sequence[Scalar], count: int | None) -> np.ndarray:
    if count is None:
        return np.array(as_floats(values))
    stacked = np.empty((count, len(values)))
    scalars_into_columns(stacked, values)
    return stacked
