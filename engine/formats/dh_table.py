"""Robots from tables of Denavit-Hartenberg parameters, in the letters of books and toolboxes."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InputError, Place, did_you_mean
from ..text import Document, text_of_yaml_file
from ..text.expressions import ExpressionError, name_and_unit_of_header, si_value_of_quantity, unit_in_si
from .pieces import FileEntry

MOST = 1000  # rows
GREEK = {"θ": "theta", "α": "alpha", "γ": "gamma", "σ": "sigma"}
SAME = {
    "th": "theta",
    "q": "theta",
    "alp": "alpha",
    "gam": "gamma",
    "sigma": "type",
    "jointtype": "type",
}
# of each convention, the sets of letters in use: what the columns have to be, and what each is here
LETTERS: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    "dh": (
        ("the papers' letters", {"a": "a", "b": "b", "alpha": "alpha", "theta": "theta"}),
        ("a and d, as most books and toolboxes", {"a": "a", "d": "b", "alpha": "alpha", "theta": "theta"}),
        ("r and d, as some books", {"r": "a", "d": "b", "alpha": "alpha", "theta": "theta"}),
        ("l and d", {"l": "a", "d": "b", "alpha": "alpha", "theta": "theta"}),
    ),
    "khalil": (
        ("Khalil's letters", {"d": "d", "r": "r", "alpha": "alpha", "theta": "theta", "gamma": "gamma", "b": "b"}),
        ("a and d, as Craig and most toolboxes", {"a": "d", "d": "r", "alpha": "alpha", "theta": "theta"}),
        ("a and b, as ReDySim", {"a": "d", "b": "r", "alpha": "alpha", "theta": "theta"}),
    ),
}
NEEDED = {"dh": ("a", "b"), "khalil": ("d", "r")}  # what tells the sets of letters apart
ANGLES = ("alpha", "theta", "gamma")
OTHERS = {
    **dict.fromkeys(("m", "mass"), "mass"),
    **{f"{c}{x}": f"com.{x}" for c in ("r", "c", "com", "com_", "d") for x in "xyz"},
    **{f"{i}{a}": f"inertia.{a}" for i in ("i", "j", "ic") for a in ("xx", "yy", "zz", "xy", "xz", "yz")},
    **dict.fromkeys(("qmin", "low", "lower"), "limits.0"),
    **dict.fromkeys(("qmax", "high", "upper"), "limits.1"),
    **dict.fromkeys(("b_m", "fv", "viscous", "damping"), "friction.viscous"),
    **dict.fromkeys(("tc", "fs", "fc", "coulomb"), "friction.coulomb"),
    **dict.fromkeys(("ia", "rotor", "armature"), "rotor_inertia"),
    "name": "name",
    "offset": "offset",
}
COUNTING = ("", "i", "j", "k", "no", "nr", "#")  # columns that only count rows
# a joint's coordinate, in the column of its variable
SYMBOL = r"(?<![\w.])(?:{})_?\{{?\d+\}}?(?:\(t\))?(?:\*(?=\s*(?:$|[-+])))?"
TURN = re.compile(SYMBOL.format("q|th|theta|phi"), re.IGNORECASE)
SLIDE = re.compile(SYMBOL.format("q|d|r|b|l|s"), re.IGNORECASE)
SIGNS = str.maketrans(
    {"π": "pi", "−": "-", "θ": "theta", "φ": "phi"} | {sub: str(k) for k, sub in enumerate("₀₁₂₃₄₅₆₇₈₉")}
)
KINDS = {
    "alpha": "angle",
    "theta": "angle",
    "gamma": "angle",
    "a": "length",
    "b": "length",
    "d": "length",
    "r": "length",
}
KINDS |= {"mass": "mass", "com": "length", "inertia": "inertia", "limits": "position", "offset": "position"}
KINDS |= {"friction": "number", "rotor_inertia": "number"}
TYPES = {"0": "revolute", "r": "revolute", "revolute": "revolute", "1": "prismatic", "p": "prismatic"}
TYPES |= {"prismatic": "prismatic", "2": "fixed", "f": "fixed", "fixed": "fixed"}


@dataclass
class Table:
    """A robot's data from a table, and sentences on how its columns were taken."""

    data: FileEntry
    said: list[str] = field(default_factory=list)


def read_dh_table(path: Path, name: str, convention: str) -> Table:
    """The robot of a table, whose first row names its columns."""
    reader = _Reader(path, convention)
    links = [reader.link(k, row) for k, row in enumerate(reader.rows)]
    said = reader.said
    if not any("mass" in link and link["mass"] for link in links):
        said.append("no masses: each link has mass 0 until the file says more, so nothing can move by itself")
    return Table({"name": name, "convention": convention, "links": links}, said)


