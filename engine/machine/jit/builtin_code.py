"""The machine code of all builtins, and the words of their tables; see `builtin.py`."""

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
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyList_GetItem",
    "PyLong_AsDouble",
    "PyObject_Vectorcall",
    "PyTuple_GetItem",
    "Py_DecRef",
    "Py_IncRef",
)
OWN = (
    "code",  # for one sample; 0 while there is none
    "rows_code",  # for many samples; 0 while there is none
    "environment",  # an address that the code gets besides its groups
    "context",  # a context variable, or 0
    "nothing",  # the value that the context variable must have
    "general",  # the function for calls that the builtin can't handle; 0: these return None
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
    "most",  # the largest number of samples that aren't shared among processors
    "units",  # number of groups of four in the first argument that are normalised
)
WORDS = (*OBJECTS, *FUNCTIONS, *OWN)  # the arguments' widths and the places of the units follow
NAME = "builtin"
LONG = 500  # samples from which on Python's lock is released
SMALLEST, LARGEST, ROUNDING = 1e-6, 1e150, 1e-15  # bounds of a norm, and its allowed distance from 1


@lru_cache(maxsize=1)
def loaded() -> native.Loaded:
    """The machine code of all builtins, which is compiled once for each processor."""
    name = cache.key(NAME, *native.processor(), native.version(), str(at.TUPLE_ITEMS))
    code = cache.kept(name, lambda: native.compile_ir(text()), False)
    assert code is not None
    return native.Loaded(code)


def _words(*names: str) -> str:
    """IR that loads words of the table into registers of the same names."""
    lines = []
    for name in names:
        kind = "i64" if name in OWN[OWN.index("arguments") :] else "ptr"
        lines.append(f"  %{name}.at = getelementptr i64, ptr %table, i64 {WORDS.index(name)}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at")
    return "\n".join(lines)


def _field(register: str, of: str, distance: int, kind: str = "ptr") -> str:
    """IR that loads the word at this distance in bytes from the beginning of an object."""
    return f"""  %{register}.at = getelementptr i8, ptr %{of}, i64 {distance}
  %{register} = load {kind}, ptr %{register}.at"""


