"""From a scenario file and a robot to a plan: everything resolved, checked and ready to run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..laws import Spline
from ..mechanics.closure import METHODS, Closure
from ..record import Drawing
from ..robot import Robot
from ..simulate import Solver
from ..simulate.integrators import INTEGRATORS
from ..simulate.systems import Inputs, Reference, System
from ..simulate.systems.memory import joined_instants, memory_for_laws
from ..text import Document
from .column_names import columns_by_record_keys, foreseen_column_names
from .read import (
    Drives,
    Forces,
    Laws,
    Motions,
    PlacedLaw,
    Reading,
    Start,
    actuators_driven_by_laws,
    blows_at_start,
    breaks_of_scenario_tables,
    dead_time_kinks_of_scenario,
    doubts_about_scenario_angles,
    doubts_about_scenario_dead_times,
    doubts_about_scenario_tables,
    doubts_about_unused_scenario_entries,
    read_actuator_laws,
    read_constraints_of_scenario,
    read_force_laws,
    read_force_section,
    read_initial_coordinates,
    read_initial_speeds,
    read_motion_laws,
    read_motion_of_joint,
    read_preferred_speeds,
    read_record_formulas,
    read_record_plots,
    read_record_points,
    read_scenario_wrenches,
    read_solver_section,
    read_time_grid,
    refuse_contradictory_initial_entries,
    refuse_start_beyond_stops,
    scenario_law_swings_are_countable,
)
from .schema import RecordEntry, ScenarioFile
from .tabulate import FormulaColumn

Asked = tuple[tuple[float, ...], tuple[float, ...]]  # coordinates and speeds


@dataclass(frozen=True)
class Plan:
    """A scenario and a robot, read, checked and ready to run."""

    name: str
    about: str
    robot: Robot
    task: str
    grid: np.ndarray
    system: System
    q0: tuple[float, ...]
    qd0: tuple[float, ...]
    solver: Solver
    kinks: tuple[float, ...]
    record: RecordEntry
    points: tuple[tuple[str, str], ...]
    formulas: tuple[FormulaColumn, ...]
    plots: tuple[Drawing, ...]
    expect: str
    file: ScenarioFile
    warnings: tuple[str, ...] = ()
    asked: Asked = ((), ())  # the start that the files give, with open loops


class _Laws(NamedTuple):
    """The laws of a scenario: by joint those of motions and forces, and by name those of further actuators."""

    motions: Motions
    forces: Forces
    actuators: Laws

    @property
    def all(self) -> list[PlacedLaw]:
        return [*self.motions.values(), *self.forces.values(), *self.actuators.values()]


def plan_of_scenario(document: Document, robot: Robot, name: str) -> Plan:
    """The plan of a scenario for a robot; what can't be run is refused here, before anything is computed."""
    reading = Reading(document, robot)
    file, name = reading.file, _name(reading, name)
    drives = Drives(reading)
    constraints = read_constraints_of_scenario(reading, drives)
    grid = read_time_grid(reading)
    q0, qd0 = read_initial_coordinates(reading), read_initial_speeds(reading)
    asked = tuple(q0), tuple(qd0)
    motions = read_motion_laws(reading)
    laws = _Laws(motions, read_force_section(reading, motions), read_actuator_laws(reading))
    start, inputs = _start_with_inputs(reading, constraints, drives, asked, laws)
    system = _system(reading, constraints, inputs)
    if system.switching:
        from ..simulate.systems import carried_speeds

        if carried := carried_speeds(system, start.q0):
            system = replace(system, carried=carried)
    if not constraints.m:  # a mechanism's start has been compared with all that is given
        refuse_contradictory_initial_entries(reading, inputs.prescribed)
    refuse_start_beyond_stops(reading, system, start.q0)
    steps = read_solver_section(reading, grid, laws.all)
    # the ends of prescribed motions' tables, at which a rate may jump
    curves = [curve for one in inputs.prescribed if isinstance(one, Reference) for curve in one.curves]
    curves += [drive.curve for drive in inputs.drives]
    breaks = [end for curve in curves if isinstance(curve, Spline) for end in curve.ends]
    kinks = [*(kink for law, _ in motions.values() for kink in law.kinks(*reading.span)), *breaks]
    late = dead_time_kinks_of_scenario(reading, laws.all, steps.step, kinks)
    if system.free and INTEGRATORS[file.solver.method].adaptive:
        scenario_law_swings_are_countable(reading, laws.all)
    points = read_record_points(reading)
    known: list[str] = []
    others = partial(columns_by_record_keys, system, start.q0, file.record)
    if file.record.expressions or any(not isinstance(entry, str) for entry in file.plots):
        known = foreseen_column_names(system, start.q0, file.record, points)
    return Plan(
        name=name,
        about=file.about,
        robot=robot,
        task=file.task,
        grid=grid,
        system=system,
        q0=tuple(start.q0),
        qd0=tuple(start.qd0),
        solver=steps,
        kinks=(*kinks, *joined_instants(late, [*grid, *kinks])),
        record=file.record,
        points=points,
        formulas=read_record_formulas(reading, known, others),
        plots=read_record_plots(reading, known, others),
        expect=file.expect,
        file=file,
        warnings=(*start.warnings, *_doubts(reading, system, start, laws)),
        asked=asked,
    )


