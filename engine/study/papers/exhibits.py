"""All tables and figures by their ids; a new one is a new row in its paper's module."""

from __future__ import annotations

from ...errors import InputError, allowed_names
from . import hanzaki_2009, khan_2002, saha_1999, saha_overview
from .reproduction import Exhibit

_PAPERS = (saha_1999, saha_overview, hanzaki_2009, khan_2002)
EXHIBITS: dict[str, Exhibit] = {one.id: one for paper in _PAPERS for one in paper.EXHIBITS}


def exhibit(name: str) -> Exhibit:
    """The exhibit of this id."""
    if name not in EXHIBITS:
        raise InputError(f"no table or figure is called `{name}`", **allowed_names(name, EXHIBITS))
    return EXHIBITS[name]
