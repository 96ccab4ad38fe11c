"""One HTML file from a body, scripts and data, which opens from disk and asks no network for anything.

What comes from users' files (names, titles, numbers) is data: escaped where it stands in the HTML, and JSON that no
browser runs where scripts read it. A content security policy lets nothing run but the scripts that denoc brings.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import Any

import numpy as np

from ...errors import safe_to_print

THREE = "three.min.js"
STAGED = (THREE, "solids.js", "viewer.js", "stage.js", "charts.js")  # what every page with a machine runs first
STYLE = "style.css"
SHELL = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>$style</style>
</head>
<body>
$body
$scripts
</body>
</html>
""")


@dataclass(frozen=True)
class Stage:
    """The machine's part of a page: the word on the button that starts it, the controls beside it, and a help."""

    play: str
    controls: str
    help: str


PLAYER = Stage(
    "Play",
    "player.html",
    "Drag to turn, wheel to zoom, right button to move. Blue joints are actuated, orange ones cut; violet arrows are "
    "joint forces and torques, orange ones reactions. Keys: space plays, comma and full stop step.",
)
RUNNER = Stage(
    "Run",
    "runner.html",
    "The equations of motion run in this page, with the step control of the scenario. Drag a link to put its joint "
    "somewhere else; drag beside the machine to turn the view. Keys: space runs and stops, R resets.",
)


def html_page_with_machine(
    template: str,
    stage: Stage,
    words: Mapping[str, str],
    scripts: Sequence[str],
    data: Mapping[str, Any],
    parts: Mapping[str, str] | None = None,
    own: str = "",
) -> str:
    """The HTML of a page with a machine: the template's body with `words` (such as `title`) put in, its scripts, data.

    Words are escaped; `parts` are HTML already, and `own` is a script that was made for this page.
    """
    safe = {key: html_text(word) for key, word in words.items()}
    controls = {"play": stage.play, "help": stage.help, "controls": html_asset(stage.controls)}
    view = Template(html_asset("stage.html")).substitute(safe, **controls)
    body = Template(html_asset("header.html") + html_asset(template)).substitute(safe, stage=view, **(parts or {}))
    return html_document(safe["title"], body, (*STAGED, *scripts), data, own)


def html_document(
    title: str, body: str, scripts: Sequence[str] = (), data: Mapping[str, Any] | None = None, own: str = ""
) -> str:
    """A whole HTML file; `title` and `body` are HTML already."""
    style, code = html_asset(STYLE), [*([own] if own else []), *(html_asset(script) for script in scripts)]
    allowed = f"script-src {' '.join(map(_hash, code))}; " if code else ""
    policy = (
        f"default-src 'none'; {allowed}style-src {_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    licence = f"<!-- three.js, under this licence:\n{html_asset('three.LICENSE.txt')}-->\n" if THREE in scripts else ""
    held = (
        f'<script type="application/json" id="data">{html_embedded_json(data)}</script>\n' if data is not None else ""
    )
    return SHELL.substitute(
        policy=policy,
        title=title,
        style=style,
        body=body,
        scripts=held + licence + "\n".join(f"<script>{one}</script>" for one in code),
    )


def html_image(alt: str, png: bytes) -> str:
    """A PNG within the HTML."""
    return f'<img alt="{html_text(alt)}" src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'


def html_text(words: str) -> str:
    """A user's text as HTML shows it, in elements and in attributes."""
    return escape(safe_to_print(words))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table as HTML, of plain texts."""
    head = "".join(f'<th scope="col">{html_text(cell)}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    said = f"<caption>{html_text(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{said}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def html_embedded_json(data: Mapping[str, Any]) -> str:
    """Data as JSON within a script element, which no name in it can end."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def base64_numbers_for_html(values: np.ndarray) -> str:
    """Numbers as base64 of little-endian doubles."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def html_asset(name: str) -> str:
    """The text of a file that belongs to the pages."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
