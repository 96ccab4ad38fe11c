"""Keeps what the library gives, so that a change of the engine can be held against what was before it.

    python tests/tools/snapshot.py take DIR           # with the denoc of this interpreter
    python tests/tools/snapshot.py compare OLD NEW    # exit code 1 where results differ

A snapshot holds, in DIR,

    compiled/, plain/  each scenario of the library on that backend: columns (.npz), end, events, warnings (.json),
                       and the results of the Python calls at instants of these runs (calls-<robot>)
    exports/           the code that `denoc codegen` writes for each robot, or why it refuses to
    studies/           the tables of the library's studies, and what is complained of beside them
    pages/             the pages that `denoc page` writes, as far as a scenario can have one
    messages.json      exit codes and messages of the files in tests/hostile
    counts.json        operations of the papers' general chain and of each exported program
    times.json         CPU seconds of a few commands, with an empty cache and with a full one

Only what users rely on is called (the command line, `denoc.run` and the other names of `denoc`, the record), so
snapshots of two versions can be compared however their modules are called.  CPU times are reported, and never a failure;
numbers of steps and of evaluations are a failure with `--work`, and any other bit of a number with `--bits`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import numpy as np

PARTS = ("runs", "exports", "studies", "pages", "messages", "times")
BACKENDS = ("compiled", "plain")
PROGRAMS = ("idyn", "fdyn", "inertia", "bias", "kinematics")
LANGUAGES = {"c": ".c", "python": ".py"}
CALLS = ("inverse", "forward", "bias", "inertia", "reduced", "reactions", "energy", "frames", "matrices")
STATE = {"q": "position", "qd": "speed", "qdd": "acceleration", "tau": "force"}  # families of columns
INSTANTS = 4  # of a run, at which the calls are made
TIMED = (
    ("list",),
    ("idyn", "puma", "--no-plot"),
    ("simulate", "puma", "--no-plot"),
    ("idyn", "four-bar", "--no-plot"),
    ("simulate", "four-bar", "--no-plot"),
    ("simulate", "three-rrr", "--no-plot"),
    ("simulate", "tree", "--no-plot", "--backend", "compiled"),
    ("idyn", "gough-stewart", "--no-plot", "--backend", "compiled"),
)
WARM = 3  # runs, of which the quickest counts
ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-9  # of a column's size
FAINT = 1e-3  # of the largest number of its unit and family: a column smaller than this is measured by that
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
WORK = ("steps", "rejected", "evaluations")  # of a run's audit
RESIDUALS = ("closure", "closure_angle", "energy")


# ---- taking


def take(home: Path, parts: tuple[str, ...]) -> None:
    """Writes the parts of a snapshot; what a folder has of other parts stays."""
    home.mkdir(parents=True, exist_ok=True)
    write(home / "about.json", {"denoc": version("denoc"), "python": sys.version, "platform": sys.platform})
    if "runs" in parts:
        for backend in BACKENDS:
            with tempfile.TemporaryDirectory() as cache:
                again = [sys.executable, __file__, "runs", str(home / backend)]
                around = {**os.environ, "DENOC_BACKEND": backend, "DENOC_CACHE": cache}
                subprocess.run(again, env=around, check=True)
    if "exports" in parts:
        write(home / "counts.json", {"chain": chain_counts(), **exports(home / "exports")})
    if "studies" in parts:
        studies(home / "studies")
    if "pages" in parts:
        pages(home / "pages")
    if "messages" in parts:
        write(home / "messages.json", messages())
    if "times" in parts:
        write(home / "times.json", {" ".join(words): times(words) for words in TIMED})


def library(kind: str) -> list[str]:
    """The names of the library's `robots` or `scenarios`."""
    return sorted(json.loads(command("list", "--json")[1])[kind])


