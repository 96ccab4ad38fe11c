"""Geoms of MJCF: the inertia of bodies that have none of their own, and what links look like.

The inertia of a mesh is known to MuJoCo's own compiler alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np

from ..robot.read import rotation_of
from .draft import Draft
from .mjcf_model import TRUTH, Compiler, orientation_of_mjcf_element, rotation_towards_mjcf_axis
from .pieces import FileEntry, converted_entry_with_place, converted_inertia_tensor, robot_file_inertia_entries
from .report import CHANGED, IGNORED
from .xml import Element

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}


@dataclass(frozen=True)
class Body:
    """A rigid body: mass, mass centre, and inertia about it, in the axes of a link."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Geom:
    """A geom in its body: its type, half sizes as MJCF has them, place and turn."""

    element: Element
    kind: str
    size: tuple[float, ...]
    at: np.ndarray
    R: np.ndarray


def mjcf_geom_with_defaults(draft: Draft, element: Element, compiler: Compiler) -> Geom:
    """A geom with its default attributes applied."""
    kind = element.attributes.get("type", "mesh" if "mesh" in element.attributes else "sphere")
    size = draft.numbers(element, "size", 0, ())
    at, R = place_of_mjcf_element(draft, element, compiler)
    if "fromto" in element.attributes and kind in ("capsule", "cylinder", "box", "ellipsoid"):
        section = size[:1] if kind in ("capsule", "cylinder") else size[:1] * 2
        ends = np.array(draft.numbers(element, "fromto", 6)).reshape(2, 3)
        size = (*section, float(np.linalg.norm(ends[1] - ends[0])) / 2)
    return Geom(element, kind, size, at, R)


def place_of_mjcf_element(draft: Draft, element: Element, compiler: Compiler) -> tuple[np.ndarray, np.ndarray]:
    """The place and the turn of a geom or a site, which may be given by two ends on its z."""
    if "fromto" in element.attributes:
        ends = np.array(draft.numbers(element, "fromto", 6)).reshape(2, 3)
        way = draft.unit(element, ends[0] - ends[1], "`fromto` has no length")  # z points back, as in MuJoCo
        return ends.mean(axis=0), rotation_towards_mjcf_axis(way)
    at = np.array(draft.numbers(element, "pos", 3, (0.0, 0.0, 0.0)))
    return at, orientation_of_mjcf_element(draft, element, compiler)


def rigid_body_of_mjcf_geom(draft: Draft, geom: Geom, assets: dict[str, Element]) -> Body | None:
    """The rigid body that a geom is; None if it has no mass, or a mesh's, which only its file knows."""
    if geom.kind == "plane":
        return None
    element = geom.element
    meshed = geom.kind in ("mesh", "sdf") or "mesh" in element.attributes  # also a form around one, which has its size
    if meshed or draft.word(element, "shellinertia", TRUTH, "false") == "true":
        if draft.number(element, "mass", 1.0) == 0 or (
            "mass" not in element.attributes and draft.number(element, "density", 1000.0) == 0
        ):
            return None
        raise Unknown(element)
    if geom.kind == "hfield":  # a box around its frame, of half the base's height and a quarter of the elevation's
        known = {name.removeprefix("hfield ") for name in assets if name.startswith("hfield ")}
        asset = assets[f"hfield {draft.known(element, 'hfield', known, 'hfield')}"]
        across, along, high, base = draft.numbers(asset, "size", 4)
        geom = replace(geom, kind="box", size=(across, along, high / 4 + base / 2))
    if geom.kind not in SIZES:
        raise draft.error(element, "unknown type of geom", found=f"`{geom.kind}`", allowed=", ".join(SIZES))
    if len(geom.size) < SIZES[geom.kind]:
        raise draft.error(element, f"`size`: a {geom.kind} needs {SIZES[geom.kind]} numbers", found=str(len(geom.size)))
    if min(geom.size[: SIZES[geom.kind]]) <= 0:
        raise draft.error(element, "`size`: more than 0 is needed", found=" ".join(f"{x:g}" for x in geom.size))
    volume, unit = _form(geom.kind, geom.size)
    mass = draft.number(element, "mass", -1.0)
    if mass < 0:
        mass = draft.number(element, "density", 1000.0) * volume
    return Body(mass, geom.at, geom.R @ np.diag([mass * x for x in unit]) @ geom.R.T) if mass > 0 else None


