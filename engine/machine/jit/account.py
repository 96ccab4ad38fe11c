"""How programs have run here, for the record of a run."""

from __future__ import annotations

import sys

from . import choice


def account() -> dict[str, object]:
    """The backend, the form, what was noted on the way; the processor once something was compiled."""
    here = choice.way()
    found: dict[str, object] = {"backend": choice.backend(), "form": here.form}
    if here.journal is not None:
        found["cached"] = here.journal.notes()
    if "llvmlite" in sys.modules and not choice.given_up():
        from . import native  # only where it is there already: it takes llvmlite in

        cpu, features = native.processor()
        found |= {"lanes": native.lanes(), "cpu": cpu, "features": features}
    return found
