"""Threads that share the rows of a batch: they wait in machine code, without Python's lock, and begin at once.

To wake a thread takes as long as two thousand samples of a small robot, and as long again until it has Python's lock.
So a thread that has just helped looks out for more for a while before it goes to sleep, as OpenMP's threads do.  Each
thread begins with rows of its own, which stay in its processor's cache if the same arrays come again, and then takes
from others: on a busy machine the caller does most of the work itself.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from functools import lru_cache

import numpy as np

from . import native, objects

FEWEST, MOST = 4, 4096  # parts of a thread's share, and rows of a part
WIDEST = 8  # lanes; parts begin at multiples of it, so that blocks don't depend on the number of threads
LOOKS = 100_000  # for work, before a thread goes to sleep: half a millisecond or so

# The words of the box into which callers and threads look.  Those that change during a batch are 64 bytes apart.
IN_USE, DONE, JOB = 0, 8, 16  # whether a batch is there, parts that are done, and words about the batch:
HELPERS, WORK, GIVEN, ROWS, PARTS = range(JOB, JOB + 5)  # `work(given, first, end)` does the rows from first to end
SHARES, SHARE = 24, 8  # from here on for each thread, the caller first: parts that are left of its share, and its end
LEFT, END = 0, 1


class Crew:
    """So many threads that help with batches, one batch at a time."""

    def __init__(self, helpers: int):
        code = _code()
        self.helpers, self.share = helpers, code.address("share")
        self._box = np.zeros(SHARES + SHARE * (helpers + 1), dtype=np.int64)
        self.box = self._box.ctypes.data
        self._help = _HELP(code.address("help"))
        self._over, self._asleep = False, [False] * helpers
        self._beds = [threading.Lock() for _ in range(helpers)]
        for bed in self._beds:
            bed.acquire()
        self._threads = [
            threading.Thread(target=self._serve, args=(k,), name=f"denoc-{k}", daemon=True) for k in range(helpers)
        ]
        for thread in self._threads:
            thread.start()

    def wake(self, helpers: int) -> None:
        """Let so many threads look for work."""
        for k in range(helpers):
            if self._asleep[k]:
                self._asleep[k] = False
                self._beds[k].release()

    def dismiss(self) -> None:
        """Let the threads end; code that they run must not go away before them."""
        self._over = True
        self.wake(self.helpers)
        for thread in self._threads:
            thread.join(1.0)

    def _serve(self, k: int) -> None:
        while not self._over:
            self._help(self.box, k + 1)
            if not self._box[IN_USE]:  # else a batch came while this thread waited for Python's lock
                self._asleep[k] = True  # before the look at the end: who ends it wakes those that are asleep
                if not self._over:
                    self._beds[k].acquire()


@lru_cache(maxsize=1)
def _code() -> native.Loaded:
    code = objects.loaded_machine_code("crew", (), crew_ir, False)
    assert code is not None
    return code


def _ir_of_words(**places: int) -> str:
    """IR that loads words of the box into registers of the same names."""
    return "\n".join(
        f"  %{name}.at = getelementptr i64, ptr %box, i64 {place}\n"
        f"  %{name} = load {'ptr' if place in (WORK, GIVEN) else 'i64'}, ptr %{name}.at"
        for name, place in places.items()
    )


def _ir_of_share(k: str) -> str:
    """IR for the addresses of the words of a thread's share."""
    return f"""  %share.skip = mul i64 {k}, {SHARE}
  %share.place = add i64 %share.skip, {SHARES}
  %left.at = getelementptr i64, ptr %box, i64 %share.place
  %end.at = getelementptr i64, ptr %left.at, i64 {END - LEFT}"""


