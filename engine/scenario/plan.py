"""From a scenario file and a robot to a plan: everything resolved, checked and ready to run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import did_you_mean
from ..files.expression import DIMENSIONS, Quantity
from ..files.fields import Numbers, checked
from ..files.source import Document
from ..motion.forces import ComputedTorque, Feedforward, ForceLaw
from ..motion.laws import Hold, MotionLaw, Profiled, Turn
from ..robot.build import unit_parameters
from ..robot.model import Joint, Robot
from ..simulate.integrate import METHODS
from ..simulate.loop import Solver
from ..simulate.plant import Commanded, Driven, Motion, Plant, TimedWrench
from ..simulate.reference import Held, Reference, Turning
from .schema import RecordEntry, ScenarioFile

MOST_ROWS = 1_000_000
MOST_NUMBERS = 50_000_000  # rows × columns


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
    return _Planner(document, robot, name).plan()


class _Planner:
    """The steps from file to plan share the document, to say where a mistake is, and the robot."""

    def __init__(self, document: Document, robot: Robot, name: str):
        self.document, self.robot = document, robot
        self.file = checked(ScenarioFile, document, document.data)
        self.name = self.file.name or name
        self.folder = Path(document.name).parent if Path(document.name).suffix else Path()
        self.simulating = self.file.task == "simulate"

    def plan(self) -> Plan:
        file = self.file
        grid = self._grid()
        q0 = self._initial()
        motions = self._motions()
        forces = self._forces(motions)
        references: dict[str, Motion] = {}
        kinks: list[float] = []
        for joint, (law, path) in motions.items():
            references[joint.name] = self._reference(joint, law, path, q0)
            kinks += law.kinks(float(grid[0]), float(grid[-1]))
        followed = {joint.name for joint, (law, _) in forces.items() if law.follows_motion()}
        prescribed = [reference for name, reference in references.items() if name not in followed]
        driven, commanded, feedforward = self._drives(forces, references)
        solver = file.solver
        plant = Plant(
            self.robot,
            prescribed=prescribed,
            driven=driven,
            commanded=commanded,
            feedforward=feedforward,
            wrenches=self._wrenches(),
            smooth=float(solver.friction_rate) if solver.friction == "smooth" else 0.0,
            stops=solver.limits == "stop",
        )
        self._within_limits(plant, q0)
        step = float(solver.step) if solver.step is not None else None
        if not METHODS[solver.method].adaptive and step is None:
            step = float(grid[1] - grid[0])
        if step is not None and (grid[-1] - grid[0]) / step > solver.max_steps:
            raise self.document.error(
                ("solver", "step"),
                f"the run would take more than {solver.max_steps} steps",
                found=f"{(grid[-1] - grid[0]) / step:.3g} steps",
                hint="a longer step, or `max_steps` of the solver",
            )
        return Plan(
            name=self.name,
            about=file.about,
            robot=self.robot,
            task=file.task,
            grid=grid,
            plant=plant,
            q0=tuple(q0),
            qd0=tuple(self._rates()),
            solver=Solver(
                method=solver.method,
                rtol=float(solver.rtol),
                atol=float(solver.atol) if solver.atol is not None else float(solver.rtol) / 100,
                max_step=float(solver.max_step) if solver.max_step is not None else math.inf,
                step=step,
                max_steps=solver.max_steps,
            ),
            kinks=tuple(kinks),
            record=file.record,
            points=self._points(),
            plots=tuple(file.plots),
            expect=file.expect,
            file=file,
        )

    # ---- time

    def _grid(self) -> np.ndarray:
        time = self.file.time
        start, end = float(time.start), float(time.end)
        step = float(time.step) if time.step is not None else (end - start) / 200
        count = (end - start) / step
        width = 8 * max(self.robot.nv, 1)
        if not count + 1 <= min(MOST_ROWS, MOST_NUMBERS // width):
            raise self.document.error(
                ("time", "step"),
                "the run would have too many rows",
                found=f"{count + 1:.4g} rows",
                allowed=f"at most {min(MOST_ROWS, MOST_NUMBERS // width)} for this robot",
                hint="a longer `step` or a shorter time",
            )
        whole = round(count)
        if whole >= 1 and abs(count - whole) < 1e-9 * max(1.0, count):
            return np.array([start + (end - start) * k / whole for k in range(whole + 1)])
        rows = [start + step * k for k in range(int(count) + 1)]
        return np.array([*rows, end] if rows[-1] < end else rows)

    # ---- joints named in mappings

    def _joint(self, key: str, name: str, others: Iterable[str] = ()) -> Joint:
        joints = self.robot.joints
        if name not in joints:
            fixed = any(link.joint.name == name for link in self.robot.links)
            raise self.document.error(
                (key, name),
                f"the joint `{name}` is fixed" if fixed else f"{self.robot.name} has no joint `{name}`",
                key=True,
                allowed=", ".join([*others, *joints]),
                hint=did_you_mean(name, joints),
            )
        return self.robot.joint(name)

    def _each(self, key: str, entries: dict[str, Any]) -> dict[Joint, tuple[Any, tuple]]:
        """Joint → (entry, its path), in the joints' order, `all` spread over the actuated joints."""
        named = {self._joint(key, name, ("all",)).name: name for name in entries if name != "all"}
        found: dict[Joint, tuple[Any, tuple]] = {}
        for joint in self.robot.moving:
            if joint.name in named:
                found[joint] = (entries[joint.name], (key, joint.name))
            elif "all" in entries and joint.actuated:
                found[joint] = (entries["all"], (key, "all"))
        return found

    def _values(
        self, key: str, entries: dict[str, Numbers], sizes: Callable[[Joint], tuple[str, ...]]
    ) -> Iterator[tuple[Joint, list[float]]]:
        """Joint, its numbers, for `initial` and `rates`."""
        for name, value in entries.items():
            joint = self._joint(key, name)
            wanted = sizes(joint)
            values = list(value) if isinstance(value, tuple) else [value]
            if len(values) != len(wanted):
                raise self.document.error(
                    (key, name), f"`{name}` needs {len(wanted)} numbers: {', '.join(wanted)}", found=str(len(values))
                )
            yield joint, values

    def _initial(self) -> list[float]:
        q = list(self.robot.q0)
        for joint, values in self._values("initial", self.file.initial, lambda joint: joint.type.coordinates):
            path = ("initial", joint.name)
            for value, kind in zip(values, joint.type.kinds):
                self._fits(value, kind, path)
            all_zero = partial(self.document.error, path, "Euler parameters can't all be 0")
            for k, x in zip(joint.coordinates, unit_parameters([float(x) for x in values], joint.type, all_zero)):
                q[k] = x
        return q

    def _rates(self) -> list[float]:
        qd = [0.0] * self.robot.nv
        for joint, values in self._values("rates", self.file.rates, lambda joint: joint.type.speeds):
            for k, x, turning in zip(joint.speeds, values, joint.type.turning):
                self._fits(x, "rate" if turning else "speed", ("rates", joint.name))
                qd[k] = float(x)
        return qd

    def _fits(self, value: Any, kind: str, path: tuple) -> None:
        """Refuses a number whose unit is not of this kind."""
        if isinstance(value, Quantity) and any(value.dimension) and value.dimension not in DIMENSIONS[kind][0]:
            raise self.document.error(
                path, f"{DIMENSIONS[kind][1]} is needed here", found=f"{float(value):g}, another kind"
            )

    # ---- motions

    def _motions(self) -> dict[Joint, tuple[MotionLaw, tuple]]:
        motions = self._each("motion", self.file.motion)
        if self.simulating:
            return motions
        for joint in self.robot.moving:
            if joint.actuated and joint not in motions:
                motions[joint] = (Hold(law="hold"), ("motion",))
        return motions

    def _reference(self, joint: Joint, law: MotionLaw, path: tuple, q0: list[float]) -> Motion:
        """The joint's motion; `path` tells mistakes."""
        t0, t1 = float(self.file.time.start), float(self.file.time.end)
        place = tuple(q0[k] for k in joint.coordinates)
        kinks = tuple(law.kinks(t0, t1))
        if isinstance(law, Hold) and law.from_ is None:
            return Held(joint, place)
        if joint.type.orientation is not None:
            if (
                joint.type.nq != 4
                or not (isinstance(law, Profiled) and isinstance(law.to, Turn))
                or law.from_ is not None
            ):
                free = joint.type.nq != 4
                raise self.document.error(
                    path,
                    f"the {joint.type.name} joint `{joint.name}` can't follow this law",
                    allowed="hold"
                    if free
                    else "cycloid, polynomial or trapezoid with `to: {axis: […], angle: …}`, hold",
                )
            axis = np.array([float(x) for x in law.to.axis])
            axis = axis / np.linalg.norm(axis)
            share = law.share(t0, t1)
            angle = float(law.to.angle)

            def turned(t: Any) -> tuple[Any, Any, Any]:
                s, rate, second = share(t)
                return angle * s, angle * rate, angle * second

            return Turning(joint, turned, (float(axis[0]), float(axis[1]), float(axis[2])), place, kinks)
        for key in law.positions:
            value = getattr(law, key)
            if isinstance(value, Turn):
                raise self.document.error(
                    (*path, "to"),
                    f"`{joint.name}` isn't spherical, so it has no axis to turn about",
                    allowed="a position",
                )
            self._sized(value, joint.type.nq, (*path, key.rstrip("_")), joint)
            for k, kind in enumerate(joint.type.kinds):
                part = value[k] if isinstance(value, tuple) else value
                self._fits(part, kind, (*path, key.rstrip("_")))
        curves = law.curves(place, t0, t1, self.folder)
        if len(curves) != joint.type.nq:
            raise self.document.error(
                path, f"`{joint.name}` has {joint.type.nq} coordinates", found=f"{len(curves)} columns"
            )
        return Reference(joint, tuple(curves), kinks)

    def _sized(self, value: Any, count: int, path: tuple, joint: Joint) -> None:
        if isinstance(value, tuple) and len(value) != count:
            raise self.document.error(path, f"`{joint.name}` needs {count} numbers here", found=str(len(value)))

    # ---- forces

    def _forces(self, motions: dict[Joint, tuple[MotionLaw, tuple]]) -> dict[Joint, tuple[ForceLaw, tuple]]:
        """The force law of each joint that has one; takes joints whose force overrides `motion: all` out of it."""
        forces = self._each("forces", self.file.forces)
        for joint in list(forces):
            law, path = forces[joint]
            if not self.simulating and joint.actuated:
                if path[1] == "all":
                    del forces[joint]
                    continue
                raise self.document.error(
                    path,
                    f"in inverse dynamics the force of `{joint.name}` is sought",
                    allowed="joints without an actuator",
                )
            if law.follows_motion():
                if joint not in motions:
                    raise self.document.error(
                        path, f"`{joint.name}` has nothing to follow", allowed="an entry for it under `motion`"
                    )
            elif joint in motions:
                if motions[joint][1][-1] == "all" and path[-1] != "all":
                    del motions[joint]
                elif path[-1] == "all":
                    del forces[joint]
                else:
                    raise self.document.error(
                        path,
                        f"the motion of `{joint.name}` is prescribed, so its force is an output",
                        hint="keep one of the two",
                    )
        return forces

    def _drives(
        self, forces: dict[Joint, tuple[ForceLaw, tuple]], references: dict[str, Motion]
    ) -> tuple[list[Driven], list[Commanded], list[Motion]]:
        driven: list[Driven] = []
        commanded: list[Commanded] = []
        feedforward: list[Motion] = []
        for joint, (law, path) in forces.items():
            if law.reads_state() and joint.type.orientation is not None:
                raise self.document.error(
                    path,
                    f"`{joint.name}` has Euler parameters, which this law can't read",
                    allowed="zero, constant, harmonic, table",
                )
            if isinstance(law, ComputedTorque):
                commanded.append(Commanded(joint, references[joint.name], law))
                continue
            if isinstance(law, Feedforward):
                feedforward.append(references[joint.name])
                continue
            self._effort_fits(joint, law, path)
            functions = law.forces(joint.type.nv, self.folder)
            if len(functions) != joint.type.nv:
                raise self.document.error(
                    path, f"`{joint.name}` needs {joint.type.nv} forces", found=str(len(functions))
                )
            reference = references.get(joint.name) if law.follows_motion() else None
            for place, (speed, function) in enumerate(zip(joint.speeds, functions)):
                coordinate = joint.coordinates[place] if joint.type.orientation is None else None
                driven.append(
                    Driven(
                        speed,
                        coordinate,
                        function,
                        reference,
                        place,
                        not law.reads_state(),
                        law.steady(),
                        law if law.reads_state() else None,
                    )
                )
        if feedforward:
            planned = {motion.joint.name for motion in feedforward} | {
                name for name in references if name not in {joint.name for joint in forces}
            }
            for joint in self.robot.moving:
                if joint.name not in planned:
                    raise self.document.error(
                        ("forces",),
                        f"feedforward needs the planned motion of every joint; `{joint.name}` has none",
                        hint=f"give `{joint.name}` an entry under `motion`, and none or feedforward under `forces`",
                    )
        return driven, commanded, feedforward

    def _effort_fits(self, joint: Joint, law: ForceLaw, path: tuple) -> None:
        for key, kinds in (
            ("value", ("moment", "force")),
            ("amplitude", ("moment", "force")),
            ("to", ("angle", "length")),
        ):
            value = getattr(law, key, None)
            if value is None:
                continue
            self._sized(value, joint.type.nv, (*path, key), joint)
            for k, turning in enumerate(joint.type.turning):
                part = value[k] if isinstance(value, tuple) else value
                self._fits(part, kinds[0] if turning else kinds[1], (*path, key))

    # ---- wrenches, points, limits

    def _wrenches(self) -> list[TimedWrench]:
        found = []
        links = [link.name for link in self.robot.links]
        for k, entry in enumerate(self.file.wrenches):
            path = ("wrenches", k)
            if entry.link not in links:
                raise self.document.error(
                    (*path, "link"),
                    f"{self.robot.name} has no link `{entry.link}`",
                    allowed=", ".join(links),
                    hint=did_you_mean(entry.link, links),
                )
            components = []
            for key, kind in (("moment", "moment"), ("force", "force")):
                for place, component in enumerate(getattr(entry, key)):
                    components.append(self._component(component, kind, (*path, key, place)))
            x, y, z = entry.at
            found.append(TimedWrench(entry.link, tuple(components), (float(x), float(y), float(z)), entry.axes))
        return found

    def _component(self, value: Any, kind: str, path: tuple) -> Callable[[Any], Any]:
        if not isinstance(value, ForceLaw):
            self._fits(value, kind, path)
            number = float(value)
            return lambda t: number
        if value.reads_state() or value.follows_motion():
            raise self.document.error(path, "a wrench can only depend on time", allowed="constant, harmonic, table")
        function = value.forces(1, self.folder)[0]

        def component(t: Any) -> Any:
            if isinstance(t, np.ndarray):
                return np.array([function(float(x), 0.0, 0.0, None) for x in t])
            return function(t, 0.0, 0.0, None)

        return component

    def _points(self) -> tuple[tuple[str, str], ...]:
        known = [f"{link.name}.{point}" for link in self.robot.links for point in link.points]
        for k, name in enumerate(self.file.record.points):
            if name not in known:
                raise self.document.error(
                    ("record", "points", k),
                    f"{self.robot.name} has no point `{name}`",
                    allowed=", ".join(known) or "none: the robot's links name no `points`",
                    hint=did_you_mean(name, known),
                )
        return tuple((name.split(".")[0], name.split(".")[1]) for name in self.file.record.points)

    def _within_limits(self, plant: Plant, q0: list[float]) -> None:
        for coordinate, low, high in plant.stops.values():
            x = q0[coordinate]
            slack = 1e-9 * (high - low)
            if not low - slack <= x <= high + slack:
                joint = next(j for j in self.robot.moving if coordinate in j.coordinates)
                raise self.document.error(
                    ("initial", joint.name),
                    f"`{joint.name}` would start outside its limits",
                    found=f"{x:g}",
                    allowed=f"{low:g} to {high:g}",
                    hint="start inside, or `limits: ignore` under `solver`",
                )
