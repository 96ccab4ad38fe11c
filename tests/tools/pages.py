"""The pages that are made of the program, and are checked to be what it makes: `make pages` writes them all.

python tests/tools/pages.py [found [ID …]]

With `found`, tables and figures of the papers are made first, for what is found of each (docs/papers.json): all of them,
which takes some minutes, or those that are named.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import textwrap
from pathlib import Path

import measured

import reference
from denoc.cli.schema import FILES, kinds_with_schema, schema_of_kind
from denoc.study.papers import EXHIBITS
from denoc.text.fields import json_schema_text

DOCS = Path(__file__).resolve().parents[2] / "docs"


FOUND, COMPARED = DOCS / "papers.json", DOCS / "khan.csv"
MARKED = re.compile(
    r"(?P<begin>(?P<indent> *)<!-- (?P<kind>found|compared): (?P<what>[\w.-]+) -->\n)"
    r".*?(?P<end> *<!-- until here -->)",
    re.DOTALL,
)
LINE = re.compile(r"\[`(?P<code>[^`]+)`\]\(\.\./(?P<file>[\w/]+\.py)#L(?P<line>\d+)\)")


def pages() -> dict[Path, str]:
    """The text of each page, by its file."""
    return {
        DOCS / "reference.md": reference.page(),
        **{schema(kind): json_schema_text(schema_of_kind(kind)) for kind in kinds_with_schema()},
        DOCS.parent / "README.md": measured.readme((DOCS.parent / "README.md").read_text(encoding="utf-8")),
        DOCS / "benchmarks.md": measured.benchmarks((DOCS / "benchmarks.md").read_text(encoding="utf-8")),
        **{page: with_found(page.read_text(encoding="utf-8")) for page in (DOCS / "papers.md", DOCS / "khan.md")},
        DOCS / "theory.md": linked((DOCS / "theory.md").read_text(encoding="utf-8")),
    }


def schema(kind: str) -> Path:
    """Where the schema of a kind of files, or of a command's output, is kept."""
    return DOCS / "schema" / ("" if kind in FILES else "output") / f"{kind}.json"


def with_found(text: str) -> str:
    """A page with what was found of the papers' tables and figures, and in the comparison of closure methods."""
    sentences = json.loads(FOUND.read_text(encoding="utf-8"))

    def renewed(mark: re.Match[str]) -> str:
        indent, what = mark["indent"], mark["what"]
        if mark["kind"] == "compared":
            lines = comparison()
        elif what == "all":
            lines = exhibits(sentences)
        else:
            lines = textwrap.wrap(sentences[what], 120 - len(indent), break_on_hyphens=False)
        return mark["begin"] + "".join(f"{indent}{line}\n" for line in lines) + mark["end"]

    return MARKED.sub(renewed, text)


def exhibits(sentences: dict[str, str]) -> list[str]:
    """The table of the papers' tables and figures."""
    rows = (f"| `{one.id}` | {one.caption} | {one.claim} | {sentences[one.id]} |" for one in EXHIBITS.values())
    return ["| id | shows | what can be claimed | what is found |", "|---|---|---|---|", *rows]


def comparison() -> list[str]:
    """The table of closure methods from what `denoc compare three-rrr-platform-idyn` has written."""
    with open(COMPARED, encoding="utf-8") as file:
        runs = list(csv.DictReader(file))
    heads = ("method", "evaluations, rtol 1e-3", "rtol 1e-6", "stiffness", "joint error, rtol 1e-6 (rad)",
             "at steps of 0.001 s", "correction (%)", "failed")  # fmt: skip
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for method in dict.fromkeys(run["method"] for run in runs):
        own = [run for run in runs if run["method"] == method]
        loose, tight, short = (
            [run for run in own if run[what] == x and run["feedback"] == "0"]
            for what, x in (("rtol", "0.001"), ("rtol", "1e-06"), ("step", "0.001"))
        )
        values = list(dict.fromkeys(f"{float(run['value']):g}" for run in own if run["value"]))
        of = f", {own[0]['parameter']} = {' to '.join(dict.fromkeys((values[0], values[-1])))}" if values else ""
        broken = sum(run["ended"] != "done" for run in own)
        cells = (
            f"`{method}`{of}",
            *(span(some, "evaluations", lost=True) for some in (loose, tight)),
            span(own[:-1], "stiffness"),
            *(span(some, "error_max") for some in (tight, short)),
            span([run for run in own if run["feedback"] == "1"], "correction"),
            f"{broken} of {len(own)}" if broken else "none",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def span(runs: list[dict[str, str]], column: str, lost: bool = False) -> str:
    """The least and the largest value of the runs that came to their end; with `lost`, also of those that didn't."""
    known = [float(run[column]) for run in runs if run["ended"] == "done" and run[column]]
    more = [float(run[column]) for run in runs if run["ended"] == "failed"] if lost else []
    words = [f"{x:.0f}" if x >= 10 else f"{x:.2g}" for x in (min(known), max(known))] if known else []
    words += [f"more than {max(more):.0f}"] if more else []
    return " to ".join(dict.fromkeys((words[0], words[-1]))) if words else ""


def find(names: list[str]) -> None:
    """Makes tables and figures of the papers, and keeps what is found of each."""
    known = json.loads(FOUND.read_text(encoding="utf-8"))
    known |= {name: EXHIBITS[name].make().verdict for name in names or EXHIBITS}
    kept = {name: known[name] for name in EXHIBITS}
    FOUND.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def linked(text: str) -> str:
    """A page whose links to lines of code lead to where these lines are now; those that are gone stay as they are."""

    def renewed(link: re.Match[str]) -> str:
        lines = (DOCS.parent / link["file"]).read_text(encoding="utf-8").splitlines()
        places = [k for k, line in enumerate(lines, start=1) if line.strip() == link["code"]]
        if not places:
            return link[0]
        nearest = min(places, key=lambda k: abs(k - int(link["line"])))
        return f"[`{link['code']}`](../{link['file']}#L{nearest})"

    return LINE.sub(renewed, text)


def main() -> None:
    """Writes those that have changed, and says which."""
    if sys.argv[1:2] == ["found"]:
        find(sys.argv[2:])
    for path, text in pages().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
