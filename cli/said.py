"""Errors and warnings on standard error: plain text, in colours where a terminal shows them."""

from __future__ import annotations

import os
import sys

COLOURS = {"error": "bold red", "warning": "yellow"}
LABELS = ("  found: ", "  allowed: ", "  hint: ")


def print_error(message: object) -> None:
    """Prints an error."""
    _say("error", str(message))


def print_warning(message: object) -> None:
    """Prints a warning."""
    _say("warning", str(message))


def _say(kind: str, message: str) -> None:
    stream = sys.stderr
    if stream is None:
        return
    text = f"{kind}: {message}"
    if not terminal_is_coloured():
        print(text, file=stream)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for k, line in enumerate(text.split("\n")):
        shown = Text(line)
        shown.stylize(COLOURS[kind], 0, len(kind) + 1 if k == 0 else 0)
        label = next((one for one in LABELS if line.startswith(one)), "")
        shown.stylize("bold", 0, len(label))
        if line.strip() == "^":
            shown.stylize(COLOURS[kind])
        console.print(shown)


def terminal_is_coloured() -> bool:
    """Whether standard error is a terminal that shows colours, and nobody has asked for none."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stderr is not None and sys.stderr.isatty()
