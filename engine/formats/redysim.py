"""ReDySim: the variables of `inputs.m`, or of the `.mat` file that it loads, and initial angles of `initials.m`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import InputError, Place, did_you_mean
from ..text import DOCUMENT_BYTES, Document, content_of_file, text_of_yaml_file
from .assignments import Assignments, Known, read_matlab_assignments
from .draft import Draft
from .mat_file import DamagedError, mat_file_arrays
from .pieces import FileEntry
from .report import CHANGED, DROPPED, IGNORED, USED
from .side import Side
from .xml import Element

VECTORS = ("alp", "a", "b", "bt", "dx", "dy", "dz", "m")
INERTIA = {"xx": "Icxx", "yy": "Icyy", "zz": "Iczz", "xy": "Icxy", "yz": "Icyz", "xz": "Iczx"}
CLOSE = 0.7  # how near a name is to one that was meant
NOT_OF_ROBOTS = ("Tp", "steps", "al", "alt", "dof", "type")


def recognises_redysim(name: str, text: str) -> bool:
    """Whether a file is ReDySim's."""
    path = Path(name)
    if path.suffix.lower() == ".mat":
        return True
    return path.suffix.lower() == ".m" and "alp" in text and "Icxx" in text


def read_redysim(draft: Draft, side: Side) -> None:
    """Fills the draft from an input file."""
    name, text = draft.document.name, draft.document.text
    made = _from_mat(name) if name.lower().endswith(".mat") else read_matlab_assignments(text, name)
    for other in made.loaded:
        path = Path(name).parent / other
        if Path(other).name == other and path.is_file():
            for key, value in _from_mat(str(path)).known.items():
                made.known[key] = value
                made.unknown.pop(key, None)
    _Reader(draft, made, side).read()


def _from_mat(name: str) -> Assignments:
    """The variables of a file of matrices."""
    made = Assignments(Document(name))
    data = content_of_file(Path(name), DOCUMENT_BYTES)
    try:
        found = mat_file_arrays(data, {*VECTORS, *INERTIA.values(), "n", "nq", "r", "aj", "th", "g", "type"})
    except DamagedError as problem:
        words = " ".join(str(problem).split())[:100]
        raise InputError(f"this is no file of matrices that can be read: {words}", place=Place(name)) from None
    made.known |= {key: Known(value, (1, 1)) for key, value in found.items()}
    return made


class _Reader:
    """Turns the variables into links with Khalil's parameters, which are ReDySim's."""

    def __init__(self, draft: Draft, made: Assignments, side: Side):
        self.draft, self.made, self.side = draft, made, side

    def at(self, name: str) -> Element:
        """Where a variable was assigned."""
        line, column = self.made.known[name].spot if name in self.made.known else (1, 1)
        return Element(name, {}, line, column, self.draft.document)

    def read(self) -> None:
        draft, made = self.draft, self.made
        n = made.numbers("n", 1)[0]
        if n != int(n) or not 1 <= n <= 5000:
            raise made.error("n", "not a number of links", found=f"{n:g}")
        self.n = int(n)
        path = Path(draft.document.name)
        draft.named(path.parent.name if path.stem.startswith("inputs") else path.stem)
        draft.data["convention"] = "khalil"
        draft.data["gravity"] = made.numbers("g", 3)
        columns = {name: made.numbers(name, self.n) for name in VECTORS}
        inertia = {key: made.numbers(name, self.n, 0.0) for key, name in INERTIA.items()}
        free = "nq" in made.known and "th" not in made.known
        kinds, driven = (made.numbers(name, self.n, 1.0) for name in ("r", "aj"))
        start = self._start(free)
        links, joints = draft.links.numbered(self.n), draft.joints.numbered(self.n)
        self.side.check(draft)
        for k in range(self.n):
            parent = int(columns["bt"][k])
            if not 0 <= parent <= self.n:
                raise made.error("bt", f"the parent of link {k + 1} isn't there", found=str(parent))
            revolute = kinds[k] == 1
            joint: FileEntry = {"type": "revolute" if revolute else "prismatic", "name": joints[k]}
            if free and not parent:
                joint["type"] = "planar" if made.numbers("nq", 1)[0] == 3 else "free"
            else:
                joint |= {"alpha": columns["alp"][k], "d": columns["a"][k]}
                joint |= {"theta": start[k] if revolute else made.numbers("th", self.n, 0.0)[k], "r": columns["b"][k]}
                if "aj" in made.known or self.side.motors:
                    joint["actuated"] = joints[k] in self.side.motors if self.side.motors else bool(driven[k])
            entry = {
                "name": links[k],
                "parent": links[parent - 1] if parent else "base",
                "joint": joint,
                "mass": columns["m"][k],
                "com": [columns[f"d{x}"][k] for x in "xyz"],
                "inertia": {key: x[k] for key, x in inertia.items() if x[k] or key in ("xx", "yy", "zz")},
            }
            draft.link(entry, self.at("bt"), mass=self.at("m"), inertia=self.at("Icxx"), joint=self.at("alp"))
        self._notes(free)
        self.side.loops(draft, dict(zip(joints, links)))

    def _start(self, free: bool) -> list[float]:
        """The initial angles: those of `initials.m` beside the file where it has any, else `th`."""
        draft, path = self.draft, Path(self.draft.document.name).with_name("initials.m")
        if path.is_file():
            initials = read_matlab_assignments(text_of_yaml_file(path), str(path))
            for name in ("th", "q"):
                if name in initials.known and initials.known[name].value.size == self.n:
                    draft.report.note(USED, f"`{name}` of initials.m")
                    return initials.numbers(name, self.n)
            draft.report.note(IGNORED, "initials.m", "it has no angles for all joints")
        return self.made.numbers("th", self.n, 0.0 if free else None)

    def _notes(self, free: bool) -> None:
        made, report = self.made, self.draft.report
        for name in (*VECTORS, *INERTIA.values(), "n", "r", "aj", "th", "g", "nq"):
            if name in made.known:
                report.note(USED, name, "", made.known[name].spot[0])
        for name in NOT_OF_ROBOTS:
            if name in made.known:
                report.note(IGNORED, name, "the run or the drawing needs it, not the robot", made.known[name].spot[0])
        meant = {*VECTORS, *INERTIA.values(), *NOT_OF_ROBOTS, "n", "r", "aj", "th", "g", "nq"}
        for name, spot in [
            *((x, y.spot) for x, y in made.known.items()),
            *((x, y[1]) for x, y in made.unknown.items()),
        ]:
            if name not in meant:
                hint = did_you_mean(name, meant, CLOSE) if len(name) > 2 else ""
                why = "the robot needs it at most through others" + (f"; {hint}" if hint else "")
                report.note(DROPPED if hint else IGNORED, name, why, spot[0])
        if made.known.get("type", Known(np.zeros(1), (1, 1))).value.ravel()[:1] == 1 and not self.side.file.closed_loop:
            why = "ReDySim has its loops as Jacobians in another file; --loops closes them here"
            report.note(CHANGED, "type", why, made.known["type"].spot[0])
        if free:
            report.note(
                CHANGED, "nq", "the floating base has Euler parameters here, not angles", made.known["nq"].spot[0]
            )
