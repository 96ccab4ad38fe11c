"""The distributed formulation of one parallel robot: samples go to the nodes in batches of messages.

Accelerations by legs are those of a run, too (Khan 2002, section 3.3): forward steps i to v in each evaluation.  The
central task integrates, and closes the loops again in every evaluation.  The thesis integrates at the nodes; here the
step length depends on the errors of all coordinates, so the state is in one place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..mechanics.closure import independent_speeds, loop_closure
from ..mechanics.mechanisms import Balance, enough_actuators_for_freedoms, loop_actuator_efforts
from ..mechanics.platforms import legs
from ..mechanics.quantities import Samples, dynamics_without_numbers_error
from ..mechanics.tree import placement_of_body
from ..robot import Robot
from .engines import NodeEngine, ProcessEngine
from .node import Message, rows_of_scalars
from .part import LegPart, euler_parameters_of_platform, parts_by_legs
from .steps import TASKS, least_effort_of_legs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
from dataclasses import replace

from ..errors import NumericalError
from ..machine.program import Scalar, as_floats
from ..mechanics.closure import ConstrainedEquations
from ..mechanics.tree import dot
from ..simulate import (
    Evaluation,
    Moved,
    Runner,
    closed_positions_in_run,
    conclude_evaluation,
    evaluation_of_lost_state,
    pushed_by_force_laws,
    runner_with_feedforward,
    situation_of_state,
)
from ..simulate.systems import System, discrete_partition, wrenches_at_instants


class RatesByLegs:
    """The equations of a system whose accelerations come from the nodes of an engine."""

    def __init__(self, system: System, engine: NodeEngine, nodes: int | None = None):
        refuse_given_motions_of_legs(system)
        smooth = replace(system.robot, tree=replace(system.robot.tree, bodies=system.model.bodies), vouched=True)
        self.conductor = DistributedFormulation(smooth, engine, nodes)

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
            return evaluation_of_lost_state(run.system, signals, y, run.discrete)

    def _evaluated(self, run: Runner, signals: Sequence[Scalar], y: Sequence[Scalar], t: float | None) -> Evaluation:
        """The evaluation of one state or of many, with accelerations that the nodes compute."""
        system, discrete = run.system, run.discrete
        loops, part = system.loops, discrete_partition(discrete)
        now = situation_of_state(system, signals, y, discrete)
        closing = ConstrainedEquations(loops, part, system.model.bodies)
        q = closed_positions_in_run(system, closing, now.q, now.values)
        rates = now.qd
        if system.coulomb:
            K = closing.factors(closing.rows(q, loops.ties_at(q)))
            rates = K.solve([*([0.0] * len(part.rows)), *(dot(list(row), now.qd) for row in part.N)])
        count = next((len(x) for x in (*q, *now.qd) if isinstance(x, np.ndarray)), None)
        pushed = pushed_by_force_laws(system, now, rates, system.model)
        state = (q, now.qd, pushed)
        places, speeds, forces = (np.array(as_floats(x)) if count is None else rows_of_scalars(x, count) for x in state)
        wrenches = (
            wrenches_at_instants(system.robot, system.inputs.wrenches, t, places, speeds) if t is not None else None
        )
        answer = self.conductor.moved(places, speeds, forces, wrenches, part.independent)
        qd, qdd = (x.tolist() if count is None else list(x.T) for x in answer)
        return conclude_evaluation(system, now, Moved(q, qd, qdd, {}, guard=1.0), discrete, system.model)


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


MOST_SAMPLES_OF_MESSAGE = 1000  # samples of one message, at most


class DistributedFormulation:
    """One robot on the nodes of one engine; leg k runs on node k modulo `nodes`."""

    def __init__(
        self,
        robot: Robot,
        engine: NodeEngine | None = None,
        nodes: int | None = None,
        *,
        batch: int = MOST_SAMPLES_OF_MESSAGE,
        platform: str | None = None,
    ):
        self.robot, self.engine, self.batch = robot, engine or ProcessEngine(), batch
        self.parallel, self.loops = legs(robot, platform), loop_closure(robot)
        count = len(self.parallel.legs)
        self.nodes = min(nodes or count, count)
        self._independent: list[int] = []
        self.parts: list[LegPart] = []

    @property
    def groups(self) -> list[list[LegPart]]:
        return [self.parts[n :: self.nodes] for n in range(self.nodes)]

    def begin(self, independent: Sequence[int]) -> None:
        """Sends each node its legs, made for these independent speeds."""
        if list(independent) == self._independent:
            return
        self.parts = parts_by_legs(self.robot, self.parallel, independent)
        self.engine.begin(self.groups)
        self._independent = list(independent)

    # ---- the tasks

    def kinematics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(qd, qdd) of all joints, from those of the independent ones."""
        s = Samples(self.robot, q=q, qd=qd, qdd=qdd).finite()
        self.begin(self._choose_independent(s))
        answers = self._run_batches("kinematics", s, None, ("rates", "accelerations"))
        return self._gathered(s, answers, "qd"), self._gathered(s, answers, "qdd")

    def inverse(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None
    ) -> np.ndarray:
        """Forces of the actuators, as `denoc.inverse` gives them."""
        s = Samples(self.robot, q=q, qd=qd, qdd=qdd).finite()
        independent = self._choose_independent(s)
        if len(independent) > len(self.robot.driven):
            raise InputError(
                f"{self.robot.name}: {len(independent)} freedoms for {len(self.robot.driven)} actuators, idle spins "
                "among them",
                hint="`denoc.inverse` takes such robots",
            )
        self.begin(independent)
        task = "inverse" if sorted(independent) == sorted(self.robot.driven) else "inverse, redundant"
        answers = self._run_batches(task, s, wrenches, ("rates", "accelerations"))
        places = {k: n for n, k in enumerate(self.robot.driven)}
        tau = np.empty((s.count or 1, len(places)))
        for leg, part, answer in zip(self.parallel.legs, self.parts, answers):
            own = part.kept if task == "inverse" else part.driven
            tau[:, [places[leg.speeds[k]] for k in own]] = answer["tau"]
        return self._finite(tau if s.count is not None else tau[0])

    def forward(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        independent: Sequence[int] | None = None,
    ) -> np.ndarray:
        """Accelerations, as `denoc.forward` gives them."""
        return self.moved(q, qd, tau, wrenches, independent)[1]

    def moved(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        independent: Sequence[int] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(qd, qdd) of all joints, from the speeds of the independent ones."""
        s = Samples(self.robot, q=q, qd=qd, tau=tau).finite()
        if independent is None:
            independent = independent_speeds(self.loops, self.loops.jacobian(s.rows("q")[0])[0])
        self.begin(independent)
        answers = self._run_batches("forward", s, wrenches, ("rates", "tau"))
        return self._gathered(s, answers, "qd"), self._gathered(s, answers, "qdd")

    def task(self, name: str, q: np.ndarray) -> str:
        """The task's name in the table of steps, for legs that are sent to the nodes first."""
        independent = independent_speeds(self.loops, self.loops.jacobian(np.atleast_2d(q)[0])[0])
        self.begin(independent)
        return f"{name}, redundant" if name == "inverse" and sorted(independent) != sorted(self.robot.driven) else name

    # ---- messages

    def _choose_independent(self, s: Samples) -> list[int]:
        q = s.rows("q")[:1]
        enough_actuators_for_freedoms(Balance(self.robot, q))
        return independent_speeds(self.loops, self.loops.jacobian(q[0])[0])

    def _run_batches(
        self, task: str, s: Samples, wrenches: Mapping[str, ArrayLike] | None, given: Sequence[str]
    ) -> list[Message]:
        """The last answers, one for each leg, over all batches of samples."""
        rows = {name: s.rows(name) for name in s.arrays}
        forces = {}
        for link, six in (wrenches or {}).items():
            self.robot.link(link)
            forces[link] = np.broadcast_to(np.asarray(six, dtype=float), (s.count or 1, 6))
        batches: list[list[Message]] = []
        for first in range(0, s.count or 1, self.batch):
            these = slice(first, first + self.batch)
            batches.append(
                self._run_batch(
                    task,
                    {name: x[these] for name, x in rows.items()},
                    {link: six[these] for link, six in forces.items()},
                    given,
                )
            )
        return [
            {name: np.concatenate([batch[n][name] for batch in batches]) for name in batches[0][n]}
            for n in range(len(self.parts))
        ]

    def _run_batch(
        self, task: str, rows: Mapping[str, np.ndarray], wrenches: Mapping[str, np.ndarray], given: Sequence[str]
    ) -> list[Message]:
        """The last answers to one batch, one for each leg, after all steps of the task."""
        own: dict[str, Any] = {
            "robot": self.robot,
            "rates": rows["qd"][:, self._ordered()],
            "efforts": self._efforts(),
        }
        outboxes = self._first(rows, wrenches, given)
        self.engine.restart()
        with np.errstate(all="ignore"):
            for step in TASKS[task][1:]:
                assert step.run is not None
                if step.place == "central":
                    outboxes = step.run(own, outboxes)
                    continue
                answers = self.engine.step(step.run, [outboxes[n :: self.nodes] for n in range(self.nodes)])
                outboxes = [answers[n % self.nodes][n // self.nodes] for n in range(len(self.parts))]
            if task == "inverse, redundant":  # central has the last step: these messages stay here
                outboxes = least_effort_of_legs(own, outboxes)
        return outboxes

    def _first(
        self, rows: Mapping[str, np.ndarray], wrenches: Mapping[str, np.ndarray], given: Sequence[str]
    ) -> list[Message]:
        """The first messages: each leg's coordinates, kept speeds and forces, and the platform's place."""
        place = self._platform(rows["q"])
        messages = []
        for leg, part in zip(self.parallel.legs, self.parts):
            own = [k for i in leg.bodies for k in self.robot.tree.bodies[i].coordinates]
            kept = [leg.speeds[k] for k in part.kept]
            message = {"q": np.concatenate([rows["q"][:, own], place], axis=1), "rates": rows["qd"][:, kept]}
            if "accelerations" in given:
                message["accelerations"] = rows["qdd"][:, kept]
            if "tau" in given:
                message["tau"] = rows["tau"][:, list(leg.speeds)]
            for link, six in wrenches.items():
                if link in part.links:
                    message[f"wrench:{link}"] = six
                elif link in part.carried:
                    message[f"wrench:{link}"] = six * part.share
            messages.append({name: np.ascontiguousarray(x) for name, x in message.items()})
        return messages

    def _platform(self, q: np.ndarray) -> np.ndarray:
        """The platform's place, [x, y, z, Euler parameters], from the joints of the first leg."""
        R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
        columns = [np.ascontiguousarray(q[:, k]) for k in range(q.shape[1])]
        for i in self.parallel.legs[0].bodies:
            rotation, origin = placement_of_body(self.robot.tree.bodies[i], columns)
            p = p + (R @ _stacked([origin], len(q)).transpose(0, 2, 1))[..., 0]
            for factor in rotation:
                R = R @ _factor(factor, len(q))
        return np.concatenate([p, euler_parameters_of_platform(R)], axis=1)

    def _ordered(self) -> list[int]:
        """Places of the independent speeds, leg by leg."""
        return [leg.speeds[k] for leg, part in zip(self.parallel.legs, self.parts) for k in part.kept]

    def _efforts(self) -> list[Any]:
        """Limits and weights of the actuated speeds, leg by leg."""
        places, limits = {k: n for n, k in enumerate(self.robot.driven)}, loop_actuator_efforts(self.robot)
        own = [leg.speeds[k] for leg, part in zip(self.parallel.legs, self.parts) for k in part.driven]
        return [limits[places[k]] for k in own]

    def _gathered(self, s: Samples, answers: Sequence[Message], name: str) -> np.ndarray:
        values = np.empty((s.count or 1, self.robot.nv))
        for leg, answer in zip(self.parallel.legs, answers):
            values[:, list(leg.speeds)] = answer[name]
        return self._finite(values if s.count is not None else values[0])

    def _finite(self, x: np.ndarray) -> np.ndarray:
        if not np.isfinite(x).all():
            raise dynamics_without_numbers_error(self.robot)
        return x


def _stacked(rows: Sequence[Sequence[Any]], count: int) -> np.ndarray:
    stacked = np.empty((count, len(rows), len(rows[0])))
    for r, row in enumerate(rows):
        for k, x in enumerate(row):
            stacked[:, r, k] = x
    return stacked


def _factor(factor: Any, count: int) -> np.ndarray:
    if len(factor) != 4:
        return _stacked(factor, count)
    i, j, c, s = factor
    F = np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
    F[:, i, i] = F[:, j, j] = c
    F[:, i, j], F[:, j, i] = -s, s
    return F
