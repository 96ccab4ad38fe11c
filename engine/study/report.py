"""A stored result as a report, one HTML file, or a PDF, that says what was computed, from what, and how well.

A robot in a notebook is shown by parts of the same: its tree as a table, and its sketch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AssemblyError
from ..mechanics.assembly import assemble
from ..record import (
    HEADER,
    PLOTS,
    SHEET,
    Drawing,
    Look,
    column_extremes,
    figures_of_result,
    html_image_of_figure,
    largest_plotted_value,
    text_on_sheets,
    write_sheets,
)
from ..record.pages import PLAYER, html_page_with_machine, html_table, html_text
from ..record.sketch import Poses, Say, Scene, silence_sketch_warning, sketch_figure
from ..robot import Link, Robot
from ..scenario import ENDING, EnergyBalance, Stored, error_sentences
from ..text import DOCUMENT_BYTES, content_of_file, count_with_noun
from .animate import (
    SCRIPTS,
    animation_coordinates,
    animation_data,
    animation_scene_of_result,
    thinned_animation_rows,
)
from .staging import stage_scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOINTS = ("joint", "type", "from", "to", "initial", "actuated", "mass (kg)")


def robot_html(robot: Robot) -> str:
    """The HTML of a robot, sketched in the position in which its loops close. Names are escaped."""
    q, note = robot.q0, ""
    if robot.tied:
        try:
            q = tuple(float(x) for x in assemble(robot, robot.q0))
        except AssemblyError as error:
            note = f"<p>{html_text(str(error))}</p>"
    about = f"<p>{html_text(robot.about)}</p>" if robot.about else ""
    shown = html_image_of_figure(robot.name, sketch_figure(*stage_scene(robot, q)))
    table = html_table(JOINTS, notebook_joint_rows(robot, q))
    return f"<h4>{html_text(repr(robot))}</h4>{about}{note}{table}{shown}"


def notebook_joint_rows(robot: Robot, q: Sequence[float]) -> list[tuple[str, ...]]:
    """The rows of a table under `JOINTS`, with q as initial positions: the joints of the tree, then the cuts."""
    cuts = [(loop.name, f"{loop.type.name}, cut", *loop.between, "", "", "") for loop in robot.loops]
    return [*(_row(link, q) for link in robot.links), *cuts]


def _row(link: Link, q: Sequence[float]) -> tuple[str, ...]:
    joint = link.joint
    initial = ", ".join(f"{q[k] + 0.0:.5g}" for k in joint.coordinates)
    actuated = "yes" if joint.actuated else "no" if joint.type.nv else ""
    return joint.name, joint.type.name, link.parent, link.name, initial, actuated, f"{link.mass:.5g}"


GRADES = ("good", "doubtful", "bad")


@dataclass(frozen=True)
class ReportVerdict:
    """What a reader should think of a result, one of `GRADES`, and why."""

    grade: str
    sentences: tuple[str, ...]


def report_verdict(kept: Stored) -> ReportVerdict:
    """The verdict on a result, from its own record."""
    record, audit = kept.record, kept.record.get("audit", {})
    grades, said = ["good"], []
    if record.get("ended") == record.get("expected"):
        said.append(f"The run ended as expected ({record.get('ended')}), with {count_with_noun(len(kept.t), 'row')}.")
    else:
        grades.append("bad")
        said.append(f"The run ended otherwise than expected ({record.get('ended')}): {record.get('reason')}")
    if audit.get("energy") is not None:
        balance = EnergyBalance(audit["energy"], audit.get("exchanged", 0.0), audit.get("quadrature", 0.0))
        grades.append("bad" if balance.broken else "doubtful" if balance.doubtful else "good")
        words = balance.words()
        said.append(f"{words[0].upper()}{words[1:]}; {audit.get('exchanged', 0.0):.4g} J were exchanged.")
    if audit.get("closure"):
        said.append(
            f"Loops and couplings hold to {audit['closure']:.2g} m and {audit.get('closure_angle', 0.0):.2g} rad."
        )
    if estimate := error_sentences(record.get("error")):
        grades.append("doubtful" if (record.get("error") or {}).get("doubtful") else "good")
        said += [f"{one[0].upper()}{one[1:]}." for one in estimate]
    if record.get("warnings"):
        grades.append("doubtful")
        said.append(f"Warnings: {len(record['warnings'])}, listed below.")
    return ReportVerdict(max(grades, key=GRADES.index), tuple(said))


# ---- HTML


def report_html(kept: Stored, say: Say = silence_sketch_warning) -> str:
    """The HTML of a result's report; `say` takes a sentence on each thing that can't be drawn."""
    robot, scene, poses = animation_scene_of_result(kept, say, thinned_animation_rows(len(kept.t)))
    words = {"title": f"{robot.name}: {kept.name}", "about": str(kept.record.get("about", ""))}
    parts = {"sections": "\n".join(_sections(kept, robot, scene, poses)), "appendix": "\n".join(_appendix(kept))}
    data = animation_data(kept, robot, scene, poses)
    moving = {PLOTS[name].family for name in _moving_plots(kept)[0]}
    data["families"] = {family: shown for family, shown in data["families"].items() if family in moving}
    return html_page_with_machine("report.html", PLAYER, words, SCRIPTS, data, parts)


def _sections(kept: Stored, robot: Robot, scene: Scene, poses: Poses) -> Iterator[str]:
    """What comes before the plots: the verdict, what happened, the machine."""
    judged, record = report_verdict(kept), kept.record
    yield f'<section aria-label="Verdict"><div class="verdict {judged.grade}">'
    yield "".join(f"<p>{_marked(sentence)}</p>" for sentence in judged.sentences) + "</div>"
    for sentence in _moving_plots(kept)[1]:
        yield f"<p>{html_text(sentence)}</p>"
    for warning in record.get("warnings", []):
        yield f"<p>Warning: {_marked(str(warning))}</p>"
    events = [event for event in record.get("events", []) if isinstance(event, Mapping)]
    if events:
        yield html_table(("t (s)", "joint", "event", "then"), [_event(event) for event in events], "Events")
    undetermined = record.get("undetermined", [])
    if undetermined:
        named = ", ".join(map(str, undetermined[:12])) + (" …" if len(undetermined) > 12 else "")
        yield f"<p>Mechanics doesn't determine these reactions; those of least norm are given: {html_text(named)}.</p>"
    yield '</section><section aria-label="Machine"><h2>Machine</h2>'
    yield html_image_of_figure(f"sketch of {robot.name}", sketch_figure(scene, poses, state="first row of the result"))
    yield html_table(JOINTS, notebook_joint_rows(robot, animation_coordinates(kept, robot)[0].tolist()))
    own = [one for one in kept.plots if one.y]
    if own:
        yield '</section><section aria-label="Columns over others"><h2>Columns over others</h2>'
        drawn = figures_of_result(kept.name, kept.t, kept.table, kept.columns, own, record)
        yield "\n".join(html_image_of_figure(stem, figure) for stem, figure in drawn.items())
    yield "</section>"


def _marked(text: str) -> str:
    """A sentence as HTML, with what stands in backticks in letters of code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html_text(text))


