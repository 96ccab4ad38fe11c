"""The parent of each link of a robot file: whether it exists, and an order in which parents come first."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import did_you_mean
from .schema import LinkEntry
from .values import Complain


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
