"""A study on a Dask cluster whose workers or scheduler are killed: its table is that of an undisturbed one."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.study.sweep import run as sweeping
from denoc.study.sweep.engines import study_task_carried_out
from denoc.study.sweep.probe import probe_study
from denoc.study.sweep.reading import open_study
from denoc.study.sweep.run import Runs
from limits import HANGS

pytestmark = pytest.mark.full

STUDY = {
    "scenario": "puma-fall",
    "vary": {"load": {"key": "robot.links.link6.mass", "random": [0.3, 2.3]}},
    "samples": 60,
    "keep": {"fastest": {"column": "joint2.qd", "take": "largest"}},
    "rows": ["joint2.q"],
}
LATEST = 1.5  # seconds after the start, while batches are on their way


class Cluster:
    """A scheduler and workers as processes of their own, as they are on other machines."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._process("scheduler", "--port", str(port), "--host", "127.0.0.1")
        self.workers = [self.worker() for _ in range(2)]

    def worker(self):
        return self._process("worker", self.address, "--nthreads", "1", "--no-nanny")

    def kill(self, one):
        one.kill()  # by SIGKILL, where it still runs
        one.wait()

    def close(self):
        for one in (*self.workers, self.scheduler):
            self.kill(one)

    @staticmethod
    def _process(kind, *words):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers(self):
        """Waits until both workers are there."""
        from distributed import Client

        with Client(self.address, timeout=HANGS, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=HANGS)


@pytest.fixture(scope="module")
def whole():
    pytest.importorskip("distributed")
    return denoc.sweep(STUDY)


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("FIRST", "MOST"):
        monkeypatch.setattr(sweeping, name, 2)
    made = Cluster()
    try:
        made.answers()
        yield made
    finally:
        made.close()


def swept(cluster, whole, moment, victim):
    """Whether the sweep came to its end; the next start has the table in any case."""
    Path("runs.sqlite").unlink(missing_ok=True)
    timer = threading.Timer(moment, cluster.kill, [victim])
    timer.start()
    ended = False
    with contextlib.suppress(denoc.DenocError):
        made = denoc.sweep(STUDY, on="dask", scheduler=cluster.address, keep="runs.sqlite")
        assert made.table.csv_text() == whole.table.csv_text()
        ended = True
    timer.join()
    again = denoc.sweep(STUDY, keep="runs.sqlite")
    assert again.table.csv_text() == whole.table.csv_text()
    assert again.rows.csv_text() == whole.rows.csv_text()
    assert denoc.sweep(STUDY, keep="runs.sqlite").computed == 0
    return ended


def test_a_lost_worker_costs_nothing_but_time(cluster, whole):
    for moment in np.random.default_rng(1).uniform(0, LATEST, 20):
        assert swept(cluster, whole, moment, cluster.workers[0])
        cluster.workers[0] = cluster.worker()
        cluster.answers()


def test_the_loss_of_all_workers_is_said_and_the_next_start_goes_on(cluster, whole, monkeypatch):
    monkeypatch.setattr("denoc.parallel.cluster.LONELY", 2.0)
    timers = [threading.Timer(LATEST / 3, cluster.kill, [one]) for one in cluster.workers]
    for timer in timers:
        timer.start()
    with pytest.raises(denoc.DenocError, match=r"no worker for 2 s(?s:.*)the runs that are kept stay") as told:
        denoc.sweep({**STUDY, "samples": 20_000}, on="dask", scheduler=cluster.address, keep="runs.sqlite")
    assert told.value.exit_code == 3
    for timer in timers:
        timer.join()
    again = denoc.sweep(STUDY, keep="runs.sqlite")
    assert again.table.csv_text() == whole.table.csv_text()


@pytest.mark.parametrize("seed", range(5))
def test_after_the_loss_of_a_scheduler_the_next_start_goes_on(seed, cluster, whole):
    swept(cluster, whole, np.random.default_rng(seed).uniform(0, LATEST), cluster.scheduler)


COMPUTED = 10_000  # runs of at least 2 ms
SHARE = 1.5  # times what computing takes on two workers


def test_ten_thousand_runs_keep_two_workers_busy(monkeypatch, tmp_path):
    """By CPU times, which other work on the machine doesn't change: those of the busier worker and of this process
    together, as if they never went on side by side, beside those of the same runs in one process.
    """
    psutil = pytest.importorskip("psutil")
    monkeypatch.chdir(tmp_path)
    study = {
        "scenario": "four-bar-fall",
        "vary": {"load": {"key": "robot.links.coupler.mass", "random": [2.5, 3.5]}},
        "set": {"time.end": 50, "time.step": 5},
        "samples": COMPUTED,
        "keep": {"fastest": {"column": "A0.qd", "take": "largest"}},
    }
    made = Cluster()
    try:
        made.answers()
        denoc.sweep({**study, "samples": 100}, on="dask", scheduler=made.address)  # so that all is compiled
        workers = [psutil.Process(one.pid) for one in made.workers]
        before, own = [_spent(one) for one in workers], time.process_time()
        swept = denoc.sweep(study, on="dask", scheduler=made.address, keep="runs.sqlite")
        own = time.process_time() - own
        busy = [_spent(one) - x for one, x in zip(workers, before)]
    finally:
        made.close()
    assert set(swept["ended"]) == {"done"}
    runs = Runs(probe_study(open_study({**study, "samples": 500})), None)
    task = runs.task(list(range(500)))
    cost = min(_cpu_of(lambda: study_task_carried_out(task)) for _ in range(3)) / 500
    assert cost > 1e-3  # some 2 ms
    assert max(busy) + own <= SHARE * COMPUTED * cost / 2, (busy, own, cost)


def _spent(process):
    times = process.cpu_times()
    return times.user + times.system


def _cpu_of(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_the_loss_of_a_scheduler_is_said(cluster, whole):
    def lose():
        file, deadline = Path("runs.sqlite"), time.monotonic() + HANGS
        while not (file.exists() and file.stat().st_size > 20_000) and time.monotonic() < deadline:  # with some runs
            time.sleep(0.01)
        cluster.kill(cluster.scheduler)

    loss = threading.Thread(target=lose)
    loss.start()
    study = {**STUDY, "samples": 20_000}
    with pytest.raises(denoc.DenocError, match=r"doesn't answer: (?s:.*)the runs that are kept stay"):
        denoc.sweep(study, on="dask", scheduler=cluster.address, keep="runs.sqlite")
    loss.join()
