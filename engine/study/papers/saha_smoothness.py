"""Saha's claim that O(n) forward dynamics gives smoother accelerations than dense factors, hence fewer steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...api import forward
from ...formats import loads
from ...machine.program import Scalar
from ...mechanics.quantities import bias, inertia
from ...mechanics.tree import sweep_tree
from ...record import Line, Panel
from ...robot import Robot
from ...simulate.integrators import stepper_of_integrator
from .reproduction import Reproduction, Row

LINKS = (4, 12)
HEAVIER = (1.0, 1e3, 1e6)  # mass and inertia of the last link, in those of each other one
TOLERANCES = (1e-8, 1e-11)
FALL = 0.1  # s
MOST = 3500  # evaluations after which a run is given up
STATES = 20  # at which accelerations are compared

Accelerations = Callable[[Robot, np.ndarray, np.ndarray], np.ndarray]


def _recursion(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return forward(robot, q, qd, np.zeros(robot.nv))


def _cholesky(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    from scipy.linalg import cho_factor, cho_solve

    result: np.ndarray = -cho_solve(cho_factor(inertia(robot, q)), bias(robot, q, qd))
    return result


def _lu(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    result: np.ndarray = -np.linalg.solve(inertia(robot, q), bias(robot, q, qd))
    return result


WAYS: dict[str, Accelerations] = {"O(n)": _recursion, "Cholesky": _cholesky, "LU": _lu}


@dataclass(frozen=True)
class SmoothnessCase:
    """One chain: its links, how heavy the last one is, the condition of its inertia matrix, and what each way gives."""

    links: int
    heavier: float
    condition: float
    errors: dict[str, float]  # of accelerations, relative to the largest, beside the same text on more digits
    evaluations: dict[float, dict[str, int]]  # by tolerance


def saha_smoothness_chain(n: int, heavier: float) -> Robot:
    """A chain of n revolute joints in space whose last link is so many times heavier than the others."""
    text = "name: chain\nconvention: dh\nlinks:\n"
    for k in range(1, n + 1):
        x = heavier if k == n else 1.0
        text += (
            f"  - name: link{k}\n"
            f"    joint: {{type: revolute, a: 0.3, b: 0.03, alpha: {0.7 if k % 2 else -0.4}, theta: 0.3}}\n"
            f"    mass: {x:.1f}\n    r: [0.15, 0.01, -0.02]\n"
            f"    inertia: {{xx: {2e-3 * x:.6f}, yy: {8e-3 * x:.6f}, zz: {9e-3 * x:.6f}}}\n"
        )
    return loads(text)


def saha_smoothness_case(n: int, heavier: float) -> SmoothnessCase:
    """What the three ways give for one chain."""
    robot, rng = saha_smoothness_chain(n, heavier), np.random.default_rng(n)
    q, qd = rng.uniform(-1.0, 1.0, (STATES, n)), rng.standard_normal((STATES, n))
    right = saha_exact_accelerations(robot, q, qd)
    size = abs(right).max(axis=1)
    errors = {
        name: float(max(abs(way(robot, *state) - x).max() / y for *state, x, y in zip(q, qd, right, size)))
        for name, way in WAYS.items()
    }
    evaluations = {rtol: {name: _fallen(robot, way, rtol) for name, way in WAYS.items()} for rtol in TOLERANCES}
    return SmoothnessCase(n, heavier, float(np.linalg.cond(inertia(robot, q)).max()), errors, evaluations)


def saha_exact_accelerations(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The accelerations of a robot without forces, by the recursion in NumPy's longest floats."""

    def longer(rows: np.ndarray) -> list[Scalar]:
        return [np.ascontiguousarray(x, dtype=np.longdouble) for x in rows.T]

    none = longer(np.zeros_like(q))
    qdd, _ = sweep_tree(robot.tree.bodies, robot.gravity, longer(q), longer(qd), none, (False,) * robot.nv)
    return np.array(qdd, dtype=float).T


