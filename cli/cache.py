"""`denoc cache`: the compiled code that is kept between runs."""

from __future__ import annotations

from typing import Annotated

import typer

from denoc.cli.said import print_lines


def cache_command(clear: Annotated[bool, typer.Option("--clear", help="Remove the compiled code.")] = False) -> None:
    """Show the folder and the size of the compiled code that is kept between runs. It is made again when needed."""
    from denoc.machine.backend import cache_contents, cache_folder, clear_cache

    if clear:
        print_lines(f"removed {clear_cache()} objects from {cache_folder()}")
        return
    folder, count, size = cache_contents()
    print_lines(f"{folder}: {count} objects, {size / 1024:.0f} KiB")
