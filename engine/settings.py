"""Environment variables that change how denoc runs; their values are checked as those of options are."""

from __future__ import annotations

import os
from collections.abc import Callable

from .errors import InputError, did_you_mean


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdecimal() and int(value[:9]) > 0


def _may_be_folder(value: str) -> bool:
    """Whether nothing but folders is where the path leads, as far as it leads."""
    there = os.path.abspath(value)
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    return "\0" not in value and os.path.isdir(there)


# variable → what it may be: words, or a check and what it asks for
SETTINGS: dict[str, tuple[str, ...] | tuple[Callable[[str], bool], str]] = {
    "DENOC_BACKEND": ("auto", "compiled", "plain"),
    "DENOC_CACHE": (_may_be_folder, "a folder"),
    "DENOC_CORES": (_is_count, "a whole number from 1 on"),
    "DENOC_DEBUG": ("0", "1"),
    "DENOC_LANES": ("2", "4", "8"),
}


def environment_setting(name: str) -> str:
    """The value of one of these variables, empty if it isn't set; a value that isn't allowed is an error."""
    value = os.environ.get(name, "")
    if not value:
        return value
    first, *rest = SETTINGS[name]
    words = [first, *rest] if isinstance(first, str) else []
    if not (first(value) if callable(first) else value in words):
        hint = did_you_mean(value, words) or f"this is an environment variable; `unset {name}` removes it"
        allowed = ", ".join(map(str, words or rest))
        raise InputError("the value won't do", key=name, found=f"`{value[:60]}`", allowed=allowed, hint=hint)
    return value


def check_environment_settings() -> None:
    """Raises an error unless the values of all these variables are allowed."""
    for name in SETTINGS:
        environment_setting(name)
