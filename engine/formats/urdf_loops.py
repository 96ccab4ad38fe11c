"""The loops of a URDF: `loop` and `coupling` of URDF+, and the pairs of frames of a side file."""

from __future__ import annotations

import numpy as np

from .draft import Draft
from .pieces import SIMPLE_JOINTS, FileEntry, converted_frame_on_axis, robot_file_rotation_rows
from .side import Side
from .urdf_shapes import urdf_origin_entries, urdf_origin_rotation
from .xml import Element

CUTS = SIMPLE_JOINTS | {name: name for name in ("spherical", "universal", "planar", "cylindrical")}
ON_AXIS = ("revolute", "prismatic", "cylindrical", "planar")
Parents = dict[str, tuple[str, str]]  # by link, the joint on which it hangs, and its parent


def read_urdf_loops(draft: Draft, root: Element, joints: dict[str, Element], parents: Parents, side: Side) -> None:
    """Adds the loops and couplings of the file, and the loops of the file beside it."""
    for one in root.all("loop"):
        _loop(draft, one)
    for one in root.all("coupling"):
        _coupling(draft, one, parents)
    carrier = {joint: link for link, (joint, _) in parents.items()}
    side.loops(draft, carrier)


def _loop(draft: Draft, one: Element) -> None:
    """Adds a cut of URDF+."""
    draft.used(one)
    kind = draft.text(one, "type")
    if kind not in CUTS:
        raise draft.error(one, "unknown type of loop joint", found=f"`{kind}`", allowed=", ".join(CUTS))
    axis_at = one.first("axis")
    axis = draft.numbers(axis_at, "xyz", 3) if axis_at is not None else (0.0, 0.0, 1.0)
    draft.unit(axis_at or one, axis)
    name = draft.joints.take(one.attributes.get("name", "loop"), one.line)
    entry: FileEntry = {"name": name, "joint": CUTS[kind], "between": []}
    for tag, key in (("predecessor", "first"), ("successor", "second")):
        end = one.first(tag)
        if end is None:
            raise draft.error(one, f"the loop has no {tag}", allowed=f'<{tag} link="…">')
        entry["between"].append(draft.links.own[draft.known(end, "link", draft.links.own, "link")])
        entry[key] = _frame(draft, end, axis if CUTS[kind] in ON_AXIS else (0.0, 0.0, 1.0))
    draft.put("loops", entry, one)


def _frame(draft: Draft, end: Element, axis: tuple[float, ...]) -> FileEntry:
    """The frame of one side of a cut, with its z along the axis."""
    origin = urdf_origin_entries(draft, end)
    frame: FileEntry = {"at": origin["xyz"]} if "xyz" in origin else {}
    R = converted_frame_on_axis(urdf_origin_rotation(origin), axis)
    if not np.array_equal(R, np.eye(3)):
        frame["matrix"] = robot_file_rotation_rows(R)
    return frame


def _coupling(draft: Draft, one: Element, parents: Parents) -> None:
    """Adds a coupling of URDF+: the joints on the way to the successor turn `ratio` times those to the predecessor."""
    draft.used(one)
    ends: list[list[str]] = []
    for tag in ("predecessor", "successor"):
        end = one.first(tag)
        if end is None:
            raise draft.error(one, f"the coupling has no {tag}", allowed=f'<{tag} link="…"/>')
        ends.append(_way(draft.known(end, "link", draft.links.own, "link"), parents))
    leading, following = ([joint for joint in way if joint not in other] for way, other in (ends, ends[::-1]))
    if not leading or not following:
        found = f"{', '.join(leading) or 'none'} and {', '.join(following) or 'none'}"
        raise draft.error(one, "there are no joints between the links of the coupling", found=found)
    ratio = one.first("ratio")
    value = draft.number(ratio if ratio is not None else one, "value")
    own = draft.joints.own
    # the sums of the ways' angles: q + (others after it) = ratio × (those that lead)
    others = [(own[name], -1.0) for name in following[1:]] + [(own[name], value) for name in leading]
    entry: FileEntry = {"joint": own[following[0]], "to": [name for name, _ in others]}
    entry["ratio"] = [x for _, x in others]
    if len(others) == 1:
        entry["to"], entry["ratio"] = others[0]
    draft.put("couplings", entry, one)


def _way(link: str, parents: Parents) -> list[str]:
    """The joints between the root and a link."""
    joints = []
    while link in parents:
        joint, link = parents[link]
        joints.append(joint)
    return joints