def command(*words: str) -> tuple[int, str, str]:
    """Exit code, output and messages of a command line, run in this process."""
    (entry,) = entry_points(group="console_scripts", name="denoc")
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["denoc", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            entry.load()()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def runs(home: Path) -> None:
    """All scenarios, and the calls on all robots that they are about, on this process's backend."""
    import denoc

    home.mkdir(parents=True, exist_ok=True)
    states: dict[str, dict[str, np.ndarray]] = {}
    for name in library("scenarios"):
        print(home.name, name, flush=True)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                result = denoc.run(name)
            except denoc.DenocError as error:
                write(home / f"{name}.json", {"refused": str(error)})
                continue
        np.savez_compressed(home / f"{name}.npz", t=result.t, **result.table)
        kept = ("ended", "reason", "rows", "audit", "events", "warnings", "undetermined", "columns")
        facts = {key: result.record.get(key) for key in kept}
        write(home / f"{name}.json", {**facts, "heard": sorted({str(one.message) for one in heard})})
        states.setdefault(result.record["robot"]["name"], state(result))
    for robot in sorted(set(states) & set(library("robots"))):
        print(home.name, "calls of", robot, flush=True)
        numbers, refused = calls(robot, states[robot])
        np.savez_compressed(home / f"calls-{robot}.npz", **numbers)
        write(home / f"calls-{robot}.json", refused)


def state(result: Any) -> dict[str, np.ndarray]:
    """Displacements, rates, accelerations and forces at a few instants of a run; forces that it hasn't are zero."""
    rows = np.linspace(0, len(result.t) - 1, INSTANTS).astype(int)
    found = {}
    for name, family in STATE.items():
        columns = [one["name"] for one in result.record["columns"] if one["family"] == family]
        values = [result.table[column][rows] for column in columns]
        found[name] = np.stack(values, axis=1) if values else np.zeros((INSTANTS, 0))
    if found["tau"].shape != found["qd"].shape:
        found["tau"] = np.zeros_like(found["qd"])
    return found


def calls(robot: str, at: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """What the Python calls return, one array for each name in it, and why others are refused."""
    import denoc

    model = denoc.load(robot)
    q, qd, qdd, tau = (at[name] for name in STATE)
    arguments: dict[str, tuple[np.ndarray, ...]] = {
        "inverse": (q, qd, qdd),
        "forward": (q, qd, tau),
        "inertia": (q,),
        "reactions": (q, qd, qdd),
        "frames": (q,),
        "matrices": (q[-1], qd[-1]),
    }
    found, refused = {f"state {name}": values for name, values in at.items()}, {}
    for name in CALLS:
        try:
            returned = getattr(denoc, name)(model, *arguments.get(name, (q, qd)))
        except (denoc.DenocError, ValueError) as error:
            refused[name] = str(error)
            continue
        for key, values in named(returned):
            if values.dtype.kind in "fiu":
                found[f"{name}{key}"] = values
    return found, refused


def named(returned: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a dictionary, of a tuple, or of one array."""
    if isinstance(returned, Mapping):
        for key, values in returned.items():
            yield f" {key}", np.asarray(values)
    elif isinstance(returned, tuple):
        for k, values in enumerate(returned):
            yield f" {k}", np.asarray(values)
    else:
        yield "", np.asarray(returned)


def exports(home: Path) -> dict[str, str]:
    """Writes what `denoc codegen` gives, and returns the operations that the files themselves state."""
    home.mkdir(parents=True, exist_ok=True)
    counts = {}
    for robot in library("robots"):
        print("exports of", robot, flush=True)
        for program in PROGRAMS:
            for language, suffix in LANGUAGES.items():
                for regrouped in (False, True):
                    name = f"{robot}-{program}{'-regrouped' if regrouped else ''}"
                    words = ("codegen", robot, "--what", program, "--lang", language)
                    code, text, message = command(*words, *(["--regroup"] if regrouped else []))
                    (home / f"{name}{suffix}").write_text(message if code else text, encoding="utf-8")
                    if (stated := re.search(r"Operations: (.*?) \(", text)) is not None:
                        counts[f"{name}{suffix}"] = stated[1]
    return counts


def studies(home: Path) -> None:
    """The tables of the library's studies, each computed anew in a folder of its own."""
    home.mkdir(parents=True, exist_ok=True)
    for name in library("studies"):
        print("study", name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            verb = "optimise" if searches(name) else "sweep"
            code, _, err = command(verb, name, "--no-plot", "--quiet", "--out", folder)
            tables = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).rglob("*.csv"))}
        write(home / f"{name}.json", {"code": code, "messages": without(err, folder), "tables": tables})


def searches(study: str) -> bool:
    """Whether a study of the library looks for a best point, and isn't a sweep."""
    (path,) = command("list", study)[1].split()[:1]
    return any(
        line.startswith(("minimise", "maximise")) for line in Path(path).read_text(encoding="utf-8").splitlines()
    )


def pages(home: Path) -> None:
    """The page of each scenario, or why it has none."""
    home.mkdir(parents=True, exist_ok=True)
    for name in library("scenarios"):
        print("page of", name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = command("page", name, "--quiet", "--out", folder)
            found = sorted(Path(folder).rglob("*.html"))
            text = found[0].read_text(encoding="utf-8") if found else without(err, folder)
        (home / f"{name}{'.txt' if code else '.html'}").write_text(text, encoding="utf-8")


def messages() -> dict[str, dict[str, Any]]:
    """What is answered to each file of the corpus of wrong ones; none of them is run."""
    told = {}
    for kind, verb in (("robots", "idyn"), ("scenarios", "run")):
        for path in sorted((ROOT / "tests" / "hostile" / kind).glob("*.yaml")):
            with tempfile.TemporaryDirectory() as folder:
                code, out, err = command(verb, str(path), "--no-plot", "--out", folder)
            told[f"{kind}/{path.stem}"] = {"code": code, "out": out, "messages": without(err, str(path.parent))}
    return told


def without(text: str, folder: str) -> str:
    """A text without the place where this snapshot's files happen to be."""
    return text.replace(folder, "…")


def chain_counts() -> dict[str, Any]:
    """The operations of the general chain, for each number of joints."""
    return dict(json.loads(command("complexity", "--no-measure", "--json")[1])["chain"])


def times(words: tuple[str, ...]) -> dict[str, float]:
    """CPU seconds of a command with an empty cache, and with what it has put there."""
    print("time of", *words, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        around = {**os.environ, "DENOC_CACHE": f"{folder}/cache"}
        spent = []
        for _ in range(1 + WARM):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = "from denoc.cli.main import main; main()"
            done = subprocess.run(
                [sys.executable, "-c", start, *words], cwd=folder, env=around, capture_output=True, check=False
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            assert done.returncode in (0, 3), done.stderr.decode()
    return {"cold": spent[0], "warm": min(spent[1:])}


def write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, sort_keys=True, default=str) + "\n", encoding="utf-8")


# ---- comparing


class Report:
    """The differences, one line each, and how many of them are failures."""

    def __init__(self, work_counts: bool = False) -> None:
        self.failures = 0
        self.work = self.fail if work_counts else self.note
        self.largest = (0.0, "")

    def fail(self, text: str) -> None:
        self.failures += 1
        print(f"DIFFERENT {text}")

    def note(self, text: str) -> None:
        print(f"          {text}")

    def met(self, ratio: float, where: str) -> None:
        """Remembers the largest difference that is still within the tolerance."""
        self.largest = max(self.largest, (ratio, where))


def compare(old: Path, new: Path, tolerance: float, work: bool = False) -> int:
    """Prints what differs between two snapshots; the number of failures, other numbers of steps (`work`) among them."""
    report = Report(work)
    for backend in BACKENDS:
        for name in both(report, old / backend, new / backend, ".json"):
            where = f"{backend}/{name}"
            compare_records(report, where, read(old / f"{where}.json"), read(new / f"{where}.json"), tolerance)
        for name in both(report, old / backend, new / backend, ".npz"):
            compare_columns(report, old, new, f"{backend}/{name}", tolerance)
    for suffix in LANGUAGES.values():
        for name in both(report, old / "exports", new / "exports", suffix):
            compare_exports(report, old / "exports", new / "exports", name + suffix, tolerance)
    if (old / "counts.json").exists() and (new / "counts.json").exists():
        for path, a, b in unequal(read(old / "counts.json"), read(new / "counts.json"), 0.0):
            report.fail(f"count {path}: {a} → {b}")
    for name in both(report, old / "studies", new / "studies", ".json"):
        where = f"studies/{name}"
        for path, a, b in unequal(read(old / f"{where}.json"), read(new / f"{where}.json"), tolerance):
            report.fail(f"{where}: {path}: {changed(a, b)}")
    for suffix in (".html", ".txt"):
        for name in both(report, old / "pages", new / "pages", suffix):
            texts = [folder.joinpath("pages", name + suffix).read_text(encoding="utf-8") for folder in (old, new)]
            for path, a, b in unequal(texts[0], texts[1], tolerance):
                report.fail(f"pages/{name}{path}: {changed(a, b)}")
    if (old / "messages.json").exists() and (new / "messages.json").exists():
        for path, a, b in unequal(read(old / "messages.json"), read(new / "messages.json"), 0.0):
            report.fail(f"messages: {path}: {a} → {b}")
    if (old / "times.json").exists() and (new / "times.json").exists():
        compare_times(report, read(old / "times.json"), read(new / "times.json"))
    ratio, where = report.largest
    print(f"largest difference within the tolerance of {tolerance:g}: {ratio:.2g} ({where or 'none'})")
    print(f"{report.failures} differences" if report.failures else "no differences")
    return report.failures


def both(report: Report, old: Path, new: Path, suffix: str) -> list[str]:
    """The names that two folders share; the others are differences."""
    a, b = ({path.stem for path in folder.glob(f"*{suffix}")} for folder in (old, new))
    if a and b:
        for name in sorted(a ^ b):
            report.fail(f"{old.name}/{name}{suffix}: only in the {'old' if name in a else 'new'} snapshot")
    return sorted(a & b)


def changed(old: Any, new: Any) -> str:
    """The first place where two values differ; of long texts, what is around it."""
    a, b = str(old), str(new)
    k = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, k - 30) : k + 40]!r} → {b[max(0, k - 30) : k + 40]!r}"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def compare_records(report: Report, where: str, old: dict, new: dict, tolerance: float) -> None:
    """End, events, warnings and refusals; of the audit, what was spent and the residuals are only reported."""
    audits = (old.pop("audit", None) or {}, new.pop("audit", None) or {})
    for path, a, b in unequal(old, new, tolerance):
        report.fail(f"{where}: {path}: {a} → {b}")
    for path, a, b in unequal(audits[0].get("singular"), audits[1].get("singular"), tolerance):
        report.fail(f"{where}: singular {path}: {a} → {b}")
    for key in WORK:
        if audits[0].get(key) != audits[1].get(key):
            report.work(f"{where}: {key} {audits[0].get(key)} → {audits[1].get(key)}")
    for key in RESIDUALS:
        a, b = (audit.get(key) or 0.0 for audit in audits)
        if max(a, b) > 1e-12 and not 0.1 < (a or 1e-300) / (b or 1e-300) < 10:
            report.note(f"{where}: residual of {key} {a:.2g} → {b:.2g}")


