"""The tree of a robot's links: by the parent of each, or of a mechanism as a graph, whose `joints:` lists all joints.

The cuts of a graph are those that keep the largest cumulative freedom of the joints between the base and any link as
small as it can be (Hanzaki, Saha and Rao, section 3.1); of equals the joint with more freedom is cut, then the later
one.

A cut with a coordinate of its own (with an actuator, friction, a spring, limits, or an initial value) stays in the
tree as a joint. It moves a double of the cut's second link, without mass and with that link's frame, and what is cut
is that the double and the link are one: a fixed cut between them, at the place of the joint. So the joint's motion
and forces are those of any other joint, and the wrench in the cut is that in the joint.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import allowed_names, did_you_mean
from ...text import Document, Keys
from ...text.fields import checked_document_model
from ..cuts import CUTS
from ..joints import TYPES
from .joint_schema import MARK
from .schema import GRAPH, GraphFile, JointInGraph, LinkEntry, OwnCoordinate
from .values import Complain

Where = Callable[[Keys], Keys]
OWN = tuple(OwnCoordinate.keys())
CAN = tuple(name for name in CUTS if name in TYPES and TYPES[name].nv)  # types whose cuts can have a coordinate


def double_of_cut_link(link: str, cut: str) -> str:
    """The name of a link's double at a cut."""
    return f"{link}@{cut}"


def robot_data_with_doubles(
    data: Any, where: Where, placed: Callable[[str, dict[str, Any], Keys], dict[str, Any]]
) -> tuple[Any, Where]:
    """The data with doubles among its links, and a function from its paths to the file's.

    `placed` gives a frame on a link coordinates in the place of a point's name.  What isn't as it should be is left for
    the checks of the file.
    """
    links, loops = (data.get(key) if isinstance(data, dict) else None for key in ("links", "loops"))
    if not (isinstance(links, list) and isinstance(loops, list)):
        return data, where
    links, loops = list(links), list(loops)
    own: dict[int, int] = {}
    for k, entry in enumerate(loops):
        if not cut_entry_is_doubled(entry):
            continue
        name = entry.get("name") or f"loop{k + 1}"
        first, second = entry["between"]
        sides = {
            key: placed(link, entry[key], ("loops", k, key)) if isinstance(entry.get(key), dict) else entry.get(key, {})
            for key, link in (("first", first), ("second", second))
        }
        moved = {key: entry[key] for key in (*OWN, "spin") if key in entry}
        joint = {**moved, "name": name, "type": entry["joint"], **sides, MARK: GRAPH}
        double = double_of_cut_link(second, name)
        own[len(links)] = k
        empty = {"mass": 0, "com": [0, 0, 0]}
        links.append({"name": double, "parent": first, "convention": "frames", "joint": joint, **empty})
        rest = {key: value for key, value in entry.items() if key not in (*joint, "joint", "between")}
        tie = {"name": name, "joint": "fixed", "between": [double, second], "first": sides["second"]}
        loops[k] = {**rest, **tie, "second": sides["second"]}

    def to_file(path: Keys) -> Keys:
        if len(path) > 1 and path[0] == "links" and path[1] in own:
            loop, inner = own[int(path[1])], path[2:]
            return where(("loops", loop, *(inner[1:] if inner[:1] == ("joint",) else ())))
        return where(path)

    return ({**data, "links": links, "loops": loops}, to_file) if own else (data, where)


def cut_entry_is_doubled(entry: Any) -> bool:
    """Whether an entry of `loops` is a cut with a coordinate of its own, as far as can be said before it is checked."""
    if not isinstance(entry, dict) or entry.get("joint") not in CAN:
        return False
    between = entry.get("between")
    if not (isinstance(between, list) and len(between) == 2 and all(isinstance(name, str) for name in between)):
        return False
    said = [entry[key] for key in OWN if key in entry]  # so that the joint needs its coordinate
    return between[0] != between[1] and any(value is not None and value is not False for value in said)


