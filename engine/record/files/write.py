"""The files of results: CSV, JSON record and plots, written all or none."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, Place
from ...text import bytes_of_text_file, opened_regular_file
from .. import plots
from ..columns import Column
from ..drawings import Drawing
from ..view import Look
from . import drafts, table_files
from .folders import Gone, mend_output_folder, renewed_output_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_IN_RECORD = 32_000_000  # bytes
HINT = "run the scenario again; a file that is meant to differ belongs into a folder of its own"


def checksum_of_file(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with opened_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_recorded_checksums(folder: Path, record: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raises an error if files have changed since the record was written; records of old versions have no checksums."""
    sums = record.get("checksums")
    for name in names:
        known = sums.get(name) if isinstance(sums, Mapping) else None
        if known is not None and known != _sum_of(folder / name):
            raise InputError(
                "this is not the file that was written with the record beside it: its checksum is another one",
                place=Place(str(folder / name)),
                hint=HINT,
            )


def _sum_of(file: Path) -> str:
    try:
        if os.path.isfile(file):
            return checksum_of_file(file)
        why = "it is missing" if not os.path.lexists(file) else "it is no file"
    except OSError as error:
        why = f"it can't be read: {error.strerror}"
    raise InputError(
        f"not the file that was written with the record beside it: {why}", place=Place(str(file)), hint=HINT
    )


WORDS = ("name", "about", "robot", "replay")  # keys of a scenario that change no number


def csv_text(t: np.ndarray, table: Mapping[str, np.ndarray]) -> str:
    """The CSV text of a table, with 17 significant digits."""
    names = [name for name in table if name != "t"]
    rows = np.column_stack([t, *(table[name] for name in names)]).tolist()
    line = ",".join(["%.17g"] * (1 + len(names)))
    return "\n".join([",".join(["t", *names]), *(line % tuple(row) for row in rows), ""])


def check_output_writable(folder: Path) -> None:
    """Raises an error, before a run rather than after it, if a folder can't be made or written to."""
    place = folder.absolute()
    for one in (place, *place.parents):
        if os.path.lexists(one):
            if not os.path.isdir(one):
                raise InputError(f"can't write results to {folder}: {one} is a file", allowed="a folder")
            if not os.access(one, os.W_OK | os.X_OK):
                raise InputError(f"can't write results to {folder}: {one} is write-protected", allowed="another --out")
            return


