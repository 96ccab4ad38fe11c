"""`denoc inspect`: what a robot is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denoc.cli import options

if TYPE_CHECKING:
    from rich.text import Text

    from denoc.robot.model import Link, Robot


def inspect(
    robot: options.Robot,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings make exit code 1.")] = False,
    as_json: options.Json = False,
) -> None:
    """Show a robot: its tree, degrees of freedom, masses, warnings."""
    from denoc import load

    model = load(robot)
    if as_json:
        typer.echo(json.dumps(_facts(model), indent=1, ensure_ascii=False))
    else:
        _draw(model)
    if strict and model.warnings:
        raise typer.Exit(1)


def _facts(model: Robot) -> dict[str, Any]:
    from denoc.recursion.masses import whole

    mass, centre = whole(model)
    return {
        "name": model.name,
        "about": model.about,
        "degrees_of_freedom": model.nv,
        "coordinates": model.nq,
        "actuated": [joint.name for joint in model.moving if joint.actuated],
        "elastic": [joint.name for joint in model.moving if joint.elastic],
        "gravity": list(model.gravity),
        "mass": mass,
        "centre": list(centre),
        "links": [
            {
                "name": link.name,
                "parent": link.parent,
                "joint": link.joint.name,
                "type": link.joint.type.name,
                "coordinates": [f"{link.joint.name}.{suffix}" for suffix in link.joint.type.coordinates],
                "initial": list(link.joint.initial),
                "actuated": link.joint.actuated,
                "mass": link.mass,
                "com": list(link.com),
                "points": {name: list(at) for name, at in link.points.items()},
            }
            for link in model.links
        ],
        "warnings": list(model.warnings),
    }


def _draw(model: Robot) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from denoc.recursion.masses import whole
    from denoc.robot.values import counted

    console = Console(highlight=False)
    console.print(Text.assemble((model.name, "bold"), f"  {model.about}" if model.about else ""))
    root = Tree("base")
    nodes = {"base": root}
    waiting = list(model.links)
    while waiting:  # parents may come after their children in the file
        for link in [one for one in waiting if one.parent in nodes]:
            nodes[link.name] = nodes[link.parent].add(_line(link))
            waiting.remove(link)
    console.print(root)

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("joint", "type", "link", "coordinates", "initial", "driven by", "mass (kg)"):
        table.add_column(title, justify="right" if title == "mass (kg)" else "left")
    for link in model.links:
        joint = link.joint
        initial = ", ".join(f"{x:.5g}" for x in joint.initial)
        names = ", ".join(joint.type.coordinates)
        cells = (joint.name, joint.type.name, link.name, names, initial, _driver(link), f"{link.mass:.5g}")
        table.add_row(*map(Text, cells))  # not as markup: a name may have brackets in it
    console.print(table)

    mass, centre = whole(model)
    actuated = sum(joint.type.nv for joint in model.moving if joint.actuated)
    console.print(
        f"{model.nv} degree{'s' * (model.nv != 1)} of freedom, {actuated} actuated; "
        f"{counted(len(model.links), 'link')}, no loops; "
        f"gravity [{', '.join(f'{g:g}' for g in model.gravity)}] m/s²",
        markup=False,
    )
    at = ", ".join(f"{x:.5g}" for x in centre)
    console.print(f"mass {mass:.6g} kg, centre at [{at}] m in the initial position", markup=False)
    for warning in model.warnings:
        console.print(f"warning: {warning}", markup=False, style="yellow")
    if not model.warnings:
        console.print("no warnings")


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
