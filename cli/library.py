"""`denoc list`: the library."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
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
        typer.echo(f"{kind}, in {folder(kind)}")
        width = max(map(len, entries), default=0)
        for name, about in entries.items():
            typer.echo(_row(f"  {name:<{width}}  ", about))
        typer.echo()
    typer.echo("Commands take these names. To change one of them, copy its file.")


def _row(head: str, about: str) -> str:
    """One entry; on a narrow terminal it goes on under its own column."""
    if not sys.stdout.isatty():
        return head + about
    width = max(shutil.get_terminal_size().columns, len(head) + 20)
    return textwrap.fill(about, width, initial_indent=head, subsequent_indent=" " * len(head))


def _about(path: Path) -> str:
    """The file's `about`; read as text, for speed."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("about:"):
                return line.removeprefix("about:").strip().strip("\"'")
    return ""
