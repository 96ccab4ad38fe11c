"""What rows of runs side by side have besides an evaluation, as text: closed states, energies, forces in the loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..machine.program import Scalar
from ..mechanics.mechanisms import multipliers_of_constraints, wrenches_exerted_by_ties
from ..mechanics.quantities import energies
from ..mechanics.tree import sweep_tree
from ..robot import Body
from .equations import Evaluation
from .recorded import (
    closed_state_of_row,
    held_speeds_with_supports,
    quantities_of_watches,
    run_equations_close_state,
    width_of_watched_quantities,
)
from .situation import situation_of_state
from .systems.discrete import Discrete, discrete_partition
from .systems.system import Model, System, constraints_with_numbers


def quantities_beside_state(
    system: System,
    discrete: Discrete,
    signals: Sequence[Scalar],
    y: Sequence[Scalar],
    now: Evaluation,
    model: Model,
    bodies: tuple[Body, ...],
    length: Scalar,
) -> dict[str, list[Scalar]]:
    """The energies and what watches read; for mechanisms, the closed state and what holds the loops.

    The `bodies` have inertias of their own, those of the `model` are regrouped; `length` is that of a mechanism.
    """
    robot = replace(system.robot, gravity=model.gravity, tree=replace(system.robot.tree, bodies=bodies), vouched=True)
    groups = {"energy": list(energies(robot, now.q, now.qd))}
    if system.loops.m:
        groups |= _of_loops(system, discrete, signals, y, now, model, length)
    holding = [now.support[k] for k in held_speeds_with_supports(system, discrete)]
    return {**groups, "quantities": quantities_of_watches(system, discrete, signals, y, holding, model)}


def _of_loops(
    system: System,
    discrete: Discrete,
    signals: Sequence[Scalar],
    y: Sequence[Scalar],
    now: Evaluation,
    model: Model,
    length: Scalar,
) -> dict[str, list[Scalar]]:
    """The closed state with what is left open, the rows' gaps and multipliers, and the wrenches in the cuts."""
    here = situation_of_state(system, signals, [*y, 0.0, 0.0], discrete, model)
    robot = replace(
        system.robot, gravity=model.gravity, tree=replace(system.robot.tree, bodies=model.bodies), vouched=True
    )
    loops = constraints_with_numbers(system.loops, model)
    loops.robot = robot
    loops.row_sizes = [1.0 if turning else 1.0 / length for turning in loops.turning]
    tied, everything = loops.ties_at(now.q), [True] * robot.nv
    motion = now.q, now.qd, now.qdd
    needed, _ = sweep_tree(model.bodies, model.gravity, *motion, everything, here.wrenches, here.loads)
    left = [x - force - held for x, force, held in zip(needed, now.tau, now.resistance)]
    sizes, _ = multipliers_of_constraints(loops, discrete_partition(discrete), now.q, left)
    _, across = wrenches_exerted_by_ties(loops, now.q, tied, [], sizes)
    return {
        "settled": closed_state_of_row(system, [*now.q, *now.qd], here.values, loops)
        if run_equations_close_state(system)
        else [],
        "gaps": [x - here.values.get(r, 0.0) for r, x in enumerate(loops.gaps(now.q, tied))],
        "multipliers": sizes,
        "cuts": [x for six in across[: len(robot.loops)] for x in six],
    }


def widths_beside_state(system: System, discrete: Discrete) -> dict[str, int]:
    """The widths of these groups, in their order."""
    watched = width_of_watched_quantities(system, discrete)
    if not system.loops.m:
        return {"energy": 3, "quantities": watched}
    m, state = system.loops.m, system.measured + 1 if run_equations_close_state(system) else 0
    of_loops = {"settled": state, "gaps": m, "multipliers": m, "cuts": 6 * len(system.robot.loops)}
    return {"energy": 3, **of_loops, "quantities": watched}
