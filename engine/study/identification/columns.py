"""The numbers that are sought, the columns that measured efforts have for them, and the sizes of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ...mechanics.mechanisms import BaseParameters, base_parameters, regressor
from ...mechanics.numbers import INERTIAL, INERTIAL_NAMES, names_of_regressor_numbers, parameters, regressor_speeds
from ...mechanics.quantities import bias
from ...mechanics.quantities import regressor as tree_regressor
from ...robot import Robot
from .recorded import Recorded, measured_joints, smooth_measured_columns
from .settings import INERTIA, DryFriction

BEYOND = 0.1  # share of the links' mean mass that counts as the size of lighter ones, too
# of joints that slide, and of those that turn
UNITS = (
    {"rotor": "kg", "viscous": "N s/m", "coulomb": "N", "offset": "N", "stiffness": "N/m"},
    {"rotor": "kg m^2", "viscous": "N m s/rad", "coulomb": "N m", "offset": "N m", "stiffness": "N m/rad"},
)
SHORTEST, LONGEST = 1e-6, 1e-1  # paths that are looked at, as shares of a joint's travel
UNSEEN = 1e-9  # share of the largest singular value below which columns are one another's sum
COARSE, FINE, ROUNDS = 26, 11, 3  # paths tried at first, and in each round around the best of them


@dataclass(frozen=True, eq=False)
class Sought:
    """The numbers that are fitted, and the groups of them that forces show."""

    robot: Robot
    base: BaseParameters
    values: np.ndarray  # of all columns of the regressor, from the robot's file
    places: tuple[int, ...]  # of the fitted numbers among all columns
    friction: DryFriction
    distances: dict[int, float] = field(default_factory=dict)  # of the law `dahl`, by speed

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the fitted numbers."""
        return self.base.numbers


def sought_identification_numbers(robot: Robot, kinds: list[str], friction: DryFriction) -> Sought:
    """The numbers of these kinds; of joints that aren't measured only those that the file has."""
    values = parameters(robot)
    known = {joint.name for joint in measured_joints(robot)}
    inertial = INERTIAL * len(robot.links)
    among = [name for name in list(values)[:inertial] if INERTIA in kinds]
    for name in list(values)[inertial:]:
        owner, _, kind = name.rpartition(".")
        if kind in kinds and (values[name] or owner in known or owner.rpartition(".")[0] in known):
            among.append(name)
    places = tuple(k for k, name in enumerate(values) if name in set(among))
    return Sought(robot, base_parameters(robot, among), np.array(list(values.values())), places, friction)


def identification_regressor_rows(wanted: Sought, motion: Recorded) -> np.ndarray:
    """The regressor of a motion, (instants, efforts, columns), with the chosen law of dry friction.

    Where the measured efforts went through a filter, these columns do, too: what the filter takes away it takes from
    both sides of the equation.
    """
    whole = motion.whole or motion
    Y = plain_rows(wanted.robot, whole)
    for k, dry, constant in friction_columns(wanted.robot):
        Y[..., dry] = Y[..., constant] * _dry(wanted, whole, k)[:, None]
    return seen(Y, motion)


def plain_rows(robot: Robot, motion: Recorded) -> np.ndarray:
    """The regressor of a motion without a law of dry friction."""
    Y = np.array(regressor(robot, motion.q, motion.qd, motion.qdd))
    return Y if robot.closed else Y[:, list(robot.driven)]


def friction_columns(robot: Robot) -> Iterator[tuple[int, int, int]]:
    """Of each speed its place, and the columns of its dry friction and its constant force."""
    start = INERTIAL * len(robot.links)
    for _, k, drive in regressor_speeds(robot):
        own = names_of_regressor_numbers(drive)
        yield k, start + own.index("coulomb"), start + own.index("offset")
        start += len(own)


