"""A scenario as a page in which the machine runs: its equations as JavaScript, with sliders for numbers of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.jit import SignalPieces
from ..machine.loops import explicit_steps_in_javascript
from ..machine.program import Program, Recording, javascript_function
from ..machine.stepping import ExplicitMethod
from ..mechanics.numbers import Path, number_leaves_of_bodies, planted_bodies, shape_of_bodies
from ..mechanics.quantities import energies
from ..mechanics.tree import link_placements
from ..record.pages import RUNNER, html_page_with_machine
from ..record.sketch import Say, Scene, silence_sketch_warning
from ..robot import Robot
from ..scenario import Plan
from ..simulate import (
    Runner,
    Trace,
    integrate_run,
    run_equations_close_state,
    run_equations_outputs,
    runner_with_feedforward,
    settle_sticking_modes,
)
from ..simulate.integrators import INTEGRATORS, LEAST_ATOL, LEAST_RTOL, RUNGE_KUTTA, integrator_scheme
from ..simulate.systems import Discrete, Inputs, Model, signals_at
from .animate import say_undrawn_animation
from .sliders import (
    DURATION,
    MOST_LENGTHS,
    Slider,
    fit_slider_polynomials,
    page_own_sliders,
    page_robot_changed,
    page_slider_of_key,
)
from .staging import stage_scene

SCRIPTS = ("simulator.js", "page.js")
MOST_MODES = 12  # sets of independent coordinates that a page can change between
MOST_EVALUATIONS = 20_000  # of the equations, by which a run is followed for them beyond its end
CLOSED, ROWS = 1e-9, 9  # a gap of loops, and positions of the run in which other lengths are tried


@dataclass(frozen=True)
class PageNumbers:
    """What follows the sliders: the model's numbers at `paths`, and the scene's."""

    model: Model
    scene: Scene

    def vector(self, paths: Sequence[Path]) -> np.ndarray:
        known = dict(number_leaves_of_bodies(self.model))
        return np.array([*(known[path] for path in paths), *(x for _, x in number_leaves_of_bodies(self.scene))])


@dataclass(frozen=True, eq=False)
class Laws:
    """A system that the page can run: the scenario's, or the same one without its laws, and what a reader calls it."""

    title: str
    plan: Plan
    run: Runner

    @cached_property
    def trace(self) -> Trace:
        """The scenario's run."""
        return self._followed(self.plan, self.plan.grid)

    def _followed(self, plan: Plan, grid: np.ndarray) -> Trace:
        trace = integrate_run(_runner(plan), plan.q0, plan.qd0, grid, plan.solver, plan.kinks, lambda t: None)
        trace.raise_if_interrupted()
        return trace

    @cached_property
    def modes(self) -> list[Discrete]:
        """The discrete states of the run, each with other independent coordinates, in the order in which they come.

        A page goes on where the scenario ends, at its last instant or at a singular position; those that come then are
        here, too.
        """
        plan = self.plan
        if not plan.system.loops.m:
            return [self.run.discrete]
        solver = replace(plan.solver, at_singularity="switch", max_evaluations=MOST_EVALUATIONS)
        end = float(plan.grid[-1])
        last = end if plan.kinks else max(end, float(plan.grid[0]) + DURATION)
        on = replace(plan, system=replace(plan.system, switches=True), solver=solver)
        known: list[Discrete] = []
        for one in self.trace.discrete:
            if not one.passing and all(one is not other for other in known):
                known.append(one)
        for one in self._followed(on, np.unique([*plan.grid, *np.linspace(end, last, 400)])).discrete:
            if not one.passing and all(one.program != other.program for other in known):
                known.append(one)
        return known[:MOST_MODES]

    def close_over(self, slider: Slider) -> bool:
        """Whether loops close at both ends of a slider, in positions of the run, with the joints that lead it kept."""
        if not self.plan.system.loops.m:
            return True
        from ..mechanics.assembly import close_loops_by_newton
        from ..mechanics.closure import loop_closure

        trace, system = self.trace, self.plan.system
        for x in (slider.low, slider.high):
            loops = loop_closure(page_robot_changed(self.plan.robot, [slider], [x]))
            for k in np.linspace(0, len(trace.t) - 1, ROWS).astype(int):
                q, _, _ = system.expanded(trace.signals[k][: system.motion_signals], trace.states[k])
                part = trace.discrete[k].partition
                kept = {*system.prescribed, *(part.independent if part is not None else ())}
                if close_loops_by_newton(loops, np.array(q, dtype=float), kept)[1] > CLOSED:
                    return False
        return True

    def signals(self, discrete: Discrete) -> list[float]:
        """The signals in a discrete state, in the middle of the run."""
        t = (float(self.plan.grid[0]) + float(self.plan.grid[-1])) / 2
        return [float(x) for x in signals_at(self.plan.system, t, discrete, self.run.planned)]

    def pieces(self) -> SignalPieces:
        """The signals that vary, as polynomials."""
        grid = self.plan.grid
        found = self.run.pieces(float(grid[0]), float(grid[-1]), self.plan.solver.max_step)
        if found is None:
            raise InputError(f"{self.plan.name}: its laws in time take too many polynomials for a page")
        return found


