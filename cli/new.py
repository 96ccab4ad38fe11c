"""`denoc new`: commented files to start from."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import completing, options
from denoc.cli.said import print_lines

if TYPE_CHECKING:
    from denoc.robot import Joint
    from denoc.robot import Robot as Model

app = typer.Typer(no_args_is_help=True, help="Write a commented robot, scenario or study file to start from.")
TEMPLATES = Path(__file__).with_name("templates")
MOST_NAMED = 8  # joints that a comment names


class Task(StrEnum):
    """The tasks of scenarios."""

    inverse = "inverse"
    simulate = "simulate"


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of what is written; its file is NAME.yaml.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="PATH", help="File or folder to write to (default: here).")]


@app.command("robot")
def new_robot_command(
    name: Name,
    convention: Annotated[
        str,
        typer.Option(
            "--convention",
            metavar="NAME",
            help="Convention for placing joints: dh, khalil or frames.",
            autocompletion=options.completion_from_names("denoc.robot.read", "JOINTS"),
        ),
    ] = "frames",
    loop: Annotated[bool, typer.Option("--loop", help="Write a mechanism with a closed loop, a four-bar.")] = False,
    table: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Take the links from a table (CSV) of dh or khalil parameters."),
    ] = None,
    out: Out = None,
) -> None:
    """Write a robot file with two links, or a four-bar mechanism, in which every key is explained.

    With --from its links are those of a table with a column for each parameter, by their names in the papers, in books
    or in toolboxes, and a row for each joint; how the columns were taken is printed.
    """
    from denoc.errors import InputError, allowed_names
    from denoc.robot.read import JOINTS

    name, path = _place(name, out)
    if convention not in JOINTS:
        names = allowed_names(convention, JOINTS)
        raise InputError("no such convention", key="--convention", found=f"`{convention}`", **names)
    if table is not None:
        _from_table(name, path, table, convention, loop)
        return
    text = _filled(f"{'loop' if loop else 'robot'}-{convention}", {"NAME": _written(name)})
    _write(path, text, f"`denoc inspect {path}` shows it, `denoc idyn {path}` runs it")


def _from_table(name: str, path: Path, table: Path, convention: str, loop: bool) -> None:
    """Writes the robot of a table."""
    from denoc.errors import InputError
    from denoc.formats import loads, read_dh_table
    from denoc.text import yaml_text

    if loop or convention == "frames":
        hint = "--convention khalil where the parameters are modified ones, which come before the joint"
        allowed = "--convention dh or khalil, without --loop"
        raise InputError("a table has Denavit-Hartenberg parameters", key="--from", allowed=allowed, hint=hint)
    made = read_dh_table(table, name, convention)
    text = yaml_text(made.data, [f"from {table.name}", *made.said])
    robot = loads(text, str(path))  # refuses what no robot can have
    for warning in robot.warnings:
        options.print_warning_beside_output(warning)
    _write(path, text, *made.said, f"`denoc inspect {path}` shows it")


@app.command("scenario")
def new_scenario_command(
    name: Name,
    of: Annotated[
        str,
        typer.Option(
            "--robot",
            metavar="ROBOT",
            help="A robot file, or one of the library.",
            autocompletion=completing.complete_robots,
        ),
    ] = "puma",
    task: Annotated[
        Task, typer.Option("--task", help="Compute forces from motion, or motion from forces.")
    ] = Task.inverse,
    out: Out = None,
) -> None:
    """Write a scenario file for a robot, in which every key is explained."""
    from denoc.formats import load
    from denoc.text import find_library_file

    name, path = _place(name, out)
    model, file = load(of), find_library_file(of, "robots")
    joints = ", ".join(model.joints[:MOST_NAMED]) + ", …" * (len(model.joints) > MOST_NAMED)
    values = {"ROBOT": _written(_beside(file, path, "robots")), "JOINTS": joints or "none", "MOTION": _motion(model)}
    text = _filled(f"scenario-{task.value}", values)
    _write(path, text, f"`denoc run {path}` runs it")


@app.command("study")
def new_study_command(
    name: Name,
    of: Annotated[
        str,
        typer.Option(
            "--scenario",
            metavar="SCENARIO",
            help="A scenario file, or one of the library.",
            autocompletion=completing.complete_scenarios,
        ),
    ] = "puma-fall",
    search: Annotated[
        bool, typer.Option("--optimise", help="Write a study that seeks a minimum, for `denoc optimise`.")
    ] = False,
    out: Out = None,
) -> None:
    """Write a study file for a scenario, in which every key is explained."""
    from denoc.errors import InputError
    from denoc.scenario import prepare_scenario
    from denoc.text import find_library_file

    name, path = _place(name, out)
    plan, file = prepare_scenario(of), find_library_file(of, "scenarios")
    data = plan.robot.document.data if plan.robot.document else {}
    heavy = [one for one in data.get("links", ()) if isinstance(one, dict) and one.get("mass") and "name" in one]
    if not heavy or not plan.robot.moving:
        raise InputError("the robot has no link of its own whose mass could vary", found=of, hint="`denoc list`")
    joint = next((one for one in plan.robot.moving if one.actuated), plan.robot.moving[0])
    suffix = (joint.type.forces if plan.task == "inverse" and joint.actuated else joint.type.coordinates)[0]
    values = {
        "SCENARIO": _written(_beside(file, path, "scenarios")),
        "KEY": _written(f"robot.links.{heavy[-1]['name']}.mass"),
        "VALUE": str(heavy[-1]["mass"]),
        "COLUMN": _written(f"{joint.name}.{suffix}"),
    }
    text, verb = _filled("study-optimise" if search else "study", values), "optimise" if search else "sweep"
    _write(path, text, f"`denoc {verb} {path}` carries it out, `denoc {verb} {path} --explain` says what that takes")


def _filled(name: str, values: Mapping[str, str]) -> str:
    """The template of this name with values in the places of words; comments keep their columns if there is room."""
    words, made = re.compile("|".join(values)), []
    for line in (TEMPLATES / f"{name}.yaml").read_text(encoding="utf-8").split("\n"):
        head, mark, comment = line.partition(" #")
        filled = words.sub(lambda found: values[found[0]], head)
        if mark and filled != head:
            filled = f"{filled.rstrip():{len(head)}}"
        made.append(filled + mark + words.sub(lambda found: values[found[0]], comment))
    return "\n".join(made)


def _place(name: str, out: Path | None) -> tuple[str, Path]:
    """The name without its suffix, and the file; impossible names and existing files are refused."""
    from pydantic import TypeAdapter, ValidationError

    from denoc.errors import InputError
    from denoc.text.fields import FileName

    name = name.removesuffix(".yaml")
    try:
        TypeAdapter(FileName).validate_python(name)
    except ValidationError as error:
        problem = error.errors()[0]
        hint = "`--out` says where the file goes" if "/" in name else ""
        raise InputError(
            problem["msg"], key="NAME", found=f"`{name}`", allowed=problem["ctx"]["allowed"], hint=hint
        ) from None
    path = Path(f"{name}.yaml") if out is None else out / f"{name}.yaml" if os.path.isdir(out) else out
    if os.path.lexists(path):
        raise InputError(f"`{path}` is there already", allowed="a file that isn't there yet", hint="another --out")
    return name, path


def _write(path: Path, text: str, *said: str) -> None:
    options.write_text_of_command(path, text)
    print_lines(path, *said)


def _written(text: str) -> str:
    """Text as YAML."""
    from denoc.text import yaml_flow_text

    return yaml_flow_text(text)


def _beside(named: Path, file: Path, kind: str) -> str:
    """A file's reference to a robot or scenario: its name in the library, or the relative path of its file."""
    from denoc.text import library_folder, path_from_folder

    if named.parent == library_folder(kind):
        return named.stem
    return path_from_folder(named, file.parent)


