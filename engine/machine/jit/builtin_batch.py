"""The machine code of builtins for many samples, which runs a kernel on blocks of rows.

An argument is an array with a row for each sample, or one row, list or tuple that holds for all samples.  The kernel
reads a contiguous array where it is.  Everything else is copied block by block: strided arrays, rows for all samples,
arguments that are joined to one group, Euler parameters that have to be normalised, and samples that are fewer than
the lanes.  So the working set beside inputs and outputs doesn't grow with the number of samples.
"""

from __future__ import annotations

from . import interpreter as at
from .block import STACK
from .builtin_words import JOB, LONG, PLACES, WORDS, Table, new_array
from .trigonometry import REACH
from .word_code import Code, Value


def batch(c: Code, words: Value, given: Value, into: Value) -> None:
    """The result for many samples; 0 if the general function has to be called.

    The caller's array gets all results at the end, so that it stays as it was where a sample fails; it does so
    straight where there are very many of them.
    """
    table, made, thread = Table(words), c.variable(), c.variable()
    count = given[0].at(at.SHAPE)[0]
    c.need((count > 0) & (count <= table.most))
    with c.when(into != 0):
        c.need(c.call("writeable", words, into, count) != 0)
    job = c.room(len(PLACES))
    c.call("memcpy", job, words, 8 * len(WORDS))
    _sources(c, table, given, count, job)
    straight = (into != 0) & (table.straight == into)
    with c.when(straight):
        c.call(table.Py_IncRef, into)
        made[0] = into
    with c.when(~straight):
        shape = c.room(3)
        shape[0], shape[1], shape[2] = count, table.rows, table.columns
        made[0] = new_array(c, table, table.dimensions + 1, shape)
        with c.when(made[0] == 0):
            c.call(table.PyErr_Clear)
            c.answer(0)
    for name, x in (("table", words), ("result", made[0].at(at.DATA)), ("count", count), ("bad", 0)):
        job[PLACES[name]] = x
    own, is_long, is_shared = Table(job), count >= LONG, c.variable()
    with c.when(is_long):
        thread[0] = c.call(table.PyEval_SaveThread)
        with c.when(own.share != 0):
            is_shared[0] = c.call(own.share, c.address("@blocks"), job, count) & 1
    with c.when(is_shared[0] == 0):
        c.call("blocks", job, 0, count)
    with c.when(is_long):
        c.call(own.PyEval_RestoreThread, thread[0])
    c.need(own.bad == 0)
    with c.when((into != 0) & ~straight):
        c.call("memcpy", into.at(at.DATA), own.result, own.kept * count * 8)
        c.call(own.Py_DecRef, made[0])
        c.call(own.Py_IncRef, into)
        c.answer(into)
    c.answer(made[0])
    c.failed()
    with c.when(made[0] != 0):
        c.call(table.Py_DecRef, made[0])


def _sources(c: Code, table: Table, given: Value, count: Value, job: Value) -> None:
    """Where the numbers of each argument are, how far its rows and its columns are apart, and whether it is copied."""
    arguments, joined, units = table.arguments, table.joined, table.units
    sources, row_steps, column_steps, copies = (c.room(arguments) for _ in range(4))
    constants, used, data, is_many = c.room(table.numbers), c.variable(), c.variable(), c.variable()
    are_joined, are_few = arguments > joined + 1, count < table.lanes
    for name, x in zip(JOB[1:], (sources, row_steps, column_steps, copies)):
        job[PLACES[name]] = x
    with c.loop(arguments) as a:
        thing, width = given[a], table.width(a)
        is_many[0] = 0
        with c.when(thing.at(at.TYPE) == table.ndarray):
            is_many[0] = thing.integer(at.DIMENSIONS) == 2
        with c.when(is_many[0] != 0):
            steps = row_steps + a * 8, column_steps + a * 8
            data[0] = c.call("rows_of", table.start, thing, width, count, *steps)
        with c.when(is_many[0] == 0):
            row_steps[a], column_steps[a] = 0, 8
            data[0] = c.call("argument", table.start, thing, width, constants + used[0] * 8, 1)
        c.need(data[0] != 0)
        sources[a] = data[0]
        is_odd = (row_steps[a] != width * 8) | (column_steps[a] != 8)
        is_own = ((a == 0) & (units != 0)) | ((a >= joined) & are_joined)
        copies[a] = is_odd | is_own | are_few
        used[0] = used[0] + width


def writeable(c: Code, words: Value, thing: Value, count: Value) -> None:
    """Whether an array takes the results as they are."""
    table = Table(words)
    c.need((thing.at(at.TYPE) == table.ndarray) & (table.parts == 0))
    wanted, dimensions = at.CONTIGUOUS | at.ALIGNED | at.WRITEABLE, table.dimensions
    is_whole = (thing.integer(at.FLAGS) & wanted) == wanted
    is_deep = thing.integer(at.DIMENSIONS) == dimensions + 1
    c.need(is_whole & is_deep & (thing.at(at.DESCRIPTION) == table.double))
    shape, last = thing.at(at.SHAPE), c.pick(dimensions == 2, table.columns, table.rows)
    c.answer((shape[0] == count) & (shape[1] == table.rows) & (shape[dimensions] == last))


