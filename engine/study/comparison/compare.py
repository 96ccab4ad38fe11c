"""A comparison of closure methods on one mechanism, as in chapter 4 of Khan's thesis (2002).

The forces that the reference motion needs are applied (`feedforward`) under each method, integrator and parameter. The
resulting motion is compared with the reference: errors of the driven joints, gaps of the loops, energy, and cost. With
feedback, a correction along the reference is added to the forces; the thesis takes its size for the error of a model.
"""

from __future__ import annotations

import math
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...errors import InputError, allowed_names
from ...laws import ProportionalDerivative
from ...machine.backend import chosen_backend, using_backend
from ...mechanics.closure import METHODS, constraint_null_space
from ...mechanics.quantities import inertia as inertia_of_tree
from ...robot import Joint
from ...scenario import Plan, Scenario, carry_out_plan
from ...simulate import Path, Runner, Solver, feedforward_force_plan
from ...simulate.systems import Driven, System
from ...text import Change
from .compared import STAGES, Options, Run, RunSetting, compared_method_parameter, settings_to_compare
from .playback import RecordedMotion, plan_played_back, playback_reference_path

LARGEST = 1 / 50  # of the duration: the longest step of an adaptive method, Simulink's own choice
SLOWER = 10  # methods that can't be compiled get a limit of evaluations that is lower by this factor
RATE = 20.0  # 1/s, of the feedback: kp = RATE² and kd = 2 RATE times the inertia that the joint feels at the start
SMALL = 0.05  # of a joint's largest force; percentages of smaller planned forces mean nothing
KNOWN = 200_000  # planned forces that are cached
PAUSE = 1 / 500  # of the duration, between two checks of the independent coordinates
INSTANTS = 5  # along the reference, at which eigenvalues are computed


