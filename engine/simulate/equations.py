"""The equations of motion of a system, as text on scalars that runs on floats and arrays, is recorded, and compiled.

One evaluation reads the state and the signals, closes the loops if the closure method does so, adds up the forces, and
takes the accelerations from the recursion (for a tree) or the closure method (for a mechanism).  A speed whose motion
is given (prescribed, under computed torque, held by friction or a stop) has a force to be sought; all others have a
given force.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..machine.program import Scalar, sign, square_root
from ..mechanics.closure import AppliedForces, ConstrainedEquations
from ..mechanics.quantities import damping_power, wrench_power
from ..mechanics.tree import Pivot, add, coordinate_rates, dot, smooth_dry_friction, sweep_tree
from . import svd_projection
from .situation import Situation, situation_of_state
from .systems.discrete import Discrete, discrete_partition
from .systems.system import Model, System

LEAST = 1e-300  # keeps a quotient of zeros from being none
AT_REST = 1e-10  # radians or lengths of the mechanism per second
ITERATIONS = 2  # of Newton's method within the equations, from the integrated positions


@dataclass
class Moved:
    """Positions, speeds and accelerations at one instant, from the recursion or a closure method."""

    q: list[Scalar]
    qd: list[Scalar]
    qdd: list[Scalar]
    more: dict[int, Scalar]  # for each speed with given motion, the force that it needs besides those that act there
    driving: Scalar = 0.0  # the power of drives
    guard: Scalar | None = None  # positive as long as the independent coordinates are usable; None: always
    state_rates: list[Scalar] | None = None  # rates of the state's speeds, where these aren't the joints' speeds
    shares: dict[int, Scalar] | None = None  # of all held speeds in what holds them, where these are sharing it


@dataclass
class Evaluation:
    """The results of one evaluation; `resistance` is the force of friction and stops on each joint, with supports."""

    q: list[Scalar]
    qd: list[Scalar]
    qdd: list[Scalar]
    tau: list[Scalar]
    resistance: list[Scalar]
    support: dict[int, Scalar]  # for each held speed, the force that holds it besides its actuator's
    power: Scalar
    loss: Scalar
    guard: Scalar | None = None
    state_rates: list[Scalar] | None = None


# what `sweep_tree` seeks for each speed of a tree, from q, qd, what is given and which speeds are held, with all else
# fixed; and the forces that hold these
Recursion = Callable[
    [Sequence[Scalar], Sequence[Scalar], Sequence[Scalar], Mapping[int, Scalar]],
    tuple[list[Scalar], dict[int, Scalar]],
]


def evaluate_equations(
    system: System,
    signals: Sequence[Scalar],
    y: Sequence[Scalar],
    discrete: Discrete,
    model: Model,
    recursion: Recursion | None = None,
) -> Evaluation:
    """Accelerations, forces and powers at one instant; `recursion` takes the place of the text's for a tree."""
    now = situation_of_state(system, signals, y, discrete, model)
    if system.method.recomputes_null_space:
        discrete = svd_projection.discrete_state_with_null_space(system, discrete, now.q)
        y = svd_projection.state_with_unfolded_speeds(system, discrete, now, y)
        now = situation_of_state(system, signals, y, discrete)
    if not system.loops.m:
        moved = _of_tree(system, now, model, recursion)
    else:
        moved = _of_mechanism(system, now, discrete, model)
    return conclude_evaluation(system, now, moved, discrete, model)


def state_rates(system: System, now: Evaluation) -> list[Scalar]:
    """The rate y' of the state."""
    along = coordinate_rates(system.robot, now.q, now.qd)
    speeds = now.state_rates if now.state_rates is not None else [now.qdd[k] for k in system.state_speeds]
    return [along[k] for k in system.state_coordinates] + speeds + [now.power, now.loss]


def evaluation_of_lost_state(
    system: System, signals: Sequence[Scalar], y: Sequence[Scalar], discrete: Discrete
) -> Evaluation:
    """The evaluation of a state without accelerations: NaN for all but positions and speeds."""
    n, nan = system.robot.nv, math.nan
    q, qd, _ = system.expanded(signals, y)
    return Evaluation(q, qd, [nan] * n, [nan] * n, [nan] * n, dict.fromkeys(discrete.bearing, nan), nan, nan)


# ---- friction


