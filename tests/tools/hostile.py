"""Broken files of all kinds through the command line, as many as one likes: no traceback, no hang, nothing half done.

    python tests/tools/hostile.py --count 5000 --seed x --jobs 2
    python tests/tools/hostile.py --kind store --kind mat                     these kinds alone
    python tests/tools/hostile.py --kind store --seed x --number 4711         one of them again, with all that it says

The kinds are the rows of `tests/support/kinds.py`: robots of all formats, scenarios, tables, results, studies, stores,
baselines, kept code.  Each is a whole file with something broken at random: lines, values, or bytes.  Most get the
kind's quick command, one in ten another one; runs that would take long are interrupted.  Exit codes have to be
documented ones, refusals to name file and line, tables to hold numbers where the code is 0, messages to be without
control characters, memory bounded; and nothing may be changed or left behind by a refusal.  What fails is made as simple
as possible and shown with its number; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

# as in the command, and before numpy is imported: threads that spin would use up a file's seconds of CPU
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from mutations import CHECKS, KINDS, Case, case, run, simpler

BATCH = 100  # files for one process
LIMIT = 5  # seconds of CPU after which a run is interrupted, since the file says that it is long; it has as many to end
RUNS = 0.1  # share of the files that get another command than the quick one
SPACE = 8 << 30  # bytes of addresses for a process
SHOWN = 20  # failures of a kind
TRIES = 40  # commands to make a failure simpler

Failure = tuple[int, str]  # its number, and what is wrong


class Late(BaseException):
    """A file has taken too long."""


def tried(one: Case) -> str:
    """What is wrong with what becomes of a case; an empty text if nothing is."""

    def late(*_: object) -> None:
        if one.words[0] in CHECKS:
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


def _batch(seed: str, numbers: Sequence[int], kind: str, to: Connection) -> None:
    """Tries these cases, and sends what is wrong with each."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for number in numbers:
        to.send((number, tried(case(seed, number, RUNS, kind))))
    to.send((-1, ""))


def batch(seed: str, numbers: Sequence[int], kind: str) -> Iterator[Failure]:
    """What is wrong with these cases, from processes of their own; one that ends early is followed by another."""
    left = list(numbers)
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None)
    while left:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_batch, args=(seed, left, kind, there))
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
            if now[:24] == wrong[:24]:
                best, wrong, again = one, now, True
                break
    return best, wrong


def show(seed: str, number: int, kind: str, wrong: str) -> None:
    """Prints a failure with its number and its difference from the whole file."""
    best, wrong = simplest(case(seed, number, RUNS, kind), wrong)
    again = f"--kind {kind} --seed {seed} --number {number}"
    print(f"{again}: denoc {' '.join(best.words)}\n{wrong}\n{best.difference()}\n", flush=True)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--kind", metavar="NAME", choices=KINDS, action="append", help=f"default: all; {', '.join(KINDS)}"
    )
    parser.add_argument("--count", metavar="N", type=int, default=1000, help="files of each kind")
    parser.add_argument("--seed", default="denoc")
    parser.add_argument("--number", metavar="N", type=int, help="only this one")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes")
    given = parser.parse_args(words)
    kinds = given.kind or list(KINDS)
    with tempfile.TemporaryDirectory(prefix="denoc-hostile-cache-") as caches:
        os.environ |= {"DENOC_CACHE": f"{caches}/denoc", "MPLCONFIGDIR": f"{caches}/matplotlib"}
        if given.number is not None:
            wrong = tried(case(given.seed, given.number, RUNS, kinds[0]))
            show(given.seed, given.number, kinds[0], wrong)
            return int(bool(wrong))
        return int(sum(swept(given.seed, given.count, kind, given.jobs) for kind in kinds) > 0)


def swept(seed: str, count: int, kind: str, jobs: int) -> int:
    """How many of so many cases of a kind fail."""
    whole = case(seed, 0, 0, kind)
    tried(replace(whole, content=whole.original))  # so that modules are imported once, before processes are forked
    begun, failures, done = resource.getrusage(resource.RUSAGE_CHILDREN), 0, 0
    batches = [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]
    with ThreadPoolExecutor(jobs) as pool:
        for answers in pool.map(lambda numbers: list(batch(seed, numbers, kind)), batches):
            done += len(answers)
            for number, wrong in answers:
                if wrong and (failures := failures + 1) <= SHOWN:
                    show(seed, number, kind, wrong)
            if sys.stdout.isatty():
                print(f"{kind}: {done} files, {failures} failures", end="\r", flush=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent.ru_utime + spent.ru_stime - begun.ru_utime - begun.ru_stime
    print(f"{kind}: {done} files in {cpu:.0f} s of CPU, {failures} failures", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
