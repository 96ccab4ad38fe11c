"""The table of words that a builtin's machine code reads; see `builtin.py`."""

from __future__ import annotations

from . import interpreter as at
from .word_code import Code, Operand, Value

OBJECTS = ("float", "float64", "int", "list", "tuple", "ndarray", "double", "none")
FUNCTIONS = ("PyArray_New", "PyArray_Return", "PyArray_SetBaseObject", *at.CALLED)
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
    "share",  # the function that shares the rows of many samples among threads; 0 where one does them all
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
    "straight",  # the array of the caller's into which results go straight, which the arguments don't overlap
    "units",  # number of groups of four in the first argument that are normalised
    "parts",  # number of parts into which the result is divided; 0: it is one array
)
WORDS = (*OBJECTS, *FUNCTIONS, *OWN)  # the arguments' widths and the places of the units follow
# words behind a copy of the table, of what is done with many samples, while others may change the table itself
JOB = ("table", "sources", "row_steps", "column_steps", "copies", "result", "count", "bad")
PLACES = {name: place for place, name in enumerate((*WORDS, *JOB))}
LONG = 500  # samples from which on Python's lock is released
SMALLEST, LARGEST, ROUNDING = 1e-6, 1e150, 1e-15  # bounds of a norm, and its allowed distance from 1


class Table:
    """The words at an address, as attributes."""

    def __init__(self, start: Value):
        self.start = start

    def __getattr__(self, name: str) -> Value:
        return self.start[PLACES[name]]

    def place(self, name: str) -> Value:
        return self.start + 8 * PLACES[name]

    def width(self, argument: Value) -> Value:
        """The number of doubles in an argument."""
        return self.start[argument + len(WORDS)]

    def unit(self, k: Value) -> Value:
        """The place in the first argument of a group of four that is normalised."""
        return self.start[self.arguments + len(WORDS) + k]


def new_array(
    c: Code, table: Table, dimensions: Operand, shape: Value, strides: Operand = 0, data: Operand = 0, flags: int = 0
) -> Value:
    """A new array of doubles, or a view of `data`; 0, with Python's error set, if memory is short."""
    of = table.ndarray
    return c.call(table.PyArray_New, of, dimensions, shape, at.DOUBLE_NUMBER, strides, data, 0, flags, 0)
