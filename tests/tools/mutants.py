"""Deliberate bugs, one at a time, in copies of the tree: the tests have to catch each of them.

    python tests/tools/mutants.py                         all bugs of tests/support/bugs/
    python tests/tools/mutants.py --sample 10             ten of them, others after each change of the sources
    python tests/tools/mutants.py --only sign --only unit those with such words in their names
    python tests/tools/mutants.py --whole                 what survives its own tests meets all tests

First the tests that the chosen bugs name have to pass in a copy without a bug.  Then each bug is put into a copy, and the
tests that it names are run until one fails.  Shown is for every bug which test that was and the seconds of CPU that it took.
Survivors, and bugs with which the tests can't even be collected, are listed at the end; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import compileall
import functools
import hashlib
import itertools
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from installed import AWAY, lay_out

from bugs import BUGS, Bug, wrong

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")
LIMIT = 600  # seconds of CPU of one process; with a bug, some loops have no end
PEERS = ("mujoco", "pinocchio")  # which the developers' extra has, and the tests' own has not
HANGS = 1800  # seconds of the clock
MANY = 8  # failures that are looked at where a survivor meets all tests
FAILED = re.compile(r"^(FAILED|ERROR) (\S+?::.+?|\S+)(?: - (.*))?$", re.MULTILINE)
SUPPRESSED = ("-q", "-p", "no:cacheprovider", "--tb=no", "-rfE")


@dataclass(frozen=True)
class Run:
    """What came of a run of tests: pytest's exit code, the failures with their reasons, and the seconds of CPU."""

    code: int
    failures: tuple[tuple[str, str], ...]
    seconds: float
    output: str = ""


@dataclass(frozen=True)
class Verdict:
    """What became of a bug: `caught` by a test, or why not."""

    bug: Bug
    caught: str
    why: str
    seconds: float


class Copy:
    """A copy of the tree with the package in the shape that it is installed in, so that `denoc` is the copy's."""

    def __init__(self, home: Path, source: Path = ROOT):
        self.tree, self._installed = home / "tree", home / "installed"
        self._later = itertools.count(10)  # seconds, others for each bug
        shutil.copytree(source, self.tree, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        self._installed.mkdir()
        lay_out(self._installed, self.tree)
        (self._installed / "sitecustomize.py").write_text(AWAY, encoding="utf-8")
        for folder in (self._installed, self.tree / "engine", self.tree / "cli"):
            compileall.compile_dir(folder, quiet=2)

    def put(self, bug: Bug) -> Callable[[], None]:
        """Puts a bug into the copy, and returns a function that takes it out again."""
        path, wrong_text = bug.found(self.tree), bug.put_into(self.tree)
        text, state = path.read_text(encoding="utf-8"), path.stat()

        def written(content: str, later: int) -> None:
            path.write_text(content, encoding="utf-8")
            # Python knows by the second whether what it has compiled is of another text
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + later * 10**9))

        written(wrong_text, next(self._later))
        return lambda: written(text, 0)

    def run(self, words: Sequence[str]) -> Run:
        """Runs pytest with these arguments in the copy."""
        around = {**os.environ, "PYTHONPATH": str(self._installed), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            # the copies are tests of the tests: what the user has set for denoc doesn't hold for them
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *SUPPRESSED, *words],
                cwd=self.tree,
                env={name: value for name, value in around.items() if not name.startswith(("DENOC_", "PYTEST_"))},
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_limited,
                start_new_session=True,
            )
            clock = threading.Timer(HANGS, process.kill)
            clock.start()
            _, status, used = os.wait4(process.pid, 0)
            clock.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            said = output.read()
        return Run(process.returncode, failures(said), used.ru_utime + used.ru_stime, said)


def failures(said: str) -> tuple[tuple[str, str], ...]:
    """The tests that pytest says have failed, with its reasons."""
    return tuple((what, f"{kind}: {why}") for kind, what, why in FAILED.findall(said))