class Unknown(Exception):  # noqa: N818 - it is no error but a question that another program may answer
    """The inertia of an element can't be computed from the file alone."""

    def __init__(self, element: Element):
        self.element = element
        super().__init__()


def _form(kind: str, size: tuple[float, ...]) -> tuple[float, tuple[float, float, float]]:
    """The volume of a form, and its moments of inertia for a mass of 1."""
    if kind == "sphere":
        (r,) = size[:1]
        return 4 / 3 * math.pi * r * r * r, (0.4 * r * r,) * 3
    if kind in ("box", "ellipsoid"):
        a, b, c = size[:3]
        volume, share = (8 * a * b * c, 3) if kind == "box" else (4 / 3 * math.pi * a * b * c, 5)
        return volume, ((b * b + c * c) / share, (a * a + c * c) / share, (a * a + b * b) / share)
    r, half = size[:2]
    length = 2 * half
    tube = math.pi * r * r * length
    if kind == "cylinder":
        across = (3 * r * r + length * length) / 12
        return tube, (across, across, r * r / 2)
    ball = 4 / 3 * math.pi * r * r * r
    middle = tube / (tube + ball) if tube + ball else 0.0  # of the smallest sizes neither is more than 0
    ends = 1.0 - middle if tube + ball else 0.0
    across = middle * (length * length / 12 + r * r / 4) + ends * (
        0.4 * r * r + length * length / 4 + 0.375 * length * r
    )
    return tube + ball, (across, across, middle * r * r / 2 + ends * 0.4 * r * r)


