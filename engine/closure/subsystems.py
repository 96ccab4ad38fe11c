"""Which branches of the spanning tree can be solved for their unknown forces by themselves, and in which order.

A branch is what hangs on one joint of the base.  Its equations are those of its speeds; its unknowns are the
multipliers of the ties that end on it and the forces of its actuators.  Where these are no more than the equations
determine, the branch is solved, and what it found is known to its neighbours (Chaudhary and Saha's subsystem
recursion, overview section 4).  Where no branch is determinate, all that are left are solved at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..robot.model import Robot
from .rank import TINY

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (N, e, u) and (N, e) → (N, u)


@dataclass(frozen=True)
class Step:
    """One small system: the branches whose equations it has, and the unknowns that it finds."""

    branches: tuple[int, ...]
    equations: tuple[int, ...]
    unknowns: tuple[int, ...]
    determinate: bool


def branches(robot: Robot) -> list[tuple[int, ...]]:
    """The speeds of each branch; branches in the order of their first bodies."""
    roots: list[int] = []
    speeds: dict[int, list[int]] = {}
    for i, body in enumerate(robot.tree.bodies):
        roots.append(i if body.parent is None else roots[body.parent])
        speeds.setdefault(roots[i], []).extend(body.speeds)
    return [tuple(sorted(group)) for group in speeds.values()]


def branch_links(robot: Robot) -> list[tuple[str, ...]]:
    """The names of each branch's links, in the same order."""
    groups: dict[int, list[str]] = {}
    roots: list[int] = []
    for i, body in enumerate(robot.tree.bodies):
        roots.append(i if body.parent is None else roots[body.parent])
        groups.setdefault(roots[i], [])
    for link in robot.links:
        body_, _ = robot.tree.seats[link.name]
        if body_ is not None:
            groups[roots[body_]].append(link.name)
    return [tuple(names) for names in groups.values()]


def order(parts: Sequence[tuple[int, ...]], A: np.ndarray, present: np.ndarray) -> list[Step]:
    """The steps for A x = b; `present` says which unknowns enter which equation at all."""
    left, known, steps = list(range(len(parts))), set[int](), []

    def unknown_in(equations: Sequence[int]) -> list[int]:
        return [c for c in range(A.shape[1]) if c not in known and present[list(equations), c].any()]

    while left:
        for b in left:
            equations, unknowns = parts[b], unknown_in(parts[b])
            if _determined(A[np.ix_(equations, unknowns)]):
                steps.append(Step((b,), equations, tuple(unknowns), True))
                known.update(unknowns)
                left.remove(b)
                break
        else:
            equations = tuple(sorted(k for b in left for k in parts[b]))
            unknowns = unknown_in(equations)
            steps.append(Step(tuple(left), equations, tuple(unknowns), _determined(A[np.ix_(equations, unknowns)])))
            left = []
    return steps


def solved(steps: Sequence[Step], A: np.ndarray, b: np.ndarray, solve: Solve) -> np.ndarray:
    """X of A x = b for many samples, step by step; `solve` is given each small system."""
    x = np.zeros((len(b), A.shape[2]))
    for step in steps:
        if not step.unknowns:
            continue
        e, u = list(step.equations), list(step.unknowns)
        rest = b[:, e] - np.einsum("neu,nu->ne", A[:, e], x)
        x[:, u] = solve(A[:, e][:, :, u], rest)
    return x


def _determined(A: np.ndarray) -> bool:
    if A.shape[1] > A.shape[0]:
        return False
    if not A.shape[1]:
        return True
    s = np.linalg.svd(A, compute_uv=False)
    return bool(s.min() > TINY * s.max())