class _Reader:
    """Reads rows by the meaning of their columns."""

    def __init__(self, path: Path, convention: str):
        text = text_of_yaml_file(path)
        self.document = Document(str(path), text)
        self.convention, self.said = convention, []  # type: tuple[str, list[str]]
        first = next((line for line in self.document.lines if line.strip()), "")
        delimiter = max(",;\t", key=first.count)
        try:
            found = [(k, row) for k, row in enumerate(csv.reader(self.document.lines, delimiter=delimiter), start=1)]
        except csv.Error as problem:
            raise InputError(f"this is no table: {problem}", place=Place(str(path))) from None
        found = [(k, row) for k, row in found if any(cell.strip() for cell in row) and not row[0].startswith("#")]
        if len(found) < 2:
            raise InputError("the table needs a row of names and a row for each joint", place=Place(str(path)))
        if len(found) > MOST:
            raise InputError(f"more than {MOST} rows", place=Place(str(path)))
        (self.line, head), self.rows = found[0], found[1:]
        self.columns, self.units = self._columns([cell.strip() for cell in head])
        for k, meaning in enumerate(self.columns):
            if meaning in ("joint", "link"):
                self.columns[k] = self._of_words(meaning, k)

    def _columns(self, head: list[str]) -> tuple[list[str], list[str]]:
        """What each column is here, and the unit in which its plain numbers are."""
        plain, units = [], []
        for cell in head:
            word, unit = name_and_unit_of_header(cell)
            if unit in ("i", "i-1", "i−1"):
                word, unit = cell, ""
            word = "".join(GREEK.get(c, c) for c in word).lower()
            word = re.sub(r"[_ ]*(i-1|\{i-1\}|i|prev)$", "", word.replace(" ", "")) if word not in OTHERS else word
            plain.append(SAME.get(word, word))
            try:
                units.append(unit_in_si(unit).written if unit else "")
            except ExpressionError as problem:
                place = self.document.spot(self.line, 1)
                allowed = "a unit, as in `d (mm)` or `alpha [deg]`, or a name without parentheses"
                message = f"the unit in this column's header can't be read: {problem}"
                raise InputError(message, place=place, found=f"`{cell}`", allowed=allowed) from None
        letters, own = self._letters(plain)
        result = []
        for cell, word in zip(head, plain):
            meaning = own.get(word) or (word if word in ("type", "joint", "link") else OTHERS.get(word))
            if meaning is None and word not in COUNTING:
                known = [*own, *OTHERS]
                place = self.document.spot(self.line, 1)
                hint = did_you_mean(word, known)
                raise InputError("unknown column", place=place, found=f"`{cell}`", allowed=", ".join(own), hint=hint)
            result.append(meaning or "")
        pairs = ", ".join(f"{cell} is `{word}`" for cell, word in zip(head, result) if word)
        self.said.append(f"columns by {letters}: {pairs}")
        return result, units

    def _of_words(self, meaning: str, k: int) -> str:
        """What a column `joint` or `link` says: types, names, or nothing but the places of rows, which is empty."""
        cells = [(line, row[k].strip()) for line, row in self.rows if k < len(row) and row[k].strip()]
        numbers = [cell for _, cell in cells if cell.isdecimal()]
        if len(numbers) == len(cells):
            if [int(cell) for cell in numbers] not in ([*range(len(cells))], [*range(1, len(cells) + 1)]):
                hint = "types of joints stand in a column `type` or `sigma`"
                raise self._error(self.line, f"the numbers in the column `{meaning}` don't count the rows", hint=hint)
            self.said.append(f"the column `{meaning}` counts the rows")
            return ""
        if meaning == "joint" and "type" not in self.columns and any(cell.lower() in TYPES for _, cell in cells):
            return "type"
        self.said.append(f"the column `{meaning}` has the names of {meaning}s")
        return "name" if meaning == "link" else "joint"

    def _letters(self, plain: list[str]) -> tuple[str, dict[str, str]]:
        """The set of letters that the columns are in."""
        for title, own in LETTERS[self.convention]:
            back = {here: there for there, here in own.items()}
            needed = {back[here] for here in NEEDED[self.convention]}
            others = {"a", "b", "d", "r", "l"} - set(own)
            if needed <= set(plain) and not others & set(plain):
                return title, own
        sets = "; ".join("theta, " + ", ".join(k for k in own if k != "theta") for _, own in LETTERS[self.convention])
        place = self.document.spot(self.line, 1)
        message = f"these columns are no parameters of the convention `{self.convention}`"
        raise InputError(message, place=place, found=", ".join(plain), allowed=sets)

    def link(self, k: int, row: tuple[int, list[str]]) -> FileEntry:
        """The entry of a link."""
        line, cells = row
        given = {
            key: (cell.strip(), unit)
            for key, unit, cell in zip(self.columns, self.units, cells)
            if key and cell.strip()
        }
        variable = {"revolute": "theta", "prismatic": "b" if self.convention == "dh" else "r"}
        kind = self._kind(line, given, variable["prismatic"])
        joint: FileEntry = {"type": kind}
        entry: FileEntry = {"name": f"link{k + 1}", "joint": joint}
        for key, (text, unit) in given.items():
            section, _, part = key.partition(".")
            if key == "name":
                entry["name"] = text
            elif key == "joint":
                joint["name"] = text
            elif key in ("type", "offset"):
                continue
            elif section in KINDS and section in (*ANGLES, "a", "b", "d", "r"):
                moving = variable.get(kind) == key
                joint[key] = (
                    self._coordinate(line, section, text, unit) if moving else self._value(line, section, text, unit)
                )
            else:
                value = self._value(line, section, text, unit)
                home = joint if section in ("limits", "friction", "rotor_inertia") else entry
                if part:
                    home.setdefault(section, {})[part] = value
                else:
                    home[section] = value
        if "offset" in given and kind in variable:
            key = variable[kind]
            joint[key] = joint.get(key, 0.0) + self._value(line, "offset", *given["offset"])
            self.said.append(f"joint {k + 1}: its coordinate is `{key}` whole, its offset included")
        if "com" in entry:
            entry["com"] = [entry["com"].get(x, 0.0) for x in "xyz"]
            if self.convention == "dh":
                entry["com_from"] = "end"
        elif entry.get("mass"):
            entry["com"] = [0.0, 0.0, 0.0]
        if "inertia" in entry:
            entry["inertia"] = {"xx": 0.0, "yy": 0.0, "zz": 0.0} | entry["inertia"]
            if self.convention == "dh":
                entry["frame"] = "end"
        if "limits" in joint:
            if len(joint["limits"]) < 2:
                raise self._error(line, "a limit needs the other one beside it")
            joint["limits"] = [joint["limits"]["0"], joint["limits"]["1"]]
        entry.setdefault("mass", 0.0)
        return entry

    def _kind(self, line: int, given: dict[str, tuple[str, str]], slide: str) -> str:
        """The type of a joint: what the table says, or which of its two variables is a symbol."""
        if "type" in given:
            word = given["type"][0].lower()
            if word not in TYPES:
                raise self._error(line, "unknown type of joint", found=f"`{word}`", allowed="0, R, 1, P, 2, fixed")
            return TYPES[word]
        turn, along = (given.get(key, ("", ""))[0] for key in ("theta", slide))
        turns, slides = (way.search(text.translate(SIGNS)) for way, text in ((TURN, turn), (SLIDE, along)))
        if turns and slides:
            allowed = "a number for the one that doesn't move, or a column `type`"
            raise self._error(line, "two symbols: which of them moves?", found=f"`{turn}`, `{along}`", allowed=allowed)
        return "prismatic" if slides else "revolute"

    def _coordinate(self, line: int, section: str, text: str, unit: str) -> float:
        """A joint's variable where its coordinate is 0: in it a symbol such as q1 stands for the coordinate."""
        symbol = TURN if section == "theta" else SLIDE
        zero, one = (
            self._value(line, section, symbol.sub(f"({k})", text.translate(SIGNS)), unit, shown=text) for k in (0, 1)
        )
        if zero != one and abs(one - zero - self._value(line, section, "1", unit)) > 1e-9:
            message = "the coordinate has to stand here by itself, once and with a plus sign"
            raise self._error(line, message, found=f"`{text}`", allowed="such as `q1` or `q1 + pi/2`")
        return zero

    def _value(self, line: int, section: str, text: str, unit: str, *, shown: str = "") -> float:
        """A number in SI units."""
        text = text.translate(SIGNS)
        try:
            return float(si_value_of_quantity(f"({text}) {unit}" if unit else text, KINDS[section]))
        except ExpressionError as problem:
            symbol = TURN.search(text) or SLIDE.search(text)
            hint = "a symbol stands for the joint's own coordinate alone; what doesn't move needs a number"
            raise self._error(line, str(problem), found=f"`{shown or text}`", hint=hint if symbol else "") from None

    def _error(self, line: int, message: str, *, found: str = "", allowed: str = "", hint: str = "") -> InputError:
        return InputError(message, place=self.document.spot(line, 1), found=found, allowed=allowed, hint=hint)