def crew_ir() -> str:
    """The IR of what the caller and the threads do.

    A thread may look into the box at any time, also while the next batch is put there.  So a part is taken by counting
    down what is left of a share, and only who got one reads what the batch is: the caller writes that word last.
    """
    return f"""
define internal i64 @parts(ptr %box, i64 %own) {{
  %done.at = getelementptr i64, ptr %box, i64 {DONE}
  %helpers.at = getelementptr i64, ptr %box, i64 {HELPERS}
  %helpers = load atomic i64, ptr %helpers.at monotonic, align 8
  %is_wanted = icmp sle i64 %own, %helpers
  br i1 %is_wanted, label %begin, label %no
no:
  ret i64 0
begin:
  br label %whose
whose:
  %n = phi i64 [0, %begin], [%n.next, %other]
  %did = phi i64 [0, %begin], [%did.now, %other]
  %turned = add i64 %own, %n
  %is_over = icmp sgt i64 %turned, %helpers
  %shares = add i64 %helpers, 1
  %back = sub i64 %turned, %shares
  %k = select i1 %is_over, i64 %back, i64 %turned
{_ir_of_share("%k")}
  br label %look
look:
  %did.now = phi i64 [%did, %whose], [%did.next, %mine]
  %left = load atomic i64, ptr %left.at monotonic, align 8
  %is_left = icmp sgt i64 %left, 0
  br i1 %is_left, label %take, label %other
take:
  %taken = atomicrmw sub ptr %left.at, i64 1 acq_rel
  %is_own = icmp sgt i64 %taken, 0
  br i1 %is_own, label %mine, label %other
mine:
{_ir_of_words(work=WORK, given=GIVEN, rows=ROWS, parts=PARTS)}
  %end = load i64, ptr %end.at
  %part = sub i64 %end, %taken
  %part.next = add i64 %part, 1
  %first.all = mul i64 %rows, %part
  %first.exact = sdiv i64 %first.all, %parts
  %first = and i64 %first.exact, -{WIDEST}
  %behind.all = mul i64 %rows, %part.next
  %behind.exact = sdiv i64 %behind.all, %parts
  %behind.whole = and i64 %behind.exact, -{WIDEST}
  %is_last = icmp eq i64 %part.next, %parts
  %behind = select i1 %is_last, i64 %rows, i64 %behind.whole
  call void %work(ptr %given, i64 %first, i64 %behind)
  %before = atomicrmw add ptr %done.at, i64 1 release
  %did.next = add i64 %did.now, 1
  br label %look
other:
  %n.next = add i64 %n, 1
  %is_more = icmp sle i64 %n.next, %helpers
  br i1 %is_more, label %whose, label %end_of_all
end_of_all:
  ret i64 %did.now
}}

define i1 @share(ptr %box, i64 %helpers, ptr %work, ptr %given, i64 %rows) {{
  %shares = add i64 %helpers, 1
  %parts.fewest = mul i64 %shares, {FEWEST}
  %parts.small = sdiv i64 %rows, {MOST}
  %are_few = icmp slt i64 %parts.small, %parts.fewest
  %parts = select i1 %are_few, i64 %parts.fewest, i64 %parts.small
  %least = mul i64 %parts, {2 * WIDEST}
  %is_enough = icmp sge i64 %rows, %least
  br i1 %is_enough, label %ask, label %no
ask:
  %in_use.at = getelementptr i64, ptr %box, i64 {IN_USE}
  %found = cmpxchg ptr %in_use.at, i64 0, i64 1 acq_rel monotonic
  %is_free = extractvalue {{ i64, i1 }} %found, 1
  br i1 %is_free, label %begin, label %no
no:
  ret i1 false
begin:
  %done.at = getelementptr i64, ptr %box, i64 {DONE}
  %helpers.at = getelementptr i64, ptr %box, i64 {HELPERS}
  %work.at = getelementptr i64, ptr %box, i64 {WORK}
  %given.at = getelementptr i64, ptr %box, i64 {GIVEN}
  %rows.at = getelementptr i64, ptr %box, i64 {ROWS}
  %parts.at = getelementptr i64, ptr %box, i64 {PARTS}
  store atomic i64 0, ptr %done.at monotonic, align 8
  store atomic i64 %helpers, ptr %helpers.at monotonic, align 8
  store ptr %work, ptr %work.at
  store ptr %given, ptr %given.at
  store i64 %rows, ptr %rows.at
  store i64 %parts, ptr %parts.at
  br label %offer
offer:
  %k = phi i64 [0, %begin], [%k.next, %offer]
  %begun = phi i64 [0, %begin], [%end, %offer]
  %k.next = add i64 %k, 1
  %end.all = mul i64 %parts, %k.next
  %end = sdiv i64 %end.all, %shares
{_ir_of_share("%k")}
  %many = sub i64 %end, %begun
  store i64 %end, ptr %end.at
  store atomic i64 %many, ptr %left.at release, align 8
  %is_more = icmp slt i64 %k.next, %shares
  br i1 %is_more, label %offer, label %own
own:
  %did = call i64 @parts(ptr %box, i64 0)
  br label %look
look:
  %done = load atomic i64, ptr %done.at acquire, align 8
  %is_done = icmp eq i64 %done, %parts
  br i1 %is_done, label %end_of_all, label %look
end_of_all:
  store atomic i64 0, ptr %in_use.at release, align 8
  ret i1 true
}}

define void @help(ptr %box, i64 %own) {{
  br label %look
look:
  %n = phi i64 [0, %0], [%n.now, %look]
  %did = call i64 @parts(ptr %box, i64 %own)
  %has_done = icmp sgt i64 %did, 0
  %n.next = add i64 %n, 1
  %n.now = select i1 %has_done, i64 0, i64 %n.next
  %is_soon = icmp slt i64 %n.now, {LOOKS}
  br i1 %is_soon, label %look, label %end
end:
  ret void
}}"""


_HELP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
_crews: list[Crew] = []
_lock = threading.Lock()


def crew_of(helpers: int) -> Crew:
    """The process's crew, with at least so many helpers."""
    with _lock:
        if not _crews or _crews[-1].helpers < helpers:
            _crews.append(Crew(helpers))
        return _crews[-1]


@atexit.register
def _dismiss() -> None:
    for crew in _crews:
        crew.dismiss()


def _forget() -> None:
    """Begins without threads, because a forked process has none of its parent's."""
    global _lock
    _lock = threading.Lock()
    _crews.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
