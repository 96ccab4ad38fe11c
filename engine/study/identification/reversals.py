"""How far joints turn after a reversal until their dry friction has turned, too: found from measured motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .columns import (
    Sought,
    friction_columns,
    identification_regressor_rows,
    plain_rows,
    remaining_measured_efforts,
    seen,
)
from .friction import best_distance, sliding
from .recorded import Recorded

TYPICAL = 1e-4  # share of a joint's travel that is taken for a distance at first


def with_distances(wanted: Sought, motions: Sequence[Recorded]) -> Sought:
    """The same with the distances of the law `dahl`: those of the file, or those that the motions tell.

    Each is found for itself, from the efforts that it acts on; friction that isn't sought has the first guess.
    """
    given, robot = wanted.friction.distance, wanted.robot
    if wanted.friction.law != "dahl":
        return wanted
    travels = {k: _travel(motions, k) for k, _, _ in friction_columns(robot)}
    wanted = replace(wanted, distances={k: given or TYPICAL * travel for k, travel in travels.items()})
    if given:
        return wanted
    rows = [identification_regressor_rows(wanted, one) for one in motions]
    efforts = np.concatenate([remaining_measured_efforts(wanted, Y, one) for Y, one in zip(rows, motions)])
    Y = np.concatenate(rows)
    constants = [plain_rows(robot, one.whole or one) for one in motions]
    found = {}
    for k, dry, constant in friction_columns(robot):
        if dry not in wanted.base.columns:
            continue
        j = int(np.argmax((Y[..., constant] ** 2).sum(axis=0)))  # the effort that it acts on

        def column(distance: float, k: int = k, j: int = j, constant: int = constant) -> np.ndarray:
            parts = []
            for one, whole in zip(motions, constants):
                of = one.whole or one
                parts.append(seen(whole[:, j, constant] * sliding(of.t, of.qd[:, k], distance), one))
            return np.concatenate(parts)

        others = [c for c in wanted.base.columns if c != dry]
        found[k] = best_distance(Y[:, j, others], efforts[:, j], column, travels[k])
    return replace(wanted, distances=wanted.distances | found)


def _travel(motions: Sequence[Recorded], k: int) -> float:
    """The widest range of positions that a speed leads through."""
    wholes = [one.whole or one for one in motions]
    paths = [np.cumsum((one.qd[1:, k] + one.qd[:-1, k]) / 2 * np.diff(one.t)) for one in wholes]
    return max(float(np.ptp(np.append(0.0, path))) for path in paths) or 1.0