def rows_of(
    c: Code, words: Value, thing: Value, width: Value, count: Value, row_step: Value, column_step: Value
) -> None:
    """The address of an argument's rows; 0 if it isn't an aligned array of this shape.

    The distances in bytes of its rows and of its columns are written where the last two arguments say.
    """
    table, flags, shape, strides = Table(words), thing.integer(at.FLAGS), thing.at(at.SHAPE), thing.at(at.STRIDES)
    is_plain = ((flags & at.ALIGNED) != 0) & (thing.at(at.DESCRIPTION) == table.double)
    c.need(is_plain & (shape[0] == count) & (shape[1] == width))
    is_whole = (flags & at.CONTIGUOUS) != 0
    row_step[0] = c.pick(is_whole, width * 8, strides[0])
    column_step[0] = c.pick(is_whole, 8, strides[1])
    c.answer(thing.at(at.DATA))


def copied(
    c: Code,
    source: Value,
    row: Value,
    column: Value,
    to: Value,
    pitch: Value,
    width: Value,
    count: Value,
    wanted: Value,
) -> None:
    """Copies rows to places with the given pitch, repeating the last one up to `wanted` rows."""
    final, here = count - 1, c.variable()
    with c.loop(wanted) as r:
        there = to + r * pitch * 8
        here[0] = source + c.pick(r < final, r, final) * row
        with c.loop(width) as k:
            there[k] = here[0][0]
            here[0] = here[0] + column


def blocks(c: Code, words: Value, begin: Value, end: Value) -> None:
    """Runs the kernel on the rows from the first to the end of a job, block by block.

    Several threads may do parts of one job.  Where a sample is bad, the job's word says so.
    """
    job = Table(words)
    arguments, numbers, outputs, kept, lanes = job.arguments, job.numbers, job.outputs, job.kept, job.lanes
    groups, output, status = c.room(arguments), c.room(1), c.room(lanes * 2)
    table, capacity = Table(job.table), job.block + lanes
    size, heap, room = (numbers + outputs) * capacity, c.variable(), c.variable()
    is_large = size > STACK // 8
    with c.when(is_large):
        heap[0] = c.call("malloc", size * 8)
        room[0] = heap[0]
    with c.when(~is_large):
        room[0] = c.room(size)
    own = room[0] + numbers * capacity * 8
    keeps_own = (outputs != kept) | (job.count < lanes)
    in_blocks = c.variable(keeps_own)
    with c.loop(arguments) as a:
        in_blocks[0] = in_blocks[0] | job.copies[a]
    rows = end - begin
    stride = c.pick(in_blocks[0] != 0, job.block, rows)
    last = c.pick(rows < lanes, 0, rows - lanes) // stride  # a block isn't smaller than the lanes unless all rows are
    with c.loop(last + 1) as b:
        start = begin + b * stride
        count = c.pick(b == last, end - start, stride)
        wanted = c.pick(count < lanes, lanes, count)
        _gather(c, job, table, groups, room[0], start, count, wanted)
        result = job.result + start * kept * 8
        output[0] = c.pick(keeps_own, own, result)
        c.call(job.rows_code, wanted, groups, output, status)
        with c.loop(lanes) as k:
            c.need((status.double(k) == 0.0) & (status.double(lanes + k) <= REACH))
        with c.when(keeps_own):
            with c.loop(count) as r, c.loop(job.checks) as k:
                c.need(own.double((r + 1) * outputs - 1 - k) >= 0.0)
            c.call("copied", own, outputs * 8, 8, result, kept, kept, count, count)
    c.call("free", heap[0])
    c.answer(0)
    c.failed()
    words[PLACES["bad"]] = 1
    c.call("free", heap[0])


def _gather(
    c: Code, job: Table, table: Table, groups: Value, room: Value, start: Value, count: Value, wanted: Value
) -> None:
    """The addresses of a block's groups, after copying what has to be copied."""
    joined, numbers, capacity = job.joined, job.numbers, job.block + job.lanes
    used, base, here = c.variable(), c.variable(), c.variable()
    with c.loop(job.arguments) as a:
        width = table.width(a)
        here[0] = job.sources[a] + job.row_steps[a] * start
        base[0] = c.pick(a > joined, base[0], used[0])  # where the group begins in a row of all numbers
        with c.when(job.copies[a] != 0):
            source, pitch = here[0], c.pick(a >= joined, numbers - base[0], width)
            here[0] = room + (base[0] * capacity + used[0] - base[0]) * 8
            c.call("copied", source, job.row_steps[a], job.column_steps[a], here[0], pitch, width, count, wanted)
        with c.when(a <= joined):
            groups[a] = here[0]
        used[0] = used[0] + width
    pitch = table.start[len(WORDS)]
    with c.loop(job.units) as u, c.loop(wanted) as r:
        c.need(c.call("unit", groups[0] + (r * pitch + table.unit(u)) * 8) != 0)
