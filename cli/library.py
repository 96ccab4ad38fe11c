"""`denoc list`: the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options


def list_library(
    what: Annotated[str | None, typer.Argument(metavar="[robots|scenarios]", help="One of the two kinds.")] = None,
    as_json: options.Json = False,
) -> None:
    """List the robots and scenarios that come with denoc."""
    from denoc.errors import InputError
    from denoc.files.library import folder, names

    if what not in (None, "robots", "scenarios"):
        raise InputError("the library has no such kind", found=str(what), allowed="robots, scenarios")
    kinds = [what] if what else ["robots", "scenarios"]
    found = {kind: {name: _about(folder(kind) / f"{name}.yaml") for name in names(kind)} for kind in kinds}
    if as_json:
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for kind, entries in found.items():
        typer.echo(f"{kind} ({folder(kind)})")
        width = max(map(len, entries), default=0)
        for name, about in entries.items():
            typer.echo(f"  {name:<{width}}  {about}")


def _about(path: Path) -> str:
    """The file's `about`, else the first sentence of its comment; read as text, for speed."""
    comment = ""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("about:"):
                return line.removeprefix("about:").strip().strip("\"'")
            if line.startswith("#") and not comment.endswith("."):
                comment = f"{comment} {line[1:].strip()}".strip()
                comment = comment.split(". ")[0].rstrip(":") + ("." if ". " in comment else "")
    return comment.removesuffix(".")
