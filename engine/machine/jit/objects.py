"""Machine code by the content that it was made from: what this process has loaded, else the cache's, else compiled.

Robots and systems are made anew by every run, their machine code isn't: to read and to link it takes as long as a
thousand steps of a small robot.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from . import cache, native

MOST = 128  # objects that are kept in memory; what is in use stays there anyway

_loaded: OrderedDict[str, native.Loaded] = OrderedDict()  # by key; the one that was asked for last comes last
_lock = threading.Lock()


def loaded(
    form: str, identity: Sequence[str], text: Callable[[], str], only: bool, level: int = native.SOUND
) -> native.Loaded | None:
    """The machine code of a program in this form, of which `text` writes the IR.

    With `only`, None if it has to be compiled; `level` is that of the code generator.
    """
    name = cache.key(form, str(level), *native.processor(), native.version(), *identity)
    with _lock:
        known = _loaded.get(name)
        if known is not None:
            _loaded.move_to_end(name)
            return known
    code = cache.kept(name, lambda: native.compile_ir(text(), level), only)
    if code is None:
        return None
    made = native.Loaded(code)
    with _lock:
        _loaded[name] = made
        while len(_loaded) > MOST:
            _loaded.popitem(last=False)
    return made


def forget() -> None:
    """Keep no code in memory any more, apart from what is in use."""
    with _lock:
        _loaded.clear()
