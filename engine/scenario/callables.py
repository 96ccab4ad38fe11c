"""Forces of a run by functions of Python's, in the places of force laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ..errors import InputError, did_you_mean
from ..robot import Effort
from ..simulate.called import Called, CalledForce, Caller, Held
from ..simulate.inputs import Driven
from ..simulate.integrate import INTEGRATORS
from .plan import Plan
from .read.formulas import formula_column_places, no_force_of_formula

When = Literal["stage", "step"]


def plan_with_python_forces(plan: Plan, forces: Mapping[str, Called], when: When) -> Plan:
    """The plan with the forces of these functions, called at each stage, or once at the beginning of each step."""
    _refuse(plan, when)
    inputs, driven, sampled = plan.system.inputs, list(plan.system.inputs.driven), list(plan.system.inputs.sampled)
    for name, function in forces.items():
        places, effort = _driven(plan, name, function)
        caller = Caller(name, function, len(places), *formula_column_places(plan.robot))
        low, high = effort.low, effort.high
        if when == "step":
            held = Held(caller, low, high, [0.0] * len(places))
            sampled.append(held)
            driven += [Driven(k, None, held.along(n), None, n, timed=True) for n, k in enumerate(places)]
        else:
            driven += [
                Driven(k, None, no_force_of_formula, None, n, low=low, high=high, whole=CalledForce(caller, n))
                for n, k in enumerate(places)
            ]
    system = replace(plan.system, inputs=replace(inputs, driven=tuple(driven), sampled=tuple(sampled)))
    words = f"forces by functions of Python's, of which the record has no more than the results: {', '.join(forces)}"
    return replace(plan, system=system, warnings=(*plan.warnings, words))


def _refuse(plan: Plan, when: When) -> None:
    """Raises an error where functions can't be called in the way that is asked for."""
    if when not in ("stage", "step"):
        raise InputError("not a time to call functions at", key="when", found=str(when), allowed="stage, step")
    method = plan.solver.method
    if when == "step" and INTEGRATORS[method].adaptive:
        fixed = [name for name, one in INTEGRATORS.items() if not one.adaptive]
        raise InputError(
            f"`{method}` chooses its steps itself, so once a step is nothing that a controller could rely on",
            key="solver.method",
            allowed=", ".join(fixed),
            hint="solver: {method: rk4, step: 1 ms}",
        )


def _driven(plan: Plan, name: str, function: Called) -> tuple[Sequence[int], Effort]:
    """The places (`Driven.speed`) of what a function drives, a joint or an actuator that is no joint's, and its limits.

    Nothing else may drive or move it.
    """
    robot, inputs = plan.robot, plan.system.inputs
    others = [one.name for one in robot.actuators]
    if name not in robot.joints and name not in others:
        known = [*robot.joints, *others]
        raise InputError(
            f"{robot.name} has no joint `{name}`",
            key="forces",
            allowed=", ".join(known),
            hint=did_you_mean(name, known),
        )
    if not callable(function):
        raise InputError(f"the force of `{name}` is no function", key="forces", allowed="f(t, state) → force")
    joint = robot.joint(name) if name in robot.joints else None
    places = joint.speeds if joint is not None else (robot.nv + others.index(name),)
    ruled = [one.joint.name for one in (*inputs.prescribed, *inputs.commanded, *inputs.feedforward)]
    if name in ruled or any(one.speed in places for one in inputs.driven):
        raise InputError(
            f"`{name}` has an entry in the scenario already, under `motion` or `forces`", key="forces", found=name
        )
    if plan.task == "inverse" and (joint is None or joint.actuated):
        raise InputError(
            f"in inverse dynamics the force of `{name}` is sought", key="forces", allowed="joints without an actuator"
        )
    if joint is None:
        return places, robot.actuators[places[0] - robot.nv].effort
    return places, joint.effort if joint.actuated else Effort()
