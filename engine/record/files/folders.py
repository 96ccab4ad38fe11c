"""Folders that change as a whole: their new content is written into a draft, whose files then take their places.

Until the draft is whole, whatever happens (a full disk, Ctrl-C, a process killed) leaves the folder as it was.  Then
its files move one by one, and whoever reads or writes there next completes what a killed process has begun.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from . import drafts

GONE = ".gone"  # in a draft that is ready: names of the files that go

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
    draft = drafts.output_draft_path(drafts.DRAFT, home if os.path.lexists(home) else home.parent)
    draft.mkdir()
    try:
        yield draft
        for name in os.listdir(draft):
            _sync(draft / name)
        with drafts.locked_output_folder(home.parent):
            if os.path.lexists(home):
                _replace(draft, home, gone(home))
            else:
                _sync(draft)
                draft.rename(home)
                _sync(home.parent)
    finally:
        drafts.remove_draft_file(draft)


def mend_output_folder(folder: Path) -> None:
    """Completes or undoes what killed processes have begun in and beside a folder."""
    home = Path(os.path.realpath(folder))
    if drafts.dead_draft_files(home, drafts.READY):
        with drafts.locked_output_folder(home.parent), contextlib.suppress(OSError):
            for ready in drafts.dead_draft_files(home, drafts.READY):
                _move(ready, home)
    for place in (home, home.parent):
        drafts.remove_drafts_of_dead_processes(place)


def _replace(draft: Path, home: Path, gone: Collection[str]) -> None:
    """Puts the files of a finished draft into the folder, in the place of those that go."""
    own = os.listdir(draft)
    for name in own:
        if (home / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{name} is a folder there")
    old = [name for name in gone if name not in own and Path(name).name == name and not (home / name).is_dir()]
    (draft / GONE).write_text(json.dumps(old), encoding="utf-8")
    _sync(draft / GONE)
    _sync(draft)
    ready = drafts.output_draft_path(drafts.READY, home)
    draft.rename(ready)
    try:
        _move(ready, home)
    except OSError:  # which need not come again
        _move(ready, home)
    except BaseException:  # Ctrl-C, say: this process lives on, so nobody else would complete it
        _move(ready, home)
        raise


def _move(ready: Path, home: Path) -> None:
    """Moves the files of a ready draft; if it was interrupted, it continues where it stopped."""
    _sync(home)
    for name in os.listdir(ready):
        if name != GONE:
            (ready / name).replace(home / name)
    if (ready / GONE).exists():
        for name in json.loads((ready / GONE).read_text(encoding="utf-8")):
            (home / name).unlink(missing_ok=True)
    _sync(home)
    shutil.rmtree(ready, ignore_errors=True)


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
