"""Measured motions: their columns read, scaled, filtered and differentiated, with the ends left out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...errors import AssemblyError, InputError, NumericalError, Place
from ...laws import bare_angles_of_law_table, law_table_header, read_law_table_columns, refuse_units_of_law_table
from ...mechanics.assembly import closing_position_moved_along_speeds, position_with_loops_closed
from ...mechanics.closure import Closure, loop_closure
from ...robot import Joint, Robot
from ...text.expressions import name_and_unit_of_header
from .settings import Column, Columns, DataFile, Filter, IdentificationFile

FEWEST = 5  # rows of a range
LEAST = 0.1  # turns of a filter's cutoff in the time of the data: with less it leaves nothing but rounding
FARTHEST = 0.05  # step of a coordinate on the way to the first row, in radians and metres
SMALLEST = 1e-8  # singular value of the scaled constraints, as a share of the largest, below which motions are free


@dataclass(frozen=True, eq=False)
class Recorded:
    """A motion of all joints, and the measured efforts; rows are instants."""

    name: str
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    efforts: np.ndarray
    whole: Recorded | None = None  # the motion without rows left out, where its past or a filter counts
    kept: slice = field(default_factory=lambda: slice(None))  # the rows of the whole that are these
    filter: Filter | None = None  # of the efforts, and so of those of the model

    def cut(self, kept: slice, efforts: Filter | None) -> Recorded:
        """Some of the rows, which know the whole."""
        t, q, qd, qdd, own = (part[kept] for part in (self.t, self.q, self.qd, self.qdd, self.efforts))
        return Recorded(self.name, t, q, qd, qdd, own, self, kept, efforts)


def measured_joints(robot: Robot) -> list[Joint]:
    """The joints whose positions are measured: all, or with loops those with actuators."""
    return [joint for joint in robot.moving if joint.actuated or not robot.tied]


def measured_effort_columns(robot: Robot) -> list[str]:
    """The columns of the measured forces: of joints with actuators, and of actuators on links."""
    own = [name for joint in robot.moving if joint.actuated for name in joint.columns("forces")]
    return own + [f"{one.name}.tau" for one in robot.actuators]


def recorded_measurement(robot: Robot, entry: DataFile, settings: IdentificationFile, folder: Path) -> Recorded:
    """The motion in a file, ready for the regressor."""
    path, joints = folder / entry.file, measured_joints(robot)
    table = _Table(path, settings)
    t, q, qd, qdd, efforts = table.all(robot, joints)
    if entry.rows is not None:
        first, last = entry.rows
        if last > len(t):
            raise InputError("there are fewer rows", place=Place(str(path)), found=f"{last}", allowed=f"1 to {len(t)}")
        t, q, efforts = (x[first - 1 : last] for x in (t, q, efforts))
        qd, qdd = (None if x is None else x[first - 1 : last] for x in (qd, qdd))
    if len(t) < FEWEST + 2 * settings.drop:
        raise InputError(
            "too few rows", place=Place(str(path)), found=str(len(t)), allowed=f"{FEWEST + 2 * settings.drop} or more"
        )
    kept = slice(settings.drop, len(t) - settings.drop, settings.every)
    q, qd, qdd, efforts = _prepared(joints, settings, t, q, qd, qdd, efforts)
    filtered = settings.filter if settings.filter is not None and "efforts" in settings.filter.of else None
    whole = filtered is not None or settings.friction.law == "dahl"
    if not whole:
        t, q, qd, qdd, efforts = (x[kept] for x in (t, q, qd, qdd, efforts))
    if robot.tied:
        q, qd, qdd = follow_measured_loops(robot, joints, q, qd, qdd)
    motion = Recorded(str(entry.file), t, q, qd, qdd, efforts)
    return motion.cut(kept, filtered) if whole else motion


def _prepared(
    joints: Sequence[Joint],
    settings: IdentificationFile,
    t: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray | None,
    qdd: np.ndarray | None,
    efforts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, speeds, accelerations and efforts, filtered; what wasn't measured comes from differences."""
    wanted = settings.filter.of if settings.filter is not None else []

    def clean(name: str, x: np.ndarray) -> np.ndarray:
        assert settings.filter is not None or name not in wanted
        return smooth_measured_columns(t, x, settings.filter.order, settings.filter.cutoff) if name in wanted else x  # type: ignore[union-attr]

    if qd is None:
        for joint in joints:
            if joint.type.orientation is not None:
                raise InputError(
                    f"the speeds of `{joint.name}` aren't derivatives of its coordinates",
                    key="columns.speeds",
                    allowed="columns of speeds",
                )
    q = clean("positions", q)
    qd = derivative_of_measured_columns(t, q) if qd is None else clean("speeds", qd)
    qdd = derivative_of_measured_columns(t, qd) if qdd is None else clean("accelerations", qdd)
    return q, qd, qdd, clean("efforts", efforts)


