"""Many falls of the PUMA with another mass each, with tables: denoc's ensemble beside scipy and Pinocchio run by run."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial

import numpy as np
from arms import Arm
from measure import Row, against, checked, quickest

import denoc
from peers import Pinocchio

WORK = "ensemble: fall 0.5 s with another mass, a run"
COUNT, FEW, LINK = 2000, 10, 1
REACH = 20
SECONDS, RTOL, ATOL = 0.5, 1e-8, 1e-10


def rows(arm: Arm) -> list[Row]:
    """One run of many, on one core, with its coordinates at the end."""
    from scipy.integrate import solve_ivp

    n = len(arm.links)
    masses = np.random.default_rng(0).uniform(14, 17, COUNT).tolist()
    scenario = {
        "robot": "puma",
        "task": "simulate",
        "time": {"end": SECONDS, "step": 0.05},
        "solver": {"rtol": RTOL, "atol": ATOL},
    }
    start = np.zeros(2 * n)
    start[:n] = arm.robot.q0
    heavier = [replace(arm.links[LINK], m=mass) for mass in masses[:FEW]]
    links = [(*arm.links[:LINK], link, *arm.links[LINK + 1 :]) for link in heavier]
    peers = [Pinocchio(replace(arm, links=one)) for one in links]

    def ours() -> np.ndarray:
        variations = [{"robot.links.link2.mass": mass} for mass in masses]
        runs = denoc.ensemble(scenario, variations)
        return np.array([[run.table[f"{name}.q"][-1] for name in arm.robot.joints] for run in runs])

    def rate(peer: Pinocchio, t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], peer.pin.aba(peer.model, peer.data, y[:n], y[n:], start[n:])])

    def theirs() -> np.ndarray:
        span = (0.0, SECONDS)
        runs = [solve_ivp(partial(rate, peer), span, start, method="RK45", rtol=RTOL, atol=ATOL) for peer in peers]
        return np.array([run.y[:n, -1] for run in runs])

    before = os.environ.get("DENOC_CORES")
    os.environ["DENOC_CORES"] = "1"  # the times are those of one thread
    try:
        checked(WORK, "scipy RK45 + Pinocchio", ours()[:FEW], theirs())
        took = quickest({"ours": ours, "theirs": theirs})
    finally:
        os.environ.pop("DENOC_CORES")
        if before is not None:
            os.environ["DENOC_CORES"] = before
    return [against(WORK, took["ours"] / COUNT, "scipy RK45 + Pinocchio", took["theirs"] / FEW, REACH)]
