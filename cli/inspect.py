"""`denoc inspect`: a description of a robot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import as_json as printed
from denoc.cli import options

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from denoc.cli import robot_shapes
    from denoc.loops.mobility import Mobility
    from denoc.robot.model import Link, Robot

LONGEST = 10_000  # characters of a line


def inspect_command(
    robot: options.Robot,
    floating: options.Floating = False,
    loops: options.Loops = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if there are warnings.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw a sketch of the robot in its initial position, with its loops closed.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The sketch goes to DIR/<robot>/.")] = (
        options.OUTPUTS
    ),
    form: Annotated[options.Format, typer.Option("--format", help="Format of the sketch.")] = options.Format.png,
    base: Annotated[
        bool,
        typer.Option("--base-parameters", help="List the groups of masses, inertias … that the dynamics knows."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show a robot's tree, degrees of freedom, masses and warnings, and its loops and how they are solved.

    A robot with loops is shown in the position, near its initial one, in which they close.
    """
    model = options.robot_of_argument(robot, floating, loops)
    mobility = _mobility(model)
    warnings = [*model.warnings, *(mobility.warnings if mobility else ()), *_idle(model, mobility)]
    drawn, undrawn = _sketch(model, mobility, out, form.value) if plot else (None, ())
    warnings += undrawn
    if as_json:
        facts = _facts(model, mobility, warnings)
        if drawn:
            facts["files"] = [str(drawn)]
        if base:
            facts["base_parameters"] = _base_parameters(model)
        printed.print_json_document(facts)
    else:
        if base:
            _list_base_parameters(model)
        else:
            _draw(model, mobility, warnings)
        if drawn:
            typer.echo(drawn)
    if strict and warnings:
        raise typer.Exit(1)


def _mobility(model: Robot) -> Mobility | None:
    if not model.closed:
        return None
    from denoc.loops.mobility import mobility

    return mobility(model)


def _idle(model: Robot, mobility: Mobility | None) -> list[str]:
    """The warning of joints that have nothing to accelerate."""
    from denoc.dynamics.vanishing import joints_of_vanishing_inertia, vanishing_inertia_message

    if mobility is None:
        joints = joints_of_vanishing_inertia(model, model.q0)
    else:
        from denoc.loops.vanishing import vanishing_joints_at_closed_position

        joints = vanishing_joints_at_closed_position(model, mobility.q) if mobility.closed else []
    return [vanishing_inertia_message(joints)] if joints else []


def _sketch(model: Robot, mobility: Mobility | None, out: Path, form: str) -> tuple[Path, tuple[str, ...]]:
    """Draws a sketch, and returns its file, and what couldn't be drawn."""
    from denoc.record.sketch.drawing import sketch_figure
    from denoc.record.write import make_output_folder
    from denoc.study.staging import stage_scene

    path = out / model.name / f"{model.name}-sketch.{form}"
    make_output_folder(path.parent)
    assembled = mobility is not None and mobility.closed
    scene, poses = stage_scene(model, mobility.q if mobility else model.q0)
    options.save_figure_of_command(
        sketch_figure(scene, poses, state=f"{'assembled' if assembled else 'initial'} position"), path
    )
    return path, scene.warnings


def _list_base_parameters(model: Robot) -> None:
    """Prints the groups of numbers that the dynamics knows, with their values."""
    from denoc.loops.base import base_parameters
    from denoc.text.words import count_with_noun

    known = base_parameters(model)
    source = "by rules" if known.rules else "by the rank of the regressor"
    if known.doubtful:
        source += f", which is in doubt: the faintest of its singular values that count is {known.faintest:.0e}"
    typer.echo(
        f"{model.name}: {count_with_noun(len(known.names), 'base parameter')} of {len(known.numbers)} numbers, {source}"
    )
    for name, value in zip(known.names, known.values):
        typer.echo(f"  {value:12.6g}  {known.words(name)}")
    if known.silent:
        typer.echo(f"without effect on any force: {', '.join(known.silent)}")


def _base_parameters(model: Robot) -> robot_shapes.BaseParameters:
    from denoc.loops.base import base_parameters

    known = base_parameters(model)
    groups: list[robot_shapes.Combination] = [
        {"name": name, "value": float(value), "numbers": known.group(name)}
        for name, value in zip(known.names, known.values)
    ]
    return {"groups": groups, "silent": list(known.silent), "rules": known.rules, "faintest": known.faintest}


