"""Sections `initial` and `rates`: coordinates and speeds at the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ...robot.read import unit_euler_parameters
from ...simulate.systems import Driving, Motion, System
from ...text import Keys
from .reading import Reading, numbers_in_words

ALIKE = 1e-9  # rad, m, or per second, and relative: values this near are the same


@dataclass(frozen=True)
class Start:
    """The start of a run, the motions that can be prescribed, the drives' laws, and warnings about moved values."""

    q0: list[float]
    qd0: list[float]
    prescribed: list[Motion]
    driving: list[Driving]
    warnings: tuple[str, ...] = ()


def read_initial_coordinates(reading: Reading) -> list[float]:
    """The coordinates at the start, before loops are closed: those of the file, or else the robot's."""
    q = list(reading.robot.q0)
    for joint, values in reading.values("initial", reading.file.initial, lambda joint: joint.type.coordinates):
        path = ("initial", joint.name)
        for k, (value, kind) in enumerate(zip(values, joint.type.kinds)):
            reading.fits(value, kind, (*path, k) if len(values) > 1 else path)
        unit = unit_euler_parameters([float(x) for x in values], joint.type, partial(reading.error, path))
        for k, x in zip(joint.coordinates, unit):
            q[k] = x
    return q


def read_initial_speeds(reading: Reading) -> list[float]:
    """The speeds at the start: those of the file, or else 0."""
    qd = [0.0] * reading.robot.nv
    for joint, values in reading.values("rates", reading.file.rates, lambda joint: joint.type.speeds):
        path: Keys = ("rates", joint.name)
        for n, (k, x, turning) in enumerate(zip(joint.speeds, values, joint.type.turning)):
            reading.fits(x, "rate" if turning else "speed", (*path, n) if len(values) > 1 else path)
            qd[k] = float(x)
    return qd


def refuse_contradictory_initial_entries(reading: Reading, prescribed: Sequence[Motion]) -> None:
    """Raises an error if an entry under `initial` or `rates` contradicts the prescribed motion of its joint."""
    asked = {"initial": read_initial_coordinates(reading), "rates": read_initial_speeds(reading)}
    for one in prescribed:
        places, rates, _ = one.at(reading.span[0])
        for section, values, ks, own in (
            ("initial", reading.file.initial, one.joint.coordinates, places),
            ("rates", reading.file.rates, one.joint.speeds, rates),
        ):
            if one.joint.name not in values:
                continue
            given, its = [asked[section][k] for k in ks], [float(x) for x in own]
            if any(abs(x - y) > ALIKE * max(1.0, abs(y)) for x, y in zip(given, its)):
                what = "place" if section == "initial" else "speed"
                raise reading.error(
                    (section, one.joint.name),
                    f"the motion of `{one.joint.name}` is prescribed, and its {what} at the start is another one",
                    found=numbers_in_words(given, range(len(ks))),
                    allowed=f"{numbers_in_words(its, range(len(ks)))}, or no entry",
                    hint="`from` of a motion is the initial value by default" if section == "initial" else "",
                )


def blows_at_start(system: System, q0: Sequence[float], qd0: Sequence[float]) -> Iterator[str]:
    """Warnings about joints that start at a stop and move into it: a blow changes the given rates at once."""
    for k, (coordinate, low, high) in system.stopped.items():
        slack, x, outwards = ALIKE * (high - low), q0[coordinate], qd0[k]
        if (x <= low + slack and outwards < 0.0) or (x >= high - slack and outwards > 0.0):
            joint, which = next(j for j in system.robot.moving if k in j.speeds), "upper" if outwards > 0.0 else "lower"
            yield (
                f"`{joint.name}` starts at its {which} limit, {x:.6g}, and moves into it with {outwards:.6g}: a blow "
                "stops it at the start, and changes the rates of what moves with it"
            )


def refuse_start_beyond_stops(reading: Reading, system: System, q0: Sequence[float]) -> None:
    """Raises an error if a joint starts beyond its stops."""
    for coordinate, low, high in system.stopped.values():
        x = q0[coordinate]
        slack = 1e-9 * (high - low)
        if not low - slack <= x <= high + slack:
            joint = next(j for j in reading.robot.moving if coordinate in j.coordinates)
            raise reading.error(
                ("initial", joint.name),
                f"`{joint.name}` would start outside its limits",
                found=f"{x:g}",
                allowed=f"{low:g} to {high:g}",
                hint="start inside, or `limits: ignore` under `solver`",
            )