def _double(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def text() -> str:
    """The IR of the function that Python calls, and of its parts."""
    return "\n".join((_argument(), _items(), _unit(), _result(), _rows(), _filled(), _batch(), _function()))


def _argument() -> str:
    """IR of a function for the address of an argument's doubles, its own or a copy in `room`; null if it isn't fit."""
    return f"""
define internal ptr @argument(ptr %table, ptr %object, i64 %width, ptr %room, i1 %is_own) {{
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
{_argument_array()}
{_argument_copied()}
no:
  ret ptr null
}}"""


def _argument_array() -> str:
    """The part of `_argument` that checks the type and shape of an array."""
    return f"""array:
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
  br i1 %is_long, label %sized, label %no"""


def _argument_copied() -> str:
    """The part of `_argument` for the doubles of an array: its own if they are contiguous, else a copy."""
    return f"""sized:
  %whole = and i32 %flags, {at.CONTIGUOUS}
  %is_whole = icmp ne i32 %whole, 0
  %is_theirs = xor i1 %is_own, true
  %is_there = and i1 %is_whole, %is_theirs
  br i1 %is_there, label %there, label %strided
there:
  ret ptr %data
strided:
  %is_some = icmp ne i64 %width, 0
  br i1 %is_some, label %copying, label %copied
copying:
{_field("strides", "object", at.STRIDES)}
  %stride = load i64, ptr %strides
  br label %copy
copy:
  %k = phi i64 [0, %copying], [%next, %copy]
  %skip = mul i64 %k, %stride
  %from = getelementptr i8, ptr %data, i64 %skip
  %to = getelementptr double, ptr %room, i64 %k
  %x = load double, ptr %from
  store double %x, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %width
  br i1 %more, label %copy, label %copied
copied:
  ret ptr %room"""


def _items() -> str:
    """IR of a function that copies the items of a list or tuple into `room`; null if they aren't floats or integers."""
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
    """IR of a function that divides four numbers by their norm, and returns whether that is within bounds."""
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
    """IR of a function for a new array with the result; null, with Python's error set, if memory is short."""
    return f"""
define internal ptr @result(ptr %table, ptr %results) {{
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
  %from = getelementptr double, ptr %results, i64 %k
  %to = getelementptr double, ptr %data, i64 %k
  %x = load double, ptr %from
  store double %x, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %kept
  br i1 %more, label %copy, label %done
done:
  ret ptr %made
}}"""


def _rows() -> str:
    """IR of a function for the address of an argument's rows; null if it isn't a contiguous array of this shape."""
    return f"""
define internal ptr @rows(ptr %table, ptr %object, i64 %width, i64 %count) {{
{_words("ndarray", "double")}
{_field("type", "object", at.TYPE)}
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %array, label %no
array:
{_field("dimensions", "object", at.DIMENSIONS, "i32")}
{_field("description", "object", at.DESCRIPTION)}
{_field("flags", "object", at.FLAGS, "i32")}
  %good = and i32 %flags, {at.ALIGNED | at.CONTIGUOUS}
  %is_good = icmp eq i32 %good, {at.ALIGNED | at.CONTIGUOUS}
  %is_two = icmp eq i32 %dimensions, 2
  %is_double = icmp eq ptr %description, %double
  %is_plain = and i1 %is_two, %is_double
  %is_fit = and i1 %is_plain, %is_good
  br i1 %is_fit, label %shaped, label %no
shaped:
{_field("shape", "object", at.SHAPE)}
{_field("data", "object", at.DATA)}
  %second = getelementptr i64, ptr %shape, i64 1
  %rows = load i64, ptr %shape
  %columns = load i64, ptr %second
  %is_high = icmp eq i64 %rows, %count
  %is_wide = icmp eq i64 %columns, %width
  %is_right = and i1 %is_high, %is_wide
  br i1 %is_right, label %yes, label %no
yes:
  ret ptr %data
no:
  ret ptr null
}}"""


def _filled() -> str:
    """IR of a function that copies a few rows and repeats the last one until there are as many as lanes."""
    return """
define internal void @filled(ptr %from, ptr %to, i64 %width, i64 %count, i64 %lanes) {
  %final = sub i64 %count, 1
  br label %row
row:
  %r = phi i64 [0, %0], [%r.next, %row.done]
  %is_there = icmp slt i64 %r, %final
  %source = select i1 %is_there, i64 %r, i64 %final
  %source.skip = mul i64 %source, %width
  %skip = mul i64 %r, %width
  br label %number
number:
  %k = phi i64 [0, %row], [%k.next, %number]
  %from.place = add i64 %source.skip, %k
  %to.place = add i64 %skip, %k
  %from.at = getelementptr double, ptr %from, i64 %from.place
  %to.at = getelementptr double, ptr %to, i64 %to.place
  %x = load double, ptr %from.at
  store double %x, ptr %to.at
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %width
  br i1 %k.more, label %number, label %row.done
row.done:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %lanes
  br i1 %r.more, label %row, label %done
done:
  ret void
}"""


def _batch() -> str:
    """IR of a function for the result of many samples; null if the general function has to be called."""
    parts = (_batch_taken(), _batch_made(), _batch_run(), _batch_checked())
    return "define internal ptr @batch(ptr %table, ptr %given) {\n" + "\n".join(parts) + "\n}"


def _batch_taken() -> str:
    """The part of `_batch` that writes the addresses of all arguments' rows into `groups`."""
    return f"""{_words("rows_code", "arguments", "numbers", "joined", "units", "kept", "lanes", "most")}
  %first = load ptr, ptr %given
{_field("first.shape", "first", at.SHAPE)}
  %count = load i64, ptr %first.shape
  %last = add i64 %joined, 1
  %is_apart = icmp sle i64 %arguments, %last
  %has_no_units = icmp eq i64 %units, 0
  %has_some = icmp sgt i64 %count, 0
  %is_small = icmp sle i64 %count, %most
  %is_simple = and i1 %is_apart, %has_no_units
  %is_sized = and i1 %has_some, %is_small
  %is_fit = and i1 %is_simple, %is_sized
  br i1 %is_fit, label %begin, label %no
begin:
  %groups = alloca ptr, i64 %arguments
  br label %argument
argument:
  %a = phi i64 [0, %begin], [%a.next, %taken]
  %slot = getelementptr ptr, ptr %given, i64 %a
  %object = load ptr, ptr %slot
  %width.place = add i64 %a, {len(WORDS)}
  %width.at = getelementptr i64, ptr %table, i64 %width.place
  %width = load i64, ptr %width.at
  %data = call ptr @rows(ptr %table, ptr %object, i64 %width, i64 %count)
  %is_taken = icmp ne ptr %data, null
  br i1 %is_taken, label %taken, label %no
taken:
  %group.at = getelementptr ptr, ptr %groups, i64 %a
  store ptr %data, ptr %group.at
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %arguments
  br i1 %a.more, label %argument, label %make
no:
  ret ptr null"""


def _batch_made() -> str:
    """The part of `_batch` that makes a new array for the result, with a row or matrix for each sample."""
    return f"""make:
{_words("ndarray", "PyArray_New", "PyErr_Clear", "Py_DecRef", "dimensions", "rows", "columns")}
  %shape = alloca i64, i64 3
  %shape.rows = getelementptr i64, ptr %shape, i64 1
  %shape.columns = getelementptr i64, ptr %shape, i64 2
  store i64 %count, ptr %shape
  store i64 %rows, ptr %shape.rows
  store i64 %columns, ptr %shape.columns
  %dimensions.less = trunc i64 %dimensions to i32
  %dimensions.all = add i32 %dimensions.less, 1
  %made = call ptr %PyArray_New(ptr %ndarray, i32 %dimensions.all, ptr %shape, i32 {at.DOUBLE_NUMBER},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  %is_made = icmp ne ptr %made, null
  br i1 %is_made, label %ready, label %no_memory
no_memory:
  call void %PyErr_Clear()
  ret ptr null
ready:
{_field("result", "made", at.DATA)}
  %outputs = alloca ptr
  store ptr %result, ptr %outputs
  %status.size = mul i64 %lanes, 2
  %status = alloca double, i64 %status.size
  %is_few = icmp slt i64 %count, %lanes
  br i1 %is_few, label %few, label %enough"""


def _batch_run() -> str:
    """The part of `_batch` that calls the code: on few samples filled up to a block, on many without Python's lock."""
    return f"""few:
  %room.size = mul i64 %numbers, %lanes
  %room = alloca double, i64 %room.size
  %own.size = mul i64 %kept, %lanes
  %own = alloca double, i64 %own.size
  store ptr %own, ptr %outputs
  br label %fill
fill:
  %f = phi i64 [0, %few], [%f.next, %fill]
  %used = phi i64 [0, %few], [%used.next, %fill]
  %f.width.place = add i64 %f, {len(WORDS)}
  %f.width.at = getelementptr i64, ptr %table, i64 %f.width.place
  %f.width = load i64, ptr %f.width.at
  %f.at = getelementptr ptr, ptr %groups, i64 %f
  %f.from = load ptr, ptr %f.at
  %f.to = getelementptr double, ptr %room, i64 %used
  call void @filled(ptr %f.from, ptr %f.to, i64 %f.width, i64 %count, i64 %lanes)
  store ptr %f.to, ptr %f.at
  %f.size = mul i64 %f.width, %lanes
  %used.next = add i64 %used, %f.size
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %arguments
  br i1 %f.more, label %fill, label %run_few
run_few:
  call void %rows_code(i64 %lanes, ptr %groups, ptr %outputs, ptr %status)
  call void @filled(ptr %own, ptr %result, i64 %kept, i64 %count, i64 %count)
  br label %look
enough:
  %is_long = icmp sge i64 %count, {LONG}
  br i1 %is_long, label %long, label %short
short:
  call void %rows_code(i64 %count, ptr %groups, ptr %outputs, ptr %status)
  br label %look
long:
{_words("PyEval_SaveThread", "PyEval_RestoreThread")}
  %thread = call ptr %PyEval_SaveThread()
  call void %rows_code(i64 %count, ptr %groups, ptr %outputs, ptr %status)
  call void %PyEval_RestoreThread(ptr %thread)
  br label %look"""


def _batch_checked() -> str:
    """The part of `_batch` that looks at the code's checks, lane by lane."""
    return f"""look:
  %l = phi i64 [0, %run_few], [0, %short], [0, %long], [%l.next, %good]
  %finite.at = getelementptr double, ptr %status, i64 %l
  %largest.at = getelementptr double, ptr %finite.at, i64 %lanes
  %finite = load double, ptr %finite.at
  %largest = load double, ptr %largest.at
  %is_finite = fcmp oeq double %finite, {_double(0.0)}
  %is_within = fcmp ole double %largest, {_double(REACH)}
  %is_well = and i1 %is_finite, %is_within
  br i1 %is_well, label %good, label %bad
good:
  %l.next = add i64 %l, 1
  %l.more = icmp slt i64 %l.next, %lanes
  br i1 %l.more, label %look, label %answer
answer:
  ret ptr %made
bad:
  call void %Py_DecRef(ptr %made)
  ret ptr null"""


def _function() -> str:
    """IR of the function that Python calls, with `self`, the arguments, their number, and the names of named ones."""
    parts = (_whether(), _many(), _taking(), _units(), _running(), _leaving())
    return f"define ptr @{NAME}(ptr %self, ptr %given, i64 %count, ptr %names) {{\n" + "\n".join(parts) + "\n}"


def _whether() -> str:
    """The part of `_function` that decides whether the code may be used in this context."""
    return f"""{_field("words", "self", at.TUPLE_ITEMS)}
{_field("table", "words", at.DATA)}
{_words("code", "context", "nothing", "arguments", "numbers", "joined", "units", "outputs", "checks", "environment")}
  %has_no_names = icmp eq ptr %names, null
  %has_all = icmp eq i64 %count, %arguments
  %is_call = and i1 %has_no_names, %has_all
  br i1 %is_call, label %choice, label %leave
choice:
  %is_free = icmp eq ptr %context, null
  br i1 %is_free, label %many, label %ask
ask:
{_words("PyContextVar_Get", "Py_DecRef")}
  %chosen.at = alloca ptr
  store ptr null, ptr %chosen.at
  %failed = call i32 %PyContextVar_Get(ptr %context, ptr null, ptr %chosen.at)
  %chosen = load ptr, ptr %chosen.at
  call void %Py_DecRef(ptr %chosen)
  %is_nothing = icmp eq ptr %chosen, %nothing
  br i1 %is_nothing, label %many, label %leave"""


def _many() -> str:
    """The part of `_function` that passes two-dimensional arrays on to `batch`."""
    return f"""many:
{_words("ndarray", "rows_code")}
  %first = load ptr, ptr %given
{_field("first.type", "first", at.TYPE)}
  %is_array = icmp eq ptr %first.type, %ndarray
  %has_rows_code = icmp ne ptr %rows_code, null
  %may_be_many = and i1 %is_array, %has_rows_code
  br i1 %may_be_many, label %array, label %one
array:
{_field("dimensions", "first", at.DIMENSIONS, "i32")}
  %is_many = icmp eq i32 %dimensions, 2
  br i1 %is_many, label %batch, label %one
batch:
  %batched = call ptr @batch(ptr %table, ptr %given)
  %is_done = icmp ne ptr %batched, null
  br i1 %is_done, label %done, label %leave
done:
  ret ptr %batched
one:
  %has_code = icmp ne ptr %code, null
  br i1 %has_code, label %begin, label %leave"""


def _taking() -> str:
    """The part of `_function` that writes the addresses of all arguments' doubles into `groups`."""
    return f"""begin:
  %groups = alloca ptr, i64 %arguments
  %room = alloca double, i64 %numbers
  %all = add i64 %outputs, 2
  %results = alloca double, i64 %all
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
  %is_joined = icmp sge i64 %a, %joined
  %is_first = icmp eq i64 %a, 0
  %has_units = icmp ne i64 %units, 0
  %is_changed = and i1 %is_first, %has_units
  %is_own = or i1 %is_joined, %is_changed
  %doubles = call ptr @argument(ptr %table, ptr %object, i64 %width, ptr %room.here, i1 %is_own)
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
    """The part of `_function` that normalises groups of four in a copy of the first argument."""
    return f"""units_or_code:
  %no_units = icmp eq i64 %units, 0
  br i1 %no_units, label %run, label %own
own:
  %places.place = add i64 %arguments, {len(WORDS)}
  %places = getelementptr i64, ptr %table, i64 %places.place
  br label %unit
unit:
  %u = phi i64 [0, %own], [%u.next, %unit_done]
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
    """The part of `_function` that calls the code, looks at its checks, and returns the result."""
    return f"""run:
  call void %code(ptr %groups, ptr %results, ptr %environment)
  %finite.at = getelementptr double, ptr %results, i64 %outputs
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
  %l.at = getelementptr double, ptr %results, i64 %l.place
  %l.x = load double, ptr %l.at
  %l.good = fcmp oge double %l.x, {_double(0.0)}
  br i1 %l.good, label %look, label %leave
answer:
  %made = call ptr @result(ptr %table, ptr %results)
  ret ptr %made"""


def _leaving() -> str:
    """The part of `_function` that calls the general function."""
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
