"""Linear-quadratic regulators: the gains that hold a state at the least cost, as a force law of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, NumericalError
from ..robot import Robot


def regulator_gains(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """K of u = -K x, which makes the integral of x'Q x + u'R u least along x' = A x + B u."""
    from scipy.linalg import LinAlgError, solve_continuous_are

    try:
        P = solve_continuous_are(A, B, Q, R)
    except (LinAlgError, ValueError) as error:
        raise NumericalError(f"no regulator: {error}") from None
    K: np.ndarray = np.linalg.solve(R, B.T @ P)
    if not (np.linalg.eigvals(A - B @ K).real < 0).all():
        raise NumericalError("no regulator: these actuators can't make every motion die out")
    return K


def regulator_weights(text: str, states: int, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Q and R from their diagonals, as in `10, 100, 1, 1; 0.1`; one number for a diagonal stands for all of it."""
    allowed = f"Q, R: two numbers, or their diagonals: {states} numbers, a semicolon, {inputs}"
    halves = text.split(";") if ";" in text else text.split(",")
    try:
        if len(halves) != 2:
            raise ValueError
        made = [[float(x) for x in half.split(",")] for half in halves]
        sizes = zip(made, (states, inputs))
        Q, R = (np.diag(np.broadcast_to(np.array(given), (size,))) for given, size in sizes)
    except ValueError:
        raise InputError("these aren't two diagonals", key="--lqr", found=f"`{text}`", allowed=allowed) from None
    if not (np.isfinite(Q).all() and np.isfinite(R).all() and (Q >= 0).all() and (np.diag(R) > 0).all()):
        raise InputError("a diagonal has a number that won't do", key="--lqr", found=f"`{text}`", allowed=allowed)
    return Q, R


def study_regulator_as_laws(
    robot: Robot, linear: Mapping[str, Any], q: Sequence[float], K: np.ndarray
) -> dict[str, dict[str, Any]]:
    """The entries of `forces` that regulate a robot about the state at which it was linearised, by joint."""
    names: list[tuple[str, float]] = []
    for k in linear["independent"]:
        joint = next(one for one in robot.moving if k in one.speeds)
        place = joint.speeds.index(k)
        if joint.type.orientation is not None:
            raise InputError(
                f"`{joint.name}` has Euler parameters, along which there are no displacements to feed back"
            )
        names.append((f"{joint.name}.{joint.type.coordinates[place]}", float(q[joint.coordinates[place]])))
    speeds = robot.columns("speeds")
    columns = [name for name, _ in names] + [speeds[k] for k in linear["independent"]]
    laws = {}
    for row, k in zip(K, linear["actuated"]):
        joint = next(one for one in robot.moving if k in one.speeds)
        law: dict[str, Any] = {"law": "state-feedback", "K": {name: float(x) for name, x in zip(columns, row)}}
        if reference := {name: x for name, x in names if x}:
            law["reference"] = reference
        if abs(linear["tau"][k]) > 1e-12:
            law["force"] = float(linear["tau"][k])
        laws[joint.name] = law
    return laws
