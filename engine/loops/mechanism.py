"""What is computed of a robot with loops, couplings or actuators of its own: arrays in, arrays out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dynamics import calls as tree
from ..dynamics import quantities
from ..dynamics.samples import Samples
from ..robot.model import Robot
from . import branches, effort
from . import texts as compiled
from .balance import Balance, Forces, enough, shares
from .branches import Inverse, efforts
from .constraints import closure
from .partition import independent_speeds
from .reactions import Reactions, wrench_texts, wrenches_of
from .texts import Forward, consistent, quick, serve

Wrenches = Mapping[str, Any]


def inverse(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """The forces of the actuated joints and of `actuators` for this motion, of least weighted norm where they share."""
    if wrenches is None and (answer := quick("inverse", Inverse, robot, q, qd, qdd)) is not None:
        return answer
    s = Samples(robot, q=q, qd=qd, qdd=qdd).finite()
    wrenched, w = s.acting(wrenches)
    loops, arrays = closure(robot), {"w": w, **{name: s.rows(name) for name in ("q", "qd", "qdd")}}
    if s.count == 0:
        return np.empty((0, len(efforts(robot))))
    if Inverse not in robot.derived:  # whether there are enough doesn't change
        enough(Balance(robot, arrays["q"]))
    family = branches.inverse_texts(loops, wrenched)
    result = family.rows(arrays)
    if shares(family) and effort.exceed_limits(result, efforts(robot)).any():
        result = forces_of(s, tree.inverse(robot, q, qd, qdd, wrenches)).actuated
    else:
        serve(family.known[0], "inverse")
    return result if s.count is not None else result[0]


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """The accelerations of all tree joints under these forces."""
    if wrenches is None and (answer := quick("forward", Forward, robot, q, qd, tau)) is not None:
        return answer
    s = Samples(robot, q=q, qd=qd, tau=tau).finite()
    wrenched, w = s.acting(wrenches)
    if s.count == 0:
        return np.empty((0, robot.nv))
    arrays = {"w": w, **{name: s.rows(name) for name in ("q", "qd", "tau")}}
    family = compiled.forward_texts(closure(robot), wrenched)
    qdd = family.rows(arrays)
    serve(family.known[0], "forward")
    return qdd if s.count is not None else qdd[0]


def reduced(robot: Robot, q: Any, qd: Any) -> tuple[np.ndarray, np.ndarray]:
    """The inertia matrix and the bias in the independent coordinates, the actuated ones if these are enough."""
    s = Samples(robot, q=q, qd=qd).finite()
    arrays = {name: s.rows(name) for name in ("q", "qd")}
    loops = closure(robot)
    consistent(loops, arrays)
    result = compiled.reduced_texts(loops, independent_speeds(loops, loops.jacobian(arrays["q"][0])[0])).rows(arrays)
    n = math.isqrt(result.shape[1])  # n² + n numbers
    I, h = result[:, : n * n].reshape(-1, n, n), result[:, n * n :]
    return (I, h) if s.count is not None else (I[0], h[0])


def reactions(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> dict[str, np.ndarray]:
    """The wrench at every joint, and of each cut what its first link exerts on the second, base-frame axes."""
    answer = quick("reactions", Reactions, robot, q, qd, qdd) if wrenches is None else None
    if answer is not None:
        return _named(robot, answer[-6 * (len(robot.links) + len(robot.loops)) :].reshape(-1, 6))
    s = Samples(robot, q=q, qd=qd, qdd=qdd).finite()
    wrenched, w = s.acting(wrenches)
    loops, arrays = closure(robot), {"w": w, **{name: s.rows(name) for name in ("q", "qd", "qdd")}}
    if s.count == 0:
        return _named(robot, np.empty((0, len(robot.links) + len(robot.loops), 6)))
    if Reactions not in robot.derived:  # whether there are enough doesn't change
        enough(Balance(robot, arrays["q"]))
    family = wrench_texts(loops, wrenched)
    rows = family.rows(arrays)
    count = len(efforts(robot))
    sixes = rows[:, count:].reshape(len(rows), -1, 6)
    if shares(family) and (over := effort.exceed_limits(rows[:, :count], efforts(robot))).any():
        given = dict(zip(wrenched, w[over].reshape(over.sum(), -1, 6).swapaxes(0, 1)))
        motion = {name: arrays[name][over] for name in ("q", "qd", "qdd")}
        sixes[over] = _within_limits(Samples(robot, **motion), given)
    return _named(robot, sixes if s.count is not None else sixes[0])


def _named(robot: Robot, sixes: np.ndarray) -> dict[str, np.ndarray]:
    """Wrenches by the names of joints, then of cuts."""
    names = [*(link.joint.name for link in robot.links), *(loop.name for loop in robot.loops)]
    return dict(zip(names, sixes.swapaxes(0, -2)))


def _within_limits(s: Samples, wrenches: dict[str, np.ndarray]) -> np.ndarray:
    """The wrenches in joints and cuts where limits of actuators decide how they share their work."""
    robot, (q, qd, qdd) = s.robot, s.arrays.values()
    forces = forces_of(s, tree.inverse(robot, q, qd, qdd, wrenches))
    on_links, cuts = wrenches_of(closure(robot), q, forces.actuated, forces.multipliers)
    for link, six in wrenches.items():
        on_links[link] = on_links[link] + six if link in on_links else six
    return np.stack([*quantities.reactions(robot, q, qd, qdd, on_links).values(), *cuts.values()], axis=1)


def forces_of(s: Samples, tau: np.ndarray) -> Forces:
    """The forces behind the spanning tree's, of checked samples."""
    balance = Balance(s.robot, s.rows("q"))
    consistent(balance.loops, {"q": balance.q, "qd": s.rows("qd")})
    enough(balance)
    return balance.solve(tau)
