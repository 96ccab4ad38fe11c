"""The machine code of builtins for rows of numbers: where they are, copies of them, and checks of them all."""

from __future__ import annotations

from . import interpreter as at
from .builtin_words import ir_of_double, ir_that_loads_field, ir_that_loads_words


def builtin_rows_ir() -> str:
    """The IR of the functions `rows`, `copied`, `normalised` and `positive`."""
    return "\n".join((_rows(), _copied(), _normalised(), _positive()))


def _rows() -> str:
    """IR of a function for the address of an argument's rows; null if it isn't an aligned array of this shape.

    The distances in bytes of its rows and of its columns are written to `steps`.
    """
    return f"""
define internal ptr @rows(ptr %table, ptr %object, i64 %width, i64 %count, ptr %steps) {{
{ir_that_loads_words("double")}
{ir_that_loads_field("description", "object", at.DESCRIPTION)}
{ir_that_loads_field("flags", "object", at.FLAGS, "i32")}
{ir_that_loads_field("data", "object", at.DATA)}
{ir_that_loads_field("shape", "object", at.SHAPE)}
{ir_that_loads_field("strides", "object", at.STRIDES)}
  %aligned = and i32 %flags, {at.ALIGNED}
  %is_aligned = icmp ne i32 %aligned, 0
  %is_double = icmp eq ptr %description, %double
  %second = getelementptr i64, ptr %shape, i64 1
  %rows = load i64, ptr %shape
  %columns = load i64, ptr %second
  %is_high = icmp eq i64 %rows, %count
  %is_wide = icmp eq i64 %columns, %width
  %is_plain = and i1 %is_aligned, %is_double
  %is_shaped = and i1 %is_high, %is_wide
  %is_fit = and i1 %is_plain, %is_shaped
  br i1 %is_fit, label %yes, label %no
yes:
  %whole = and i32 %flags, {at.CONTIGUOUS}
  %is_whole = icmp ne i32 %whole, 0
  %row.own = load i64, ptr %strides
  %column.at = getelementptr i64, ptr %strides, i64 1
  %column.own = load i64, ptr %column.at
  %row.whole = mul i64 %width, 8
  %row = select i1 %is_whole, i64 %row.whole, i64 %row.own
  %column = select i1 %is_whole, i64 8, i64 %column.own
  store i64 %row, ptr %steps
  %steps.second = getelementptr i64, ptr %steps, i64 1
  store i64 %column, ptr %steps.second
  ret ptr %data
no:
  ret ptr null
}}"""


def _copied() -> str:
    """IR of a function that copies rows to places with the given pitch, repeating the last one up to `wanted` rows."""
    return """
define internal void @copied(ptr %from, i64 %row, i64 %column, ptr %to, i64 %pitch, i64 %width, i64 %count,
    i64 %wanted) {
  %final = sub i64 %count, 1
  br label %line
line:
  %r = phi i64 [0, %0], [%r.next, %line.done]
  %is_there = icmp slt i64 %r, %final
  %source = select i1 %is_there, i64 %r, i64 %final
  %source.skip = mul i64 %source, %row
  %source.at = getelementptr i8, ptr %from, i64 %source.skip
  %skip = mul i64 %r, %pitch
  %to.at = getelementptr double, ptr %to, i64 %skip
  br label %number
number:
  %k = phi i64 [0, %line], [%k.next, %number]
  %distance = mul i64 %k, %column
  %x.from = getelementptr i8, ptr %source.at, i64 %distance
  %x.to = getelementptr double, ptr %to.at, i64 %k
  %x = load double, ptr %x.from
  store double %x, ptr %x.to
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %width
  br i1 %k.more, label %number, label %line.done
line.done:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %wanted
  br i1 %r.more, label %line, label %done
done:
  ret void
}"""


def _normalised() -> str:
    """IR of a function that normalises groups of four of all rows, and returns whether all norms are within bounds."""
    return """
define internal i1 @normalised(ptr %rows, i64 %width, i64 %count, ptr %places, i64 %units) {
  %has_some = icmp sgt i64 %units, 0
  br i1 %has_some, label %line, label %yes
line:
  %r = phi i64 [0, %0], [%r.next, %line.done]
  %skip = mul i64 %r, %width
  %row = getelementptr double, ptr %rows, i64 %skip
  br label %group
group:
  %u = phi i64 [0, %line], [%u.next, %good]
  %place.at = getelementptr i64, ptr %places, i64 %u
  %place = load i64, ptr %place.at
  %four = getelementptr double, ptr %row, i64 %place
  %is_unit = call i1 @unit(ptr %four)
  br i1 %is_unit, label %good, label %no
good:
  %u.next = add i64 %u, 1
  %u.more = icmp slt i64 %u.next, %units
  br i1 %u.more, label %group, label %line.done
line.done:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %count
  br i1 %r.more, label %line, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}"""


def _positive() -> str:
    """IR of a function that returns whether none of the last numbers of all rows is negative."""
    return f"""
define internal i1 @positive(ptr %rows, i64 %width, i64 %count, i64 %checks) {{
  %has_some = icmp sgt i64 %checks, 0
  br i1 %has_some, label %line, label %yes
line:
  %r = phi i64 [1, %0], [%r.next, %line.done]
  %end = mul i64 %r, %width
  br label %number
number:
  %k = phi i64 [1, %line], [%k.next, %good]
  %place = sub i64 %end, %k
  %x.at = getelementptr double, ptr %rows, i64 %place
  %x = load double, ptr %x.at
  %is_good = fcmp oge double %x, {ir_of_double(0.0)}
  br i1 %is_good, label %good, label %no
good:
  %k.next = add i64 %k, 1
  %k.more = icmp sle i64 %k.next, %checks
  br i1 %k.more, label %number, label %line.done
line.done:
  %r.next = add i64 %r, 1
  %r.more = icmp sle i64 %r.next, %count
  br i1 %r.more, label %line, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}"""