def friction_in_run(system: System, now: Situation, qd: Sequence[Scalar], model: Model) -> dict[int, Scalar]:
    """Dry friction of each speed, positive against positive motion: smooth, or by the direction of slipping.

    A speed whose motion is given has no mode; its direction is the sign of the speed.
    """
    forces: dict[int, Scalar] = {}
    for k, coulomb in zip(system.coulomb, model.coulomb):
        if system.smooth:
            forces[k] = smooth_dry_friction(coulomb, qd[k], system.smooth)
        elif k in system.ruled:
            forces[k] = coulomb * sign(qd[k])
        elif k in system.carried:  # whose speed at rest is a rounding error
            slow = AT_REST * float(system.loops.column_scale[k])
            forces[k] = coulomb * (0.5 * (sign(qd[k] - slow) + sign(qd[k] + slow)))
        else:
            forces[k] = coulomb * now.slip[k]
    for k, support in now.kept.items():
        forces[k] = forces[k] - support if k in forces else -support
    return forces


# ---- trees and mechanisms


def _of_tree(system: System, now: Situation, model: Model, recursion: Recursion | None) -> Moved:
    """The motion of a tree, by the recursion with the pattern of given motions."""
    n = system.robot.nv
    acting = pushed_by_force_laws(system, now, now.qd, model)
    motion_given = [k in now.given for k in range(n)]
    start = [now.given[k] if motion_given[k] else acting[k] for k in range(n)]
    if recursion is not None:
        sought, support = recursion(now.q, now.qd, start, now.holds)
    else:
        pivots: dict[int, Pivot] = {}
        outside = now.wrenches, now.loads, pivots, now.holds
        sought, _ = sweep_tree(model.bodies, model.gravity, now.q, now.qd, start, motion_given, *outside)
        support = {k: pivots[k].support for k in now.holds}
    qdd = [start[k] if motion_given[k] else sought[k] for k in range(n)]
    more = {k: sought[k] - acting[k] for k in now.given}
    return Moved(now.q, now.qd, qdd, more | {k: hold * support[k] for k, hold in now.holds.items()})


def _of_mechanism(system: System, now: Situation, discrete: Discrete, model: Model) -> Moved:
    """The motion of a mechanism, by its closure method on positions and speeds that are closed as the method has it."""
    n, method, part = system.robot.nv, system.method, discrete_partition(discrete)
    loops = system.constraints(model)
    equations = ConstrainedEquations(loops, part, model.bodies, gravity=model.gravity)
    q, qd = now.q, now.qd
    if method.closes:
        q = closed_positions_in_run(system, equations, q, now.values)
    tied = loops.ties_at(q)
    A = equations.rows(q, tied)
    K = equations.factors(A)
    gaps = loops.gaps(q, tied)
    gap = [gaps[r] - now.values.get(r, 0.0) for r in part.rows]
    if method.speeds == "independent":
        pull = method.pull(system.values)
        wanted = [now.rates.get(r, 0.0) - pull * x for r, x in zip(part.rows, gap)]
        qd = K.solve([*wanted, *(qd[k] for k in part.given), *(dot(list(row), qd) for row in part.N)])
    forces = AppliedForces(
        pushed_by_force_laws(system, now, qd, model), now.wrenches, now.loads, {k: now.given[k] for k in part.given}
    )
    problem = equations.problem(q, qd, A, K, tied, forces, gap, now.rates, now.seconds, system.values)
    qdd = method.accelerations(problem)
    moved = Moved(q, qd, qdd, {}, guard=equations.guard(K, now.limits))
    if part.given or now.rates:
        left = problem.bias(qdd)
        for c, k in enumerate(part.given, start=len(part.rows)):
            way = K.solve([float(r == c) for r in range(n)])
            moved.more[k] = dot(way, left)
            if discrete.sharing and k in discrete.held:
                limits, load = dict(zip(system.coulomb, model.coulomb)), moved.more[k]
                for j in discrete.kept:
                    load = load + way[j] * now.kept[j]
                shares = shared_friction(load, [(way[j], limits[j]) for j in discrete.still])
                moved.shares = dict(zip(discrete.still, shares))
        for c, row in enumerate(part.rows):
            if row in now.rates:
                moved.driving = moved.driving + now.rates[row] * dot(K.solve([float(r == c) for r in range(n)]), left)
    if method.recomputes_null_space:
        moved.state_rates = svd_projection.state_with_folded_speeds(system, part, qdd)
    return moved


