"""What notebooks show of a robot: its tree as a table, and its sketch."""

from __future__ import annotations

from ..errors import AssemblyError
from ..loops.assembly import assemble
from ..record.notebook import picture, text
from ..record.sketch import draw
from ..robot.model import Link, Robot
from .staging import staged

HEADER = ("joint", "type", "from", "to", "initial", "actuated", "mass (kg)")


def robot_html(robot: Robot) -> str:
    """The HTML of a robot, sketched in the position in which its loops close. Names are escaped."""
    q, note = robot.q0, ""
    if robot.tied:
        try:
            q = tuple(float(x) for x in assemble(robot, robot.q0))
        except AssemblyError as error:
            note = f"<p>{text(str(error))}</p>"
    about = f"<p>{text(robot.about)}</p>" if robot.about else ""
    head = "".join(f"<th>{word}</th>" for word in HEADER)
    rows = "".join(_row(robot, link) for link in robot.links)
    cuts = "".join(_cells(loop.name, f"{loop.type.name}, cut", *loop.between, "", "", "") for loop in robot.loops)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}{cuts}</tbody></table>"
    return f"<h4>{text(repr(robot))}</h4>{about}{note}{table}{picture(robot.name, draw(*staged(robot, q)))}"


def _row(robot: Robot, link: Link) -> str:
    joint = link.joint
    initial = ", ".join(f"{robot.q0[k]:.5g}" for k in joint.coordinates)
    actuated = "yes" if joint.actuated else "no" if joint.type.nv else ""
    return _cells(joint.name, joint.type.name, link.parent, link.name, initial, actuated, f"{link.mass:.5g}")


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"
