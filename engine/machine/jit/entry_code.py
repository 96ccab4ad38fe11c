"""The machine code of all entries, and the table of words that says what each one does; see `entry.py`."""

from __future__ import annotations

import struct
from functools import lru_cache

from . import cache, native
from . import interpreter as at
from .trigonometry import REACH

OBJECTS = ("float", "float64", "int", "list", "tuple", "ndarray", "double", "None")
FUNCTIONS = (
    "PyArray_New",
    "PyContextVar_Get",
    "PyErr_Clear",
    "PyErr_Occurred",
    "PyList_GetItem",
    "PyLong_AsDouble",
    "PyObject_Vectorcall",
    "PyTuple_GetItem",
    "Py_DecRef",
    "Py_IncRef",
)
OWN = (
    "code",  # 0 while there is none
    "environment",  # what the code is given besides
    "context",  # the variable that must have this value, if there is one
    "nothing",
    "general",  # the function that gets what this one can't do; else None is the answer
    "arguments",
    "numbers",  # of all arguments
    "outputs",  # numbers that the code gives
    "kept",  # of them, the first so many go back
    "checks",  # and the last so many must not be negative
    "dimensions",  # of the result
    "rows",
    "columns",
    "units",  # how many groups of four numbers of the first argument have to have the norm 1
)
WORDS = (*OBJECTS, *FUNCTIONS, *OWN)  # then the arguments' widths, and the places of the units
NAME = "entry"
SMALLEST, LARGEST, ROUNDING = 1e-6, 1e150, 1e-15  # of a norm that is to be 1


@lru_cache(maxsize=1)
def loaded() -> native.Loaded:
    """The machine code of all entries, made once for each processor."""
    name = cache.key(NAME, *native.processor(), native.version(), str(at.TUPLE_ITEMS))
    code = cache.kept(name, lambda: native.compile_ir(text()), False)
    assert code is not None
    return native.Loaded(code)


def _words(*names: str) -> str:
    """IR that puts words of the table into registers of their names."""
    lines = []
    for name in names:
        kind = "i64" if name in OWN[5:] else "ptr"
        lines.append(f"  %{name}.at = getelementptr i64, ptr %table, i64 {WORDS.index(name)}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at")
    return "\n".join(lines)


def _field(register: str, of: str, distance: int, kind: str = "ptr") -> str:
    """IR that reads what lies so many bytes behind the beginning of an object."""
    return f"""  %{register}.at = getelementptr i8, ptr %{of}, i64 {distance}
  %{register} = load {kind}, ptr %{register}.at"""


