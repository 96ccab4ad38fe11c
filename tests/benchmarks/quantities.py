"""Quantities of the PUMA besides its dynamics, beside Pinocchio: one call from Python, and batches against C++.

Link frames of the two are turned and shifted against each other by constants, so frames and Jacobians are compared as
far as they have to agree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import cpp
import numpy as np
from measure import Row, against, checked, quickest
from pace import within

import denoc
from denoc.formats import load
from denoc.machine.backend import using_backend
from denoc.robot import Robot
from denoc.study.verification import Pinocchio

COUNT = 10_000
CALLS = 500  # that are timed at once
MOST = {"derivatives": 2e-6, "matrices": 150e-6}  # seconds of one call; of all others:
USUAL = 5e-6
EACH = 0.12e-6  # seconds of a sample of derivatives in a batch
LINK = "link6"
Given = tuple[np.ndarray, np.ndarray, np.ndarray]
QUANTITIES: dict[str, Callable[[Robot, Given], Any]] = {
    "derivatives": lambda r, x: denoc.derivatives(r, *x),
    "inertia": lambda r, x: denoc.inertia(r, x[0]),
    "energy": lambda r, x: denoc.energy(r, x[0], x[1]),
    "frames": lambda r, x: denoc.frames(r, x[0]),
    "jacobian": lambda r, x: denoc.jacobian(r, x[0], LINK),
    "reactions": lambda r, x: denoc.reactions(r, *x),
    "matrices": lambda r, x: denoc.matrices(r, x[0], x[1]),
}


def rows() -> list[Row]:
    """One call of each, then batches of those that Pinocchio has."""
    robot = load("puma")
    peer = Pinocchio(robot)
    given: Given = tuple(np.random.default_rng(3).standard_normal((3, COUNT, robot.nv)))  # type: ignore[assignment]
    return [*_single(robot, peer, given), *_batches(robot, peer, given)]


def theirs(peer: Pinocchio) -> dict[str, Callable[..., Any]]:
    """The calls of Pinocchio from Python that give the same."""
    pin, model, data = peer.pin, peer.model, peer.data

    def energy(q: np.ndarray, v: np.ndarray, _: np.ndarray) -> tuple[float, float]:
        return pin.computeKineticEnergy(model, data, q, v), pin.computePotentialEnergy(model, data, q)

    return {
        "derivatives": partial(pin.computeABADerivatives, model, data),
        "inertia": lambda q, v, x: pin.crba(model, data, q),
        "energy": energy,
        "frames": lambda q, v, x: pin.forwardKinematics(model, data, q),
        "jacobian": lambda q, v, x: pin.computeJointJacobian(model, data, q, model.njoints - 1),
    }


def _single(robot: Robot, peer: Pinocchio, given: Given) -> list[Row]:
    """One call for one sample; some hundred calls are timed at once."""
    result, calls = [], theirs(peer)
    one: Given = tuple(x[0] for x in given)  # type: ignore[assignment]
    for name, quantity in QUANTITIES.items():
        work = f"PUMA, one call, {name}"
        own = partial(quantity, robot, one)
        with using_backend("compiled"):
            own()  # and from here on as users call it, who choose nothing
        run: dict[str, Callable[[], object]] = {"ours": partial(_repeated, own)}
        if name in calls:
            run["theirs"] = partial(_repeated, partial(calls[name], *one))
        took = {who: seconds / CALLS for who, seconds in quickest(run, seconds=1.0).items()}
        if name in calls:
            result.append(against(work, took["ours"], "Pinocchio", took["theirs"]))
        result.append(within(work, took["ours"], MOST.get(name, USUAL)))
    return result


def _repeated(call: Callable[[], object]) -> None:
    for _ in range(CALLS):
        call()


def _batches(robot: Robot, peer: Pinocchio, given: Given) -> list[Row]:
    """Many samples beside Pinocchio's loop in C++, which denoc shall not be behind."""
    native, names = cpp.peer(), [*theirs(peer)]
    found = cpp.times(native.program, peer.model, *given, names) if native.program is not None else {}
    result = []
    for name in names:
        work, own = f"PUMA, {COUNT:,} samples, {name}", partial(QUANTITIES[name], robot, given)
        with using_backend("compiled"):
            mine = _comparable(name, own(), peer)
        seconds = quickest({"ours": own}, seconds=1.0)["ours"] / COUNT  # as users call it, who choose nothing
        if name in found:
            its, numbers = found[name]
            checked(work, "Pinocchio in C++", mine, _its_comparable(name, numbers, peer.model.nv))
            result.append(against(work, seconds, "Pinocchio in C++", its, 1.0))
        else:
            result.append(Row(work, seconds, f"Pinocchio in C++: {native.why}"))
        if name == "derivatives":
            result.append(within(work, seconds, EACH))
    return result


def _comparable(name: str, found: Any, peer: Pinocchio) -> np.ndarray:
    """What both have to give alike, a row for each sample."""
    if name == "derivatives":
        return np.concatenate([_flat(found["dq"]), _flat(found["dqd"]), _flat(np.triu(found["dtau"]))], axis=1)
    if name == "energy":
        return np.stack([found["kinetic"], found["potential"]], axis=1)
    if name == "frames":
        return _steps(np.stack([found[link.name] for link in peer.robot.links], axis=1))
    if name == "jacobian":
        return _flat(found[:, :3].swapaxes(1, 2) @ found[:, :3])
    return _flat(np.triu(found))


def _its_comparable(name: str, numbers: np.ndarray, n: int) -> np.ndarray:
    """The same of what C++ has written, whose matrices are column by column."""
    count = len(numbers)
    if name == "derivatives":
        three = numbers.reshape(count, 3, n, n).swapaxes(2, 3)
        return np.concatenate([_flat(three[:, 0]), _flat(three[:, 1]), _flat(np.triu(three[:, 2]))], axis=1)
    if name == "energy":
        return numbers
    if name == "frames":
        frames = np.zeros((count, n, 4, 4))
        twelve = numbers.reshape(count, n, 12)
        frames[..., :3, :3] = twelve[..., :9].reshape(count, n, 3, 3).swapaxes(2, 3)
        frames[..., :3, 3], frames[..., 3, 3] = twelve[..., 9:], 1.0
        return _steps(frames)
    if name == "jacobian":
        turning = numbers.reshape(count, n, 6)[..., 3:]  # of Pinocchio's [v; ω]
        return _flat(turning @ turning.swapaxes(1, 2))
    return _flat(np.triu(numbers.reshape(count, n, n).swapaxes(1, 2)))


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1)


def _steps(frames: np.ndarray) -> np.ndarray:
    """The cosines of the angles by which links turn from the first sample on, which no constant turn changes."""
    R = frames[..., :3, :3]
    return np.trace(R @ R[:1].swapaxes(-1, -2), axis1=-2, axis2=-1)
