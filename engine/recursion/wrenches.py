"""Wrenches on links: where they act, in whose axes, and what the recursion takes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..machine.scalars import Scalar
from ..robot.model import Robot, Three, Tree
from .sweeps import Load, Wrenches

Applied = tuple[str, Sequence[Scalar], Three, str]  # link, [n; f], the point where f acts (link axes), link or base


def on_bodies(tree: Tree, applied: Iterable[Applied]) -> tuple[Wrenches, list[Load]]:
    """Wrenches on links as the recursion takes them: in body axes at body origins, and those in base axes."""
    wrenches: dict[int, list[Scalar]] = {}
    loads: list[Load] = []
    for link, six, at, axes in applied:
        body, seat = tree.seats[link]
        if body is None:
            continue  # on a link fixed to the ground it does nothing
        R = seat.rotation()
        x, y, z = (float(c) for c in R @ np.array(at) + np.array(seat.origin))
        if axes == "base":
            loads.append((body, list(six), [x, y, z]))
            continue
        n, f = _turned(R, six[:3]), _turned(R, six[3:])
        moved = [n[0] + y * f[2] - z * f[1], n[1] + z * f[0] - x * f[2], n[2] + x * f[1] - y * f[0], *f]
        wrenches[body] = [a + b for a, b in zip(wrenches[body], moved)] if body in wrenches else moved
    return wrenches, loads


def _turned(R: np.ndarray, v: Sequence[Scalar]) -> list[Scalar]:
    return [sum(float(R[r, k]) * v[k] for k in range(3)) for r in range(3)]


def constant_wrenches(robot: Robot) -> list[Applied]:
    """Those of the robot's own file."""
    return [(wrench.link, list(wrench.wrench), wrench.at, wrench.axes) for wrench in robot.wrenches]
