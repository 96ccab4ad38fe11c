"""Checks of a whole scenario: numbers that hardly anybody means, tables, dead times, entries that its run doesn't use.

An entry that isn't used gets a warning, so that nobody takes it for an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import safe_to_print
from ...laws import ForceLaw, Law, StateLaw, TableMotion, bare_angles_of_law_table, law_table_header
from ...mechanics.closure import METHODS
from ...robot import Joint
from ...robot.read import enormous_robot_numbers, unbelievable_robot_angle
from ...simulate.integrators import INTEGRATORS
from ...simulate.systems import System
from ...text import Keys
from ...text.expressions import Named
from ...text.fields import Strict
from . import wrenches
from .reading import Reading
from .solver import PlacedLaw

BREAKS = 8  # that follow from one break, for the n-th is one of the (n + 1)-th derivative only
SLACK = 1e-9  # of the run
PERMISSIONS = ("energy",)  # keys that are no inputs of a run but say what its user accepts
NOTHING = "all motion is given, so nothing is integrated"


def doubts_about_scenario_angles(reading: Reading, laws: Sequence[tuple[Joint, tuple[Law, Keys]]]) -> list[str]:
    """Warnings about bare angles of more than a turn, in laws and in `initial`, and about other odd numbers."""
    odd, (begin, end), step = [*_angles(reading, laws)], reading.span, reading.file.time.step
    if step is not None and step > (end - begin) * (1 + 1e-9):
        words = f"{step:g} s is longer than the run; there are rows at its start and its end only"
        odd.append((("time", "step"), words))
    for section in ("motion", "forces", "wrenches", "initial", "rates", "drives"):
        odd += enormous_robot_numbers(getattr(reading.file, section), (section,))
    return [f"{'.'.join(map(str, path))}: {words}" for path, words in odd]


def _angles(reading: Reading, laws: Sequence[tuple[Joint, tuple[Law, Keys]]]) -> Iterator[tuple[Keys, str]]:
    for joint, (law, path) in laws:
        for key, kind, value in law.measured():
            if kind == "position":
                yield from _of_joint(joint, value, (*path, key))
        if isinstance(law, TableMotion):
            columns = zip(law.columns_read(), joint.type.kinds)
            angles = [name for name, kind in columns if kind == "angle"]
            bare = bare_angles_of_law_table(reading.folder / law.file_, angles)
            yield from (((*path, "file"), words) for words in bare)
        if isinstance(law, StateLaw):
            yield from ((path, words) for words in _looked_up(reading, joint, law))
    for name, value in reading.file.initial.items():
        yield from _of_joint(reading.joint("initial", name), value, ("initial", name))


def _looked_up(reading: Reading, joint: Joint, law: StateLaw) -> Iterator[str]:
    """Bare angles of more than a turn in the first columns of tables over a coordinate."""
    kinds = dict(zip(joint.type.coordinates, joint.type.kinds))
    for one in reading.robot.moving:
        kinds |= {f"{one.name}.{suffix}": kind for suffix, kind in zip(one.type.coordinates, one.type.kinds)}
    for lookup in law.lookups():
        if isinstance(lookup.argument, Named) and kinds.get(lookup.argument.name) == "angle":
            file = reading.folder / lookup.file
            yield from bare_angles_of_law_table(file, law_table_header(file)[:1], of_time=False)


def _of_joint(joint: Joint, value: Any, path: Keys) -> Iterator[tuple[Keys, str]]:
    values = value if isinstance(value, tuple) else [value] * len(joint.type.kinds)
    for one, kind in zip(values, joint.type.kinds):
        if kind == "angle" and (words := unbelievable_robot_angle(one)):
            yield path, words
            return


def dead_time_kinks_of_scenario(
    reading: Reading, laws: Sequence[PlacedLaw], step: float | None, kinks: Sequence[float]
) -> list[float]:
    """The instants at which breaks of the motion, the start of the run and kinks of laws, come back by dead time."""
    late = [(law.delay(), path) for law, path in laws if isinstance(law, ForceLaw) and law.delay()]
    for law, path in wrenches.read_wrench_laws(reading):
        if law.delay():
            raise reading.error(
                (*path, "dead_time"), "a wrench has no dead time", key=True, allowed="laws of actuators"
            )
    begin, end = reading.span
    for delay, path in late:
        at = (*path, "dead_time")
        if not reading.simulating:
            raise reading.error(at, "only in a simulation is there a motion to look back on", key=True)
        method = reading.file.solver.method
        if not INTEGRATORS[method].adaptive and step is not None and step > delay * (1 + 1e-9):
            raise reading.error(
                at,
                f"the steps of `{method}` are longer, so the state of that time ago isn't known",
                found=f"{delay:g} s, and steps of {step:g} s",
                hint="a smaller `step` under `solver`",
            )
    back = [begin + n * delay for delay, _ in late for n in range(1, BREAKS + 1)]
    back += [kink + delay for delay, _ in late for kink in kinks]
    return [t for t in back if t < end]


def doubts_about_scenario_dead_times(reading: Reading, laws: Sequence[PlacedLaw]) -> list[str]:
    """Warnings about laws that see nothing but the start of the run."""
    begin, end = reading.span
    late = [(law.delay(), ".".join(map(str, path))) for law, path in laws if isinstance(law, ForceLaw)]
    return [
        f"{place}.dead_time: {delay:g} s is as long as the run, or longer; the law sees the first state all the time"
        for delay, place in late
        if delay >= end - begin
    ]


def doubts_about_scenario_tables(reading: Reading, laws: Sequence[PlacedLaw]) -> list[str]:
    """Warnings about tables that don't cover the run, and about what joins their rows."""
    t0, t1 = reading.span
    warnings = []
    for law, path in _all(reading, laws):
        place = ".".join(map(str, path))
        warnings += [f"{place}: {safe_to_print(doubt)}" for doubt in law.doubts(reading.folder)]
        pace = law.pace(t0, t1, reading.folder) if law.file() is not None else None
        if pace is None:
            continue
        begin, end, _ = pace  # of a table: of its rows
        if begin > t0 + SLACK * (t1 - t0) or end < t1 - SLACK * (t1 - t0):
            warnings.append(
                f"{place}: the table `{safe_to_print(str(law.file()))}` goes from {begin:g} to {end:g} s, the run from "
                f"{t0:g} to {t1:g} s; outside the table its end values hold"
            )
    return list(dict.fromkeys(warnings))