def _fallen(robot: Robot, way: Accelerations, rtol: float) -> int:
    """The evaluations of a fall from rest, or `MOST` where it is given up."""
    n = robot.nv

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], way(robot, y[:n], y[n:])])

    start = np.concatenate([robot.q0, np.zeros(n)])
    stepper = stepper_of_integrator("rk45", rates, 0.0, start, FALL, rtol=rtol, atol=rtol / 100)
    while stepper.t < FALL and stepper.evaluations < MOST:
        if stepper.step():
            return MOST
    return min(stepper.evaluations, MOST)


# ---- the exhibit


def saha_smoothness() -> Reproduction:
    """Errors of accelerations and evaluations of falls, by three ways, over numbers of links and their masses."""
    cases = [saha_smoothness_case(n, heavier) for n in LINKS for heavier in HEAVIER]
    longest = [case for case in cases if case.links == LINKS[-1]]
    table = {"heavier": np.log10(HEAVIER)}
    panels = []
    lines = tuple(Line(f"error {name}", name) for name in WAYS)
    table.update((f"error {name}", np.array([case.errors[name] for case in longest])) for name in WAYS)
    panels.append(Panel(f"accelerations, n = {LINKS[-1]}", "relative error", "", lines, log=True))
    for rtol in TOLERANCES:
        own = {name: f"evaluations {name} at {rtol:g}" for name in WAYS}
        counts = {name: np.array([float(case.evaluations[rtol][name]) for case in longest]) for name in WAYS}
        table.update((own[name], np.where(x < MOST, x, np.nan)) for name, x in counts.items())  # what was measured
        lines = tuple(Line(own[name], name + ("" if (x < MOST).all() else f", given up after {MOST}"), mark="o")
                      for name, x in counts.items())  # fmt: skip
        panels.append(Panel(f"rtol {rtol:g}", "evaluations", "", lines))
    heads = [*(f"error, {name}" for name in WAYS), *(f"evaluations at {rtol:g}" for rtol in TOLERANCES)]
    return Reproduction(
        table,
        tuple(panels),
        tuple(_row(case) for case in cases),
        ("links", "last link", "condition", *heads),
        "last link's mass, power of ten",
        ranges=False,
        verdict=saha_smoothness_verdict(cases),
    )


def _row(case: SmoothnessCase) -> Row:
    counts = (
        " / ".join(f"{x}" if x < MOST else "given up" for x in case.evaluations[rtol].values()) for rtol in TOLERANCES
    )
    errors = (f"{x:.1e}" for x in case.errors.values())
    return (str(case.links), f"x {case.heavier:g}", f"{case.condition:.1e}", *errors, *counts)


def saha_smoothness_verdict(cases: list[SmoothnessCase]) -> str:
    """What the errors and the evaluations say about the claim."""
    gains = [case.errors["Cholesky"] / max(case.errors["O(n)"], 1e-300) for case in cases]
    smoother = (
        f"Rounding in the accelerations of O(n) is {min(gains):.0f} to {max(gains):.0f} times smaller than by Cholesky"
        if min(gains) > 1.5
        else f"Rounding in the accelerations of O(n) is up to {max(gains):.0f} times smaller than by Cholesky"
    )
    return f"{smoother}. {' '.join(_steps(cases, rtol) for rtol in TOLERANCES)}"


def _steps(cases: list[SmoothnessCase], rtol: float) -> str:
    """What the evaluations at one tolerance say."""
    least = [min(case.evaluations[rtol][name] for name in ("Cholesky", "LU")) for case in cases]
    own = [case.evaluations[rtol]["O(n)"] for case in cases]
    fewer = [(case, x, y) for case, x, y in zip(cases, own, least) if x < 0.95 * y]
    more = sum(x > 1.05 * y for x, y in zip(own, least))
    if not fewer and not more:
        return f"At rtol {rtol:g} all three need the same evaluations, within 5 %."
    if not fewer:
        return f"At rtol {rtol:g} O(n) needs more evaluations in {more} of {len(cases)} cases."
    kappa = min(case.condition for case, _, _ in fewer)
    besides = f", more in {more}" if more else ""
    lost = sum(y >= MOST for _, _, y in fewer)
    ends = f"; in {lost} of these the others don't end within {MOST}" if lost else ""
    return (
        f"At rtol {rtol:g} O(n) needs fewer evaluations in {len(fewer)} of {len(cases)} cases, from a condition of "
        f"{kappa:.0e} on{besides}{ends}."
    )
