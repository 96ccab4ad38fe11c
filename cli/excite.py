"""`denoc excite`: a motion from which a robot's numbers can be identified well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import as_json as printed
from denoc.cli import options
from denoc.cli.said import print_lines
from denoc.cli.waiting import Wait

if TYPE_CHECKING:
    from denoc.cli.study_shapes import Excited

ROWS = 40  # in the shortest period


def excite_command(
    robot: options.Robot,
    time: Annotated[str, typer.Option("--time", metavar="T", help="Period of the motion.")] = "30 s",
    speed: Annotated[
        str, typer.Option("--speed", metavar="V", help="Limit of all speeds, in rad/s or m/s.")
    ] = "1 rad/s",
    harmonics: Annotated[int, typer.Option("--harmonics", min=1, max=30, help="Frequencies of each joint.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random motions that the search begins with.")] = 0,
    floating: options.Floating = False,
    loops: options.Loops = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/<robot>-excite/.")] = (
        options.OUTPUTS
    ),
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find a periodic motion within the limits that tells a robot's numbers apart as well as can be.

    It is a Fourier series for each joint with the largest determinant that was reached (D-optimality), written as a
    table and as a scenario of inverse dynamics along it.
    """
    import numpy as np

    from denoc.record.files import check_output_writable, csv_text, write_output_files
    from denoc.study.identification import excite as excited
    from denoc.text import path_from_folder, yaml_text

    period = options.number_of_option(time, "time", "--time", above=0.0) or 0.0
    fastest = options.number_of_option(speed, "velocity", "--speed", above=0.0) or 0.0
    model = options.robot_of_argument(robot, floating, loops, warned=not quiet)
    name = f"{model.name}-excite"
    check_output_writable(out / name)
    with Wait(name, quiet=quiet or as_json) as wait:
        wait.now("searching")
        result = excited(model, period, fastest, harmonics=harmonics, seed=seed)
    t = np.linspace(0.0, period, ROWS * harmonics + 1)
    scenario = {
        "name": name,
        "robot": path_from_folder(Path(robot), out / name) if Path(robot).is_file() else robot,
        "task": "inverse",
        "time": {"end": period, "step": period / (ROWS * harmonics)},
        "motion": {
            joint.name: {
                "law": "table",
                "file": f"{name}-motion.csv",
                "column": f"{joint.name}.{joint.type.coordinates[0]}",
            }
            for joint in model.moving
        },
    }
    head = [f"A motion to identify {model.name} with, from `denoc excite`; log det {result.log_det:.6g}."]
    names = [model.columns(what) for what in ("coordinates", "speeds")]
    names.append([one.replace(".qd", ".qdd") for one in names[1]])
    columns = {one: part[:, k] for own, part in zip(names, result.at(t)) for k, one in enumerate(own)}
    files = {
        f"{name}-motion.csv": csv_text(t, columns),
        f"{name}.yaml": yaml_text(scenario, head),
    }
    written = write_output_files(out / name, files, [f"{name}-motion"])
    document: Excited = {
        "robot": model.name,
        "time": period,
        "log_det": result.log_det,
        "best_random": result.best_random,
        "condition": result.condition,
        "files": [str(file) for file in written],
    }
    if as_json:
        printed.print_json_document(document)
    elif not quiet:
        best = f"the best of 1000 motions at random: {result.best_random:.4g}"
        print_lines(f"{name}: log det {result.log_det:.4g}; {best}")
        print_lines(f"condition {result.condition:.3g}")
        print_lines(f"{out / name}/: {', '.join(file.name for file in written)}")