def _dry(wanted: Sought, motion: Recorded, k: int) -> np.ndarray:
    """The dry friction of a speed as a share of its full force."""
    v, friction = motion.qd[:, k], wanted.friction
    if friction.law == "dahl":
        return sliding(motion.t, v, wanted.distances[k])
    result: np.ndarray = np.tanh(v / friction.width) if friction.law == "tanh" else np.sign(v)
    return result


def seen(Y: np.ndarray, motion: Recorded) -> np.ndarray:
    """The rows of a motion's columns, which are over all instants, through the filter of the measured efforts."""
    if motion.filter is not None:
        assert motion.whole is not None
        flat = Y.reshape(len(Y), -1)
        there = np.flatnonzero(flat.any(axis=0))
        Y = np.zeros(Y.shape)
        Y.reshape(flat.shape)[:, there] = smooth_measured_columns(
            motion.whole.t, flat[:, there], motion.filter.order, motion.filter.cutoff
        )
    return Y[motion.kept]


def remaining_measured_efforts(wanted: Sought, Y: np.ndarray, motion: Recorded) -> np.ndarray:
    """The measured efforts without the part that keeps the values of the robot's file; Y is the motion's regressor."""
    fixed = wanted.values.copy()
    fixed[list(wanted.places)] = 0.0
    result: np.ndarray = motion.efforts - Y @ fixed - known_efforts(wanted.robot, motion)
    return result


def modelled_efforts(wanted: Sought, motion: Recorded, numbers: np.ndarray) -> np.ndarray:
    """The efforts of a robot with these numbers along a motion."""
    result: np.ndarray = identification_regressor_rows(wanted, motion) @ numbers + known_efforts(wanted.robot, motion)
    return result


def known_efforts(robot: Robot, motion: Recorded) -> np.ndarray:
    """The efforts against what the regressor has no columns for: constant wrenches, and springs over several joints.

    That is what remains of the tree's forces without the regressor's part. The columns of constant forces say which
    efforts it takes, in mechanisms as well.
    """
    if not (robot.wrenches or robot.springs):
        return np.zeros(motion.efforts.shape)
    whole = motion.whole or motion
    own = np.array(list(parameters(robot).values()))
    tree = tree_regressor(robot, whole.q, whole.qd, np.zeros_like(whole.qd)) @ own
    forces = bias(robot, whole.q, whole.qd) - tree
    Y = plain_rows(robot, whole)
    return seen(sum(Y[..., constant] * forces[:, [k]] for k, _, constant in friction_columns(robot)), motion)


def sizes_of_identified_numbers(wanted: Sought, motions: list[Recorded]) -> np.ndarray:
    """What a change of each fitted number is measured by: of links from masses and lengths, of joints from the data."""
    robot = wanted.robot
    masses = np.array([link.mass for link in robot.links])
    mean, length = float(masses.mean()) or 1.0, length_scale_of_identification(robot)
    result: dict[str, float] = {}
    for link, m in zip(robot.links, np.maximum(masses, BEYOND * mean)):
        for name in INERTIAL_NAMES:
            power = 0 if name == "m" else 1 if name.startswith("m") else 2
            result[f"{link.name}.{name}"] = float(m) * length**power
    efforts = _rms([motion.efforts for motion in motions]).max()
    qd, qdd, q = (_rms([getattr(one, name) for one in motions]) for name in ("qd", "qdd", "q"))
    for prefix, k, drive in regressor_speeds(robot):
        joint = next(joint for joint in robot.moving if k in joint.speeds)
        moved = q[joint.coordinates[0]]
        over = {"rotor": qdd[k], "viscous": qd[k], "coulomb": 1.0, "offset": 1.0, "stiffness": moved}
        for name in names_of_regressor_numbers(drive):
            result[f"{prefix}.{name}"] = float(efforts / over[name]) if over[name] else 1.0
    return np.array([result[name] for name in wanted.numbers])


