"""The machine code of all builtins: the function that Python calls; see `builtin.py`."""

from __future__ import annotations

from functools import lru_cache

from ..backend import native, objects
from ..program.result_parts import ARRAY, VERDICT, WIDTH
from . import interpreter as at
from .builtin_batch import batch, blocks, copied, rows_of, writeable
from .builtin_words import LARGEST, ROUNDING, SMALLEST, Table, new_array
from .trigonometry import REACH
from .word_code import DOUBLE, Code, Value, ir_of_functions

NAME = "builtin"
PASSES = (
    "instruction_combine",
    "sroa",
    "new_gvn",
    "instruction_combine",
    "loop_rotate",
    "loop_simplify",
    "simplify_cfg",
)


@lru_cache(maxsize=1)
def loaded_builtin_code() -> native.Loaded:
    """The machine code of all builtins, which is compiled once for each processor."""
    code = objects.loaded_machine_code(NAME, [str(at.TUPLE_ITEMS)], builtin_code_ir, False, passes=PASSES)
    assert code is not None
    return code


def builtin_code_ir() -> str:
    """The IR of the function that Python calls, and of those that it calls."""
    return ir_of_functions(items, argument, unit, parted, writeable, rows_of, copied, blocks, batch, builtin)


def builtin(c: Code, owner: Value, given: Value, count: Value, names: Value) -> None:
    """The function that Python calls, with its `self`, the arguments, their number, and the names of named ones."""
    table = Table(owner.at(at.TUPLE_ITEMS).at(at.DATA))
    made, into = c.variable(), c.variable()
    c.need(count == table.arguments)
    with c.when(names != 0):
        c.need(names.at(at.SIZE) == 1)
        c.need(names.at(at.TUPLE_ITEMS) == table.out)
        into[0] = given[count]
    context = table.context
    with c.when(context != 0):
        chosen = c.variable()
        c.call(table.PyContextVar_Get, context, 0, chosen)
        c.call(table.Py_DecRef, chosen[0])
        c.need(chosen[0] == table.nothing)
    first = given[0]
    is_array = (first.at(at.TYPE) == table.ndarray) & (table.rows_code != 0)
    with c.when(is_array), c.when(first.integer(at.DIMENSIONS) == 2):
        found = c.call("batch", table.start, given, into[0])
        c.need(found != 0)
        c.answer(c.call("parted", table.start, found, first.at(at.SHAPE)[0]))
    c.need((table.code != 0) & (into[0] == 0))
    groups = _groups(c, table, given)
    outputs, parts, apart = table.outputs, table.parts, table.apart
    # a result is written where it stays if it has parts, which are views of it, or if nothing comes behind it
    stays, is_apart = (parts != 0) | (apart != 0), apart != 0
    results = c.variable()
    with c.when(stays):
        length = c.variable(outputs + 2)
        shape = c.pick(is_apart, table.place("rows"), length)
        made[0] = new_array(c, table, c.pick(is_apart, table.dimensions, 1), shape)
        with c.when(made[0] == 0):
            c.answer(0)  # Python's error says that memory is short
        results[0] = made[0].at(at.DATA)
    with c.when(~stays):
        results[0] = c.room(outputs + 2)
    watches = c.variable(results[0] + outputs * 8)
    with c.when(is_apart):
        watches[0] = c.room(2)
        c.call(apart, groups, results[0], table.environment, watches[0])
    with c.when(~is_apart):
        c.call(table.code, groups, results[0], table.environment)
    c.need((watches[0].double(0) == 0.0) & (watches[0].double(1) <= REACH))
    with c.loop(table.checks) as k:
        c.need(results[0].double(outputs - 1 - k) >= 0.0)
    with c.when(parts != 0):
        c.answer(c.call("parted", table.start, made[0], -1))
    with c.when(is_apart):
        c.answer(made[0])
    copy = new_array(c, table, table.dimensions, table.place("rows"))
    with c.when(copy != 0):
        c.call("memcpy", copy.at(at.DATA), results[0], table.kept * 8)
    c.answer(copy)
    c.failed()
    with c.when(made[0] != 0):
        c.call(table.Py_DecRef, made[0])
    general = table.general
    with c.when(general != 0):
        c.answer(c.call(table.PyObject_Vectorcall, general, given, count, names))
    c.call(table.Py_IncRef, table.none)
    c.answer(table.none)


def _groups(c: Code, table: Table, given: Value) -> Value:
    """The addresses of the doubles of all arguments; those that are joined lie one behind the other."""
    groups, room, used = c.room(table.arguments), c.room(table.numbers), c.variable()
    joined, units = table.joined, table.units
    with c.loop(table.arguments) as a:
        width = table.width(a)
        is_own = (a >= joined) | ((a == 0) & (units != 0))
        doubles = c.call("argument", table.start, given[a], width, room + used[0] * 8, is_own)
        c.need(doubles != 0)
        groups[a] = doubles
        used[0] = used[0] + width
    with c.loop(units) as u:
        c.need(c.call("unit", room + table.unit(u) * 8) != 0)
    return groups


