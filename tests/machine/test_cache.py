"""The object cache: whatever has happened to a file, results are right and nobody hears of it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import denoc
import generator
from denoc.machine.backend import cache, choice, native, objects
from denoc.machine.backend.choice import using_backend
from denoc.machine.jit import builtin_code
from denoc.machine.program.recording import Recording
from denoc.machine.stepping import march
from denoc.simulate.integrators import integrator_scheme
from denoc.simulate.integrators.tableau import DORMAND_PRINCE
from denoc.study.sweep import machine_of_study_runs
from limits import HANGS

pytestmark = pytest.mark.smoke


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    builtin_code.loaded_builtin_code()  # once for each process, and kept elsewhere
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "objects"))
    objects.forget_machine_code()
    return tmp_path / "objects"


def torques():
    """Torques as a process finds them that has loaded no code yet."""
    objects.forget_machine_code()
    robot = denoc.load("planar3r")
    q = np.linspace(0, 1, 24).reshape(8, 3)
    with using_backend("compiled"):
        return denoc.inverse(robot, q, q, q)


def test_an_object_is_kept_and_found_again(own_folder, monkeypatch):
    first = torques()
    (kept,) = own_folder.glob("*.o")
    monkeypatch.setattr(native, "compile_ir", lambda *a: pytest.fail("compiled again"))
    assert (torques() == first).all()
    assert list(own_folder.glob("*.o")) == [kept]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: b"\x00" * len(data),
        lambda data: data.replace(b"denoc object 2", b"denoc object 1"),
    ],
)
def test_a_damaged_object_is_made_again(own_folder, damage):
    first = torques()
    (kept,) = own_folder.glob("*.o")
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (torques() == first).all()
    assert kept.read_bytes() == whole


def test_another_processor_has_objects_of_its_own(own_folder, monkeypatch):
    first = torques()
    cpu, features = native.native_processor()
    for path in own_folder.glob("*.o"):  # a foreign object under the old name must not be taken
        foreign = path
    monkeypatch.setattr(native, "native_processor", lambda: (cpu, features + ",+sse2"))
    assert (torques() == first).all()
    assert len(list(own_folder.glob("*.o"))) == 2
    assert foreign in own_folder.glob("*.o")


@pytest.mark.sound
def test_tests_marked_sound_get_the_code_that_users_get(own_folder, monkeypatch):
    """And all others that of the quick generator, of which no object passes for the first one's."""
    levels, compiled = [], native.compile_ir
    monkeypatch.setattr(native, "compile_ir", lambda text, level, _: levels.append(level) or compiled(text, level))
    for sound in (True, False, False):
        monkeypatch.setattr(generator, "SOUND", sound)
        objects.forget_machine_code()
        torques()
    assert sorted(levels) == sorted([native.SOUND, native.QUICK] * (len(levels) // 2))
    assert len(list(own_folder.glob("*.o"))) == len(levels)


def test_other_sources_have_other_keys(monkeypatch):
    before = cache.cache_key("a")
    monkeypatch.setattr(cache, "hash_of_package_sources", lambda: "others")
    assert cache.cache_key("a") != before
    assert cache.cache_key("a", "b") != cache.cache_key("ab")


# a process in which the package's files are another folder's, as if they had been edited; it prints its cache's key
KEY_OF_A_COPY = """
import sys, types
from pathlib import Path
package = types.ModuleType("denoc")
package.__path__ = [sys.argv[1]]
sys.modules["denoc"] = package
sys.meta_path[:] = [one for one in sys.meta_path if "__editable__" not in str(getattr(one, "__module__", ""))]
from denoc.machine.backend import cache
assert Path(cache.__file__).is_relative_to(sys.argv[1])
print(cache.cache_key("program"))
"""


def key_of(copy):
    command = [sys.executable, "-c", KEY_OF_A_COPY, str(copy)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def edit(module):
    with module.open("a", encoding="utf-8") as file:
        file.write("# edited\n")


def test_whichever_module_is_edited_or_renamed_the_key_is_another(tmp_path):
    """Object code of a text that is gone must never be taken: so modules count, in whatever package they are."""
    copy = tmp_path / "denoc"
    shutil.copytree(Path(denoc.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    keys = [key_of(copy)]
    assert key_of(copy) == keys[0]
    packages = [path for path in copy.rglob("*") if path.is_dir() and any(path.glob("*.py"))]
    counting = [package for package in packages if not cache.LEFT_OUT.intersection(package.relative_to(copy).parts)]
    assert len(packages) > len(counting) > 8
    for package in {*packages} - {*counting}:
        edit(next(iter(sorted(package.glob("*.py")))))
        assert cache.hash_of_sources(copy) == cache.hash_of_sources(Path(denoc.__file__).parent)
    for package in counting:
        edit(next(iter(sorted(package.glob("*.py")))))
        keys.append(cache.hash_of_sources(copy))
    assert key_of(copy) not in keys[:1]  # the process's own key follows, too
    (copy / "mechanics").rename(copy / "statics")
    keys.append(cache.hash_of_sources(copy))
    edit(copy / "statics" / "tree" / "sweeps.py")
    keys.append(cache.hash_of_sources(copy))
    (copy / "statics").rename(copy / "staticsx")  # the modules follow one another as before
    keys.append(cache.hash_of_sources(copy))
    assert len(set(keys)) == len(keys)


def test_kept_runs_depend_on_every_module(tmp_path):
    """Those that no object code depends on decide about outputs, too: what is kept of a run, what a file means."""
    copy, everything = tmp_path / "denoc", frozenset((cache.BYTECODE,))
    shutil.copytree(cache.PACKAGE, copy, ignore=shutil.ignore_patterns(cache.BYTECODE))
    assert cache.hash_of_sources(copy, everything) == cache.hash_of_all_package_sources()
    keys = {cache.hash_of_all_package_sources()}
    for module in (
        "study/sweep/keep.py",
        "study/optimise/gradients.py",
        "formats/table.py",
        "record/columns.py",
        "api.py",
    ):
        edit(copy / module)
        keys.add(cache.hash_of_sources(copy, everything))
    assert len(keys) == 6
    assert cache.hash_of_all_package_sources() in machine_of_study_runs()


def test_modules_that_do_not_count_cannot_take_part_in_a_program():
    """What makes object code, and all rooms below, import nothing of the rooms that are left out but columns' names."""
    root, makes = (
        Path(denoc.__file__).parent,
        re.compile(r"\b(Offer|build_single|kernel\.build|march\.build|objects\.loaded)\("),
    )
    outside = re.compile(rf"^\s*(from|import) [\w.]*\b({'|'.join(sorted(cache.LEFT_OUT))})\b", re.MULTILINE)
    makers = [path.relative_to(root).parts for path in root.rglob("*.py") if makes.search(path.read_text())]
    rooms = {parts[0] for parts in makers}
    assert {"mechanics", "simulate"} < rooms
    assert not any(cache.LEFT_OUT.intersection(parts) for parts in makers)
    below = {*rooms, "laws", "machine", "robot"} - {"study"}
    for path in root.rglob("*.py"):
        text = re.sub(r"\.\.record import (Column|WRENCH)$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if path.relative_to(root).parts[0] in below or makes.search(text):
            assert not outside.search(text), path


def test_the_key_is_made_of_the_whole_package():
    """A module far from the cache counts as much as the cache's own."""
    assert cache.hash_of_package_sources() == cache.hash_of_sources(Path(denoc.__file__).parent)


class Note:
    """A note on sources, which says how often it was kept."""

    def __init__(self):
        self.text, self.kept = None, 0

    def of(self, root):
        return cache.known_hash_of_sources(root, lambda: self.text, self.keep)

    def keep(self, text):
        self.text, self.kept = text, self.kept + 1


@pytest.fixture
def modules(tmp_path):
    (tmp_path / "dynamics").mkdir()
    for name in ("a.py", "dynamics/b.py"):
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


def test_sources_are_read_again_only_when_a_file_has_changed(modules, monkeypatch):
    """Sizes and times of writing that look as before don't hide a change."""
    note = Note()
    assert note.of(modules) == cache.hash_of_sources(modules)
    assert note.kept == 0  # what has just been written may be written again within one tick of the clock
    monkeypatch.setattr(cache, "SETTLED", 0.0)
    assert note.of(modules) == note.of(modules) == cache.hash_of_sources(modules)
    assert note.kept == 1
    module = modules / "dynamics" / "b.py"
    before = module.stat()
    time.sleep(0.05)
    module.write_text("x = 2\n")
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert note.of(modules) == cache.hash_of_sources(modules)
    assert note.kept == 2


@pytest.mark.parametrize("text", [None, b"", b"\xff\xff", b"one two", b"a" * 64 + b" " + b"b" * 64])
def test_a_note_on_other_files_is_no_note(modules, monkeypatch, text):
    note = Note()
    note.text = text
    monkeypatch.setattr(cache, "SETTLED", 0.0)
    assert note.of(modules) == cache.hash_of_sources(modules)


def test_a_key_of_no_sources_is_an_error(tmp_path):
    (tmp_path / "dynamics").mkdir()
    with pytest.raises(LookupError, match="no sources"):
        cache.hash_of_sources(tmp_path)


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path, monkeypatch):
    def blocked(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "inside"))
    monkeypatch.setattr(Path, "mkdir", blocked)
    expected = torques()
    assert np.isfinite(expected).all()


# ---- what others may have put there is not run


@pytest.fixture
def heard(monkeypatch):
    """The warnings of what follows; the cache is as in a process that has given none yet."""
    monkeypatch.setattr(cache, "_ignored", [])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def stranger_owns(path):
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(path, 12345, -1)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def link(path):
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


SUSPECT = {
    "a pipe": (pipe, "no ordinary file"),
    "a link": (link, "symbolic links"),
    "others write it": (lambda path: path.chmod(0o666), "can write to it"),
    "a stranger's": (stranger_owns, "somebody else owns it"),
}


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
@pytest.mark.parametrize("what", SUSPECT)
def test_a_suspect_object_is_made_again(own_folder, heard, monkeypatch, what):
    spoil, why = SUSPECT[what]
    first = torques()
    (kept,) = own_folder.glob("*.o")
    spoil(kept)
    assert (torques() == first).all()
    (warning,) = heard
    assert why in str(warning.message)
    assert stat.S_ISREG(kept.lstat().st_mode)  # the one that was made again
    assert (torques() == first).all()  # and taken
    assert len(heard) == 1


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o770), lambda path: path.chmod(0o757), stranger_owns])
def test_a_folder_that_others_can_write_is_not_used(own_folder, heard, monkeypatch, spoil):
    first = torques()
    (kept,) = own_folder.glob("*.o")
    there = set(own_folder.iterdir())
    sound = kept.read_bytes()
    kept.write_bytes(b"whatever a stranger puts there")
    spoil(own_folder)
    assert (torques() == first).all()
    assert (torques() == first).all()
    (warning,) = heard  # once
    assert f"not taken from {own_folder}: somebody else owns it or can write to it" in str(warning.message)
    assert kept.read_bytes() != sound  # nothing is put there either
    assert set(own_folder.iterdir()) == there


def test_exchanged_objects_are_made_again(own_folder):
    """Each of them is whole; but run in the other's place they gave torques for speeds, and nobody heard of it."""

    def energies():
        objects.forget_machine_code()
        with using_backend("compiled"):
            robot, q = denoc.load("planar3r"), np.linspace(0, 1, 24).reshape(8, 3)
            return denoc.inverse(robot, q, q, q), denoc.forward(robot, q, q, q)

    first = energies()
    one, other = own_folder.glob("*.o")
    content = one.read_bytes(), other.read_bytes()
    one.write_bytes(content[1])
    other.write_bytes(content[0])
    for now, before in zip(energies(), first):
        assert (now == before).all()
    assert (one.read_bytes(), other.read_bytes()) == content


KEYS = tuple(f"{k:040x}" for k in range(5))


def old(path, text="mine"):
    path.write_text(text)
    os.utime(path, (0, 0))
    return path


def test_drafts_of_killed_processes_go(own_folder):
    torques()
    begun = [old(own_folder / f".{KEYS[k]}.o.abc_{k}", text) for k, text in enumerate(("", "deno", "denoc object 2 x"))]
    new = own_folder / f".{KEYS[0]}.o.abcdefgh"
    new.write_text("")
    cache._room.clear()  # as in the next process
    cache.store_object_code(KEYS[3], b"code")
    assert not any(path.exists() for path in begun)
    assert new.exists()


@pytest.mark.parametrize("clear", [True, False])
def test_files_of_others_stay(own_folder, monkeypatch, clear):
    """With `DENOC_CACHE=.`, say, in a C project: also files with names like ours that don't begin as ours do."""
    torques()
    names = (
        "thesis.note",
        "mine.o",
        ".draft-of-a-letter",
        f"{KEYS[0]}.o",
        f"{KEYS[1]}.note",
        f".{KEYS[2]}.o.ab",
        "a.sources",
    )
    mine = [old(own_folder / name) for name in names]
    ours = old(own_folder / f"{KEYS[3]}.note", "denoc object 2 whatever")
    (own_folder / f"{KEYS[4]}.o").mkdir()
    monkeypatch.setattr(cache, "MOST_BYTES", 1)
    cache._room.clear()
    if clear:
        assert cache.clear_cache() == 1
    else:
        cache.store_object_code("a" * 40, b"code")
    assert [path.name for path in mine if not path.exists()] == []
    assert {path.name for path in own_folder.glob("*.o")} == {names[1], names[3], f"{KEYS[4]}.o"}
    assert not ours.exists()


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
def test_nothing_is_removed_from_a_folder_that_others_can_write(own_folder, heard):
    cache.store_object_code(KEYS[0], b"code")
    kept = old(own_folder / f".{KEYS[1]}.o.abcdefgh", ""), own_folder / f"{KEYS[0]}.o"
    own_folder.chmod(0o777)
    cache._room.clear()
    cache.store_object_code(KEYS[2], b"code")
    assert cache.clear_cache() == 0
    assert all(path.exists() for path in kept)
    assert len(heard) == 1


def test_what_was_unused_longest_goes_first(own_folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 850)
    for age, name in enumerate(KEYS[:3]):
        cache.store_object_code(name, b"x" * 100)
        os.utime(own_folder / f"{name}.o", (1e9 - age, 1e9 - age))
    assert {path.stem for path in own_folder.glob("*.o")} == {*KEYS[:3]}
    assert cache.load_object_code(KEYS[2]) is not None  # now it has been used
    cache.store_object_code(KEYS[3], b"x" * 100)
    cache.store_object_code(KEYS[4], b"x" * 100)
    assert {path.stem for path in own_folder.glob("*.o")} == {*KEYS[2:]}


def test_the_time_loop_of_another_method_is_another_object(own_folder):
    """Also that of other lanes; measured components and Euler parameters come with a run. A system has its own rate."""

    def program():
        recording = Recording("rate")
        recording.input("u", 0)
        return recording.program(rate=[-1.0 * y for y in recording.input("y", 4)])

    other = replace(integrator_scheme(DORMAND_PRINCE), safety=0.8)
    for first, measured, units, lanes, more in (
        (integrator_scheme(DORMAND_PRINCE), 3, (), 1, 2),
        (other, 3, (), 1, 1),
        (other, 4, (), 1, 0),
        (other, 4, (0,), 1, 0),
        (other, 4, (0,), 2, 2),
    ):
        before = len(list(own_folder.glob("*.o")))
        for _ in range(2):
            assert march.build_compiled_loop(program, first, 4, measured, units, lanes, ("decay",), False) is not None
        assert len(list(own_folder.glob("*.o"))) == before + more


def test_two_processes_write_at_once(own_folder):
    program = (
        "import numpy as np, denoc\nfrom denoc.machine.backend.choice import using_backend\n"
        "with using_backend('compiled'): print(denoc.inverse(denoc.load('planar3r'), *[np.ones((3, 3))] * 3)[0].tolist())"
    )
    runs = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {run.communicate(timeout=HANGS)[0] for run in runs}
    assert len(answers) == 1
    assert all(run.returncode == 0 for run in runs)
    assert len(list(own_folder.glob("*.o"))) == 2  # the kernel, and the function by which Python calls it
    assert not list(own_folder.glob(".draft-*"))


def test_clearing_removes_all(own_folder):
    torques()
    assert cache.cache_contents()[1] == 1
    assert cache.clear_cache() == 1
    assert cache.cache_contents()[1] == 0


def test_without_llvm_the_plain_text_serves_with_one_warning(monkeypatch):
    def broken(*_):
        raise RuntimeError("LLVM ERROR: no such target")

    monkeypatch.setattr(native, "compile_ir", broken)
    monkeypatch.setattr(choice, "_broken", [])
    robot = denoc.load("planar3r")
    q = np.ones((4, 3))
    with using_backend("plain"):
        expected = denoc.inverse(robot, q, q, q)
    with using_backend("compiled"), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert (denoc.inverse(robot, q, q, q) == expected).all()
        assert (denoc.forward(robot, q, q, q) == denoc.forward(robot, q, q, q)).all()
    assert [str(w.message) for w in heard] == [
        "no compiled code on this machine (RuntimeError: LLVM ERROR: no such target); the plain text is used instead"
    ]


# ---- bits

FALLS = {"puma": {"robot": "puma"}, "four-bar": {"robot": "four-bar", "initial": {"A0": 0.3}}}


@pytest.mark.parametrize("backend", ["compiled", "plain"])
@pytest.mark.parametrize("name", FALLS)
@pytest.mark.sampled(4)
def test_a_chosen_backend_gives_the_same_bits_whatever_the_cache_holds(own_folder, name, backend):
    """Made anew, from the folder, and as the process has it: by default the state of the cache decides who computes."""

    def table():
        with using_backend(backend):
            return denoc.run({**FALLS[name], "task": "simulate", "time": {"end": 0.5, "step": 0.1}}).table

    first, warm = table(), table()
    objects.forget_machine_code()
    read = table()
    shutil.rmtree(own_folder, ignore_errors=True)
    objects.forget_machine_code()
    again = table()
    for column, values in first.items():
        for other in (warm, read, again):
            np.testing.assert_array_equal(other[column], values, err_msg=column)
