"""Batches of any size and of other robots than the PUMA: beside Pinocchio in Python and in C++, on one core and on all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import cpp
import humanoid
import numpy as np
from arms import Arm, chain
from measure import Row, against, bytes_within, checked, quickest
from pace import within

import denoc
from denoc.formats import load
from denoc.machine.backend import using_backend
from denoc.robot import Robot, Wrench
from denoc.study.verification import Pinocchio

COUNT = 10_000
SMALL = {8: 0.5e-6, 100: 0.06e-6, 1000: 0.02e-6}  # samples, and the seconds that each may take
KEPT = 14e-9
BOTH = 1.8  # times as quick on two cores
SHARED = (20_000, 200_000)
LONG, EACH = (30, 31), 10e-9  # bodies, on both sides of the length from which on code is a loop; seconds for each
PUSHED, PUSH = 40, 0.4  # bodies, and the time without a wrench in units of that with one
MANY, BESIDE = 10_000_000, 16 * 2**20  # samples, and bytes beside inputs and outputs
Run = Callable[[], np.ndarray]
CALLS: dict[str, Callable[..., np.ndarray]] = {"inverse": denoc.inverse, "forward": denoc.forward}


def general(seed: int = 7) -> Robot:
    """A 6R robot of which no number is 0."""
    rng = np.random.default_rng(seed)
    links = []
    for k in range(6):
        twist, place, com = rng.uniform(-1.5, 1.5, 3), rng.uniform(0.1, 0.5, 3), rng.uniform(-0.2, 0.2, 3)
        A = rng.normal(size=(3, 3))
        I = 0.1 * A @ A.T + 0.05 * np.eye(3)
        inertia = {"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]}
        joint = {"type": "revolute", "actuated": True, "xyz": place.tolist(), "rpy": twist.tolist()}
        link = {"name": f"link{k + 1}", "joint": joint, "mass": rng.uniform(1.0, 8.0), "com": com.tolist()}
        links.append({**link, "inertia": {key: float(x) for key, x in inertia.items()}})
    return denoc.loads(
        json.dumps({"name": "general", "convention": "frames", "gravity": [0.7, -0.4, -9.7], "links": links})
    )


def robots() -> dict[str, Robot]:
    """The robots beside the PUMA."""
    return {
        "6R without zeros": general(),
        humanoid.NAME: humanoid.robot(humanoid.model()),
        "quadruped (solo12), 18 freedoms": load(Path(__file__).with_name("solo12.yaml")),
    }


def samples(robot: Robot, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions with Euler parameters of norm 1, speeds, and accelerations or forces."""
    rng = np.random.default_rng(1)
    q, qd, x = rng.standard_normal((count, robot.nq)), *rng.standard_normal((2, count, robot.nv))
    for joint in robot.moving:
        if joint.type.orientation is not None:
            e = list(joint.coordinates[joint.type.orientation :][:4])
            q[:, e] /= np.linalg.norm(q[:, e], axis=1, keepdims=True)
    return q, qd, x


def beside_pinocchio(name: str, robot: Robot, reach: float = 1.0) -> list[Row]:
    """Both directions of many samples, one core; `reach` is the time of the C++ in units of denoc's."""
    peer, given, result = Pinocchio(robot), samples(robot, COUNT), list[Row]()
    q, v, x = given[0][:, peer.coordinates], given[1][:, peer.speeds], given[2][:, peer.speeds]
    q, v, x = (np.ascontiguousarray(y) for y in (q, v, x))
    native = cpp.peer()
    compiled = cpp.times(native.program, peer.model, q, v, x) if native.program is not None else {}
    for what, call in CALLS.items():
        work, theirs = f"{name}, {COUNT:,} samples, {what}", {"inverse": peer.pin.rnea, "forward": peer.pin.aba}[what]
        out = np.empty((COUNT, robot.nv))

        def python(theirs: Callable[..., np.ndarray] = theirs) -> list[np.ndarray]:
            model, data = peer.model, peer.data
            return [theirs(model, data, q[k], v[k], x[k]) for k in range(COUNT)]

        with using_backend("compiled"):
            ours = call(robot, *given)[:, peer.speeds]
            checked(work, "Pinocchio", ours, np.array(python()))
        # as users call it, who choose nothing
        took = quickest({"ours": partial(call, robot, *given, out=out), "theirs": python}, seconds=2.0)
        mine = took["ours"] / COUNT
        result.append(against(work, mine, "Pinocchio in Python", took["theirs"] / COUNT))
        if what in compiled:
            seconds, found = compiled[what]
            checked(work, "Pinocchio in C++", ours, found)
            result.append(against(work, mine, "Pinocchio in C++", seconds, reach))
        else:
            result.append(Row(work, mine, f"Pinocchio in C++: {native.why}"))
    return result


def small(arm: Arm) -> list[Row]:
    """Small batches, each sample."""
    result = []
    for count, most in SMALL.items():
        given = arm.samples(count)
        for what, call in CALLS.items():
            run = partial(call, arm.robot, *given)
            with using_backend("compiled"):
                run()
            took = quickest({"ours": partial(_repeated, run)}, seconds=1.0)["ours"] / REPEATS
            result.append(within(f"{arm.name}, {count:,} samples at once, {what}, each", took / count, most))
    return result


