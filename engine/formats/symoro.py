"""SYMORO's `.par` files: Khalil's parameters of trees and closed loops, with inertias about the links' origins."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import did_you_mean
from ..text.expressions import ExpressionError, evaluate_expression
from .draft import Draft
from .pieces import FileEntry
from .report import CHANGED, DROPPED, IGNORED, USED
from .side import Side
from .xml import Element

_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_NAME = re.compile(r"\(\*\s*Robotname\s*=\s*'([^']*)'\s*\*\)")
_ASSIGNED = re.compile(r"([A-Za-z]\w*)\s*=\s*(\{[^{}]*\}|[^\s{}]+)")
_SYMBOL = re.compile(r"[A-Za-z_]\w*")
PARAMETERS = {"gamma": "gamma", "b": "b", "alpha": "alpha", "d": "d", "theta": "theta", "r": "r"}
TENSOR = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
TYPES = {0: "revolute", 1: "prismatic", 2: "fixed"}
MOST = 1000
NOTHING = ("0", "0.0", "")
RUN = ("QP", "QDP", "GAM", "eta", "k", "Type", "W0", "WP0", "V0", "VP0", "Z")
CLOSE = 0.7  # how near a name is to one that was meant


@dataclass(frozen=True)
class Values:
    """The entries of a list, as texts, and where it stands."""

    entries: tuple[str, ...]
    at: Element


def recognises_symoro(name: str, text: str) -> bool:
    """Whether a file is SYMORO's."""
    return bool(re.search(r"^\s*ant\s*=\s*\{", text, re.MULTILINE) and re.search(r"^\s*sigma\s*=", text, re.MULTILINE))


def read_symoro(draft: Draft, side: Side) -> None:
    """Fills the draft from a parameter file."""
    _Reader(draft, draft.document.text, side).read()


