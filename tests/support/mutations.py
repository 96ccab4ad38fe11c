"""Files with something broken in them at random, what is done with them, and what may come of that."""

import contextlib
import difflib
import io
import math
import multiprocessing
import os
import random
import re
import resource
import shlex
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

import unseen
from breaking import broken
from kinds import KINDS, LIBRARY, checked, commanded, fits, wholes

CHECKS = ("load", "prepare")  # first words of what is no command of the program's
MEMORY = 500  # MB that a command may take for a small file
__all__ = ["KINDS", "LIBRARY", "Case", "case", "run", "simpler", "wholes"]


@dataclass(frozen=True)
class Case:
    """A broken file among others, and the command that gets them."""

    kind: str
    whole: int  # which of the kind's whole ones
    name: str  # of the broken file
    content: bytes
    words: tuple[str, ...]

    @property
    def files(self):
        return wholes(self.kind)[self.whole]

    @property
    def original(self):
        return self.files[self.name]

    def difference(self):
        """What is broken, as a difference from the whole file."""
        if binary(self.original):
            pairs = enumerate(zip(self.original, self.content))
            others = [f"{at}: {old:02x} to {new:02x}" for at, (old, new) in pairs if old != new]
            return f"{self.name}: {len(self.original)} bytes, now {len(self.content)}; " + ", ".join(others[:8])
        lines = difflib.unified_diff(text(self.original), text(self.content), "whole", self.name, "", "", 1, "")
        return "\n".join(line[:200].encode("unicode_escape").decode() for line in lines)


def text(content):
    return content.decode("utf-8", "replace").split("\n")


def binary(content):
    return b"\0" in content


def case(seed, number, runs=1.0, kind="robot"):
    """The case of this number, which is the same wherever it is made; in this share of them the command isn't the quick one."""
    draw = random.Random(f"{kind} {seed} {number}")
    row, whole = KINDS[kind], draw.randrange(len(KINDS[kind].wholes))
    files = wholes(kind)[whole]
    name = draw.choice([name for name in files if fits(name, row.victims)])
    content = broken(name, files[name], draw)
    quick = len(row.commands) == 1 or draw.random() >= runs
    return Case(
        kind, whole, name, content, tuple(shlex.split(row.commands[0] if quick else draw.choice(row.commands[1:])))
    )


def simpler(one):
    """Cases with one of the differences from the whole file taken back."""
    old, new = one.original, one.content
    if binary(old):
        if len(old) == len(new):
            for at in [at for at in range(len(old)) if old[at] != new[at]][:20]:
                yield replace(one, content=new[:at] + old[at : at + 1] + new[at + 1 :])
        return
    old, new = old.split(b"\n"), new.split(b"\n")
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield replace(one, content=b"\n".join([*new[:c], *old[a:b], *new[d:]]))


