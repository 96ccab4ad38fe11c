"""Locks that are free in a forked process.

A fork copies locks as they are, but of the threads only the one that forks: what another thread held, while it compiled
say, nobody would ever release in the copy.  So a fork waits until the other threads have left all of these locks.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

_gate = threading.Condition()
_inside: dict[int, int] = {}  # how deep each thread is within such locks
_forking = False


class ForkSafeLock:
    """A reentrant lock that no other thread holds while the process is forked."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        me = threading.get_ident()
        with _gate:
            while _forking and me not in _inside:  # whoever is inside must come out
                _gate.wait()
            _inside[me] = _inside.get(me, 0) + 1
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        me = threading.get_ident()
        with _gate:
            _inside[me] -= 1
            if not _inside[me]:
                del _inside[me]
                _gate.notify_all()


def _wait() -> None:
    global _forking
    _gate.acquire()
    _forking = True
    me = threading.get_ident()
    while _inside and me not in _inside:
        _gate.wait()
    if lock := _lock_of_llvmlite():
        lock.__enter__()


def _lock_of_llvmlite() -> Any:
    """Its own lock, which it also takes where it disposes of something; None as long as nothing was compiled."""
    return getattr(getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None), "_lock", None)


def _go_on() -> None:
    global _forking
    if lock := _lock_of_llvmlite():
        lock.__exit__(None, None, None)
    _forking = False
    _gate.notify_all()
    _gate.release()


def _begin_alone() -> None:
    """In the copy, the thread that has forked is the only one."""
    global _gate, _forking
    if lock := _lock_of_llvmlite():
        lock.__exit__(None, None, None)
    me = threading.get_ident()
    for other in [one for one in _inside if one != me]:
        del _inside[other]
    _gate, _forking = threading.Condition(), False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_begin_alone)
