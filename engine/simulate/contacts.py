"""What holds each of many runs, as arrays with a row for each run, and the numbers that end it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .systems.discrete import Discrete
from .systems.system import Stop, System

NEAR = 1e-9  # relative: a joint this close to its stop touches it
PLACED = 1e-3  # of that: a joint this close needn't be moved to its stop


@dataclass(frozen=True)
class ModeLimits:
    """The numbers of many runs that end their modes: a row for each run, columns as in `Contacts`."""

    coulomb: np.ndarray
    low: np.ndarray  # of stops
    high: np.ndarray
    least: np.ndarray  # of actuators
    most: np.ndarray

    @staticmethod
    def of(system: System, count: int) -> ModeLimits:
        """The limits of so many runs with those of this system."""
        none = Stop(-1, -math.inf, math.inf)
        stops = [system.stopped.get(k, none) for k in system.switching]
        rows = [[*system.switching.values()], [one.low for one in stops], [one.high for one in stops]]
        rows += [[bounds[side] for bounds in system.bounded.values()] for side in (0, 1)]
        return ModeLimits(*(np.tile(np.array(row, dtype=float), (count, 1)) for row in rows))

    @staticmethod
    def joined(each: Sequence[ModeLimits]) -> ModeLimits:
        """The limits of all of these runs."""
        return ModeLimits(*(np.concatenate(x) for x in zip(*(vars(one).values() for one in each))))

    def some(self, these: slice | np.ndarray) -> ModeLimits:
        """The limits of some of the runs."""
        return ModeLimits(*(x[these] for x in vars(self).values()))

    @property
    def differ(self) -> bool:
        """Whether any of them differ from run to run."""
        return any((x != x[:1]).any() for x in vars(self).values())


@dataclass(frozen=True)
class Contacts:
    """What holds each of many runs: a row for each run, a column for each speed that may be held, or is bounded."""

    slip: np.ndarray  # −1, 0 or 1
    held: np.ndarray
    bear: np.ndarray  # held, and independent of the others that bear; the supports of the rest stay what they are
    idle: np.ndarray  # at rest without a lever: nothing presses on the joint until it moves
    lower: np.ndarray  # whether the joint touches its lower stop
    upper: np.ndarray
    grazing: np.ndarray  # whether the joint moves outwards there: at the end of its stroke, where it turns by itself
    saturated: np.ndarray  # −1 or 1: the actuator gives its lower or its upper limit
    kept: np.ndarray  # supports of joints that are held and don't bear
    slack: np.ndarray  # forces by which supports are behind their bounds where joints are let go

    @staticmethod
    def none(count: int, switching: int, bounded: int) -> Contacts:
        """The modes of runs in which nothing is held."""
        held, bear, idle, lower, upper, grazing = np.zeros((6, count, switching), dtype=bool)
        slip, kept, slack = np.zeros((3, count, switching))
        return Contacts(slip, held, bear, idle, lower, upper, grazing, np.zeros((count, bounded)), kept, slack)

    def some(self, these: np.ndarray) -> Contacts:
        """The modes of some of the runs."""
        return Contacts(*(x[these] for x in vars(self).values()))

    def codes(self) -> np.ndarray:
        """All of them that aren't forces, in one array of small whole numbers."""
        return np.column_stack([x.astype(np.int16) for x in [*vars(self).values()][:8]])


def stiction_force_ranges(coulomb: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ranges of the forces that can hold joints, by their friction and the stops that they touch."""
    return np.where(upper, -math.inf, -coulomb), np.where(lower, math.inf, coulomb)


def joints_touching_stops(system: System, limits: ModeLimits, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each joint touches its lower stop, and its upper one; q and the limits have a row for each run."""
    lower, upper = np.zeros((2, len(q), len(system.switching)), dtype=bool)
    for c, k in enumerate(system.switching):
        if k in system.stopped:
            low, high = limits.low[:, c], limits.high[:, c]
            near = NEAR * (high - low)
            x = q[:, system.stopped[k].coordinate]
            lower[:, c], upper[:, c] = x <= low + near, x >= high - near
    return lower, upper


def joints_that_graze(lower: np.ndarray, upper: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Whether each joint that touches a stop moves outwards there, by the speeds of these joints."""
    return np.asarray((lower & (qd < 0.0)) | (upper & (qd > 0.0)))


def joints_off_their_stops(system: System, limits: ModeLimits, q: np.ndarray, touching: np.ndarray) -> np.ndarray:
    """Whether each joint that touches a stop isn't placed there; the arrays have a row for each run."""
    off = np.zeros_like(touching)
    for c, k in enumerate(system.switching):
        if k in system.stopped:
            low, high = limits.low[:, c], limits.high[:, c]
            x = q[:, system.stopped[k].coordinate]
            away = np.minimum(abs(x - low), abs(x - high))
            off[:, c] = touching[:, c] & (away > PLACED * NEAR * (high - low))
    return off


def discrete_state_of_contacts(now: Discrete, contacts: Contacts, limits: ModeLimits, system: System) -> Discrete:
    """The discrete state of a run with these contacts and limits, each of one row; its partition is that of `now`."""
    slip, held = dict[int, float](), dict[int, tuple[float, float]]()
    low, high = stiction_force_ranges(limits.coulomb[0], contacts.lower[0], contacts.upper[0])
    for c, speed in enumerate(system.switching):
        if contacts.held[0, c]:
            held[speed] = float(low[c]), float(high[c])
        elif contacts.slip[0, c]:
            slip[speed] = float(contacts.slip[0, c])
    speeds = list(enumerate(system.switching))
    saturated = zip(system.bounded, contacts.saturated[0].tolist(), limits.least[0].tolist(), limits.most[0].tolist())
    return replace(
        now,
        slip=slip,
        held=held,
        kept={speed: float(contacts.kept[0, c]) for c, speed in speeds if speed in held and not contacts.bear[0, c]},
        slack={speed: float(contacts.slack[0, c]) for c, speed in speeds if speed in held},
        idle=tuple(speed for c, speed in speeds if contacts.idle[0, c]),
        saturated={speed: most if side > 0.0 else least for speed, side, least, most in saturated if side},
    )


def contacts_of_discrete_state(discrete: Discrete, system: System) -> Contacts:
    """The contacts of a single run in a discrete state; stops touched are those that hold joints."""
    contacts = Contacts.none(1, len(system.switching), len(system.bounded))
    for c, k in enumerate(system.switching):
        low, high = discrete.held.get(k, (0.0, 0.0))
        contacts.slip[0, c], contacts.held[0, c] = discrete.slip.get(k, 0.0), k in discrete.held
        contacts.bear[0, c], contacts.idle[0, c] = k in discrete.bearing, k in discrete.idle
        contacts.lower[0, c], contacts.upper[0, c] = high == math.inf, low == -math.inf
        contacts.kept[0, c], contacts.slack[0, c] = discrete.kept.get(k, 0.0), discrete.slack.get(k, 0.0)
    for c, (k, (_, most)) in enumerate(system.bounded.items()):
        if k in discrete.saturated:
            contacts.saturated[0, c] = 1.0 if discrete.saturated[k] == most else -1.0
    return contacts
