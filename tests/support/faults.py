"""Bad luck on purpose: a process of its own writes a folder anew, and at one file operation after another it is killed,
interrupted, or finds the disk full.

    python faults.py FOLDER WRITER FAULT

`FOLDER` holds `old`, the folder as it is before; `WRITER` is `module:function`, a file of Python beside this one and
what writes the new content into a folder.  What is printed is one row of JSON for each operation.
"""

import importlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

OPERATIONS = ("open", "os.rename", "os.mkdir", "os.link", "os.remove", "os.rmdir", "os.chmod", "os.listdir")
OPERATIONS += ("os.scandir", "os.chown", "os.symlink", "os.truncate")
MOST = 1000  # operations of one writer
HALF = 98  # what a process ends with that leaves something else than the old or the new content
COMPLETE = 0  # what a process ends with that has met no fault


def contents(folder):
    """Every file below the folder and what it holds."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def settled(folder):
    """The same without drafts that couldn't be removed, which the next process does."""
    return {name: content for name, content in contents(folder).items() if not name.startswith(".denoc-")}


def struck(write, home, number, fault, known):
    """A process that meets the fault at that operation; what it ended with.

    One that lives on has to leave one of the known contents itself, since nobody completes what the living do.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    count = 0

    def strike(event, _):
        nonlocal count
        if event not in OPERATIONS:
            return
        count += 1
        if count == number:
            if fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise KeyboardInterrupt if fault == "interrupt" else OSError(28, "No space left on device")

    sys.addaudithook(strike)
    try:
        write(home)
    except KeyboardInterrupt:
        os._exit(130 if settled(home) in known.values() else HALF)
    except Exception as error:  # noqa: BLE001
        code = 2 if type(error).__name__ == "InputError" else 99
        os._exit(code if settled(home) in known.values() else HALF)
    os._exit(COMPLETE if count < number else 1)  # 1: the fault did no harm


def sweep(place, write, fault, mend):
    """One row for each operation: what the process ended with, which content the folder has then, and what is beside."""
    old, new, home = place / "old", place / "new", place / "outputs" / "run"
    shutil.copytree(old, new)
    write(new)
    known = {"old": contents(old), "new": contents(new)}
    rows = []
    for number in range(1, MOST):
        shutil.rmtree(home.parent, ignore_errors=True)
        home.parent.mkdir()
        shutil.copytree(old, home)
        code = struck(write, home, number, fault, known)
        if code == COMPLETE:
            return rows
        mend(home)
        found = settled(home)
        which = [name for name, content in known.items() if content == found]
        write(home)
        beside = [name for name in os.listdir(home.parent) if name != home.name]
        rows.append({"code": code, "holds": which, "later": contents(home) == known["new"], "beside": beside})
    raise AssertionError(f"more than {MOST} operations")


if __name__ == "__main__":
    from denoc.record.files import folders

    os.fsync = lambda handle: None  # processes are killed here, not machines
    module, name = sys.argv[2].split(":")
    writer = getattr(importlib.import_module(module), name)
    print(json.dumps(sweep(Path(sys.argv[1]), writer, sys.argv[3], folders.mend_output_folder)))
