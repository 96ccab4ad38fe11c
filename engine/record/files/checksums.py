"""Checksums of a result's files, which its record holds, to check that they haven't changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import InputError, Place
from ...text import opened_regular_file

MOST_IN_RECORD = 32_000_000  # bytes
HINT = "run the scenario again; a file that is meant to differ belongs into a folder of its own"


def checksum_of_file(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with opened_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_recorded_checksums(folder: Path, record: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raises an error if files have changed since the record was written; records of old versions have no checksums."""
    sums = record.get("checksums")
    for name in names:
        known = sums.get(name) if isinstance(sums, Mapping) else None
        if known is not None and known != _sum_of(folder / name):
            raise InputError(
                "this is not the file that was written with the record beside it: its checksum is another one",
                place=Place(str(folder / name)),
                hint=HINT,
            )


def _sum_of(file: Path) -> str:
    try:
        if os.path.isfile(file):
            return checksum_of_file(file)
        why = "it is missing" if not os.path.lexists(file) else "it is no file"
    except OSError as error:
        why = f"it can't be read: {error.strerror}"
    raise InputError(
        f"not the file that was written with the record beside it: {why}", place=Place(str(file)), hint=HINT
    )