def _extremes(kept: Stored) -> tuple[list[list[str]], str]:
    """The rows of a table of all columns but those that are zero throughout, and a sentence with these."""
    still = {column.name for column in kept.columns if largest_plotted_value(kept.table[column.name]) == 0.0}
    rows = [one.cells() for one in column_extremes(kept.t, kept.table, kept.columns) if one.column.name not in still]
    zero = ", ".join(column.name for column in kept.columns if column.name in still)
    return rows, f"Zero throughout: {zero}." if zero else ""


def _event(event: Mapping[str, Any]) -> list[str]:
    whose = event.get("joint") or event.get("actuator") or ""
    return [f"{event.get('t', 0.0):.6f}", str(whose), str(event.get("event", "")), str(event.get("then", ""))]


def _appendix(kept: Stored) -> Iterator[str]:
    """What comes behind the plots: the extremes, how to repeat the run, what ran it, its audit and its inputs."""
    record, (rows, zero) = kept.record, _extremes(kept)
    audit = record.get("audit", {}).items()
    yield '<section aria-label="Extremes"><h2>Extremes</h2>'
    yield html_table(HEADER, rows) + "".join(f"<p>{html_text(zero)}</p>" if zero else "") + "</section>"
    yield '<section aria-label="Repetition"><h2>How to repeat it</h2>'
    yield f"<pre>denoc run {html_text(kept.name)}{ENDING}.yaml</pre>"
    yield "<p>The scenario names its robot; both files are printed below. This is what ran it:</p>"
    yield html_table(("program", "version"), [(str(k), str(v)) for k, v in record.get("versions", {}).items()])
    yield html_table(("audit", "value"), [(k, f"{v:.6g}" if isinstance(v, float) else str(v)) for k, v in audit])
    yield html_table(("file", "SHA-256"), [(str(k), str(v)) for k, v in record.get("checksums", {}).items()])
    yield "</section>"
    for path in report_inputs(kept):
        yield f'<section aria-label="{html_text(path.name)}"><h2>{html_text(path.name)}</h2>'
        yield f"<pre>{report_text_of_file(path)}</pre></section>"


