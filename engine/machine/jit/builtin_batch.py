"""The machine code of builtins for many samples, which runs a kernel on blocks of rows.

An argument is an array with a row for each sample, or one row, list or tuple that holds for all samples.  The kernel
reads a contiguous array where it is.  Everything else is copied block by block: strided arrays, rows for all samples,
arguments that are joined to one group, Euler parameters that have to be normalised, and samples that are fewer than
the lanes.  So the working set beside inputs and outputs doesn't grow with the number of samples.
"""

from __future__ import annotations

from . import builtin_rows
from . import interpreter as at
from .block import HEAP, STACK
from .builtin_words import LONG, WORDS, ir_of_double, ir_that_loads_field, ir_that_loads_words
from .trigonometry import REACH


def builtin_batch_ir() -> str:
    """The IR of the function `batch`, and of those that it calls."""
    return "\n".join((builtin_rows.builtin_rows_ir(), _writeable(), _blocks(), _batch()))


def _writeable() -> str:
    """IR of a function that returns whether an array takes the results as they are."""
    return f"""
define internal i1 @writeable(ptr %table, ptr %object, i64 %count) {{
{ir_that_loads_words("ndarray", "double", "dimensions", "rows", "columns", "parts")}
{ir_that_loads_field("type", "object", at.TYPE)}
  %is_array = icmp eq ptr %type, %ndarray
  %is_undivided = icmp eq i64 %parts, 0
  %is_plain = and i1 %is_array, %is_undivided
  br i1 %is_plain, label %look, label %no
look:
{ir_that_loads_field("own.dimensions", "object", at.DIMENSIONS, "i32")}
{ir_that_loads_field("description", "object", at.DESCRIPTION)}
{ir_that_loads_field("flags", "object", at.FLAGS, "i32")}
{ir_that_loads_field("shape", "object", at.SHAPE)}
  %wanted.flags = and i32 %flags, {at.CONTIGUOUS | at.ALIGNED | at.WRITEABLE}
  %is_whole = icmp eq i32 %wanted.flags, {at.CONTIGUOUS | at.ALIGNED | at.WRITEABLE}
  %is_double = icmp eq ptr %description, %double
  %wanted.less = trunc i64 %dimensions to i32
  %wanted = add i32 %wanted.less, 1
  %is_deep = icmp eq i32 %own.dimensions, %wanted
  %is_fit = and i1 %is_whole, %is_double
  %is_good = and i1 %is_fit, %is_deep
  br i1 %is_good, label %lengths, label %no
lengths:
  %is_matrix = icmp eq i64 %dimensions, 2
  %second = getelementptr i64, ptr %shape, i64 1
  %third = getelementptr i64, ptr %shape, i64 %dimensions
  %own.count = load i64, ptr %shape
  %own.rows = load i64, ptr %second
  %own.last = load i64, ptr %third
  %last = select i1 %is_matrix, i64 %columns, i64 %rows
  %is_counted = icmp eq i64 %own.count, %count
  %is_high = icmp eq i64 %own.rows, %rows
  %is_wide = icmp eq i64 %own.last, %last
  %is_row = and i1 %is_high, %is_wide
  %is_shaped = and i1 %is_counted, %is_row
  ret i1 %is_shaped
no:
  ret i1 false
}}"""


# The words of a job, which `batch` writes and `blocks` reads without Python's lock: the table's may change meanwhile.
COPIED = ("rows_code", "arguments", "numbers", "joined", "units", "outputs", "kept", "checks", "lanes", "block")
JOB = ("table", "sources", "steps", "copies", "result", "count", "bad", *COPIED)
ADDRESSES = ("table", "sources", "steps", "copies", "result", "rows_code")


def _ir_of_job(*names: str) -> str:
    """IR that loads words of the job into registers of the same names."""
    return "\n".join(
        f"  %{name}.in = getelementptr i64, ptr %job, i64 {JOB.index(name)}\n"
        f"  %{name} = load {'ptr' if name in ADDRESSES else 'i64'}, ptr %{name}.in"
        for name in names
    )


def _ir_that_writes_job(**values: str) -> str:
    """IR that writes these words of the job."""
    return "\n".join(
        f"  %{name}.of = getelementptr i64, ptr %job, i64 {JOB.index(name)}\n"
        f"  store {'ptr' if name in ADDRESSES else 'i64'} {value}, ptr %{name}.of"
        for name, value in values.items()
    )


