"""Object code kept between processes, found by the content that it was made from.

A file is a line with the checksum of what follows it, then the object code.  Files are written under another name and
put in place in one move, so two processes may write the same one; one that is damaged, or cut off, or can't be read
is as good as none; a folder that can't be written is no harm.
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
MOST_BYTES = 256 * 2**20  # of the whole folder; the files longest unused go first


def folder() -> Path:
    """Where objects are kept: DENOC_CACHE, else the user's cache folder."""
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
    """Hash of the package's sources: whichever module made object code, another text of it makes another key."""
    return _hashed(Path(__file__).resolve().parents[2])


def _hashed(root: Path) -> str:
    """Hash of the modules below a folder, of their names and texts."""
    paths = sorted(root.rglob("*.py"))
    if not paths:  # then every version would find the object code of every other
        raise LookupError(f"{root}: no sources, so nothing says which object code is theirs")
    digest = hashlib.sha256()
    for path in paths:
        text = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(text)}\0".encode() + text)
    return digest.hexdigest()


def key(*parts: str) -> str:
    """A name for what these parts decide."""
    return hashlib.sha256("\0".join((sources(), *parts)).encode()).hexdigest()[:40]


def kept(name: str, made: Callable[[], bytes], only: bool) -> bytes | None:
    """The object code of this name: from the cache, else made and put there; with `only` none that isn't there yet."""
    code = load(name)
    if code is None and not only:
        code = made()
        store(name, code)
    return code


def load(name: str) -> bytes | None:
    """The object code of this name, if a sound one is there."""
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
    """Keeps the object code, where that is possible."""
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
    """The folder, how many objects are in it, and their bytes."""
    sizes = [size for path in _kept("*.o") if (size := _size(path)) is not None]
    return folder(), len(sizes), sum(sizes)


def clear() -> int:
    """Removes all objects; how many there were."""
    removed = 0
    for path in _kept("*.o") + _kept(".draft-*"):
        with contextlib.suppress(OSError):  # another process has been quicker, or may do what we may not
            path.unlink()
            removed += 1
    return removed


def _kept(pattern: str) -> list[Path]:
    """Files of the folder; none where it can't be looked into."""
    return list(folder().glob(pattern)) if os.path.isdir(folder()) else []


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
