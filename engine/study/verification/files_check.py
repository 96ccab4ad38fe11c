"""The check of a result's files: whether they are those that were written with its record."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import InputError
from ...record.compared import Difference
from ...record.files import check_recorded_checksums
from ...scenario import Stored
from .check import Check


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
