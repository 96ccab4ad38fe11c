"""Files of the library with something broken in them at random, what is done with them, and what may come of that."""

import contextlib
import difflib
import io
import os
import random
import re
import sys
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from denoc.text.library import library_folder

LIBRARY = [file for kind in ("robots", "scenarios") for file in sorted(library_folder(kind).glob("*.yaml"))]
BITS = [
    *["nan", ".nan", ".inf", "-.inf", "1e400", "1e-400", "1e300", "-1e300", "1e-300", "-1", "0", "2", "1e18"],
    *["[]", "{}", "[[]]", "{a: 1}", "null", "true", "'", '"', "\t", "&a [*a]", "*a", "- -", ": :", "? x", "| x", "%", "@x"],
    *["!!python/object/apply:os.system ['true']", "!!int x", "!!float 1", "!foo x", "\x00", "\x07", "\u2028", "𝔘"],
    *["9" * 400, "9" * 5000, "__import__('os')", "pi/0", "9^9^9", "sqrt(-1)", "(" * 60, "90 parsec", "2024-01-01"],
    *["90 deg", "1 m", "3 kg", "2 s", "45 rpm", "5 N", "5 N m", "revolute", "spherical", "free", "fixed", "dh", "frames"],
    *["base", "link1", "joint1", "all", "cycloid", "table", "pd", "feedforward", "inverse", "simulate", "puma", "..", "/"],
    *["[1, 2]", "[0, 0, 0]", "[0, 0, 0, 0]", "{axis: [0, 0, 0], angle: 1}", "{law: rate, rate: 1}", "a" * 300, "<<", "---"],
]  # fmt: skip
NAME, CHECK = "x.yaml", "check"


def mutated(text, draw):
    """The text with one to four lines broken."""
    lines = text.split("\n")
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        lines = lines or [""]
        k, how = draw.randrange(len(lines)), draw.randrange(9)
        words = list(re.finditer(r"[^\s,:{}\[\]]+", lines[k]))
        if how == 0:
            del lines[k]
        elif how == 1:
            lines.insert(k, draw.choice(lines))
        elif how == 2:
            lines[k] = lines[k].split(":")[0] + ": " + draw.choice(BITS)
        elif how == 3:
            lines[k] = lines[k][: draw.randrange(len(lines[k]) + 1)]
        elif how == 4:
            lines[k] = " " * draw.randrange(9) + lines[k].strip()
        elif how == 5:
            j = draw.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
        elif words:
            word = draw.choice(words)
            lines[k] = lines[k][: word.start()] + draw.choice(BITS) + lines[k][word.end() :]
    return "\n".join(lines)


def commands(file, draw, runs=1.0):
    """What is done with a broken file: a command, in this share of the cases, or else it is only read and checked."""
    if draw.random() >= runs:
        return [CHECK, NAME]
    if file.parent.name == "scenarios":
        return ["run", NAME, "--no-plot"]
    short = ["--time", "0.02", "--step", "0.01", "--no-plot"]
    return draw.choice(
        [["inspect", NAME]] * 4
        + [["matrices", NAME, "--only", "all"], ["idyn", NAME, *short], ["simulate", NAME, *short]]
    )


@dataclass(frozen=True)
class Case:
    """A broken file and the command that gets it."""

    file: Path
    text: str
    words: tuple[str, ...]

    @property
    def original(self):
        return self.file.read_text(encoding="utf-8")

    def difference(self):
        """What is broken, as a difference from the library's file."""
        lines = difflib.unified_diff(
            self.original.split("\n"), self.text.split("\n"), self.file.name, NAME, "", "", 1, ""
        )
        return "\n".join(line[:200] for line in lines)


def case(seed, number, runs=1.0):
    """The case of this number, which is the same wherever it is made, with a command in this share of all cases."""
    draw = random.Random(f"{seed} {number}")
    file = draw.choice(LIBRARY)
    text = mutated(file.read_text(encoding="utf-8"), draw)
    return Case(file, text, tuple(commands(file, draw, runs)))


def simpler(one):
    """Cases with one of the differences from the library's file taken back."""
    old, new = one.original.split("\n"), one.text.split("\n")
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield Case(one.file, "\n".join([*new[:c], *old[a:b], *new[d:]]), one.words)


def run(one, place):
    """What is wrong with what becomes of a broken file in an empty folder; an empty text if nothing is."""
    content = one.text.encode("utf-8", "surrogateescape")
    (place / NAME).write_bytes(content)
    out, err, before = io.StringIO(), io.StringIO(), os.getcwd()
    os.chdir(place)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = checked(one) if one.words[0] == CHECK else commanded(one.words)
    except Exception as error:  # noqa: BLE001
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"
    finally:
        os.chdir(before)
    return judged(code, out.getvalue(), err.getvalue(), place, content)


def checked(one):
    """The exit code of a file that is only read and checked; what is wrong is printed as the command line does."""
    from denoc.errors import DenocError
    from denoc.formats.load import load
    from denoc.scenario.run import prepare_scenario

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
        try:
            (prepare_scenario if one.file.parent.name == "scenarios" else load)(Path(NAME))
        except DenocError as error:
            print(f"error: {error}", file=sys.stderr)
            return error.exit_code
    return 0


def commanded(words):
    """The exit code of a command."""
    from denoc.cli.main import main

    before = sys.argv, os.environ.get("DENOC_DEBUG")
    sys.argv, os.environ["DENOC_DEBUG"] = ["denoc", *words], "1"  # what is no error of ours comes through
    try:
        main()
    except SystemExit as leaving:
        return leaving.code or 0
    finally:
        sys.argv = before[0]
        os.environ.pop("DENOC_DEBUG") if before[1] is None else os.environ.update(DENOC_DEBUG=before[1])
    return 0


def judged(code, out, err, place, content):
    """What is wrong with a command's exit code, messages and files; an empty text if nothing is."""
    left = sorted(
        str(path.relative_to(place)) for path in place.rglob("*") if path.name != NAME or path.parent != place
    )
    if code == 130:  # the run was stopped because it takes long; what there is of it is kept
        return ""
    if code not in (0, 2, 3):
        return f"exit code {code}"
    if "Traceback" in out + err:
        return "a traceback"
    if re.search(r"^warning: .*encountered in", err, re.MULTILINE):
        return "a warning of NumPy: " + err.strip()
    if (place / NAME).read_bytes() != content:
        return "the file itself has changed"
    if any(Path(name).name.startswith(".") for name in left):
        return f"drafts stay behind: {left}"
    if any(Path(name).parts[0] != "outputs" for name in left):
        return f"files in strange places: {left}"
    if code == 2:
        return mistaken(err, left)
    if code == 3 and "error: " not in err and not left:
        return "a failure without a word"
    if code == 0 and any(re.search(r"\b(nan|inf)\b", path.read_text()) for path in place.rglob("*.csv")):
        return "exit code 0, and numbers that aren't finite"
    return ""


def mistaken(err, left):
    """What is wrong with a refusal: it has to name the place and what to do, and nothing may be written."""
    if left:
        return f"exit code 2, and files are left: {left}"
    if not re.search(rf"^error: {NAME}:\d+:\d+: ", err, re.MULTILINE):
        return "no file and line: " + err
    if not re.search(r"^  (found|allowed|hint): \S|not valid YAML", err, re.MULTILINE):
        return "nothing is found, allowed or hinted at: " + err
    return ""
