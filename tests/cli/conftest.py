"""Commands hear the signals of users and terminals, however the tests were started."""

import signal

import pytest

HEARD = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}


@pytest.fixture(autouse=True)
def signals_are_heard():
    """Programs under `nohup` are deaf to SIGHUP, those in the background of a script to Ctrl-C, and so are all they start."""
    heard = {number: signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL for number in HEARD}
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
