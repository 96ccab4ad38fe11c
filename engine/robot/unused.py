"""Entries of a robot file that do nothing: a warning for each of them, at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .bodies import ReadLink
from .schema import LinkEntry, RobotFile, SpringEntry
from .values import Complain


def doubts_about_unused_robot_keys(
    file: RobotFile, links: Sequence[ReadLink], complain: Callable[..., Complain]
) -> Iterator[str]:
    """Warnings about keys without effect: of inertias, actuators and springs that aren't there."""
    alone = not (file.loops or file.couplings or file.actuators)
    for k, (entry, read) in enumerate(zip(file.links, links)):
        at = complain("links", k)
        yield from (str(at(*path, f"does nothing: {words}", key=True)) for path, words in _of(entry, read, alone))
    for k, spring in enumerate(file.springs):
        at = complain("springs", k)
        yield from (str(at(*path, f"does nothing: {words}", key=True)) for path, words in _of_spring(spring))


def _of(entry: LinkEntry, read: ReadLink, alone: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    """The keys of one link that do nothing, and why; `alone` says that no two actuators of the robot share work."""
    joint, effort = read.link.joint, entry.joint.effort
    if entry.inertia is None:
        for key in ("about", "frame"):
            if key in entry.model_fields_set:
                yield (key,), "the link has no `inertia`"
    if effort is not None and not joint.actuated:
        yield ("joint", "effort"), f"`{joint.name}` isn't actuated; `actuated: true` gives it an actuator"
    elif effort is not None and "weight" in effort.model_fields_set and alone and not joint.hooke:
        yield ("joint", "effort", "weight"), "each actuator of a robot without loops and couplings has its own freedom"


def _of_spring(entry: SpringEntry) -> Iterator[tuple[tuple[str, ...], str]]:
    """What of a spring over several joints does nothing, and why."""
    if not entry.stiffness and not entry.damping:
        yield (), "the spring has neither `stiffness` nor `damping`"
    elif not entry.stiffness:
        for key in ("rest", "slack"):
            if getattr(entry, key):
                yield (key,), "the spring has no `stiffness`"
    yield from ((("joints", name), "its coefficient is 0") for name, ratio in entry.joints.items() if not ratio)
