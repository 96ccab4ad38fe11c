"""Free fall of the PUMA for 10 s, by the same pair of formulas and with the same tolerances on all sides."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from arms import Arm
from measure import Row, against, checked, quickest
from peers import Exudyn, Pinocchio, installed

from denoc.machine.jit.choice import using
from denoc.scenario.run import carry_out, prepare
from denoc.simulate.feedforward import runner
from denoc.simulate.loop import Solver, Trace, integrate

LOOP, RUN = "free fall 10 s, loop", "free fall 10 s, 401 rows and energy"
REACH = 10


def rows(arm: Arm, peer: Pinocchio) -> list[Row]:
    """The loop alone, and the whole run with its table of all quantities and its energy check."""
    from scipy.integrate import solve_ivp

    plan = prepare("puma-fall")
    solver, n = plan.solver, len(arm.links)
    start, still = np.concatenate([plan.q0, plan.qd0]), np.zeros(n)
    aba, model, data = peer.pin.aba, peer.model, peer.data

    def loop(seconds: float, how: Solver) -> Trace:
        ends = np.array([0.0, seconds])
        return integrate(runner(plan.system, plan.q0), plan.q0, plan.qd0, ends, how, list(plan.kinks), lambda t: None)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], aba(model, data, y[:n], y[n:], still)])

    seconds = float(plan.grid[-1])
    scipy = partial(solve_ivp, rate, (0.0, seconds), start, method="RK45", rtol=solver.rtol, atol=solver.atol)
    run = {"loop": partial(loop, seconds, solver), "run": partial(carry_out, plan), "scipy RK45 + Pinocchio": scipy}
    with using("compiled"):
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