# ---- JSON


def _facts(model: Robot, mobility: Mobility | None, warnings: list[str]) -> robot_shapes.Robot:
    """The data that `--json` prints."""
    from denoc.dynamics.masses import mass_and_centre

    mass, centre = mass_and_centre(model, mobility.q if mobility else None)
    freedoms = model.nv if mobility is None else mobility.standing.freedoms if mobility.standing else None
    facts: robot_shapes.Robot = {
        "name": model.name,
        "about": model.about,
        "degrees_of_freedom": freedoms,
        "coordinates": model.nq,
        "actuated": [joint.name for joint in model.moving if joint.actuated],
        "elastic": [joint.name for joint in model.moving if joint.elastic],
        "gravity": list(model.gravity),
        "mass": mass,
        "centre": list(centre),
        "links": [_link(link) for link in model.links],
        "notes": list(model.notes),
        "warnings": warnings,
    }
    if mobility:
        _add_closing(facts, model, mobility)
    if model.springs:
        names = _coordinate_owners(model)
        facts["springs"] = [
            {
                "name": name,
                "joints": {names[one.coordinate]: one.ratio for one in cord.joints},
                "stiffness": cord.stiffness,
                "rest": cord.rest,
                "slack": cord.slack,
                "damping": cord.damping,
            }
            for name, cord in model.springs
        ]
    return facts


def _link(link: Link) -> robot_shapes.Link:
    joint, (xyz, rpy) = link.joint, _placed(link)
    return {
        "name": link.name,
        "parent": link.parent,
        "joint": joint.name,
        "type": joint.type.name,
        "coordinates": [f"{joint.name}.{suffix}" for suffix in joint.type.coordinates],
        "initial": joint.initial,
        "actuated": joint.actuated,
        "placement": {"xyz": xyz, "rpy": rpy},
        "mass": link.mass,
        "com": link.com,
        "points": dict(link.points),
    }


def _add_closing(facts: robot_shapes.Robot, model: Robot, mobility: Mobility) -> None:
    """Adds the data on loops, couplings and further actuators."""
    from dataclasses import asdict

    gaps: dict[str, robot_shapes.Gap] = {gap.name: {"m": gap.length, "rad": gap.angle} for gap in mobility.gaps}
    names = _coordinate_owners(model)
    facts["loops"] = [
        {"name": loop.name, "type": loop.type.name, "between": loop.between, "gap": gaps[loop.name]}
        for loop in model.loops
    ]
    facts["couplings"] = [
        {
            "joint": names[c.coordinate],
            "to": [names[one.coordinate] for one in c.leaders]
            if len(c.leaders) > 1
            else names[c.leaders[0].coordinate],
            "ratio": [one.ratio for one in c.leaders] if len(c.leaders) > 1 else c.leaders[0].ratio,
            "offset": c.offset,
        }
        for c in model.couplings
    ]
    facts["actuators"] = [
        {"name": one.name, "link": one.link}
        if one.on_link
        else {"name": one.name, "joints": {names[joint.coordinate]: joint.ratio for joint in one.joints}}
        for one in model.actuators
    ]
    document: robot_shapes.Mobility = {
        "closed": mobility.closed,
        "assembled": {j.name: [mobility.q[k] for k in j.coordinates] for j in model.moving},
        "kutzbach": mobility.kutzbach,
        "independent_loops": mobility.loops,
        "actuators": mobility.actuators,
    }
    standing: Any = asdict(mobility.standing) if mobility.standing else {}
    document.update(standing)
    facts["mobility"] = document


def _coordinate_owners(model: Robot) -> dict[int, str]:
    return {k: joint.name for joint in model.moving for k in joint.coordinates}


# ---- text


