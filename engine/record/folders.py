"""Folders that change as a whole: their new content is written beside them, and takes their place in one step.

Whatever happens meanwhile (a full disk, Ctrl-C, a process killed), the folder holds all of the old content or all of
the new.  Where folders can't change places, the files of a draft that is whole are moved one by one, and whoever reads
or writes there next completes what a killed process has begun.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from pathlib import Path

from . import drafts

GONE = ".gone"  # in a draft that is ready: names of the files that go
# reasons for which a folder has to stay where it is: mounted, another file system, others' folders, files without links
STAYS = (errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES, errno.EROFS, errno.EMLINK, errno.ENOTSUP)
UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)  # answers of systems and file systems that can't exchange

Gone = Callable[[Path], Collection[str]]


@contextlib.contextmanager
def renewed_output_folder(folder: Path, gone: Gone) -> Iterator[Path]:
    """An empty folder to be filled, whose files become the folder's when the block ends without an error.

    Files of the folder that `gone` names go, as do those of which there is a new one; all others, which are somebody
    else's, stay.  `gone` is asked when no other process is writing there.
    """
    home = Path(os.path.realpath(folder))
    mend_output_folder(home)
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft(home)
    try:
        yield draft
        _flush(draft)
        with drafts.locked_output_folder(home.parent):
            _publish(draft, home, gone(home))
    finally:
        drafts.remove_draft_file(draft)


def mend_output_folder(folder: Path) -> None:
    """Completes or undoes what killed processes have begun in and beside a folder."""
    home = Path(os.path.realpath(folder))
    if not (
        drafts.dead_draft_files(home, drafts.READY) or drafts.dead_draft_files(home.parent, drafts.ASIDE, home.name)
    ):
        _swept(home)
        return
    with drafts.locked_output_folder(home.parent), contextlib.suppress(OSError):
        for aside in drafts.dead_draft_files(home.parent, drafts.ASIDE, home.name):
            if os.path.lexists(home):
                drafts.remove_draft_file(aside)
            else:
                aside.rename(home)
        for ready in drafts.dead_draft_files(home, drafts.READY):
            _move(ready, home)
    _swept(home)


def _swept(home: Path) -> None:
    for place in (home, home.parent):
        drafts.remove_drafts_of_dead_processes(place)


def _draft(home: Path) -> Path:
    """A new folder beside this one, or within it if nothing can be made beside it."""
    beside = drafts.output_draft_path(drafts.DRAFT, home.parent, home.name)
    try:
        beside.mkdir()
    except OSError as error:
        if error.errno not in STAYS or not home.is_dir():
            raise
        beside = home / beside.name
        beside.mkdir()
    return beside


def _publish(draft: Path, home: Path, gone: Collection[str]) -> None:
    """Puts the files of a finished draft into the folder: by an exchange of folders, or else one by one."""
    if not os.path.lexists(home):
        draft.rename(home)
        _sync(home.parent)
        return
    own = os.listdir(draft)
    for name in own:
        if (home / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{name} is a folder there")
    gone = [name for name in gone if Path(name).name == name and not (home / name).is_dir()]
    if draft.parent == home or not _free(home, {*own, *gone}):
        _in_place(draft, own, home, gone)
        return
    try:
        _adopt(home, draft, {*own, *gone})
        _exchange(draft, home)
    except OSError as error:
        if error.errno not in STAYS:
            raise
        _in_place(draft, own, home, gone)
        return
    _rescue(draft, home, {*own, *gone})
    _sync(home.parent)


# ---- whole folders


def _free(home: Path, known: Collection[str]) -> bool:
    """Whether the folder can be replaced by another one: nobody works in it, and it holds no folders of others."""
    try:
        here = Path.cwd()
    except OSError:  # which has been removed
        here = Path("/")
    folders = [one.name for one in os.scandir(home) if one.is_dir(follow_symlinks=False) and one.name not in known]
    return home not in (here, *here.parents) and all(drafts.is_draft_file(name) for name in folders)


def _adopt(home: Path, draft: Path, known: Collection[str]) -> None:
    """Links the folder's other files into the draft, without copying them."""
    for name in os.listdir(home):
        if name not in known and not drafts.is_draft_file(name):
            os.link(home / name, draft / name, follow_symlinks=False)
    there = home.stat()
    if hasattr(os, "chown") and (there.st_uid, there.st_gid) != (draft.stat().st_uid, draft.stat().st_gid):
        os.chown(draft, there.st_uid, there.st_gid)
    shutil.copymode(home, draft)
    _sync(draft)