class Comparison:
    """A mechanism, its reference motion, and the runs to be compared."""

    def __init__(self, scenario: Scenario, options: Options, changes: Sequence[Change] = ()):
        for name in options.methods:
            if name not in METHODS:
                message, names = f"there is no closure method `{name}`", allowed_names(name, METHODS)
                raise InputError(message, key="--methods", found=f"`{name}`", **names)
        for name in options.values:
            compared_method_parameter(name)
        self.options = options
        self.plan, self.recorded = plan_played_back(scenario, changes)
        self.path = self.recorded or playback_reference_path(self.plan)
        if self.recorded is not None:  # its forces are no plan that a controller could correct
            self.options = replace(options, feedback=False)
        self.system: System = self.plan.system
        self.name = self.plan.name
        self.start, self.end = float(self.plan.grid[0]), float(self.plan.grid[-1])
        self.joints: list[Joint] = [motion.joint for motion in self.system.inputs.feedforward]
        if self.recorded is not None:
            moving = self.plan.robot.moving
            self.joints = [joint for joint in moving if joint.actuated] or list(moving)
        self.max_step = options.max_step or LARGEST * (self.end - self.start)
        self._plan = feedforward_force_plan(self.system, self.plan.q0) if self.recorded is None else None
        self._known: dict[float, list[float]] = {}
        self._gains = self._feedback()
        self._cost: dict[tuple[str, bool], tuple[float, float]] = {}

    def settings(self) -> list[RunSetting]:
        """The settings of all runs."""
        return settings_to_compare(self.options)

    def runs(self, report: Callable[[RunSetting, float], None] | None = None) -> Iterator[Run]:
        """Carries out all runs; `report` is called with the share of a run that is done."""
        stopped: set[tuple[str, str, bool]] = set()
        for setting in self.settings():
            mark = (setting.model, setting.integrator, setting.feedback)
            why = self._hopeless(setting, mark in stopped)
            if why:
                yield Run(setting, "not run", why)
                continue
            run = self.run(setting, report)
            if run.evaluations > self._allowed(setting):
                stopped.add(mark)
            yield run
            if run.ended == "interrupted":
                return

    def _allowed(self, setting: RunSetting) -> int:
        return self.options.max_evaluations // (SLOWER if METHODS[setting.method].recomputes_null_space else 1)

    def _hopeless(self, setting: RunSetting, stopped: bool) -> str:
        """The reason why a run isn't worth starting; empty if it is."""
        if setting.adaptive:
            return "a looser tolerance took too many evaluations already" if stopped else ""
        least = round((self.end - self.start) / setting.accuracy) * STAGES[setting.integrator]
        if least > self._allowed(setting):
            return f"it would take {least} evaluations, of {self._allowed(setting)} that are allowed"
        return ""

    def run(self, setting: RunSetting, report: Callable[[RunSetting, float], None] | None = None) -> Run:
        """Carries out one run."""
        with using_backend("compiled" if chosen_backend() == "auto" else chosen_backend()):
            evaluation, stiffness = self._costs(setting)
            under_way = self.runner(setting)
            solver = self.solver(setting)

            def report_share(t: float) -> None:
                if report is not None:
                    report(setting, (min(t, self.end) - self.start) / (self.end - self.start))

            begun = time.perf_counter()
            with np.errstate(all="ignore"):
                plan = replace(self.plan, system=under_way.system, solver=solver, grid=self._grid(setting))
                result = carry_out_plan(plan, report_share, lambda: under_way)
            seconds = time.perf_counter() - begun
        run = Run(setting, result.ended, result.record["reason"], t=result.t, table=result.table)
        run.seconds, run.evaluation, run.stiffness = seconds, evaluation, stiffness
        run.reached = float(result.t[-1])
        audit = result.audit
        for key in ("evaluations", "steps", "rejected", "closure", "closure_angle"):
            setattr(run, key, audit[key])
        run.energy = audit["energy"] if audit["energy"] is not None else math.nan
        run.switches = sum(event["event"] == "takes other coordinates" for event in result.record["events"])
        with np.errstate(all="ignore"):
            self.judge(run, result.table)
        return run

    def solver(self, setting: RunSetting) -> Solver:
        """The integration of a setting."""
        return replace(
            self.plan.solver,
            method=setting.integrator,
            rtol=setting.accuracy if setting.adaptive else 1e-8,
            atol=setting.accuracy / 100 if setting.adaptive else 1e-10,
            step=None if setting.adaptive else setting.accuracy,
            max_step=self.max_step if setting.adaptive else math.inf,
            max_evaluations=self._allowed(setting),
        )

    def _grid(self, setting: RunSetting) -> np.ndarray:
        """The instants of the output, moved onto the fixed steps if these don't meet them."""
        grid, step = self.plan.grid, setting.accuracy
        ratio = float(grid[1] - grid[0]) / step
        if setting.adaptive or (ratio > 0.5 and abs(ratio - round(ratio)) < 1e-6):
            return grid
        pace = step * max(math.floor(ratio), 1)
        rows = self.start + pace * np.arange(math.ceil((self.end - self.start) / pace * (1 - 1e-9)))
        return np.append(rows, self.end)

    def judge(self, run: Run, table: dict[str, np.ndarray]) -> None:
        """Puts errors against the reference and corrections of the planned forces into the run."""
        for motion in self.system.inputs.feedforward:
            for name, x in zip(motion.joint.columns("coordinates"), motion.at(run.t)[0]):
                run.errors[name] = table[name] - x
        if self.recorded is not None:
            for name in (one for joint in self.joints for one in joint.columns("coordinates")):
                run.errors[name] = table[name] - self.recorded.column(name, run.t)
        both = np.array(list(run.errors.values()))
        units = dict.fromkeys("rad" if turns else "m" for joint in self.joints for turns in joint.type.turning)
        run.unit = ", ".join(units)
        run.error_max = float(abs(both).max())
        run.error_rms = float(np.sqrt((both**2).mean()))
        if not run.setting.feedback:
            return
        planned = np.array([self.planned(float(t)) for t in run.t])
        now = []
        for joint in self.joints:
            for name, k in zip(joint.columns("forces"), joint.speeds):
                added = table[name] - planned[:, k]
                largest = max(self._largest(k), 1e-300)
                run.corrections[name] = 100 * added / largest
                firm = abs(planned[:, k]) > SMALL * largest
                now.append(float((100 * abs(added[firm] / planned[firm, k])).max(initial=0.0)))
        both = np.array(list(run.corrections.values()))
        run.correction, run.correction_rms = float(abs(both).max()), float(np.sqrt((both**2).mean()))
        run.correction_now = max(now)

    # ---- the runs' systems

    def runner(self, setting: RunSetting) -> Runner:
        """A runner under the setting's method; all runners share the planned forces."""
        system, plan = self.system, self.plan
        value = {} if setting.value is None else {setting.parameter: setting.value}
        system = replace(
            system,
            inputs=replace(system.inputs, driven=(*system.inputs.driven, *(self._gains if setting.feedback else ()))),
            closure=setting.method,
            parameters={**system.parameters, **value},
            switches=True,
        )
        return Runner(
            system, plan.q0, planned=self.planned if self._plan else None, pause=PAUSE * (self.end - self.start)
        )

    def planned(self, t: float) -> list[float]:
        """The planned forces at t, from the cache if they are in it."""
        forces = self._known.get(t)
        if forces is None:
            assert self._plan is not None, "only planned forces are asked for"
            forces = [*self._plan(t)]
            if len(self._known) < KNOWN:
                self._known[t] = forces
        return forces

    def _largest(self, k: int) -> float:
        """The largest planned force of a speed at the instants of the output."""
        return max(abs(self.planned(float(t))[k]) for t in self.plan.grid)

    def _feedback(self) -> list[Driven]:
        """The feedback that pulls each driven joint along its reference, with gains by its effective inertia."""
        system, loops, q = self.system, self.system.loops, np.array(self.plan.q0)
        A = np.concatenate([loops.scaled(loops.jacobian(q)[0]), np.eye(system.robot.nv)[list(system.prescribed)]])
        Z = constraint_null_space(A) * loops.column_scale[:, None]
        M = inertia_of_tree(system.robot, q)
        answer = Z @ np.linalg.solve(Z.T @ M @ Z, Z.T)  # accelerations of unit forces
        feedback = []
        for motion in system.inputs.feedforward:
            joint = motion.joint
            if joint.type.orientation is not None:
                continue
            for place, (k, coordinate) in enumerate(zip(joint.speeds, joint.coordinates)):
                inertia = 1.0 / max(float(answer[k, k]), 1e-300)
                if not inertia < 1e100:
                    continue
                law = ProportionalDerivative(law="pd", kp=RATE**2 * inertia, kd=2 * RATE * inertia)
                force = law.forces(1, pathlib.Path())[0]
                feedback.append(Driven(k, coordinate, force, motion, place, law=law))
        return feedback

    def _costs(self, setting: RunSetting) -> tuple[float, float]:
        """The seconds of one evaluation, and the largest |eigenvalue| along the reference times the duration."""
        mark = (setting.model, setting.feedback)
        if mark not in self._cost:
            run = self.runner(setting)
            with np.errstate(all="ignore"):
                known = not run.system.method.recomputes_null_space
                largest = largest_eigenvalue(self.plan, self.path, run) if known else math.nan
            self._cost[mark] = evaluation_time_for_comparison(self.plan, run), largest * (self.end - self.start)
        return self._cost[mark]


