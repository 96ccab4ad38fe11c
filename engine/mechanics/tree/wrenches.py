"""Wrenches [n; f] moved between points, axes, links and bodies, and the joint forces that balance them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...machine.program import Scalar, as_samples
from ...robot import ZERO, Body, Robot, Three, Tree
from .spatial import Vector, add, transported_wrench
from .springs import massless_bodies
from .sweeps import Load, Wrenches, sweep_tree

Applied = tuple[str, Sequence[Scalar], Three, str]  # link, [n; f], the point where f acts (link axes), link or base


def wrenches_moved_to_points(n: np.ndarray, f: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Wrenches about other points, from which `reach` leads to the points where they act; components are last."""
    parts: list[Vector] = [[x[..., k] for k in range(3)] for x in (n, f, reach)]
    six = [as_samples(x) for x in transported_wrench(*parts)]
    return np.stack(np.broadcast_arrays(*six), axis=-1)


def wrenches_on_link(six: np.ndarray, at: Three, turn: np.ndarray | None = None) -> np.ndarray:
    """Wrenches at a point of a link as [n; f] at the link's origin, in link axes.

    If the wrenches are in base axes, `turn` is the link's rotation in the base.
    """
    n, f = six[..., :3], six[..., 3:]
    if turn is not None:
        n, f = (np.einsum("...ji,...j->...i", turn, x) for x in (n, f))
    return wrenches_moved_to_points(n, f, np.array(at))


def wrenches_on_bodies(tree: Tree, applied: Iterable[Applied]) -> tuple[Wrenches, list[Load]]:
    """Wrenches on links in the recursion's form: in body axes at body origins, or as loads in base axes."""
    wrenches: dict[int, list[Scalar]] = {}
    loads: list[Load] = []
    for link, six, at, axes in applied:
        body, seat = tree.seats[link]
        if body is None:
            continue  # a wrench on a link that is fixed to the ground has no effect
        R = seat.rotation()
        x, y, z = (float(c) for c in R @ np.array(at) + np.array(seat.origin))
        if axes == "base":
            loads.append((body, list(six), [x, y, z]))
            continue
        n, f = _turned(R, six[:3]), _turned(R, six[3:])
        own = transported_wrench(n, f, [x, y, z])
        wrenches[body] = add(wrenches[body], own) if body in wrenches else own
    return wrenches, loads


def _turned(R: np.ndarray, v: Sequence[Scalar]) -> list[Scalar]:
    return [sum(float(R[r, k]) * v[k] for k in range(3)) for r in range(3)]


def constant_wrenches(robot: Robot) -> list[Applied]:
    """The constant wrenches of the robot's own file."""
    return [(wrench.link, list(wrench.wrench), wrench.at, wrench.axes) for wrench in robot.wrenches]


def joint_forces_that_balance_wrenches(
    bodies: tuple[Body, ...], q: Sequence[Scalar], nv: int, wrenches: Wrenches, loads: Sequence[Load]
) -> list[Scalar]:
    """Joint forces that balance external wrenches, −N_dᵀ N_lᵀ w."""
    tau, _ = sweep_tree(massless_bodies(bodies), ZERO, q, [0.0] * nv, [0.0] * nv, [True] * nv, wrenches, loads)
    return tau