def mjcf_geom_bodies_together(bodies: list[Body]) -> Body:
    """Several bodies as one."""
    mass = sum(body.mass for body in bodies)
    if not mass:
        return Body(0.0, np.zeros(3), np.zeros((3, 3)))
    com = sum((body.mass * body.com for body in bodies), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for body in bodies:
        d = body.com - com
        inertia += body.inertia + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Body(mass, com, inertia)


def bound_mjcf_inertias(entries: list[FileEntry], compiler: Compiler, fused: set[str]) -> None:
    """Gives links the least mass and inertia, and all that aren't fused the total mass, that the compiler asks for."""
    for entry in entries:
        if compiler.least_mass:
            entry["mass"] = max(entry["mass"], compiler.least_mass)
        if compiler.least_mass or compiler.least_inertia:
            entry.setdefault("com", [0.0, 0.0, 0.0])
            moments, axes = np.linalg.eigh(converted_inertia_tensor(entry.get("inertia", {})))
            if moments.min() < compiler.least_inertia:
                J = axes @ np.diag(np.maximum(moments, compiler.least_inertia)) @ axes.T
                entry["inertia"] = robot_file_inertia_entries((J + J.T) / 2)
        if compiler.balanced:
            moments = np.linalg.eigvalsh(converted_inertia_tensor(entry.get("inertia", {})))
            if moments[0] + moments[1] < moments[2]:
                entry["inertia"] = robot_file_inertia_entries(moments.mean() * np.eye(3))
    entries = [entry for entry in entries if entry["name"] not in fused]
    mass = sum(entry["mass"] for entry in entries)
    if compiler.total_mass > 0 and mass > 0:
        share = compiler.total_mass / mass
        for entry in entries:
            entry["mass"] *= share
            entry["inertia"] = {key: x * share for key, x in entry.get("inertia", {}).items()}


# ---- pictures


def shapes_of_mjcf_geoms(
    draft: Draft, geoms: list[Geom], assets: dict[str, Element], compiler: Compiler
) -> list[FileEntry]:
    """The entries of `shape` for a body: of its geoms without contact where there are any, else of all.

    Beside meshes without contact, those with contact are spare.
    """
    seen = [one for one in geoms if one.element.attributes.get("contype") == "0"] or geoms
    made = [entry for one in seen if (entry := _shape(draft, one, assets, compiler)) is not None]
    spare = [one for one in geoms if one not in seen] if any("mesh" in entry for entry in made) else []
    others = (_shape(draft, one, assets, compiler) for one in spare)
    return [*made, *({**entry, "spare": True} for entry in others if entry is not None)]


def _shape(draft: Draft, geom: Geom, assets: dict[str, Element], compiler: Compiler) -> FileEntry | None:
    entry: FileEntry
    size = geom.size
    if geom.kind == "mesh":
        entry = {"mesh": _mesh(draft, geom.element, assets, compiler)}
    elif geom.kind not in SIZES or len(size) < SIZES[geom.kind] or geom.kind == "ellipsoid":
        draft.note(IGNORED, f"geom {geom.kind}", "its form isn't drawn", geom.element)
        return None
    elif geom.kind == "box":
        entry = {"box": [2 * x for x in size[:3]]}
    elif geom.kind == "sphere":
        entry = {"sphere": {"radius": size[0]}}
    else:
        entry = {geom.kind: {"radius": size[0], "length": 2 * size[1]}}
    if any(x < 0 for x in size):
        draft.note(CHANGED, "geom", "it has a negative size, so it was left out of the picture", geom.element)
        return None
    if name := geom.element.attributes.get("name"):
        entry["name"] = name
    colour = geom.element.attributes.get("rgba")
    material = assets.get("material " + geom.element.attributes.get("material", ""))
    if colour is not None:
        entry["colour"] = list(draft.numbers(geom.element, "rgba", 4))
    elif material is not None and "rgba" in material.attributes:
        entry["colour"] = list(draft.numbers(material, "rgba", 4))
    return converted_entry_with_place(entry, geom.at, geom.R)


def _mesh(draft: Draft, element: Element, assets: dict[str, Element], compiler: Compiler) -> FileEntry:
    name = element.attributes.get("mesh", "")
    asset = assets.get(f"mesh {name}")
    if asset is None or "file" not in asset.attributes:
        return {"file": name or "mesh"}
    mesh: FileEntry = {"file": str(PurePosixPath(compiler.mesh_folder) / asset.attributes["file"])}
    scale = draft.numbers(asset, "scale", 3, (1.0, 1.0, 1.0))
    if scale != (1.0, 1.0, 1.0):
        mesh["scale"] = list(scale)
    return mesh


def resolved_mjcf_bodies(draft: Draft, at: Element) -> list[Body]:
    """The bodies of the model, the world first, as MuJoCo compiles them; without it the element is refused."""
    try:
        import mujoco
    except ImportError:
        raise draft.error(
            at,
            "the inertia of a mesh is known to its file alone, and the body has none of its own",
            allowed="<inertial> in the body, or MuJoCo beside denoc",
            hint="python -m pip install mujoco",
        ) from None
    try:
        spec = mujoco.MjSpec.from_file(draft.document.name)
        # bodies as they stand in the file, with their own masses: they are changed here, for all of them alike
        compiler = getattr(spec, "compiler", spec)  # which early versions don't have apart
        for key, value in {"fusestatic": False, "alignfree": False, "settotalmass": -1.0}.items():
            if hasattr(compiler, key):
                setattr(compiler, key, value)
        for joint in spec.joints:
            if hasattr(joint, "align"):
                joint.align = 0
        model = spec.compile()
    except ValueError as problem:
        words = " ".join(str(problem).split())
        message = f"MuJoCo, which knows the inertia of meshes, refuses the model: {words}"
        raise draft.error(at, message, allowed="a model that MuJoCo loads, or <inertial> in each body") from None
    bodies = []
    for k in range(model.nbody):
        R = rotation_of(tuple(map(float, model.body_iquat[k])))
        own = R @ np.diag(model.body_inertia[k]) @ R.T
        bodies.append(Body(float(model.body_mass[k]), np.array(model.body_ipos[k]), (own + own.T) / 2))
    return bodies
