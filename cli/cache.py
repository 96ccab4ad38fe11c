"""`denoc cache`: compiled code kept between runs."""

from __future__ import annotations

from typing import Annotated

import typer


def cache(clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False) -> None:
    """Show where compiled code is kept, and how much; --clear removes it. It is made again when it is needed."""
    from denoc.machine.jit import cache as kept

    if clear:
        typer.echo(f"removed {kept.clear()} objects from {kept.folder()}")
        return
    folder, count, size = kept.contents()
    typer.echo(f"{folder}: {count} objects, {size / 1024:.0f} KiB")