class _Table:
    """The columns of a file, by their names or places."""

    def __init__(self, path: Path, settings: IdentificationFile):
        self._path, self._settings = path, settings

    def all(
        self, robot: Robot, joints: Sequence[Joint]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray]:
        """Time, positions, speeds, accelerations and efforts; what isn't there is None."""
        given, settings = self._settings.columns, self._settings
        names = {
            "positions": [name for joint in joints for name in joint.columns("coordinates")],
            "speeds": [name for joint in joints for name in joint.columns("speeds")],
            "accelerations": [name for joint in joints for name in joint.columns("accelerations")],
            "efforts": measured_effort_columns(robot),
        }
        for what, own in (*names.items(), ("currents", names["efforts"])):
            self._right_number(what, getattr(given, what), own)
        if settings.header:
            there = {name_and_unit_of_header(cell)[0] for cell in law_table_header(self._path)}
            for what in ("speeds", "accelerations"):
                if getattr(given, what) is None and not set(names[what]) <= set(there):
                    del names[what]
        else:
            self._all_given(given)
            names = {what: own for what, own in names.items() if getattr(given, what) is not None or what == "efforts"}
        chosen = {what: getattr(given, what) or own for what, own in names.items()}
        if given.currents is not None:
            chosen["efforts"] = given.currents
        flat = [self._named(name) for own in chosen.values() for name in own]
        time = None if given.time is None else self._named(given.time)
        raw = 0 if given.currents is None else len(given.currents)  # whose units are those of the gains
        t, x = read_law_table_columns(self._path, flat, time=time, header=settings.header, raw=raw)
        if settings.header:
            kinds = [kind for what in chosen for kind in _kinds_of_measured(robot, joints, what)]
            refuse_units_of_law_table(self._path, flat[: len(flat) - raw], kinds)
            angles = [name for name, kind in zip(flat, kinds) if kind == "angle"]
            if words := next(bare_angles_of_law_table(self._path, angles), ""):  # the others are alike
                warnings.warn(f"{self._path}: {words}", stacklevel=2)
        parts = dict(zip(chosen, np.split(x, np.cumsum([len(own) for own in chosen.values()])[:-1], axis=1)))
        efforts = parts["efforts"] * (np.array(settings.gains) if given.currents is not None else 1.0)
        return t, parts["positions"], parts.get("speeds"), parts.get("accelerations"), efforts

    def _named(self, column: Column) -> str:
        """The name of a column that is given by its name or its place."""
        if isinstance(column, str) or not self._settings.header:
            return str(column)
        there = law_table_header(self._path)
        if not 1 <= column <= len(there):
            raise InputError(
                "no such column", place=Place(str(self._path), 1), found=str(column), allowed=f"1 to {len(there)}"
            )
        return there[column - 1]

    def _right_number(self, what: str, given: Sequence[Column] | None, own: Sequence[str]) -> None:
        """Raises an error if a list hasn't one column for each of the robot's."""
        if given is not None and len(given) != len(own):
            raise InputError(
                f"{len(own)} columns are needed",
                key=f"columns.{what}",
                found=str(len(given)),
                allowed=f"those of {', '.join(own)}",
            )

    def _all_given(self, given: Columns) -> None:
        """Raises an error if columns of a file without a header aren't given by their places."""
        for what in ("time", "positions", "efforts" if given.currents is None else "currents"):
            if getattr(given, what) is None:
                raise InputError(
                    "a file without a header needs the places of its columns",
                    key=f"columns.{what}",
                    allowed="places from 1",
                )


def _kinds_of_measured(robot: Robot, joints: Sequence[Joint], what: str) -> list[str]:
    """The kind of each column, such as `angle`."""
    if what == "positions":
        return [kind for joint in joints for kind in joint.type.kinds]
    if what == "efforts":
        turning = [turns for joint in robot.moving if joint.actuated for turns in joint.type.turning]
        return [*("moment" if turns else "force" for turns in turning), *("effort" for _ in robot.actuators)]
    turn, slide = {"speeds": ("rate", "speed"), "accelerations": ("angular acceleration", "acceleration")}[what]
    return [turn if turns else slide for joint in joints for turns in joint.type.turning]


