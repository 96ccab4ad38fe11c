"""The check of a result's energies and of their balance."""

from __future__ import annotations

import numpy as np

from ...dynamics.quantities import energy
from ...dynamics.samples import LARGE
from ...errors import InputError
from ...record.compared import Difference, recorded_column_size
from ...scenario import BROKEN, Plan, Result, Stored
from .check import Check, allowed_in_columns, check_of_differences, worst_row_of_column
from .stored_rows import StoredRows

ENERGIES = ("kinetic", "potential", "elastic")


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
    reported = made.file.solver.energy == "accept" or (made.system.method.raw and made.system.loops is not None)
    if exchanged and most >= BROKEN * exchanged and made.system.free and not reported:
        at = int(np.nanargmax(abs(residual)))
        limit = BROKEN * exchanged
        broken = [Difference("energy.residual", "the balance", float(kept.t[at]), 0.0, float(residual[at]), limit, "J")]
    return [check_of_differences("energy", "plain text", words, compared, broken)]
