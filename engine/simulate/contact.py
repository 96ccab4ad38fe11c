"""Dry friction and stops as modes: which joints stick or slip, the events that end a mode, and blows.

A joint that sticks or lies at a stop has its motion given (it keeps still); the force that holds it, in addition to the
forces that act there already, is its support.  Friction gives a support from −F_c to F_c, a lower stop any force
upwards, an upper stop any downwards; outside that range the joint breaks loose.  Which of several joints break loose is
a complementarity problem (`complementarity.py`), and so is a blow on all joints that touch their stops.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from ..dynamics.dense import inertia_matrix
from ..loops.assembly import CLOSED, newton
from ..loops.rank import TINY, null_space
from ..machine.program.scalars import as_float, as_floats
from . import coordinates, saturation
from .complementarity import balanced
from .discrete import Discrete
from .equations import Evaluation
from .events import Event, Rule, Watch, ruled
from .runner import Runner
from .sharing import Sharing
from .signals import motion, wanted
from .system import System, constraints_of

NEAR = 1e-9  # relative: a joint this close to its stop touches it
RESTING = 1e-10  # radians or lengths of the mechanism per second: a slower joint is at rest at an event
DRIFTING = 1e-8  # relative: a joint with more acceleration than this isn't held
# A mode is left as soon as its event function is not positive, but many a mode starts where that function is zero: at
# rest, at the stop, at break-away itself. If it then goes the wrong way, that must be seen too, hence a little slack.
SLACK = 1e-12
NEARLY = 1e-4  # a joint that is farther from its stop than this isn't moved there
NOISE = 1e-10  # relative to the largest acceleration: anything less is rounding
WEAKER = 1e-6  # relative: friction at break-away is reduced by this much, so that a joint that breaks loose moves


TURNS = "turns back at its stop"


# ---- inertia at one position


class Response:
    """The response of a system's speeds to forces and jumps at one position, with some speeds fixed."""

    def __init__(self, system: System, q: list[float], fixed: Iterable[int]):
        n, loops = system.robot.nv, system.loops
        self.fixed = list(fixed)
        self.M = np.array(inertia_matrix(system.model.bodies, q, n), dtype=float)
        unit, scale = np.eye(n)[self.fixed].reshape(-1, n), np.ones(n)
        J = np.zeros((0, n))
        self.rows = unit
        if loops is not None:
            J, scale = loops.jacobian(np.array(q))[0], loops.column_scale
            self.rows = np.concatenate([J, unit])
            unit = np.concatenate([loops.scaled(J), unit * scale])
        T = null_space(unit)
        T[abs(T).max(axis=1, initial=0.0) < TINY] = 0.0  # rounding errors in speeds that the loops hold still
        self.T = T * scale[:, None]
        self.inverse = np.linalg.pinv(self.T.T @ self.M @ self.T, hermitian=True)

    def compliance(self, speeds: list[int]) -> np.ndarray:
        """The accelerations of these speeds under unit forces along them, as a matrix."""
        G: np.ndarray = self.T[speeds] @ self.inverse @ self.T[speeds].T
        return G

    def after(self, speeds: list[int], impulses: np.ndarray) -> np.ndarray:
        """The jumps of all speeds under impulses along these."""
        jumps: np.ndarray = self.T @ (self.inverse @ (self.T[speeds].T @ impulses))
        return jumps

    def dragged(self, qd: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """All speeds after the rates of constraints and the fixed speeds have jumped to `wanted`."""
        led = qd + np.linalg.pinv(self.rows, rcond=1e-10) @ (wanted - self.rows @ qd)
        after: np.ndarray = led + self.T @ (self.inverse @ (self.T.T @ (self.M @ (qd - led))))
        return after

    def kinetic(self, qd: np.ndarray) -> float:
        """The kinetic energy of these speeds."""
        return float(qd @ self.M @ qd) / 2


# ---- which joints stick


def settle(run: Runner, t: float, y: np.ndarray, *, loose: Collection[int] = ()) -> np.ndarray:
    """Chooses the modes in which the run goes on from (t, y); returns the state with held joints exactly at rest.

    `loose` are speeds whose supports have just reached their bounds.
    """
    system = run.system
    run.discrete = saturation.saturated_at(run, t, y)
    if not system.switching:
        return y
    q, qd = run.complete(t, y)
    ranges = {k: bounds for k in system.switching if (bounds := _range(system, q, qd, k)) is not None}
    moving = {k: math.copysign(1.0, qd[k]) for k in system.coulomb if k in system.switching and k not in ranges}
    y = y.copy()
    for k in ranges:
        y[system.place_of(k)] = 0.0
    trial = _with_contacts(run, q, moving, ranges)
    if ranges and (loose or not _holds(run, t, y, trial)):
        trial = _released(run, t, y, trial, moving, loose)
    run.discrete = trial
    return y


def _range(system: System, q: list[float], qd: list[float], k: int) -> tuple[float, float] | None:
    """The range of forces that can hold speed k here; None where it moves, or where nothing can hold it."""
    scale = system.loops.column_scale[k] if system.loops is not None else 1.0
    coulomb, (low, high) = system.switching[k], touching(system, q, k)
    if abs(qd[k]) > RESTING * scale or not (coulomb or low or high):
        return None
    return -math.inf if high else -coulomb, math.inf if low else coulomb


def touching(system: System, q: list[float], k: int) -> tuple[bool, bool]:
    """Whether the joint is at or beyond its lower stop, and whether it is at or beyond its upper one."""
    stop = system.stopped.get(k)
    if stop is None:
        return False, False
    near = NEAR * (stop.high - stop.low)
    return q[stop.coordinate] <= stop.low + near, q[stop.coordinate] >= stop.high - near


def _with_contacts(
    run: Runner, q: list[float], slip: dict[int, float], held: dict[int, tuple[float, float]]
) -> Discrete:
    """The discrete state with other joints held; in a mechanism, with a partition that fits them."""
    now, part = run.discrete, run.discrete.partition
    if part is not None and tuple(sorted(held)) != now.still:
        preferred = run.system.preferred if run.system.preferred is not None else run.robot.driven
        part = coordinates.partition_at(run.system, np.array(q), preferred, tuple(sorted(held)))
        now = replace(now, near=coordinates.nearness(run.system))
    return now.with_contacts(slip, held, part)


def _holds(run: Runner, t: float, y: np.ndarray, trial: Discrete) -> bool:
    """Whether all joints that are held in this discrete state can be."""
    now = run.evaluate(t, y, trial)
    if len(now.support) < len(trial.held):
        if _carried_off(run, trial, now):
            return False
        return Sharing(run.system, trial, np.array(now.q)).margin(_supports(now)) >= -SLACK
    return all(_excess(run.system, k, as_float(now.support[k]), trial.held[k]) <= SLACK for k in trial.held)


def _supports(now: Evaluation) -> dict[int, float]:
    """The supports of held speeds as numbers."""
    return {k: as_float(x) for k, x in now.support.items()}


def _carried_off(run: Runner, trial: Discrete, now: Evaluation) -> bool:
    """Whether the mechanism carries off a joint that is to be held: at a dead centre the joint's speed is 0 for an
    instant only, whatever forces act in it.
    """
    scale = constraints_of(run.system).column_scale
    rates = abs(np.array(now.qdd, dtype=float)) / scale
    return bool((rates[list(trial.still)] > DRIFTING * max(1.0, rates.max())).any())


def _excess(system: System, k: int, support: float, limits: tuple[float, float]) -> float:
    """The distance of a support beyond its range, relative to the size of the forces; negative within the range."""
    return max(support - limits[1], limits[0] - support) / _size(system, k, support)


def _size(system: System, k: int, support: float) -> float:
    """The force with which an overload of joint k is compared."""
    return max(1e-12, system.switching[k], abs(support))


def _released(
    run: Runner, t: float, y: np.ndarray, trial: Discrete, moving: dict[int, float], loose: Collection[int]
) -> Discrete:
    """The discrete state in which those joints move, out of those at rest, whose holding forces are at their bounds."""
    system, still = run.system, list(trial.still)
    q = run.complete(t, y)[0]
    free = np.array(as_floats(run.evaluate(t, y, _with_contacts(run, q, moving, {})).qdd))
    b, rounding = free[still], NOISE * abs(free).max(initial=0.0)
    G = Response(system, q, system.ruled).compliance(still)
    low, high = np.array([trial.held[k] for k in still]).T
    if loose:
        low, high = _weaker(G, b, low, high)
    _, a = balanced(G, b, low, high)
    slip, held = dict(moving), dict(trial.held)
    for k, x in zip(still, a.tolist()):
        if abs(x) > rounding:
            del held[k]
            if system.switching[k]:
                slip[k] = math.copysign(1.0, x)
    return _with_contacts(run, q, slip, held)


def _weaker(G: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slightly narrower bounds, with which a joint that has just come to its bound moves."""
    gain = np.diag(G)
    needed = np.where(gain > 0.0, abs(b) / np.maximum(gain, 1e-300), 0.0)
    rough = np.maximum(*(np.where(np.isfinite(x), abs(x), 0.0) for x in (low, high)))
    less = WEAKER * np.where(rough > 0.0, rough, needed)  # a pure stop has no limit, so the force on it is the measure
    return low + less, high - less


# ---- the events that end a mode


def watches(run: Runner, t: float, y: np.ndarray) -> list[Watch]:
    """The event functions of the present modes from (t, y) on; an event is a fall from positive to not positive."""
    system, discrete = run.system, run.discrete
    watched = [_speed(system, k, sign, "stops slipping") for k, sign in discrete.slip.items()]
    part = discrete.partition
    if part is not None and any(k not in part.given for k in discrete.held):
        watched.append(Watch(_shared_margin(run), "breaks loose", discrete.still[0]))
    else:
        supports = Supports(run)
        for k, (low, high) in discrete.held.items():
            for bound, direction in ((high, -1.0), (low, 1.0)):
                if math.isfinite(bound):
                    watched.append(_margin(supports, k, bound, direction))
    q = run.complete(t, y)[0] if system.stopped else []
    for k, stop in system.stopped.items():
        if k not in discrete.held:
            for side, inwards in zip(touching(system, q, k), (1.0, -1.0)):
                if side and k not in discrete.slip:  # it may return before its place is sampled again
                    watched.append(_speed(system, k, inwards, TURNS))
            for bound, inwards, which in ((stop.low, 1.0, "lower"), (stop.high, -1.0, "upper")):
                rule = Rule(inwards, bound, SLACK * (stop.high - stop.low))
                place = system.state_coordinates.index(stop.coordinate)
                watched.append(_component(place, rule, f"reaches its {which} limit", k, -inwards))
    return watched


def _speed(system: System, k: int, direction: float, what: str) -> Watch:
    """The watch on a speed in one direction."""
    return _component(system.place_of(k), Rule(direction, slack=SLACK), what, k, direction)


def _component(place: int, rule: Rule, what: str, k: int, direction: float) -> Watch:
    """The watch by a rule on a component of the state."""
    return ruled(lambda t, y: float(y[place]), ("state", place), rule, what, k, direction)


class Supports:
    """The supports at an instant, evaluated once for all event functions that ask for them."""

    def __init__(self, run: Runner):
        self.run = run
        self._at: tuple[float, np.ndarray | None] = math.nan, None
        self._supports: dict[int, float] = {}

    def __call__(self, t: float, y: np.ndarray, k: int) -> float:
        """The support of speed k."""
        if self._at[0] != t or self._at[1] is not y:
            self._at, self._supports = (t, y), _supports(self.run.evaluate(t, y))
        return self._supports[k]


def _margin(supports: Supports, k: int, bound: float, direction: float) -> Watch:
    """The watch on the distance of a support from its bound (upper with direction −1, lower with 1)."""
    rule = Rule(direction, bound, share=2 * SLACK, floor=_size(supports.run.system, k, 0.0))
    return ruled(lambda t, y: supports(t, y, k), ("support", k), rule, "breaks loose", k, direction)


def _shared_margin(run: Runner) -> Event:
    """An event function: the margin within which all supports together can hold the mechanism."""

    def margin(t: float, y: np.ndarray) -> float:
        now = run.evaluate(t, y)
        return Sharing(run.system, run.discrete, np.array(now.q)).margin(_supports(now)) + 2 * SLACK

    return margin


# ---- the effects of events


def happened(run: Runner, watch: Watch, t: float, y: np.ndarray) -> np.ndarray:
    """The state just after the event; the run gets the modes in which it goes on."""
    k, system = watch.speed, run.system
    if watch.what in ("stops slipping", TURNS):
        y = _brought_to_rest(run, t, y, k)
    y = struck(run, t, y)
    y = settle(run, t, y, loose=(k,) if watch.what == "breaks loose" else ())
    if watch.what == "breaks loose" and watch.direction and k in run.discrete.held:
        held, slip = dict(run.discrete.held), dict(run.discrete.slip)  # rounding must not hold a joint at its bound
        del held[k]
        if system.switching[k]:
            slip[k] = watch.direction
        run.discrete = _with_contacts(run, run.complete(t, y)[0], slip, held)
    return y


def _brought_to_rest(run: Runner, t: float, y: np.ndarray, k: int) -> np.ndarray:
    """The state with speed k exactly 0, and in a mechanism the other speeds to match."""
    system, place = run.system, run.system.place_of(k)
    y = y.copy()
    y[place] = 0.0
    if system.loops is None:
        return y
    q, qd = (np.array(x) for x in run.complete(t, y))
    loops, n = system.loops, system.robot.nv
    scale, fixed = loops.column_scale, [*system.prescribed, k]
    rows = np.concatenate([loops.scaled(loops.jacobian(q)[0]), np.eye(n)[fixed]])
    off = np.concatenate([wanted(system, t)[1] * loops.row_scale, (qd / scale)[fixed]]) - rows @ (qd / scale)
    change = np.linalg.pinv(rows, rcond=1e-8) @ off
    if abs(change).max() > 1e-5:  # a dead centre: this speed is 0 while the mechanism moves
        return y
    for j in system.state_speeds:
        y[system.place_of(j)] += scale[j] * change[j]
    y[place] = 0.0
    return y


def struck(run: Runner, t: float, y: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
    """The state after the blows of all joints that are at their stops and move outwards, without rebound.

    Blows follow the equations of contact with impulses for forces and jumps of speeds for accelerations; gravity,
    springs, friction and velocity terms have no impulse in an instant.  A joint at a stop stays there if a blow drives
    it against the stop.  `before` are the speeds before prescribed rates jumped, if they do.
    """
    system = run.system
    q, now = run.complete(t, y)
    sides = {k: touching(system, q, k) for k in system.stopped}
    stops = [k for k, side in sides.items() if any(side)]
    outwards = [k for k in stops if (sides[k][0] and now[k] < 0.0) or (sides[k][1] and now[k] > 0.0)]
    if not outwards and before is None:
        return y
    response, start = Response(system, q, system.prescribed), np.array(now if before is None else before)
    led = start if before is None else response.dragged(start, _rates(system, t, response, np.array(now)))
    pushes = [(-math.inf if upper else 0.0, math.inf if lower else 0.0) for lower, upper in (sides[k] for k in stops)]
    low, high = np.array(pushes).reshape(-1, 2).T
    impulses, _ = balanced(response.compliance(stops), led[stops], low, high)
    qd = led + response.after(stops, impulses)
    hit = [k for k, impulse in zip(stops, impulses) if impulse]
    qd[hit] = 0.0
    lost = -float(impulses @ (start[stops] + qd[stops])) / 2
    y = y.copy()
    for k in system.state_speeds:
        y[system.place_of(k)] = qd[k]
    y = _placed(run, t, y, {k: 0 if sides[k][0] else 1 for k in hit})
    if before is not None:
        y[-2] += response.kinetic(qd) - response.kinetic(start) + lost
    else:
        lost = response.kinetic(start) - response.kinetic(qd)
    y[-1] += lost
    return y


def _placed(run: Runner, t: float, y: np.ndarray, at: Mapping[int, int]) -> np.ndarray:
    """The state with these joints exactly at their lower (0) or upper (1) stops, and with loops closed."""
    system, q = run.system, np.array(run.complete(t, y)[0])
    moved = q.copy()
    for k, side in at.items():
        stop = system.stopped[k]
        moved[stop.coordinate] = (stop.low, stop.high)[side]
    if system.loops is not None and at:
        moved, left = newton(system.loops.at(wanted(system, t)[0]), moved, [*system.prescribed, *at], near=True)
        if left > CLOSED or abs(moved - q).max() > NEARLY * max(system.loops.length, 1.0):
            return y  # with more stops than freedoms, their places don't fit together to the last digit
    y = y.copy()
    y[: len(system.state_coordinates)] = moved[system.state_coordinates]
    return y


def _rates(system: System, t: float, response: Response, qd: np.ndarray) -> np.ndarray:
    """The rates of constraints at t, followed by the fixed speeds."""
    rows = wanted(system, t)[1] if system.loops is not None else np.zeros(0)
    return np.concatenate([rows, qd[response.fixed]])


def jumped(run: Runner, t: float, y: np.ndarray) -> tuple[float, np.ndarray, list[str]]:
    """The instant just behind t, the state there, and the names of joints and drives whose prescribed rates jump at t.

    A rate that jumps is a blow, by the same equations as at a stop; the drive exerts the impulse.
    """
    system = run.system
    earlier, later = math.nextafter(t, -math.inf), math.nextafter(t, math.inf)
    names = _jumping(system, earlier, later)
    if not names:
        return t, y, []
    before = run.complete(t, y)[1]
    ahead = system.expanded(motion(system, earlier), y.tolist())[1]
    for k in system.prescribed:
        before[k] = as_float(ahead[k])
    y = struck(run, later, y, np.array(before))
    return later, y, names


def _jumping(system: System, earlier: float, later: float) -> list[str]:
    """Names of prescribed joints and drives whose rates differ between two adjacent instants."""
    names = []
    for one in system.inputs.prescribed:
        rates = [(np.array([float(x) for x in one.at(t)[1]])) for t in (earlier, later)]
        if abs(rates[1] - rates[0]).max(initial=0.0) > NEAR * max(1.0, abs(np.array(rates)).max(initial=0.0)):
            names.append(one.joint.name)
    for drive in system.inputs.drives:
        before, after = (float(drive.curve(t)[1]) for t in (earlier, later))
        if abs(after - before) > NEAR * max(1.0, abs(before), abs(after)):
            names.append(drive.name)
    return names
