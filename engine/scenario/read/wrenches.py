"""Section `wrenches`: wrenches on links, with components that may be laws of time, or formulas over time and state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...errors import allowed_names
from ...laws import ForceLaw, laws_of_state, laws_of_time
from ...simulate.systems import TimedWrench
from ...text import Keys, yaml_value_in_words
from .formulas import read_formula_force
from .reading import Reading

Component = Callable[[Any], Any]  # of time: of an instant, or of an array of them


def read_scenario_wrenches(reading: Reading) -> list[TimedWrench]:
    """The wrenches, each with its components as functions of time."""
    wrenches = []
    links = [link.name for link in reading.robot.links]
    for k, entry in enumerate(reading.file.wrenches):
        path = ("wrenches", k)
        if entry.link not in links:
            message = f"{reading.robot.name} has no link `{entry.link}`"
            raise reading.error((*path, "link"), message, **allowed_names(entry.link, links))
        components: list[Component] = []
        whole, steady = [], []
        for key, kind in (("moment", "moment"), ("force", "force")):
            for place, value in enumerate(getattr(entry, key)):
                at = (*path, key, place)
                steady += [] if isinstance(value, ForceLaw) else [len(components)]
                if isinstance(value, ForceLaw) and value.reads_all():
                    given = value.formulas(1)
                    if len(given) != 1:
                        message, found = "one component needs 1 formula", str(len(given))
                        raise reading.error((*at, given[0][0]), message, found=found, allowed="one")
                    own, formula = given[0]
                    whole.append((len(components), read_formula_force(reading, formula, (*at, own), None, None)))
                    components.append(_time)
                else:
                    components.append(read_wrench_component(reading, value, kind, at))
        x, y, z = entry.at
        there = float(x), float(y), float(z)
        wrenches.append(TimedWrench(entry.link, tuple(components), there, entry.axes, tuple(whole), tuple(steady)))
    return wrenches


def _time(t: Any) -> Any:
    return t


def read_wrench_laws(reading: Reading) -> list[tuple[ForceLaw, Keys]]:
    """The laws among the components of wrenches, and their paths."""
    return [
        (component, ("wrenches", k, key, place))
        for k, entry in enumerate(reading.file.wrenches)
        for key in ("force", "moment")
        for place, component in enumerate(getattr(entry, key))
        if isinstance(component, ForceLaw)
    ]


def read_wrench_component(reading: Reading, value: Any, kind: str, path: Keys) -> Component:
    """A component of a wrench as a function of time."""
    if not isinstance(value, ForceLaw):
        reading.fits(value, kind, path)
        number = float(value)
        return lambda t: number
    if not value.of_time():
        raise reading.error(
            path,
            "a wrench can't depend on the state of a joint",
            found=f"law: {getattr(value, 'law', '')}",
            allowed=", ".join(["a number", *laws_of_state(), *laws_of_time()]),
        )
    for key, kind_of_parameter, given in value.measured():
        if kind_of_parameter != "effort":
            continue
        if isinstance(given, tuple):
            raise reading.error(
                (*path, key), "one component needs 1 number", found=yaml_value_in_words(given), allowed="one"
            )
        reading.fits(given, kind, (*path, key))
    function = reading.tabled(value, path, [kind], "one component", partial(value.forces, 1, reading.folder))[0]

    def at(t: Any) -> Any:
        if isinstance(t, np.ndarray):
            return np.array([function(float(x), 0.0, 0.0, None) for x in t])
        return function(t, 0.0, 0.0, None)

    return at
