"""From a scenario file and a robot to a plan: everything resolved, checked and ready to run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..closure.closure import Closure, closure
from ..closure.methods import Parameters
from ..errors import InputError, did_you_mean
from ..files.expression import DIMENSIONS, misfit
from ..files.fields import Numbers, checked, told
from ..files.source import Document
from ..motion.forces import ComputedTorque, Feedforward, ForceLaw
from ..motion.laws import Hold, MotionLaw, Pace, Profiled, Rate, Turn
from ..robot.model import Joint, Robot
from ..robot.values import EULER_PARAMETERS, NO_EULER_PARAMETERS, counted, unit_parameters
from ..simulate.closed import ClosedPlant, Driving
from ..simulate.integrate import METHODS
from ..simulate.loop import Solver
from ..simulate.plant import Commanded, Driven, Motion, Plant, TimedWrench
from ..simulate.reference import Held, Reference, Turning
from . import closed
from .drives import Drives
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


# what the numbers of a force law are, for a joint that turns and one that slides
EFFORTS = (
    ("value", "moment", "force"),
    ("amplitude", "moment", "force"),
    ("offset", "moment", "force"),
    ("to", "angle", "length"),
    ("rest", "angle", "length"),
    ("stiffness", "turn stiffness", "slide stiffness"),
    ("damping", "turn damping", "slide damping"),
    ("kp", "turn stiffness", "slide stiffness"),
    ("kd", "turn damping", "slide damping"),
)


def plan(document: Document, robot: Robot, name: str) -> Plan:
    """The plan of a scenario for a robot; refuses what can't be run before anything is computed."""
    return _Planner(document, robot, name).plan()