def make_output_folder(path: Path) -> None:
    """Makes the folder if it doesn't exist."""
    check_output_writable(path)
    try:
        mend_output_folder(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't make the folder `{path}`: {error.strerror}") from None


def write_file_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file whole or not at all: `write` makes a draft that then replaces it. Devices are written directly."""
    if not path.name or os.path.isdir(path):
        raise InputError(f"can't write `{path}`: this is a directory", allowed="the name of a file")
    device = os.path.exists(path) and not os.path.isfile(path)
    draft = path if device else drafts.output_draft_path(drafts.DRAFT, path.parent, path.suffix)
    try:
        write(draft)
        if not device:
            draft.replace(path)
            drafts.remove_drafts_of_dead_processes(path.parent)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"can't write `{path}`: {why}", allowed="the name of a file in a folder that is there"
        ) from None
    finally:
        if not device:
            drafts.remove_draft_file(draft)


@contextlib.contextmanager
def files_replaced_together(folder: Path, gone: Gone) -> Iterator[Path]:
    """A folder for drafts of files; at the end they replace, all at once, the files that `gone` names."""
    try:
        with renewed_output_folder(folder, gone) as draft:
            yield draft
    except OSError as error:
        raise InputError(f"can't write results to {folder}: {error.strerror}", allowed="another --out") from None


def write_output_files(folder: Path, files: Mapping[str, str | Figure], stems: Sequence[str]) -> list[Path]:
    """Writes texts and figures by file name, all or none; older tables and plots with this beginning are removed."""
    endings = tuple(f".{form}" for form in ("csv", *plots.PLOT_FORMATS))

    def gone(home: Path) -> list[str]:
        there = os.listdir(home) if home.is_dir() else []
        return [file for file in there if file.startswith(tuple(stems)) and file.endswith(endings)]

    with files_replaced_together(folder, gone) as draft:
        for file, content in files.items():
            if isinstance(content, str):
                (draft / file).write_text(content, encoding="utf-8")
            else:
                plots.save_figure(content, draft / file)
    return [folder / file for file in files]


def write_result(
    folder: Path,
    name: str,
    t: np.ndarray,
    table: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    record: dict[str, Any],
    wanted: Sequence[Drawing],
    form: str = "png",
    more: Mapping[str, bytes] | None = None,
    more_tables: Sequence[str] = (),
    look: Look = Look(),
) -> list[Path]:
    """Writes all files of a result to `folder`, which changes only when they are complete, and returns their paths."""
    table_files.check_table_formats(more_tables)

    def put(draft: Path) -> None:
        (draft / f"{name}.csv").write_text(csv_text(t, table), encoding="utf-8")
        for kind in more_tables:
            table_files.TABLE_FORMATS[kind][0](draft / f"{name}.{kind}", t, table, columns)
        if wanted:
            from ..figures import figures_of_result

            for stem, figure in figures_of_result(name, t, table, columns, wanted, record, look).items():
                plots.save_figure(figure, draft / f"{stem}.{form}", dpi=look.style.dpi, letters=look.style.letters)
        for file, content in (more or {}).items():
            (draft / file).write_bytes(content)

    return write_files_with_record(folder.absolute(), name, record, put)


def write_files_with_record(folder: Path, name: str, record: dict[str, Any], put: Callable[[Path], None]) -> list[Path]:
    """Writes files and the record that has their names and checksums, all or none; `put` fills a folder with them.

    Files of an earlier record of this name go.
    """
    with files_replaced_together(folder, partial(_earlier, name)) as draft:
        put(draft)
        files = _recorded(draft, name, record)
    return [folder / file for file in files]


def add_plots_to_result(
    folder: Path, name: str, record: dict[str, Any], drawn: Mapping[str, Figure], form: str, look: Look = Look()
) -> list[Path]:
    """Adds plots to a result's folder and record, so that the next run removes them with the rest."""

    def replaced(home: Path) -> list[str]:
        if _read(home / f"{name}.json") != record:
            raise InputError(f"{folder} has another result now: a run has replaced it", hint="draw the plots again")
        return []

    made = [f"{stem}.{form}" for stem in drawn]
    with files_replaced_together(folder, replaced) as draft:
        for file, figure in zip(made, drawn.values()):
            plots.save_figure(figure, draft / file, dpi=look.style.dpi, letters=look.style.letters)
        _recorded(draft, name, record)
    return [folder / file for file in made]


def recorded_inputs_that_differ(folder: Path, name: str, record: Mapping[str, Any]) -> list[str]:
    """The keys of scenario and robot whose values differ from those of an earlier run of this name in the folder."""
    try:
        old = _read(folder / f"{name}.json")
    except OSError:
        return []  # writing the result says so
    before, now = _inputs(old), _inputs(record)
    if not old or not isinstance(old.get("input"), dict):
        return []
    return [key for key in dict.fromkeys((*before, *now)) if before.get(key) != now.get(key)]


def _inputs(record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of scenario and robot by their dotted keys, as for `--set`."""
    scenario, robot = record.get("input"), record.get("robot")
    kept = {key: value for key, value in scenario.items() if key not in WORDS} if isinstance(scenario, dict) else {}
    data = robot.get("data") if isinstance(robot, dict) else None
    return dict(_leaves(kept)) | dict(_leaves({"robot": data} if isinstance(data, dict) else {}))


def _leaves(data: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(data, dict | list) or not data:
        yield key, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _leaves(value, f"{key}.{name}" if key else str(name))
    else:
        for k, value in enumerate(data):
            name = value.get("name", k) if isinstance(value, dict) else k
            yield from _leaves(value, f"{key}.{name}")


def _recorded(draft: Path, name: str, record: dict[str, Any]) -> list[str]:
    """Writes the record with the names and checksums of all files, and returns the names."""
    new = {path.name: checksum_of_file(path) for path in sorted(draft.iterdir())}
    sums = dict(sorted({**record.get("checksums", {}), **new}.items()))
    files = sorted({*record.get("files", []), *sums, f"{name}.json"})
    text = json.dumps({**record, "files": files, "checksums": sums}, indent=1, ensure_ascii=False, allow_nan=False)
    # names of files need not be valid text; JSON escapes their bytes
    (draft / f"{name}.json").write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    return files


def _earlier(name: str, folder: Path) -> list[str]:
    """The names of files from an earlier run of this name in the folder, including plots that were added later."""
    listed = _read(folder / f"{name}.json").get("files")
    if not isinstance(listed, list):
        return []
    return [str(file) for file in listed] + [
        f"{stem}.{form}" for stem in plots.plot_stems(name) for form in plots.PLOT_FORMATS
    ]


def _read(file: Path) -> dict[str, Any]:
    """The record of an earlier run, empty if there is none or the file is something else."""
    if not file.is_file():
        return {}
    try:
        record = json.loads(bytes_of_text_file(file, MOST_IN_RECORD))
    except (ValueError, RecursionError):
        return {}
    except OSError as error:
        if error.errno == errno.EFBIG:  # no record of a run
            return {}
        raise  # what stands there isn't known: nothing may be replaced
    return record if isinstance(record, dict) else {}
