"""`denoc list`: the robots, scenarios and studies of the library."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, options
from denoc.cli.said import print_lines, print_text

if TYPE_CHECKING:
    from denoc.cli.shapes import Entry

KINDS = ("robots", "scenarios", "studies")


def list_command(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="robots|scenarios|studies|NAME",
            help="List only one kind, or one entry.",
            autocompletion=completing.shell_completion_of_list,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the robots, scenarios and studies that come with denoc; with a NAME, print the path of its file."""
    from denoc.errors import InputError, allowed_names
    from denoc.text import library_folder, library_names

    kinds = [what] if what in KINDS else list(KINDS)
    entries_of = {
        kind: {name: _about(library_folder(kind) / f"{name}.yaml") for name in library_names(kind)} for kind in kinds
    }
    if what is not None and what not in KINDS:
        bare = what.removesuffix(".yaml")
        found: list[Entry] = [
            {"name": bare, "kind": kind, "file": str(library_folder(kind) / f"{bare}.yaml")}
            for kind in KINDS
            if bare in entries_of[kind]
        ]
        if not found:
            known = [*KINDS, *(name for kind in KINDS for name in entries_of[kind])]
            raise InputError(f"the library has no `{what}`", **allowed_names(bare, known))
        if as_json:
            printed.print_json_document(found)
        else:
            print_lines(*(entry["file"] for entry in found))
        return
    if as_json:
        printed.print_json_document(entries_of)
        return
    for kind, entries in entries_of.items():
        print_lines(f"{kind}, in {library_folder(kind)}")
        width = max(map(len, entries), default=0)
        for name, about in entries.items():
            head = f"  {name:<{width}}  "
            room = max(shutil.get_terminal_size().columns, len(head) + 20)
            wrapped = textwrap.fill(about, room, initial_indent=head, subsequent_indent=" " * len(head))
            print_text(wrapped if sys.stdout.isatty() else head + about)
        print_lines("")
    print_lines("Commands take these names. To change one, copy its file: `denoc list NAME` shows where it is.")


def _about(path: Path) -> str:
    """The file's `about`, read without parsing the file, for speed."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("about:"):
                return line.removeprefix("about:").strip().strip("\"'")
    return ""
