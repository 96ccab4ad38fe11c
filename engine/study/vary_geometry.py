"""Numbers on which a robot's geometry depends, and limits, for many runs at once: robots built from symbols.

The builder of robots runs on symbols once; what it makes of them, the numbers of bodies and ties, is a program that
compiled code runs for all runs.  Loops are closed for all of them, and all go by one partition: where a run by itself
would take another one, it isn't plain.  Limits are those of joints' positions, and of their actuators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import DenocError
from ..machine.backend import QUICK
from ..machine.jit import Offer
from ..machine.program import CONSTANT, Node, Recording
from ..mechanics.assembly import Alike, Measures
from ..mechanics.closure import independent_constraint_rows, independent_constraint_rows_of_many, ties_of_mechanism
from ..mechanics.mechanisms import idle_spins
from ..mechanics.numbers import inertias_moved_towards_base
from ..robot import Robot
from ..scenario import Plan
from ..simulate import ModeLimits, Runner, preferred_speeds_at_start, runner_with_feedforward
from ..simulate.many import Numbers
from ..simulate.systems import (
    Model,
    System,
    bodies_without_dry_friction,
    discrete_partition,
    dry_friction_of_system,
    pivot_limit_signals,
)
from ..text import Keys
from .arguments import (
    codegen_draft_with_arguments,
    codegen_file_part_with_value,
    codegen_structure_with_scalars,
    robot_with_argument_symbols,
)


def put_varied_limit(plan: Plan, path: Keys, values: np.ndarray, limits: ModeLimits) -> None:
    """Put the values of a limit of the robot's file into those of the runs."""
    system, side = plan.system, path[-1]
    joint = plan.robot.links[int(path[1])].joint
    if joint.type.nv != 1 or side not in (0, 1):
        raise OtherError
    speed, steady = joint.speeds[0], {one.speed for one in system.inputs.driven if one.steady}
    if path[3] == "limits" and speed in system.stopped:
        (limits.high if side else limits.low)[:, [*system.switching].index(speed)] = values
    # a constant force may be within other limits from beginning to end
    elif path[3] == "effort" and speed in system.bounded and speed not in steady:
        (limits.most if side else limits.least)[:, [*system.bounded].index(speed)] = values
    else:  # a limit that ends no mode in the first run
        raise OtherError


def runs_with_sound_limits(
    system: System, columns: Mapping[Keys, np.ndarray], q: np.ndarray, limits: ModeLimits, plain: np.ndarray
) -> None:
    """Strike off runs with limits that are none, and those that start at or beyond a stop, if that may differ."""
    plain &= (limits.low < limits.high).all(axis=1) & (limits.least < limits.most).all(axis=1)
    if not any(path[0] == "initial" or varied_path_is_limit(path) for path in columns):
        return
    for c, k in enumerate(system.switching):
        if k in system.stopped:
            x = q[:, system.stopped[k].coordinate]
            plain &= (limits.low[:, c] < x) & (x < limits.high[:, c])


def varied_path_is_limit(path: Sequence[str | int]) -> bool:
    """Whether a path leads to the limits of a joint's position or of its actuator."""
    within = tuple(path[3:5]) if tuple(path[:1]) == ("links",) and tuple(path[2:3]) == ("joint",) else ()
    return within[:1] == ("limits",) or within == ("effort", "limits")


LARGE = 1e9  # what is larger is left to the reader of one file


class OtherError(Exception):
    """The keys lead elsewhere than to numbers that can be read for all runs at once."""


# ---- the robots


