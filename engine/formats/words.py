"""What elements of a format may say, as a table: what is read, and what means nothing here; all else is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import did_you_mean
from .draft import Draft
from .report import DROPPED, IGNORED
from .xml import Element

MANY = ("link", "joint", "loop", "coupling", "material", "visual", "model", "world", "frame", "mimic", "physics")
CONTACT = "contact isn't computed"
STILL = "it moves nothing"
LOOKS = "it is for the eye"
CLOSE = 0.8  # how near a word is to a known one that was meant


@dataclass(frozen=True)
class Words:
    """The attributes and children of an element, by name; the text is why one means nothing, empty if it is read."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, str] = field(default_factory=dict)


def meanings(read: str, *idle: tuple[str, str]) -> dict[str, str]:
    """Names that are read, then others with the reason why they mean nothing."""
    made = dict.fromkeys(read.split(), "")
    for names, why in idle:
        made |= dict.fromkeys(names.split(), why)
    return made


def note_unread_words(draft: Draft, root: Element, table: Mapping[str, Words], title: str, *, strict: bool) -> None:
    """Notes attributes and elements that aren't read; those that the table doesn't have are dropped.

    The table's keys are tags, or `outer>tag` where a tag means something else there.  Elements that it doesn't have are
    dropped if the format is `strict`, that is has no room for words of others; else only if a known one is near.  What
    is there more often than once is dropped, too, except in strict formats, whose elements may be in several parts.
    """
    waiting = [(root, table[root.tag])]
    while waiting:
        element, words = waiting.pop()
        for name in element.attributes:
            if name.startswith("xmlns"):
                continue
            why = words.attributes.get(name)
            if why is None:
                hint = did_you_mean(name, words.attributes, CLOSE)
                why = f"{title} has no such attribute there" + (f"; {hint}" if hint else "")
                draft.note(DROPPED, f"{element.tag} {name}", why, element)
            elif why:
                draft.note(IGNORED, f"{element.tag} {name}", why, element)
        for child in element.children:
            tag = child.tag.split(":")[-1]
            why, once = words.inside.get(tag), not strict
            if why:
                draft.note(IGNORED, child.tag, why, child)
            elif why is None:
                hint = did_you_mean(tag, words.inside, CLOSE) if tag == child.tag else ""
                why = f"it means nothing in `{element.tag}`" + (f"; {hint}" if hint else "")
                draft.note(DROPPED if strict or hint else IGNORED, child.tag, why, child)
            elif once and tag not in MANY and child is not element.first(child.tag):
                draft.note(DROPPED, child.tag, f"only the first one in `{element.tag}` counts", child)
            elif inner := table.get(f"{element.tag}>{tag}") or table.get(tag):
                waiting.append((child, inner))
