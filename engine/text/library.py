"""The robots, scenarios and studies that come with denoc: their folders, and the file that a name stands for."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError, Place, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]
ONE = {"robots": "robot", "scenarios": "scenario", "studies": "study"}  # of each kind
FOLDERS = {"robots": "robots", "scenarios": "scenarios", "studies": "scenarios/studies"}
OF_STUDIES = ".scenario.yaml"  # of scenarios beside the library's studies


def library_folder(kind: str) -> Path:
    """The folder of robots, scenarios or studies: in the installed package, else beside it in a source tree."""
    inside = _PACKAGE / FOLDERS[kind]
    return inside if inside.is_dir() else _PACKAGE.parent / FOLDERS[kind]


def library_names(kind: str) -> list[str]:
    """The sorted names of the library's robots, scenarios or studies."""
    files = (
        name for name in os.listdir(library_folder(kind)) if name.endswith(".yaml") and not name.endswith(OF_STUDIES)
    )
    return sorted(name.removesuffix(".yaml") for name in files)


def find_library_file(name: str | Path, kind: str, beside: Path | None = None) -> Path:
    """The file for `name`: a path, first beside the file that names it, or else a name of the library."""
    if not isinstance(name, str | os.PathLike):
        raise InputError(f"not the name of a {ONE[kind]}", found=type(name).__name__, allowed="a path or a name")
    text = os.fspath(name)
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if not text or "\x00" in text or len(text) > 4096:
        raise InputError("not a file name", found=f"`{text[:40]}`", hint=f"`denoc list` shows the library of {kind}")
    suffixed = text if text.endswith((".yaml", ".yml")) else text + ".yaml"
    roots = [beside] if beside is not None else []
    for root in [*roots, Path()]:
        for candidate in (root / text, root / suffixed):
            if os.path.isfile(candidate):  # unlike Path.is_file never an exception
                return candidate
    bare = text.removesuffix(".yaml").removesuffix(".yml")
    folder = library_folder(kind)
    if f"{bare}.yaml" in os.listdir(folder) and not f"{bare}.yaml".endswith(OF_STUDIES):
        return folder / f"{bare}.yaml"
    if any(os.path.isdir(root / text) for root in [*roots, Path()]):
        allowed = f"the YAML file of a {ONE[kind]}"
        raise InputError("this is a directory, not a file", place=Place(text), allowed=allowed)
    raise InputError(
        f"no such {ONE[kind]}: `{text}`",
        allowed=f"a path to a file, or a name of the library: {', '.join(library_names(kind))}",
        hint=did_you_mean(bare, library_names(kind)),
    )
