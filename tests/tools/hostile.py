"""Broken robots and scenarios through the command line, as many as one likes: no traceback, no hang, nothing half done.

    python tests/tools/hostile.py --count 20000 --seed x --jobs 2
    python tests/tools/hostile.py --seed x --number 4711        one of them again, with all that it says

Each is a file of the library with one to four lines broken at random.  All are read and checked, one in twenty is also
run, or drawn on by another command; runs that would take long are interrupted.  Exit codes have to be documented ones, errors to
name file and line, tables to hold numbers where the code is 0, and nothing may be changed or left behind by a refusal.
What fails is made as simple as possible and shown with its number; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from mutations import CHECK, Case, case, run, simpler

BATCH = 100  # files for one process
LIMIT = 5  # seconds of CPU after which a run is interrupted, since the file says that it is long; it has as many to end
RUNS = 0.05  # share of the files that are run, and not only read and checked
SHOWN = 20  # failures
TRIES = 40  # commands to make a failure simpler

Failure = tuple[int, str]  # its number, and what is wrong


class Late(BaseException):
    """A file has taken too long."""


def tried(one: Case) -> str:
    """What is wrong with what becomes of a case; an empty text if nothing is."""

    def late(*_: object) -> None:
        if one.words[0] == CHECK:
            raise Late
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGPROF, late)
    # what doesn't end then, or never comes back to Python, ends with the process
    used, own = resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 2 * LIMIT, own[1]))
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with tempfile.TemporaryDirectory(prefix="denoc-hostile-") as folder:
            return str(run(one, Path(folder)))
    except Late:
        return f"more than {LIMIT} s of CPU to read and check it"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_CPU, own)  # or whoever calls this ends there some time later


def _batch(seed: str, numbers: Sequence[int], to: Connection) -> None:
    """Tries these cases, and sends what is wrong with each."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in numbers:
        to.send((number, tried(case(seed, number, RUNS))))
    to.send((-1, ""))


def batch(seed: str, numbers: Sequence[int]) -> Iterator[Failure]:
    """What is wrong with these cases, from processes of their own; one that ends early is followed by another."""
    left = list(numbers)
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None)
    while left:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_batch, args=(seed, left, there))
        process.start()
        there.close()
        try:
            while (answer := here.recv())[0] >= 0:
                left.remove(answer[0])
                yield answer
        except EOFError:
            process.join()
            yield left.pop(0), f"the process ended with {process.exitcode}"
        process.join()


def simplest(best: Case, wrong: str) -> tuple[Case, str]:
    """A case that fails in the same way with as few differences from the library's file as can be found."""
    tries, again = 0, bool(wrong) and not wrong.startswith("the process")
    while again and tries < TRIES:
        again = False
        for one in simpler(best):
            tries += 1
            now = tried(one)
            if now[:12] == wrong[:12]:
                best, wrong, again = one, now, True
                break
    return best, wrong


def show(seed: str, number: int, wrong: str) -> None:
    """Prints a failure with its number and its difference from the library's file."""
    best, wrong = simplest(case(seed, number, RUNS), wrong)
    print(f"--seed {seed} --number {number}: denoc {' '.join(best.words)}\n{wrong}\n{best.difference()}\n", flush=True)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", metavar="N", type=int, default=20_000, help="files")
    parser.add_argument("--seed", default="denoc")
    parser.add_argument("--number", metavar="N", type=int, help="only this one")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="denoc-hostile-cache-") as caches:
        os.environ |= {"DENOC_CACHE": f"{caches}/denoc", "MPLCONFIGDIR": f"{caches}/matplotlib"}
        if given.number is not None:
            wrong = tried(case(given.seed, given.number, RUNS))
            show(given.seed, given.number, wrong)
            return int(bool(wrong))
        return swept(given.seed, given.count, given.jobs)


def swept(seed: str, count: int, jobs: int) -> int:
    """Tries so many cases; the exit code is 1 if any fails."""
    tried(case(seed, 0))  # so that modules are imported once, before processes are forked
    begun, failures, done = time.perf_counter(), 0, 0
    batches = [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]
    with ThreadPoolExecutor(jobs) as pool:
        for answers in pool.map(lambda numbers: list(batch(seed, numbers)), batches):
            done += len(answers)
            for number, wrong in answers:
                if wrong and (failures := failures + 1) <= SHOWN:
                    show(seed, number, wrong)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = spent.ru_utime + spent.ru_stime
            if sys.stdout.isatty() or done % (10 * BATCH) == 0 or done == count:
                print(f"{done} files, {done / cpu:.1f} in a second of CPU, {failures} failures", flush=True)
    print(f"{done} files in {time.perf_counter() - begun:.0f} s, {failures} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