class _Planner:
    """The steps from file to plan share the document, to say where a mistake is, and the robot."""

    def __init__(self, document: Document, robot: Robot, name: str):
        self.document, self.robot = document, robot
        self.file = checked(ScenarioFile, document, document.data)
        self.name = self.file.name or name
        if not self.name.strip("."):
            raise document.error(
                (), "the file's name makes none for its results", found=f"`{self.name}`", hint="give it a `name`"
            )
        self.folder = Path(document.name).parent  # of tables
        self.simulating = self.file.task == "simulate"
        self.drives = Drives(document, robot, self.file.drives)
        self.driving: list[Driving] = []
        self.loops: Closure | None = None
        if robot.tied or self.file.drives:
            self.loops = Closure(robot, self.drives.ties()) if self.file.drives else closure(robot)

    def plan(self) -> Plan:
        file = self.file
        grid = self._grid()
        q0, qd0 = self._initial(), self._rates()
        motions = self._motions()
        forces = self._forces(motions)
        references: dict[str, Motion] = {}
        kinks: list[float] = []
        for joint, (law, path) in motions.items():
            references[joint.name] = self._reference(joint, law, path, q0)
            kinks += law.kinks(float(grid[0]), float(grid[-1]))
        followed = {joint.name for joint, (law, _) in forces.items() if law.follows_motion()}
        prescribed = [reference for name, reference in references.items() if name not in followed]
        if self.loops is not None:
            q0, qd0, prescribed = self._closed(self.loops, q0, qd0, references, prescribed, motions)
        driven, commanded, feedforward = self._drives(forces, references)
        solver = file.solver
        plant = self._plant(
            prescribed=prescribed,
            driven=driven,
            commanded=commanded,
            feedforward=feedforward,
            wrenches=self._wrenches(),
        )
        self._within_limits(plant, q0)
        if isinstance(plant, ClosedPlant):
            plant.begin(np.array(q0))
        if plant.free and METHODS[solver.method].adaptive:
            self._countable([*motions.values(), *forces.values(), *self._timed()])
        return Plan(
            name=self.name,
            about=file.about,
            robot=self.robot,
            task=file.task,
            grid=grid,
            plant=plant,
            q0=tuple(q0),
            qd0=tuple(qd0),
            solver=Solver(
                method=solver.method,
                rtol=float(solver.rtol),
                atol=float(solver.atol) if solver.atol is not None else float(solver.rtol) / 100,
                max_step=float(solver.max_step) if solver.max_step is not None else math.inf,
                step=self._step(grid),
                max_steps=solver.max_steps,
                at_singularity=solver.at_singularity,
                paces=self._paces([*(law for law, _ in motions.values()), *(law for law, _ in forces.values())]),
            ),
            kinks=tuple(kinks),
            record=file.record,
            points=self._points(),
            plots=tuple(file.plots),
            expect=file.expect,
            file=file,
        )

    # ---- loops

    def _plant(self, **laws: Any) -> Plant:
        solver, closure = self.file.solver, self.file.closure
        smooth = float(solver.friction_rate) if solver.friction == "smooth" else 0.0
        if self.loops is None:
            return Plant(self.robot, smooth=smooth, stops=solver.limits == "stop", **laws)
        d = float(closure.d) if closure.d is not None else None
        parameters = Parameters(float(closure.alpha), float(closure.beta), float(closure.sigma), float(closure.k), d)
        return ClosedPlant(
            self.robot,
            self.loops,
            method=closure.method,
            parameters=parameters,
            preferred=self._independent(),
            drives=self.driving,
            switches=solver.at_singularity == "switch",
            smooth=smooth or float(solver.friction_rate),  # a joint of a loop that sticks would be one more cut
            **laws,
        )

    def _independent(self) -> list[int] | None:
        """The speeds that the scenario wants to be independent, if it says so."""
        if self.file.closure.independent is None:
            return None
        joints = [self._joint("closure", name) for name in self.file.closure.independent]
        return [k for joint in joints for k in joint.speeds]

    def _closed(
        self,
        loops: Closure,
        q0: list[float],
        qd0: list[float],
        references: dict[str, Motion],
        prescribed: list[Motion],
        motions: dict[Joint, tuple[MotionLaw, tuple]],
    ) -> tuple[list[float], list[float], list[Motion]]:
        """The start with all loops closed, and the motions that can be given; held joints start where that is."""
        t0 = float(self.file.time.start)
        asked = [joint for joint, (_, path) in motions.items() if len(path) > 1]
        ruled = {motion.joint.name for motion in prescribed}
        for joint in asked:
            if joint.name in ruled or joint.name not in self.file.initial:  # one that is led may start off its way
                for k, x in zip(joint.coordinates, references[joint.name].at(t0)[0]):
                    q0[k] = float(x)
        named = {*asked, *(self.robot.joint(name) for name in self.file.initial)}
        kept = [k for joint in named for k in joint.speeds]
        if self.file.drives:  # a drive without a place of its own starts where the robot is
            q0 = closed.start(closure(self.robot), q0, kept)
            self.driving = self.drives.laws(self.file.time, loops, q0, self._tabled)
            loops = loops.at(self.drives.values(loops, self.driving, t0))
            given = [k for joint in asked if joint.name in ruled for k in joint.speeds]
            self.drives.refuse_contradictions(loops, q0, given)
        q0 = closed.start(loops, q0, kept)
        groups = [[j for j in asked if j.name in ruled], [j for j in motions if j.name in ruled and j not in asked]]
        firm = {joint.name for joint in closed.followed(loops, q0, groups)}
        for joint in groups[1]:
            place = tuple(q0[k] for k in joint.coordinates)
            references[joint.name] = Held(joint, place)
        firm_motions = [references[motion.joint.name] for motion in prescribed if motion.joint.name in firm]
        for motion in firm_motions:
            for k, x in zip(motion.joint.speeds, motion.at(t0)[1]):
                qd0[k] = float(x)
        with_rates = [self.robot.joint(name) for name in self.file.rates]
        known = [k for joint in (*(motion.joint for motion in firm_motions), *with_rates) for k in joint.speeds]
        rates = [float(drive.curve(t0)[1]) for drive in self.driving]
        return q0, closed.speeds(loops, q0, qd0, known, rates), firm_motions

    # ---- time

    def _timed(self) -> list[tuple[ForceLaw, tuple]]:
        """The laws among the components of wrenches, and their paths."""
        return [
            (component, ("wrenches", k, key, place))
            for k, entry in enumerate(self.file.wrenches)
            for key in ("force", "moment")
            for place, component in enumerate(getattr(entry, key))
            if isinstance(component, ForceLaw)
        ]

    def _countable(self, laws: Sequence[tuple[MotionLaw | ForceLaw, tuple]]) -> None:
        """Refuses laws that swing too often for any number of steps."""
        t0, t1 = float(self.file.time.start), float(self.file.time.end)
        for law, path in laws:
            begin, end, step = law.pace(t0, t1, self.folder) or (t0, t0, math.inf)
            steps = (min(end, t1) - max(begin, t0)) / step if step else math.inf
            if steps > self.file.solver.max_steps:
                raise self.document.error(
                    path,
                    f"following this law would take more than {self.file.solver.max_steps} steps",
                    found=f"{steps:.3g} steps",
                    allowed="a slower law, a shorter time, or more `max_steps` under `solver`",
                )

    def _paces(self, laws: list[MotionLaw | ForceLaw]) -> tuple[Pace, ...]:
        """When laws ask for short steps, and how short."""
        span = float(self.file.time.start), float(self.file.time.end)
        found = (law.pace(*span, self.folder) for law in (*laws, *(law for law, _ in self._timed())))
        return tuple(dict.fromkeys(pace for pace in found if pace is not None))

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
            grid = np.array([start + (end - start) * k / whole for k in range(whole + 1)])
        else:
            rows = [start + step * k for k in range(int(count) + 1)]
            grid = np.array([*rows, end] if rows[-1] < end else rows)
        if not (np.diff(grid) > 0).all():
            raise self.document.error(
                ("time", "step"),
                "rows this close can't be told apart at times this large",
                found=f"{step:g} s apart at {max(abs(start), abs(end)):g} s",
                hint="let the time start at 0",
            )
        return grid

    def _step(self, grid: np.ndarray) -> float | None:
        """The step of a fixed-step method; refuses what would never come to its end."""
        solver, duration = self.file.solver, float(grid[-1] - grid[0])
        adaptive = METHODS[solver.method].adaptive
        if adaptive and solver.step is not None:
            raise self.document.error(
                ("solver", "step"),
                f"`{solver.method}` chooses its steps itself",
                found=told(solver.step),
                hint="`max_step` bounds them; `method: rk4` has a fixed step; the rows' is `step` under `time`",
            )
        step = None if adaptive else float(solver.step or grid[1] - grid[0])
        for key, length in (("step", step), ("max_step", solver.max_step)):
            if length is not None and duration / length > solver.max_steps:
                raise self.document.error(
                    ("solver", key),
                    f"the run would take more than {solver.max_steps} steps",
                    found=f"{duration / length:.3g} steps",
                    allowed=f"a {key} of {duration / solver.max_steps:.3g} s or more, or more `max_steps`",
                )
        return step

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
                hint=did_you_mean(name, joints) if fixed else self._meant(name),
            )
        return self.robot.joint(name)

    def _meant(self, name: str) -> str:
        """The joint that somebody may have meant who wrote this name."""
        joint = next((link.joint for link in self.robot.links if link.name == name and link.joint.type.nv), None)
        return f"the joint of the link `{name}` is `{joint.name}`" if joint else did_you_mean(name, self.robot.joints)

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
                    (key, name),
                    f"`{name}` needs {counted(len(wanted), 'number')} here: {', '.join(wanted)}",
                    found=str(len(values)),
                    allowed=f"[{', '.join('…' * len(wanted))}]" if len(wanted) > 1 else "one number",
                )
            yield joint, values

    def _initial(self) -> list[float]:
        q = list(self.robot.q0)
        for joint, values in self._values("initial", self.file.initial, lambda joint: joint.type.coordinates):
            path = ("initial", joint.name)
            for k, (value, kind) in enumerate(zip(values, joint.type.kinds)):
                self._fits(value, kind, (*path, k) if len(values) > 1 else path)
            all_zero = partial(self.document.error, path, NO_EULER_PARAMETERS, allowed=EULER_PARAMETERS)
            for k, x in zip(joint.coordinates, unit_parameters([float(x) for x in values], joint.type, all_zero)):
                q[k] = x
        return q

    def _rates(self) -> list[float]:
        qd = [0.0] * self.robot.nv
        for joint, values in self._values("rates", self.file.rates, lambda joint: joint.type.speeds):
            path: tuple = ("rates", joint.name)
            for n, (k, x, turning) in enumerate(zip(joint.speeds, values, joint.type.turning)):
                self._fits(x, "rate" if turning else "speed", (*path, n) if len(values) > 1 else path)
                qd[k] = float(x)
        return qd

    def _fits(self, value: Any, kind: str, path: tuple) -> None:
        """Refuses a number whose unit is not of this kind."""
        if message := misfit(value, kind):
            raise self.document.error(path, message, allowed=DIMENSIONS[kind][1])

    def _all_fit(self, value: Numbers, kinds: Sequence[str], path: tuple, joint: Joint) -> None:
        """Refuses a list of another length than the kinds have, and numbers whose units are not of these kinds."""
        if isinstance(value, tuple) and len(value) != len(kinds):
            raise self.document.error(
                path,
                f"`{joint.name}` needs {counted(len(kinds), 'number')} here",
                found=str(len(value)),
                allowed=f"one number, or [{', '.join('…' * len(kinds))}]",
            )
        for k, kind in enumerate(kinds):
            listed = isinstance(value, tuple)
            self._fits(value[k] if isinstance(value, tuple) else value, kind, (*path, k) if listed else path)

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
        if misfitting := law.misfit(t0, t1):
            key, message, allowed = misfitting
            raise self.document.error((*path, key), message, found=told(getattr(law, key)), allowed=allowed)
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
                    f"the {joint.type.name} joint `{joint.name}` can't follow this",
                    found=f"law: {getattr(law, 'law', '')}",
                    allowed="hold"
                    if free
                    else "cycloid, polynomial or trapezoid with `to: {axis: […], angle: …}`, hold",
                )
            axis = np.array([float(x) for x in law.to.axis])
            axis = axis / abs(axis).max()
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
                    f"`{joint.name}` has no Euler parameters, so it can't be told to turn about an axis",
                    found=told({"axis": 0, "angle": 0}),
                    allowed=", ".join(DIMENSIONS[kind][1] for kind in joint.type.kinds)
                    + "; an axis and an angle are for spherical joints",
                )
            if value is not None:
                self._all_fit(value, joint.type.kinds, (*path, key.rstrip("_")), joint)
        if isinstance(law, Rate):
            kinds = ["rate" if turning else "speed" for turning in joint.type.turning]
            self._all_fit(law.rate, kinds, (*path, "rate"), joint)
        curves = self._tabled(law, path, joint.type.nq, joint.name, partial(law.curves, place, t0, t1, self.folder))
        return Reference(joint, tuple(curves), kinks)

    def _tabled(
        self, law: MotionLaw | ForceLaw, path: tuple, count: int, who: str, made: Callable[[], list[Any]]
    ) -> list[Any]:
        """What the law makes, one for each of `count` coordinates; a table's mistakes are told at the law's entry."""
        if law.columns_read() and len(law.columns_read()) != count:
            key: tuple[str | int, ...] = ("columns",) if getattr(law, "columns", None) else ("column",)
            raise self.document.error(
                (*path, *key),
                f"`{who}` needs {counted(count, 'column')}",
                found=str(len(law.columns_read())),
                allowed=f"columns: [{', '.join('…' * count)}]",
            )
        try:
            return made()
        except InputError as error:
            key = ("file",)
            if error.key in law.columns_read():
                key = ("columns", law.columns_read().index(error.key)) if getattr(law, "columns", None) else ("column",)
            where = f"{error.place}: " if error.place else ""
            raise self.document.error(
                (*path, *key), where + error.message, found=error.found, allowed=error.allowed, hint=error.hint
            ) from None

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
                    hint="`task: simulate` takes forces",
                )
            if law.follows_motion():
                if joint not in motions:
                    raise self.document.error(
                        path,
                        f"`{joint.name}` has nothing to follow",
                        found=f"law: {getattr(law, 'law', '')}, and no entry for `{joint.name}` under `motion`",
                        hint="say what to follow under `motion`" + ", or give `to`" * ("to" in type(law).model_fields),
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
            functions = self._tabled(law, path, nv := joint.type.nv, joint.name, partial(law.forces, nv, self.folder))
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
                if joint.name not in planned and (self.loops is None or joint.actuated):
                    raise self.document.error(
                        ("forces",),
                        f"feedforward needs the planned motion of every joint; `{joint.name}` has none",
                        hint=f"give `{joint.name}` an entry under `motion`, and none or feedforward under `forces`",
                    )
        return driven, commanded, feedforward

    def _effort_fits(self, joint: Joint, law: ForceLaw, path: tuple) -> None:
        for key, turns, slides in EFFORTS:
            value = getattr(law, key, None)
            if value is not None:
                kinds = [turns if turning else slides for turning in joint.type.turning]
                self._all_fit(value, kinds, (*path, key), joint)

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
            raise self.document.error(
                path,
                "a wrench can depend on time only",
                found=f"law: {getattr(value, 'law', '')}",
                allowed="a number, zero, constant, harmonic, table",
            )
        for key in ("value", "amplitude", "offset"):
            given = getattr(value, key, None)
            if isinstance(given, tuple):
                raise self.document.error(
                    (*path, key), "one component needs 1 number", found=told(given), allowed="one"
                )
            if given is not None:
                self._fits(given, kind, (*path, key))
        function = self._tabled(value, path, 1, "one component", partial(value.forces, 1, self.folder))[0]

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
            if name in self.file.record.points[:k]:
                raise self.document.error(
                    ("record", "points", k), f"`{name}` stands here twice", allowed="each point once"
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
