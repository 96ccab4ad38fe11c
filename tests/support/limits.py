"""Limits of what a test may cost, in CPU time: on a busy machine it passes all the same, only later."""

import contextlib
import signal
import subprocess
import sys

import pytest

HANGS = 600  # seconds of the clock after which something waits for what never comes


@contextlib.contextmanager
def cpu_time(seconds, case=""):
    """Fails the test where what is done in here takes more seconds of CPU (on systems that count them for alarms)."""

    def late(*_):
        pytest.fail(f"{case}: more than {seconds} s of CPU")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_within(seconds, program):
    """What a Python program prints; killed after so many seconds of CPU, even where it never comes back to Python."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))\n"
    try:
        import resource  # noqa: F401
    except ImportError:  # a system without such limits
        limit = ""
    done = subprocess.run(
        [sys.executable, "-c", limit + program], capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert done.returncode == 0, f"ended with {done.returncode} (-9 and -24: more than {seconds} s)\n{done.stderr}"
    return done.stdout