def page_of_plan(
    plan: Plan, wanted: Sequence[tuple[str, float | None, float | None]] = (), say: Say = silence_sketch_warning
) -> str:
    """The HTML of a plan's page. `wanted` are keys of the robot's file for sliders, with ranges or without.

    `say` takes a sentence on each thing that can't be drawn.
    """
    laws = [Laws("as in the scenario", plan, _runner(plan))]
    if (free := page_plan_without_laws(plan)) is not None:
        laws.append(Laws("none", free, _runner(free)))
    base = PageNumbers(_model(plan.robot, plan), stage_scene(plan.robot, plan.q0)[0])
    say_undrawn_animation(base.scene, say)
    followed, sliders = _Followed(plan, base), [page_slider_of_key(plan, *one) for one in wanted]
    sliders, table, used = (sliders, *followed.table(sliders)) if sliders else followed.own(laws[0])
    words = {"title": f"{plan.robot.name} ({plan.name})", "about": plan.about}
    paths = [path for path, _ in number_leaves_of_bodies(base.model)]
    system = plan.system
    code = _code(laws, [paths[k] for k in used]) + explicit_steps_in_javascript(
        _scheme(plan), system.measured + 2, system.measured, system.units
    )
    return html_page_with_machine(
        "page.html", RUNNER, words, SCRIPTS, _data(laws, base, sliders, table, used), own=code
    )


class _Followed:
    """The numbers of equations and scene as functions of the sliders, each position of which is computed once."""

    def __init__(self, plan: Plan, base: PageNumbers) -> None:
        self.plan, self.base = plan, base
        self.paths = [path for path, _ in number_leaves_of_bodies(base.model)]
        self._pattern = repr(_structure(plan.robot, base))
        self._known: dict[frozenset[tuple[str, float]], np.ndarray] = {}

    def table(self, sliders: Sequence[Slider]) -> tuple[dict[str, Any], list[int]]:
        """The table of all numbers that follow the sliders, and the places of those of the equations."""
        table = fit_slider_polynomials(sliders, lambda values: self._at(sliders, values))
        places = {place for one in table["alone"] for place, _ in one}
        places |= {place for *_, one in table["together"] for place, _ in one}
        return table, sorted(place for place in places if place < len(self.paths))

    def _at(self, sliders: Sequence[Slider], values: Sequence[float]) -> np.ndarray:
        moved = frozenset((one.key, float(x)) for one, x in zip(sliders, values) if x != one.value)
        if moved not in self._known:
            self._known[moved] = self._numbers(sliders, values).vector(self.paths)
        return self._known[moved]

    def _numbers(self, sliders: Sequence[Slider], values: Sequence[float]) -> PageNumbers:
        plan, scene = self.plan, self.base.scene
        robot = page_robot_changed(plan.robot, sliders, values)
        if _geometry(robot) != _geometry(plan.robot):
            other = stage_scene(robot, plan.q0, scene.size)[0]
            # masses and gravity draw no other machine
            parts = tuple(replace(part, mass=own.mass) for part, own in zip(other.parts, scene.parts))
            scene = replace(other, parts=parts, gravity=scene.gravity)
        numbers = PageNumbers(_model(robot, plan), scene)
        if repr(_structure(robot, numbers)) != self._pattern:
            named = ", ".join(one.key for one in sliders)
            raise InputError(
                "these numbers change the structure of the machine, or the parts that its links are drawn with",
                found=named,
                hint="ranges without 0, shorter ones, or bodies of one's own under `shape` of these links",
            )
        return numbers

    def serves(self, slider: Slider) -> bool:
        """Whether a page can follow this slider."""
        try:
            self.table([slider])
        except InputError:
            return False
        return True

    def own(self, laws: Laws) -> tuple[list[Slider], dict[str, Any], list[int]]:
        """The sliders of a page by itself, and what follows them: as many lengths as it can follow together."""
        for lengths in range(MOST_LENGTHS, -1, -1):
            sliders = page_own_sliders(self.plan, laws.close_over, self.serves, lengths)
            try:
                return sliders, *self.table(sliders)
            except InputError:
                if not lengths:
                    raise
        raise AssertionError


