"""The table of languages in which a program can be written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .c import c_call, c_file, c_header
from .javascript import javascript_file
from .lines import python_call, python_file
from .recording import Program


@dataclass(frozen=True)
class Language:
    """A language of exported programs.

    `call(program, name)` gives the statement that calls the function; `file(program, name, about, head)` gives the text
    of a self-contained file, with the lines `head` as its comment, and `header(text)` that of the file with the suffix
    `.h` which declares what is in there.
    """

    about: str
    suffix: str
    call: Callable[[Program, str], str]
    file: Callable[[Program, str, str, Sequence[str]], str]
    header: Callable[[str], str] | None = None


LANGUAGES = {
    "c": Language("C99, without dependencies but <math.h>", ".c", c_call, c_file, c_header),
    "javascript": Language("JavaScript, for browsers and Node.js", ".js", c_call, javascript_file),
    "python": Language("Python, without dependencies but `math`", ".py", python_call, python_file),
}
