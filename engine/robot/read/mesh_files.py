"""Where the mesh files of a robot are: beside its own file, or in the package that an address names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

from ...text import Document, path_from_folder

PACKAGES = ("package://", "model://")  # of ROS and of Gazebo, before a package's name
HERE = "file://"


def located_mesh_file(file: str, folder: Path) -> Path | None:
    """The mesh file that a robot file in this folder names, if it is there; nothing is asked from a network."""
    if "\0" in file:
        return None
    if start := next((word for word in PACKAGES if file.startswith(word)), None):
        tries = _in_packages(file.removeprefix(start), folder)
    else:
        file = file.removeprefix(HERE)
        if "://" in file or PureWindowsPath(file).drive.startswith("\\\\"):  # another computer's folder
            return None
        tries = iter([folder / file])
    return next((path for path in tries if os.path.isfile(path)), None)


def _in_packages(file: str, folder: Path) -> Iterator[Path]:
    """Where a package's file may be: in a folder of the package's name on the way up from the robot's."""
    name, _, rest = file.partition("/")
    for above in (home := folder.absolute(), *home.parents):
        yield above / file
        if above.name == name:
            yield above / rest


def folder_of_robot_file(document: Document | None) -> Path:
    """The folder of a robot's file; that of the process, if the robot came from no file."""
    return Path(document.name).parent if document is not None else Path()


def robot_data_with_mesh_places(data: Any, folder: Path) -> Any:
    """A robot's data in which meshes that are there are named by their absolute paths, so that a copy finds them."""

    def absolute(file: str) -> str:
        path = located_mesh_file(file, folder)
        return file if path is None else str(path.absolute())

    return _renamed(data, absolute)


def robot_data_with_meshes_seen_from(data: Any, folder: Path, new: Path, *, packages: bool = False) -> Any:
    """A robot's data for a file in a new folder, from which relative paths lead to the same meshes.

    Addresses in packages stay where they lead there from the new folder, too, or always if `packages` says so; so do
    absolute paths, and what leads nowhere.
    """

    def moved(file: str) -> str:
        path, address = located_mesh_file(file, folder), file.startswith(PACKAGES)
        if path is None or (address and packages) or os.path.isabs(file.removeprefix(HERE)):
            return file
        there = located_mesh_file(file, new)
        if there is not None and os.path.samefile(there, path):
            return file
        return path_from_folder(path, new)

    return _renamed(data, moved)


def _renamed(data: Any, rename: Callable[[str], str]) -> Any:
    """The data with other names of the files of its meshes."""
    if isinstance(data, list):
        return [_renamed(one, rename) for one in data]
    if not isinstance(data, dict):
        return data
    made = {key: one if key == "mesh" else _renamed(one, rename) for key, one in data.items()}
    mesh = data.get("mesh")
    if isinstance(mesh, dict) and isinstance(mesh.get("file"), str):
        made["mesh"] = {**mesh, "file": rename(mesh["file"])}
    return made