JOINT_KEYS = ("name", "actuated", "friction", "rotor_inertia", "spring", "limits", "effort", "pitch", "initial", "spin")
CUT_KEYS = ("name", "joint", "between", "first", "second", "spin", "radius", "as")


def robot_graph_as_tree(document: Document, data: Any, where: Where) -> tuple[Any, Where, tuple[str, ...] | None]:
    """The data as a tree with `loops`, a function from its paths to the file's, and notes on the choice of cuts.

    The notes are None if the file describes a tree already.
    """
    if not isinstance(data, dict) or "joints" not in data:
        return data, where, None
    if "loops" in data:
        raise document.error(
            ("loops",), "`joints` lists all joints, cut ones too", key=True, allowed="`joints`, or a tree and `loops`"
        )
    links = data.get("links")
    for k, link in enumerate(links if isinstance(links, list) else []):
        for key in ("parent", "joint", "offset", "convention"):
            if isinstance(link, dict) and key in link:
                raise document.error(
                    where(("links", k, key)), f"with `joints` a link has no `{key}`", key=True, allowed="mass, com, …"
                )
    file = checked_document_model(GraphFile, document, {"joints": data["joints"]}, where)
    if not isinstance(links, list):
        raise document.error((), "`links` is missing", allowed="links: [ … ]")
    names = _names(document, data, file)
    tree, radius, farthest = _tree(document, names, file.joints)
    entries: dict[str, dict[str, Any]] = {}
    back: dict[Keys, Keys] = {}
    for child, (j, parent) in tree.items():
        entry, given = file.joints[j], data["joints"][j]
        own = {key: given[key] for key in JOINT_KEYS if key in given}
        own.setdefault("name", f"joint{j + 1}")
        sides = {
            key: frame_with_link_point(document, links, name, given.get(key, {}), ("joints", j, key))
            for key, name in zip(("first", "second"), entry.between)
        }
        joint = {**own, "type": entry.joint, **sides, "turned": entry.between[0] == child, MARK: GRAPH}
        entries[child] = {"parent": parent, "joint": joint}
        back[("links", names.index(child), "joint")] = ("joints", j)
    cut = [j for j in range(len(file.joints)) if j not in {j for j, _ in tree.values()}]
    loops = []
    for place, j in enumerate(cut):
        given = data["joints"][j]
        kept = {key: given[key] for key in (*CUT_KEYS, *JOINT_KEYS) if key in given}
        loops.append({**kept, "name": given.get("name", f"joint{j + 1}")})
        back[("loops", place)] = ("joints", j)
    made = [{**link, "convention": "frames", **entries[link["name"]]} for link in links]

    def to_file(path: Keys) -> Keys:
        for start, target in back.items():
            if path[: len(start)] == start:
                return where((*target, *path[len(start) :]))
        return where(path)

    rest = {key: value for key, value in data.items() if key != "joints"}
    if isinstance(rest.get("assembly"), dict):  # a guess for a joint that was cut is no mistake
        names_of_cuts = {loop["name"] for loop in loops if not cut_entry_is_doubled(loop)}
        rest["assembly"] = {name: guess for name, guess in rest["assembly"].items() if name not in names_of_cuts}
    return {**rest, "links": made, "loops": loops}, to_file, _notes(file.joints, cut, radius, farthest)


def _names(document: Document, data: Mapping[str, Any], file: GraphFile) -> list[str]:
    """The names of the links; joints between unknown links are refused."""
    names = [str(link.get("name")) for link in data.get("links") or [] if isinstance(link, dict)]
    known = ["base", *names]
    for j, entry in enumerate(file.joints):
        for side, name in enumerate(entry.between):
            if name not in known:
                at = ("joints", j, "between", side)
                raise document.error(at, "no such link", found=f"`{name}`", **allowed_names(name, known, 40))
        if entry.between[0] == entry.between[1]:
            raise document.error(
                ("joints", j, "between"), f"the joint names the link `{entry.between[0]}` twice", allowed="two links"
            )
    return names