def report_inputs(kept: Stored) -> list[Path]:
    """The files of a result from which its run can be repeated."""
    return [path for path in sorted(kept.folder.glob("*.yaml")) if path.is_file()]


def report_text_of_file(path: Path) -> str:
    """A file's text, escaped line by line."""
    return "\n".join(map(html_text, _lines(path)))


def _lines(path: Path) -> list[str]:
    return content_of_file(path, DOCUMENT_BYTES).decode(errors="replace").splitlines()


# ---- PDF


def write_report_pdf(path: Path, kept: Stored, say: Say = silence_sketch_warning) -> None:
    """Writes the report as a PDF: the verdict, the sketch, all plots, the extremes, the machine, and the inputs."""
    from matplotlib import rc_context

    robot, scene, poses = animation_scene_of_result(kept, say, slice(1))
    with rc_context({"pdf.fonttype": 42}):
        figures = report_figures(kept, robot, sketch_figure(scene, poses, state="first row of the result"))
        write_sheets(path, figures, f"{robot.name}: {kept.name}")


def report_figures(kept: Stored, robot: Robot, sketch: Figure) -> Iterator[Figure]:
    """What stands on the pages, from the first to the last."""
    text, judged, record = text_on_sheets, report_verdict(kept), kept.record
    wanted, still = _moving_plots(kept)
    said = [*judged.sentences, *(f"Warning: {warning}" for warning in record.get("warnings", [])), *still]
    about = str(record.get("about", ""))
    yield from text(
        f"{robot.name}: {kept.name}", [*([about, ""] if about else []), *(x.replace("`", "") for x in said)]
    )
    yield sketch
    look, drawn = Look(SHEET), [*(one for one in kept.plots if one.y), *map(Drawing, wanted)]
    yield from figures_of_result(kept.name, kept.t, kept.table, kept.columns, drawn, record, look).values()
    events = [_event(event) for event in record.get("events", []) if isinstance(event, Mapping)]
    if events:
        yield from text("Events", _in_columns([("t (s)", "joint", "event", "then"), *events]), table=True)
    rows, zero = _extremes(kept)
    yield from text("Extremes", [*_in_columns([HEADER, *rows]), "", zero], table=True)
    joints = notebook_joint_rows(robot, animation_coordinates(kept, robot)[0].tolist())
    yield from text("Joints", _in_columns([JOINTS, *joints]), table=True)
    versions = [f"{name} {version}" for name, version in record.get("versions", {}).items()]
    yield from text("How to repeat it", [f"denoc run {kept.name}{ENDING}.yaml", "", *versions], table=True)
    for file in report_inputs(kept):
        yield from text(file.name, _lines(file), table=True)


def _moving_plots(kept: Stored) -> tuple[list[str], list[str]]:
    """The usual plots in which something is to be seen, and a sentence about the others."""
    wanted, still = [], []
    for name, row in PLOTS.items():
        own = [kept.table[column.name] for column in kept.columns if column.family == row.family]
        if any(largest_plotted_value(values) for values in own):
            wanted.append(name)
        elif own:
            still.append(row.title)
    return wanted, [f"Zero throughout: {', '.join(still)}."] if still else []


def _in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines of text, one column below the other."""
    widths = np.max([[len(cell) for cell in row] for row in rows], axis=0)
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
