"""Plain data as YAML text from which `source.py` reads exactly the same data, each number to its last bit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import safe_to_print

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
        if len(text) > DIGIT_LIMIT:
            return text
        try:
            number = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
            str(number)
        except ValueError:  # a hexadecimal number has more decimal digits; the limit itself can be set lower, too
            return text
        return number
    if _FLOAT.fullmatch(text):
        return float(text)  # inf where it overflows; readers that need a finite number check it
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z0-9_/.+(\-][A-Za-z0-9_/.+*^()°\- ]*(?<! )")  # text that needs no quotes anywhere
_STARTS = re.compile(r"- |---|-$|\.\.\.")  # text that YAML would take for a list's entry or a document's end


def yaml_text(data: Any, head: Iterable[str] = ()) -> str:
    """The text of a mapping; lines of `head` stand before it as comments."""
    comments = [f"# {safe_to_print(line)}".rstrip() for line in head]
    return "\n".join([*comments, *_yaml_lines(data, ""), ""])


def _yaml_lines(data: Any, pad: str) -> Iterator[str]:
    """The lines of a mapping or list, with one line for each entry that fits into one."""
    pairs = data.items() if isinstance(data, dict) else ((None, value) for value in data)
    for key, value in pairs:
        start = f"{pad}{_text(key)}:" if key is not None else f"{pad}-"
        short = yaml_flow_text(value)
        if len(start) + len(short) < WIDTH or not isinstance(value, dict | list) or not value:
            yield f"{start} {short}"
        elif key is None and isinstance(value, dict):  # its first line stands behind the dash
            lines = list(_yaml_lines(value, pad + "  "))
            yield f"{pad}- {lines[0].lstrip(' ')}"
            yield from lines[1:]
        else:
            yield start
            yield from _yaml_lines(value, pad + "  ")


def yaml_flow_text(value: Any) -> str:
    """A value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {yaml_flow_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(yaml_flow_text, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return repr(value)


def _text(text: str) -> str:
    """Text as YAML, in quotes only if it would be read back differently without."""
    if _PLAIN.fullmatch(text) and not _STARTS.match(text) and isinstance(resolve_yaml_scalar(text), str):
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