def frame_with_link_point(
    document: Document, links: list[dict[str, Any]], name: str, frame: dict[str, Any], path: Keys
) -> dict[str, Any]:
    """The frame with its point's coordinates instead of its name."""
    if not isinstance(frame.get("at"), str):
        return frame
    named = (link for link in links if isinstance(link, dict) and link.get("name") == name)
    points = next((link.get("points") for link in named), None)
    points = points if isinstance(points, dict) else {}
    if frame["at"] not in points:
        raise document.error(
            (*path, "at"), f"`{name}` has no such point", found=f"`{frame['at']}`", allowed=", ".join(map(str, points))
        )
    return {**frame, "at": points[frame["at"]]}


def freedoms_of_joint(entry: JointInGraph) -> int:
    """The number of freedoms of a joint, be it cut or not."""
    return CUTS[entry.joint].freedoms if entry.joint in CUTS else TYPES[entry.joint].nv


def _tree(
    document: Document, names: list[str], joints: list[JointInGraph]
) -> tuple[dict[str, tuple[int, str]], int, str]:
    """The joint and parent of each link, the largest cumulative freedom, and a link that has it."""
    # others, such as a point on a line, can only be cut
    kept = [j for j, entry in enumerate(joints) if entry.joint in TYPES]
    reach, _ = _shortest(kept, joints)
    lost = [name for name in names if name not in reach]
    if lost:
        raise document.error(
            ("joints",),
            f"nothing holds the link `{lost[0]}`: no way of joints leads from it to the base",
            key=True,
            allowed="joints that hold every link",
        )
    most = sum(map(freedoms_of_joint, joints))
    for own in (False, True):  # a joint with a coordinate of its own is cut only if every joint of its loop has one
        for limit in range(max(reach.values(), default=0), most + 1):
            left = _cut_down(kept, joints, names, limit, own=own)
            if len(left) == len(names):
                reach, tree = _shortest(left, joints)
                return tree, max(reach.values(), default=0), max(reach, key=lambda name: reach[name])
    left = _cut_down(kept, joints, names, most, own=True)
    uncut = next(j for j in left if all(j != k for k, _ in _shortest(left, joints)[1].values()))
    what = f"a {joints[uncut].joint} joint"
    raise document.error(
        ("joints", uncut),
        f"every joint around this loop has to stay in the tree; {what} can't be cut",
        allowed="in each loop a joint without actuator, spring, friction, limits and initial value",
    )


def _cut_down(
    kept: list[int], joints: list[JointInGraph], names: list[str], limit: int, *, own: bool = False
) -> list[int]:
    """The joints that are left after cutting as many as possible, those with more freedom and later ones first.

    Joints with a coordinate of their own are cut only if `own` says so, and after the others.
    """
    for j in sorted(kept, key=lambda j: (_has_own(joints[j]), -freedoms_of_joint(joints[j]), -j)):
        if len(kept) == len(names):
            break
        can = (own and joints[j].joint in CAN) or not _has_own(joints[j])
        if joints[j].joint in CUTS and can:
            rest = [k for k in kept if k != j]
            reach, _ = _shortest(rest, joints)
            if len(reach) == len(names) + 1 and max(reach.values()) <= limit:
                kept = rest
    return kept


def _has_own(entry: JointInGraph) -> bool:
    """Whether the joint can't be cut because something needs its coordinate."""
    keys = (key for key in JOINT_KEYS if key not in CUT_KEYS and hasattr(entry, key))
    return any(getattr(entry, key) not in (None, False, 0.0, "free") for key in keys)


def _shortest(kept: list[int], joints: list[JointInGraph]) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """The least cumulative freedom from the base to each link, and the joint and parent on that path."""
    reach = {"base": 0}
    tree: dict[str, tuple[int, str]] = {}
    waiting: list[tuple[int, int, str, str]] = [(0, -1, "", "base")]
    done: dict[str, int] = {}
    while waiting:
        length, j, parent, name = heapq.heappop(waiting)
        if name in done:
            continue
        done[name] = length
        if j >= 0:
            tree[name] = (j, parent)
        for k in kept:
            one, two = joints[k].between
            other = two if one == name else one if two == name else None
            if (
                other is not None
                and other not in done
                and length + freedoms_of_joint(joints[k]) < reach.get(other, math.inf)
            ):
                reach[other] = length + freedoms_of_joint(joints[k])
                heapq.heappush(waiting, (reach[other], k, name, other))
    return done, tree


