"""The pages that are made of the program, and are checked to be what it makes: `make pages` writes them all.

python tests/tools/pages.py
"""

from __future__ import annotations

import re
from pathlib import Path

import measured

import reference
from denoc.cli.schema import FILES, kinds_with_schema, schema_of_kind
from denoc.text.json_schema import json_schema_text

DOCS = Path(__file__).resolve().parents[2] / "docs"


LINE = re.compile(r"\[`(?P<code>[^`]+)`\]\(\.\./(?P<file>[\w/]+\.py)#L(?P<line>\d+)\)")


def pages() -> dict[Path, str]:
    """The text of each page, by its file."""
    return {
        DOCS / "reference.md": reference.page(),
        **{schema(kind): json_schema_text(schema_of_kind(kind)) for kind in kinds_with_schema()},
        DOCS.parent / "README.md": measured.readme((DOCS.parent / "README.md").read_text(encoding="utf-8")),
        DOCS / "benchmarks.md": measured.benchmarks((DOCS / "benchmarks.md").read_text(encoding="utf-8")),
        DOCS / "theory.md": linked((DOCS / "theory.md").read_text(encoding="utf-8")),
    }


def schema(kind: str) -> Path:
    """Where the schema of a kind of files, or of a command's output, is kept."""
    return DOCS / "schema" / ("" if kind in FILES else "output") / f"{kind}.json"


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
    for path, text in pages().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
