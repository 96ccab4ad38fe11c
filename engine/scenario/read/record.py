"""Section `record`: the points whose places are recorded."""

from __future__ import annotations

from ...errors import did_you_mean
from .reading import Reading


def points(reading: Reading) -> tuple[tuple[str, str], ...]:
    """The link and the point of each name under `points`."""
    robot, names = reading.robot, reading.file.record.points
    known = [f"{link.name}.{point}" for link in robot.links for point in link.points]
    for k, name in enumerate(names):
        if name not in known:
            raise reading.error(
                ("record", "points", k),
                f"{robot.name} has no point `{name}`",
                allowed=", ".join(known) or "none: the robot's links name no `points`",
                hint=did_you_mean(name, known),
            )
        if name in names[:k]:
            raise reading.error(("record", "points", k), f"`{name}` stands here twice", allowed="each point once")
    return tuple((name.split(".")[0], name.split(".")[1]) for name in names)