def unequal(old: Any, new: Any, tolerance: float, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two trees of JSON differ; numbers, those within texts included, may be off by the tolerance."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from unequal(old.get(key), new.get(key), tolerance, f"{path}.{key}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (a, b) in enumerate(zip(old, new)):
            yield from unequal(a, b, tolerance, f"{path}[{k}]")
    elif isinstance(old, str) and isinstance(new, str):
        if NUMBER.sub("#", old) != NUMBER.sub("#", new) or not all(
            near(float(a), float(b), tolerance) for a, b in zip(NUMBER.findall(old), NUMBER.findall(new))
        ):
            yield path, repr(old), repr(new)
    elif isinstance(old, float) and isinstance(new, float):
        if not near(old, new, tolerance):
            yield path, old, new
    elif old != new:
        yield path, old, new


def near(a: float, b: float, tolerance: float) -> bool:
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))


def compare_columns(report: Report, old: Path, new: Path, where: str, tolerance: float) -> None:
    """Each column beside its size, a faint one beside the largest number of its unit and family."""
    with np.load(old / f"{where}.npz") as a, np.load(new / f"{where}.npz") as b:
        tables = ({name: a[name] for name in a.files}, {name: b[name] for name in b.files})
    kinds = kinds_of(read(old / f"{where}.json").get("columns") or [])
    sizes = {name: size(values) for name, values in tables[0].items()}
    largest: dict[str, float] = {}
    for name, one in sizes.items():
        largest[kinds(name)] = max(largest.get(kinds(name), 0.0), one)
    for name in sorted({*tables[0], *tables[1]}):
        if name not in tables[0] or name not in tables[1]:
            report.fail(f"{where}: {name}: only in the {'old' if name in tables[0] else 'new'} snapshot")
            continue
        x, y = tables[0][name], tables[1][name]
        if x.shape != y.shape:
            report.fail(f"{where}: {name}: {x.shape} → {y.shape}")
            continue
        ratio = distance(x, y) / max(sizes[name], FAINT * largest[kinds(name)], 1e-300)
        if ratio <= tolerance:
            report.met(ratio, f"{where}: {name}")
        else:
            report.fail(f"{where}: {name}: off by {ratio:.2g} of its size {sizes[name]:.3g}{row(x, y)}")


