"""The machine code of all builtins: the function that Python calls; see `builtin.py`."""

from __future__ import annotations

from functools import lru_cache

from . import builtin_batch, builtin_one, builtin_parts, native, objects
from . import interpreter as at
from .builtin_words import WORDS, ir_of_double, ir_that_loads_field, ir_that_loads_words
from .trigonometry import REACH

NAME = "builtin"


@lru_cache(maxsize=1)
def loaded_builtin_code() -> native.Loaded:
    """The machine code of all builtins, which is compiled once for each processor."""
    code = objects.loaded_machine_code(NAME, [str(at.TUPLE_ITEMS)], builtin_code_ir, False)
    assert code is not None
    return code


def builtin_code_ir() -> str:
    """The IR of the function that Python calls, and of its parts."""
    return "\n".join(
        (
            builtin_one.builtin_argument_ir(),
            builtin_parts.builtin_parts_ir(),
            builtin_batch.builtin_batch_ir(),
            _function(),
        )
    )


def _function() -> str:
    """IR of the function that Python calls, with `self`, the arguments, their number, and the names of named ones."""
    parts = (_whether(), _many(), _taking(), _units(), _running(), _leaving())
    return f"define ptr @{NAME}(ptr %self, ptr %given, i64 %count, ptr %names) {{\n" + "\n".join(parts) + "\n}"


def _whether() -> str:
    """The part of `_function` that decides whether the code may be used in this context."""
    return f"""{ir_that_loads_field("words", "self", at.TUPLE_ITEMS)}
{ir_that_loads_field("table", "words", at.DATA)}
{ir_that_loads_words("code", "context", "nothing", "arguments", "numbers", "joined")}
{ir_that_loads_words("units", "outputs", "checks", "environment", "Py_DecRef")}
  %has_no_names = icmp eq ptr %names, null
  %has_all = icmp eq i64 %count, %arguments
  br i1 %has_all, label %named, label %leave
named:
  br i1 %has_no_names, label %choice, label %name
name:
{ir_that_loads_words("out")}
{ir_that_loads_field("names.size", "names", at.SIZE, "i64")}
  %is_one_name = icmp eq i64 %names.size, 1
  br i1 %is_one_name, label %name.first, label %leave
name.first:
{ir_that_loads_field("name.given", "names", at.TUPLE_ITEMS)}
  %is_out = icmp eq ptr %name.given, %out
  br i1 %is_out, label %into, label %leave
into:
  %into.slot = getelementptr ptr, ptr %given, i64 %count
  %into.there = load ptr, ptr %into.slot
  br label %choice
choice:
  %into.array = phi ptr [null, %named], [%into.there, %into]
  %is_free = icmp eq ptr %context, null
  br i1 %is_free, label %many, label %ask
ask:
{ir_that_loads_words("PyContextVar_Get")}
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
{ir_that_loads_words("ndarray", "rows_code")}
  %first = load ptr, ptr %given
{ir_that_loads_field("first.type", "first", at.TYPE)}
  %is_array = icmp eq ptr %first.type, %ndarray
  %has_rows_code = icmp ne ptr %rows_code, null
  %may_be_many = and i1 %is_array, %has_rows_code
  br i1 %may_be_many, label %array, label %one
array:
{ir_that_loads_field("first.dimensions", "first", at.DIMENSIONS, "i32")}
  %is_many = icmp eq i32 %first.dimensions, 2
  br i1 %is_many, label %batch, label %one
batch:
  %batched = call ptr @batch(ptr %table, ptr %given, ptr %into.array)
  %is_done = icmp ne ptr %batched, null
  br i1 %is_done, label %done, label %leave
done:
{ir_that_loads_field("first.shape", "first", at.SHAPE)}
  %samples = load i64, ptr %first.shape
  %divided = call ptr @parted(ptr %table, ptr %batched, i64 %samples)
  ret ptr %divided
one:
  %has_code = icmp ne ptr %code, null
  %is_fresh = icmp eq ptr %into.array, null
  %is_for_code = and i1 %has_code, %is_fresh
  br i1 %is_for_code, label %begin, label %leave"""