def unit_of_identified_number(robot: Robot, name: str) -> str:
    """The unit of a number that the regressor has a column for."""
    owner, _, kind = name.rpartition(".")
    if kind in INERTIAL_NAMES:
        return "kg" if kind == "m" else "kg m" if kind.startswith("m") else "kg m^2"
    for joint in robot.moving:
        if owner == joint.name or owner.rpartition(".")[0] == joint.name:
            return UNITS["angle" in joint.type.kinds or joint.type.orientation is not None][kind]
    raise KeyError(name)


def length_scale_of_identification(robot: Robot) -> float:
    """Half the typical distance between joints, the size of mass centres."""
    away = np.array([np.linalg.norm(np.array(body.origin, dtype=float)) for body in robot.parts.bodies])
    return float(np.sqrt((away**2).mean())) / 2 or 0.1


def _rms(parts: list[np.ndarray]) -> np.ndarray:
    result: np.ndarray = np.sqrt((np.concatenate(parts) ** 2).mean(axis=0))
    return result


def sliding(t: np.ndarray, v: np.ndarray, distance: float) -> np.ndarray:
    """Dahl's friction z of speeds v, distance dz/dt = v − |v| z: after a reversal it turns on a path of this length.

    Along a path in one direction that is z = s + (z₀ − s) exp(−path / distance) with its sign s; at first it slides.
    P. R. Dahl, A solid friction model, The Aerospace Corporation 1968, with the exponent 1.  Speeds count as linear
    between rows.
    """
    turning = np.flatnonzero(v[1:] * v[:-1] < 0.0) + 1  # before these rows the speed is 0 once
    own = np.arange(len(v)) + np.searchsorted(turning, np.arange(len(v)), side="right")
    before = v[turning - 1] / (v[turning - 1] - v[turning])
    t = np.insert(t, turning, t[turning - 1] + before * (t[turning] - t[turning - 1]))
    v = np.insert(v, turning, 0.0)
    moves = np.append(0.0, (v[1:] + v[:-1]) / 2 * np.diff(t))
    signs = np.sign(moves)
    there = np.flatnonzero(signs)
    if not len(there):
        return np.zeros(len(own))
    # rows that rest belong to the direction before them, those at the beginning to the first one
    signs = signs[there[np.maximum(np.searchsorted(there, np.arange(len(v)), side="right") - 1, 0)]]
    path = np.cumsum(abs(moves))
    turned = np.empty(len(v))
    z = signs[0]
    starts = np.append(0, np.flatnonzero(np.diff(signs)) + 1)
    for first, end in zip(starts, np.append(starts[1:], len(v))):
        gone = path[first:end] - path[max(first - 1, 0)]
        turned[first:end] = signs[first] + (z - signs[first]) * np.exp(-gone / distance)
        z = turned[end - 1]
    result: np.ndarray = turned[own]
    return result


def best_distance(
    others: np.ndarray, efforts: np.ndarray, column: Callable[[float], np.ndarray], travel: float
) -> float:
    """The distance with whose friction a joint's efforts are fitted best, beside other columns.

    `column` makes that of the friction with a distance.
    """
    length = np.linalg.norm(others, axis=0)
    U, s, _ = np.linalg.svd(others[:, length > 0.0] / length[length > 0.0], full_matrices=False)
    Q = U[:, s > UNSEEN * s.max(initial=0.0)]
    off = efforts - Q @ (Q.T @ efforts)

    def explained(exponent: float) -> float:
        own = column(travel * 10.0**exponent)
        own = own - Q @ (Q.T @ own)
        size = float(own @ own)
        return float(own @ off) ** 2 / size if size else 0.0

    grid = np.linspace(np.log10(SHORTEST), np.log10(LONGEST), COARSE)
    best = grid[np.argmax([explained(x) for x in grid])]
    step = grid[1] - grid[0]
    for _ in range(ROUNDS):
        near = best + step * np.linspace(-1.0, 1.0, FINE)
        best, step = near[np.argmax([explained(x) for x in near])], 2 * step / (FINE - 1)
    return float(travel * 10.0**best)
