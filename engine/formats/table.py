"""Robots from files of any known format, names of the library, and text; the formats are rows of one table.

A row says how a file is recognised, how it is read and, if denoc writes the format, how. A new format is a new row. The
readers of formats other than denoc's own are imported with the first such file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError, Place
from ..robot import Robot
from ..robot.read import build_robot
from ..text import Document, find_library_file, parse_yaml_document, read_yaml_document, text_of_yaml_file, yaml_text
from .report import Report

if TYPE_CHECKING:
    from .draft import Draft
    from .side import Side
    from .xml import Element


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


def _by_root(*tags: str) -> Callable[[str, str], bool]:
    def recognises(name: str, text: str) -> bool:
        from .xml import xml_root_tag

        return xml_root_tag(text) in tags

    return recognises


def _xml(fill: Callable[[Draft, Element, Side], None]) -> Callable[[Source], Converted]:
    """A reader of XML, from a function that fills a draft from the root element."""

    def read(source: Source) -> Converted:
        from .draft import Draft
        from .side import Side
        from .xml import parsed_xml

        document, root = parsed_xml(source.text, source.name)
        report = Report(source.name)
        draft = Draft(document, report, floating=source.floating)
        fill(draft, root, source.side or Side())
        return Converted(draft.finished(), report)

    return read


def _urdf(draft: Draft, root: Element, side: Side) -> None:
    from .urdf import read_urdf

    read_urdf(draft, root, side)


def _mjcf(draft: Draft, root: Element, side: Side) -> None:
    from .mjcf import read_mjcf

    read_mjcf(draft, root, side)


def _sdf(draft: Draft, root: Element, side: Side) -> None:
    from .sdf import read_sdf

    read_sdf(draft, root, side)


def _redysim(source: Source) -> Converted:
    from .redysim import converted_from_redysim
    from .side import Side

    return Converted(
        *converted_from_redysim(source.name, source.text, floating=source.floating, side=source.side or Side())
    )


def _is_redysim(name: str, text: str) -> bool:
    from .redysim import recognises_redysim

    return recognises_redysim(name, text)


def _symoro(source: Source) -> Converted:
    from .side import Side
    from .symoro import converted_from_symoro

    return Converted(
        *converted_from_symoro(source.name, source.text, floating=source.floating, side=source.side or Side())
    )


def _is_symoro(name: str, text: str) -> bool:
    from .symoro import recognises_symoro

    return recognises_symoro(name, text)


def _yaml(source: Source) -> Converted:
    """A file in denoc's own format, as it stands."""
    for wanted, option in ((source.floating, "--floating"), (source.side is not None, "--loops")):
        if wanted:
            hint = "`type: free` of the first joint, and `loops`, say it in this format"
            raise InputError(f"{option} is for files in other formats", place=Place(source.name), hint=hint)
    return Converted(parse_yaml_document(source.text, source.name), Report(source.name))


def _as_urdf(robot: Robot) -> Written:
    from .urdf_write import write_urdf

    return Written(*write_urdf(robot))


def _as_mjcf(robot: Robot) -> Written:
    from .mjcf_write import write_mjcf

    return Written(*write_mjcf(robot))


def _as_redysim(robot: Robot) -> Written:
    from .redysim_write import write_redysim

    return Written(*write_redysim(robot))


def _as_yaml(robot: Robot) -> Written:
    """The robot's file as denoc has it, which loses nothing."""
    assert robot.document is not None
    return Written(yaml_text(robot.document.data), Report(robot.name))


BINARY = (".mat",)  # whose readers open the file themselves

FORMATS = {
    row.name: row
    for row in (
        Format("urdf", "URDF", (".urdf", ".xml", ".xacro"), _by_root("robot"), _xml(_urdf), _as_urdf),
        Format("mjcf", "MJCF", (".xml", ".mjcf"), _by_root("mujoco"), _xml(_mjcf), _as_mjcf, beside=True),
        Format("sdf", "SDF", (".sdf", ".world", ".xml"), _by_root("sdf"), _xml(_sdf)),
        Format("redysim", "ReDySim", (".m", ".mat"), _is_redysim, _redysim, _as_redysim, beside=True),
        Format("symoro", "SYMORO", (".par",), _is_symoro, _symoro),
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
