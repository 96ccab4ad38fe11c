"""The machine code of builtins for one sample: its arguments' doubles, and the array with its result."""

from __future__ import annotations

from . import interpreter as at
from .builtin_words import LARGEST, ROUNDING, SMALLEST, ir_of_double, ir_that_loads_field, ir_that_loads_words


def builtin_argument_ir() -> str:
    """The IR of the functions `argument`, `items`, `unit` and `result`."""
    return "\n".join((_argument(), _items(), _unit(), _result()))


def _argument() -> str:
    """IR of a function for the address of an argument's doubles, its own or a copy in `room`; null if it isn't fit."""
    return f"""
define internal ptr @argument(ptr %table, ptr %object, i64 %width, ptr %room, i1 %is_own) {{
{ir_that_loads_words("list", "tuple", "ndarray", "double", "PyList_GetItem", "PyTuple_GetItem")}
{ir_that_loads_field("type", "object", at.TYPE)}
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
{ir_that_loads_field("dimensions", "object", at.DIMENSIONS, "i32")}
{ir_that_loads_field("description", "object", at.DESCRIPTION)}
{ir_that_loads_field("flags", "object", at.FLAGS, "i32")}
  %aligned = and i32 %flags, {at.ALIGNED}
  %is_aligned = icmp ne i32 %aligned, 0
  %is_row = icmp eq i32 %dimensions, 1
  %is_double = icmp eq ptr %description, %double
  %is_plain = and i1 %is_row, %is_double
  %is_fit = and i1 %is_plain, %is_aligned
  br i1 %is_fit, label %row, label %no
row:
{ir_that_loads_field("shape", "object", at.SHAPE)}
{ir_that_loads_field("data", "object", at.DATA)}
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
{ir_that_loads_field("strides", "object", at.STRIDES)}
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
{ir_that_loads_words("float", "float64", "int", "PyLong_AsDouble", "PyErr_Occurred", "PyErr_Clear")}
{ir_that_loads_field("size", "object", at.SIZE, "i64")}
  %is_long = icmp eq i64 %size, %width
  br i1 %is_long, label %begin, label %no
begin:
  %is_empty = icmp eq i64 %width, 0
  br i1 %is_empty, label %done, label %item
item:
  %k = phi i64 [0, %begin], [%next, %store]
  %one = call ptr %item_of(ptr %object, i64 %k)
{ir_that_loads_field("type", "one", at.TYPE)}
  %is_float = icmp eq ptr %type, %float
  %is_float64 = icmp eq ptr %type, %float64
  %is_there = or i1 %is_float, %is_float64
  br i1 %is_there, label %read, label %other
read:
{ir_that_loads_field("there", "one", at.FLOAT, "double")}
  br label %store
other:
  %is_int = icmp eq ptr %type, %int
  br i1 %is_int, label %convert, label %no
convert:
  %converted = call double %PyLong_AsDouble(ptr %one)
  %is_doubtful = fcmp oeq double %converted, {ir_of_double(-1.0)}
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
  %is_large = fcmp oge double %norm, {ir_of_double(SMALLEST)}
  %is_small = fcmp ole double %norm, {ir_of_double(LARGEST)}
  %is_fit = and i1 %is_large, %is_small
  br i1 %is_fit, label %fit, label %no
fit:
  %beyond = fsub double %norm, {ir_of_double(1.0)}
  %off = call double @llvm.fabs.f64(double %beyond)
  %is_off = fcmp ogt double %off, {ir_of_double(ROUNDING)}
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
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal ptr @result(ptr %table, ptr %results) {{
{ir_that_loads_words("ndarray", "PyArray_New", "kept", "dimensions", "rows")}
  %count = trunc i64 %dimensions to i32
  %made = call ptr %PyArray_New(ptr %ndarray, i32 %count, ptr %rows.at, i32 {at.DOUBLE_NUMBER},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  %is_none = icmp eq ptr %made, null
  br i1 %is_none, label %done, label %filled
filled:
{ir_that_loads_field("data", "made", at.DATA)}
  %size = mul i64 %kept, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %results, i64 %size, i1 false)
  br label %done
done:
  ret ptr %made
}}"""