def _draw(model: Robot, mobility: Mobility | None, warnings: list[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    from denoc.cli.mobility import mobility_lines_to_print, spring_lines_to_print
    from denoc.dynamics.masses import mass_and_centre

    # lines as long as they are: a terminal breaks them, and no digit is left out where it is narrow or there is none
    console = Console(highlight=False, width=LONGEST)
    console.print(Text.assemble((model.name, "bold"), f"  {model.about}" if model.about else ""))
    _draw_tree(console, model)
    _draw_joints(console, model, mobility)
    _draw_placements(console, model)
    if mobility:
        for line in mobility_lines_to_print(model, mobility):
            console.print(line, markup=False)
    else:
        actuated = sum(joint.type.nv for joint in model.moving if joint.actuated)
        freedoms = f"{model.nv} degree{'s' * (model.nv != 1)} of freedom, {actuated} actuated; "
        console.print(freedoms + _extent(model, "no loops"), markup=False)
    for line in spring_lines_to_print(model):
        console.print(line, markup=False)
    mass, centre = mass_and_centre(model, mobility.q if mobility else None)
    at = ", ".join(f"{x:.5g}" for x in centre)
    where = "the assembled position" if mobility and mobility.closed else "the initial position"
    console.print(f"mass {mass:.6g} kg, centre at [{at}] m in {where}", markup=False)
    for note in model.notes:
        console.print(note, markup=False)
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False, style="yellow")
    if not warnings:
        console.print("no warnings")


def _extent(model: Robot, loops: str) -> str:
    from denoc.text.words import count_with_noun

    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    return f"{count_with_noun(len(model.links), 'link')}, {loops}; gravity [{gravity}] m/s²"


def _draw_tree(console: Console, model: Robot) -> None:
    """The spanning tree; a cut hangs on its first link and names its second."""
    from rich.text import Text
    from rich.tree import Tree

    root = Tree("base")
    nodes = {"base": root}
    waiting = list(model.links)
    while waiting:  # parents may come after their children in the file
        for link in [one for one in waiting if one.parent in nodes]:
            nodes[link.name] = nodes[link.parent].add(_line(link))
            waiting.remove(link)
    for loop in model.loops:
        first, second = loop.between
        nodes[first].add(Text.assemble((f"{loop.name} ({loop.type.name}, cut) ╌╌ ", "cyan"), (second, "cyan")))
    console.print(root)


def _draw_joints(console: Console, model: Robot, mobility: Mobility | None) -> None:
    from rich.table import Table
    from rich.text import Text

    closed = mobility is not None and mobility.closed
    table = Table(box=None, pad_edge=False, header_style="bold")
    titles = ["joint", "type", "link", "coordinates", "initial", *(["assembled"] if closed else []), "driven by"]
    for title in titles:
        table.add_column(title)
    table.add_column("mass (kg)", justify="right")
    for link in model.links:
        joint = link.joint
        initial = _numbers([model.q0[k] for k in joint.coordinates])
        assembled = [_numbers([mobility.q[k] for k in joint.coordinates])] if closed and mobility else []
        names = ", ".join(joint.type.coordinates)
        cells = (joint.name, joint.type.name, link.name, names, initial, *assembled, _driver(link), f"{link.mass:.5g}")
        table.add_row(*map(Text, cells))  # not as markup: a name may have brackets in it
    console.print(table)


def _draw_placements(console: Console, model: Robot) -> None:
    """Where each joint is in its parent's frame, in its zero position."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("joint", "in the frame of", "at x, y, z (m)", "roll, pitch, yaw (deg)"):
        table.add_column(title)
    for link in model.links:
        at, turned = _placed(link)
        table.add_row(
            *map(Text, (link.joint.name, link.parent, _numbers(at), _numbers(list(map(math.degrees, turned)))))
        )
    console.print(table)


def _placed(link: Link) -> tuple[list[float], list[float]]:
    """Position and roll, pitch, yaw of a joint's frame in its parent's."""
    from denoc.robot.placement import rpy_of_placement

    return list(link.before.origin), list(rpy_of_placement(link.before))


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{0.0 if abs(x) < 1e-12 else x:.5g}" for x in values)


def _line(link: Link) -> Text:
    from rich.text import Text

    joint = link.joint
    return Text.assemble(f"{joint.name} ({joint.type.name}) ── ", (link.name, "bold"))


def _driver(link: Link) -> str:
    joint = link.joint
    extras = [
        name
        for name, there in (
            ("spring", any(drive.stiffness for drive in joint.drives)),
            ("friction", any(drive.coulomb or drive.viscous for drive in joint.drives)),
            ("rotor", any(drive.rotor for drive in joint.drives)),
            ("limits", joint.limits is not None),
        )
        if there
    ]
    main = "actuator" if joint.actuated else "nothing" if joint.type.nv else "–"
    return ", ".join([main, *extras] if main != "nothing" or not extras else extras)
