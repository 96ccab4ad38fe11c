"""From a scenario file and a robot to a plan: everything resolved, checked and ready to run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..laws.table import Spline
from ..loops.constraints import Closure
from ..loops.methods import METHODS
from ..record.drawings import Drawing
from ..robot.model import Robot
from ..simulate.inputs import Inputs
from ..simulate.integrate import INTEGRATORS
from ..simulate.memory import joined_instants, memory_for_laws
from ..simulate.reference import Reference
from ..simulate.system import System
from ..simulate.trace import Solver
from ..text.document import Document
from .foreseen import foreseen_column_names
from .formula_columns import FormulaColumn
from .outputs import RecordEntry
from .read import (
    actuators,
    dead_time,
    forces,
    initial,
    loops,
    motion,
    plausible,
    record,
    solver,
    tables,
    time,
    unused,
    wrenches,
)
from .read.drives import Drives
from .read.reading import Reading
from .schema import ScenarioFile


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
    asked: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())  # the start that the files give, with open loops


def plan_of_scenario(document: Document, robot: Robot, name: str) -> Plan:
    """The plan of a scenario for a robot; what can't be run is refused here, before anything is computed."""
    reading = Reading(document, robot)
    file, name = reading.file, _name(reading, name)
    drives = Drives(reading)
    constraints = loops.read_constraints_of_scenario(reading, drives)
    grid = time.read_time_grid(reading)
    q0, qd0 = initial.read_initial_coordinates(reading), initial.read_initial_speeds(reading)
    motions = motion.read_motion_laws(reading)
    given = forces.read_force_section(reading, motions)
    own = actuators.read_actuator_laws(reading)
    laws: list[solver.Law] = [*motions.values(), *given.values(), *own.values()]
    references = {joint.name: motion.read_motion_of_joint(reading, joint, *law, q0) for joint, law in motions.items()}
    followed = {joint.name for joint, (law, _) in given.items() if law.follows_motion()}
    prescribed = [reference for joint, reference in references.items() if joint not in followed]
    start, asked = loops.Start(q0, qd0, prescribed, []), (tuple(q0), tuple(qd0))
    if constraints is not None:
        start = loops.read_closed_start(reading, constraints, drives, start, motions, given, references)
    efforts = forces.read_force_laws(reading, given, references)
    given_forces = [*efforts.driven, *actuators.actuators_driven_by_laws(reading, own)]
    inputs = Inputs(
        prescribed=tuple(start.prescribed),
        driven=tuple(given_forces),
        memory=memory_for_laws(given_forces, lambda one: one.speed >= robot.nv),
        commanded=tuple(efforts.commanded),
        feedforward=tuple(efforts.feedforward),
        wrenches=tuple(wrenches.read_scenario_wrenches(reading)),
        drives=tuple(start.driving),
        breaks=tables.breaks_of_scenario_tables(reading, laws),
    )
    system = _system(reading, constraints, inputs)
    if constraints is None:  # a mechanism's start has been compared with all that is given
        initial.refuse_contradictory_initial_entries(reading, inputs.prescribed)
    initial.refuse_start_beyond_stops(reading, system, start.q0)
    steps = solver.read_solver_section(reading, grid, laws)
    kinks = [*(kink for law, _ in motions.values() for kink in law.kinks(*reading.span)), *_breaks(inputs)]
    kinks += joined_instants(dead_time.dead_time_kinks_of_scenario(reading, laws, steps.step, kinks), [*grid, *kinks])
    if system.free and INTEGRATORS[file.solver.method].adaptive:
        solver.scenario_law_swings_are_countable(reading, laws)
    points = record.read_record_points(reading)
    known: list[str] = []
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
        kinks=tuple(kinks),
        record=file.record,
        points=points,
        formulas=record.read_record_formulas(reading, known),
        plots=record.read_record_plots(reading, known),
        expect=file.expect,
        file=file,
        warnings=(
            *start.warnings,
            *tables.doubts_about_scenario_tables(reading, laws),
            *dead_time.doubts_about_scenario_dead_times(reading, laws),
            *plausible.doubts_about_scenario_angles(reading, [*motions.items(), *given.items()]),
            *unused.doubts_about_unused_scenario_entries(reading, system, start.q0, [path for _, path in laws]),
        ),
        asked=asked,
    )


def _name(reading: Reading, name: str) -> str:
    """The scenario's own name, or else that of its file."""
    name = reading.file.name or name
    if not name.strip("."):
        raise reading.error(
            (), "the file's name makes none for its results", found=f"`{name}`", hint="give it a `name`"
        )
    return name


def _system(reading: Reading, constraints: Closure | None, inputs: Inputs) -> System:
    """The robot with everything that acts on it and moves it."""
    entry, method = reading.file.solver, METHODS[reading.file.closure.method]
    chosen = loops.read_preferred_speeds(reading)
    # a method without joint speeds in its state can't notice that a joint comes to rest
    smooth = entry.friction == "smooth" or (constraints is not None and method.afresh)
    return System(
        reading.robot,
        inputs,
        constraints,
        closure=reading.file.closure.method,
        parameters=reading.file.closure.values(),
        preferred=None if chosen is None else tuple(chosen),
        switches=entry.at_singularity == "switch",
        smooth=float(entry.friction_rate) if smooth else 0.0,
        stops=entry.limits == "stop" and not (constraints is not None and method.afresh),
    )


def _breaks(inputs: Inputs) -> list[float]:
    """The ends of prescribed motions' tables, at which a rate may jump."""
    curves = [curve for one in inputs.prescribed if isinstance(one, Reference) for curve in one.curves]
    curves += [drive.curve for drive in inputs.drives]
    return [end for curve in curves if isinstance(curve, Spline) for end in curve.ends]