def _exchange(draft: Path, home: Path) -> None:
    """Exchanges two folders, in one step if the system can."""
    call = _system_call()
    if call is not None:
        if call(os.fsencode(draft), os.fsencode(home)) == 0:
            return
        code = ctypes.get_errno()
        if code not in UNKNOWN:
            raise OSError(code, os.strerror(code))
    aside = drafts.output_draft_path(drafts.ASIDE, home.parent, home.name)
    try:
        home.rename(aside)
        draft.rename(home)
        aside.rename(draft)
    except BaseException:
        if not os.path.lexists(home) and os.path.lexists(aside):
            aside.rename(home)
        raise


@lru_cache(maxsize=1)
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """The system call of Linux and macOS that exchanges two names."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return lambda one, other: int(system.renamex_np(one, other, 2))  # RENAME_SWAP
        renameat2, here = system.renameat2, -100  # AT_FDCWD
    except (OSError, AttributeError, TypeError):
        return None
    return lambda one, other: int(renameat2(here, one, here, other, 2))  # RENAME_EXCHANGE


def _rescue(old: Path, home: Path, known: Collection[str]) -> None:
    """Moves files that other processes have put into the old folder meanwhile into the new one."""
    for name in os.listdir(old):
        one, other = old / name, home / name
        if name not in known and not (os.path.lexists(other) and os.path.samestat(one.lstat(), other.lstat())):
            with contextlib.suppress(OSError):
                one.replace(other)


# ---- folders that have to stay where they are


def _in_place(draft: Path, own: Collection[str], home: Path, gone: Collection[str]) -> None:
    """Moves the draft's files into the folder, in a way that the next process can complete if this one is killed."""
    within = drafts.output_draft_path(drafts.DRAFT, home, home.name)
    within.mkdir()
    try:
        for name in own:
            shutil.copyfile(draft / name, within / name)
        (within / GONE).write_text(json.dumps(sorted({*gone} - {*own})), encoding="utf-8")
        _flush(within)
        ready = drafts.output_draft_path(drafts.READY, home, home.name)
        within.rename(ready)
    finally:
        drafts.remove_draft_file(within)
    _sync(home)
    try:
        _move(ready, home)
    except BaseException:  # Ctrl-C, say: this process lives on, so nobody else would complete it
        _move(ready, home)
        raise


def _move(ready: Path, home: Path) -> None:
    """Moves the files of a ready draft; if it was interrupted, it continues where it stopped."""
    names = [name for name in os.listdir(ready) if name != GONE]
    for name in names:
        (ready / name).replace(home / name)
    if (ready / GONE).exists():
        for name in json.loads((ready / GONE).read_text(encoding="utf-8")):
            (home / name).unlink(missing_ok=True)
    _sync(home)
    shutil.rmtree(ready, ignore_errors=True)


# ---- what is written reaches the disk before it counts


def _flush(folder: Path) -> None:
    for name in os.listdir(folder):
        _sync(folder / name)
    _sync(folder)


def _sync(path: Path) -> None:
    """Waits until the content of a file or folder has reached the disk."""
    if os.name != "posix" or not os.access(path, os.R_OK):  # folders can't be opened elsewhere
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):  # nothing that could be waited for
            raise
    finally:
        os.close(handle)
