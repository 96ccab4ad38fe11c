"""Small turns of English and Latin that messages and tables share."""

from __future__ import annotations

from collections.abc import Sequence


def count_with_noun(n: int, what: str) -> str:
    """A count with its noun, such as `1 number` or `2 numbers`."""
    return f"{n} {what}{'s' * (n != 1)}"


def words_with_and(words: Sequence[str]) -> str:
    """Words in a list such as `x`, `x and y` or `x, y and z`."""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if len(words) > 1 else words)


def roman_numeral(n: int) -> str:
    """The Roman numeral of a number, as in the papers: I, II, III, …"""
    numeral = ""
    for value, letters in ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV")):
        while n >= value:
            numeral, n = numeral + letters, n - value
    return numeral + "I" * n
