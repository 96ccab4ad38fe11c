"""Files that may not be what they should be: a pipe or a device in a file's place never answers, or never ends."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def opened_regular_file(path: Path, *, own: bool = False) -> BinaryIO:
    """A regular file, open for reading; with `own`, one that nobody but this user can have written.

    Anything else is an OSError that says what is wrong with the file.  All files that users name are opened here.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | (getattr(os, "O_NOFOLLOW", 0) if own else 0))
    try:
        state = os.fstat(handle)
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a directory, not a file")
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if own and not file_is_owned(state):
            raise PermissionError(errno.EPERM, "somebody else owns it or can write to it")
        return open(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def bytes_of_text_file(path: Path, most: int | None = None, *, own: bool = False) -> bytes:
    """The bytes of such a file, at most so many."""
    with opened_regular_file(path, own=own) as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MiB")
    return data


def file_is_owned(state: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else can write to it; true where a system has no users."""
    return not hasattr(os, "geteuid") or (state.st_uid == os.geteuid() and not state.st_mode & OTHERS)
