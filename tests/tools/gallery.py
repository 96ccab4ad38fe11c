"""The gallery of the library's machines: each with its sketch, its animation, and what it shows, from its own files.

    python tests/tools/gallery.py FOLDER [ROBOT …]

`make site` puts it among the pages of the site. Nothing of it is kept in the repository: all of it comes from
robots/ and scenarios/ by the program itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import denoc
from denoc.errors import DenocError
from denoc.record import save_figure
from denoc.record.sketch import sketch_figure
from denoc.scenario import stored_scenario_result
from denoc.study import animation_html, page_of_plan, plan_of_page, stage_scene
from denoc.text import library_folder, read_yaml_document

EXTRA = "extra:gallery"  # where the files are that stay as they are
FRAME = 'loading="lazy" style="width: 100%; height: 44rem; border: 0"'
CARD = "[![{name}](gallery/{name}.png)]({name}.md)"


@dataclass(frozen=True)
class Shown:
    """A machine of the gallery: its scenarios with what they say of themselves, and the one that is animated."""

    name: str
    about: str
    scenarios: dict[str, dict[str, Any]]

    @property
    def animated(self) -> str | None:
        """Its motion that somebody thought out; a fall if there is no other."""
        order = lambda name: (name.endswith("-fall"), not name.endswith("-idyn"), name)  # noqa: E731
        return min(self.scenarios, key=order, default=None)


def machines(wanted: Sequence[str] = ()) -> list[Shown]:
    """The library's machines, or those that are wanted."""
    scenarios = {
        path.stem: read_yaml_document(path).data for path in sorted(library_folder("scenarios").glob("*.yaml"))
    }
    made = []
    for path in sorted(library_folder("robots").glob("*.yaml")):
        if wanted and path.stem not in wanted:
            continue
        own = {name: data for name, data in scenarios.items() if data["robot"] == path.stem}
        made.append(Shown(path.stem, denoc.load(path.stem).about, own))
    return made


def write(home: Path, files: Path, wanted: Sequence[str] = ()) -> list[str]:
    """Writes the gallery's pages to `home`, pictures and animations to `files`; returns the pages' names."""
    (home / "gallery").mkdir(parents=True, exist_ok=True)
    files.mkdir(parents=True, exist_ok=True)
    shown = machines(wanted)
    for one in shown:
        print(f"gallery: {one.name}", flush=True)
        _sketch(one, home / "gallery" / f"{one.name}.png")
        (home / f"{one.name}.md").write_text("\n".join(_page(one, files)), encoding="utf-8")
    (home / "gallery.md").write_text("\n".join(_overview(shown)), encoding="utf-8")
    return [one.name for one in shown]


def _sketch(one: Shown, file: Path) -> None:
    robot = denoc.load(one.name)
    q = denoc.assemble(robot, robot.q0) if robot.tied else robot.q0
    save_figure(
        sketch_figure(*stage_scene(robot, q), state="assembled position" if robot.tied else "initial position"), file
    )


def _overview(shown: Sequence[Shown]) -> Iterator[str]:
    yield "# Gallery"
    yield ""
    yield "The machines of the library, with what they show. Each has a page with an animation that runs in this browser."
    yield ""
    yield "| | |"
    yield "|---|---|"
    for one in shown:
        yield f"| {CARD.format(name=one.name)} | **[{one.name}]({one.name}.md)**<br>{_cell(one.about)} |"
    yield ""


def _page(one: Shown, files: Path) -> Iterator[str]:
    """The lines of a machine's page; its animation, and the page in which it runs, are written on the way."""
    yield f"# {one.name}"
    yield ""
    yield one.about
    yield ""
    yield f"![sketch of {one.name}](gallery/{one.name}.png)"
    yield ""
    if one.animated is not None:
        result = denoc.run(one.animated)
        result.write(files / "results" / one.animated, plot=False)
        file = f"{one.animated}-animation.html"
        (files / file).write_text(
            animation_html(stored_scenario_result(files / "results" / one.animated)), encoding="utf-8"
        )
        yield f"[**{one.animated} in motion**]({EXTRA}/{file}): {one.scenarios[one.animated].get('about', '')}"
        yield ""
        yield f'<iframe src="gallery/{file}" title="{one.animated} in motion" {FRAME}></iframe>'
        yield ""
    if (file := _computes(one.name, files)) is not None:
        yield f"[**{one.name} runs in this page**]({EXTRA}/{file}): its equations of motion, with sliders for its numbers."
        yield ""
    yield "| scenario | task | what it shows |"
    yield "|---|---|---|"
    for name, data in one.scenarios.items():
        yield f"| `{name}` | {data['task']} | {_cell(data.get('about', ''))} |"
    yield ""
    yield "```sh"
    yield f"denoc inspect {one.name} --plot"
    if one.animated is not None:
        yield f"denoc run {one.animated}"
        yield f"denoc animate outputs/{one.animated}"
    yield "```"
    yield ""


def _computes(name: str, files: Path) -> str | None:
    """The name of the page in which the machine falls freely; None if it can't run in a page."""
    try:
        text = page_of_plan(plan_of_page(name, []))
    except DenocError:
        return None
    file = f"{name}-page.html"
    (files / file).write_text(text, encoding="utf-8")
    return file


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    home = Path(sys.argv[1])
    write(home, home / "extra" / "gallery", sys.argv[2:])