def evaluation_time_for_comparison(plan: Plan, run: Runner) -> float:
    """The processor's seconds of one evaluation of the equations of motion at the start, the least of ten."""
    y, t = run.start(plan.q0, plan.qd0), float(plan.grid[0])
    times = []
    for _ in range(10):
        begun = time.thread_time()
        run.derivative(t, y)
        times.append(time.thread_time() - begun)
    return min(times)


def largest_eigenvalue(plan: Plan, path: Path | RecordedMotion, run: Runner) -> float:
    """The largest |eigenvalue| of the equations of motion along the reference, in 1/s."""
    largest = 0.0
    for t in np.linspace(plan.grid[0], plan.grid[-1], INSTANTS).tolist():
        q, qd, *_ = path.at(t)
        J = stiffness_jacobian_for_comparison(
            partial(run.derivative, t), run.start(q.tolist(), qd.tolist()), run.system.measured
        )
        if np.isfinite(J).all():
            largest = max(largest, float(abs(np.linalg.eigvals(J)).max(initial=0.0)))
    return largest


def stiffness_jacobian_for_comparison(
    f: Callable[[np.ndarray], np.ndarray], y: np.ndarray, count: int, step: float = 1e-6
) -> np.ndarray:
    """The Jacobian of the first `count` components by central differences."""
    J = np.empty((count, count))
    for k in range(count):
        h = step * max(abs(float(y[k])), 1.0)
        ahead, behind = y.copy(), y.copy()
        ahead[k], behind[k] = y[k] + h, y[k] - h
        J[:, k] = (np.array(f(ahead)) - f(behind))[:count] / (2 * h)
    return J
