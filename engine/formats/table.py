"""Robots from files of any known format, names of the library, and text; the formats are rows of one table.

A row says how a file is recognised, how it is read and, if denoc writes the format, how. A new format is a new row. The
readers of formats other than denoc's own are imported with the first such file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, Place
from ..robot import Robot
from ..robot.read import build_robot
from ..text import Document, find_library_file, parse_yaml_document, read_yaml_document, text_of_yaml_file, yaml_text
from .report import Report

if TYPE_CHECKING:
    from .side import Side


@dataclass(frozen=True)
class Source:
    """The text of a robot's file, and how its user wants it read."""

    name: str
    text: str
    floating: bool = False
    side: Side | None = None


@dataclass(frozen=True)
class Converted:
    """A robot's file in denoc's own keys, with the places of the original, and what became of the original's parts."""

    document: Document
    report: Report


@dataclass(frozen=True)
class Written:
    """The text of a robot in a format, and what the format couldn't hold."""

    text: str
    report: Report


@dataclass(frozen=True)
class Format:
    """A format: its title, the suffixes of its files, whether a text is of it, its reader, and its writer if any."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    recognises: Callable[[str, str], bool]  # of the file's name and text
    read: Callable[[Source], Converted]
    write: Callable[[Robot], Written] | None = None
    beside: bool = False  # whether its robots are also read from files beside their own


def _called(module: str, name: str, *given: object) -> Any:
    """What a function of a module of this room gives, which is imported with its first use."""
    return getattr(import_module(f".{module}", __package__), name)(*given)


def _has_root(tag: str, name: str, text: str) -> bool:
    """Whether a text is XML whose root has this tag."""
    return bool(_called("xml", "xml_root_tag", text) == tag)


def _read(module: str, name: str, source: Source, *, xml: bool = False) -> Converted:
    """A robot's file from a function that fills a draft, which gets the root element if the source is XML."""
    from .draft import Draft
    from .side import Side
    from .xml import parsed_xml

    document, *root = parsed_xml(source.text, source.name) if xml else (Document(source.name, source.text),)
    report = Report(source.name)
    draft = Draft(document, report, floating=source.floating)
    _called(module, name, draft, *root, source.side or Side())
    return Converted(draft.finished(), report)


def _written(module: str, name: str, robot: Robot) -> Written:
    return Written(*_called(module, name, robot))


def _yaml(source: Source) -> Converted:
    """A file in denoc's own format, as it stands."""
    for wanted, option in ((source.floating, "--floating"), (source.side is not None, "--loops")):
        if wanted:
            hint = "`type: free` of the first joint, and `loops`, say it in this format"
            raise InputError(f"{option} is for files in other formats", place=Place(source.name), hint=hint)
    return Converted(parse_yaml_document(source.text, source.name), Report(source.name))


def _as_yaml(robot: Robot) -> Written:
    """The robot's file as denoc has it, which loses nothing."""
    assert robot.document is not None
    return Written(yaml_text(robot.document.data), Report(robot.name))


BINARY = (".mat",)  # whose readers open the file themselves

FORMATS = {
    row.name: row
    for row in (
        Format(
            "urdf",
            "URDF",
            (".urdf", ".xml", ".xacro"),
            partial(_has_root, "robot"),
            partial(_read, "urdf", "read_urdf", xml=True),
            partial(_written, "urdf_write", "write_urdf"),
        ),
        Format(
            "mjcf",
            "MJCF",
            (".xml", ".mjcf"),
            partial(_has_root, "mujoco"),
            partial(_read, "mjcf", "read_mjcf", xml=True),
            partial(_written, "mjcf_write", "write_mjcf"),
            beside=True,
        ),
        Format(
            "sdf",
            "SDF",
            (".sdf", ".world", ".xml"),
            partial(_has_root, "sdf"),
            partial(_read, "sdf", "read_sdf", xml=True),
        ),
        Format(
            "redysim",
            "ReDySim",
            (".m", ".mat"),
            partial(_called, "redysim", "recognises_redysim"),
            partial(_read, "redysim", "read_redysim"),
            partial(_written, "redysim_write", "write_redysim"),
            beside=True,
        ),
        Format(
            "symoro",
            "SYMORO",
            (".par",),
            partial(_called, "symoro", "recognises_symoro"),
            partial(_read, "symoro", "read_symoro"),
        ),
        # what no other format recognises is taken for denoc's own
        Format("yaml", "denoc", (".yaml", ".yml"), lambda name, text: False, _yaml, _as_yaml),
    )
}


def read_any_robot_format(source: Source) -> Converted:
    """The robot's file that a source is, in denoc's own keys; numbers that overflow are refused where they end up."""
    with np.errstate(all="ignore"):
        return robot_format_of_file(source.name, source.text).read(source)


def robot_format_of_file(name: str, text: str) -> Format:
    """The format of a file: by its text among the formats with its suffix, then among all."""
    suffix = Path(name).suffix.lower()
    if suffix in FORMATS["yaml"].suffixes:
        return FORMATS["yaml"]
    from .xml import xml_root_tag

    fitting = [row for row in FORMATS.values() if suffix in row.suffixes]
    others = [row for row in FORMATS.values() if row not in fitting]
    for row in (*fitting, *others):
        if row.recognises(name, text):
            return row
    tag = xml_root_tag(text)
    if fitting or tag:
        titles = ", ".join(row.title for row in FORMATS.values())
        found = f"<{tag}>" if tag else " ".join(text.split())[:40]
        raise InputError("this is no robot that denoc reads", place=Place(name), found=found, allowed=titles)
    return FORMATS["yaml"]


def load(path_or_name: str | Path, *, floating: bool = False, loops: str | Path | None = None) -> Robot:
    """The robot of a file, or of the library.

    Files in other formats than denoc's own may be `floating`, their root free to move; `loops` names the file beside
    them that says how their loops close.
    """
    return build_robot(
        converted_from_any_format(find_library_file(path_or_name, "robots"), floating=floating, loops=loops).document
    )


def converted_from_any_format(path: Path, *, floating: bool = False, loops: str | Path | None = None) -> Converted:
    """A robot's file of any format in denoc's own keys, with a report of what became of its parts."""
    text = "" if path.suffix.lower() in BINARY else text_of_yaml_file(path)
    side = None
    if loops is not None:
        from .side import read_side_file_of_loops

        side = read_side_file_of_loops(read_yaml_document(Path(loops)))
    return read_any_robot_format(Source(str(path), text, floating, side))


def load_shared_robot(path: Path) -> Robot:
    """The robot of a file, which is the same object as long as what it is read from says the same.

    All runs of one robot in a process so have one set of programs, and read its file once.
    """
    if path.suffix.lower() in BINARY:
        return load(path)
    text, name = text_of_yaml_file(path), str(path)
    last = _shared(text, name)
    if last and not robot_format_of_file(name, text).beside:
        return last[0]
    document = read_any_robot_format(Source(name, text)).document
    if not last or last[0].document is None or last[0].document.data != document.data:
        last[:] = [build_robot(document)]
    return last[0]


@lru_cache(maxsize=32)
def _shared(text: str, name: str) -> list[Robot]:
    """Holds the robot that a file with this text had last; other files beside it may make it another one."""
    return []


def loads(yaml_text: str, name: str = "<text>") -> Robot:
    """The robot that the YAML text describes."""
    return build_robot(parse_yaml_document(yaml_text, name))
