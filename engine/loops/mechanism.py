"""What is computed of a robot with loops, couplings or actuators of its own: arrays in, arrays out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dynamics import calls as tree
from ..dynamics.quantities import frames
from ..dynamics.quantities import reactions as tree_reactions
from ..dynamics.samples import Samples, computes
from ..dynamics.wrenches import moved
from ..robot.model import Robot
from . import branches, effort
from . import texts as compiled
from .balance import Balance, Forces, enough, shares
from .branches import Inverse, efforts
from .constraints import Closure, closure
from .partition import independent_speeds
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
    family = branches.inverse(loops, wrenched)
    found = family.rows(arrays)
    if shares(family) and effort.beyond(found, efforts(robot)).any():
        found = forces_of(s, tree.inverse(robot, q, qd, qdd, wrenches)).actuated
    elif s.count is None:
        serve(family.known[0], "inverse")
    return found if s.count is not None else found[0]


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """The accelerations of all tree joints under these forces."""
    if wrenches is None and (answer := quick("forward", Forward, robot, q, qd, tau)) is not None:
        return answer
    s = Samples(robot, q=q, qd=qd, tau=tau).finite()
    wrenched, w = s.acting(wrenches)
    if s.count == 0:
        return np.empty((0, robot.nv))
    arrays = {"w": w, **{name: s.rows(name) for name in ("q", "qd", "tau")}}
    family = compiled.forward(closure(robot), wrenched)
    qdd = family.rows(arrays)
    if s.count is None:
        serve(family.known[0], "forward")
    return qdd if s.count is not None else qdd[0]


def reduced(robot: Robot, q: Any, qd: Any) -> tuple[np.ndarray, np.ndarray]:
    """The inertia matrix and the bias in the independent coordinates, the actuated ones if these are enough."""
    s = Samples(robot, q=q, qd=qd).finite()
    arrays = {name: s.rows(name) for name in ("q", "qd")}
    loops = closure(robot)
    consistent(loops, arrays)
    found = compiled.reduction(loops, independent_speeds(loops, loops.jacobian(arrays["q"][0])[0])).rows(arrays)
    n = math.isqrt(found.shape[1])  # n² + n numbers
    I, h = found[:, : n * n].reshape(-1, n, n), found[:, n * n :]
    return (I, h) if s.count is not None else (I[0], h[0])


@computes
def reactions(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> dict[str, np.ndarray]:
    """The wrench at every joint, and of each cut what its first link exerts on the second, base-frame axes."""
    s = Samples(robot, q=q, qd=qd, qdd=qdd).finite()
    forces = forces_of(s, tree.inverse(robot, q, qd, qdd, wrenches))
    on_links, cuts = applied(robot, s, forces, closure(robot))
    for link, six in (wrenches or {}).items():
        on_links[link] = on_links.get(link, 0.0) + np.asarray(six, dtype=float)
    names = [loop.name for loop in robot.loops]
    found = {**tree_reactions(robot, q, qd, qdd, on_links)}
    return found | {name: six for name, six in cuts.items() if name in names}


def forces_of(s: Samples, tau: np.ndarray) -> Forces:
    """The forces behind the spanning tree's, of checked samples."""
    balance = Balance(s.robot, s.rows("q"))
    consistent(balance.loops, {"q": balance.q, "qd": s.rows("qd")})
    enough(balance)
    return balance.solve(tau)


def applied(robot: Robot, s: Samples, forces: Forces, loops: Closure) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What cuts and actuators do: [n; f] on links (their origins, their axes); and each cut's wrench in the base."""
    placed = frames(robot, s.arrays["q"])
    on_links: dict[str, Any] = {}
    cuts: dict[str, np.ndarray] = {}
    multipliers = forces.multipliers if s.count is not None else forces.multipliers[0]

    def put(link: str, n: np.ndarray, f: np.ndarray, at: np.ndarray) -> None:
        if link != "base":
            on_links[link] = on_links.get(link, 0.0) + moved(n, f, at)

    for tied, one, rows in zip(loops.tied(s.scalars("q")), loops.ties, loops.places):
        n, f = (s.array(x) for x in tied.push([multipliers[..., k] for k in range(rows.start, rows.stop)]))
        (first, second), (one_frame, two_frame) = one.links, one.frames
        R1, R2 = one_frame.rotation(), two_frame.rotation()
        p, turned = s.array(tied.place.p), [s.array(x) for x in tied.axes()]
        put(first, -n @ R1.T, -f @ R1.T, np.array(one_frame.origin) + p @ R1.T)
        n2, f2 = (np.stack([(axis * x).sum(axis=-1) for axis in turned], axis=-1) for x in (n, f))
        put(second, n2 @ R2.T, f2 @ R2.T, np.array(two_frame.origin))
        R = placed[first][..., :3, :3] @ R1 if first != "base" else R1
        cuts[one.name] = np.concatenate([np.einsum("...ij,...j->...i", R, x) for x in (n, f)], axis=-1)
    for c, actuator in enumerate(robot.actuators):
        x = forces.actuated[:, len(robot.driven) + c]
        push = (x if s.count is not None else x[0])[..., None] * np.array(actuator.direction)
        if actuator.axes == "base":
            push = np.einsum("...ji,...j->...i", placed[actuator.link][..., :3, :3], push)
        none = np.zeros_like(push)
        n, f = (push, none) if actuator.moment else (none, push)
        put(actuator.link, n, f, np.array(actuator.at))
    return on_links, cuts
