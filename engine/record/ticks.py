"""Ticks found once: to place labels, matplotlib finds the ticks of an axis, and measures them, three times over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINDING, MEASURING, COPYING = "_update_ticks", "_get_ticklabel_bboxes", "_copy_tick_props"


@contextmanager
def found_once(figure: Figure) -> Iterator[None]:
    """A context in which nothing about the panels changes, so that ticks and sizes of their labels are found once.

    New ticks have all that they need from their axis: what is copied to them from the first one, they have already.  A
    matplotlib that has no such functions goes its own way.
    """
    given: list[tuple[Any, str]] = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not all(callable(getattr(axis, name, None)) for name in (FINDING, MEASURING, COPYING)):
                continue
            for name, instead in ((FINDING, _once), (MEASURING, _once), (COPYING, lambda _: _nothing)):
                setattr(axis, name, instead(getattr(axis, name)))
                given.append((axis, name))
    try:
        yield
    finally:
        for axis, name in given:
            delattr(axis, name)


def _once(find: Callable[..., Any]) -> Callable[..., Any]:
    return partial(_kept, find, [])


def _kept(find: Callable[..., Any], found: list[Any], *given: Any) -> Any:
    """What was found first."""
    if not found:
        found.append(find(*given))
    return found[0]


def _nothing(*_: Any) -> None:
    return None
