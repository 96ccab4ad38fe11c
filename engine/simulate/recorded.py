"""A system's equations recorded as programs: for one evaluation, for rows, for their derivatives, for the time loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..machine.program import Dual, Node, Program, Recording, Scalar, dual_derivative, with_doubts
from ..mechanics.closure import Closure
from ..mechanics.numbers import planted_bodies
from ..mechanics.tree import dot
from .equations import Evaluation, evaluate_equations, state_rates
from .integrators.events import Source
from .situation import situation_of_state
from .systems.discrete import Discrete
from .systems.system import Model, System

Record = Callable[[Recording, Model, System, Discrete, int], Program]


def run_equations_program(
    recording: Recording, numbers: Model, system: System, discrete: Discrete, signals: int
) -> Program:
    """The recorded equations, with outputs `rate` (y'), `row` (the rest of an evaluation) and perhaps a `guard`."""
    u, y, model = _inputs(recording, numbers, system, signals)
    return recording.program(**run_equations_outputs(system, discrete, u, y, model)[1])


def _inputs(recording: Recording, numbers: Model, system: System, signals: int) -> tuple[list[Node], list[Node], Model]:
    """Symbols for signals and for the state, and the model with those of the signals that are numbers of it."""
    u, y = recording.input("u", signals), recording.input("y", system.measured)
    symbols = system.symbols or ()
    return u, y, planted_bodies(numbers, dict(zip(symbols, u[signals - len(symbols) :])))


def run_equations_outputs(
    system: System, discrete: Discrete, signals: Sequence[Scalar], y: Sequence[Scalar], model: Model
) -> tuple[Evaluation, dict[str, list[Scalar]]]:
    """An evaluation of the equations, and its numbers in the groups of a program's outputs."""
    now = evaluate_equations(system, signals, [*y, 0.0, 0.0], discrete, model)
    guard = {} if now.guard is None else {"guard": [now.guard]}
    row = [
        *now.q,
        *now.qd,
        *now.qdd,
        *now.tau,
        *now.resistance,
        *(now.support[k] for k in held_speeds_with_supports(system, discrete)),
    ]
    return now, {"rate": with_doubts(state_rates(system, now)), "row": row, **guard}


def state_rate_tangents(
    system: System, discrete: Discrete, signals: Sequence[Scalar], y: Sequence[Scalar], model: Model
) -> list[Scalar]:
    """The derivatives of the state's rate along the components of the state, row by row.

    A mechanism's are those of its closed motions, for its equations close positions and speeds themselves.
    """
    moved = [Dual(x, {k: 1.0}) for k, x in enumerate(y)]
    rate = state_rates(system, evaluate_equations(system, signals, [*moved, 0.0, 0.0], discrete, model))
    return [dual_derivative(x, k) for x in rate for k in range(len(y))]


def state_rate_tangents_program(
    recording: Recording, numbers: Model, system: System, discrete: Discrete, signals: int
) -> Program:
    """The recorded derivatives of the state's rate."""
    u, y, model = _inputs(recording, numbers, system, signals)
    return recording.program(slopes=state_rate_tangents(system, discrete, u, y, model))


def time_loop_program(
    recording: Recording, numbers: Model, system: System, discrete: Discrete, signals: int
) -> Program:
    """The recorded equations as the time loop needs them.

    Outputs are `rate`, `guard`, the `quantities` watched for events, and for rows the `closed` states.
    """
    whole = run_equations_program(recording, numbers, system, discrete, signals)
    outputs = {name: nodes for name, nodes in whole.outputs.items() if name != "row"}
    row, node, u, y = whole.outputs["row"], whole.graph.node, whole.inputs["u"], whole.inputs["y"]
    holding = row[len(row) - len(held_speeds_with_supports(system, discrete)) :]
    quantities = quantities_of_watches(system, discrete, u, y, holding)
    if run_equations_close_state(system):
        values = situation_of_state(system, u, [*y, 0.0, 0.0], discrete).values
        outputs["closed"] = [node(x) for x in closed_state_of_row(system, row, values, system.loops)]
    return replace(whole, outputs={**outputs, "quantities": [node(x) for x in quantities]})


def quantities_of_watches(
    system: System,
    discrete: Discrete,
    signals: Sequence[Scalar],
    y: Sequence[Scalar],
    holding: Sequence[Any],
    model: Model | None = None,
) -> list[Any]:
    """What watches read besides the state: what holds joints, and what bounded actuators are asked for.

    The quantities `holding` joints are the supports of held speeds that bear.
    """
    demanded = situation_of_state(system, signals, [*y, 0.0, 0.0], discrete, model).demanded
    return [*holding, *(demanded[k] for k in system.bounded)]


def width_of_watched_quantities(system: System, discrete: Discrete) -> int:
    """The number of quantities besides the state that watches may read in this discrete state."""
    return len(held_speeds_with_supports(system, discrete)) + len(system.bounded)


def run_equations_close_state(system: System) -> bool:
    """Whether the equations close a state in positions and speeds before they use it."""
    return system.method.closes and system.method.speeds == "independent"


def closed_state_of_row(
    system: System, row: Sequence[Scalar], values: Mapping[int, Scalar], loops: Closure
) -> list[Scalar]:
    """The closed state of an output `row`, and the sum of squares of the gaps that are left."""
    nq = system.robot.nq
    left = [x - values.get(r, 0.0) for r, x in enumerate(loops.gaps(row[:nq]))]
    scaled = [s * x for s, x in zip(loops.row_sizes, left)]
    places = [*system.state_coordinates, *(nq + k for k in system.state_speeds)]
    return [*(row[k] for k in places), dot(scaled, scaled)]


def place_of_watched_quantity(system: System, discrete: Discrete, source: Source) -> int:
    """The place of what a watch's rule reads, among the components of the state and the outputs `watched`."""
    what, which = source
    if what == "state":
        return which
    bearers, first = held_speeds_with_supports(system, discrete), system.measured + 2
    if what == "support":
        return first + bearers.index(which)
    return first + len(bearers) + [*system.bounded].index(which)


def run_rows_program(recording: Recording, numbers: Model, system: System, discrete: Discrete, signals: int) -> Program:
    """The recorded equations with the output `row` alone, for many rows at once."""
    whole = run_equations_program(recording, numbers, system, discrete, signals)
    return replace(whole, outputs={"row": whole.outputs["row"]})


def held_speeds_with_supports(system: System, discrete: Discrete) -> list[int]:
    """Held speeds whose supports the equations find, which are the last quantities in an output `row`."""
    part = discrete.partition
    return [k for k in discrete.supported if part is None or k in part.given]


def fixed_identity_of_run_equations(system: System) -> tuple[str, ...]:
    """What the recorded equations depend on besides the discrete state, as strings for the key of the cache."""
    if system.symbols is None:
        return repr(system.model), repr(system.structure())
    numbers = planted_bodies(system.regrouped, dict.fromkeys(system.symbols, "a number"))
    return repr(numbers), repr(system.symbols), repr(system.structure())
