"""Checks of a stored result: what was compared, what is allowed, and the differences that are beyond it.

Columns, and the run's end, are compared with those of the run that is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from ...errors import InputError, NumericalError
from ...mechanics.closure import Closure
from ...mechanics.quantities import LARGE, energy, inertia
from ...record import Column
from ...record.compared import Difference, allowed_recorded_difference, recorded_column_size, recorded_difference_excess
from ...record.files import check_recorded_checksums
from ...robot import Robot
from ...scenario import BROKEN, Plan, Result, Stored, carry_out_whole_plan
from ...simulate.integrators import INTEGRATORS
from ...simulate.systems import wanted_row_signals
from .peer import PeerModel
from .stored_rows import RowMotion, StoredRows

GROWTH = 1000.0  # times `rtol`: what two runs of one simulation may differ by
SENSITIVITY = 10.0  # times the difference between two runs with other tolerances

Progress = Callable[[str, float | None], None]  # hears what is being done, and its share if that is known


def run_of_result_again(made: Plan, report: Progress) -> Result:
    """The same run on the plain backend."""
    first, last = float(made.grid[0]), float(made.grid[-1])

    def reached(t: float) -> None:
        t = min(t, last)
        report(f"t = {t:.3f} of {last:g} s", (t - first) / (last - first or 1.0))

    report("computing it again", None)
    return carry_out_whole_plan(made, reached)


def allowed_share_of_run(made: Plan, again: Result) -> float:
    """The allowed share of a column's largest number: more where the run was integrated to a tolerance of its own."""
    integrated = again.audit["steps"] and INTEGRATORS[made.solver.method].adaptive
    return max(EXACT, GROWTH * made.solver.rtol) if integrated else EXACT


def check_columns_of_result(
    kept: Stored, made: Plan, again: Result, share: float, *, sensitive: bool, report: Progress
) -> Check:
    """Whether the run gives the same columns and the same end again."""
    frame = list(_frame(kept, again))
    count = min(len(kept.t), len(again.t))
    t, units = kept.t[:count], {column.name: column for column in again.columns}
    common = [name for name in units if name in kept.table]
    old, new = ({name: table[name][:count] for name in common} for table in (kept.table, again.table))
    allowed = allowed_in_columns(again.columns, old, share)
    compared = [worst_row_of_column(units[name].unit, name, t, old[name], new[name], allowed[name]) for name in common]
    words = f"{len(common)} columns at {count} instants"
    adaptive = again.audit["steps"] and INTEGRATORS[made.solver.method].adaptive
    if sensitive and adaptive and any(one.times > 1.0 for one in compared):
        room = _sensitivity(made, again, count, report)
        limits = {name: np.maximum(allowed[name], SENSITIVITY * room[name]) for name in common}
        compared = [
            worst_row_of_column(units[name].unit, name, t, old[name], new[name], limits[name]) for name in common
        ]
        words += ", of which some depend on the last digits and are allowed more"
    return check_of_differences("columns", "plain text", words, compared, frame)


def _frame(kept: Stored, again: Result) -> Iterator[Difference]:
    """The differences in rows, columns and the end of the run."""
    ended = kept.record.get("ended")
    if ended not in (again.ended, "interrupted"):
        yield Difference("ended", f"`{ended}` in the record, `{again.ended}` if it is computed again")
    allowed = allowed_recorded_difference(recorded_column_size(kept.t), 0.0, None, None)
    if len(kept.t) != len(again.t) or (recorded_difference_excess(kept.t, again.t, allowed) > 1.0).any():
        yield Difference("rows", f"{len(kept.t)} rows to {kept.t[-1]:g} s, {len(again.t)} to {again.t[-1]:g} s again")
    for name in (name for name in again.table if name not in kept.table):
        yield Difference(name, "the column is missing")
    for name in (name for name in kept.table if name not in again.table):
        yield Difference(name, "no such column comes out again")
    described = {column.name: column.unit for column in kept.columns}
    for column in (column for column in again.columns if column.name in kept.table):
        if described.get(column.name) != column.unit:
            unit = described.get(column.name, "nothing")
            yield Difference(column.name, f"its unit is `{column.unit}`, in the record `{unit}`")
    both = kept.record.get("events") or [], again.record["events"]
    before, now = ([(one.get("joint"), one.get("event")) for one in events] for events in both)
    if before != now and ended != "interrupted":
        kept_first, now_first = _parting(*both)
        yield Difference("events", f"the record has {kept_first} where {now_first} comes if it is computed again")


