"""Robots and scenarios that come with denoc: where they are and what a name on the command line means."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(kind: str) -> Path:
    """The folder `robots` or `scenarios`: in the installed package, else beside it in a source tree."""
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def names(kind: str) -> list[str]:
    """All names of the library, sorted."""
    return sorted(path.stem for path in folder(kind).glob("*.yaml"))


def find(name: str | Path, kind: str, beside: Path | None = None) -> Path:
    """The file that `name` means: a path (first beside the file that names it), else a name of the library."""
    text = str(name)
    if not text or "\x00" in text or len(text) > 4096:
        raise InputError(f"not a file name: {text[:40]!r}", hint=f"`denoc list` shows the library of {kind}")
    suffixed = text if text.endswith((".yaml", ".yml")) else text + ".yaml"
    roots = [beside] if beside is not None else []
    for root in [*roots, Path()]:
        for candidate in (root / text, root / suffixed):
            if candidate.is_file():
                return candidate
    bare = text.removesuffix(".yaml").removesuffix(".yml")
    if bare in names(kind):
        return folder(kind) / f"{bare}.yaml"
    raise InputError(
        f"no such {kind[:-1]}: {text}",
        allowed=f"a path to a YAML file, or a name of the library: {', '.join(names(kind))}",
        hint=did_you_mean(bare, names(kind)),
    )
