"""Many runs of half a second that differ in numbers, with tables: denoc's ensemble beside scipy and Pinocchio run by run.

Those that these peers don't do alike are compared with each run by itself, and stand beside the study of the PUMA's falls.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from arms import Arm
from measure import Row, against, checked, quickest
from pace import within
from peers import Pinocchio

import denoc
from denoc.machine.backend import using_backend
from denoc.scenario import DOUBTFUL
from denoc.study.run_blocks import blocks_of_variations
from denoc.text import yaml_text

WORK = "ensemble: fall 0.5 s with another mass, a run"
KEPT = "the same, of 10,000 in blocks, five numbers of each kept"
SWEPT = "the same as a study, six numbers of each kept, with its table"
CHOSEN = "the same ensemble with DENOC_BACKEND=compiled"
STUDY = "denoc's study of the PUMA's falls"
PEER = "scipy RK45 + Pinocchio"
COUNT, MANY, FEW, LINK = 2000, 10_000, 10, 1
MASSES = (14.0, 17.0)
KEY = "robot.links.link2.mass"
REACH = 15
MOST, MOST_WITH_LAWS = 30e-6, 100e-6  # s a run; with friction, laws and limits
DEARER = 20  # times the PUMA's, that falls with loops may cost
NEVER_SLOWER = 0.9  # the time by default in units of that with compiled code chosen, but for noise
POSES = (
    (1.0, 300, 40, 60),
    (-1.0, 500, 60, 120),
    (0.5, 200, 20, 60),
    (0.5, 5, 0.5, 2),
    (0.5, 5, 0.5, 2),
    (0.5, 2, 0.2, 1),
)
COULOMB, VISCOUS = (2.0, 5.0, 3.0, 0.2, 0.2, 0.1), (1.5, 3.0, 2.0, 0.02, 0.01, 0.01)
SECONDS, RTOL, ATOL = 0.5, 1e-8, 1e-10
Variations = list[dict[str, Any]]


@dataclass(frozen=True)
class Ensemble:
    """Runs of one scenario, and how long each may take; `column` is what is compared."""

    work: str
    scenario: dict[str, Any]
    variations: Variations
    most: float | None = MOST_WITH_LAWS
    column: str = "joint2.q"

    def run(self) -> None:
        """All of them, as users call them, whose tables are made when they are asked for."""
        denoc.ensemble(self.scenario, self.variations)

    def check(self) -> None:
        """Raises if the first runs aren't what they are by themselves."""
        few = self.variations[:FEW]
        alone = [denoc.ensemble(self.scenario, [one])[0] for one in few]
        ours = np.array([one.table[self.column] for one in denoc.ensemble(self.scenario, self.variations)[:FEW]])
        checked(self.work, "each by itself", ours, np.array([one.table[self.column] for one in alone]))


def ensembles(scenario: dict[str, Any], masses: list[float]) -> list[Ensemble]:
    """Those of the PUMA with friction, laws and limits, and one of a linkage."""
    each = [{KEY: mass} for mass in masses]
    friction = "robot.links.link{}.joint.friction.{}"
    rubbing = {friction.format(k, "coulomb"): x for k, x in enumerate(COULOMB, start=1)}
    worn = np.random.default_rng(2).uniform(0.5, 1.5, (len(masses), len(VISCOUS))) * VISCOUS
    viscous = [
        one | {friction.format(k, "viscous"): x for k, x in enumerate(row, start=1)}
        for one, row in zip(each, worn.tolist())
    ]
    swinging = {
        f"joint{k}": {"law": "harmonic", "amplitude": x / 4, "frequency": 1.0 + 0.3 * k}
        for k, (*_, x) in enumerate(POSES, start=1)
    }
    led = {f"joint{k}": {"law": "pd", "to": to, "kp": kp, "kd": kd} for k, (to, kp, kd, _) in enumerate(POSES, start=1)}
    limits = {f"robot.links.link{k}.joint.effort.limits": [-x, x] for k, (*_, x) in enumerate(POSES, start=1)}
    gains = np.random.default_rng(3).uniform(0.8, 1.2, (len(masses), len(POSES))).tolist()
    tuned = [
        {f"forces.joint{k}.kp": kp * x for k, ((_, kp, *_), x) in enumerate(zip(POSES, row), start=1)} for row in gains
    ]
    turned = {
        "robot": "puma",
        "task": "inverse",
        "time": {"end": 2.0, "step": 0.05},
        "motion": {"all": {"law": "cycloid", "to": 1.5}},
    }
    fallen = {**scenario, "robot": "four-bar", "initial": {"A0": 1.0}}
    random = np.random.default_rng(1).uniform(0.95, 1.05, (len(masses), 3)).tolist()
    keys = ("robot.links.coupler.mass", "robot.links.rocker.joint.xyz", "robot.links.coupler.joint.xyz")
    linkages = [dict(zip(keys, (3.0 * a, [0.28 * b, 0.0, 0.0], [0.1 * c, 0.0, 0.0]))) for a, b, c in random]
    return [
        Ensemble("the same with dry friction in all joints", scenario, [one | rubbing for one in each]),
        Ensemble("the same with other viscous friction in each joint of each run", scenario, viscous),
        Ensemble("driven by harmonic forces in all joints", {**scenario, "forces": swinging}, each),
        Ensemble("to a place by pd, with other gains in each run", {**scenario, "forces": led}, tuned),
        Ensemble("inverse dynamics along 41 rows, with another mass in each run", turned, each, column="joint2.tau"),
        Ensemble(
            "to a place by pd, with effort limits that are reached 13 times",
            {**scenario, "forces": led},
            [one | limits for one in each],
        ),
        Ensemble("four-bar linkage: fall 0.5 s with other masses and lengths, a run", fallen, linkages, None, "A0.q"),
    ]