def _batch() -> str:
    """IR of a function for the result of many samples; null if the general function has to be called."""
    parts = (_begun(), _found(), _taken(), _made(), _done())
    return "\ndefine internal ptr @batch(ptr %table, ptr %given, ptr %into) {\n" + "\n".join(parts) + "\n}"


def _blocks() -> str:
    """IR of a function that runs the kernel on the rows from the first to the end of a job, block by block.

    Several threads may do parts of one job.  Where a sample is bad, the job's word says so.
    """
    parts = (_prepared(), _block(), _gathered(), _run(), _checked())
    return f"\n{HEAP}define internal void @blocks(ptr %job, i64 %begin, i64 %end) {{\n" + "\n".join(parts) + "\n}"


def _prepared() -> str:
    """The part of `blocks` that makes room for a block."""
    return f"""{_ir_of_job("table", "sources", "steps", "copies", "result", "count", *COPIED)}
  %groups = alloca ptr, i64 %arguments
  %output.at = alloca ptr
  %status.size = mul i64 %lanes, 2
  %status = alloca double, i64 %status.size
  %capacity = add i64 %block, %lanes
  %room.size = mul i64 %numbers, %capacity
  %own.size = mul i64 %outputs, %capacity
  %both.size = add i64 %room.size, %own.size
  %is_large = icmp ugt i64 %both.size, {STACK // 8}
  br i1 %is_large, label %heap, label %stack
heap:
  %both.bytes = mul i64 %both.size, 8
  %both.heap = call ptr @malloc(i64 %both.bytes)
  br label %roomy
stack:
  %both.stack = alloca double, i64 %both.size
  br label %roomy
roomy:
  %room = phi ptr [%both.heap, %heap], [%both.stack, %stack]
  %own = getelementptr double, ptr %room, i64 %room.size
  %are_few = icmp slt i64 %count, %lanes
  %has_checks = icmp ne i64 %outputs, %kept
  %keeps_own = or i1 %has_checks, %are_few
  br label %argument
argument:
  %a = phi i64 [0, %roomy], [%a.next, %argument]
  %in_blocks = phi i1 [%keeps_own, %roomy], [%in_blocks.next, %argument]
  %copy.at = getelementptr i1, ptr %copies, i64 %a
  %is_copied = load i1, ptr %copy.at
  %in_blocks.next = or i1 %in_blocks, %is_copied
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %arguments
  br i1 %a.more, label %argument, label %ready
ready:
  %all = sub i64 %end, %begin
  %stride = select i1 %in_blocks.next, i64 %block, i64 %all
  br label %loop"""


def _begun() -> str:
    """The part of `batch` that counts the samples, makes room for what is known of each argument, and begins a loop."""
    return f"""{ir_that_loads_words("ndarray", "rows_code", "arguments", "numbers", "joined")}
{ir_that_loads_words("units", "lanes", "most")}
  %first = load ptr, ptr %given
{ir_that_loads_field("first.shape", "first", at.SHAPE)}
  %count = load i64, ptr %first.shape
  %has_some = icmp sgt i64 %count, 0
  %is_small = icmp sle i64 %count, %most
  %is_sized = and i1 %has_some, %is_small
  br i1 %is_sized, label %target, label %no
target:
{ir_that_loads_words("dimensions", "rows", "columns")}
  %has_into = icmp ne ptr %into, null
  br i1 %has_into, label %into.look, label %begin
into.look:
  %is_writeable = call i1 @writeable(ptr %table, ptr %into, i64 %count)
  br i1 %is_writeable, label %begin, label %no
begin:
  %sources = alloca ptr, i64 %arguments
  %steps.size = mul i64 %arguments, 2
  %steps = alloca i64, i64 %steps.size
  %copies = alloca i1, i64 %arguments
  %constants = alloca double, i64 %numbers
  %joined.many = add i64 %joined, 1
  %are_joined = icmp sgt i64 %arguments, %joined.many
  %has_units = icmp ne i64 %units, 0
  %are_few = icmp slt i64 %count, %lanes
  br label %argument
argument:
  %a = phi i64 [0, %begin], [%a.next, %taken]
  %used = phi i64 [0, %begin], [%used.next, %taken]"""


