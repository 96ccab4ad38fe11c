"""`denoc identify`: the numbers of a robot from measured data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import options
from denoc.cli.said import print_lines
from denoc.cli.waiting import WRITING, Wait

if TYPE_CHECKING:
    from denoc.cli.study_shapes import Identification
    from denoc.study.identification import Identified


def identify_command(
    robot: options.Robot,
    data: Annotated[
        list[Path] | None, typer.Argument(metavar="DATA.csv", help="Measured motions and efforts to fit to.")
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(
            "--study", metavar="FILE", help="Read from this file what the columns are, and which files to use."
        ),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", metavar="FILE", help="Compare with these data. Repeatable.")
    ] = None,
    physical: Annotated[
        bool, typer.Option("--physical", help="Only numbers that rigid bodies can have (needs clarabel).")
    ] = False,
    floating: options.Floating = False,
    loops: options.Loops = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/<robot>-identify/.")] = (
        options.OUTPUTS
    ),
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Identify a robot's masses, inertias, friction and springs from measured motions and efforts.

    The columns are those of denoc's own tables, or what a file says (`denoc schema identification`). Numbers that the
    data don't tell are named; the identified robot is written as a robot file.
    """
    from denoc import identify as identified
    from denoc.record.files import check_output_writable, write_output_files

    model = options.robot_of_argument(robot, floating, loops, warned=not quiet)
    name = f"{model.name}-identify"
    check_output_writable(out / name)
    with Wait(name, quiet=quiet or as_json) as wait:
        wait.now("fitting")
        result = identified(model, data or [], study, test=test or [], physical=physical or None)
        wait.now(WRITING)
        files = write_output_files(out / name, _files(name, result), [name, f"{model.name}-identified"])
    if as_json:
        printed.print_json_document(_document(result, files))
    elif not quiet:
        _show(result)
        print_lines(f"{out / name}/: {', '.join(file.name for file in files)}")


def _files(name: str, result: Identified) -> dict[str, str]:
    """The texts of the files, by name."""
    from denoc.study.identification import identified_numbers_csv, identified_parameters_csv

    files = {f"{name}.csv": identified_parameters_csv(result), f"{name}-numbers.csv": identified_numbers_csv(result)}
    if not result.unwritable:
        files[f"{result.robot.name}-identified.robot.yaml"] = result.robot_text()
    return files


def _document(result: Identified, files: list[Path]) -> Identification:
    """The data that `--json` prints."""
    from denoc.study.identification import identified_parameter_rows

    return {
        "robot": result.robot.name,
        "physical": result.physical,
        "parameters": identified_parameter_rows(result),
        "silent": result.silent,
        "unknown": result.unknown,
        "condition": result.condition,
        "residuals": dict(result.deviations),
        "correlated": result.correlated,
        "lags": result.lags,
        "numbers": dict(result.numbers),
        "distances": dict(result.distances),
        "train": {file: dict(errors) for file, errors in result.train.items()},
        "test": {file: dict(errors) for file, errors in result.test.items()},
        "unwritable": result.unwritable,
        "files": [str(file) for file in files],
    }


def _show(result: Identified) -> None:
    from denoc.study.identification import identified_parameter_rows

    rows = identified_parameter_rows(result)
    width = max((len(row["name"]) for row in rows), default=4)
    print_lines(f"{'base parameter':<{width}}  {'identified':>12} {'± error':>10} {'file':>12}")
    for row in rows:
        error = f"{row['error']:10.2g}" if row["determined"] else f"{'unknown':>10}"
        print_lines(f"{row['name']:<{width}}  {row['value']:12.6g} {error} {row['file']:12.6g}  {row['unit']}")
    print_lines("")
    kind = f"allow for autocorrelation over {result.lags} rows" if result.correlated else "are those of white noise"
    print_lines(f"condition {result.condition:.3g}; standard errors {kind}")
    if result.distances:
        shown = ", ".join(f"{name} {x:.3g}" for name, x in result.distances.items())
        print_lines(f"dry friction builds up along (63 %, rad or m): {shown}")
    if result.unknown:
        print_lines(f"the data don't tell {', '.join(result.unknown)}; of these, values are nearest to the file")
    if result.silent:
        print_lines(f"no force shows {', '.join(result.silent)}")
    for what, errors in (("fit", result.train), ("test", result.test)):
        for file, own in errors.items():
            shown = ", ".join(f"{effort} {x:.3g}" for effort, x in own.items())
            print_lines(f"{what} {file}, % of RMS: {shown}")
    if result.unwritable:
        print_lines(
            f"no robot file: {'; '.join(result.unwritable[:3])}; --physical leads to numbers that a file can have"
        )
