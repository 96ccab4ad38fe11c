"""What the links of a URDF look like: their `visual` elements as entries of `shape`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..robot import Link, placement_from_rpy
from ..robot.read import rotation_of
from .draft import NO_QUATERNION, Draft
from .pieces import FileEntry, urdf_number_text, urdf_numbers_text, urdf_origin_line
from .report import CHANGED, IGNORED
from .xml import Element

GEOMETRY = ("box", "cylinder", "sphere", "capsule", "mesh")


def urdf_material_colours(draft: Draft, root: Element) -> dict[str, list[float]]:
    """The colours of the materials that have a name."""
    return {
        one.attributes["name"]: colour
        for one in root.walk()
        if one.tag == "material" and "name" in one.attributes and (colour := _colour(draft, one))
    }


def _colour(draft: Draft, material: Element) -> list[float] | None:
    colour = material.first("color")
    return list(draft.numbers(colour, "rgba", 4)) if colour is not None else None


def urdf_origin_entries(draft: Draft, part: Element) -> dict[str, list[float]]:
    """What an element's `origin` is in a robot's file, each key only where there is something to say."""
    origin = part.first("origin")
    if origin is None:
        return {}
    draft.used(origin)
    zero = (0.0, 0.0, 0.0)
    made = {key: list(x) for key in ("xyz", "rpy") if any(x := draft.numbers(origin, key, 3, zero))}
    if "quat_xyzw" in origin.attributes:
        *vector, scalar = draft.numbers(origin, "quat_xyzw", 4)
        if "rpy" in origin.attributes:
            raise draft.error(origin, "one way to say how it is turned is enough", found="rpy, quat_xyzw")
        draft.unit(origin, [scalar, *vector], NO_QUATERNION)
        made |= {"quat": [scalar, *vector]} if any(vector) else {}
    return made


def urdf_origin_rotation(entries: Mapping[str, Sequence[float]]) -> np.ndarray:
    """The rotation matrix of what `urdf_origin_entries` gives."""
    if "quat" in entries:
        return rotation_of(tuple(np.array(entries["quat"]) / np.linalg.norm(entries["quat"])))
    roll, pitch, yaw = entries.get("rpy", (0.0, 0.0, 0.0))
    return placement_from_rpy((0.0, 0.0, 0.0), (roll, pitch, yaw)).rotation()


def urdf_shape(draft: Draft, materials: dict[str, list[float]], visual: Element) -> FileEntry | None:
    """The entry of `shape` for a link's `visual` or `collision`."""
    geometry = visual.first("geometry")
    body = next((one for one in geometry.children if one.tag in GEOMETRY), None) if geometry is not None else None
    if body is None:
        draft.note(IGNORED, visual.tag, "it has no geometry that is known here", visual)
        return None
    if visual.tag == "visual":
        draft.used(visual)
    entry: FileEntry = {body.tag: _body(draft, body)}
    entry |= urdf_origin_entries(draft, visual)
    if name := visual.attributes.get("name"):
        entry["name"] = name
    material = visual.first("material")
    if material is not None:
        colour = _colour(draft, material) or materials.get(material.attributes.get("name", ""))
        if colour:
            entry["colour"] = colour
        if material.first("texture") is not None:
            draft.note(IGNORED, "texture", "only colours are kept", material)
    made = entry[body.tag]
    if any(x < 0 for x in (made if body.tag == "box" else made.values() if body.tag != "mesh" else ())):
        draft.note(CHANGED, visual.tag, "it has a negative length, so it was left out", body)
        return None
    return entry


def _body(draft: Draft, body: Element) -> Any:
    """The numbers of a geometry."""
    if body.tag == "box":
        return list(draft.numbers(body, "size", 3))
    if body.tag == "mesh":
        mesh: FileEntry = {"file": draft.text(body, "filename")}
        scale = draft.numbers(body, "scale", 0, (1.0, 1.0, 1.0))
        scale = scale * 3 if len(scale) == 1 else scale
        if scale != (1.0, 1.0, 1.0):
            mesh["scale"] = list(draft.numbers(body, "scale", 3) if len(scale) != 3 else scale)
        return mesh
    keys = ("radius",) if body.tag == "sphere" else ("radius", "length")
    return {key: draft.number(body, key) for key in keys}


# ---- the other way


def urdf_visual_elements(link: Link) -> Iterable[str]:
    """The lines of the `visual` elements of a link, and of `collision` for bodies that are spare."""
    for shape in link.shape:
        tag = "collision" if shape.spare else "visual"
        yield f"    <{tag} name={quoteattr(shape.name)}>" if shape.name else f"    <{tag}>"
        yield from urdf_origin_line(shape.at, "      ")
        if shape.kind == "box":
            body = f'box size="{urdf_numbers_text(shape.size)}"'
        elif shape.kind == "mesh":
            scale = "" if shape.size == (1.0, 1.0, 1.0) else f' scale="{urdf_numbers_text(shape.size)}"'
            body = f"mesh filename={quoteattr(shape.file)}{scale}"
        else:  # a sphere has no length
            sizes = zip(("radius", "length"), shape.size)
            body = " ".join([shape.kind, *(f'{key}="{urdf_number_text(x)}"' for key, x in sizes)])
        yield f"      <geometry><{body}/></geometry>"
        if shape.colour and not shape.spare:
            yield f'      <material name=""><color rgba="{urdf_numbers_text(shape.colour)}"/></material>'
        yield f"    </{tag}>"