def smooth_measured_columns(t: np.ndarray, x: np.ndarray, order: int, cutoff: float) -> np.ndarray:
    """The columns through a Butterworth filter, forwards and backwards; rows count as evenly spaced."""
    from scipy.signal import butter, sosfiltfilt

    rate = (len(t) - 1) / (t[-1] - t[0])
    if cutoff >= rate / 2:
        raise InputError(
            "the filter lets everything pass",
            key="filter.cutoff",
            found=f"{cutoff:g} Hz",
            allowed=f"less than half of the {rate:.4g} rows a second",
        )
    if cutoff * (t[-1] - t[0]) < LEAST:
        raise InputError(
            "the filter lets nothing pass",
            key="filter.cutoff",
            found=f"{cutoff:g} Hz",
            allowed=f"{LEAST / (t[-1] - t[0]):.4g} Hz or more, for data of {t[-1] - t[0]:.4g} s",
        )
    sections = butter(order, cutoff, fs=rate, output="sos")
    pad = min(3 * (2 * len(sections) + 1), len(t) - 1)
    result: np.ndarray = sosfiltfilt(sections, x, axis=0, padlen=pad)
    return result


def derivative_of_measured_columns(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Derivatives of the columns by central differences, of second order for uneven rows, too."""
    result: np.ndarray = np.gradient(x, t, axis=0, edge_order=2)
    return result


def follow_measured_loops(
    robot: Robot, joints: Sequence[Joint], q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, speeds and accelerations of all joints; the first row is reached from the file's initial position."""
    loops = loop_closure(robot)
    places = [k for joint in joints for k in joint.coordinates]
    speeds = [k for joint in joints for k in joint.speeds]
    now = _to_first(loops, places, speeds, q[0])
    rows = []
    for n in range(len(q)):
        if n:
            step = _others(loops, now, speeds, q[n] - now[places])
            now = closing_position_moved_along_speeds(robot, now, step) if len(places) == len(speeds) else now.copy()
            now = _closed(loops, now, places, speeds, q[n])
        v = _others(loops, now, speeds, qd[n])
        drift = loops.jacobian(now, v)[1]
        rows.append((now, v, _others(loops, now, speeds, qdd[n], drift)))
    result = tuple(np.array(part) for part in zip(*rows))
    return result[0], result[1], result[2]


def _to_first(loops: Closure, places: Sequence[int], speeds: Sequence[int], wanted: np.ndarray) -> np.ndarray:
    """The first row's position, in small steps from the initial one, so that the branch stays the same."""
    robot = loops.robot
    now = position_with_loops_closed(loops, np.array(robot.q0), speeds)
    way = wanted - now[places]
    count = max(1, int(np.ceil(abs(way).max(initial=0.0) / FARTHEST)))
    start = now[places]
    for k in range(1, count + 1):
        now = _closed(loops, now, places, speeds, start + way * (k / count))
    return now


def _closed(
    loops: Closure, q: np.ndarray, places: Sequence[int], speeds: Sequence[int], wanted: np.ndarray
) -> np.ndarray:
    """The closed position near q with these coordinates where they are wanted."""
    guess = q.copy()
    guess[places] = wanted
    closed = position_with_loops_closed(loops, guess, speeds)
    if abs(closed[places] - wanted).max(initial=0.0) > 1e-6:
        raise AssemblyError(
            f"{loops.robot.name}: the {loops.robot.ties_in_words} don't fit the measured positions", closed
        )
    closed[places] = wanted
    return closed


def _others(
    loops: Closure, q: np.ndarray, given: Sequence[int], values: np.ndarray, drift: np.ndarray | None = None
) -> np.ndarray:
    """All speeds from some of them, or all accelerations with the drift of the speeds."""
    J, robot = loops.jacobian(q)[0], loops.robot
    rest = [k for k in range(robot.nv) if k not in set(given)]
    result = np.zeros(robot.nv)
    result[list(given)] = values
    right = -(J @ result) - (0.0 if drift is None else drift)
    scaled = J[:, rest] * loops.row_scale[:, None] * loops.column_scale[rest]
    U, s, Vt = np.linalg.svd(scaled, full_matrices=False)
    if len(rest) and (len(s) < len(rest) or s[-1] < SMALLEST * s[0]):
        if len(loops.robot.loops) and np.linalg.matrix_rank(loops.scaled(J), SMALLEST) < loops.robot.nv - len(given):
            raise InputError(
                "the motion of the actuated joints doesn't determine that of all others",
                allowed="as many actuated joints as degrees of freedom",
            )
        raise NumericalError(f"{robot.name}: a measured position is singular")
    result[rest] = loops.column_scale[rest] * (Vt.T @ ((U.T @ (right * loops.row_scale)) / s))
    return result
