"""The values of YAML scalars without quotes, by the YAML 1.2 core schema."""

from __future__ import annotations

import re

DIGIT_LIMIT = 4300  # Python itself doesn't convert longer integers from and to text

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def resolve_yaml_scalar(text: str) -> str | int | float | bool | None:
    """The value of a scalar without quotes, by the YAML 1.2 core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)  # inf where it overflows; readers that need a finite number check it
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def _integer(text: str) -> int | str:
    """The integer, or the text itself when it has more digits than Python prints."""
    if len(text) > DIGIT_LIMIT:
        return text
    try:
        number = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        str(number)
    except ValueError:  # a hexadecimal number has more decimal digits; the limit itself can be set lower, too
        return text
    return number