def page_plan_without_laws(plan: Plan) -> Plan | None:
    """The plan without forces of laws, if it has any and nothing but these; None otherwise."""
    inputs = plan.system.inputs
    if not (inputs.driven or inputs.commanded or inputs.feedforward or inputs.wrenches):
        return None
    if inputs.prescribed or inputs.drives or inputs.commanded:
        return None
    return replace(plan, system=replace(plan.system, inputs=Inputs()), kinks=())


# ---- what a page can run


def _runner(plan: Plan) -> Runner:
    """The run of a plan that a page can carry out; others are refused with the reason."""
    system = plan.system
    why, hint = "", ""
    if plan.task != "simulate":
        why, hint = "it prescribes the motion and integrates nothing", "take a scenario with `task: simulate`"
    elif system.switching:
        joints = [j.name for j in plan.robot.moving if any(k in system.switching for k in j.speeds)]
        why = f"joints may stick or reach their stops: {', '.join(joints[:6])}"
        hint = "--set solver.friction=smooth, --set solver.limits=ignore"
    elif system.inputs.memory is not None:
        why = "laws have dead time"
    elif system.bounded:
        why = "actuators have limits of their effort"
    elif system.follows:
        why = "feedforward in a mechanism follows a path step by step"
    elif system.loops.m and not run_equations_close_state(system):
        why, hint = f"its closure method is `{plan.file.closure.method}`", "--set closure.method=denoc"
    elif INTEGRATORS[plan.solver.method].scheme is None and plan.solver.method != "rk4":
        why, hint = f"its integrator is `{plan.solver.method}`", "--set solver.method=rk45"
    if why:
        raise InputError(f"{plan.name}: this scenario can't run in a page: {why}", hint=hint)
    return runner_with_feedforward(plan.system, plan.q0)


# ---- what follows the sliders


def _model(robot: Robot, plan: Plan) -> Model:
    """The numbers of the equations."""
    from ..mechanics.closure import loop_closure
    from ..simulate.systems import bodies_without_dry_friction, dry_friction_of_system

    bodies = bodies_without_dry_friction(robot.tree.bodies)
    loops = loop_closure(robot)
    dry = dry_friction_of_system(plan.system, robot.tree.bodies)
    return Model(bodies, robot.gravity, loops.ties, loops.couplings, dry)


def _geometry(robot: Robot) -> object:
    """Where joints and cuts are in their links, and what links look like."""
    links = [(link.before, link.end, link.points, link.shape) for link in robot.links]
    return links, [(loop.first, loop.second) for loop in robot.loops]


def _structure(robot: Robot, numbers: PageNumbers) -> object:
    return shape_of_bodies(numbers.model), shape_of_bodies(numbers.scene), robot.tree.seats


# ---- programs


def _code(laws: Sequence[Laws], paths: Sequence[Path]) -> str:
    """The functions of all modes; those whose equations are the same have the same functions."""
    texts = ['"use strict";\nconst denocModes = [];']
    for n, one in enumerate(laws):
        known: dict[object, str] = {}
        for mode in one.modes:
            name = known.get(mode.program)
            if name is None:
                name = known[mode.program] = f"{n}_{len(known)}"
                rate, row = page_programs(one, mode, paths)
                texts.append(javascript_function(rate, f"rate{name}", compact=True))
                texts.append(javascript_function(row, f"row{name}", compact=True))
            texts.append(f"denocModes.push({{ rate: rate{name}, row: row{name} }});")
    return "\n".join(texts)


