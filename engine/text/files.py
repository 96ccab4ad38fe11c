"""Files that may not be what they should be: a pipe or a device in a file's place never answers, or never ends.

Whatever users name is opened here, and read up to a bound.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from ..errors import InputError, Place

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def opened_regular_file(path: Path, *, own: bool = False) -> BufferedReader:
    """A regular file, open for reading; with `own`, one that nobody but this user can have written.

    Anything else is an OSError that says what is wrong with the file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | (getattr(os, "O_NOFOLLOW", 0) if own else 0))
    try:
        state = os.fstat(handle)
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(errno.EISDIR, "this is a directory, not a file")
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "this is no ordinary file")
        if own and not file_is_owned(state):
            raise PermissionError(errno.EPERM, "somebody else owns it or can write to it")
        return open(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def bytes_of_text_file(path: Path, most: int | None = None, *, own: bool = False) -> bytes:
    """The bytes of such a file, at most so many."""
    with opened_regular_file(path, own=own) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read() if most is None or size <= most else b""
    if most is not None and max(size, len(data)) > most:
        raise OSError(errno.EFBIG, f"the file is larger than {most // 1_000_000} MB")
    return data


def content_of_file(path: Path, most: int, *, allowed: str = "", hint: str = "") -> bytes:
    """The bytes of a file that a user names, at most so many; an InputError says what is wrong with it."""
    place = Place(str(path))
    try:
        if path.is_dir():  # asked first, for Windows answers "permission denied" when a directory is opened
            raise IsADirectoryError(errno.EISDIR, "this is a directory, not a file")
        return bytes_of_text_file(path, most)
    except FileNotFoundError:
        raise InputError("there is no such file", place=place, allowed=allowed) from None
    except (OSError, ValueError) as problem:  # ValueError: a name with a null character
        why = getattr(problem, "strerror", None) or str(problem)
        own = getattr(problem, "errno", None) in (errno.EISDIR, errno.EINVAL, errno.EFBIG)
        large = getattr(problem, "errno", None) == errno.EFBIG
        why = why if own else f"the file can't be read: {why}"
        raise InputError(why, place=place, allowed=allowed, hint=hint if large else "") from None


def text_of_file(path: Path, most: int, *, allowed: str = "", hint: str = "", mark: bool = False) -> str:
    """The text of such a file, which has to be UTF-8; with `mark`, without the mark that may begin it."""
    content = content_of_file(path, most, allowed=allowed, hint=hint)
    try:
        return content.decode("utf-8-sig" if mark else "utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise InputError(
            "the file is not text in UTF-8",
            place=Place(str(path)),
            found=f"byte 0x{content[problem.start]:02x} on line {line}",
            hint="save it with the encoding UTF-8",
        ) from None


def path_from_folder(path: Path, folder: Path) -> str:
    """The path by which a file in the folder names another one; both may be moved together then."""
    try:
        there = os.path.join(os.path.realpath(path.parent), path.name)  # a link to a file is named as it is
        return Path(os.path.relpath(there, os.path.realpath(folder))).as_posix()
    except ValueError:  # on another drive
        return str(path.absolute())


def lines_of_text(text: str, path: Path, most: int = 1_000_000) -> Iterator[str]:
    """The lines of a long text, one by one, for all at once would take many times its room."""
    start, number, sign = 0, 1, "\n" if "\n" in text else "\r"
    while start < len(text):
        end = text.find(sign, start)
        end = len(text) if end < 0 else end
        if end - start > most:
            raise InputError(f"the line has more than {most:,} characters", place=Place(str(path), number, 1))
        yield text[start:end].removesuffix("\r")
        start, number = end + 1, number + 1


def file_is_owned(state: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else can write to it; true where a system has no users."""
    return not hasattr(os, "geteuid") or (state.st_uid == os.geteuid() and not state.st_mode & OTHERS)
