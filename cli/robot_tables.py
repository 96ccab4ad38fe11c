"""What `denoc inspect` prints of a robot: its tree, tables of its joints, its masses and base parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from denoc.cli.robot_facts import position_and_angles_of_joint
from denoc.cli.said import print_lines, safe_lines
from denoc.errors import safe_to_print
from denoc.text import count_with_noun

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from denoc.loops.mobility import Mobility
    from denoc.robot.model import Link, Robot

LONGEST = 10_000  # characters of a line


def print_robot(model: Robot, mobility: Mobility | None, warnings: list[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    from denoc.cli.mobility_lines import mobility_lines_to_print, spring_lines_to_print
    from denoc.dynamics.masses import mass_and_centre

    # lines as long as they are: a terminal breaks them, and no digit is left out where it is narrow or there is none
    console = Console(highlight=False, width=LONGEST)
    console.print(Text.assemble((model.name, "bold"), f"  {safe_to_print(model.about.strip())}" if model.about else ""))
    _draw_tree(console, model)
    _draw_joints(console, model, mobility)
    _draw_placements(console, model)
    if mobility:
        for line in mobility_lines_to_print(model, mobility):
            print_lines(line)
    else:
        actuated = sum(joint.type.nv for joint in model.moving if joint.actuated)
        freedoms = f"{count_with_noun(model.nv, 'degree')} of freedom, {actuated} actuated; "
        print_lines(freedoms + _extent(model, "no loops"))
    for line in spring_lines_to_print(model):
        print_lines(line)
    mass, centre = mass_and_centre(model, mobility.q if mobility else None)
    at = ", ".join(f"{x:.5g}" for x in centre)
    where = "the assembled position" if mobility and mobility.closed else "the initial position"
    print_lines(f"mass {mass:.6g} kg, centre at [{at}] m in {where}", *model.notes)
    for warning in warnings:
        console.print(Text(safe_lines(f"warning: {warning}"), style="yellow"))
    if not warnings:
        print_lines("no warnings")


def _extent(model: Robot, loops: str) -> str:
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
        at, turned = position_and_angles_of_joint(link)
        table.add_row(
            *map(Text, (link.joint.name, link.parent, _numbers(at), _numbers(list(map(math.degrees, turned)))))
        )
    console.print(table)


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


def print_base_parameters(model: Robot) -> None:
    """Prints the groups of numbers that the dynamics knows, with their values."""
    from denoc.loops.base import base_parameters

    known = base_parameters(model)
    source = "by rules" if known.rules else "by the rank of the regressor"
    if known.doubtful:
        source += (
            f", which is in doubt: the faintest of its singular values that count is {known.faintest:.0e}, "
            f"and forces at further states are off by up to {known.missed:.0e}"
        )
    print_lines(
        f"{model.name}: {count_with_noun(len(known.names), 'base parameter')} of {len(known.numbers)} numbers, {source}"
    )
    for name, value in zip(known.names, known.values):
        print_lines(f"  {value:12.6g}  {known.words(name)}")
    if known.silent:
        print_lines(f"without effect on any force: {', '.join(known.silent)}")