def _motion(model: Model) -> str:
    """The entries of `motion`: each actuated joint turns by 90 deg or slides by 0.1 m; in a mechanism by 20 deg."""
    from denoc.cli.choose import leading_joints

    turn = 20.0 if model.loops else 90.0
    moved = leading_joints(model)
    goals = [_goal(model, joint, turn) for joint in moved]
    if not moved:
        return "  {}"
    if len(moved) == sum(joint.actuated for joint in model.moving) and len({*goals}) == 1:
        return f"  all: {goals[0]}"
    return "\n".join(f"  {_written(joint.name)}: {goal}" for joint, goal in zip(moved, goals))


def _goal(model: Model, joint: Joint, turn: float) -> str:
    """A law that moves the joint from its initial position, and not beyond its limits."""
    row = joint.type
    if row.orientation is not None:
        return "{law: hold}" if row.nq != 4 else f"{{law: cycloid, to: {{axis: [0, 0, 1], angle: {turn:g} deg}}}}"
    goals = []
    for k, turning in zip(joint.coordinates, row.turning):
        goal = model.q0[k] + (math.radians(turn) if turning else 0.1)
        if joint.limits:
            goal = min(max(goal, joint.limits[0]), joint.limits[1])
        goals.append(f"{math.degrees(goal):.6g} deg" if turning else f"{goal:.6g} m")
    return f"{{law: cycloid, to: {goals[0] if row.nq == 1 else '[' + ', '.join(goals) + ']'}}}"