def _taking() -> str:
    """The part of `_function` that writes the addresses of all arguments' doubles into `groups`."""
    return f"""begin:
  %groups = alloca ptr, i64 %arguments
  %room = alloca double, i64 %numbers
  %all.at = alloca i64
  %all = add i64 %outputs, 2
  store i64 %all, ptr %all.at
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
    """The part of `_function` that calls the code, looks at its checks, and returns the result.

    A result is written where it stays if it has parts, because these are views, or if nothing comes behind it.
    """
    return f"""run:
{ir_that_loads_words("parts", "apart", "PyArray_New", "rows", "dimensions")}
  %has_parts = icmp ne i64 %parts, 0
  %is_apart = icmp ne ptr %apart, null
  %stays = or i1 %has_parts, %is_apart
  br i1 %stays, label %whole, label %own.results
whole:
  %own.dimensions = trunc i64 %dimensions to i32
  %whole.dimensions = select i1 %is_apart, i32 %own.dimensions, i32 1
  %whole.shape = select i1 %is_apart, ptr %rows.at, ptr %all.at
  %whole.made = call ptr %PyArray_New(ptr %ndarray, i32 %whole.dimensions, ptr %whole.shape, i32 {at.DOUBLE_NUMBER},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  %is_whole = icmp ne ptr %whole.made, null
  br i1 %is_whole, label %whole.results, label %no_memory
no_memory:
  ret ptr null
whole.results:
  %whole.data.at = getelementptr i8, ptr %whole.made, i64 {at.DATA}
  %whole.data = load ptr, ptr %whole.data.at
  br i1 %is_apart, label %aside, label %along
own.results:
  %own.data = alloca double, i64 %all
  br label %along
aside:
  %aside.watches = alloca double, i64 2
  call void %apart(ptr %groups, ptr %whole.data, ptr %environment, ptr %aside.watches)
  br label %computed
along:
  %along.results = phi ptr [%whole.data, %whole.results], [%own.data, %own.results]
  %along.made = phi ptr [%whole.made, %whole.results], [null, %own.results]
  %along.watches = getelementptr double, ptr %along.results, i64 %outputs
  call void %code(ptr %groups, ptr %along.results, ptr %environment)
  br label %computed
computed:
  %results = phi ptr [%whole.data, %aside], [%along.results, %along]
  %made = phi ptr [%whole.made, %aside], [%along.made, %along]
  %finite.at = phi ptr [%aside.watches, %aside], [%along.watches, %along]
  %finite = load double, ptr %finite.at
  %largest.at = getelementptr double, ptr %finite.at, i64 1
  %largest = load double, ptr %largest.at
  %is_finite = fcmp oeq double %finite, {ir_of_double(0.0)}
  %is_within = fcmp ole double %largest, {ir_of_double(REACH)}
  %is_well = and i1 %is_finite, %is_within
  br i1 %is_well, label %look, label %bad
look:
  %l = phi i64 [0, %computed], [%l.next, %check]
  %l.more = icmp slt i64 %l, %checks
  br i1 %l.more, label %check, label %answer
check:
  %l.next = add i64 %l, 1
  %l.place = sub i64 %outputs, %l.next
  %l.at = getelementptr double, ptr %results, i64 %l.place
  %l.x = load double, ptr %l.at
  %l.good = fcmp oge double %l.x, {ir_of_double(0.0)}
  br i1 %l.good, label %look, label %bad
answer:
  br i1 %has_parts, label %in_parts, label %as_one
in_parts:
  %parted = call ptr @parted(ptr %table, ptr %made, i64 -1)
  ret ptr %parted
as_one:
  br i1 %is_apart, label %as_it_is, label %copied
as_it_is:
  ret ptr %made
copied:
  %answered = call ptr @result(ptr %table, ptr %results)
  ret ptr %answered
bad:
  br i1 %stays, label %bad.whole, label %leave
bad.whole:
  call void %Py_DecRef(ptr %made)
  br label %leave"""


def _leaving() -> str:
    """The part of `_function` that calls the general function."""
    return f"""leave:
{ir_that_loads_words("general", "PyObject_Vectorcall", "None", "Py_IncRef")}
  %has_general = icmp ne ptr %general, null
  br i1 %has_general, label %generally, label %none
generally:
  %left = call ptr %PyObject_Vectorcall(ptr %general, ptr %given, i64 %count, ptr %names)
  ret ptr %left
none:
  call void %Py_IncRef(ptr %None)
  ret ptr %None"""