def breaks_of_scenario_tables(reading: Reading, laws: Sequence[PlacedLaw]) -> tuple[float, ...]:
    """The instants within the run at which derivatives of any law may jump."""
    t0, t1 = reading.span
    return tuple(sorted({x for law, _ in _all(reading, laws) for x in law.breaks(reading.folder) if t0 < x < t1}))


def _all(reading: Reading, laws: Sequence[PlacedLaw]) -> list[PlacedLaw]:
    """The laws of joints together with those of wrenches and drives."""
    return [
        *laws,
        *wrenches.read_wrench_laws(reading),
        *((drive.motion, ("drives", drive.name)) for drive in reading.file.drives),
    ]


def doubts_about_unused_scenario_entries(
    reading: Reading, system: System, q0: Sequence[float], used: Iterable[Keys]
) -> list[str]:
    """Warnings about entries that do nothing; `used` are the paths of the laws that act.

    An entry with its default value is none of them: it says what would hold without it, as all entries of a replay do.
    """
    solver, closure = reading.file.solver, reading.file.closure
    odd = [("solver", key) for key in _changed(solver, PERMISSIONS)] + [("closure", key) for key in _changed(closure)]
    idle = bool(odd) and not _integrates(system, q0)
    why = {"solver": _of_solver, "closure": _of_closure}
    reasons = [(*path, NOTHING if idle else why[path[0]](reading, system, path[1])) for path in odd]
    warnings = [f"{section}.{key} does nothing: {words}" for section, key, words in reasons if words]
    record, cut, known = reading.file.record, system.loops.m and reading.robot.loops, set(used)
    if record.axes != "base" and not cut and not record.wants("reactions"):
        warnings.append("record.axes does nothing: no wrenches of joints or cuts are recorded")
    for section in ("motion", "forces"):
        if "all" in getattr(reading.file, section) and (section, "all") not in known:
            warnings.append(f"{section}.all does nothing: no actuated joint is left for it")
    return warnings


def _changed(entry: Strict, without: Sequence[str] = ()) -> list[str]:
    """The keys of an entry whose values aren't the defaults."""
    fields = type(entry).model_fields
    return [key for key, field in fields.items() if key not in without and getattr(entry, key) != field.default]


def _integrates(system: System, q0: Sequence[float]) -> bool:
    """Whether the run has anything to integrate."""
    if not system.loops.m or not system.free:
        return bool(system.free)
    from ...simulate import discrete_state_at_start

    part = discrete_state_at_start(system, np.array(q0, dtype=float)).partition
    return bool(system.commanded or system.robot.rolls or (part is not None and part.N))


def _of_solver(reading: Reading, system: System, key: str) -> str:
    """Why an entry of `solver` does nothing; empty if it does something."""
    entry, why = reading.file.solver, ""
    if key in ("rtol", "atol") and not INTEGRATORS[entry.method].adaptive:
        why = f"`{entry.method}` takes steps of fixed length"
    elif key == "friction_rate" and not system.smooth:
        why = "it belongs to `friction: smooth`"
    elif key in ("friction", "friction_rate") and not system.coulomb:
        why = f"no joint of {reading.robot.name} has dry friction"
    elif key == "limits" and not any(joint.limits for joint in system.free):
        why = "no joint whose motion is sought has `limits`"
    elif key == "at_singularity":
        method = reading.file.closure.method
        alone = METHODS[method].switches or METHODS[method].recomputes_null_space
        why = _tree(reading) if not system.loops.m else f"`{method}` takes other coordinates by itself" * alone
    return why


def _of_closure(reading: Reading, system: System, key: str) -> str:
    """Why an entry of `closure` does nothing; empty if it does something."""
    name = reading.file.closure.method
    method = METHODS[name]
    if not system.loops.m:
        return _tree(reading)
    if key == "independent":
        own = method.recomputes_null_space or method.basis in ("qr", "svd")
        return f"`{name}` chooses its directions itself" if own else ""
    if key == "method" or key in {one.name for one in method.parameters}:
        return ""
    homes = [f"`{other}`" for other, row in METHODS.items() if key in {one.name for one in row.parameters}]
    return f"it belongs to {', '.join(homes)}; the method is `{name}`"


def _tree(reading: Reading) -> str:
    return f"{reading.robot.name} has no loops or couplings, and no drives"