def argument(c: Code, words: Value, thing: Value, width: Value, room: Value, is_own: Value) -> None:
    """The address of an argument's doubles, its own or a copy in `room`; 0 if it isn't fit."""
    table, kind = Table(words), thing.at(at.TYPE)
    with c.when(kind != table.ndarray):
        is_list = kind == table.list
        c.need(is_list | (kind == table.tuple))
        item_of = c.pick(is_list, table.PyList_GetItem, table.PyTuple_GetItem)
        c.answer(c.call("items", words, thing, item_of, width, room))
    flags = thing.integer(at.FLAGS)
    is_row = thing.integer(at.DIMENSIONS) == 1
    c.need(is_row & (thing.at(at.DESCRIPTION) == table.double) & ((flags & at.ALIGNED) != 0))
    c.need(thing.at(at.SHAPE)[0] == width)
    with c.when(((flags & at.CONTIGUOUS) != 0) & (is_own == 0)):
        c.answer(thing.at(at.DATA))
    data, stride = thing.at(at.DATA), thing.at(at.STRIDES)[0]
    with c.loop(width) as k:
        room[k] = data.at(k * stride)
    c.answer(room)


def items(c: Code, words: Value, thing: Value, item_of: Value, width: Value, room: Value) -> None:
    """Copies the items of a list or tuple into `room`; 0 if they aren't floats or integers."""
    table = Table(words)
    own, numpys = table.float, table.float64
    c.need(thing.at(at.SIZE) == width)
    with c.loop(width) as k:
        one = c.call(item_of, thing, k)
        kind = one.at(at.TYPE)
        is_float = (kind == own) | (kind == numpys)
        with c.when(is_float):
            room[k] = one.at(at.FLOAT)
        with c.when(~is_float):
            c.need(kind == table.int)
            x = c.call(table.PyLong_AsDouble, one, kind=DOUBLE)
            with c.when(x == -1.0), c.when(c.call(table.PyErr_Occurred) != 0):
                c.call(table.PyErr_Clear)
                c.answer(0)
            room[k] = x
    c.answer(room)


def unit(c: Code, four: Value) -> None:
    """Divides four numbers by their norm; 0 if that isn't within bounds."""
    x = [four.double(k) for k in range(4)]
    norm = c.function("sqrt", x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3])
    c.need((norm >= SMALLEST) & (norm <= LARGEST))
    with c.when(c.function("fabs", norm - 1.0) > ROUNDING):
        for k in range(4):
            four[k] = x[k] / norm
    c.answer(1)


def parted(c: Code, words: Value, whole: Value, count: Value) -> None:
    """The dictionary or tuple of a result's parts, or the only one without a name; without parts, the result itself.

    The number of samples is negative for one sample; the array belongs to the function.
    """
    table = Table(words)
    parts, line = table.parts, c.variable(table.parts_at)
    with c.when(parts == 0):
        c.answer(whole)
    data, is_tuple, is_one = whole.at(at.DATA), line[0][0] == 0, count < 0
    made, view, shape, strides = c.variable(), c.variable(), c.room(4), c.room(4)
    with c.when(is_tuple):
        made[0] = c.call(table.PyTuple_New, parts)
    with c.when(~is_tuple):
        made[0] = c.call(table.PyDict_New)
    c.need(made[0] != 0)
    shape[0], strides[0], strides[3] = count, table.kept * 8, 8
    skip = c.pick(is_one, 8, 0)
    with c.loop(parts) as p:
        name, first, dimensions, length, width, depth, kind = (line[0][k] for k in range(WIDTH))
        line[0] = line[0] + 8 * WIDTH
        here = data + first
        view[0] = first
        with c.when(kind == VERDICT):
            view[0] = c.pick(here.double(0) >= 0.0, width, length)
        with c.when(kind == ARRAY):
            shape[1], shape[2], shape[3] = length, width, depth
            strides[1], strides[2] = width * depth * 8, depth * 8
            flags = at.ALIGNED | at.WRITEABLE
            more = c.pick(is_one, 0, 1)
            array = new_array(c, table, dimensions + more, shape + skip, strides + skip, here, flags)
            c.need(array != 0)
            c.call(table.Py_IncRef, whole)
            c.call(table.PyArray_SetBaseObject, array, whole)
            view[0] = c.call(table.PyArray_Return, array)
            c.need(view[0] != 0)
        with c.when(is_tuple & (parts == 1)):
            c.call(table.Py_DecRef, made[0])
            c.call(table.Py_DecRef, whole)
            c.answer(view[0])
        with c.when(is_tuple):
            c.call(table.PyTuple_SetItem, made[0], p, view[0])
        with c.when(~is_tuple):
            c.call(table.PyDict_SetItem, made[0], name, view[0])
            with c.when(kind == ARRAY):
                c.call(table.Py_DecRef, view[0])
    c.call(table.Py_DecRef, whole)
    c.answer(made[0])
    c.failed()
    with c.when(made[0] != 0):
        c.call(table.Py_DecRef, made[0])
    c.call(table.Py_DecRef, whole)