def _parting(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The first events, in words, that two lists of events don't have in common."""

    def words(event: Mapping[str, Any] | None) -> str:
        if event is None:
            return "no further event"
        who = event.get("joint") or event.get("actuator") or ""
        return f"`{who} {event.get('event')}`".replace("` ", "`") + f" at t = {event.get('t'):.6g} s"

    pairs = zip_longest(before, now)
    names = ("joint", "actuator", "event")
    first = next((a, b) for a, b in pairs if not a or not b or any(a.get(name) != b.get(name) for name in names))
    return words(first[0]), words(first[1])


def _sensitivity(made: Plan, again: Result, count: int, report: Progress) -> dict[str, np.ndarray]:
    """What halved tolerances change in each column up to each row: that much depends on the last digits."""
    solver = replace(made.solver, rtol=made.solver.rtol / 2, atol=made.solver.atol / 2)
    other = run_of_result_again(replace(made, solver=solver), report)
    room = {}
    for name, values in again.table.items():
        off = np.full(count, np.inf)
        shared = min(count, len(other.t))
        off[:shared] = abs(values[:shared] - other.table[name][:shared])
        room[name] = np.maximum.accumulate(np.where(np.isnan(off), 0.0, off))
    return room


EXACT = 1e-9  # of a column's largest number, where nothing was integrated, and in single rows
FLOOR = 0.01  # of the allowed share, relative to the largest number of the column's unit and family

Table = Mapping[str, np.ndarray]
ENERGIES = ("kinetic", "potential", "elastic")


@dataclass(frozen=True)
class Check:
    """One check: what was looked at, by what means, and all that is beyond what is allowed, the worst first."""

    name: str
    by: str
    words: str
    differences: list[Difference] = field(default_factory=list)
    worst: Difference | None = None  # the largest difference in terms of the allowed one, whether beyond it or not

    @property
    def ok(self) -> bool:
        return not self.differences


def allowed_in_columns(columns: Sequence[Column], table: Table, share: float) -> dict[str, float]:
    """What is allowed in each column: a share of its largest number, and less of its kind's."""
    kinds: dict[tuple[str, str], float] = {}
    for column in columns:
        if column.name in table:
            kinds[column.kind] = max(kinds.get(column.kind, 0.0), recorded_column_size(table[column.name]))
    return {
        column.name: allowed_recorded_difference(
            recorded_column_size(table[column.name]), kinds[column.kind], share, None, FLOOR * share
        )
        for column in columns
        if column.name in table
    }


def worst_row_of_column(
    unit: str, name: str, t: np.ndarray, old: np.ndarray, new: np.ndarray, allowed: float | np.ndarray
) -> Difference:
    """The worst row of a column."""
    if not len(t):
        return Difference(name, "")
    n = int(recorded_difference_excess(old, new, allowed).argmax())
    limit = float(np.broadcast_to(allowed, old.shape)[n])
    return Difference(name, "", float(t[n]), float(old[n]), float(new[n]), limit, unit)


def check_of_differences(
    name: str, by: str, words: str, compared: Sequence[Difference], others: Sequence[Difference] = ()
) -> Check:
    """The check of differences that were measured, and of others that are none of numbers."""
    measured = [one for one in compared if one.t is not None]
    beyond = sorted((one for one in measured if one.times > 1.0), key=lambda one: -one.times)
    worst = max(measured, key=lambda one: one.times, default=None)
    return Check(name, by, words, [*others, *beyond], worst)


def check_files_of_result(kept: Stored, notes: list[str]) -> Check:
    """Whether the files are those that were written with the record."""
    sums = kept.record.get("checksums")
    if not isinstance(sums, Mapping) or not sums:
        notes.append("the record has no checksums: it comes from an old version")
        return Check("files", "SHA-256", "no checksums")
    changed: list[Difference] = []
    for name in sums:
        try:
            check_recorded_checksums(kept.folder, kept.record, [str(name)])
        except InputError as error:
            changed.append(Difference(str(name), error.message))
    return Check("files", "SHA-256", f"{len(sums)} files", changed)


def check_closure_of_rows(made: Plan, loops: Closure, t: np.ndarray, rows: RowMotion, share: float) -> Check:
    """Whether loops and couplings are closed in each row, and stay so at its speeds and accelerations."""
    J, drift = loops.jacobian(rows.q, rows.qd)
    target = np.array([wanted_row_signals(made.system, float(x)) for x in t]).reshape(len(t), 3, loops.m)
    rates, seconds = (np.einsum("nmk,nk->nm", J, x) for x in (rows.qd, rows.qdd))
    parts = (
        ("position", loops.gap(rows.q) - target[:, 0], np.ones(loops.m)),
        ("rate", rates - target[:, 1], _reach(J, rows.qd)),
        ("acceleration", seconds + drift - target[:, 2], _reach(J, rows.qdd) + abs(drift).max(axis=0, initial=0.0)),
    )
    compared = []
    for word, off, sizes in parts:
        for k, name in enumerate(_owners(made.robot, loops)):
            turning = bool(loops.turning[k])
            length = 1.0 if turning or word != "position" else loops.length
            unit = ("rad" if turning else "m") + {"position": "", "rate": "/s", "acceleration": "/s²"}[word]
            kind = max(x for x, other in zip(sizes, loops.turning) if bool(other) == turning)
            allowed = allowed_recorded_difference(float(sizes[k]) * length, float(kind) * length, share, None, share)
            compared.append(worst_row_of_column(unit, f"{name}, {word}", t, np.zeros(len(t)), off[:, k], allowed))
    if made.system.method.raw:  # which is what the method is there to show
        worst = max(compared, key=lambda one: one.times)
        words = f"`{made.system.closure}` lets loops drift: only reported"
        return Check("closure", "plain text", words, [], worst)
    return check_of_differences("closure", "plain text", f"{loops.m} constraints in {len(t)} rows", compared)


def _reach(J: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The size of each row of J x, whose terms may cancel."""
    sizes: np.ndarray = np.einsum("nmk,nk->nm", abs(J), abs(x)).max(axis=0, initial=0.0)
    return sizes


def _owners(robot: Robot, loops: Closure) -> list[str]:
    """The name of the tie, or of the coupled joint, that each row of the constraints belongs to."""
    names = [one.name for one, place in zip(loops.ties, loops.places) for _ in range(place.start, place.stop)]
    return names + [next(j.name for j in robot.moving if c.coordinate in j.coordinates) for c in loops.couplings]


def check_energy_of_rows(kept: Stored, made: Plan, again: Result, share: float) -> list[Check]:
    """Whether the energies are those of the rows' positions and speeds, and their balance holds."""
    if not {f"energy.{name}" for name in (*ENERGIES, "total", "residual")} <= {*kept.table}:
        return []
    reading = StoredRows(made, kept.t, kept.table, False)
    try:
        q, qd = reading.q, reading.joints("speeds")
    except InputError:  # the check of the columns says which are missing
        return []
    sound = (abs(np.hstack([q, qd])) < LARGE).all(axis=1)
    parts = energy(made.robot, q[sound], qd[sound])
    parts["total"] = parts["kinetic"] + parts["potential"] + parts["elastic"]
    old = {f"energy.{name}": kept.table[f"energy.{name}"][sound] for name in parts}
    allowed = allowed_in_columns(again.columns, old, share)
    compared = [
        worst_row_of_column("J", name, kept.t[sound], old[name], parts[name[7:]], allowed[name]) for name in old
    ]
    residual = kept.table["energy.residual"]
    most, exchanged = recorded_column_size(residual), again.audit["exchanged"] or 0.0
    words = f"energies of {len(old['energy.total'])} rows; the balance is off by {most:.2g} J of {exchanged:.2g} J"
    broken = []
    reported = made.file.solver.energy == "accept" or made.system.method.raw
    if exchanged and most >= BROKEN * exchanged and made.system.free and not reported:
        at = int(np.nanargmax(abs(residual)))
        limit = BROKEN * exchanged
        broken = [Difference("energy.residual", "the balance", float(kept.t[at]), 0.0, float(residual[at]), limit, "J")]
    return [check_of_differences("energy", "plain text", words, compared, broken)]


def check_motion_of_rows(
    reading: StoredRows, rows: RowMotion, engine: PeerModel, share: float, notes: list[str]
) -> Check:
    """Whether each row satisfies the equations of motion: its forces fit its motion, and its motion its forces."""
    robot, t = reading.plan.robot, reading.t[reading.sound]
    sizes = rows.sizes(engine)
    compared = list(_along(robot, t, "forces", rows.tau, rows.tau + rows.residual(engine), sizes, share))
    words = f"forces of {len(t)} rows"
    try:
        found = rows.accelerations(engine)
    except NumericalError:
        found = None
    if found is None or not np.isfinite(found).all():
        notes.append(f"accelerations were not checked by {engine.title}: the tree alone has massless joints")
    else:
        sizes = abs(rows.qdd).max(axis=0, initial=0.0)
        share = max(share, _conditioned(robot, rows.q))
        compared += _along(robot, t, "accelerations", rows.qdd, found, sizes, share)
        words = f"forces and accelerations of {len(t)} rows"
    return check_of_differences("motion", engine.title, words, compared)


def _along(
    robot: Robot, t: np.ndarray, what: str, old: np.ndarray, new: np.ndarray, sizes: np.ndarray, share: float
) -> Iterator[Difference]:
    """The worst difference along each speed, whose column is named by `forces` or `accelerations`."""
    turns = [turning for joint in robot.moving for turning in joint.type.turning]
    units = {"forces": ("N m", "N"), "accelerations": ("rad/s²", "m/s²")}[what]
    for k, (name, turning) in enumerate(zip(robot.columns(what), turns)):
        kind = max(x for x, other in zip(sizes, turns) if other == turning)
        allowed = allowed_recorded_difference(float(sizes[k]), float(kind), share, None, FLOOR * share)
        yield worst_row_of_column(units[0] if turning else units[1], name, t, old[:, k], new[:, k], allowed)


def _conditioned(robot: Robot, q: np.ndarray) -> float:
    """The share to which accelerations can be known, by the condition of the inertia matrix in a few rows."""
    if not len(q) or not robot.nv:
        return 0.0
    return max(1e-14 * float(np.linalg.cond(inertia(robot, q[n]))) for n in {0, len(q) // 2, len(q) - 1})
