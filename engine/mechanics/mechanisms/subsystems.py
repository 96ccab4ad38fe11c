"""Subsystem recursion: branches of the spanning tree that are solved for their unknown forces one after the other.

A branch is everything that hangs on one joint of the base.  Its equations are those of its speeds; its unknowns are the
multipliers of the ties that end on it and the forces of its actuators.  A branch whose equations determine its unknowns
is solved, and its neighbours then know them (Chaudhary and Saha's subsystem recursion, overview section 4).  Where no
branch is determinate, all that are left are solved together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...machine.program import Scalar, as_floats
from ...robot import Robot
from ..closure.elimination import Elimination, Pivots, pivot_order_of_constraints
from ..closure.rank import TINY, independent_constraint_rows
from ..tree.dense import solve_with_inertia_factors
from ..tree.spatial import dot


@dataclass(frozen=True)
class Subsystem:
    """One small system: its branches with their equations, and the unknowns that these determine.

    It is eliminated by `pivots`, places among its equations and among its unknowns, which had these `sizes` at the
    position where they were chosen.  Equations without a pivot belong to idle spins.
    """

    branches: tuple[int, ...]
    equations: tuple[int, ...]
    unknowns: tuple[int, ...]
    determinate: bool
    pivots: Pivots = ()
    sizes: tuple[float, ...] = ()


def branches_of_subsystems(robot: Robot) -> list[tuple[int, ...]]:
    """The speeds of each branch, in the order of the branches' first bodies."""
    roots: list[int] = []
    speeds: dict[int, list[int]] = {}
    for i, body in enumerate(robot.tree.bodies):
        roots.append(i if body.parent is None else roots[body.parent])
        speeds.setdefault(roots[i], []).extend(body.speeds)
    return [tuple(sorted(group)) for group in speeds.values()]


def branch_links_of_subsystems(robot: Robot) -> list[tuple[str, ...]]:
    """The names of each branch's links, in the order of `branches`."""
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


def order_of_subsystem_steps(parts: Sequence[tuple[int, ...]], A: np.ndarray, present: np.ndarray) -> list[Subsystem]:
    """The steps for A x = b; `present` says which unknowns enter which equations in any position."""
    left, known, steps = list(range(len(parts))), set[int](), []

    def unknown_in(equations: Sequence[int]) -> list[int]:
        return [c for c in range(A.shape[1]) if c not in known and present[list(equations), c].any()]

    while left:
        for b in left:
            equations, unknowns = parts[b], unknown_in(parts[b])
            if _determined(A[np.ix_(equations, unknowns)]):
                steps.append(Subsystem((b,), equations, tuple(unknowns), True))
                known.update(unknowns)
                left.remove(b)
                break
        else:
            equations = tuple(sorted(k for b in left for k in parts[b]))
            unknowns = unknown_in(equations)
            steps.append(
                Subsystem(tuple(left), equations, tuple(unknowns), _determined(A[np.ix_(equations, unknowns)]))
            )
            left = []
    return steps


def eliminate_subsystem_step(step: Subsystem, A: np.ndarray, scaled: np.ndarray) -> Subsystem:
    """The step with an order of pivots that is good for A, chosen from its scaled entries."""
    if not (step.determinate and step.unknowns):
        return step
    own = np.ix_(step.equations, step.unknowns)
    rows = sorted(independent_constraint_rows(scaled[own], [range(len(step.equations))]))
    size = abs(scaled[own][rows])
    order = tuple(
        (rows[r], c) for r, c in pivot_order_of_constraints(scaled[own][rows] / size.max(axis=1, initial=0.0)[:, None])
    )
    return replace(step, pivots=order, sizes=tuple(as_floats(Elimination(A[own].tolist(), order).pivots)))


def solve_subsystem_steps(
    steps: Sequence[Subsystem], A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]
) -> tuple[dict[int, Scalar], list[Scalar]]:
    """The solution of A x = b for the unknowns that determinate steps find, and the pivots of these steps."""
    x: dict[int, Scalar] = {}
    result: list[Scalar] = []
    for step in steps:
        if not step.pivots:
            continue
        right = []
        for k in step.equations:
            rest = b[k]
            for c, known in x.items():
                if not (isinstance(A[k][c], float) and A[k][c] == 0.0):
                    rest = rest - A[k][c] * known
            right.append(rest)
        own = [[A[k][c] for c in step.unknowns] for k in step.equations]
        K = Elimination(own, step.pivots)
        x.update(zip(step.unknowns, K.solve(_without_spins(K, step, own, right))))
        result += K.pivots
    return x, result


def _without_spins(K: Elimination, step: Subsystem, A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """The right side b without the part that no unknown can balance, which would turn rods about their own axes.

    Each equation without a pivot is Σ m_i of the others; so n = [−m; 1] is square to all columns of A, and b becomes
    b − n (nᵀ n)⁻¹ nᵀ b.
    """
    right, taken = list(b), [r for r, _ in step.pivots]
    left = [r for r in range(len(b)) if r not in taken]
    if left:
        ways = [K.transposed(A[r]) for r in left]
        off = [b[r] - dot([m[s] for s in taken], [b[s] for s in taken]) for r, m in zip(left, ways)]
        gram = [
            [float(i == j) + dot(ways[max(i, j)], ways[min(i, j)]) for j in range(len(left))] for i in range(len(left))
        ]
        for m, share in zip(ways, solve_with_inertia_factors(gram, off)):
            for s in taken:
                right[s] = right[s] + share * m[s]
    return right


def _one_and_gram(rows: Sequence[list[Scalar]]) -> list[list[Scalar]]:
    """The matrix 1 + C Cᵀ, from the rows of C."""
    n = len(rows)
    return [[float(i == j) + dot(rows[max(i, j)], rows[min(i, j)]) for j in range(n)] for i in range(n)]


def least_norm_multipliers(
    C: Sequence[list[Scalar]], multipliers: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """Multipliers of independent and of dependent rows, of least norm among those with the same effect on the links.

    Row d is Σ C_di of the independent rows, so z = [−Cᵀ; 1] has no effect on the links: the dependent rows have
    μ = (1 + C Cᵀ)⁻¹ C λ, the independent ones λ − Cᵀ μ.
    """
    if not C or not multipliers:  # where no row says anything, no multiplier has an effect
        return list(multipliers), [0.0] * len(C)
    result = list(multipliers)
    others = solve_with_inertia_factors(_one_and_gram(C), [dot(row, result) for row in C])
    for row, share in zip(C, others):
        result = [x - entry * share for x, entry in zip(result, row)]
    return result, others


def _determined(A: np.ndarray) -> bool:
    if A.shape[1] > A.shape[0]:
        return False
    if not A.shape[1]:
        return True
    s = np.linalg.svd(A, compute_uv=False)
    return bool(s.min() > TINY * s.max())
