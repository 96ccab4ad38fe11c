"""A cache of object code between processes, whose keys are hashes of everything that the code was made from.

A file consists of a line with its name and a checksum, and of the object code.  It is written under another name and
moved into place, so two processes may write the same one.  A file that is damaged, was made for another key or
can't be read counts as missing, and a folder that can't be written is ignored.  Files that don't have such a name and
begin with such a line are somebody else's, and stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from array import array
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from pathlib import Path

from ...errors import safe_to_print
from ...settings import environment_setting
from ...text import bytes_of_text_file, file_is_owned, opened_regular_file

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


PACKAGE = Path(__file__).resolve().parents[2]
OURS = b"denoc object "  # how every file begins, of whatever version
MAGIC = OURS + b"2 "
NOTE = ".sources"  # how the name of the note on the package's sources ends
MOST_BYTES = 256 * 2**20  # of the whole folder; the files that were unused longest are removed first
SHARE = 8  # the share of the room that is left, one in so many, which a process fills before it looks again
OLD = 3600.0  # seconds, of a draft whose process has been killed: to write one takes no such time
VARIED = ".note"  # how the name of a note ends on a program that robots with other numbers share
VERY_OLD = 30 * 24 * 3600.0  # seconds, of such a note
NAMES = re.compile(rf"(?P<draft>\.)?[0-9a-f]{{40}}(?P<kind>\.o|{NOTE}|{VARIED})(?(draft)\.\w+)", re.ASCII)

compiling: list[str] = []  # names of the programs that are being compiled now, for the display of progress
_room: dict[Path, int] = {}  # bytes that may be stored in a folder before anybody looks at its size again
_ignored: list[Path] = []  # warnings that have been shown


def cache_folder() -> Path:
    """The cache's folder: DENOC_CACHE, else one in the user's cache folder."""
    if given := environment_setting("DENOC_CACHE"):
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
    return known_hash_of_sources(PACKAGE, lambda: _read(name), lambda note: _write(name, note))


@lru_cache(maxsize=1)
def hash_of_all_package_sources() -> str:
    """The hash of all sources of the package, on which what is kept of runs may depend."""
    return hash_of_sources(PACKAGE, frozenset((BYTECODE,)))


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
    code = _read(f"{name}.o")
    if code is not None:
        with contextlib.suppress(OSError):
            os.utime(cache_folder() / f"{name}.o")
    return code


def _read(name: str) -> bytes | None:
    """What a file of the folder holds, or None if there is no undamaged one that only this user can have written."""
    home = cache_folder()
    if not _trusted(home):
        return None
    try:
        head, _, code = bytes_of_text_file(home / name, MOST_BYTES, own=True).partition(b"\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        _ignore(home / name, str(error.strerror))
        return None
    return code if head == _head(name, code) else None


def _head(name: str, code: bytes) -> bytes:
    """The first line of a file: two files that were exchanged are both damaged."""
    return MAGIC + f"{name} {hashlib.sha256(code).hexdigest()}".encode()


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


def store_object_code(name: str, code: bytes) -> None:
    """Stores the object code if the folder can be written."""
    if not _write(f"{name}.o", code):
        return
    home = cache_folder()
    room = _room.get(home, 0) - len(code)
    if room <= 0:
        with contextlib.suppress(OSError):
            room = (MOST_BYTES - _trimmed(home)) // SHARE
    _room[home] = room


def _write(name: str, code: bytes) -> bool:
    """Writes a file of the folder, and says whether that can be written."""
    home = cache_folder()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _trusted(home):
            return False
        handle, draft = tempfile.mkstemp(prefix=f".{name}.", dir=home)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(name, code) + b"\n" + code)
            os.replace(draft, home / name)
        except OSError:
            Path(draft).unlink(missing_ok=True)
            return False
    except OSError:
        return False
    return True


def note_from_cache(name: str, text: str) -> str:
    """The text of the note of this name, which is this one if there was none; also where the folder can't be used."""
    known = _read(f"{name}{VARIED}")
    if known is None:
        _write(f"{name}{VARIED}", text.encode())
    return text if known is None else known.decode()


def _files(home: Path) -> list[tuple[float, int, str]]:
    """When each file with a name of the cache was last used, its size and its name; none in a folder of others."""
    if not _trusted(home):
        return []
    found = []
    with os.scandir(home) as entries:
        for entry in entries:
            if NAMES.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                state = entry.stat(follow_symlinks=False)
                found.append((state.st_mtime, state.st_size, entry.name))
    return sorted(found)


def _removed(path: Path) -> bool:
    """Removes a file of the cache, and says whether it could; what begins in another way is somebody else's."""
    with contextlib.suppress(OSError):  # another process has removed it, or permission is missing
        with opened_regular_file(path, own=True) as file:
            begins = file.read(len(OURS))
        if OURS.startswith(begins):  # the draft of a process that was killed may end before that
            path.unlink()
            return True
    return False


def _trimmed(home: Path) -> int:
    """Removes old drafts and notes, and the objects unused longest while there are too many bytes; returns the rest."""
    files, now = _files(home), time.time()
    for used, _, name in files:
        if used < now - OLD if name.startswith(".") else used < now - VERY_OLD and name.endswith(VARIED):
            _removed(home / name)
    objects = [(size, name) for _, size, name in files if _is_object(name)]
    total = sum(size for size, _ in objects)
    for size, name in objects:
        if total <= MOST_BYTES:
            break
        _removed(home / name)
        total -= size
    return total


def cache_contents() -> tuple[Path, int, int]:
    """The folder, the number of objects in it, and their size in bytes."""
    home = cache_folder()
    sizes = [size for _, size, name in _files(home) if _is_object(name)]
    return home, len(sizes), sum(sizes)


def clear_cache() -> int:
    """Removes all objects, and returns their number."""
    home = cache_folder()
    return sum(_removed(home / name) and _is_object(name) for _, _, name in _files(home))


def _is_object(name: str) -> bool:
    return name.endswith(".o")