def shared_friction(load: Scalar, held: Sequence[tuple[Scalar, Scalar]]) -> list[Scalar]:
    """The friction in joints that together bear a load along one freedom.

    The joints are given by how they move along the freedom, and by their largest friction. The sum of squares relative
    to the largest friction is least, as in `row_parts.py`: s = μ F² x, or s = F where that would be more.
    """
    sizes = [limit * (way * sign(way)) for way, limit in held]
    wanted = load * sign(load)
    loose: list[Scalar] = [1.0] * len(sizes)  # 0 where a joint bears as much as it can
    factor: Scalar = 0.0
    for again in range(len(sizes)):
        if again:
            loose = [here * (0.5 - 0.5 * sign(factor * size - 1.0)) for here, size in zip(loose, sizes)]
        rest: Scalar = wanted
        square: Scalar = LEAST
        for here, size in zip(loose, sizes):
            rest = rest - (1.0 - here) * size
            square = square + here * size * size
        factor = rest / square
    parts = [here * factor * size + (1.0 - here) for here, size in zip(loose, sizes)]
    return [sign(load) * sign(way) * limit * part for (way, limit), part in zip(held, parts)]


def pushed_by_force_laws(system: System, now: Situation, qd: Sequence[Scalar], model: Model) -> list[Scalar]:
    """Forces along the speeds: those of force laws, less dry friction."""
    rubbed = friction_in_run(system, now, qd, model)
    acting = [force + now.pulled[k] if k in now.pulled else force for k, force in enumerate(now.applied)]
    return [force - rubbed[k] if k in rubbed else force for k, force in enumerate(acting)]


def closed_positions_in_run(
    system: System, equations: ConstrainedEquations, q: list[Scalar], values: Mapping[int, Scalar]
) -> list[Scalar]:
    """Coordinates with closed loops, by Newton's method with the same Jacobian in all iterations."""
    n, part, loops = system.robot.nv, equations.part, equations.loops
    tied = loops.ties_at(q)
    K = equations.factors(equations.rows(q, tied))
    for again in range(ITERATIONS):
        gaps = loops.gaps(q, loops.ties_at(q) if again else tied)
        step = K.solve([*(values.get(r, 0.0) - gaps[r] for r in part.rows), *([0.0] * (n - len(part.rows)))])
        q = _shifted(system, q, step)
    return q


def _shifted(system: System, q: list[Scalar], step: list[Scalar]) -> list[Scalar]:
    """The coordinates after a small motion along the speeds, with Euler parameters of norm 1."""
    q = add(q, coordinate_rates(system.robot, q, step))
    for joint in system.robot.moving:
        at = joint.type.orientation
        if at is not None:
            e = [joint.coordinates[at + k] for k in range(4)]
            one_over = 1.0 / square_root(dot([q[k] for k in e], [q[k] for k in e]))
            for k in e:
                q[k] = q[k] * one_over
    return q


# ---- forces and powers


def conclude_evaluation(system: System, now: Situation, moved: Moved, discrete: Discrete, model: Model) -> Evaluation:
    """The evaluation that follows from a motion: the forces of actuators, friction and stops, with power and loss."""
    q, qd, rubbed = moved.q, moved.qd, friction_in_run(system, now, moved.qd, model)
    tau, support = list(now.applied), {}
    for k, force in moved.more.items():
        if k in discrete.held or k in now.holds:
            support[k] = force
        else:
            tau[k] = tau[k] + force
    resistance: list[Scalar] = [0.0] * system.robot.nv
    for k, force in rubbed.items():
        resistance[k] = resistance[k] - force
    for k, force in (moved.shares or support).items():
        resistance[k] = resistance[k] + force
    for k in discrete.kept if moved.shares else ():
        resistance[k] = resistance[k] - now.kept[k]
    power = moved.driving
    for force, speed in zip(tau, qd):
        power = power + force * speed
    for k, force in now.pulled.items():
        power = power + force * qd[k]
    power = power + wrench_power(model.bodies, q, qd, now.wrenches, now.loads)
    loss = damping_power(model.bodies, qd)
    for k, force in rubbed.items():
        loss = loss + force * qd[k]
    guard, rates = moved.guard, moved.state_rates
    return Evaluation(q, qd, moved.qdd, tau, resistance, support, power, loss, guard, rates)
