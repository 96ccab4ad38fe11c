"""`denoc convert`: robots from other formats, and to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from denoc.cli import as_json as printed
from denoc.cli import completing, options, said
from denoc.cli.said import print_lines, print_text
from denoc.cli.waiting import Wait

if TYPE_CHECKING:
    from denoc.cli.robot_shapes import Conversion, Part
    from denoc.formats import Format, Report
    from denoc.robot import Robot

WRITTEN = ("yaml", "urdf", "mjcf", "redysim")


def convert_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="A robot file in any format that denoc reads, or a robot of the library.",
            autocompletion=completing.complete_robots,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="yaml (denoc's own), urdf, mjcf or redysim (default: by the suffix of --out, else yaml).",
            autocompletion=options.completion_from_names("denoc.cli.convert", "WRITTEN"),
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write to this file or folder (default: print it).")
    ] = None,
    floating: options.Floating = False,
    loops: options.Loops = None,
    report: Annotated[
        bool,
        typer.Option("--report", help="Say what became of each part of the file: used, changed, ignored, dropped."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 if anything was changed or dropped.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Convert a robot file: URDF, MJCF, SDF and others to denoc's format, and back where the target can hold it."""
    from denoc.formats import converted_from_any_format
    from denoc.robot.read import build_robot, folder_of_robot_file, robot_data_with_meshes_seen_from
    from denoc.text import find_library_file

    home = find_library_file(source, "robots")
    read = converted_from_any_format(home, floating=floating, loops=loops)
    target = _target(to, out)
    assert target.write is not None
    if out is not None:
        folders = folder_of_robot_file(read.document), out if os.path.isdir(out) else out.parent
        # paths to meshes lead there from the new folder, too
        read.document.data = robot_data_with_meshes_seen_from(
            read.document.data, *folders, packages=target.name == "urdf"
        )
    robot = build_robot(read.document)
    with Wait(robot.name, quiet=as_json):
        written = target.write(_closed(robot) if target.name == "mjcf" else robot)
    warnings = [*robot.warnings, *written.report.warnings()]
    files = []
    if out is not None:
        path = out / f"{robot.name}{target.suffixes[0]}" if os.path.isdir(out) else out
        _keep_source(home, path)
        options.write_text_of_command(path, written.text)
        files.append(str(path))
    if as_json:
        document: Conversion = {
            "robot": robot.name,
            "to": target.name,
            "files": files,
            "text": None if files else written.text,
            "parts": [*_parts("reading", read.report), *_parts("writing", written.report)],
            "warnings": warnings,
        }
        printed.print_json_document(document)
    else:
        print_text(written.text if out is None else files[0])
        if report:
            _tell("reading", read.report)
            _tell("writing", written.report)
        for warning in warnings:
            said.print_warning(warning)
    if strict and warnings:
        raise typer.Exit(1)


def _closed(robot: Robot) -> Robot:
    """The robot with its loops closed where it starts, for programs that start from coordinates as they are."""
    from dataclasses import replace

    from denoc.errors import AssemblyError
    from denoc.mechanics.assembly import assemble

    if not robot.tied:
        return robot
    try:
        return replace(robot, q0=tuple(assemble(robot, robot.q0).tolist()), vouched=True)
    except AssemblyError as error:
        said.print_warning(f"not assembled: {error}")
        return robot


def _keep_source(source: Path, path: Path) -> None:
    """Raises an error if the robot that is read would be overwritten by what is left of it in the other format."""
    from denoc.errors import InputError

    if path.exists() and os.path.samefile(source, path):
        raise InputError("this is the robot that is read", key="--out", found=f"`{path}`", allowed="another file")


def _parts(when: Literal["reading", "writing"], report: Report) -> Iterator[Part]:
    """What became of the parts of a file, as data."""
    for one in report.entries.values():
        lines = [line for line in one.lines if line]
        yield {
            "when": when,
            "what": one.what,
            "fate": one.fate,
            "why": one.why,
            "times": len(one.lines),
            "lines": lines,
        }


def _target(to: str | None, out: Path | None) -> Format:
    """The format that is written: the one that is asked for, or by the file's suffix, or denoc's own."""
    from denoc.errors import InputError, allowed_names
    from denoc.formats import BINARY, FORMATS

    rows = {name: row for name, row in FORMATS.items() if row.write is not None}
    if to is not None:
        if to not in rows:
            raise InputError("no such format", key="--to", found=f"`{to}`", **allowed_names(to, rows))
        return rows[to]
    if out is None or os.path.isdir(out):
        return rows["yaml"]
    suffix, inner = out.suffix.lower(), Path(out.stem).suffix.lower()
    fitting = [row for row in rows.values() if suffix and suffix in row.suffixes and suffix not in BINARY]
    if len(fitting) > 1:  # of `arm.mjcf.xml` the last suffix but one
        fitting = [row for row in fitting if inner in row.suffixes and inner != suffix] or fitting
    if len(fitting) > 1:
        allowed = " or ".join(f"--to {row.name}" for row in fitting)
        names = " or ".join(f"`{out.stem}.{row.name}`" for row in fitting)
        message = f"files of several formats end in `{out.suffix}`"
        raise InputError(message, key="--out", found=f"`{out}`", allowed=allowed, hint=f"{names} says it, too")
    other = next((row for row in FORMATS.values() if suffix in row.suffixes), None)
    if other is not None and not fitting:
        message = f"denoc writes no {other.title} files that end in `{out.suffix}`"
        raise InputError(message, key="--out", found=f"`{out}`", allowed=f"--to {', '.join(rows)}, or their suffixes")
    return (fitting or [rows["yaml"]])[0]


def _tell(what: str, report: Report) -> None:
    """Prints a report beside the converted file, which may be what is printed."""
    for entry in report.entries.values():
        print_lines(f"{what}: {entry}", err=True)