def rebuild_varied_robots(plan: Plan, columns: Mapping[Keys, np.ndarray], plain: np.ndarray) -> Numbers:
    """The numbers of robots whose files have these columns by path; runs with enormous numbers aren't `plain`."""
    robot, system, recording = plan.robot, plan.system, Recording("numbers")
    symbols = recording.input("p", len(columns))
    try:
        whole = robot_with_argument_symbols(robot, list(columns), symbols)
    except DenocError:
        raise OtherError from None
    _refuse_what_is_read_elsewhere(system, whole)
    own = bodies_without_dry_friction(whole.tree.bodies)
    tied = ties_of_mechanism(whole), whole.couplings
    model = Model(
        inertias_moved_towards_base(own), whole.gravity, *tied, dry_friction_of_system(system, whole.tree.bodies)
    )
    made = Numbers(model, own, system.loops.length)
    nodes: dict[int, Node] = {}
    codegen_structure_with_scalars(made, lambda x: nodes.setdefault(x.id, x))
    computed = [x for x in nodes.values() if x.op != CONSTANT]
    file = codegen_draft_with_arguments(robot).file
    for path in columns:
        file = codegen_file_part_with_value(file, path, "a number")
    offer = Offer(
        lambda: recording.program(numbers=computed),
        [len(columns)],
        [len(computed)],
        lambda: ("numbers", repr(file), repr(list(columns))),
        QUICK,
    )
    code = offer.kernel(cached=False)
    if code is None:
        raise OtherError
    (values,), _, _ = code(np.column_stack(list(columns.values())))
    plain &= (abs(values) < LARGE).all(axis=1)
    arrays = dict(zip((x.id for x in computed), np.ascontiguousarray(np.where(plain[:, None], values, 1.0).T)))
    filled: Numbers = codegen_structure_with_scalars(made, lambda x: x.value if x.op == CONSTANT else arrays[x.id])
    return filled


def _refuse_what_is_read_elsewhere(system: System, whole: Robot) -> None:
    """Leave numbers to the reader of one file that lead into anything but bodies, ties and couplings."""
    starts = [*whole.q0, *(x for joint in whole.moving for x in joint.initial)]
    seats = [seat for _, seat in whole.tree.seats.values()]
    turns = [angle for seat in seats for _, angle in seat.turns]
    acting = [x for wrench in whole.wrenches for x in (*wrench.wrench, *wrench.at)]
    acting += [x for one in whole.actuators for x in one.at]
    if whole.wrenches or whole.actuators or system.inputs.wrenches:  # these act on links, wherever links sit
        acting += [x for seat in seats for x in seat.origin] + turns
    if system.loops.m:  # the wrenches in cuts are turned with links
        frames = [frame for one in ties_of_mechanism(whole) for frame in one.frames]
        acting += turns + [angle for frame in frames for _, angle in frame.turns]
    if any(isinstance(x, Node) for x in (*starts, *acting)):
        raise OtherError


# ---- mechanisms


def varied_run_with_partition(plan: Plan, base: Plan) -> Runner:
    """A run of the plan in the coordinates that the scenario, `base`, has without variations."""
    system = plan.system
    if not _starts_plainly(system):
        raise OtherError
    try:
        part = discrete_partition(runner_with_feedforward(base.system, base.q0).discrete)
    except (DenocError, AssertionError):
        raise OtherError from None
    if len(part.rows) + len(part.given) + len(part.N) != system.robot.nv or len(part.order) != system.robot.nv:
        raise OtherError
    run = runner_with_feedforward(system, plan.q0)
    run.discrete = replace(run.discrete, partition=part)
    return run


def _starts_plainly(system: System) -> bool:
    """Whether only the loops, and what is given under `initial` and `rates`, decide where a run starts."""
    inputs, loops = system.inputs, system.loops
    led = any(one.reference is not None for one in inputs.driven)
    follows = inputs.prescribed or inputs.commanded or inputs.feedforward or inputs.drives or inputs.sampled or led
    special = any(loop.doubled for loop in loops.robot.loops) or system.robot.rolls
    special |= any(joint.placed and not joint.actuated for joint in loops.robot.moving)
    return not (follows or special or system.method.scaled or system.method.basis != "independent")


