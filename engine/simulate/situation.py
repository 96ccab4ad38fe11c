"""State and signals of a system, read at one instant on any scalars, before loops are closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..machine.program import Scalar
from ..mechanics.closure import ConstrainedEquations
from ..mechanics.tree import Applied, Load, Wrenches, add, dot, smooth_dry_friction, sweep_tree, wrenches_on_bodies
from ..robot import Robot
from .systems.delayed_state import late_state
from .systems.discrete import Discrete, discrete_partition
from .systems.signals import first_mode_signal, rubbing
from .systems.system import Model, System


@dataclass
class Situation:
    """All quantities that state and signals give at one instant, before loops are closed."""

    q: list[Scalar]
    qd: list[Scalar]
    given: dict[int, Scalar]  # accelerations by speed: prescribed, commanded, 0 where held
    applied: list[Scalar]  # the actuators' forces by force laws and feedforward
    wrenches: Wrenches
    loads: Sequence[Load]
    slip: Mapping[int, Scalar]  # the direction in which a speed slips, where friction isn't smooth
    kept: Mapping[int, Scalar]  # supports of joints that are held and don't bear
    holds: Mapping[int, Scalar]  # 1 where a speed is held, 0 where it isn't, if signals say so
    values: dict[int, Scalar] = field(default_factory=dict)  # of the rows of drives
    rates: dict[int, Scalar] = field(default_factory=dict)  # first and second rates of these values
    seconds: dict[int, Scalar] = field(default_factory=dict)
    limits: Sequence[Scalar] = ()  # inverse bounds of the pivots
    demanded: Mapping[int, Scalar] = field(default_factory=dict)  # of bounded actuators by their laws
    pulled: Mapping[int, Scalar] = field(default_factory=dict)  # forces along speeds by actuators on sums of joints


def situation_of_state(
    system: System, signals: Sequence[Scalar], y: Sequence[Scalar], discrete: Discrete, model: Model | None = None
) -> Situation:
    """The situation that state and signals give; the signals have the order of `signals.signals_at`.

    Systems that are `planning` need the numbers of a `model`.
    """
    n, first = system.robot.nv, system.motion_signals
    q, qd, given = system.expanded(signals[:first], y)
    rest = iter(signals[first:])
    for k in discrete.fixed:
        given[k] = 0.0
    for one in system.inputs.commanded:
        count = len(one.joint.speeds)
        places, speeds, seconds = ([next(rest) for _ in range(count)] for _ in range(3))
        kp, kd = [next(rest) for _ in one.gains] if system.tuned else one.gains
        for i, (c, k) in enumerate(zip(one.joint.coordinates, one.joint.speeds)):
            given[k] = seconds[i] + kd * (speeds[i] - qd[k]) + kp * (places[i] - q[c])
    planned = partial(_planned, system, signals, q, qd, given, model or system.model, discrete)
    applied, demanded = _applied(system, rest, q, qd, planned)
    pushes = dict(zip(system.pushing, applied[n:]))
    wrenches, loads = _wrenches(system, rest, q, qd, pushes)
    slip = {} if system.smooth else {k: next(rest) for k in system.coulomb}
    kept = {k: next(rest) for k in system.keeping}
    holds = {k: next(rest) for k in discrete.switched}
    now = Situation(q, qd, given, applied[:n], wrenches, loads, slip, kept, holds, demanded=demanded)
    now.pulled = forces_of_pulled_sums(system.robot, pushes)
    rows = system.loops.driven_rows()
    now.values, now.rates, now.seconds = ({row: next(rest) for row in rows} for _ in range(3))
    now.limits = [next(rest) for _ in range(system.pivots)]
    return now


def _applied(
    system: System,
    signals: Iterator[Scalar],
    q: list[Scalar],
    qd: list[Scalar],
    planned: Callable[[Iterator[Scalar]], Mapping[int, Scalar]],
) -> tuple[list[Scalar], dict[int, Scalar]]:
    """The actuators' forces by force laws and feedforward, and what bounded ones are asked for.

    The forces are those of each speed, then those of the actuators `pushing`.
    """
    applied: dict[int, Scalar] = dict.fromkeys(places_of_run_forces(system), 0.0)
    for one, seen in zip(system.inputs.driven, system.seen):
        if one.timed:
            force = next(signals)
            if system.tuned and one.tuned is not None:
                force = one.tuned([next(signals) for _ in one.gains])(force, 0.0, 0.0, None)  # type: ignore[arg-type]
            applied[one.speed] = applied[one.speed] + force
            continue
        places, rates = (q, qd) if seen is None else late_state(system.robot, seen, signals)
        if one.whole is not None:
            now = next(signals) if one.whole.timed else 0.0
            applied[one.speed] = applied[one.speed] + one.whole(now, places, rates)
            continue
        reference = (next(signals), next(signals)) if one.reference is not None else None
        place: Scalar = places[one.coordinate] if one.coordinate is not None else 0.0
        gains = [next(signals) for _ in one.gains] if system.tuned else None
        applied[one.speed] = applied[one.speed] + one.in_state(place, rates[one.speed], reference, gains)
    for k, force in planned(signals).items():
        applied[k] = applied[k] + force
    demanded = {k: applied[k] for k in system.bounded}
    for k, force in demanded.items():
        factor, instead = next(signals), next(signals)
        applied[k] = factor * force + instead
    return list(applied.values()), demanded


def _planned(
    system: System,
    signals: Sequence[Scalar],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Mapping[int, Scalar],
    model: Model,
    discrete: Discrete,
    ahead: Iterator[Scalar],
) -> dict[int, Scalar]:
    """The forces of feedforward, which are the next signals or, of a system that is planning, follow from these.

    q, qd and `given` have the motion that is prescribed.
    """
    joints = [motion.joint for motion in system.inputs.feedforward]
    led = [k for joint in joints for k in joint.speeds]
    if not system.planning:
        return {k: next(ahead) for k in led}
    wrenches = iter(signals[first_mode_signal(system) + 2 * len(system.bounded) :])
    if system.follows:
        return _planned_in_loops(system, model, discrete, ahead, wrenches)
    places, speeds = list(q), list(qd)
    seconds: list[Scalar] = [given.get(k, 0.0) for k in range(system.robot.nv)]
    for joint in joints:
        for target, where in ((places, joint.coordinates), (speeds, joint.speeds), (seconds, joint.speeds)):
            for k in where:
                target[k] = next(ahead)
    on, loads = _wrenches(system, wrenches, places, speeds, {})
    every = [True] * system.robot.nv
    forces, _ = sweep_tree(model.bodies, model.gravity, places, speeds, seconds, every, on, loads)
    coulomb = dict(zip(system.coulomb, model.coulomb))
    for k in rubbing(system):
        forces[k] = forces[k] + coulomb[k] * next(ahead)
    return {k: forces[k] for k in led}


def _planned_in_loops(
    system: System, model: Model, discrete: Discrete, ahead: Iterator[Scalar], wrenches: Iterator[Scalar]
) -> dict[int, Scalar]:
    """The forces of a mechanism's planned motion: the power of those that its tree needs, along each freedom."""
    robot, part = system.robot, discrete_partition(discrete)
    q, qd, qdd = ([next(ahead) for _ in range(count)] for count in (robot.nq, robot.nv, robot.nv))
    on, loads = _wrenches(system, wrenches, q, qd, {})
    tree, _ = sweep_tree(model.bodies, model.gravity, q, qd, qdd, [True] * robot.nv, on, loads)
    for k, coulomb in zip(system.coulomb, model.coulomb) if system.smooth else ():
        tree[k] = tree[k] + smooth_dry_friction(coulomb, qd[k], system.smooth)
    loops = system.constraints(model)
    equations = ConstrainedEquations(loops, part, model.bodies)
    K, first = equations.factors(equations.rows(q, loops.ties_at(q))), len(part.rows) + len(part.given)
    freedoms = {
        k: K.solve([float(row == r) for row in range(robot.nv)]) for r, k in enumerate(part.independent, start=first)
    }
    led = [k for motion in system.inputs.feedforward for k in motion.joint.speeds if k in freedoms]
    return {k: dot(freedoms[k], tree) for k in led}