def _found() -> str:
    """The part of the loop over arguments that finds an argument's numbers, in rows or in one row for all samples."""
    return f"""  %slot = getelementptr ptr, ptr %given, i64 %a
  %object = load ptr, ptr %slot
  %width.place = add i64 %a, {len(WORDS)}
  %width.at = getelementptr i64, ptr %table, i64 %width.place
  %width = load i64, ptr %width.at
  %steps.place = mul i64 %a, 2
  %steps.at = getelementptr i64, ptr %steps, i64 %steps.place
  %steps.second = getelementptr i64, ptr %steps.at, i64 1
{ir_that_loads_field("type", "object", at.TYPE)}
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %array, label %one
array:
{ir_that_loads_field("object.dimensions", "object", at.DIMENSIONS, "i32")}
  %is_two = icmp eq i32 %object.dimensions, 2
  br i1 %is_two, label %many, label %one
many:
  %rows.data = call ptr @rows(ptr %table, ptr %object, i64 %width, i64 %count, ptr %steps.at)
  br label %found
one:
  %constants.at = getelementptr double, ptr %constants, i64 %used
  store i64 0, ptr %steps.at
  store i64 8, ptr %steps.second
  %one.data = call ptr @argument(ptr %table, ptr %object, i64 %width, ptr %constants.at, i1 true)
  br label %found
found:
  %data = phi ptr [%rows.data, %many], [%one.data, %one]
  %is_taken = icmp ne ptr %data, null
  br i1 %is_taken, label %taken, label %no"""


def _taken() -> str:
    """The part of that loop that notes where an argument's numbers are, and whether they have to be copied."""
    return """taken:
  %source.at = getelementptr ptr, ptr %sources, i64 %a
  store ptr %data, ptr %source.at
  %row = load i64, ptr %steps.at
  %column = load i64, ptr %steps.second
  %row.whole = mul i64 %width, 8
  %is_spread = icmp ne i64 %row, %row.whole
  %is_strided = icmp ne i64 %column, 8
  %is_odd = or i1 %is_spread, %is_strided
  %is_first = icmp eq i64 %a, 0
  %is_changed = and i1 %is_first, %has_units
  %is_last = icmp sge i64 %a, %joined
  %is_joined = and i1 %is_last, %are_joined
  %is_own = or i1 %is_changed, %is_joined
  %is_moved = or i1 %is_odd, %is_own
  %is_copied = or i1 %is_moved, %are_few
  %copy.at = getelementptr i1, ptr %copies, i64 %a
  store i1 %is_copied, ptr %copy.at
  %used.next = add i64 %used, %width
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %arguments
  br i1 %a.more, label %argument, label %make
no:
  ret ptr null"""


def _made() -> str:
    """The part of `batch` that makes a new array for the result, or takes the caller's: a row or matrix a sample."""
    return f"""make:
{ir_that_loads_words("PyArray_New", "PyErr_Clear", "Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread")}
{ir_that_loads_words("Py_IncRef", "crew", "share", "helpers", "straight")}
{ir_that_loads_words("outputs", "kept", "checks", "block")}
  %into.address = ptrtoint ptr %into to i64
  %is_named = icmp eq i64 %straight, %into.address
  %is_straight = and i1 %has_into, %is_named
  br i1 %is_straight, label %make.none, label %make.new
make.none:
  call void %Py_IncRef(ptr %into)
  br label %ready
make.new:
  %shape = alloca i64, i64 3
  %shape.rows = getelementptr i64, ptr %shape, i64 1
  %shape.columns = getelementptr i64, ptr %shape, i64 2
  store i64 %count, ptr %shape
  store i64 %rows, ptr %shape.rows
  store i64 %columns, ptr %shape.columns
  %dimensions.less = trunc i64 %dimensions to i32
  %dimensions.all = add i32 %dimensions.less, 1
  %made.new = call ptr %PyArray_New(ptr %ndarray, i32 %dimensions.all, ptr %shape, i32 {at.DOUBLE_NUMBER},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  %is_made = icmp ne ptr %made.new, null
  br i1 %is_made, label %ready, label %no_memory
no_memory:
  call void %PyErr_Clear()
  ret ptr null
ready:
  %made = phi ptr [%into, %make.none], [%made.new, %make.new]
{ir_that_loads_field("result", "made", at.DATA)}
  %thread.at = alloca ptr
  %job = alloca i64, i64 {len(JOB)}
{_ir_that_writes_job(**({name: f"%{name}" for name in JOB} | {"bad": "0"}))}
  %is_long = icmp sge i64 %count, {LONG}
  br i1 %is_long, label %unlock, label %alone
unlock:
  %saved = call ptr %PyEval_SaveThread()
  store ptr %saved, ptr %thread.at
  %has_help = icmp sgt i64 %helpers, 0
  br i1 %has_help, label %shared, label %alone
shared:
  %was_shared = call i1 %share(ptr %crew, i64 %helpers, ptr @blocks, ptr %job, i64 %count)
  br i1 %was_shared, label %all, label %alone
alone:
  call void @blocks(ptr %job, i64 0, i64 %count)
  br label %all
all:
  br i1 %is_long, label %lock, label %done
lock:
  %thread = load ptr, ptr %thread.at
  call void %PyEval_RestoreThread(ptr %thread)
  br label %done"""


