"""What notebooks show of a robot: its tree as a table, and its sketch."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import AssemblyError
from ..mechanics.assembly import assemble
from ..record import html_image_of_figure
from ..record.pages import html_table, html_text
from ..record.sketch import sketch_figure
from ..robot import Link, Robot
from .staging import stage_scene

HEADER = ("joint", "type", "from", "to", "initial", "actuated", "mass (kg)")


def robot_html(robot: Robot) -> str:
    """The HTML of a robot, sketched in the position in which its loops close. Names are escaped."""
    q, note = robot.q0, ""
    if robot.tied:
        try:
            q = tuple(float(x) for x in assemble(robot, robot.q0))
        except AssemblyError as error:
            note = f"<p>{html_text(str(error))}</p>"
    about = f"<p>{html_text(robot.about)}</p>" if robot.about else ""
    shown = html_image_of_figure(robot.name, sketch_figure(*stage_scene(robot, q)))
    table = html_table(HEADER, notebook_joint_rows(robot, q))
    return f"<h4>{html_text(repr(robot))}</h4>{about}{note}{table}{shown}"


def notebook_joint_rows(robot: Robot, q: Sequence[float]) -> list[tuple[str, ...]]:
    """The rows of a table under `HEADER`, with q as initial positions: the joints of the tree, then the cuts."""
    cuts = [(loop.name, f"{loop.type.name}, cut", *loop.between, "", "", "") for loop in robot.loops]
    return [*(_row(link, q) for link in robot.links), *cuts]


def _row(link: Link, q: Sequence[float]) -> tuple[str, ...]:
    joint = link.joint
    initial = ", ".join(f"{q[k] + 0.0:.5g}" for k in joint.coordinates)
    actuated = "yes" if joint.actuated else "no" if joint.type.nv else ""
    return joint.name, joint.type.name, link.parent, link.name, initial, actuated, f"{link.mass:.5g}"