def _notes(joints: list[JointInGraph], cut: list[int], radius: int, farthest: str) -> tuple[str, ...]:
    """A note for the user on which joints were cut, and why."""
    if not cut:
        return ()
    names = ", ".join(f"{joints[j].name or f'joint{j + 1}'} ({joints[j].joint})" for j in cut)
    return (f"cut: {names}; so the largest cumulative freedom from the base is {radius} (at {farthest}), the least",)


# ---- the parent of each link


def parents_of_links(links: list[LinkEntry], complain: Callable[..., Complain]) -> list[str]:
    """The name of each link's parent; names that are taken or unknown are refused."""
    names = [link.name for link in links]
    joints: dict[str, str] = {}
    for k, link in enumerate(links):
        if link.name == "base" or names.index(link.name) < k:
            what = "`base` is the ground" if link.name == "base" else f"link {names.index(link.name) + 1} has it too"
            ground = "leave it out where it stands for the ground (its children have `parent: base`), or rename it"
            raise complain("links", k)(
                "name",
                f"the name `{link.name}` is taken: {what}",
                allowed="a name of its own; in what is repeated `{k}` stands for the count, as in link{k}",
                hint=ground if link.name == "base" else "",
            )
        joint = link.joint.name or f"joint{k + 1}"
        if joint == "all":
            raise complain("links", k)(
                "joint", "name", "the name `all` is taken: in scenarios it means every joint", allowed="another name"
            )
        if joint in joints:
            raise complain("links", k)(
                "joint",
                "name",
                f"the name `{joint}` is taken by the joint of `{joints[joint]}`",
                allowed="a name of its own (joints without a name are called joint1, joint2, … in the file's order)",
            )
        joints[joint] = link.name
    parents = []
    for k, link in enumerate(links):
        parent = link.parent or (names[k - 1] if k else "base")
        if parent not in names and parent != "base":
            raise complain("links", k)(
                "parent",
                "no such link",
                found=f"`{parent}`",
                allowed=f"base, {', '.join(n for n in names[:40] if n != link.name)}",
                hint=did_you_mean(parent, names),
            )
        parents.append(parent)
    return parents


def links_parents_first(links: list[LinkEntry], parents: list[str], complain: Callable[..., Complain]) -> list[int]:
    """The places of the links, every parent before its children, otherwise in the file's order."""
    children: dict[str, list[int]] = {}
    for k, parent in enumerate(parents):
        children.setdefault(parent, []).append(k)
    names = [link.name for link in links]
    if all(p == "base" or names.index(p) < k for k, p in enumerate(parents)):
        return list(range(len(links)))
    order, stack = [], list(reversed(children.get("base", [])))
    while stack:
        k = stack.pop()
        order.append(k)
        stack += reversed(children.get(names[k], []))
    if len(order) < len(links):
        circle = _circle(min(set(range(len(links))) - set(order)), names, parents)
        at = min(circle, key=lambda k: (links[k].parent is None, k))  # where a parent is named
        turn = circle.index(at)
        around = [names[k] for k in (*circle[turn:], *circle[:turn], at)]
        raise complain("links", at)(
            "parent",
            "the parents go round in a circle",
            found=" → ".join(around if len(around) < 12 else [*around[:10], "…", around[-1]]),
            allowed="a tree that hangs on `base`",
        )
    return order


def _circle(k: int, names: list[str], parents: list[str]) -> list[int]:
    """The links of the circle that the ancestors of link k run into, each before its parent."""
    places = {name: k for k, name in enumerate(names)}
    seen: list[int] = []
    while k not in seen:
        seen.append(k)
        k = places[parents[k]]
    return seen[seen.index(k) :]