def run(one, place):
    """What is wrong with what becomes of a broken file in an empty folder; an empty text if nothing is."""
    for name, content in one.files.items():
        if not (KINDS[one.kind].same and name == KINDS[one.kind].same):
            (place / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            (place / name).write_bytes(one.content if name == one.name else content)
    return _apart(one, place) if KINDS[one.kind].alone else _ran(one, place)


def _apart(one, place):
    """The same in a process that is forked for it."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: there.send(_ran(one, place)))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        process.join()
        return f"the process ended with {process.exitcode}"
    finally:
        process.join()


def _ran(one, place):
    from denoc.record import plots

    out, err, before = io.StringIO(), io.StringIO(), (os.getcwd(), plots.save_figure, os.environ.get("DENOC_CACHE"))
    os.chdir(place)
    plots.save_figure = unseen.save
    if KINDS[one.kind].alone:
        os.environ["DENOC_CACHE"] = str(place / "cache")
    memory, files = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, contents(place)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = checked(*one.words) if one.words[0] in CHECKS else commanded(one.words)
    except Exception as error:  # noqa: BLE001
        at = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "/engine/" in frame.filename or "/cli/" in frame.filename
        ]
        where = f"{Path(at[-1].filename).name}:{at[-1].lineno}" if at else "?"
        return f"{type(error).__name__} ({where}): {error}"
    finally:
        os.chdir(before[0])
        plots.save_figure = before[1]
        os.environ.pop("DENOC_CACHE") if before[2] is None else os.environ.update(DENOC_CACHE=before[2])
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    if memory > MEMORY:
        return f"{memory:.0f} MB of memory"
    return judged(one, code, out.getvalue(), err.getvalue(), files, contents(place))


def contents(place):
    """What the files of a folder hold, by their paths."""
    paths = [path for path in place.rglob("*") if path.is_file() or path.is_symlink()]
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}


def judged(one, code, out, err, before, after):
    """What is wrong with a command's exit code, messages and files; an empty text if nothing is."""
    row = KINDS[one.kind]
    if code == 130:  # it was stopped because it takes long; what there is of a run is kept
        return "" if row.long else "it takes too long"
    if code not in row.codes:
        return f"exit code {code}: {err[:300]}"
    if "Traceback" in out + err or "a mistake in denoc" in err:
        return "a traceback"
    if re.search(r"^warning: .*encountered in", err, re.MULTILINE):
        return "a warning of NumPy: " + err.strip()
    if found := re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out + err):
        return f"a control character in what is printed: {found[0]!r} in {(out + err)[max(found.start() - 60, 0) : found.end() + 20]!r}"
    if changed := [
        name
        for name in before
        if after.get(name) != before[name] and (code == 2 or not fits(name, "outputs/* " + row.kept))
    ]:
        return f"exit code {code}, and files have changed: {changed}"
    new = sorted(after.keys() - before.keys())
    if any(Path(name).name.startswith(".") for name in new):
        return f"drafts stay behind: {new}"
    if strange := [name for name in new if not fits(name, row.written)]:
        return f"files in strange places: {strange}"
    if code == 2:
        return mistaken(one, err, new)
    if code and "error: " not in err and not new and code == 3:
        return "a failure without a word"
    tables = [after[name].partition(b"\n")[2] for name in new if name.endswith(".csv") and after[name] != one.content]
    if code == 0 and any(re.search(rb"(^|,)-?(nan|inf)\b", table, re.MULTILINE) for table in tables):
        return "exit code 0, and numbers that aren't finite"
    if code == 0 and row.same and not alike(after[row.same], one.files[row.same]):
        return "exit code 0, and other numbers"
    return ""


def alike(table, other):
    """Whether two tables hold the same numbers, but for rounding; a search may take another way to the least ones."""
    one, two = ([line.split(",") for line in content.decode().split()] for content in (table, other))
    if len(one) != len(two):
        least = [[min(map(float, column[1:])) for column in list(zip(*rows))[1:4]] for rows in (one, two)]
        return all(near(a, b, 1e-6) for a, b in zip(*least))
    return all(a == b or near(a, b) for row, line in zip(one, two) for a, b in zip(row, line))


def near(one, two, share=1e-9):
    try:
        return math.isclose(float(one), float(two), rel_tol=share, abs_tol=share)
    except ValueError:
        return False


def mistaken(one, err, new):
    """What is wrong with a refusal: it has to name the place and what to do, and nothing may be written."""
    if new:
        return f"exit code 2, and files are left: {new}"
    quick = " ".join(one.words) == KINDS[one.kind].commands[0]
    places = "|".join(re.escape(Path(name).name) for name in one.files)
    whole = "not text in UTF-8|the document is empty|this is no robot|not valid|there is no such file"
    line = rf":\d+:\d+: |: .*({whole})" if KINDS[one.kind].lines else ""
    if not re.search(rf"^error: .*({places})({line})" if quick else "^error: ", err, re.MULTILINE):
        return "no file and line: " + err
    if (
        quick
        and one.name.endswith(".yaml")
        and not re.search(rf"^  (found|allowed|hint): \S|{whole}", err, re.MULTILINE)
    ):
        return "nothing is found, allowed or hinted at: " + err
    return ""
