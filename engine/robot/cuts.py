"""The types of cut joints: rows of one table.

A cut acts as a joint of its type from the first frame to the second. Its constraints are given in the first frame's
axes: `slides` are the components of the vector from the first origin to the second that stay 0; an entry (j, k) of
`aligned` keeps the second's axis j at right angles to the first's axis k; `contacts` are further kinds of rows with
their axes (`mechanics/closure/row_kinds.py`). A new type of cut is a new row here.
"""

from __future__ import annotations

from dataclasses import dataclass

from .placement import X, Y, Z

LOCKED = ((X, Y), (Y, Z), (Z, X))
PARALLEL = ((Z, X), (Z, Y))


@dataclass(frozen=True)
class CutType:
    name: str
    about: str
    slides: tuple[int, ...]
    aligned: tuple[tuple[int, int], ...]
    contacts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    form_of: str = ""  # the name in files of the type of which this is another form
    rolls: bool = False  # whether it has a radius

    @property
    def freedoms(self) -> int:
        """The number of freedoms that Kutzbach's formula counts for this cut."""
        return 6 - len(self.slides) - len(self.aligned) - len(self.contacts)


CUTS = {
    row.name: row
    for row in (
        CutType("revolute", "second turns about z", (X, Y, Z), PARALLEL),
        CutType("prismatic", "second slides along z", (X, Y), LOCKED),
        CutType("spherical", "second turns freely", (X, Y, Z), ()),
        CutType("universal", "second turns about first's x, then about its own y", (X, Y, Z), ((Y, X),)),
        CutType("cylindrical", "second turns about z and slides along it", (X, Y), PARALLEL),
        CutType("planar", "second slides along x and y and turns about z", (Z,), PARALLEL),
        CutType("fixed", "second does not move", (X, Y, Z), LOCKED),
        CutType("point-on-line", "second's origin stays on first's z", (X, Y), ()),
        CutType("point-on-plane", "second's origin stays in first's xy-plane", (Z,), ()),
        CutType(
            "rolling",
            "a disc about second's z stands on first's xy-plane and rolls without sliding",
            (),
            (),
            (("rim", ()), ("rolls", (X,)), ("rolls", (Y,))),
            rolls=True,
        ),
        CutType(
            "skate",
            "an edge along second's x slides on first's xy-plane, and not sideways",
            (Z,),
            (),
            (("skates", ()),),
        ),
    )
}

# other forms of the types above, by the word after `as:`
CUT_FORMS = {
    "ball": CutType(
        "ball",
        "a ball about second's origin lies on first's xy-plane and rolls without sliding",
        (),
        (),
        (("ball", ()), ("ball rolls", (X,)), ("ball rolls", (Y,))),
        form_of="rolling",
        rolls=True,
    )
}