def _block() -> str:
    """The part of `blocks` that begins a block; the last one isn't smaller than the lanes unless all samples are."""
    return """loop:
  %start = phi i64 [%begin, %ready], [%start.next, %next]
  %ahead = sub i64 %end, %start
  %ahead.less = sub i64 %ahead, %stride
  %is_end = icmp slt i64 %ahead.less, %lanes
  %size = select i1 %is_end, i64 %ahead, i64 %stride
  %is_filled = icmp slt i64 %size, %lanes
  %wanted = select i1 %is_filled, i64 %lanes, i64 %size
  br label %gather"""


def _gathered() -> str:
    """The part of `blocks` that writes the addresses of a block's groups, after copying what has to be copied."""
    return f"""gather:
  %g = phi i64 [0, %loop], [%g.next, %gather.done]
  %g.used = phi i64 [0, %loop], [%g.used.next, %gather.done]
  %joined.used = phi i64 [0, %loop], [%joined.used.next, %gather.done]
  %g.width.place = add i64 %g, {len(WORDS)}
  %g.width.at = getelementptr i64, ptr %table, i64 %g.width.place
  %g.width = load i64, ptr %g.width.at
  %g.source.at = getelementptr ptr, ptr %sources, i64 %g
  %g.source = load ptr, ptr %g.source.at
  %g.steps.place = mul i64 %g, 2
  %g.row.at = getelementptr i64, ptr %steps, i64 %g.steps.place
  %g.column.at = getelementptr i64, ptr %g.row.at, i64 1
  %g.row = load i64, ptr %g.row.at
  %g.column = load i64, ptr %g.column.at
  %g.skip = mul i64 %g.row, %start
  %g.here = getelementptr i8, ptr %g.source, i64 %g.skip
  %g.is_joined = icmp sge i64 %g, %joined
  %g.used.next = add i64 %g.used, %g.width
  %joined.used.next = select i1 %g.is_joined, i64 %joined.used, i64 %g.used.next
  %g.copy.at = getelementptr i1, ptr %copies, i64 %g
  %g.is_copied = load i1, ptr %g.copy.at
  br i1 %g.is_copied, label %copy, label %gather.there
copy:
  %joined.width = sub i64 %numbers, %joined.used
  %g.pitch = select i1 %g.is_joined, i64 %joined.width, i64 %g.width
  %g.base = select i1 %g.is_joined, i64 %joined.used, i64 %g.used
  %g.base.skip = mul i64 %g.base, %capacity
  %g.within = sub i64 %g.used, %g.base
  %g.place = add i64 %g.base.skip, %g.within
  %g.to = getelementptr double, ptr %room, i64 %g.place
  call void @copied(ptr %g.here, i64 %g.row, i64 %g.column, ptr %g.to, i64 %g.pitch, i64 %g.width, i64 %size,
    i64 %wanted)
  br label %gather.there
gather.there:
  %g.data = phi ptr [%g.here, %gather], [%g.to, %copy]
  %g.is_further = icmp sgt i64 %g, %joined
  br i1 %g.is_further, label %gather.done, label %gather.set
gather.set:
  %g.at = getelementptr ptr, ptr %groups, i64 %g
  store ptr %g.data, ptr %g.at
  br label %gather.done
gather.done:
  %g.next = add i64 %g, 1
  %g.more = icmp slt i64 %g.next, %arguments
  br i1 %g.more, label %gather, label %gathered
gathered:
  %places.place = add i64 %arguments, {len(WORDS)}
  %places = getelementptr i64, ptr %table, i64 %places.place
  %q = load ptr, ptr %groups
  %q.width.at = getelementptr i64, ptr %table, i64 {len(WORDS)}
  %q.width = load i64, ptr %q.width.at
  %is_normalised = call i1 @normalised(ptr %q, i64 %q.width, i64 %wanted, ptr %places, i64 %units)
  br i1 %is_normalised, label %run, label %bad"""


