"""Drafts: unfinished files have names of their own; those that killed processes have left behind are removed.

The name tells the draft's kind, machine and process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import secrets
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

START = ".denoc-"
DRAFT = "draft"  # of something new
READY = "ready"  # a draft that is whole, within the folder that takes its files one by one


def output_draft_path(kind: str, place: Path, suffix: str = "") -> Path:
    """A unique path for a draft in the folder `place`."""
    return place / (START + "-".join((kind, _host(), str(os.getpid()), secrets.token_hex(4))) + suffix)


def dead_draft_files(place: Path, kind: str) -> list[Path]:
    """The drafts of a kind in a folder whose processes on this machine are no longer alive."""
    if os.name != "posix":  # nobody can be asked there whether a process is alive
        return []
    try:
        names = os.listdir(place)
    except OSError:
        return []
    return [place / name for name in sorted(names) if _left(name, kind)]


def is_draft_file(name: str) -> bool:
    """Whether this is the name of a draft, of any process."""
    return name.startswith(START)


def remove_drafts_of_dead_processes(place: Path) -> None:
    """Removes the drafts in a folder whose processes are no longer alive."""
    for one in dead_draft_files(place, DRAFT):
        remove_draft_file(one)


def remove_draft_file(one: Path) -> None:
    """Removes a draft, file or folder, where that is possible."""
    if one.is_dir() and not one.is_symlink():
        shutil.rmtree(one, ignore_errors=True)
    with contextlib.suppress(OSError, ValueError):
        one.unlink()


@contextlib.contextmanager
def locked_output_folder(place: Path, *, shared: bool = False) -> Iterator[None]:
    """A context in which no other process writes into the folder, if the file system has locks.

    The lock is on the folder itself, so that no file has to be there for it, and it ends with the process.
    """
    try:
        import fcntl

        handle = os.open(place, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _left(name: str, kind: str) -> bool:
    words = name.removeprefix(START).split("-")
    ours = is_draft_file(name) and len(words) >= 4 and words[:2] == [kind, _host()] and words[2].isdigit()
    return ours and not _alive(int(words[2]))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True


@lru_cache(maxsize=1)
def _host() -> str:
    """Eight digits for the machine, or the container, within which a process is known by its number."""
    try:
        numbers = str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        numbers = ""
    return hashlib.sha256((platform.node() + numbers).encode("utf-8", "surrogateescape")).hexdigest()[:8]
