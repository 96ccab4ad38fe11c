"""The actuators of an MJCF file: motors as efforts of joints, others as actuators on sums of joints or on links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import mjcf_tendons
from .draft import Draft
from .mjcf_model import MAIN, Defaults, Model
from .report import CHANGED, DROPPED
from .xml import Element

CONTROLLED = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "dcmotor",
    "plugin",
)


def read_mjcf_actuators(
    draft: Draft, root: Element, model: Model, defaults: Defaults, tendons: dict[str, Element]
) -> None:
    """Adds the actuators to the draft; a joint that none of them moves by itself has no actuator of its own."""
    driven = False
    for section in root.all("actuator"):
        for one in section.children:
            _actuator(draft, defaults.apply(one, MAIN, draft), model, tendons)
            driven = True
    if driven:
        for entry in model.joints.values():
            entry.setdefault("actuated", False)


def _actuator(draft: Draft, one: Element, model: Model, tendons: dict[str, Element]) -> None:
    """Adds one actuator; what a controller computes from positions is left out."""
    if one.tag not in CONTROLLED:
        draft.note(DROPPED, f"actuator {one.tag}", "there is no such actuator here", one)
        return
    key = next((key for key in ("joint", "jointinparent", "tendon", "site") if key in one.attributes), None)
    gear = draft.numbers(one, "gear", 0, (1.0,)) or (1.0,)
    if key is None or (key == "site" and "refsite" in one.attributes):
        draft.note(DROPPED, f"actuator {one.tag}", "it acts on no joint and no site by itself", one)
        return
    if key == "site":
        _on_site(draft, one, model, np.array((*gear, *[0.0] * 6)[:6]))
        return
    if key == "tendon":
        tendon = tendons.get(one.attributes["tendon"])
        ratios = mjcf_tendons.coefficients_of_mjcf_tendon(draft, tendon, model) if tendon is not None else {}
        if len(ratios) != 1:
            _on_joints(draft, one, model, ratios, gear[0])
            return
        ((name, ratio),) = ratios.items()
    else:
        name, ratio = draft.known(one, key, model.joints, "joint"), 1.0
    _used(draft, one)
    entry = model.joints[name]
    entry["actuated"] = True
    limits = _limits(draft, one, ratio * gear[0]) if entry["type"] in mjcf_tendons.SIMPLE else None
    if limits is not None:
        before = entry.get("effort", {}).get("limits", [0.0, 0.0])
        entry["effort"] = {"limits": [limits[0] + before[0], limits[1] + before[1]]}  # several motors add up


def _on_joints(draft: Draft, one: Element, model: Model, ratios: dict[str, float], gear: float) -> None:
    """An actuator on the sum of a tendon's joints."""
    able = all(model.joints[name]["type"] in mjcf_tendons.SIMPLE for name in ratios)
    if not gear or not any(ratios.values()) or not able:
        draft.note(DROPPED, f"actuator {one.tag}", "it pulls no sum of joints", one)
        return
    _used(draft, one)
    names = draft.joints.own
    entry: dict[str, Any] = {"joints": {names[name]: x for name, x in ratios.items()}}
    _put(draft, one, entry | ({"gear": gear} if gear != 1.0 else {}), _limits(draft, one, 1.0))


def _on_site(draft: Draft, one: Element, model: Model, gear: np.ndarray) -> None:
    """A force or a moment in the axes of a site, as an actuator on its link."""
    force, moment = gear[:3], gear[3:]
    site = model.sites[draft.known(one, "site", model.sites, "site")]
    if force.any() == moment.any() or site.link == "base":
        why = "it acts on the ground" if site.link == "base" else "it isn't either a force or a moment"
        draft.note(DROPPED, f"actuator {one.tag}", why, one)
        return
    _used(draft, one)
    along = site.R @ (force if force.any() else moment)
    size = float(np.linalg.norm(along))
    entry = {"link": site.link, "at": [float(x) for x in site.at], "direction": [float(x / size) for x in along]}
    if moment.any():
        entry["kind"] = "moment"
    _put(draft, one, entry, _limits(draft, one, size))


def _put(draft: Draft, one: Element, entry: dict[str, Any], limits: tuple[float, float] | None) -> None:
    """Adds an entry of `actuators` under a name of its own."""
    given = one.attributes.get("name") or one.attributes.get("tendon") or one.attributes.get("site") or one.tag
    effort = {"effort": {"limits": list(limits)}} if limits is not None else {}
    draft.put("actuators", {"name": draft.joints.take(given, one.line), **entry, **effort}, one)


def _used(draft: Draft, one: Element) -> None:
    draft.used(one)
    if one.tag != "motor":
        draft.note(CHANGED, f"actuator {one.tag}", "an actuator is there; its law is a scenario's", one)


def _limits(draft: Draft, one: Element, gear: float) -> tuple[float, float] | None:
    """The limits of a motor behind its gear, if it has both."""
    low, high = -math.inf, math.inf
    for key in ["forcerange"] + ["ctrlrange"] * (one.tag == "motor"):
        limited = one.attributes.get(key.replace("range", "limited"), "auto")
        if key in one.attributes and limited != "false":
            a, b = sorted(gear * x for x in draft.numbers(one, key, 2))
            low, high = max(low, a), min(high, b)
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low < high else None
