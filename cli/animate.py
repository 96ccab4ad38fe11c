"""`denoc animate`: a result in motion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from denoc.cli import options
from denoc.cli.said import print_lines
from denoc.cli.waiting import WRITING, Wait


def animate_command(
    result: options.Result,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the files (default: that of the result)."),
    ] = None,
    gif: Annotated[bool, typer.Option("--gif", help="Write a GIF instead of the page.")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="Write an MP4, which needs ffmpeg, instead of the page.")] = False,
    strip: Annotated[
        int, typer.Option("--strip", metavar="N", min=0, max=24, help="Write a PNG with N positions for a paper.")
    ] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Write one HTML file in which the machine moves, with its plots beside it. It opens in any browser, offline."""
    from denoc.record.files import make_output_folder, write_file_whole
    from denoc.record.sketch import check_ffmpeg, write_film_strip, write_gif, write_mp4
    from denoc.scenario import stored_scenario_result
    from denoc.study import animation_html, animation_scene_of_result

    if mp4:
        check_ffmpeg()
    kept = stored_scenario_result(result)
    folder = out or kept.folder
    make_output_folder(folder)
    files = []
    with Wait(kept.name, quiet=quiet) as wait:

        def report(done: int, count: int) -> None:
            wait.now(f"picture {done + 1} of {count}", done / count)

        def write(ending: str, into: Callable[[Path], object]) -> None:
            files.append(folder / f"{kept.name}-animation.{ending}")
            write_file_whole(files[-1], into)

        if gif or mp4 or strip:
            _, scene, poses = animation_scene_of_result(kept, options.print_warning_beside_output)
            if gif:
                write("gif", lambda draft: write_gif(draft, scene, poses, kept.t, report))
            if mp4:
                write("mp4", lambda draft: write_mp4(draft, scene, poses, kept.t, report))
            if strip:
                write("png", lambda draft: write_film_strip(draft, scene, poses, kept.t, strip, report))
        else:
            made = animation_html(kept, options.print_warning_beside_output)
            wait.now(WRITING)
            write("html", lambda draft: draft.write_text(made, encoding="utf-8"))
    if not quiet:
        print_lines(*files)
