"""Files of results: CSV, JSON record, plots; all of them or none."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from . import plots
from .columns import Column


def csv_text(t: np.ndarray, table: Mapping[str, np.ndarray]) -> str:
    """Header and rows, 17 significant digits."""
    names = [name for name in table if name != "t"]
    rows = np.column_stack([t, *(table[name] for name in names)]).tolist()
    line = ",".join(["%.17g"] * (1 + len(names)))
    return "\n".join([",".join(["t", *names]), *(line % tuple(row) for row in rows), ""])


def check(folder: Path) -> None:
    """Refuses a folder for results that can't be made or written to: before a run, not after it."""
    place = folder.absolute()
    for one in (place, *place.parents):
        if os.path.lexists(one):
            if not os.path.isdir(one):
                raise InputError(f"can't write results to {folder}: {one} is a file", allowed="a folder")
            if not os.access(one, os.W_OK | os.X_OK):
                raise InputError(f"can't write results to {folder}: {one} is write-protected", allowed="another --out")
            return


def folder(path: Path) -> None:
    """Makes the folder, where it isn't there."""
    check(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't make the folder `{path}`: {error.strerror}") from None


def whole(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` make a draft and puts it in the file's place when it is done; a device is written to as it is."""
    if not path.name or os.path.isdir(path):
        raise InputError(f"can't write `{path}`: this is a directory", allowed="the name of a file")
    device = os.path.exists(path) and not os.path.isfile(path)
    draft = path if device else path.with_name(f".draft-{path.name}")
    try:
        write(draft)
        if not device:
            draft.replace(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"can't write `{path}`: {why}", allowed="the name of a file in a folder that is there"
        ) from None
    finally:
        if not device:
            with contextlib.suppress(OSError, ValueError):
                draft.unlink()


def write_result(
    folder: Path,
    name: str,
    t: np.ndarray,
    table: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    record: dict[str, Any],
    wanted: Sequence[str],
    form: str = "png",
    more: Mapping[str, bytes] | None = None,
) -> list[Path]:
    """Files in `folder`, which appears, or changes, only when all of them are written; `more` by their names."""
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise InputError(f"can't write results to {folder}: {error.strerror}", allowed="another --out") from None
    try:
        (draft / f"{name}.csv").write_text(csv_text(t, table), encoding="utf-8")
        robot = str(record.get("robot", {}).get("name", ""))
        for stem, figure in plots.figures(name, t, table, columns, wanted, robot).items():
            plots.save(figure, draft / f"{stem}.{form}")
        for file, content in (more or {}).items():
            (draft / file).write_bytes(content)
        files = sorted([path.name for path in draft.iterdir()] + [f"{name}.json"])
        text = json.dumps({**record, "files": files}, indent=1, ensure_ascii=False, allow_nan=False)
        # names of files need not be text; JSON escapes what is none in the same way
        (draft / f"{name}.json").write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
        _publish(draft, folder, name, files)
    except OSError as error:
        raise InputError(f"can't write results to {folder}: {error.strerror}", allowed="another --out") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return [folder / file for file in files]


def _publish(draft: Path, folder: Path, name: str, files: list[str]) -> None:
    """The draft's files into the folder; files of an earlier run that this one doesn't make go away."""
    os.chmod(draft, 0o755)  # noqa: S103  a folder of results is readable, unlike a temporary one
    if not folder.exists():
        draft.rename(folder)
        return
    old = folder / f"{name}.json"
    before: list[str] = []
    if old.is_file():
        try:
            before = [str(file) for file in json.loads(old.read_text(encoding="utf-8")).get("files", [])]
        except (ValueError, AttributeError, TypeError):
            before = []
    for file in files:  # seen before the first one is replaced
        if (folder / file).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{file} is a folder there")
    for file in files:
        os.replace(draft / file, folder / file)
    for file in before:
        if file not in files and Path(file).name == file:
            (folder / file).unlink(missing_ok=True)
