"""The table of words that a builtin's machine code reads, and pieces of that code which read it; see `builtin.py`."""

from __future__ import annotations

import struct

from .interpreter import CALLED

OBJECTS = ("float", "float64", "int", "list", "tuple", "ndarray", "double", "None")
FUNCTIONS = ("PyArray_New", "PyArray_Return", "PyArray_SetBaseObject", *CALLED)
OWN = (
    "code",  # for one sample; 0 while there is none
    "apart",  # the same with another place for the watches, where results are nothing but outputs; or 0
    "rows_code",  # for many samples; 0 while there is none
    "environment",  # an address that the code gets besides its groups
    "context",  # a context variable, or 0
    "nothing",  # the value that the context variable must have
    "general",  # the function for calls that the builtin can't handle; 0: these return None
    "out",  # the name of the argument for an array into which results of many samples are written
    "parts_at",  # the address of the words that describe the parts of the result
    "crew",  # the box of the threads that help with many samples
    "share",  # the function that shares them
    "arguments",  # number of arguments
    "numbers",  # number of doubles in all arguments
    "joined",  # arguments from this one on are one group of the code's inputs
    "outputs",  # number of doubles that the code computes
    "kept",  # the first so many of them are the result
    "checks",  # the last so many of them must not be negative
    "dimensions",  # of the result
    "rows",
    "columns",
    "lanes",  # the least number of samples for the code for many
    "block",  # number of samples that it does at a time where rows have to be copied
    "most",  # the largest number of samples
    "helpers",  # the number of threads that help with many samples
    "straight",  # the array of the caller's into which results go straight, which the arguments don't overlap
    "units",  # number of groups of four in the first argument that are normalised
    "parts",  # number of parts into which the result is divided; 0: it is one array
)
WORDS = (*OBJECTS, *FUNCTIONS, *OWN)  # the arguments' widths and the places of the units follow
PLACES = {name: place for place, name in enumerate(WORDS)}
LONG = 500  # samples from which on Python's lock is released
SMALLEST, LARGEST, ROUNDING = 1e-6, 1e150, 1e-15  # bounds of a norm, and its allowed distance from 1


def ir_that_loads_words(*names: str) -> str:
    """IR that loads words of the table into registers of the same names."""
    lines = []
    for name in names:
        kind = "i64" if name in OWN[OWN.index("arguments") :] else "ptr"
        lines.append(f"  %{name}.at = getelementptr i64, ptr %table, i64 {WORDS.index(name)}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at")
    return "\n".join(lines)


def ir_that_loads_field(register: str, of: str, distance: int, kind: str = "ptr") -> str:
    """IR that loads the word at this distance in bytes from the beginning of an object."""
    return f"""  %{register}.at = getelementptr i8, ptr %{of}, i64 {distance}
  %{register} = load {kind}, ptr %{register}.at"""


def ir_of_double(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
