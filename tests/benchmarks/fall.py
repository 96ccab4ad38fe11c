"""Runs of the PUMA, by the same pair of formulas and with the same tolerances on all sides; whole runs of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from arms import Arm, chain
from measure import Row, against, checked, quickest
from pace import within
from peers import Exudyn, Pinocchio, installed

import denoc
from denoc.machine.backend import using_backend
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.simulate import Solver, Trace, integrate_run, runner_with_feedforward

LOOP, RUN = "free fall 10 s, loop", "free fall 10 s, 401 rows and energy"
REACH = 10
CONTROLLED = "`denoc.run('puma-computed-torque')` again"
WARM = {"puma-fall": 2e-3, "gough-stewart-fall": 0.12}  # seconds of a run that was done before in the process
FOLLOWED = "five-bar-idyn"
LONG = 150, 151  # bodies


def rows(arm: Arm, peer: Pinocchio) -> list[Row]:
    """The loop alone, and the whole run with its table of all quantities and its energy check."""
    from scipy.integrate import solve_ivp

    plan = prepare_scenario("puma-fall")
    solver, n = plan.solver, len(arm.links)
    start, still = np.concatenate([plan.q0, plan.qd0]), np.zeros(n)
    aba, model, data = peer.pin.aba, peer.model, peer.data

    def loop(seconds: float, how: Solver) -> Trace:
        ends = np.array([0.0, seconds])
        return integrate_run(
            runner_with_feedforward(plan.system, plan.q0),
            plan.q0,
            plan.qd0,
            ends,
            how,
            list(plan.kinks),
            lambda t: None,
        )

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], aba(model, data, y[:n], y[n:], still)])

    seconds = float(plan.grid[-1])
    scipy = partial(solve_ivp, rate, (0.0, seconds), start, method="RK45", rtol=solver.rtol, atol=solver.atol)
    run = {
        "loop": partial(loop, seconds, solver),
        "run": partial(carry_out_plan, plan),
        "scipy RK45 + Pinocchio": scipy,
    }
    with using_backend("compiled"):
        # scipy takes the very same steps; Exudyn has a step control of its own, so it is compared at tight tolerances
        checked(LOOP, "scipy", loop(seconds, solver).states[-1][: 2 * n], scipy().y[:, -1])
        for other in installed((Exudyn,), arm):
            tight = loop(0.5, replace(solver, rtol=1e-12, atol=1e-14)).states[-1]
            checked(LOOP, other.name, tight[:n], other.fall(0.5, 1e-12, 1e-14))
            run[other.name] = partial(other.fall, seconds, solver.rtol, solver.atol)
        took = quickest(run, seconds=6.0)
    alone, whole = took.pop("loop"), took.pop("run")
    found = [against(LOOP, alone, name, theirs, REACH) for name, theirs in took.items()]
    return [*found, Row(RUN, whole)]


def again(peer: Pinocchio) -> list[Row]:
    """Whole calls of `denoc.run`, from the file to the record, as a user repeats them in one process."""
    for name in (*WARM, FOLLOWED, "puma-computed-torque"):
        for _ in range(12):  # until denoc has found out what pays
            denoc.run(name)
    run = {name: partial(denoc.run, name) for name in (*WARM, FOLLOWED, "puma-computed-torque")}
    scipy = controlled(peer)
    checked(CONTROLLED, "scipy", _last("puma-computed-torque"), scipy())
    took = quickest({**run, "scipy": scipy}, seconds=4.0)
    theirs = took.pop("scipy")
    found = [within(f"`denoc.run('{name}')` again", took[name], most) for name, most in WARM.items()]
    found.append(Row(f"`denoc.run('{FOLLOWED}')` again, a mechanism along its motion", took[FOLLOWED]))
    found.append(against(CONTROLLED, took["puma-computed-torque"], "scipy RK45 + Pinocchio", theirs))
    return [*found, *long_chains()]


def controlled(peer: Pinocchio) -> Callable[[], np.ndarray]:
    """The run of `puma-computed-torque` by scipy, with accelerations commanded along the cycloid."""
    from scipy.integrate import solve_ivp

    plan = prepare_scenario("puma-computed-torque")
    n, end, solver = len(plan.q0), float(plan.grid[-1]), plan.solver
    rnea, aba, model, data = peer.pin.rnea, peer.pin.aba, peer.model, peer.data
    turn, reach = 2 * np.pi / end, np.pi / 2

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, qd = y[:n], y[n:]
        place = reach * (t / end - np.sin(turn * t) / (2 * np.pi))
        speed, second = reach * (1 - np.cos(turn * t)) / end, reach * turn * np.sin(turn * t) / end
        tau = rnea(model, data, q, qd, second + 10.0 * (speed - qd) + 25.0 * (place - q))
        return np.concatenate([qd, aba(model, data, q, qd, tau)])

    start, most = np.concatenate([plan.q0, plan.qd0]), end / 40
    options = {"method": "RK45", "rtol": solver.rtol, "atol": solver.atol, "max_step": most}
    return lambda: solve_ivp(rate, (0.0, end), start, **options).y[:, -1]


def _last(name: str) -> np.ndarray:
    """Coordinates and speeds at the end of a run."""
    with using_backend("compiled"):
        table = denoc.run(name).table
    names = [key for what in ("q", "qd") for key in table if key.endswith(f".{what}")]
    return np.array([table[key][-1] for key in names])


def long_chains() -> list[Row]:
    """Whole runs of chains on both sides of the length from which on there is no straight-line code."""
    fall = {"task": "simulate", "time": {"end": 0.02, "step": 0.01}}
    robots = {n: chain(n).robot for n in LONG}
    for robot in robots.values():
        for _ in range(3):
            denoc.run(fall, robot)
    took = quickest({str(n): partial(denoc.run, fall, robot) for n, robot in robots.items()}, seconds=2.0)
    shorter, longer = (took[str(n)] / n for n in LONG)
    work = f"a short run of a chain of {LONG[1]} links, each, beside {LONG[0]}"
    return [Row(work, longer, "denoc", shorter, "at least 0.8x", shorter / longer >= 0.8)]
