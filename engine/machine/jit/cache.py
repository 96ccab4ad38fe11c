"""A cache of object code between processes, whose keys are hashes of everything that the code was made from.

A file consists of a line with a checksum, and of the object code.  It is written under another name and moved into
place, so two processes may write the same one.  A file that is damaged or can't be read counts as missing, and a folder
that can't be written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

MAGIC = b"denoc object 1 "
MOST_BYTES = 256 * 2**20  # of the whole folder; the files that were unused longest are removed first


def folder() -> Path:
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
def sources() -> str:
    """The hash of the package's sources, so that a change of any module changes all keys."""
    return _hashed(Path(__file__).resolve().parents[2])


def _hashed(root: Path) -> str:
    """The hash of all modules below a folder, by their names and texts."""
    paths = sorted(root.rglob("*.py"))
    if not paths:  # every version would take the object code of every other one
        raise LookupError(f"{root}: no sources, so nothing says which object code is theirs")
    digest = hashlib.sha256()
    for path in paths:
        text = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(text)}\0".encode() + text)
    return digest.hexdigest()


def key(*parts: str) -> str:
    """The key of object code that depends on these parts."""
    return hashlib.sha256("\0".join((sources(), *parts)).encode()).hexdigest()[:40]


def kept(name: str, made: Callable[[], bytes], only: bool) -> bytes | None:
    """The object code of this name, from the cache, or else made and stored; with `only`, None if it isn't there."""
    code = load(name)
    if code is None and not only:
        code = made()
        store(name, code)
    return code


def load(name: str) -> bytes | None:
    """The object code of this name, or None if the cache has no undamaged one."""
    path = folder() / f"{name}.o"
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return _sound(path)
    return _checked(data)


def _sound(path: Path) -> bytes | None:
    try:
        return _checked(path.read_bytes())
    except OSError:
        return None


def _checked(data: bytes) -> bytes | None:
    head, _, code = data.partition(b"\n")
    return code if head == MAGIC + hashlib.sha256(code).hexdigest().encode() else None


def store(name: str, code: bytes) -> None:
    """Store the object code if the folder can be written."""
    home = folder()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=home)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(code).hexdigest().encode() + b"\n" + code)
            os.replace(draft, home / f"{name}.o")
        except OSError:
            Path(draft).unlink(missing_ok=True)
            return
        _trim(home)
    except OSError:
        return


def _trim(home: Path) -> None:
    files = [(path.stat().st_mtime, path.stat().st_size, path) for path in home.glob("*.o")]
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MOST_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size


def contents() -> tuple[Path, int, int]:
    """The folder, the number of objects in it, and their size in bytes."""
    sizes = [size for path in _kept("*.o") if (size := _size(path)) is not None]
    return folder(), len(sizes), sum(sizes)


def clear() -> int:
    """Remove all objects, and return their number."""
    removed = 0
    for path in _kept("*.o") + _kept(".draft-*"):
        with contextlib.suppress(OSError):  # another process has removed it, or permission is missing
            path.unlink()
            removed += 1
    return removed


def _kept(pattern: str) -> list[Path]:
    """Files of the folder; none where it can't be read."""
    return list(folder().glob(pattern)) if os.path.isdir(folder()) else []


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
