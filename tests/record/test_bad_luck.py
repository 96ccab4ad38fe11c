"""Whatever happens while a folder is written anew, it holds all of the old content or all of the new."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import faults
import writers
from denoc.errors import InputError
from denoc.record.files import check_recorded_checksums, drafts, folders
from faults import contents
from limits import HANGS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are struck after a fork")

FAULTS = ("kill", "full", "interrupt")


def swept(place, writer, fault):
    """What is left after a fault at each operation, one row for each."""
    words = [sys.executable, faults.__file__, str(place), writer, fault]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("pictures", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.sampled(3)
def test_a_result_is_the_old_one_or_the_new_one(tmp_path, fault, pictures):
    old = tmp_path / "old"
    writers.result(old, 1.0, ("a.yaml", "b.yaml"))
    (old / "notes.txt").write_text("mine")
    if pictures:  # in a folder of somebody else's
        (old / "pictures").mkdir()
        (old / "pictures" / "one.png").write_text("mine, too")
    judged(swept(tmp_path, "writers:result", fault), fault)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.sampled(3)
def test_a_baseline_is_the_old_one_or_the_new_one(tmp_path, fault):
    (tmp_path / "old").mkdir()
    for name in ("a.csv", "b.csv", "other.csv"):
        (tmp_path / "old" / name).write_text(f"old {name}")
    judged(swept(tmp_path, "writers:baseline", fault), fault)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("writer, least", [("study", 20), ("swept", 20), ("drawn", 20), ("text", 2)])
@pytest.mark.sampled(12)
def test_whatever_else_is_written_is_the_old_or_the_new(tmp_path, writer, least, fault):
    old = tmp_path / "old"
    writers.result(old, 1.0, ("robot.yaml",))
    for name in ("run-a.csv", "run-b.csv", "robot.c", "notes.txt"):
        (old / name).write_text(f"old {name}")
    judged(swept(tmp_path, f"writers:{writer}", fault), fault, least)


def judged(rows, fault, least=20):
    assert len(rows) > least
    assert {row["code"] for row in rows} <= {{"kill": -9, "full": 2, "interrupt": 130}[fault], 1}
    for number, row in enumerate(rows, start=1):
        assert row["holds"] in (["old"], ["new"]), f"operation {number}"
        assert row["later"], f"operation {number}"
        assert not row["beside"], f"operation {number}"
    assert {name for row in rows for name in row["holds"]} == {"old", "new"}  # some fault came before, some after


@pytest.mark.parametrize("most", [0, 1, 20, 60, 200])
@pytest.mark.sampled(4)
def test_a_disk_that_is_full_within_a_file(tmp_path, most):
    """No file may have more bytes than `most`: the first that is longer can't be written to its end."""
    writers.result(tmp_path / "run", 1.0)
    before = contents(tmp_path)
    program = (
        "import resource, writers\nfrom denoc.errors import InputError\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
        f"try: writers.result({str(tmp_path / 'run')!r})\nexcept InputError as error: print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(writers.__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=HANGS, check=True)
    assert "can't write results" in done.stdout
    assert contents(tmp_path) == before


def test_ctrl_c_while_files_take_their_places(tmp_path, monkeypatch):
    """The process lives on, so it completes what it has begun."""
    home = tmp_path / "run"
    writers.result(home, 1.0, ("a.yaml", "b.yaml"))
    writers.result(tmp_path / "new", 2.0)
    replace, calls = Path.replace, []

    def struck(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", struck)
    with pytest.raises(KeyboardInterrupt):
        writers.result(home, 2.0)
    assert contents(home) == contents(tmp_path / "new")


def test_results_of_many_processes_follow_one_another(tmp_path):
    """The files that stand there in the end are those of one run, and nothing lies beside them."""
    program = (
        "import sys, writers\nfor k in range(12):\n"
        "    n = 100 * int(sys.argv[2]) + k\n    writers.result(sys.argv[1], float(n), (f'{n}.yaml', 'all.yaml'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(writers.__file__).parent)}
    home = tmp_path / "outputs" / "run"
    words = [sys.executable, "-c", program, str(home)]
    running = [subprocess.Popen([*words, str(n)], env=environment) for n in range(4)]
    assert [one.wait(HANGS) for one in running] == [0] * 4
    record = json.loads((home / "run.json").read_text())
    assert record["files"] == sorted(os.listdir(home))
    assert f"{int(record['value'])}.yaml" in record["files"]
    check_recorded_checksums(home, record, [name for name in record["files"] if name != "run.json"])
    assert os.listdir(home.parent) == ["run"]


# ---- folders that are not like others


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    for value in (1.0, 2.0):
        writers.result(tmp_path / "run", value)
    assert (tmp_path / "run").is_symlink()
    assert json.loads((tmp_path / "disk" / "run.json").read_text())["value"] == 2.0
    assert sorted(os.listdir(tmp_path)) == ["disk", "run"]


def test_files_of_others_are_the_same_files(tmp_path):
    writers.result(tmp_path / "run", 1.0)
    note, link, pipe = (tmp_path / "run" / name for name in ("note", "link", "pipe"))
    note.write_text("mine")
    link.symlink_to("nowhere")
    os.mkfifo(pipe)
    os.chmod(tmp_path / "run", 0o750)
    before = [(path.lstat().st_ino, path.lstat().st_mode) for path in (note, link, pipe)]
    writers.result(tmp_path / "run", 2.0)
    assert [(path.lstat().st_ino, path.lstat().st_mode) for path in (note, link, pipe)] == before
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("reason", ["mounted", "write-protected parent", "current folder"])
def test_a_folder_that_cannot_be_replaced_is_written_in_place(tmp_path, monkeypatch, reason):
    home = tmp_path / "run"
    writers.result(home, 1.0, ("old.yaml",))
    place = home.stat().st_ino
    if reason == "mounted":
        rename = Path.rename

        def busy(path, target):
            if home in (path, target):
                raise OSError(16, "Device or resource busy")
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", busy)
    elif reason == "current folder":
        monkeypatch.chdir(home)
    else:
        mkdir = Path.mkdir

        def protected(path, *rest, **more):
            if path.parent == tmp_path and path != home:
                raise PermissionError(13, "Permission denied")
            return mkdir(path, *rest, **more)

        monkeypatch.setattr(Path, "mkdir", protected)
    writers.result(home, 2.0, ("new.yaml",))
    assert home.stat().st_ino == place
    assert sorted(os.listdir(home)) == ["new.yaml", "run.csv", "run.json"]
    assert json.loads((home / "run.json").read_text())["value"] == 2.0
    assert os.listdir(tmp_path) == ["run"]


def test_what_comes_while_a_result_is_written_is_kept(tmp_path, monkeypatch):
    home = tmp_path / "run"
    writers.result(home, 1.0)
    move = folders._move

    def later(ready, there):
        (there / "notes.txt").write_text("just now")
        move(ready, there)

    monkeypatch.setattr(folders, "_move", later)
    writers.result(home, 2.0)
    assert (home / "notes.txt").read_text() == "just now"


# ---- drafts of others


def test_drafts_of_dead_processes_go_and_no_others(tmp_path, monkeypatch):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(HANGS)
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: process.pid)
        dead = drafts.output_draft_path(drafts.DRAFT, tmp_path)
        patch.setattr(drafts, "_host", lambda: "00000000")
        elsewhere = drafts.output_draft_path(drafts.DRAFT, tmp_path)
    alive = drafts.output_draft_path(drafts.DRAFT, tmp_path)
    mine = tmp_path / f"{drafts.START}{drafts.DRAFT}-notes"
    for one in (dead, elsewhere, alive, mine):
        one.mkdir()
        (one / "file").write_text("half")
    writers.result(tmp_path / "run")
    assert {*os.listdir(tmp_path)} == {"run", elsewhere.name, alive.name, mine.name}
    assert (alive / "file").exists()


def test_a_folder_of_a_very_long_name(tmp_path):
    home = tmp_path / ("n" * 250)
    for value in (1.0, 2.0):
        writers.result(home, value)
    assert json.loads((home / "run.json").read_text())["value"] == 2.0


def test_a_changed_file_is_not_the_records(tmp_path):
    writers.result(tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    assert {*record["checksums"]} == {*record["files"]} - {"run.json"}
    check_recorded_checksums(tmp_path, record, ["run.csv"])
    with (tmp_path / "run.csv").open("a") as file:
        file.write("1,2\n")
    with pytest.raises(InputError, match=r"run\.csv: this is not the file"):
        check_recorded_checksums(tmp_path, record, ["run.csv"])
    del record["checksums"]
    check_recorded_checksums(tmp_path, record, ["run.csv"])  # of a version that knew none


def test_a_folder_is_locked_for_one_writer_at_a_time(tmp_path):
    fcntl = pytest.importorskip("fcntl")

    def free(how):
        handle = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(handle)
        return True

    with drafts.locked_output_folder(tmp_path):
        assert not free(fcntl.LOCK_EX)
        assert not free(fcntl.LOCK_SH)
    with drafts.locked_output_folder(tmp_path, shared=True):
        assert not free(fcntl.LOCK_EX)
        assert free(fcntl.LOCK_SH)
    assert free(fcntl.LOCK_EX)