def places_of_run_forces(system: System) -> list[int]:
    """The places of all speeds, then those of the actuators that are no joint's and follow a law."""
    n = system.robot.nv
    return [*range(n), *(n + k for k in system.pushing)]


def forces_of_pulled_sums(robot: Robot, pushes: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """The forces along speeds by actuators on sums of joints, from all actuators' forces by their places."""
    forces: dict[int, Scalar] = {}
    for place, force in pushes.items():
        for one in robot.actuators[place].joints:
            forces[one.speed] = forces.get(one.speed, 0.0) + one.ratio * force
    return forces


def wrenches_of_link_actuators(robot: Robot, pushes: Mapping[int, Scalar]) -> list[Applied]:
    """The wrenches of actuators on links, from all actuators' forces by their places."""
    applied: list[Applied] = []
    for place, force in pushes.items():
        one = robot.actuators[place]
        if one.on_link:
            push, none = [x * force for x in one.direction], [0.0, 0.0, 0.0]
            applied.append((one.link, [*push, *none] if one.moment else [*none, *push], one.at, one.axes))
    return applied


def _wrenches(
    system: System,
    signals: Iterator[Scalar],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    pushes: Mapping[int, Scalar],
) -> tuple[Wrenches, list[Load]]:
    """The wrenches of the robot's file, those of the scenario, and those of actuators on links, on the bodies."""
    constant, loads = system.constant
    timed: list[Applied] = [
        (w.link, w.with_state([next(signals) for _ in range(6)], q, qd), w.at, w.axes) for w in system.inputs.wrenches
    ]
    timed += wrenches_of_link_actuators(system.robot, pushes)
    if not timed:
        return constant, loads
    on, more = wrenches_on_bodies(system.robot.tree, timed)
    merged = dict(on)
    for body, six in constant.items():
        merged[body] = add(list(six), list(merged[body])) if body in merged else list(six)
    return merged, [*loads, *more]


def planned_feedforward_forces(
    system: System,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrenches: Iterator[Scalar],
    pushes: Mapping[int, Scalar],
) -> list[Scalar]:
    """Forces of a planned motion by inverse dynamics of the spanning tree, with wrenches and dry friction.

    `pushes` are the forces of actuators that are no joint's and follow a law; they do their part.
    """
    on, loads = _wrenches(system, wrenches, q, qd, pushes)
    given = [True] * system.robot.nv
    forces = sweep_tree(system.robot.tree.bodies, system.robot.gravity, q, qd, qdd, given, on, loads)[0]
    for k, force in forces_of_pulled_sums(system.robot, pushes).items():
        forces[k] = forces[k] - force
    return forces