def kinds_of(columns: list[dict[str, str]]) -> Callable[[str], str]:
    """What is measured by one scale: unit and family of a column, the call that an array belongs to."""
    families = {
        one["name"]: one["family"] if "energy" in one["family"] else f"{one['unit']}|{one['family']}" for one in columns
    }
    return lambda name: families.get(name, name.split(" ")[0])


def size(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0))


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference; infinite where only one of the two is a number."""
    if not a.size:
        return 0.0
    apart = np.abs(np.subtract(a, b, dtype=float))
    apart[np.isnan(a) & np.isnan(b)] = 0.0
    return float(np.where(np.isnan(apart), np.inf, apart).max())


def row(a: np.ndarray, b: np.ndarray) -> str:
    """Where the first large difference is, of columns of a run."""
    if a.ndim != 1 or not a.size:
        return ""
    apart = np.nan_to_num(np.abs(a - b), nan=np.inf)
    return f", first in row {int(np.argmax(apart > 0.1 * apart.max()))} of {len(a)}"


def compare_exports(report: Report, old: Path, new: Path, name: str, tolerance: float) -> None:
    """The same text; where it isn't, the same numbers from it, as far as this interpreter can run it."""
    a, b = (folder.joinpath(name).read_text(encoding="utf-8") for folder in (old, new))
    a, b = (re.sub(r"Generated by denoc \S+", "Generated by denoc", text) for text in (a, b))
    if a == b:
        return
    if a.startswith("error") or b.startswith("error"):
        report.fail(f"exports/{name}: {first_line(a)} → {first_line(b)}")
    elif name.endswith(".py"):
        arguments = inputs(old, name)
        ratio = far(evaluated(a, arguments), evaluated(b, arguments))
        finding = f"exports/{name}: text differs, its numbers by {ratio:.2g}"
        report.note(finding) if ratio <= tolerance else report.fail(finding)
    else:
        report.note(f"exports/{name}: text differs")


