"""The package's sources as a hash, so that a change of any module changes the keys of all object code.

To read all modules takes every process longer than to load the code that it needs.  So their hash is kept in a note,
beside the state of their files: sizes, inodes, and the times of their last changes, which no program can set back.  A
state that is too young proves nothing, for a file may change twice within one tick of the file system's clock.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path

SETTLED = 2.0  # seconds: a change that is older than that is over, whatever the clock's ticks are


def hashed(root: Path) -> str:
    """The hash of all modules below a folder, by their names and texts."""
    digest = hashlib.sha256()
    for name, entry in _modules(root):
        text = Path(entry.path).read_bytes()
        digest.update(f"{name} {len(text)}\0".encode() + text)
    return digest.hexdigest()


def known(root: Path, note: Callable[[], bytes | None], keep: Callable[[bytes], None]) -> str:
    """The same hash, from a note if that says which state of the files it is of; else it is made, and a note kept."""
    state, changed = _state(root)
    if time.time() - changed < SETTLED or os.name == "nt":  # there, files don't say when they changed
        return hashed(root)
    before, _, found = (note() or b"").decode(errors="replace").strip().partition(" ")
    if before == state and len(found) == len(state):
        return found
    made = hashed(root)
    keep(f"{state} {made}\n".encode())
    return made


def _state(root: Path) -> tuple[str, float]:
    """The hash of the files' names and states, and when the last of them changed, in seconds."""
    files = [(name, entry.stat()) for name, entry in _modules(root)]
    texts = [f"{name} {one.st_size} {one.st_ino} {one.st_mtime_ns} {one.st_ctime_ns}" for name, one in files]
    last = max(max(one.st_mtime_ns, one.st_ctime_ns) for _, one in files)
    return hashlib.sha256("\0".join((str(root), *texts)).encode()).hexdigest(), last * 1e-9


def _modules(root: Path) -> list[tuple[str, os.DirEntry[str]]]:
    """All modules below a folder, with their names from there."""
    modules = sorted(_within(str(root), ""), key=itemgetter(0))
    if not modules:  # without sources, all versions of the package would share their object code
        raise LookupError(f"{root}: no sources, so nothing says which object code is theirs")
    return modules


def _within(folder: str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield prefix + entry.name, entry
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _within(entry.path, f"{prefix}{entry.name}/")
