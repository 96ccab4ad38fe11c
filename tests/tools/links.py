"""Makes links to lines of the code lead to the line that they show: [`here.w = w`](../engine/file.py#L1) in docs/.

    python tests/tools/links.py

What stands between the back quotes has to occur once in the file. `tests/test_readme.py` checks that, and that the
links aren't far off; run this when lines have moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
LINK = re.compile(r"\[`([^`]+)`\]\(\.\./(engine/[\w/]+\.py)#L(\d+)\)")


def links(page: Path) -> Iterator[tuple[str, str, int, list[int]]]:
    """Of each link: the code that it shows, its file, its line, and the lines where that code stands."""
    for code, file, line in LINK.findall(page.read_text(encoding="utf-8")):
        text = (DOCS.parent / file).read_text(encoding="utf-8")
        yield code, file, int(line), [k for k, one in enumerate(text.splitlines(), 1) if code in one]


def renewed(page: Path) -> str:
    """The page with lines as they are now."""
    text = page.read_text(encoding="utf-8")
    for code, file, line, found in links(page):
        if len(found) == 1:
            text = text.replace(f"[`{code}`](../{file}#L{line})", f"[`{code}`](../{file}#L{found[0]})")
        else:
            print(f"{page.name}: {file}: `{code}` stands in {len(found)} lines")
    return text


if __name__ == "__main__":
    for page in sorted(DOCS.glob("*.md")):
        page.write_text(renewed(page), encoding="utf-8")
