"""The machine code of builtins for many samples."""

from __future__ import annotations

from . import interpreter as at
from .builtin_words import LONG, WORDS, double, field, words
from .trigonometry import REACH


def text() -> str:
    """The IR of the functions `rows`, `filled` and `batch`."""
    return "\n".join((_rows(), _filled(), _batch()))


def _rows() -> str:
    """IR of a function for the address of an argument's rows; null if it isn't a contiguous array of this shape."""
    return f"""
define internal ptr @rows(ptr %table, ptr %object, i64 %width, i64 %count) {{
{words("ndarray", "double")}
{field("type", "object", at.TYPE)}
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %array, label %no
array:
{field("dimensions", "object", at.DIMENSIONS, "i32")}
{field("description", "object", at.DESCRIPTION)}
{field("flags", "object", at.FLAGS, "i32")}
  %good = and i32 %flags, {at.ALIGNED | at.CONTIGUOUS}
  %is_good = icmp eq i32 %good, {at.ALIGNED | at.CONTIGUOUS}
  %is_two = icmp eq i32 %dimensions, 2
  %is_double = icmp eq ptr %description, %double
  %is_plain = and i1 %is_two, %is_double
  %is_fit = and i1 %is_plain, %is_good
  br i1 %is_fit, label %shaped, label %no
shaped:
{field("shape", "object", at.SHAPE)}
{field("data", "object", at.DATA)}
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
    return f"""{words("rows_code", "arguments", "numbers", "joined", "units", "kept", "lanes", "most")}
  %first = load ptr, ptr %given
{field("first.shape", "first", at.SHAPE)}
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
{words("ndarray", "PyArray_New", "PyErr_Clear", "Py_DecRef", "dimensions", "rows", "columns")}
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
{field("result", "made", at.DATA)}
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
{words("PyEval_SaveThread", "PyEval_RestoreThread")}
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
  %is_finite = fcmp oeq double %finite, {double(0.0)}
  %is_within = fcmp ole double %largest, {double(REACH)}
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
