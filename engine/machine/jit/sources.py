"""The package's sources as a hash, so that a change of any module that has to do with programs changes all their keys.

To read all modules takes every process longer than to load the code that it needs.  So their hash is kept in a note,
beside the state of their files: sizes, inodes, and the times of their last changes, which no program can set back.  A
state that is too young proves nothing, for a file may change twice within one tick of the file system's clock.
"""

from __future__ import annotations

import hashlib
import os
import time
from array import array
from collections.abc import Callable
from itertools import chain
from pathlib import Path

# rooms in which nothing is compiled: what they make gets into programs as numbers and names, which their identity has
OF_STUDIES = ("distribution", "identification", "optimise", "papers", "regression", "sweep", "verification")
BYTECODE = "__pycache__"
LEFT_OUT = frozenset((BYTECODE, "formats", "peers", "record", *OF_STUDIES))

LARGE = 2**63  # from which on an inode isn't a number of the array that its state goes into
State = tuple[int, int, int, int]  # of a file: size, inode, and when it was written and changed, in nanoseconds

BY_NUMBER = os.scandir in os.supports_fd  # the system then needn't follow the path to the folder for each file
SETTLED = 2.0  # seconds: a change that is older than that is over, whatever the clock's ticks are


def hash_of_sources(root: Path, left_out: frozenset[str] = LEFT_OUT) -> str:
    """The hash of all modules below a folder that count, by their names and texts."""
    digest = hashlib.sha256()
    for name in sorted(_modules(root, left_out)):
        text = (root / name).read_bytes()
        digest.update(f"{name} {len(text)}\0".encode() + text)
    return digest.hexdigest()


def known_hash_of_sources(root: Path, note: Callable[[], bytes | None], keep: Callable[[bytes], object]) -> str:
    """The hash of all modules, from a note if that is of the files' present state; else it is made, and a note kept."""
    if os.name == "nt":  # there, files don't say when they changed
        return hash_of_sources(root)
    modules = _modules(root)
    names = sorted(modules)
    states = array("q", chain.from_iterable(modules[name] for name in names))
    if time.time() - 1e-9 * max(max(states[2::4]), max(states[3::4])) < SETTLED:
        return hash_of_sources(root)
    state = hashlib.sha256("\0".join((str(root), *names, "")).encode() + states.tobytes()).hexdigest()
    before, _, found = (note() or b"").decode(errors="replace").strip().partition(" ")
    if before == state and len(found) == len(state):
        return found
    made = hash_of_sources(root)
    keep(f"{state} {made}\n".encode())
    return made


def _modules(root: Path, left_out: frozenset[str] = LEFT_OUT) -> dict[str, State]:
    """The states of all modules below a folder that count, by their names from there."""
    modules: dict[str, State] = {}
    _collect(os.open(root, os.O_RDONLY) if BY_NUMBER else str(root), "", modules, left_out)
    if not modules:  # without sources, all versions of the package would share their object code
        raise LookupError(f"{root}: no sources, so nothing says which object code is theirs")
    return modules


def _collect(folder: int | str, prefix: str, modules: dict[str, State], left_out: frozenset[str]) -> None:
    """Adds the states of the modules below a folder, which is open, or a path where a system can't open folders."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    one = entry.stat()
                    modules[prefix + name] = (one.st_size, one.st_ino % LARGE, one.st_mtime_ns, one.st_ctime_ns)
                elif name not in left_out and entry.is_dir():
                    inner = os.open(name, os.O_RDONLY, dir_fd=folder) if isinstance(folder, int) else entry.path
                    _collect(inner, f"{prefix}{name}/", modules, left_out)
    finally:
        if isinstance(folder, int):
            os.close(folder)
