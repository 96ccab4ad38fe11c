"""A body's numbers by their places, so that some of them can be symbols: in a loop over bodies, in an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..machine.scalars import Scalar
from ..robot.model import Body

Path = tuple[Any, ...]
DRIVE = ("rotor", "viscous", "coulomb", "stiffness", "rest")


def paths(body: Body) -> list[Path]:
    """Where a body's numbers are."""
    found: list[Path] = [("rotation", k, c) for k in range(len(body.rotation)) for c in (2, 3)]
    found += [("origin", r) for r in range(3)] + [("pitch",)]
    found += [("E", r, s) for r in range(3) for s in range(r, 3)] + [("h", r) for r in range(3)] + [("m",)]
    return found + [("drives", k, key) for k in range(len(body.drives)) for key in DRIVE]


def number(body: Body, path: Path) -> Any:
    """The number at a place."""
    value: Any = body
    for step in path:
        value = getattr(value, step) if isinstance(step, str) else value[step]
    return value


def with_symbols(body: Body, symbols: Mapping[Path, Scalar]) -> Body:
    """The body with these scalars in the places of its numbers."""

    def at(*path: Any) -> Any:
        return symbols[path] if path in symbols else number(body, path)

    turns = enumerate(body.rotation)
    return replace(
        body,
        rotation=tuple((i, j, at("rotation", k, 2), at("rotation", k, 3)) for k, (i, j, _, _) in turns),
        origin=(at("origin", 0), at("origin", 1), at("origin", 2)),
        pitch=at("pitch"),
        drives=tuple(replace(d, **{key: at("drives", k, key) for key in DRIVE}) for k, d in enumerate(body.drives)),
        E=tuple(tuple(at("E", min(r, s), max(r, s)) for s in range(3)) for r in range(3)),  # type: ignore[arg-type]
        h=(at("h", 0), at("h", 1), at("h", 2)),
        m=at("m"),
    )