def _double(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def text() -> str:
    """The IR of the function and its parts."""
    return "\n".join((_argument(), _items(), _unit(), _result(), _function()))


def _argument() -> str:
    """IR of the doubles of one argument: where they lie, or, if need be, copied into `room`; null if it isn't fit."""
    return f"""
define internal ptr @argument(ptr %table, ptr %object, i64 %width, ptr %room) {{
{_words("list", "tuple", "ndarray", "double", "PyList_GetItem", "PyTuple_GetItem")}
{_field("type", "object", at.TYPE)}
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %array, label %other
other:
  %is_list = icmp eq ptr %type, %list
  br i1 %is_list, label %from_list, label %another
another:
  %is_tuple = icmp eq ptr %type, %tuple
  br i1 %is_tuple, label %from_tuple, label %no
from_list:
  %of_list = call ptr @items(ptr %table, ptr %object, ptr %PyList_GetItem, i64 %width, ptr %room)
  ret ptr %of_list
from_tuple:
  %of_tuple = call ptr @items(ptr %table, ptr %object, ptr %PyTuple_GetItem, i64 %width, ptr %room)
  ret ptr %of_tuple
array:
{_field("dimensions", "object", at.DIMENSIONS, "i32")}
{_field("description", "object", at.DESCRIPTION)}
{_field("flags", "object", at.FLAGS, "i32")}
  %aligned = and i32 %flags, {at.ALIGNED}
  %is_aligned = icmp ne i32 %aligned, 0
  %is_row = icmp eq i32 %dimensions, 1
  %is_double = icmp eq ptr %description, %double
  %is_plain = and i1 %is_row, %is_double
  %is_fit = and i1 %is_plain, %is_aligned
  br i1 %is_fit, label %row, label %no
row:
{_field("shape", "object", at.SHAPE)}
{_field("data", "object", at.DATA)}
  %length = load i64, ptr %shape
  %is_long = icmp eq i64 %length, %width
  br i1 %is_long, label %sized, label %no
sized:
  %whole = and i32 %flags, {at.CONTIGUOUS}
  %is_whole = icmp ne i32 %whole, 0
  br i1 %is_whole, label %there, label %strided
there:
  ret ptr %data
strided:
{_field("strides", "object", at.STRIDES)}
  %stride = load i64, ptr %strides
  br label %copy
copy:
  %k = phi i64 [0, %strided], [%next, %copy]
  %skip = mul i64 %k, %stride
  %from = getelementptr i8, ptr %data, i64 %skip
  %to = getelementptr double, ptr %room, i64 %k
  %x = load double, ptr %from
  store double %x, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %width
  br i1 %more, label %copy, label %copied
copied:
  ret ptr %room
no:
  ret ptr null
}}"""


def _items() -> str:
    """IR of the doubles of a list's or tuple's items, where these are floats and whole numbers."""
    return f"""
define internal ptr @items(ptr %table, ptr %object, ptr %item_of, i64 %width, ptr %room) {{
{_words("float", "float64", "int", "PyLong_AsDouble", "PyErr_Occurred", "PyErr_Clear")}
{_field("size", "object", at.SIZE, "i64")}
  %is_long = icmp eq i64 %size, %width
  br i1 %is_long, label %begin, label %no
begin:
  %is_empty = icmp eq i64 %width, 0
  br i1 %is_empty, label %done, label %item
item:
  %k = phi i64 [0, %begin], [%next, %store]
  %one = call ptr %item_of(ptr %object, i64 %k)
{_field("type", "one", at.TYPE)}
  %is_float = icmp eq ptr %type, %float
  %is_float64 = icmp eq ptr %type, %float64
  %is_there = or i1 %is_float, %is_float64
  br i1 %is_there, label %read, label %other
read:
{_field("there", "one", at.FLOAT, "double")}
  br label %store
other:
  %is_int = icmp eq ptr %type, %int
  br i1 %is_int, label %convert, label %no
convert:
  %converted = call double %PyLong_AsDouble(ptr %one)
  %is_doubtful = fcmp oeq double %converted, {_double(-1.0)}
  br i1 %is_doubtful, label %doubtful, label %store
doubtful:
  %error = call ptr %PyErr_Occurred()
  %is_error = icmp ne ptr %error, null
  br i1 %is_error, label %too_large, label %store
too_large:
  call void %PyErr_Clear()
  br label %no
store:
  %x = phi double [%there, %read], [%converted, %convert], [%converted, %doubtful]
  %to = getelementptr double, ptr %room, i64 %k
  store double %x, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %width
  br i1 %more, label %item, label %done
done:
  ret ptr %room
no:
  ret ptr null
}}"""


def _unit() -> str:
    """IR that brings four numbers to norm 1, and says whether that could be."""
    loads = "\n".join(
        f"  %at{k} = getelementptr double, ptr %four, i64 {k}\n  %x{k} = load double, ptr %at{k}\n"
        f"  %square{k} = fmul double %x{k}, %x{k}"
        for k in range(4)
    )
    stores = "\n".join(f"  %y{k} = fdiv double %x{k}, %norm\n  store double %y{k}, ptr %at{k}" for k in range(4))
    return f"""
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
define internal i1 @unit(ptr %four) {{
{loads}
  %sum1 = fadd double %square0, %square1
  %sum2 = fadd double %sum1, %square2
  %sum3 = fadd double %sum2, %square3
  %norm = call double @llvm.sqrt.f64(double %sum3)
  %is_large = fcmp oge double %norm, {_double(SMALLEST)}
  %is_small = fcmp ole double %norm, {_double(LARGEST)}
  %is_fit = and i1 %is_large, %is_small
  br i1 %is_fit, label %fit, label %no
fit:
  %beyond = fsub double %norm, {_double(1.0)}
  %off = call double @llvm.fabs.f64(double %beyond)
  %is_off = fcmp ogt double %off, {_double(ROUNDING)}
  br i1 %is_off, label %divide, label %done
divide:
{stores}
  br label %done
done:
  ret i1 true
no:
  ret i1 false
}}"""


def _result() -> str:
    """IR of a new array of what is kept; null, with Python's error set, where there is no memory."""
    return f"""
define internal ptr @result(ptr %table, ptr %found) {{
{_words("ndarray", "PyArray_New", "kept", "dimensions", "rows")}
  %count = trunc i64 %dimensions to i32
  %made = call ptr %PyArray_New(ptr %ndarray, i32 %count, ptr %rows.at, i32 {at.DOUBLE_NUMBER},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  %is_none = icmp eq ptr %made, null
  br i1 %is_none, label %done, label %filled
filled:
{_field("data", "made", at.DATA)}
  br label %copy
copy:
  %k = phi i64 [0, %filled], [%next, %copy]
  %from = getelementptr double, ptr %found, i64 %k
  %to = getelementptr double, ptr %data, i64 %k
  %x = load double, ptr %from
  store double %x, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %kept
  br i1 %more, label %copy, label %done
done:
  ret ptr %made
}}"""


def _function() -> str:
    """IR of the function that Python calls: `self`, the arguments, their number, and names of those that have one."""
    parts = (_whether(), _taking(), _units(), _running(), _leaving())
    return f"define ptr @{NAME}(ptr %self, ptr %given, i64 %count, ptr %names) {{\n" + "\n".join(parts) + "\n}"


def _whether() -> str:
    """Part of it: whether there is code, and it may be called in this way just now."""
    return f"""{_field("words", "self", at.TUPLE_ITEMS)}
{_field("table", "words", at.DATA)}
{_words("code", "context", "nothing", "arguments", "numbers", "units", "outputs", "checks", "environment")}
  %has_code = icmp ne ptr %code, null
  %has_no_names = icmp eq ptr %names, null
  %has_all = icmp eq i64 %count, %arguments
  %is_call = and i1 %has_no_names, %has_all
  %is_good = and i1 %is_call, %has_code
  br i1 %is_good, label %choice, label %leave
choice:
  %is_free = icmp eq ptr %context, null
  br i1 %is_free, label %begin, label %ask
ask:
{_words("PyContextVar_Get", "Py_DecRef")}
  %chosen.at = alloca ptr
  store ptr null, ptr %chosen.at
  %failed = call i32 %PyContextVar_Get(ptr %context, ptr null, ptr %chosen.at)
  %chosen = load ptr, ptr %chosen.at
  call void %Py_DecRef(ptr %chosen)
  %is_nothing = icmp eq ptr %chosen, %nothing
  br i1 %is_nothing, label %begin, label %leave"""


def _taking() -> str:
    """Part of it: the doubles of all arguments, their addresses in `groups`."""
    return f"""begin:
  %groups = alloca ptr, i64 %arguments
  %room = alloca double, i64 %numbers
  %all = add i64 %outputs, 2
  %found = alloca double, i64 %all
  br label %argument
argument:
  %a = phi i64 [0, %begin], [%a.next, %taken]
  %used = phi i64 [0, %begin], [%used.next, %taken]
  %slot = getelementptr ptr, ptr %given, i64 %a
  %object = load ptr, ptr %slot
  %width.place = add i64 %a, {len(WORDS)}
  %width.at = getelementptr i64, ptr %table, i64 %width.place
  %width = load i64, ptr %width.at
  %room.here = getelementptr double, ptr %room, i64 %used
  %doubles = call ptr @argument(ptr %table, ptr %object, i64 %width, ptr %room.here)
  %is_taken = icmp ne ptr %doubles, null
  br i1 %is_taken, label %taken, label %leave
taken:
  %group.at = getelementptr ptr, ptr %groups, i64 %a
  store ptr %doubles, ptr %group.at
  %used.next = add i64 %used, %width
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %arguments
  br i1 %a.more, label %argument, label %units_or_code"""


def _units() -> str:
    """Part of it: groups of four brought to norm 1, in a copy of the first argument."""
    return f"""units_or_code:
  %no_units = icmp eq i64 %units, 0
  br i1 %no_units, label %run, label %own
own:
  %first = load ptr, ptr %groups
  %first.width.at = getelementptr i64, ptr %table, i64 {len(WORDS)}
  %first.width = load i64, ptr %first.width.at
  br label %copy
copy:
  %c = phi i64 [0, %own], [%c.next, %copy]
  %c.from = getelementptr double, ptr %first, i64 %c
  %c.to = getelementptr double, ptr %room, i64 %c
  %c.x = load double, ptr %c.from
  store double %c.x, ptr %c.to
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %first.width
  br i1 %c.more, label %copy, label %copied
copied:
  store ptr %room, ptr %groups
  %places = getelementptr i64, ptr %first.width.at, i64 %arguments
  br label %unit
unit:
  %u = phi i64 [0, %copied], [%u.next, %unit_done]
  %place.at = getelementptr i64, ptr %places, i64 %u
  %place = load i64, ptr %place.at
  %four = getelementptr double, ptr %room, i64 %place
  %is_unit = call i1 @unit(ptr %four)
  br i1 %is_unit, label %unit_done, label %leave
unit_done:
  %u.next = add i64 %u, 1
  %u.more = icmp slt i64 %u.next, %units
  br i1 %u.more, label %unit, label %run"""


def _running() -> str:
    """Part of it: the call of the code, what it watches and checks, the result."""
    return f"""run:
  call void %code(ptr %groups, ptr %found, ptr %environment)
  %finite.at = getelementptr double, ptr %found, i64 %outputs
  %finite = load double, ptr %finite.at
  %largest.at = getelementptr double, ptr %finite.at, i64 1
  %largest = load double, ptr %largest.at
  %is_finite = fcmp oeq double %finite, {_double(0.0)}
  %is_within = fcmp ole double %largest, {_double(REACH)}
  %is_well = and i1 %is_finite, %is_within
  br i1 %is_well, label %look, label %leave
look:
  %l = phi i64 [0, %run], [%l.next, %check]
  %l.more = icmp slt i64 %l, %checks
  br i1 %l.more, label %check, label %answer
check:
  %l.next = add i64 %l, 1
  %l.place = sub i64 %outputs, %l.next
  %l.at = getelementptr double, ptr %found, i64 %l.place
  %l.x = load double, ptr %l.at
  %l.good = fcmp oge double %l.x, {_double(0.0)}
  br i1 %l.good, label %look, label %leave
answer:
  %made = call ptr @result(ptr %table, ptr %found)
  ret ptr %made"""


def _leaving() -> str:
    """Part of it: what can't be done here is left to the general function."""
    return f"""leave:
{_words("general", "PyObject_Vectorcall", "None", "Py_IncRef")}
  %has_general = icmp ne ptr %general, null
  br i1 %has_general, label %generally, label %none
generally:
  %left = call ptr %PyObject_Vectorcall(ptr %general, ptr %given, i64 %count, ptr %names)
  ret ptr %left
none:
  call void %Py_IncRef(ptr %None)
  ret ptr %None"""
