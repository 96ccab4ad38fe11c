"""From a scenario file and a robot to a plan: everything resolved, checked and ready to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..closure.closure import Closure
from ..files.source import Document
from ..robot.model import Robot
from ..simulate.closed import ClosedPlant
from ..simulate.integrate import METHODS
from ..simulate.loop import Solver
from ..simulate.plant import Plant
from .read import forces, initial, loops, motion, record, solver, time, wrenches
from .read.drives import Drives
from .read.reading import Reading
from .schema import RecordEntry, ScenarioFile


@dataclass(frozen=True)
class Plan:
    """A run, resolved."""

    name: str
    about: str
    robot: Robot
    task: str
    grid: np.ndarray
    plant: Plant
    q0: tuple[float, ...]
    qd0: tuple[float, ...]
    solver: Solver
    kinks: tuple[float, ...]
    record: RecordEntry
    points: tuple[tuple[str, str], ...]
    plots: tuple[str, ...]
    expect: str
    file: ScenarioFile


def plan(document: Document, robot: Robot, name: str) -> Plan:
    """The plan of a scenario for a robot; refuses what can't be run before anything is computed."""
    reading = Reading(document, robot)
    file, name = reading.file, _name(reading, name)
    drives = Drives(reading)
    constraints = loops.constraints(reading, drives)
    grid = time.grid(reading)
    q0, qd0 = initial.coordinates(reading), initial.speeds(reading)
    motions = motion.motions(reading)
    given = forces.forces(reading, motions)
    laws: list[solver.Law] = [*motions.values(), *given.values()]
    references = {joint.name: motion.reference(reading, joint, *law, q0) for joint, law in motions.items()}
    followed = {joint.name for joint, (law, _) in given.items() if law.follows_motion()}
    prescribed = [reference for joint, reference in references.items() if joint not in followed]
    start = loops.Start(q0, qd0, prescribed, [])
    if constraints is not None:
        start = loops.closed(reading, constraints, drives, start, motions, references)
    efforts = forces.efforts(reading, given, references)
    plant = _plant(
        reading,
        constraints,
        start,
        prescribed=start.prescribed,
        driven=efforts.driven,
        commanded=efforts.commanded,
        feedforward=efforts.feedforward,
        wrenches=wrenches.wrenches(reading),
    )
    initial.within_limits(reading, plant, start.q0)
    if isinstance(plant, ClosedPlant):
        plant.begin(np.array(start.q0))
    if plant.free and METHODS[file.solver.method].adaptive:
        solver.countable(reading, laws)
    return Plan(
        name=name,
        about=file.about,
        robot=robot,
        task=file.task,
        grid=grid,
        plant=plant,
        q0=tuple(start.q0),
        qd0=tuple(start.qd0),
        solver=solver.solver(reading, grid, laws),
        kinks=tuple(kink for law, _ in motions.values() for kink in law.kinks(*reading.span)),
        record=file.record,
        points=record.points(reading),
        plots=tuple(file.plots),
        expect=file.expect,
        file=file,
    )


def _name(reading: Reading, name: str) -> str:
    """The scenario's name: its own, else that of its file."""
    name = reading.file.name or name
    if not name.strip("."):
        raise reading.error(
            (), "the file's name makes none for its results", found=f"`{name}`", hint="give it a `name`"
        )
    return name


def _plant(reading: Reading, constraints: Closure | None, start: loops.Start, **laws: Any) -> Plant:
    """The robot with everything that acts on it and moves it."""
    entry = reading.file.solver
    smooth = float(entry.friction_rate) if entry.friction == "smooth" else 0.0
    if constraints is None:
        return Plant(reading.robot, smooth=smooth, stops=entry.limits == "stop", **laws)
    return ClosedPlant(
        reading.robot,
        constraints,
        method=reading.file.closure.method,
        parameters=loops.parameters(reading),
        preferred=loops.preferred(reading),
        drives=start.driving,
        switches=entry.at_singularity == "switch",
        smooth=smooth or float(entry.friction_rate),  # a joint of a loop that sticks would be one more cut
        **laws,
    )
