"""The machine code of builtins that divides a result into parts, as `kernel_parts_divided` does in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import interpreter as at
from .builtin_words import ir_of_double, ir_that_loads_words
from .result_parts import Part

# words of a part: its name (0 in a tuple), where it begins, its dimensions, three lengths, its kind; a verdict has the
# addresses of False and True as its lengths, and a thing begins where the object is
WIDTH = 7
ARRAY, VERDICT, THING = range(3)  # kinds
_VIEW = at.ALIGNED | at.WRITEABLE


def builtin_parts_table(parts: Sequence[Part]) -> tuple[np.ndarray, list[str]]:
    """The words that describe parts, and the names whose addresses they hold."""
    names = [one.name for one in parts]
    lines = []
    for one, name in zip(parts, names):
        if one.thing is not None:
            lines.append([id(name), id(one.thing), 0, 0, 0, 0, THING])
        elif one.verdict:
            lines.append([id(name), 8 * one.first, 0, id(False), id(True), 0, VERDICT])
        else:
            lengths = (*one.shape, 1, 1, 1)[:3]
            lines.append([id(name) if name else 0, 8 * one.first, len(one.shape), *lengths, ARRAY])
    return np.array(lines, dtype=np.int64).reshape(-1, WIDTH), names


def builtin_parts_ir() -> str:
    """The IR of the function `parted`."""
    return "\n".join((_begun(), _part(), _kept()))


def _begun() -> str:
    """The part of `parted` that makes the dictionary or tuple; without parts, the array itself is the result.

    The number of samples is negative for one sample; the array belongs to the function.
    """
    return f"""
define internal ptr @parted(ptr %table, ptr %whole, i64 %count) {{
{ir_that_loads_words("parts", "parts_at", "ndarray", "kept", "PyArray_New", "PyArray_Return", "PyArray_SetBaseObject")}
{ir_that_loads_words("PyDict_New", "PyDict_SetItem", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef")}
  %is_whole = icmp eq i64 %parts, 0
  %is_none = icmp eq ptr %whole, null
  %is_all = or i1 %is_whole, %is_none
  br i1 %is_all, label %as_it_is, label %begin
as_it_is:
  ret ptr %whole
begin:
  %whole.data.at = getelementptr i8, ptr %whole, i64 {at.DATA}
  %data = load ptr, ptr %whole.data.at
  %shape = alloca i64, i64 4
  %strides = alloca i64, i64 4
  %row.size = mul i64 %kept, 8
  store i64 %count, ptr %shape
  store i64 %row.size, ptr %strides
  %shape.one = getelementptr i64, ptr %shape, i64 1
  %shape.two = getelementptr i64, ptr %shape, i64 2
  %shape.three = getelementptr i64, ptr %shape, i64 3
  %strides.one = getelementptr i64, ptr %strides, i64 1
  %strides.two = getelementptr i64, ptr %strides, i64 2
  %strides.three = getelementptr i64, ptr %strides, i64 3
  %is_one = icmp slt i64 %count, 0
  %own.shape = select i1 %is_one, ptr %shape.one, ptr %shape
  %own.strides = select i1 %is_one, ptr %strides.one, ptr %strides
  %more = select i1 %is_one, i64 0, i64 1
  %name.first = load ptr, ptr %parts_at
  %is_tuple = icmp eq ptr %name.first, null
  br i1 %is_tuple, label %tuple, label %dict
tuple:
  %tuple.made = call ptr %PyTuple_New(i64 %parts)
  br label %made
dict:
  %dict.made = call ptr %PyDict_New()
  br label %made
made:
  %all = phi ptr [%tuple.made, %tuple], [%dict.made, %dict]
  %is_made = icmp ne ptr %all, null
  br i1 %is_made, label %part, label %no"""


def _part() -> str:
    """The part of `parted` that makes one view, which keeps the whole array alive."""
    loads = "\n".join(
        f"  %{name}.place = add i64 %line, {k}\n"
        f"  %{name}.word = getelementptr i64, ptr %parts_at, i64 %{name}.place\n"
        f"  %{name} = load {'ptr' if name == 'name' else 'i64'}, ptr %{name}.word"
        for k, name in enumerate(("name", "first", "dimensions", "length", "width", "depth", "kind"))
    )
    return f"""part:
  %p = phi i64 [0, %made], [%p.next, %next]
  %line = mul i64 %p, {WIDTH}
{loads}
  switch i64 %kind, label %array [i64 {VERDICT}, label %verdict i64 {THING}, label %thing]
thing:
  %object = inttoptr i64 %first to ptr
  br label %known
verdict:
  %number.at = getelementptr i8, ptr %data, i64 %first
  %number = load double, ptr %number.at
  %is_true = fcmp oge double %number, {ir_of_double(0.0)}
  %truth.word = select i1 %is_true, i64 %width, i64 %length
  %truth = inttoptr i64 %truth.word to ptr
  br label %known
known:
  %known.object = phi ptr [%object, %thing], [%truth, %verdict]
  %known.off = call i32 %PyDict_SetItem(ptr %all, ptr %name, ptr %known.object)
  br label %next
array:
  store i64 %length, ptr %shape.one
  store i64 %width, ptr %shape.two
  store i64 %depth, ptr %shape.three
  %inner = mul i64 %depth, 8
  %outer = mul i64 %inner, %width
  store i64 %outer, ptr %strides.one
  store i64 %inner, ptr %strides.two
  store i64 8, ptr %strides.three
  %all.dimensions = add i64 %dimensions, %more
  %own.dimensions = trunc i64 %all.dimensions to i32
  %here = getelementptr i8, ptr %data, i64 %first
  %view = call ptr %PyArray_New(ptr %ndarray, i32 %own.dimensions, ptr %own.shape, i32 {at.DOUBLE_NUMBER},
    ptr %own.strides, ptr %here, i32 0, i32 {_VIEW}, ptr null)
  %is_view = icmp ne ptr %view, null
  br i1 %is_view, label %based, label %failed
based:
  call void %Py_IncRef(ptr %whole)
  %based.off = call i32 %PyArray_SetBaseObject(ptr %view, ptr %whole)
  %given = call ptr %PyArray_Return(ptr %view)
  %is_given = icmp ne ptr %given, null
  br i1 %is_given, label %keep, label %failed"""


def _kept() -> str:
    """The part of `parted` that puts a view into the dictionary or tuple, and returns."""
    return """keep:
  br i1 %is_tuple, label %into_tuple, label %into_dict
into_tuple:
  %tuple.off = call i32 %PyTuple_SetItem(ptr %all, i64 %p, ptr %given)
  br label %next
into_dict:
  %dict.off = call i32 %PyDict_SetItem(ptr %all, ptr %name, ptr %given)
  call void %Py_DecRef(ptr %given)
  br label %next
next:
  %p.next = add i64 %p, 1
  %p.more = icmp slt i64 %p.next, %parts
  br i1 %p.more, label %part, label %done
done:
  call void %Py_DecRef(ptr %whole)
  ret ptr %all
failed:
  call void %Py_DecRef(ptr %all)
  br label %no
no:
  call void %Py_DecRef(ptr %whole)
  ret ptr null
}"""