def _run() -> str:
    """The part of `blocks` that calls the kernel, whose results go where they stay if nothing comes with them."""
    return """run:
  %result.skip = mul i64 %start, %kept
  %result.here = getelementptr double, ptr %result, i64 %result.skip
  %output = select i1 %keeps_own, ptr %own, ptr %result.here
  store ptr %output, ptr %output.at
  call void %rows_code(i64 %wanted, ptr %groups, ptr %output.at, ptr %status)
  br label %look"""


def _checked() -> str:
    """The part of `blocks` that looks at the kernel's checks, lane by lane, and at those of each sample."""
    return f"""look:
  %l = phi i64 [0, %run], [%l.next, %good]
  %finite.at = getelementptr double, ptr %status, i64 %l
  %largest.at = getelementptr double, ptr %finite.at, i64 %lanes
  %finite = load double, ptr %finite.at
  %largest = load double, ptr %largest.at
  %is_finite = fcmp oeq double %finite, {ir_of_double(0.0)}
  %is_within = fcmp ole double %largest, {ir_of_double(REACH)}
  %is_well = and i1 %is_finite, %is_within
  br i1 %is_well, label %good, label %bad
good:
  %l.next = add i64 %l, 1
  %l.more = icmp slt i64 %l.next, %lanes
  br i1 %l.more, label %look, label %keep
keep:
  br i1 %keeps_own, label %examine, label %next
examine:
  %own.step = mul i64 %outputs, 8
  %is_positive = call i1 @positive(ptr %own, i64 %outputs, i64 %size, i64 %checks)
  br i1 %is_positive, label %take, label %bad
take:
  call void @copied(ptr %own, i64 %own.step, i64 8, ptr %result.here, i64 %kept, i64 %kept, i64 %size, i64 %size)
  br label %next
next:
  %start.next = add i64 %start, %size
  %is_more = icmp slt i64 %start.next, %end
  br i1 %is_more, label %loop, label %leave
bad:
  %bad.at = getelementptr i64, ptr %job, i64 {JOB.index("bad")}
  store atomic i64 1, ptr %bad.at monotonic, align 8
  br label %leave
leave:
  br i1 %is_large, label %released, label %left
released:
  call void @free(ptr %room)
  br label %left
left:
  ret void"""


def _done() -> str:
    """The part of `batch` that returns.

    The caller's array gets all results at the end, so that it stays as it was where a sample fails; it does so
    straight where there are very many of them.
    """
    return f"""done:
{_ir_of_job("bad")}
  %is_bad = icmp ne i64 %bad, 0
  br i1 %is_bad, label %drop, label %answer
answer:
  %is_elsewhere = xor i1 %is_straight, true
  %is_to_copy = and i1 %has_into, %is_elsewhere
  br i1 %is_to_copy, label %hand_over, label %hand_out
hand_out:
  ret ptr %made
hand_over:
{ir_that_loads_field("into.data", "into", at.DATA)}
  %result.size = mul i64 %kept, 8
  %all.size = mul i64 %result.size, %count
  call void @llvm.memcpy.p0.p0.i64(ptr %into.data, ptr %result, i64 %all.size, i1 false)
  call void %Py_DecRef(ptr %made)
  call void %Py_IncRef(ptr %into)
  ret ptr %into
drop:
  call void %Py_DecRef(ptr %made)
  ret ptr null"""