def _limited() -> None:
    """Limits the CPU time of a process that runs tests, and of each of its children; signals are heard as usual."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a script runs in the background ignores it
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def words_of(tests: Iterable[str]) -> list[str]:
    """The arguments of pytest for some tests; by their names, so that no more cases run than in all other runs."""
    tests = list(tests)
    files = dict.fromkeys(f"tests/{test.partition('::')[0]}" for test in tests)
    names = dict.fromkeys(test.partition("::")[2] for test in tests)
    return [*files, "-k", " or ".join(names)]


def verdict(copy: Copy, bug: Bug, whole: bool) -> Verdict:
    """What becomes of a bug when its own tests run, and then all if it is to meet the `whole` of them."""
    away = copy.put(bug)
    try:
        run = copy.run(["-x", "-n", "0", *words_of(bug.tests)])
        caught, why = judged(run)
        seconds = run.seconds
        if not caught and whole and not why:
            run = copy.run(["-n", "auto", "--maxfail", str(MANY)])
            seconds += run.seconds
            away()
            caught = _fails_by_it(copy, run)
        return Verdict(bug, caught, why, seconds)
    finally:
        away()


def judged(run: Run) -> tuple[str, str]:
    """The test that has caught a bug, or why none can be said to have; both are empty if the bug survives."""
    failed = [(what, why) for what, why in run.failures if why.startswith("FAILED")]
    if failed:
        return f"{failed[0][0]} ({failed[0][1].removeprefix('FAILED: ')[:60]})", ""
    if run.code < 0:
        return f"the end of the process by {signal.Signals(-run.code).name}", ""  # a crash, or its limit of CPU
    if run.code == 0:
        return "", ""
    return "", f"the tests don't run: {run.failures[0][1] if run.failures else run.output.strip()[-300:]}"


def _fails_by_it(copy: Copy, run: Run) -> str:
    """A test of those that have failed which passes without the bug."""
    for what, _ in run.failures:
        if copy.run(["-n", "0", what]).code == 0:
            return f"{what} (which it doesn't name)"
    return ""


def tried(bugs: Sequence[Bug], jobs: int, whole: bool, show: Callable[[Verdict], None]) -> list[Verdict]:
    """The verdicts on all bugs, each in a copy of which there are as many as jobs."""
    with tempfile.TemporaryDirectory(prefix="denoc-mutants-") as folder:
        homes = [Path(folder, str(k)) for k in range(jobs)]
        idle = [Copy(home) for home in homes]
        _passing(idle[0], bugs, jobs)

        def one(bug: Bug) -> Verdict:
            copy = idle.pop()
            try:
                result = verdict(copy, bug, whole)
            finally:
                idle.append(copy)
            show(result)
            return result

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, bugs))


def _passing(copy: Copy, bugs: Sequence[Bug], jobs: int) -> None:
    """Ends the program if the tests of these bugs don't pass where there is none."""
    run = copy.run(["-n", str(jobs if jobs > 1 else 0), *words_of(test for bug in bugs for test in bug.tests)])
    if run.code:
        raise SystemExit(f"{run.output}\nthese tests fail without any bug")
    print(f"without a bug, {run.output.strip().splitlines()[-1]} ({run.seconds:.1f} s of CPU)", flush=True)


def sources() -> str:
    """A number that is another one after each change of the program or its tests."""
    digest = hashlib.sha256()
    for folder in ("engine", "cli", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@functools.cache
def beside_a_missing_peer(test: str) -> bool:
    """Whether a test's file compares with another engine that isn't installed, so that tests of it are skipped."""
    text = (ROOT / "tests" / test.partition("::")[0]).read_text(encoding="utf-8")
    return any(f'importorskip("{name}")' in text for name in PEERS if find_spec(name) is None)


def chosen(words: Sequence[str], sample: int, seed: str) -> list[Bug]:
    """The bugs that have one of these words in their names or files, or a sample of them, that can be tried here."""

    def described(bug: Bug) -> str:
        return f"{bug.name} {bug.place} {bug.found(ROOT).relative_to(ROOT)}"

    bugs = [bug for bug in BUGS if not words or any(word in described(bug) for word in words)]
    bugs = [bug for bug in bugs if not any(map(beside_a_missing_peer, bug.tests))]
    return random.Random(seed).sample(bugs, min(sample, len(bugs))) if sample else bugs


def main() -> int:
    """Tries the bugs that the command line names, and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--sample", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", default="", help="of the sample; otherwise the sources' own")
    parser.add_argument("--whole", action="store_true", help="all tests, for those that survive their own")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    given = parser.parse_args()
    unfit = [f"{bug.name}: {why}" for bug in BUGS if (why := wrong(bug, ROOT))]
    if unfit:
        raise SystemExit("\n".join(["rows of the table that don't fit the tree:", *unfit]))
    seed = given.seed or sources()
    bugs = chosen(given.only, given.sample, seed)
    print(f"{len(bugs)} of {len(BUGS)} bugs" + (f", by the seed {seed}" if given.sample else ""), flush=True)

    if not bugs:
        return 0

    def show(one: Verdict) -> None:
        print(f"{one.seconds:6.1f} s  {one.bug.name}: {one.caught or one.why or 'SURVIVES'}", flush=True)

    verdicts = tried(bugs, max(1, min(given.jobs, len(bugs))), given.whole, show)
    left = [one for one in verdicts if not one.caught]
    print(
        f"{len(verdicts) - len(left)} caught, {len(left)} not, in {sum(one.seconds for one in verdicts):.0f} s of CPU"
    )
    for one in left:
        print(f"  {one.bug.name} ({one.bug.place}): {one.why or 'it survives'}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