REPEATS = 50


def _repeated(run: Callable[[], object]) -> None:
    for _ in range(REPEATS):
        run()


def kept(arm: Arm) -> list[Row]:
    """Results that all stay in memory, in fresh arrays, and results in the caller's array."""
    given, result = arm.samples(COUNT), []
    for what, call in CALLS.items():
        out = np.empty_like(given[2])

        def fresh(call: Callable[..., np.ndarray] = call) -> list[np.ndarray]:
            return [call(arm.robot, *given) for _ in range(20)]

        runs = {"fresh": fresh, "out": partial(call, arm.robot, *given, out=out)}
        with using_backend("compiled"):
            for run in runs.values():
                run()
        took = quickest(runs, seconds=2.0)  # as users call it, who choose nothing
        work = f"{arm.name}, {COUNT:,} samples, {what}, each"
        result.append(Row(f"{work}, results kept", took["fresh"] / COUNT / 20))
        result.append(within(f"{work}, in `out=`", took["out"] / COUNT, KEPT))
    return result


def both_cores(arm: Arm) -> list[Row]:
    """The time on the clock with one core and with two; a machine that is busy has no second one."""
    result, before = [], os.environ.get("DENOC_CORES")
    for count in SHARED:
        given = arm.samples(count)
        out = np.empty_like(given[2])
        took = {}
        run = partial(denoc.forward, arm.robot, *given, out=out)
        with using_backend("compiled"):
            run()
        for _ in range(4):  # as users call it, who choose nothing
            for cores in ("1", "2"):
                os.environ["DENOC_CORES"] = cores
                took[cores] = min(took.get(cores, np.inf), *(_on_the_clock(run) for _ in range(40)))
        work = f"{arm.name}, {count:,} samples, forward, on the clock, two cores"
        ratio = took["1"] / took["2"]
        goal = f"at least {BOTH:g}x, on a machine with two cores to spare"
        result.append(Row(work, took["2"] / count, "one core", took["1"] / count, goal, ratio >= BOTH))
    os.environ.pop("DENOC_CORES")
    if before is not None:
        os.environ["DENOC_CORES"] = before
    return result


def _on_the_clock(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def chains() -> list[Row]:
    """Chains on both sides of the length from which on there is no straight-line code for many samples, each body."""
    arms = [chain(n) for n in LONG]
    given = [arm.samples(COUNT) for arm in arms]
    runs = {}
    for arm, samples in zip(arms, given):
        runs[arm.name] = call = partial(denoc.forward, arm.robot, *samples, out=np.empty_like(samples[2]))
        _as_plain(f"{arm.name}, forward", denoc.forward, arm.robot, samples, call)
    took = quickest(runs, seconds=2.0)
    works = {arm.name: len(arm.links) * COUNT for arm in arms}
    return [within(f"{name}, {COUNT:,} samples, forward, each body", took[name] / works[name], EACH) for name in took]


def pushed() -> list[Row]:
    """A chain whose last body has a wrench in base axes, which is turned into those of the body, beside none."""
    arm = chain(PUSHED)
    wrench = Wrench(arm.robot.links[-1].name, (0.1, -0.2, 0.3, 1.0, 2.0, -5.0), (0.02, 0.01, 0.03), "base")
    robots, samples = (
        {"with": replace(arm.robot, wrenches=(wrench,), vouched=True), "without": arm.robot},
        arm.samples(COUNT),
    )
    work, runs = f"{arm.name}, {COUNT:,} samples, inverse, with a wrench in base axes", {}
    for name, robot in robots.items():
        runs[name] = call = partial(denoc.inverse, robot, *samples, out=np.empty_like(samples[2]))
        _as_plain(work, denoc.inverse, robot, samples, call)
    took = quickest(runs, seconds=2.0)
    return [against(work, took["with"] / COUNT, "denoc, without it", took["without"] / COUNT, PUSH)]


def _as_plain(work: str, call: Callable[..., np.ndarray], robot: Robot, given: list[np.ndarray], run: Run) -> None:
    """Raises if the first and last samples of the run's results aren't those of the plain text."""
    with using_backend("compiled"):
        ours = run()
    some = [0, 1, COUNT - 1]
    with using_backend("plain"):
        checked(work, "plain text", ours[some], call(robot, *(x[some] for x in given)))


def memory() -> list[Row]:
    """Bytes beside inputs and outputs for very many samples."""
    command = [sys.executable, str(Path(__file__).with_name("memory.py")), "--many", str(MANY)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    most = max(json.loads(done.stdout).values())
    return [bytes_within(f"PUMA, {MANY:,} samples, memory beside inputs and outputs", most, BESIDE)]


def rows(arm: Arm) -> list[Row]:
    result = [*small(arm), *kept(arm), *both_cores(arm), *chains(), *pushed(), *memory()]
    for name, robot in ({"PUMA": arm.robot} | robots()).items():
        result += beside_pinocchio(name, robot)
    return result


if __name__ == "__main__":
    from arms import puma
    from measure import table

    print(table(rows(puma())))
