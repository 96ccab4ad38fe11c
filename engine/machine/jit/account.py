"""An account of how programs have run in this process, for the record of a run."""

from __future__ import annotations

import sys

from . import choice


def account() -> dict[str, object]:
    """Backend, form and notes of the run, and the processor if anything has been compiled."""
    here = choice.way()
    result: dict[str, object] = {"backend": choice.backend(), "form": here.form}
    if here.journal is not None:
        result["cached"] = here.journal.notes()
    if "llvmlite" in sys.modules and not choice.given_up():
        from . import native  # here, because it imports llvmlite

        cpu, features = native.processor()
        result |= {"lanes": native.lanes(), "cpu": cpu, "features": features}
    return result
