"""Errors and warnings on standard error: plain text, in colours where a terminal shows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable

from denoc.errors import safe_to_print

COLOURS = {"error": "bold red", "warning": "yellow"}
LABELS = ("  found: ", "  allowed: ", "  hint: ")


def print_lines(*lines: object, err: bool = False) -> None:
    """Prints lines: what could move the cursor, set colours or begin another line is escaped, whoever has written it.

    Whatever commands print to be read passes here, for names, titles and paths come from files of others.
    """
    for line in lines:
        print(safe_to_print(str(line)), file=sys.stderr if err else sys.stdout, flush=True)


def print_text(text: str, *, err: bool = False) -> None:
    """Prints a text of several lines likewise."""
    print_lines(*text.removesuffix("\n").split("\n"), err=err)


def safe_lines(text: str) -> str:
    """A text of several lines for a table or in a colour, likewise."""
    return "\n".join(map(safe_to_print, text.split("\n")))


def print_table(
    heads: Iterable[str], rows: Iterable[Iterable[str]], *, left: Collection[int] = (0,), width: int, indent: str = ""
) -> None:
    """Prints a table, with words in the columns `left`, as wide as the terminal or, where there is none, as `width`."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for k, name in enumerate(heads):
        table.add_column(Text(safe_to_print(name)), justify="left" if k in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(safe_to_print(cell)) for cell in row))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else width)
    with console.capture() as shown:
        console.print(table)
    for line in shown.get().splitlines():
        print(indent + line.rstrip())


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
        print_text(text, err=True)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for k, line in enumerate(text.split("\n")):
        shown = Text(safe_to_print(line))
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
