"""Accounts of how programs have run: for the record of a run, and call by call for whoever looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from . import choice

_looking: list[list[str]] = []


@contextmanager
def noted_backend_runs() -> Iterator[list[str]]:
    """A list of how programs run within: `plain`, or the form of their code, and `general` for detours of direct calls.

    Where a direct call goes straight into code, nothing is noted.
    """
    notes: list[str] = []
    _looking.append(notes)
    try:
        yield notes
    finally:
        _looking.remove(notes)


def note_backend_run(way: str) -> None:
    """Add to the lists of all who look."""
    for notes in _looking:
        notes.append(way)


def account_of_backend() -> dict[str, object]:
    """Backend, form and notes of the run, and the processor if anything has been compiled."""
    here = choice.present_backend_choice()
    result: dict[str, object] = {"backend": choice.chosen_backend(), "form": here.form}
    if here.journal is not None:
        result["cached"] = here.journal.notes()
    if "llvmlite" in sys.modules and not choice.compiling_given_up():
        from . import native  # here, because it imports llvmlite

        cpu, features = native.native_processor()
        result |= {"lanes": native.native_lanes(), "cpu": cpu, "features": features}
    return result