def first_line(text: str) -> str:
    return text.splitlines()[0] if text.startswith("error") else "code"


def inputs(exports: Path, name: str) -> dict[str, list[float]]:
    """A state of one of the robot's runs; random numbers where there is none of the sizes that the C twin states."""
    twin = exports.joinpath(name).with_suffix(".c").read_text(encoding="utf-8")
    sizes = re.findall(r"const double (\w+)\[(\d+)\]", twin.partition(";\n")[0])
    robot = re.sub(rf"-({'|'.join(PROGRAMS)})(-regrouped)?\.py$", "", name)
    run = exports.parent / BACKENDS[0] / f"calls-{robot}.npz"
    state = np.load(run) if run.exists() else {}
    rng = np.random.default_rng(5)
    found = {}
    for group, count in sizes:
        values = state[f"state {group}"][-1] if f"state {group}" in state else []
        found[group] = list(values if len(values) == int(count) else rng.uniform(-1.0, 1.0, int(count)))
    return found


def evaluated(text: str, arguments: Mapping[str, list[float]]) -> np.ndarray:
    """All numbers that the function of an exported Python file returns."""
    space: dict[str, Any] = {}
    exec(compile(text, "export", "exec"), space)
    function = [one for one in space.values() if callable(one) and hasattr(one, "__code__")][-1]
    returned = function(**arguments)
    parts = returned if isinstance(returned, tuple) else (returned,)
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


def far(a: np.ndarray, b: np.ndarray) -> float:
    return distance(a, b) / max(size(a), 1e-300) if a.shape == b.shape else np.inf


def compare_times(report: Report, old: dict, new: dict) -> None:
    for words in old:
        if words in new:
            ratios = [
                f"{kind} {old[words][kind]:.2f} s → {new[words][kind]:.2f} s ({new[words][kind] / old[words][kind]:.2f}x)"
                for kind in ("cold", "warm")
            ]
            report.note(f"{words}: {', '.join(ratios)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    does = parser.add_subparsers(dest="does", required=True)
    taking = does.add_parser("take", help="write a snapshot")
    taking.add_argument("home", type=Path, metavar="DIR")
    taking.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    comparing = does.add_parser("compare", help="say what differs")
    comparing.add_argument("old", type=Path, metavar="OLD")
    comparing.add_argument("new", type=Path, metavar="NEW")
    comparing.add_argument(
        "--tolerance", type=float, default=TOLERANCE, help="of a column's size (default: %(default)g)"
    )
    comparing.add_argument("--bits", action="store_true", help="all numbers have to be the same to the last bit")
    comparing.add_argument("--work", action="store_true", help="so do the numbers of steps and evaluations")
    running = does.add_parser("runs")  # a process of `take`
    running.add_argument("home", type=Path, metavar="DIR")
    said = parser.parse_args()
    if said.does == "take":
        take(said.home, tuple(said.part or PARTS))
    elif said.does == "runs":
        runs(said.home)
    else:
        return int(compare(said.old, said.new, 0.0 if said.bits else said.tolerance, said.work) > 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
