"""Reports of a comparison with a baseline for continuous integration: sentences, JUnit XML, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from denoc.text import count_with_noun

if TYPE_CHECKING:
    from denoc.record.compared import Difference
    from denoc.study.regression import Verdict

MOST_ROWS = 20  # differences of one scenario in a summary
HEADS = ("where", "at t", "baseline", "now", "difference", "allowed", "times allowed")


def ci_headline(verdicts: list[Verdict]) -> str:
    """The number of scenarios, and of those that differ."""
    different = sum(not verdict.same for verdict in verdicts)
    count = count_with_noun(len(verdicts), "scenario")
    return f"{count}: all the same" if not different else f"{count}: {different} different"


def ci_line_of_scenario(verdict: Verdict) -> str:
    """The verdict on one scenario in one line."""
    if verdict.same:
        old = verdict.old
        assert old is not None
        size = f"{len(old.table)} columns at {len(old.t)} instants"
        return f"{verdict.name}: same, {size}, at most {verdict.nearest:.1g} of what is allowed"
    first, count = verdict.differences[0], len(verdict.differences)
    if count == 1:
        return f"{verdict.name}: DIFFERENT: {ci_sentence_of_difference(first)}"
    worst = next((one for one in verdict.differences if one.old is not None), None)
    return f"{verdict.name}: {count} DIFFERENCES, the worst: {ci_sentence_of_difference(worst or first)}"


def ci_sentence_of_difference(one: Difference) -> str:
    """A difference as a sentence."""
    if one.old is None or one.new is None:
        return one.message if one.what == "scenario" else f"{one.what}: {one.message}"
    where = f"{one.what}{f' ({one.message})' if one.message else ''}"
    numbers = f"{one.old:.9g} is {one.new:.9g} now, allowed ±{one.allowed:.2g} {one.unit}"
    return f"{where} at t = {one.t:g} s: {numbers}".rstrip()


def ci_cells_of_difference(one: Difference) -> tuple[str, ...]:
    """A difference between numbers as the cells below HEADS."""
    assert one.old is not None
    assert one.new is not None
    where = f"{one.what}{f' ({one.message})' if one.message else ''}"
    numbers = (f"{one.old:.9g} {one.unit}".rstrip(), f"{one.new:.9g}", f"{one.new - one.old:+.3g}")
    return where, f"{one.t:g} s", *numbers, f"{one.allowed:.2g}", f"{one.times:.3g}"


def ci_junit_xml(verdicts: list[Verdict], seconds: list[float]) -> str:
    """JUnit XML with a test case for each scenario."""
    from denoc.errors import safe_to_print

    failures = sum(not verdict.same for verdict in verdicts)
    head = {"name": "denoc regress", "tests": str(len(verdicts)), "failures": str(failures), "errors": "0"}
    suite = ElementTree.Element("testsuite", {**head, "time": f"{sum(seconds):.3f}"})
    for verdict, time in zip(verdicts, seconds):
        words = {"classname": "denoc.regress", "name": safe_to_print(verdict.name), "time": f"{time:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", words)
        if not verdict.same:
            failure = ElementTree.SubElement(
                case, "failure", {"message": safe_to_print(ci_line_of_scenario(verdict)), "type": "difference"}
            )
            failure.text = "\n".join(safe_to_print(ci_sentence_of_difference(one)) for one in verdict.differences)
        if verdict.notes:
            ElementTree.SubElement(case, "system-out").text = "\n".join(map(safe_to_print, verdict.notes))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def ci_markdown_summary(verdicts: list[Verdict], seconds: list[float]) -> str:
    """A Markdown summary with the differences of each scenario, and the scenarios without any in one line."""
    parts = [f"## denoc regress: {ci_headline(verdicts)}", ""]
    for verdict in verdicts:
        if verdict.same:
            continue
        numbers = [one for one in verdict.differences if one.old is not None]
        others = [one for one in verdict.differences if one.old is None]
        parts += [f"### {_escaped(verdict.name)}", ""]
        parts += [f"- {_escaped(ci_sentence_of_difference(one))}" for one in others[:MOST_ROWS]]
        parts += [""] if others else []
        if numbers:
            parts += [_row(HEADS), _row(["---", *["---:"] * (len(HEADS) - 1)])]
            parts += [_row([_escaped(cell) for cell in ci_cells_of_difference(one)]) for one in numbers[:MOST_ROWS]]
            parts.append("")
        more = max(len(others) - MOST_ROWS, 0) + max(len(numbers) - MOST_ROWS, 0)
        parts += [f"… and {more} more", ""] if more else []
    same = [_escaped(verdict.name) for verdict in verdicts if verdict.same]
    parts += [f"The same: {', '.join(same)}.", ""] if same else []
    parts += [f"- {_escaped(f'{verdict.name}: {note}')}" for verdict in verdicts for note in verdict.notes]
    parts.append(f"In {sum(seconds):.1f} s.")
    return "\n".join(parts) + "\n"


def ci_html_page(verdicts: list[Verdict], drawn: Mapping[str, Sequence[str]]) -> str:
    """An HTML file with the differences of each scenario, before and after, and their plots."""
    from denoc.record.pages import html_document, html_image, html_table, html_text

    parts = [
        f"<header><h1>denoc regress: {html_text(ci_headline(verdicts))}</h1></header>",
        '<main class="report">',
    ]
    for verdict in verdicts:
        grade = "good" if verdict.same else "bad"
        parts.append(f'<section><h2>{html_text(verdict.name)}</h2><div class="verdict {grade}">')
        parts += [
            f"<p>{html_text(ci_line_of_scenario(verdict))}</p></div>",
            *(f"<p>{html_text(note)}</p>" for note in verdict.notes),
        ]
        numbers = [one for one in verdict.differences if one.old is not None]
        parts += [
            f"<p>{html_text(ci_sentence_of_difference(one))}</p>" for one in verdict.differences if one.old is None
        ]
        if numbers:
            parts.append(html_table(HEADS, map(ci_cells_of_difference, numbers)))
        parts += [html_image(Path(file).stem, Path(file).read_bytes()) for file in drawn.get(verdict.name, [])]
        parts.append("</section>")
    return html_document("denoc regress", "\n".join([*parts, "</main>"]))


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text whose Markdown characters for tables, tags and emphasis are escaped."""
    from denoc.errors import safe_to_print

    return "".join("\\" + c if c in "|<>*_[]" else c for c in safe_to_print(text))
