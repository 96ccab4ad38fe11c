"""Small turns of English that messages and tables share."""

from __future__ import annotations

from collections.abc import Sequence


def count_with_noun(n: int, what: str) -> str:
    """A count with its noun, such as `1 number` or `2 numbers`."""
    return f"{n} {what}{'s' * (n != 1)}"


def words_with_and(words: Sequence[str]) -> str:
    """Words in a list such as `x`, `x and y` or `x, y and z`."""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if len(words) > 1 else words)
