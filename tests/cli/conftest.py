"""Commands hear the end of a terminal, however the tests were started."""

import signal

import pytest


@pytest.fixture(autouse=True)
def hangups_are_heard():
    """Programs under `nohup` are deaf to SIGHUP, and so are all that they start."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL) if hasattr(signal, "SIGHUP") else None
    yield
    if before is not None:
        signal.signal(signal.SIGHUP, before)
