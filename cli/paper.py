"""`denoc paper`: reproductions of the papers' tables and figures."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import options
from denoc.cli.said import print_lines, print_table, print_text
from denoc.cli.waiting import WRITING, Wait

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from denoc.cli.shapes import Paper
    from denoc.cli.shapes import Reproduction as Document
    from denoc.study.papers import Exhibit, Reproduction

WIDTH = 110


def paper_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Tables and figures (default: list them).",
            autocompletion=options.completion_from_names("denoc.study.papers", "EXHIBITS"),
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Reproduce all of them.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/<ID>/.")] = options.OUTPUTS
    / "paper",
    plot: options.Plots = True,
    form: options.Form = options.Format.png,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the papers' tables and figures; with an ID, reproduce one, and say what the comparison shows."""
    from denoc.errors import InputError
    from denoc.record.files import check_output_writable
    from denoc.study.papers import EXHIBITS, exhibit

    if ids and everything:
        raise InputError("either IDs or --all", key="--all", found=", ".join(ids))
    chosen = list(EXHIBITS.values()) if everything else [exhibit(one) for one in dict.fromkeys(ids or [])]
    if not chosen:
        _list(list(EXHIBITS.values()), as_json)
        return
    for one in chosen:
        check_output_writable(out / one.id)
    summaries = []
    for one in chosen:
        with Wait(one.id, quiet=quiet or as_json) as wait:
            wait.now("computing")
            made = one.make()
            wait.now(WRITING)
            files = _write(one, made, out / one.id, form.value if plot else "")
        summaries.append(_summary(one, made, files))
        if not quiet and not as_json:
            _show(one, made, files)
    if as_json:
        printed.print_json_document(summaries)


def _list(exhibits: list[Exhibit], as_json: bool) -> None:
    from denoc.study.papers import PAPERS

    if as_json:
        listed: list[Paper] = [
            {"id": one.id, "paper": one.paper, "what": one.what, "caption": one.caption, "claim": one.claim}
            for one in exhibits
        ]
        printed.print_json_document(listed)
        return
    width = max(len(one.id) for one in exhibits)
    for key, group in groupby(exhibits, key=lambda one: one.paper):
        print_text(textwrap.fill(PAPERS[key], WIDTH))
        for one in group:
            print_lines(f"  {one.id:<{width}}  {one.caption}")
        print_lines("")
    print_lines("`denoc paper ID` makes one of them, `denoc paper --all` all.")


# ---- files


def _write(exhibit: Exhibit, made: Reproduction, folder: Path, form: str) -> list[Path]:
    """The files of a reproduction, written: its lines as CSV, a CSV with the paper's numbers beside ours, a plot."""
    from denoc.record.files import write_output_files

    numbers = ([f"{x:.17g}" for x in row] for row in zip(*made.table.values()))
    files: dict[str, str | Figure] = {f"{exhibit.id}.csv": _csv([list(made.table), *numbers])}
    if made.rows:
        files[f"{exhibit.id}-compared.csv"] = _csv([made.heads, *made.rows])
    if form:
        files[f"{exhibit.id}.{form}"] = exhibit.figure(made)
    return write_output_files(folder, files, [f"{exhibit.id}.", f"{exhibit.id}-compared."])


def _csv(rows: Iterable[Sequence[str]]) -> str:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


# ---- output


def _show(exhibit: Exhibit, made: Reproduction, files: list[Path]) -> None:
    from denoc.study.papers import RANGES, exhibit_ranges

    print_lines(exhibit.id, f"  {exhibit.title}")
    print_text(textwrap.fill(exhibit.claim, WIDTH, initial_indent="  ", subsequent_indent="  "))
    if made.rows:
        print_table(made.heads, made.rows, width=140, indent="  ")
    if made.ranges:
        print_table(RANGES, exhibit_ranges(made), width=140, indent="  ")
    if made.verdict:
        print_text(textwrap.fill(made.verdict, WIDTH, initial_indent="  found: ", subsequent_indent="  "))
    print_lines(f"  {files[0].parent}/: " + ", ".join(file.name for file in files), "")


def _summary(entry: Exhibit, made: Reproduction, files: list[Path]) -> Document:
    """The data that `--json` prints."""
    from denoc.study.papers import RANGES, exhibit_ranges

    return {
        "id": entry.id,
        "title": entry.title,
        "claim": entry.claim,
        "verdict": made.verdict,
        "compared": [dict(zip(made.heads, row)) for row in made.rows],
        "columns": [dict(zip(RANGES, row)) for row in exhibit_ranges(made)] if made.ranges else [],
        "files": [str(file) for file in files],
    }