class _Reader:
    """Turns the lists into links with Khalil's parameters, and further frames into cuts."""

    def __init__(self, draft: Draft, text: str, side: Side):
        self.draft, self.side = draft, side
        named = _NAME.search(text)
        draft.named(named[1] if named else "")
        self.meant: set[str] = set()  # names that are read, or that other entries refer to
        plain = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        self.given: dict[str, Values] = {}
        for match in _ASSIGNED.finditer(plain):
            line = plain.count("\n", 0, match.start()) + 1
            column = match.start() - (plain.rfind("\n", 0, match.start()) + 1) + 1
            words = [word.strip() for word in match[2].strip("{}").split(",")]
            self.given[match[1]] = Values(tuple(words), Element(match[1], {}, line, column, draft.document))
        left = _ASSIGNED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), plain)
        for k, one in enumerate(left.splitlines()):
            if one.strip():
                at = Element("line", {}, k + 1, 1, draft.document)
                draft.note(DROPPED, f"`{' '.join(one.split())[:40]}`", "it is no assignment", at)
        self.root = Element("file", {}, 1, 1, draft.document)

    # ---- numbers

    def count(self, name: str) -> int:
        """A whole number that the file has to give."""
        value = self.numbers(name, 1, required=True)[0]
        if value != int(value) or not 0 <= value <= MOST:
            raise self.draft.error(self.given[name].at, "not a number of links or frames", found=f"{value:g}")
        return int(value)

    def numbers(
        self, name: str, count: int, *, required: bool = False, variable: frozenset[int] = frozenset()
    ) -> list[float]:
        """The numbers of a list; entries in `variable` may be symbols, which are 0, for they are what moves."""
        values = self.given.get(name)
        self.meant.add(name)
        if values is None:
            if required:
                raise self.draft.error(self.root, f"`{name}` is missing", allowed=f"{name} = {{…}}")
            return [0.0] * count
        if len(values.entries) < count:
            raise self.draft.error(values.at, f"{count} entries are needed", found=str(len(values.entries)))
        result = []
        for k, word in enumerate(values.entries[:count]):
            symbol = any(
                one not in ("pi", "sin", "cos", "sqrt") for one in _SYMBOL.findall(re.sub(r"\d[eE][+-]?\d", "0", word))
            )
            result.append(0.0 if k in variable and symbol else self._number(values, k, word))
        self.draft.note(USED, name, "", values.at)
        if any(word not in NOTHING for word in values.entries[count:]):
            self.draft.note(DROPPED, name, f"there are more than {count} entries", values.at)
        return result

    def _number(self, values: Values, k: int, word: str, depth: int = 0) -> float:
        """The value of an entry; symbols take those of lines such as `d3 = 0.45`."""
        text = word
        for symbol in {*_SYMBOL.findall(re.sub(r"\d[eE][+-]?\d", "0", word))} - {"pi", "sin", "cos", "tan", "sqrt"}:
            known = self.given.get(symbol)
            if known is None or len(known.entries) != 1 or depth > 10:
                hint = f"a line `{symbol} = 0.45`, say, gives it one"
                raise self.draft.error(values.at, f"entry {k + 1}: `{symbol}` has no number", hint=hint)
            self.meant.add(symbol)
            value = self._number(known, 0, known.entries[0], depth + 1)
            text = re.sub(rf"\b{symbol}\b", f"({value!r})", text)
        try:
            return float(evaluate_expression(text))
        except ExpressionError as problem:
            message = f"entry {k + 1}: {problem}"
            raise self.draft.error(values.at, message, found=f"`{word[:40]}`") from None

    # ---- the robot

    def read(self) -> None:
        draft = self.draft
        links, joints, frames = (self.count(name) for name in ("NL", "NJ", "NF"))
        if not 1 <= links <= joints <= frames or frames - joints != joints - links:
            found = f"NL = {links}, NJ = {joints}, NF = {frames}"
            raise draft.error(self.root, "these counts don't fit", found=found, allowed="NF = 2 NJ - NL")
        if any(self.numbers("is_mobile", 1)):
            raise draft.error(self.given["is_mobile"].at, "a mobile base can't be read", allowed="is_mobile = 0")
        draft.data["convention"] = "khalil"
        draft.data["gravity"] = self.numbers("G", 3)
        sigma = [int(x) for x in self.numbers("sigma", frames, required=True)]
        ant = [int(x) for x in self.numbers("ant", frames, required=True)]
        for k in range(frames):
            if sigma[k] not in TYPES or not 0 <= ant[k] <= links:
                at = self.given["sigma" if sigma[k] not in TYPES else "ant"].at
                raise draft.error(at, f"entry {k + 1} isn't one of its values", allowed="sigma 0, 1, 2; ant 0 to NL")
        moving = {"theta": frozenset(k for k in range(joints) if sigma[k] == 0)}
        moving["r"] = frozenset(k for k in range(joints) if sigma[k] == 1)
        geometry = {
            key: self.numbers(name, frames, variable=moving.get(key, frozenset())) for key, name in PARAMETERS.items()
        }
        names, own = draft.links.numbered(links), draft.joints.numbered(links)
        self.side.check(draft)
        mu = self.numbers("mu", joints) if "mu" in self.given else None
        self._links(names, own, sigma, ant, geometry, mu)
        for k in range(links, joints):
            self._cut(k, joints, links, names, sigma, ant, geometry)
        self._rest()
        self.side.loops(draft, dict(zip(own, names)))

    def _links(
        self,
        names: list[str],
        own: list[str],
        sigma: list[int],
        ant: list[int],
        geometry: dict[str, list[float]],
        mu: list[float] | None,
    ) -> None:
        """Adds the links with their joints, masses and losses."""
        n = len(names)
        tensor = {key.lower(): self.numbers(key, n) for key in TENSOR}
        first = [self.numbers(key, n) for key in ("MX", "MY", "MZ")]
        mass, rotor, viscous, coulomb = (self.numbers(key, n) for key in ("M", "IA", "FV", "FS"))
        loads = {key: self.numbers(key, n) for key in ("FX", "FY", "FZ", "CX", "CY", "CZ")}
        for k in range(n):
            joint: FileEntry = {"type": TYPES[sigma[k]], "name": own[k]}
            joint |= {key: values[k] for key, values in geometry.items() if values[k]}
            if sigma[k] != 2:
                if mu is not None:
                    joint["actuated"] = bool(mu[k])
                if viscous[k] or coulomb[k]:
                    joint["friction"] = {"viscous": viscous[k], "coulomb": coulomb[k]}
                if rotor[k]:
                    joint["rotor_inertia"] = rotor[k]
            entry: FileEntry = {
                "name": names[k],
                "parent": names[ant[k] - 1] if ant[k] else "base",
                "joint": joint,
            }
            entry |= {"mass": mass[k], "first_moments": [x[k] for x in first], "about": "origin"}
            entry["inertia"] = {key: x[k] for key, x in tensor.items() if x[k] or key in ("xx", "yy", "zz")}
            at = {name: self.given[name].at for name in ("ant", "alpha", "M", "XX", "MX") if name in self.given}
            root = at.get("ant", self.root)
            self.draft.link(
                entry, root, joint=at.get("alpha"), mass=at.get("M"), inertia=at.get("XX"), first_moments=at.get("MX")
            )
            force, moment = (
                [0.0 - loads[key][k] for key in ("FX", "FY", "FZ")],
                [0.0 - loads[key][k] for key in ("CX", "CY", "CZ")],
            )
            if any(force) or any(moment):  # SYMORO's act from the link on what is around it
                self.draft.data.setdefault("wrenches", []).append({"link": names[k], "force": force, "moment": moment})

    def _cut(
        self,
        k: int,
        joints: int,
        links: int,
        names: list[str],
        sigma: list[int],
        ant: list[int],
        geometry: dict[str, list[float]],
    ) -> None:
        """Adds the cut joint k + 1 between its own frame, in its motion's zero, and the one that lies on it."""
        other = joints + k - links
        name = self.draft.joints.take(f"joint{k + 1}", 0, made=True)
        between = [names[ant[j] - 1] if ant[j] else "base" for j in (k, other)]
        entry: FileEntry = {"name": name, "joint": TYPES[sigma[k]], "between": between}
        for key, j in (("first", k), ("second", other)):
            frame = {name: values[j] for name, values in geometry.items() if values[j]}
            if j == k:  # the joint's own motion
                frame.pop({0: "theta", 1: "r"}.get(sigma[k], ""), None)
            if frame:
                entry[key] = frame
        self.draft.put("loops", entry, self.given["ant"].at)

    def _rest(self) -> None:
        draft = self.draft
        for name in ("W0", "WP0", "V0", "VP0"):
            if name in self.given and any(word not in NOTHING for word in self.given[name].entries):
                draft.note(DROPPED, name, "the base doesn't move here", self.given[name].at)
        identity = [float(k % 5 == 0) for k in range(16)]
        if "Z" in self.given and self.numbers("Z", 16) != identity:
            draft.note(CHANGED, "Z", "the base frame is SYMORO's frame 0, whatever the world's is", self.given["Z"].at)
        for name, values in self.given.items():
            if name in RUN:
                draft.note(IGNORED, name, "it belongs to a run, or follows from the rest", values.at)
            elif name not in self.meant:
                hint = did_you_mean(name, self.meant, CLOSE)
                why = "nothing refers to it" + (f"; {hint}" if hint else "")
                draft.note(DROPPED if hint else IGNORED, name, why, values.at)
