"""Free fall of the PUMA for 10 s, with the same pair of formulas, tolerances and step control on both sides."""

from __future__ import annotations

from functools import partial

import numpy as np
from arms import Arm
from measure import Row, against, checked, quickest
from peers import Pinocchio

from denoc.machine.choice import using
from denoc.scenario.run import carry_out, prepare
from denoc.simulate.loop import integrate


def rows(arm: Arm, peer: Pinocchio) -> list[Row]:
    """The loop alone, and the whole run with its table of 401 rows and its energy check."""
    from scipy.integrate import solve_ivp

    plan = prepare("puma-fall")
    solver, n = plan.solver, len(arm.links)
    ends = plan.grid[[0, -1]]
    start = np.concatenate([plan.q0, plan.qd0])
    still = np.zeros(n)
    aba, model, data = peer.pin.aba, peer.model, peer.data

    def loop():
        return integrate(plan.plant, list(plan.q0), list(plan.qd0), ends, solver, list(plan.kinks), lambda t: None)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], aba(model, data, y[:n], y[n:], still)])

    span = float(ends[0]), float(ends[-1])
    theirs = partial(solve_ivp, rate, span, start, method="RK45", rtol=solver.rtol, atol=solver.atol)
    with using("compiled"):
        work = "free fall 10 s, loop"
        checked(work, "scipy RK45 + Pinocchio", loop().states[-1][: 2 * n], theirs().y[:, -1])
        took = quickest({"loop": loop, "run": lambda: carry_out(plan), "theirs": theirs}, seconds=6.0)
    return [
        against(work, took["loop"], "scipy RK45 + Pinocchio", took["theirs"], 10),
        against("free fall 10 s, whole run", took["run"], "scipy RK45 + Pinocchio", took["theirs"], 10),
    ]
