"""All tables and figures by their ids; a new one is a new row in its paper's module."""

from __future__ import annotations

from ...errors import InputError, did_you_mean
from . import hanzaki_2009, khan_2002, saha_1999, saha_overview
from .entry import Exhibit

ENTRIES: dict[str, Exhibit] = {
    entry.id: entry for entry in (*saha_1999.ENTRIES, *saha_overview.ENTRIES, *hanzaki_2009.ENTRIES, *khan_2002.ENTRIES)
}


def exhibit(name: str) -> Exhibit:
    """The entry of this id."""
    if name not in ENTRIES:
        raise InputError(
            f"no table or figure is called `{name}`", allowed=", ".join(ENTRIES), hint=did_you_mean(name, ENTRIES)
        )
    return ENTRIES[name]


def markdown() -> str:
    """The table of entries in `docs/papers.md`."""
    lines = ["| id | shows | what can be claimed |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{one.id}` | {one.caption} | {one.claim} |" for one in ENTRIES.values()), ""])
