"""Dataclasses that are made in a third of the time.

`dataclasses.dataclass` writes up to six methods of a class as text and compiles them, which takes it a third of a
millisecond, and a command imports 190 dataclasses but makes objects of 60. Here Python writes `__init__` alone, when
the first object is made, and the other methods are functions that know the names of the fields. All else is Python's
own, and `fields`, `replace` and `asdict` see no difference. Mistakes, such as a field without a default after one that
has one, are left to mypy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(kind: type | None = None, *, frozen: bool = False, eq: bool = True, repr: bool = True) -> Any:
        """The class as a dataclass."""
        if kind is None:
            return lambda kind: dataclass(kind, frozen=frozen, eq=eq, repr=repr)
        own = {name for name, value in vars(kind).items() if value is not None}  # `__hash__` is None beside an `__eq__`
        kind.__doc__ = (
            kind.__doc__ or kind.__name__
        )  # else Python would compose one, which takes as long as all the rest
        dataclasses.dataclass(kind, init=False, repr=False, eq=False)
        fields = dataclasses.fields(kind)
        methods: dict[str, Any] = {"__init__": _Init(kind, frozen)}
        if repr:
            methods["__repr__"] = _shown_with([field.name for field in fields if field.repr])
        if eq:
            values = _values_of([field.name for field in fields if field.compare])
            methods["__eq__"] = _equal_by(values)
            methods["__hash__"] = (lambda self: hash(values(self))) if frozen else None
        if frozen:
            methods |= _guards(kind, {field.name for field in fields})
        for name in methods.keys() - own:
            setattr(kind, name, methods[name])
        return kind


class _Init:
    """Stands for the `__init__` of a class until it is asked for."""

    def __init__(self, kind: type, frozen: bool):
        self._kind, self._frozen = kind, frozen

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        written = _written_init(self._kind, self._frozen)
        type.__setattr__(self._kind, "__init__", written)  # threads that come at once write the same
        return written.__get__(instance, owner)


def _written_init(kind: Any, frozen: bool) -> Any:
    """The function that takes the values of the fields, as Python writes it for a class with these fields alone."""
    fields = [
        (
            field.name,
            field.type,
            dataclasses.field(default=field.default, default_factory=field.default_factory, init=field.init),
        )
        for field in dataclasses.fields(kind)
    ]
    body = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    if hasattr(kind, "__post_init__"):
        body["__post_init__"] = kind.__post_init__
    alike = dataclasses.make_dataclass(kind.__name__, fields, namespace=body, frozen=frozen, repr=False, eq=False)
    return vars(alike)["__init__"]


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda x: ()


def _equal_by(values: Callable[[Any], Any]) -> Callable[[Any, Any], bool]:
    return lambda self, other: values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented


def _shown_with(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def shown(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return shown


def _guards(kind: Any, names: set[str]) -> dict[str, Callable[..., None]]:
    """The methods that keep the fields of an object as they are."""

    def put(self: Any, name: str, value: Any) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    return {"__setattr__": put, "__delattr__": delete}
