"""A stored result as an animation: one HTML file with the machine in motion and its plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..record import PLOTS, Column, axis_label
from ..record.pages import PLAYER, base64_numbers_for_html, html_page_with_machine
from ..record.sketch import Poses, Say, Scene, silence_sketch_warning
from ..robot import Robot
from ..scenario import Stored, robot_of_scenario, scenario_of_result
from ..text import read_yaml_document
from .staging import stage_scene

MOST_FRAMES = 2000  # more rows are thinned evenly; the last one stays
SCRIPTS = ("player.js",)


def animation_html(kept: Stored, say: Say = silence_sketch_warning) -> str:
    """The HTML of a result's animation; `say` takes a sentence on each thing that can't be drawn."""
    robot, scene, poses = animation_scene_of_result(kept, say, thinned_animation_rows(len(kept.t)))
    words = {"title": f"{robot.name} ({kept.name})", "about": str(kept.record.get("about", ""))}
    return html_page_with_machine("animation.html", PLAYER, words, SCRIPTS, animation_data(kept, robot, scene, poses))


def say_undrawn_animation(scene: Scene, say: Say) -> None:
    """Says which bodies of links can't be drawn, and why."""
    for warning in scene.warnings:
        say(warning)


def animation_scene_of_result(
    kept: Stored, say: Say = silence_sketch_warning, rows: slice | np.ndarray = slice(None)
) -> tuple[Robot, Scene, Poses]:
    """The robot that a result was written with, its scene, and its poses at some rows, or at all."""
    path = scenario_of_result(kept.folder, kept.name)
    robot = robot_of_scenario(read_yaml_document(path), path.parent)
    scene, poses = stage_scene(robot, animation_coordinates(kept, robot)[rows])
    say_undrawn_animation(scene, say)
    return robot, scene, poses


def thinned_animation_rows(count: int) -> np.ndarray:
    """The rows that become frames."""
    if count <= MOST_FRAMES:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MOST_FRAMES).round().astype(int))


def animation_coordinates(kept: Stored, robot: Robot) -> np.ndarray:
    """The coordinates of all joints at each row."""
    names = robot.columns("coordinates")
    missing = [name for name in names if name not in kept.table]
    if missing:
        raise InputError(
            "the result lacks coordinates of its robot", found=", ".join(missing[:6]), hint="run the scenario again"
        )
    return np.stack([kept.table[name] for name in names], axis=1)


def animation_data(kept: Stored, robot: Robot, scene: Scene, poses: Poses) -> dict[str, Any]:
    """What the page reads: the scene, its poses at the rows that are frames, the columns, what is drawn together."""
    from scipy.spatial.transform import Rotation

    rows = thinned_animation_rows(len(kept.t))
    turns = Rotation.from_matrix(poses.frames[..., :3, :3].reshape(-1, 3, 3)).as_quat()
    placed = np.concatenate([poses.frames[..., :3, 3].reshape(-1, 3), turns], axis=1)
    families = animation_plots(kept.columns)
    wanted = [PLOTS[one.plot].family for one in kept.plots if one.plot]
    return {
        "scene": scene.as_dict(),
        "t": base64_numbers_for_html(kept.t[rows]),
        "poses": base64_numbers_for_html(placed),
        "table": {column.name: base64_numbers_for_html(kept.table[column.name][rows]) for column in kept.columns},
        "families": families,
        "family": next((family for family in wanted if family in families), next(iter(families), "")),
        "arrows": animation_force_arrows(kept, robot),
    }


def animation_plots(columns: list[Column]) -> dict[str, dict[str, Any]]:
    """For each family of columns that has a plot: its title, and its panels, one for each unit."""
    made: dict[str, dict[str, Any]] = {}
    for row in PLOTS.values():
        panels: dict[str, list[tuple[str, str]]] = {}
        for column in columns:
            if column.family == row.family:
                panels.setdefault(column.unit, []).append((column.name, column.label))
        if panels:
            shown = [{"quantity": axis_label(row, unit), "columns": lines} for unit, lines in panels.items()]
            made[row.family] = {"title": row.title, "panels": shown}
    return made


def animation_force_arrows(kept: Stored, robot: Robot) -> list[Mapping[str, Any]]:
    """Forces that are drawn as arrows: joints' own along their axes, reactions if they are in base axes."""
    made: list[Mapping[str, Any]] = []
    for joint in robot.moving:
        column = f"{joint.name}.tau"
        if column in kept.table and kept.table[column].any():
            made.append({"joint": joint.name, "kind": "force", "columns": [column]})
    owners = [link.joint.name for link in robot.links] + [loop.name for loop in robot.loops]
    section = kept.record.get("input", {}).get("record", {})
    for name in owners if section.get("axes", "base") == "base" else ():
        for source in ("reaction", "lambda"):
            triple = [f"{name}.{source}.f{letter}" for letter in "xyz"]
            if all(column in kept.table for column in triple):
                made.append({"joint": name, "kind": "reaction", "columns": triple})
                break
    return made