def page_programs(laws: Laws, discrete: Discrete, paths: Sequence[Path]) -> tuple[Program, Program]:
    """The recorded rate of the state with its guard, and the row: the closed state, energies, and places of links.

    Inputs are the signals, and the model's numbers at `paths`.
    """
    plan, system, width = laws.plan, laws.plan.system, len(laws.signals(discrete))
    recording = Recording("page")
    u, y = recording.input("u", width + len(paths)), recording.input("y", system.measured)
    model: Model = planted_bodies(_model(plan.robot, plan), dict(zip(paths, u[width:])))
    robot = replace(
        system.robot, gravity=model.gravity, tree=replace(system.robot.tree, bodies=model.bodies), vouched=True
    )
    now, groups = run_equations_outputs(replace(system, robot=robot), discrete, u[:width], y, model)
    state = [now.q[k] for k in system.state_coordinates] + [now.qd[k] for k in system.state_speeds]
    row = [*state, *now.q, *now.qd, *now.tau, *energies(robot, now.q, now.qd)]
    for R, p in link_placements(robot, now.q):
        row += [*p, *(x for line in R for x in line)]
    whole = recording.program(rate=groups["rate"], guard=groups.get("guard", [1.0]), row=row)
    return (
        replace(whole, outputs={name: whole.outputs[name] for name in ("rate", "guard")}),
        replace(whole, outputs={"row": whole.outputs["row"]}),
    )


# ---- data


def _data(
    laws: Sequence[Laws], base: PageNumbers, sliders: Sequence[Slider], table: dict[str, Any], used: Sequence[int]
) -> dict[str, Any]:
    """What the page's scripts read."""
    plan, run = laws[0].plan, laws[0].run
    system, robot = plan.system, plan.robot
    start, end = float(plan.grid[0]), float(plan.grid[-1])
    first = sum(1 for _ in number_leaves_of_bodies(base.model))
    places = {place for one in table["alone"] for place, _ in one}
    modes = [mode for one in laws for mode in one.modes]
    return {
        "scene": base.scene.as_dict(),
        "sliders": [vars(one) for one in sliders],
        "table": table,
        "used": list(used),
        "sceneFirst": first,
        "sceneMoves": any(place >= first for place in places),
        "signals": [one.signals(mode) for one in laws for mode in one.modes],
        "sets": _sets(laws),
        "movable": [_movable(plan, mode) for mode in modes],
        "start": start,
        "end": end,
        "y": [float(x) for x in settle_sticking_modes(run, start, run.start(plan.q0, plan.qd0))],
        "measured": system.measured,
        "units": list(system.units),
        "closes": system.loops.m > 0,
        "stateCoordinates": list(system.state_coordinates),
        "names": {what: robot.columns(what) for what in ("coordinates", "speeds", "forces")},
        "kinds": [kind for joint in robot.moving for kind in joint.type.kinds],
        "links": [link.name for link in robot.links],
        "solver": _solver(plan),
    }


def _sets(laws: Sequence[Laws]) -> list[dict[str, Any]]:
    """For each set of laws its title, its modes, and its signals that vary in time."""
    made: list[dict[str, Any]] = []
    for one in laws:
        pieces = one.pieces()
        before = made[-1]["first"] + made[-1]["count"] if made else 0
        table = {name: getattr(pieces, name).tolist() for name in ("starts", "middles", "columns", "coefficients")}
        timed = bool(len(pieces.starts))
        made.append({"title": one.title, "first": before, "count": len(one.modes), "timed": timed, "pieces": table})
    return made


def _movable(plan: Plan, mode: Discrete) -> dict[str, int]:
    """The places in the state of those joints with one coordinate that a reader can put somewhere else."""
    part = mode.partition
    return {
        joint.name: plan.system.state_coordinates.index(joint.coordinates[0])
        for joint in plan.system.free
        if joint.type.nq == 1 and (part is None or joint.speeds[0] in part.independent)
    }


def _scheme(plan: Plan) -> ExplicitMethod:
    """The tableau and the constants of the step control; without estimates of errors for fixed steps."""
    known = INTEGRATORS[plan.solver.method].scheme or integrator_scheme(RUNGE_KUTTA)
    return replace(known, E=(), E_low=()) if plan.solver.step else known


def _solver(plan: Plan) -> dict[str, Any]:
    """What a page has to know of the steps beside their text."""
    solver, known = plan.solver, _scheme(plan)
    return {
        "stages": len(known.B) + 1,
        "further": len(known.further),
        "exponent": known.exponent,
        "step": solver.step,
        "lands": known.lands or solver.step is not None,
        "rtol": max(solver.rtol, LEAST_RTOL),
        "atol": max(solver.atol, LEAST_ATOL),
        "maxStep": solver.max_step if np.isfinite(solver.max_step) else None,
    }
