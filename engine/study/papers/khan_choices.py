"""Khan's Fig. 4.10 (2002): projections that keep three coordinates of the thesis' nine, whichever they are.

The nine are the absolute angles of the legs' links, and the platform's place and angle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...dynamics.calls import inverse
from ...dynamics.quantities import inertia
from ...simulate.system import constraints_of_system
from ..compare_settings import FIXED
from . import khan_verdicts as verdicts
from .exhibit import Reproduction, Row
from .khan_runs import khan_comparison, khan_error_panels, khan_gauss_setting

SIGMAS = (10.0, 20.0, 30.0, 40.0)
STEP = 0.01  # s
LEGS = 0.4  # m, the size of what a Jacobian's columns are
FARTHEST = 1e4  # rad: a motion that has gone this far is lost
FAILS = ("fails",) * 4


@dataclass(frozen=True)
class Choice:
    """Three coordinates, as rows on the speeds of our tree, and the time at which they become singular."""

    name: str
    N: np.ndarray
    singular: float  # 0 if it can't begin, infinite if it lasts for the prescribed motion


def khan_choices_of_coordinates() -> list[Choice]:
    """All choices of three of the nine coordinates; one is singular where the columns of the others are."""
    own = khan_comparison()
    loops = constraints_of_system(own.system)
    t = np.linspace(own.start, own.end, 601)
    J = loops.jacobian(np.array([own.path.at(x)[0] for x in t.tolist()]))[0]
    J = J[:, np.flatnonzero(abs(J).max(axis=(0, 2)) > 1e-9)]  # six rows of the plane
    names = ("J1", "J2", "J3", "J4", "J5", "J6", "P")
    speeds = [k for name in names for joint in own.system.robot.moving if joint.name == name for k in joint.speeds]
    unit = np.eye(J.shape[2])
    rows = dict(zip(("θ₁", "θ₂", "θ₃", "θ₄", "θ₅", "θ₆", "x₇", "y₇", "θ₇"), unit[speeds]))
    for inner, outer in (("θ₁", "θ₄"), ("θ₂", "θ₅"), ("θ₃", "θ₆")):  # whose angle is from the inner link in our tree
        rows[outer] = rows[outer] + rows[inner]
    back = np.linalg.inv(np.array(list(rows.values())))  # the tree's speeds of a unit of each rate
    columns = dict(zip(rows, (J @ back).transpose(2, 0, 1)))
    found = []
    for chosen in combinations(rows, 3):
        d = np.linalg.det(np.stack([x for name, x in columns.items() if name not in chosen], axis=2))
        turned = np.flatnonzero(np.sign(d) != np.sign(d[0]))
        end = float(t[turned[0]]) if turned.size else np.inf
        N = np.array([rows[name] for name in chosen])
        found.append(Choice(", ".join(chosen), N, end if abs(d[0]) > 1e-9 * LEGS**6 else 0.0))
    return found


def khan_kept_choice(choice: Choice) -> float:
    """The largest error of the driven angles if a projection keeps these coordinates; infinite if it is lost."""
    own = khan_comparison()
    robot, loops, n = own.system.robot, constraints_of_system(own.system), len(choice.N[0])
    rows = np.flatnonzero(abs(loops.jacobian(np.array(own.plan.q0))[0]).max(axis=1) > 1e-9)
    driven = [k for joint in own.joints for k in joint.speeds]

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q = y[:n]
        gap, J = loops.near(q)
        K = np.concatenate([J[rows], choice.N])
        qd = np.linalg.solve(K, np.concatenate([-SIGMAS[0] * gap[rows], y[n:]]))
        drift = loops.jacobian(q, qd)[1][rows]
        T = np.linalg.inv(K)[:, len(rows) :]
        start = np.linalg.solve(K, np.concatenate([-drift - SIGMAS[0] * (J[rows] @ qd), np.zeros(len(T[0]))]))
        forces = np.array(own.planned(min(t, own.end))) - inverse(robot, q, qd, start)
        return np.concatenate([qd, np.linalg.solve(T.T @ inertia(robot, q) @ T, T.T @ forces)])

    y, error = np.concatenate([own.plan.q0, np.zeros(len(choice.N))]), 0.0
    for step in range(round((own.end - own.start) / STEP)):
        try:
            y = _stepped(rate, own.start + step * STEP, y)
        except np.linalg.LinAlgError:
            return np.inf
        if not abs(y[:n]).max() < FARTHEST:
            return np.inf
        wanted, _ = own.path.at(own.start + (step + 1) * STEP)[:2]
        error = max(error, float(abs(y[driven] - wanted[driven]).max()))
    return error


def _stepped(rate: Callable[[float, np.ndarray], np.ndarray], t: float, y: np.ndarray) -> np.ndarray:
    """A step of the classical Runge-Kutta method."""
    a = rate(t, y)
    b = rate(t + STEP / 2, y + STEP / 2 * a)
    c = rate(t + STEP / 2, y + STEP / 2 * b)
    after: np.ndarray = y + STEP / 6 * (a + 2 * b + 2 * c + rate(t + STEP, y + STEP * c))
    return after


def khan_kept_choices() -> Reproduction:
    """The runs of Fig. 4.10, and projections that keep coordinates which become singular along the motion."""
    settings = [khan_gauss_setting(sigma, FIXED, STEP) for sigma in SIGMAS]
    made = khan_error_panels(settings, FAILS, verdicts.khan_broken_runs_verdict(FAILS))()
    choices = khan_choices_of_coordinates()
    begin = [one for one in choices if one.singular > 0.0]
    broken = sorted((one for one in begin if one.singular < np.inf), key=lambda one: one.singular)
    with np.errstate(all="ignore"):
        errors = {one.name: khan_kept_choice(one) for one in broken}
    span = f"{len(broken)}, at {broken[0].singular:.2f} to {broken[-1].singular:.2f} s"
    ends = ("is lost" if errors[one.name] == np.inf else f"{errors[one.name]:.2g} rad off" for one in broken)
    rows: list[Row] = [
        ("choices of three independent coordinates, all and at the start", "", f"{len(choices)}, {len(begin)} usable"),
        ("singular along the motion", "the chosen ones", span),
        *((f"kept: {one.name}, singular at {one.singular:.2f} s", "", end) for one, end in zip(broken, ends)),
    ]
    words = verdicts.khan_choices_verdict(len(begin), list(errors.values()))
    return replace(made, rows=(*made.rows, *rows), verdict=f"{made.verdict} {words}")