def start_depends_on_inertia(plan: Plan) -> bool:
    """Whether rods may spin idly from the start, by themselves: they then begin without momentum about their axes."""
    loops = plan.system.loops
    if not loops.m or not any(plan.qd0):
        return False
    S = np.eye(loops.robot.nv)[list(loops.robot.driven)].reshape(-1, loops.robot.nv)
    return bool(idle_spins(loops, loops.jacobian(np.array(plan.q0))[0], S.T).shape[1])


def start_varied_runs(
    plan: Plan, base: Plan, run: Runner, numbers: Numbers, q: np.ndarray, qd: np.ndarray, plain: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Numbers]:
    """Coordinates and speeds that fit the loops, the inverse bounds of pivots, and the numbers with lengths.

    q and qd are what the files give. Runs that would start otherwise aren't `plain`.
    """
    system, part = plan.system, discrete_partition(run.discrete)
    loops, regrouped = system.loops, numbers.regrouped
    alike = Alike(loops, Measures(numbers.bodies, regrouped.ties, regrouped.couplings), len(q))
    named = [k for name in plan.file.initial for k in plan.robot.joint(name).speeds]
    q, closed = alike.closed(q, named or list(loops.robot.driven))
    plain &= closed
    _, J = alike.near(q, np.arange(len(q)))
    J = np.where(plain[:, None, None], J, loops.scaled(loops.jacobian(np.array(plan.q0))[0]))
    plain &= alike.suits(part, preferred_speeds_at_start(system, part), J)
    if plan.file.rates:
        qd = _speeds(plan, base, alike, J, qd, plain)
    varies = any(isinstance(x, np.ndarray) for x in numbers.arrays().values())
    return (
        q,
        qd,
        pivot_limit_signals(alike.pivots(part, J), run.discrete.near),
        (
            numbers._replace(length=alike.length.copy()) if varies else numbers  # type: ignore[arg-type]
        ),
    )


def _speeds(plan: Plan, base: Plan, alike: Alike, J: np.ndarray, qd: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """The speeds that keep the loops closed; those that are named under `rates` are as given."""
    loops = base.system.loops
    joints = [plan.robot.joint(name) for name in plan.file.rates]
    own, _ = loops.jacobian(np.array(base.q0))
    named = [k for joint in joints for k in joint.speeds]
    S = np.eye(loops.robot.nv)[list({*named, *loops.robot.driven})].reshape(-1, loops.robot.nv)
    if any(joint.type.nv > 1 for joint in joints) or idle_spins(loops, own, S.T).shape[1]:
        raise OtherError
    rest = [k for k in range(loops.robot.nv) if k not in named]
    groups = [rest, *([k] for k in reversed(named))]
    rows = sorted(independent_constraint_rows(loops.scaled(own), loops.row_groups()))
    dependent = sorted(independent_constraint_rows(loops.scaled(own)[rows].T, groups))
    plain &= _same(independent_constraint_rows_of_many(J, loops.row_groups()), rows)
    plain &= _same(independent_constraint_rows_of_many(J[:, rows].transpose(0, 2, 1), groups), dependent)
    if set(dependent) & set(named) or len(dependent) != len(rows):
        raise OtherError
    speeds = qd / alike.column_scale
    speeds[:, dependent] = 0.0
    square = np.where(plain[:, None, None], J[:, rows][:, :, dependent], np.eye(len(rows)))
    right = -(J[:, rows] @ speeds[:, :, None])
    speeds[:, dependent] = np.linalg.solve(square, right)[:, :, 0]
    return speeds * alike.column_scale


def _same(picks: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """Whether each row of picks has these places, in any order."""
    if picks.shape[1] < len(places):
        return np.zeros(len(picks), dtype=bool)
    found = np.sort(picks, axis=1)[:, picks.shape[1] - len(places) :]
    same: np.ndarray = (found == np.array(places, dtype=int)).all(axis=1) & ((picks >= 0).sum(axis=1) == len(places))
    return same
