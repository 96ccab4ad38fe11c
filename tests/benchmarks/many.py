"""Many falls with another mass each, with tables: denoc's ensemble beside scipy and Pinocchio run by run.

Those of the four-bar linkage, with other lengths, too, stand beside the study of the PUMA's falls.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from arms import Arm
from measure import Row, against, checked, quickest
from pace import within

import denoc
from denoc.scenario.audit import DOUBTFUL
from denoc.study.run_blocks import blocks_of_variations
from denoc.text.writing import yaml_text
from peers import Pinocchio

WORK = "ensemble: fall 0.5 s with another mass, a run"
KEPT = "the same, of 10,000 in blocks, five numbers of each kept"
SWEPT = "the same as a study, six numbers of each kept, with its table"
ROUGH = "the same with dry friction in all joints"
LIMITED = "to a place by pd, with effort limits that are reached 13 times"
LINKAGE = "four-bar linkage: fall 0.5 s with other masses and lengths, a run"
STUDY = "denoc's study of the PUMA's falls"
COUNT, MANY, FEW, LINK = 2000, 10_000, 10, 1
MASSES = (14.0, 17.0)
REACH = 15
DEARER = 20  # times the PUMA's, that falls with loops and with dry friction may cost
PEER = "scipy RK45 + Pinocchio"
MOST = 100e-6  # s a run with modes
POSES = (
    (1.0, 300, 40, 60),
    (-1.0, 500, 60, 120),
    (0.5, 200, 20, 60),
    (0.5, 5, 0.5, 2),
    (0.5, 5, 0.5, 2),
    (0.5, 2, 0.2, 1),
)
COULOMB = (2.0, 5.0, 3.0, 0.2, 0.2, 0.1)
SECONDS, RTOL, ATOL = 0.5, 1e-8, 1e-10


def rows(arm: Arm) -> list[Row]:
    """One run of many, on one core, with its coordinates at the end."""
    from scipy.integrate import solve_ivp

    n = len(arm.links)
    low, high = MASSES
    masses = (
        low + (high - low) * np.random.default_rng([0, 0]).random(MANY)
    ).tolist()  # as a study with the seed 0 has
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
        variations = [{"robot.links.link2.mass": mass} for mass in masses[:COUNT]]
        runs = denoc.ensemble(scenario, variations)
        return np.array([[run.table[f"{name}.q"][-1] for name in arm.robot.joints] for run in runs])

    def kept() -> np.ndarray:
        found = np.empty((MANY, n))
        for block in blocks_of_variations(scenario, [{"robot.links.link2.mass": mass} for mass in masses]):
            if not (block.share < DOUBTFUL).all():
                raise ArithmeticError(f"{KEPT}: an energy balance is broken")
            found[block.places] = np.array([block.columns[f"{name}.q"][:, -1] for name in arm.robot.joints]).T
        return found

    study = {
        "vary": {"load": {"key": "robot.links.link2.mass", "random": list(MASSES)}},
        "samples": MANY,
        "keep": {f"end{k}": {"column": f"{name}.q", "take": "final"} for k, name in enumerate(arm.robot.joints)},
        "expect": {"failed": 0},
    }

    def swept() -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fall.yaml"
            file.write_text(yaml_text(scenario))
            made = denoc.sweep({**study, "scenario": str(file)})
            if made.missed or set(made["energy"]) != {"holds"}:
                raise ArithmeticError(f"{SWEPT}: a run has failed, or its energy balance is broken")
            made.table.to_csv(Path(folder) / "table.csv")
        return np.array([made[name] for name in study["keep"]]).T

    def rough() -> None:
        rubbed = {f"robot.links.link{k}.joint.friction.coulomb": x for k, x in enumerate(COULOMB, start=1)}
        denoc.ensemble(scenario, [{"robot.links.link2.mass": mass, **rubbed} for mass in masses[:COUNT]])

    laws = {
        f"joint{k}": {"law": "pd", "to": to, "kp": kp, "kd": kd} for k, (to, kp, kd, _) in enumerate(POSES, start=1)
    }
    limits = {f"robot.links.link{k}.joint.effort.limits": [-x, x] for k, (*_, x) in enumerate(POSES, start=1)}

    def limited() -> None:
        denoc.ensemble(
            {**scenario, "forces": laws}, [{"robot.links.link2.mass": mass, **limits} for mass in masses[:COUNT]]
        )

    fallen = {**scenario, "robot": "four-bar", "initial": {"A0": 1.0}}
    random = np.random.default_rng(1).uniform(0.95, 1.05, (COUNT, 3)).tolist()
    keys = ("robot.links.coupler.mass", "robot.links.rocker.joint.xyz", "robot.links.coupler.joint.xyz")
    linkages = [dict(zip(keys, (3.0 * a, [0.28 * b, 0.0, 0.0], [0.1 * c, 0.0, 0.0]))) for a, b, c in random]

    def linked(variations: list[dict[str, object]]) -> np.ndarray:
        return np.array([run.table["A0.q"] for run in denoc.ensemble(fallen, variations)])

    def rate(peer: Pinocchio, t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], peer.pin.aba(peer.model, peer.data, y[:n], y[n:], start[n:])])

    def theirs() -> np.ndarray:
        span = (0.0, SECONDS)
        runs = [solve_ivp(partial(rate, peer), span, start, method="RK45", rtol=RTOL, atol=ATOL) for peer in peers]
        return np.array([run.y[:n, -1] for run in runs])

    before = os.environ.get("DENOC_CORES")
    os.environ["DENOC_CORES"] = "1"  # the times are those of one thread
    try:
        checked(WORK, PEER, ours()[:FEW], theirs())
        checked(KEPT, PEER, kept()[:FEW], theirs())
        checked(SWEPT, PEER, swept()[:FEW], theirs())
        alone = np.concatenate([linked([one]) for one in linkages[:FEW]])
        checked(LINKAGE, "each by itself", linked(linkages)[:FEW], alone)
        contestants = {"ours": ours, "kept": kept, "swept": swept, "rough": rough, "limited": limited, "theirs": theirs}
        took = quickest({**contestants, "linked": lambda: linked(linkages)})
    finally:
        os.environ.pop("DENOC_CORES")
        if before is not None:
            os.environ["DENOC_CORES"] = before
    single, study = took["theirs"] / FEW, took["swept"] / MANY
    return [
        against(WORK, took["ours"] / COUNT, PEER, single, REACH),
        against(KEPT, took["kept"] / MANY, PEER, single, REACH),
        against(SWEPT, study, PEER, single, REACH),
        against(ROUGH, took["rough"] / COUNT, f"{PEER}, without friction", single, REACH / DEARER),
        against(ROUGH, took["rough"] / COUNT, STUDY, study, 1 / DEARER),
        within(ROUGH, took["rough"] / COUNT, MOST),
        within(LIMITED, took["limited"] / COUNT, MOST),
        against(LINKAGE, took["linked"] / COUNT, STUDY, study, 1 / DEARER),
    ]
