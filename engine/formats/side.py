"""The file beside a robot's that closes its loops: the one of Extended URDF, with names of links, frames and motors."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ..errors import InputError, allowed_names, did_you_mean
from ..robot import CUTS
from ..robot.read import Coordinates, Oriented
from ..text import Document, Keys
from ..text.fields import Choice, Or, Point, Strict, checked_document_model, field_of_several
from .draft import Draft
from .pieces import FileEntry
from .report import DROPPED, USED

SHORT = {"3d": "spherical", "6d": "fixed", "3D": "spherical", "6D": "fixed"}
MOVES = {"SPHERICAL": "spherical", "FIXED": "fixed"} | {
    f"UJOINT_{one}{two}": f"universal-{one}{two}" for one in "XYZ" for two in "XYZ" if one != two
}


class SideFrame(Oriented):
    """A frame in a link."""

    link: str = Field(description="of the robot")
    at: Point = Field(default=(0.0, 0.0, 0.0), description="its origin, link axes")


def _frame(value: Any) -> Any:
    return {"link": value} if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Frame = Annotated[SideFrame, BeforeValidator(_frame), Or((("type", "string"),))]
Cut = Annotated[str, Choice(SHORT, CUTS)]


class SideFile(Strict):
    """The keys of a side file; those of Extended URDF, with frames beside names."""

    closed_loop: list[Annotated[tuple[Frame, Frame], field_of_several(2, "frames")]] = Field(
        default=[], description="pairs of links, joints (the frame of the link on it) or frames that coincide"
    )
    type: list[Cut] = Field(default=[], description="for each pair `3d`, `6d` or a type of cut; default 6d")
    name_mot: Annotated[list[str], BeforeValidator(_listed)] = Field(default=[], description="joints with an actuator")
    joint_name: list[str] = Field(default=[], description="joints with another type than in the robot's file")
    joint_type: list[Annotated[str, Choice(MOVES)]] = Field(default=[], description="for each of these its type")
    assembly: dict[str, Coordinates] = Field(default={}, description="a guess of the closed position, by joint")


@dataclass
class Side:
    """What a side file says, by the names of the robot's own file; empty where there is none."""

    document: Document | None = None
    file: SideFile = field(default_factory=SideFile)

    @property
    def motors(self) -> set[str]:
        return {*self.file.name_mot}

    @property
    def types(self) -> dict[str, str]:
        """The type of each joint that isn't what the robot's file says."""
        return dict(zip(self.file.joint_name, (MOVES[kind] for kind in self.file.joint_type)))

    def check(self, draft: Draft) -> None:
        """Refuses lists of different lengths; names that aren't there are noted."""
        if self.document is None:
            return
        for many, key in ((self.file.closed_loop, "type"), (self.file.joint_name, "joint_type")):
            there = getattr(self.file, key)
            if there and len(there) != len(many):
                found, allowed = str(len(there)), f"{len(many)}, as many as there are entries"
                raise self.document.error((key,), "not a type for each entry", key=True, found=found, allowed=allowed)
        for key in ("name_mot", "joint_name"):
            for name in getattr(self.file, key):
                if name not in draft.joints.own:
                    hint = did_you_mean(name, draft.joints.own)
                    why = "the robot has no such joint" + (f"; {hint}" if hint else "")
                    draft.report.note(DROPPED, f"{key} `{name}` of {self.document.name}", why)

    def loops(self, draft: Draft, carrier: dict[str, str]) -> None:
        """Adds the cuts to the draft; `carrier` has the link on each joint, by the file's names."""
        if self.document is None:
            return
        for k, pair in enumerate(self.file.closed_loop):
            kind = self.file.type[k] if self.file.type else "6d"
            between, sides = [], []
            for s, frame in enumerate(pair):
                path: Keys = ("closed_loop", k, s)
                between.append(self._link(frame.link, draft, carrier, path))
                sides.append({key: _plain(getattr(frame, key)) for key in frame.model_fields_set if key != "link"})
            name = draft.joints.take(f"loop{k + 1}", 0, made=True)
            entry: FileEntry = {"name": name, "joint": SHORT.get(kind, kind), "between": between}
            entry |= {key: one for key, one in zip(("first", "second"), sides) if one}
            draft.data.setdefault("loops", []).append(entry)
            draft.report.note(USED, "closed_loop")
        if self.file.assembly:
            for name in self.file.assembly:
                if name not in draft.joints.own and name not in draft.joints.own.values():
                    raise self._unknown(("assembly", name), name, list(draft.joints.own), "joint")
            names = {draft.joints.own.get(name, name): list(q) for name, q in self.file.assembly.items()}
            draft.data["assembly"] = draft.data.get("assembly", {}) | names

    def _link(self, name: str, draft: Draft, carrier: dict[str, str], path: Keys) -> str:
        """The robot's link of this name, or on the joint of this name."""
        own = draft.links.own.get(carrier.get(name, name)) or draft.links.own.get(name)
        if own is None and name in ("base", "world"):
            return "base"
        if own is None:
            raise self._unknown(path, name, [*draft.links.own, *carrier])
        return own

    def _unknown(self, path: Keys, name: str, known: list[str], what: str = "link or joint") -> InputError:
        assert self.document is not None
        return self.document.error(path, f"no such {what}", found=f"`{name}`", **allowed_names(name, known, 20))


def _plain(value: Any) -> Any:
    return [_plain(x) for x in value] if isinstance(value, tuple) else value


def read_side_file_of_loops(document: Document) -> Side:
    """What a side file says, which is YAML."""
    return Side(document, checked_document_model(SideFile, document, document.data))
