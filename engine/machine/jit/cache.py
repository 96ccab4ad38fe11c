"""A cache of object code between processes, whose keys are hashes of everything that the code was made from.

A file consists of a line with a checksum, and of the object code.  It is written under another name and moved into
place, so two processes may write the same one.  A file that is damaged or can't be read counts as missing, and a folder
that can't be written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from ...errors import safe_to_print
from ...text.files import bytes_of_text_file, file_is_owned
from . import sources

PACKAGE = Path(__file__).resolve().parents[2]
MAGIC = b"denoc object 1 "
NOTE = ".sources"  # how the name of the note on the package's sources ends
MOST_BYTES = 256 * 2**20  # of the whole folder; the files that were unused longest are removed first
SHARE = 8  # the share of the room that is left, one in so many, which a process fills before it looks again
OLD = 3600.0  # seconds, of a draft whose process has been killed: to write one takes no such time
VARIED = ".note"  # how the name of a note ends on a program that robots with other numbers share
SHORT = 1000  # bytes of such a note, at most
VERY_OLD = 30 * 24 * 3600.0  # seconds, of such a note

compiling: list[str] = []  # names of the programs that are being compiled now, for the display of progress
_room: dict[Path, int] = {}  # bytes that may be stored in a folder before anybody looks at its size again
_ignored: list[Path] = []  # warnings that have been shown


def cache_folder() -> Path:
    """The cache's folder: DENOC_CACHE, else one in the user's cache folder."""
    given = os.environ.get("DENOC_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "denoc"


@lru_cache(maxsize=1)
def hash_of_package_sources() -> str:
    """The hash of those sources of the package that object code may depend on; it doesn't change in a process."""
    name = f"{hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:40]}{NOTE}"
    return sources.known_hash_of_sources(PACKAGE, lambda: _read(name), lambda note: _write(name, note))


@lru_cache(maxsize=1)
def hash_of_all_package_sources() -> str:
    """The hash of all sources of the package, on which what is kept of runs may depend."""
    return sources.hash_of_sources(PACKAGE, frozenset((sources.BYTECODE,)))


def cache_key(*parts: str) -> str:
    """The key of object code that depends on these parts."""
    return hashlib.sha256("\0".join((hash_of_package_sources(), *parts)).encode()).hexdigest()[:40]


def object_code_from_cache(name: str, made: Callable[[], bytes], only: bool) -> bytes | None:
    """The object code of this name, from the cache, or else made and stored; with `only`, None if it isn't there."""
    code = load_object_code(name)
    if code is None and not only:
        compiling.append(name)
        try:
            code = made()
        finally:
            compiling.remove(name)
        store_object_code(name, code)
    return code


def load_object_code(name: str) -> bytes | None:
    """The object code of this name, or None if the cache has no undamaged one that this user has written."""
    data = _read(f"{name}.o")
    if data is None:
        return None
    with contextlib.suppress(OSError):
        os.utime(cache_folder() / f"{name}.o")
    return _checked(data)


def _read(name: str) -> bytes | None:
    """The bytes of a file in the folder, or None if there is none that only this user can have written."""
    home = cache_folder()
    if not _trusted(home):
        return None
    try:
        return bytes_of_text_file(home / name, MOST_BYTES, own=True)
    except FileNotFoundError:
        return None
    except OSError as error:
        _ignore(home / name, str(error.strerror))
        return None


def _trusted(home: Path) -> bool:
    """Whether what lies in the folder can only be this user's: object code is run as it is found."""
    try:
        state = home.stat()
    except OSError:
        return False
    if not stat.S_ISDIR(state.st_mode) or file_is_owned(state):
        return stat.S_ISDIR(state.st_mode)
    _ignore(home, "somebody else owns it or can write to it")
    return False


def _ignore(path: Path, why: str) -> None:
    """Tells the user once that something of the cache isn't used."""
    if not _ignored:
        _ignored.append(path)
        warnings.warn(
            f"compiled code is not taken from {safe_to_print(str(path))}: {why}; "
            "DENOC_CACHE names another folder, `chmod go-w` closes this one to others",
            stacklevel=2,
        )


def _checked(data: bytes) -> bytes | None:
    head, _, code = data.partition(b"\n")
    return code if head == MAGIC + hashlib.sha256(code).hexdigest().encode() else None


def store_object_code(name: str, code: bytes) -> None:
    """Stores the object code if the folder can be written."""
    _write(f"{name}.o", MAGIC + hashlib.sha256(code).hexdigest().encode() + b"\n" + code)
    home = cache_folder()
    room = _room.get(home, 0) - len(code)
    if room <= 0:
        with contextlib.suppress(OSError):
            room = (MOST_BYTES - _trimmed(home)) // SHARE
    _room[home] = room


def _write(name: str, data: bytes) -> None:
    """Writes a file of the folder if that can be written."""
    home = cache_folder()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _trusted(home):
            return
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=home)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(draft, home / name)
        except OSError:
            Path(draft).unlink(missing_ok=True)
    except OSError:
        return


def note_from_cache(name: str, text: str) -> str:
    """The text of the note of this name, which is this one if there was none; also where the folder can't be used."""
    home = cache_folder()
    path = home / f"{name}{VARIED}"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _trusted(home):
            return text
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(text)
        return text
    except FileExistsError:
        pass
    except OSError:
        return text
    try:
        return bytes_of_text_file(path, SHORT, own=True).decode("ascii") or text
    except (OSError, ValueError):
        return text


def _trimmed(home: Path) -> int:
    """Removes old drafts and notes, and the objects unused longest while there are too many bytes; returns the rest."""
    files = []
    with os.scandir(home) as entries:
        for entry in entries:
            state = entry.stat(follow_symlinks=False)
            if entry.name.endswith(".o"):
                files.append((state.st_mtime, state.st_size, Path(entry.path)))
            elif entry.name.startswith(".draft-"):
                if state.st_mtime < time.time() - OLD:
                    Path(entry.path).unlink(missing_ok=True)
            elif entry.name.endswith(VARIED) and state.st_mtime < time.time() - VERY_OLD:
                Path(entry.path).unlink(missing_ok=True)
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size
    return total


def cache_contents() -> tuple[Path, int, int]:
    """The folder, the number of objects in it, and their size in bytes."""
    sizes = [size for path in _kept("*.o") if (size := _size(path)) is not None]
    return cache_folder(), len(sizes), sum(sizes)


def clear_cache() -> int:
    """Removes all objects, and returns their number."""
    removed = 0
    for path in _kept("*.o") + _kept(".draft-*") + _kept(f"*{NOTE}") + _kept(f"*{VARIED}"):
        with contextlib.suppress(OSError):  # another process has removed it, or permission is missing
            path.unlink()
            removed += not path.name.endswith((NOTE, VARIED))
    return removed


def _kept(pattern: str) -> list[Path]:
    """Files of the folder; none where it can't be read."""
    return list(cache_folder().glob(pattern)) if os.path.isdir(cache_folder()) else []


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