def rows(arm: Arm) -> list[Row]:
    """One run of many, on one core, with its coordinates at the end."""
    n, low, high = len(arm.links), *MASSES
    # as a study with the seed 0 has them
    masses = (low + (high - low) * np.random.default_rng([0, 0]).random(MANY)).tolist()
    scenario = {
        "robot": "puma",
        "task": "simulate",
        "time": {"end": SECONDS, "step": 0.05},
        "solver": {"rtol": RTOL, "atol": ATOL},
    }
    some = [{KEY: mass} for mass in masses[:COUNT]]

    def ours() -> np.ndarray:
        runs = denoc.ensemble(scenario, some)
        return np.array([[run.table[f"{name}.q"][-1] for name in arm.robot.joints] for run in runs])

    def chosen() -> np.ndarray:
        with using_backend("compiled"):
            return ours()

    def kept() -> np.ndarray:
        found = np.empty((MANY, n))
        for block in blocks_of_variations(scenario, [{KEY: mass} for mass in masses]):
            if not (block.share < DOUBTFUL).all():
                raise ArithmeticError(f"{KEPT}: an energy balance is broken")
            found[block.places] = np.array([block.columns[f"{name}.q"][:, -1] for name in arm.robot.joints]).T
        return found

    others, theirs = ensembles(scenario, masses[:COUNT]), beside(arm, masses[:FEW])
    swept = partial(swept_study, scenario, arm.robot.joints)
    with one_core():
        for work, call in ((WORK, ours), (CHOSEN, chosen), (KEPT, kept), (SWEPT, swept)):
            checked(work, PEER, call()[:FEW], theirs())
        for one in others:
            one.check()
        contestants = {"ours": ours, "chosen": chosen, "kept": kept, "swept": swept, "theirs": theirs}
        took = quickest({**contestants, **{one.work: one.run for one in others}})
    each, single, study = took["ours"] / COUNT, took["theirs"] / FEW, took["swept"] / MANY
    found = [
        against(WORK, each, PEER, single, REACH),
        within(WORK, each, MOST),
        against(CHOSEN, took["chosen"] / COUNT, "denoc by default", each, NEVER_SLOWER),
        against(KEPT, took["kept"] / MANY, PEER, single, REACH),
        against(SWEPT, study, PEER, single, REACH),
    ]
    for one in others:
        mine = took[one.work] / COUNT
        found.append(against(one.work, mine, STUDY, study, 1 / DEARER))
        found += [] if one.most is None else [within(one.work, mine, one.most)]
    return found


def swept_study(scenario: dict[str, Any], joints: tuple[str, ...]) -> np.ndarray:
    """The same falls as a study, whose table is written."""
    study = {
        "vary": {"load": {"key": KEY, "random": list(MASSES)}},
        "samples": MANY,
        "keep": {f"end{k}": {"column": f"{name}.q", "take": "final"} for k, name in enumerate(joints)},
        "expect": {"failed": 0},
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fall.yaml"
        file.write_text(yaml_text(scenario))
        made = denoc.sweep({**study, "scenario": str(file)})
        if made.missed or set(made["energy"]) != {"holds"}:
            raise ArithmeticError(f"{SWEPT}: a run has failed, or its energy balance is broken")
        made.table.to_csv(Path(folder) / "table.csv")
    return np.array([made[name] for name in study["keep"]]).T


def beside(arm: Arm, masses: list[float]) -> Callable[[], np.ndarray]:
    """The falls with these masses by scipy and Pinocchio, one after the other."""
    from scipy.integrate import solve_ivp

    n = len(arm.links)
    start = np.zeros(2 * n)
    start[:n] = arm.robot.q0
    heavier = [replace(arm.links[LINK], m=mass) for mass in masses]
    links = [(*arm.links[:LINK], link, *arm.links[LINK + 1 :]) for link in heavier]
    peers = [Pinocchio(replace(arm, links=one)) for one in links]

    def rate(peer: Pinocchio, t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], peer.pin.aba(peer.model, peer.data, y[:n], y[n:], start[n:])])

    def theirs() -> np.ndarray:
        span = (0.0, SECONDS)
        runs = [solve_ivp(partial(rate, peer), span, start, method="RK45", rtol=RTOL, atol=ATOL) for peer in peers]
        return np.array([run.y[:n, -1] for run in runs])

    return theirs


@contextmanager
def one_core() -> Iterator[None]:
    """A context in which runs stay on one core, for the times are those of one thread."""
    before = os.environ.get("DENOC_CORES")
    os.environ["DENOC_CORES"] = "1"
    try:
        yield
    finally:
        os.environ.pop("DENOC_CORES")
        if before is not None:
            os.environ["DENOC_CORES"] = before


if __name__ == "__main__":
    from arms import puma
    from measure import table

    print(table(rows(puma())))
