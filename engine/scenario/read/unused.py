"""Entries of a scenario that its run doesn't use: a warning for each of them, so that nobody takes it for an input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...loops.methods import METHODS
from ...simulate import coordinates
from ...simulate.integrate import INTEGRATORS
from ...simulate.system import System
from ...text import Keys
from ...text.fields import Strict
from .reading import Reading

PERMISSIONS = ("energy",)  # keys that are no inputs of a run but say what its user accepts
NOTHING = "all motion is given, so nothing is integrated"


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
    return [*warnings, *_of_record(reading, system), *_alls(reading, used)]


def _changed(entry: Strict, without: Sequence[str] = ()) -> list[str]:
    """The keys of an entry whose values aren't the defaults."""
    fields = type(entry).model_fields
    return [key for key, field in fields.items() if key not in without and getattr(entry, key) != field.default]


def _integrates(system: System, q0: Sequence[float]) -> bool:
    """Whether the run has anything to integrate."""
    if system.loops is None or not system.free:
        return bool(system.free)
    part = coordinates.discrete_state_at_start(system, np.array(q0, dtype=float)).partition
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
        why = _of_singularities(reading, system)
    return why


def _of_singularities(reading: Reading, system: System) -> str:
    method = reading.file.closure.method
    if system.loops is None:
        return _tree(reading)
    if METHODS[method].switches or METHODS[method].afresh:
        return f"`{method}` takes other coordinates by itself"
    return ""


def _of_closure(reading: Reading, system: System, key: str) -> str:
    """Why an entry of `closure` does nothing; empty if it does something."""
    name = reading.file.closure.method
    method = METHODS[name]
    if system.loops is None:
        return _tree(reading)
    if key == "independent":
        own = method.afresh or method.basis in ("qr", "svd")
        return f"`{name}` chooses its directions itself" if own else ""
    if key == "method" or key in {one.name for one in method.parameters}:
        return ""
    homes = [f"`{other}`" for other, row in METHODS.items() if key in {one.name for one in row.parameters}]
    return f"it belongs to {', '.join(homes)}; the method is `{name}`"


def _tree(reading: Reading) -> str:
    return f"{reading.robot.name} has no loops or couplings, and no drives"


def _of_record(reading: Reading, system: System) -> Iterator[str]:
    """A warning about axes of wrenches where none is recorded."""
    record = reading.file.record
    cut = system.loops is not None and reading.robot.loops
    if record.axes != "base" and not cut and not record.wants("reactions"):
        yield "record.axes does nothing: no wrenches of joints or cuts are recorded"


def _alls(reading: Reading, used: Iterable[Keys]) -> Iterator[str]:
    """Warnings about entries for `all` that no joint is left for."""
    known = set(used)
    for section in ("motion", "forces"):
        if "all" in getattr(reading.file, section) and (section, "all") not in known:
            yield f"{section}.all does nothing: no actuated joint is left for it"
