"""The tiers: `pytest -m smoke` for whoever changes a line, `pytest` before a commit, `pytest --full` before a release.

A test marked `sampled(k)` runs on one of k of its cases, drawn once and for all by a seed, unless `--full` is given; so
do the tests of hypothesis, on fewer examples.  A test marked `full` waits for `--full`.  No test is left out of the
first two tiers for another reason than its cost, and each that is sampled keeps at least one case.

Machine code comes from LLVM's quick code generator, but for tests marked `sound` and for `--full` (`generator.py`).

What programs cache while the tests run is in a folder of this run, which all its processes share: nothing is left in
the user's own caches, and nothing that happens to be there makes a test cheaper or passes for its result.  Code that
one test has compiled serves the others; tests of the cache itself take folders of their own.  Python's own bytecode is
where Python keeps it, beside the sources: compiling that of NumPy and others again would cost ten seconds a run.
"""

import gc
import os
import random
import shutil
import signal
import tempfile
from contextlib import suppress
from functools import cache
from itertools import groupby

import pytest
from hypothesis import settings

import generator
import unseen
from costs import Costs

# as in the command, and before numpy is imported: for matrices as small as these, threads only spin
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# programs in the background of a script are deaf to Ctrl-C, and so are all that they start
signal.signal(signal.SIGINT, signal.default_int_handler)
SEED = 20260712
CACHES = {
    "DENOC_CACHE": "denoc",
    "MPLCONFIGDIR": "matplotlib",
    "HYPOTHESIS_STORAGE_DIRECTORY": "hypothesis",
}
settings.register_profile("sampled", deadline=None, derandomize=True, max_examples=6)
settings.register_profile("full", deadline=None, derandomize=True, max_examples=80)


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="every case of every test")


def pytest_configure(config):
    config.pluginmanager.register(Costs(), "costs")
    if not hasattr(config, "workerinput"):  # workers of xdist have this process's environment
        caches = tempfile.mkdtemp(prefix="denoc-tests-")
        config.add_cleanup(lambda: shutil.rmtree(caches, ignore_errors=True))
        os.environ |= {variable: os.path.join(caches, name) for variable, name in CACHES.items()}
        os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"  # so that Dask is imported once
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each of hundreds of processes would compile every module
    settings.load_profile("full" if config.getoption("full") else "sampled")
    if not config.getoption("full"):
        without_constants_of_modules()


def without_constants_of_modules():
    """Examples of hypothesis don't depend on the modules that a process has imported by then.

    It would read the sources of all of them for constants to try, which takes more time than its tests do; those with
    `--full` have them.
    """
    with suppress(ImportError):  # older versions have no such module, and don't do this
        from hypothesis.internal.conjecture import providers

        providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(config, items):
    if config.getoption("full") or any("::" in word for word in config.args):  # a test that is named is run
        return
    left = {item.nodeid for item in items if item.get_closest_marker("full")}
    for _, group in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        left |= unsampled(list(group))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def pytest_collection_finish():
    """Tens of thousands of objects that stay aren't looked through again and again for those that can go."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def unsampled(cases):
    """Names of the cases of one test that aren't in its sample."""
    marker = cases[0].get_closest_marker("sampled")
    if marker is None:
        return set()
    names = sorted(case.nodeid for case in cases)
    kept = random.Random(f"{SEED} {names[0]}").sample(names, -(-len(names) // marker.args[0]))
    return {*names} - {*kept}


@pytest.fixture(autouse=True, scope="session")
def no_word_of_waiting():
    """What commands print must not depend on how fast the machine is."""
    from denoc.cli import waiting

    waiting.FIRST = None


@pytest.fixture(autouse=True, scope="session")
def one_tree_of_commands():
    """A process that runs many commands, one after the other, reads the types of their options once."""
    from typer import main

    main.get_command = cache(main.get_command)


@pytest.fixture(autouse=True, scope="session")
def code_of_the_quick_generator():
    generator.only_quick()


@pytest.fixture
def command_line(monkeypatch, capsys):
    """Runs `denoc` with some words, in this process: the exit code, what it printed, what it complained of."""
    from denoc.cli import main

    def run(*words):
        monkeypatch.setattr("sys.argv", ["denoc", *map(str, words)])
        with pytest.raises(SystemExit) as leaving:
            main.main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture
def unseen_pictures(request, monkeypatch):
    """For tests that only count pictures (`unseen.py`)."""
    if not request.config.getoption("full"):
        unseen.save_figures_by(unseen.save, monkeypatch.setattr)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    generator.SOUND = item.config.getoption("full") or item.get_closest_marker("sound") is not None


@pytest.fixture
def own_code(monkeypatch, tmp_path):
    """Code of the test's own, in a cache by the name that it is called with, for tests that change texts.

    No other test gets that code, neither from a cache nor from what this process has loaded.
    """
    from denoc.machine.backend import objects

    def begin(cache):
        monkeypatch.setenv("DENOC_CACHE", str(tmp_path / cache))
        objects.forget_machine_code()

    yield begin
    objects.forget_machine_code()