def _start_with_inputs(
    reading: Reading, constraints: Closure, drives: Drives, asked: Asked, laws: _Laws
) -> tuple[Start, Inputs]:
    """The start with all loops closed, from the one that the files give, and all that acts and moves from there on."""
    references = {
        joint.name: read_motion_of_joint(reading, joint, *law, asked[0]) for joint, law in laws.motions.items()
    }
    followed = {joint.name for joint, (law, _) in laws.forces.items() if law.follows_motion()}
    prescribed = [reference for joint, reference in references.items() if joint not in followed]
    start = Start(list(asked[0]), list(asked[1]), prescribed, [])
    if constraints.m:
        from .read import read_closed_start

        start = read_closed_start(reading, constraints, drives, start, laws.motions, laws.forces, references)
    efforts = read_force_laws(reading, laws.forces, references)
    driven = [*efforts.driven, *actuators_driven_by_laws(reading, laws.actuators)]
    return start, Inputs(
        prescribed=tuple(start.prescribed),
        driven=tuple(driven),
        memory=memory_for_laws(driven, lambda one: one.speed >= reading.robot.nv),
        commanded=tuple(efforts.commanded),
        feedforward=tuple(efforts.feedforward),
        wrenches=tuple(read_scenario_wrenches(reading)),
        drives=tuple(start.driving),
        breaks=breaks_of_scenario_tables(reading, laws.all),
    )


def _doubts(reading: Reading, system: System, start: Start, laws: _Laws) -> Iterator[str]:
    """The warnings of values that are hardly meant, and of entries that nothing reads."""
    yield from blows_at_start(system, start.q0, start.qd0)
    yield from doubts_about_scenario_tables(reading, laws.all)
    yield from doubts_about_scenario_dead_times(reading, laws.all)
    yield from doubts_about_scenario_angles(reading, [*laws.motions.items(), *laws.forces.items()])
    yield from doubts_about_unused_scenario_entries(reading, system, start.q0, [path for _, path in laws.all])


def _name(reading: Reading, name: str) -> str:
    """The scenario's own name, or else that of its file."""
    name = reading.file.name or name
    if not name.strip("."):
        raise reading.error(
            (), "the file's name makes none for its results", found=f"`{name}`", hint="give it a `name`"
        )
    return name


def _system(reading: Reading, constraints: Closure, inputs: Inputs) -> System:
    """The robot with everything that acts on it and moves it."""
    entry, closure = reading.file.solver, reading.file.closure
    unaware = constraints.m > 0 and METHODS[closure.method].recomputes_null_space
    chosen = read_preferred_speeds(reading)
    # a method without joint speeds in its state can't notice that a joint comes to rest
    smooth = entry.friction == "smooth" or unaware
    return System(
        reading.robot,
        constraints,
        inputs,
        closure=closure.method,
        parameters=closure.values(),
        preferred=None if chosen is None else tuple(chosen),
        switches=entry.at_singularity == "switch",
        smooth=float(entry.friction_rate) if smooth else 0.0,
        stops=entry.limits == "stop" and not unaware,
    )
