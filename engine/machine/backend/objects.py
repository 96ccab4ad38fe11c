"""Machine code by the content that it was made from: what this process has loaded, else the cache's, else compiled.

Robots and systems are made anew by every run, their machine code isn't: to read and to link it takes as long as a
thousand steps of a small robot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from . import cache, forks, native

MOST = 128  # objects that are kept in memory; what is in use stays there anyway

# by key and numbers; the one that was asked for last comes last
_loaded: OrderedDict[tuple[str, tuple[float, ...]], native.Loaded] = OrderedDict()
_common: OrderedDict[str, bytes] = OrderedDict()  # object code that is loaded for other numbers again and again
_first: dict[str, str] = {}  # of programs that may have other numbers, the key of the first one
_lock = forks.ForkSafeLock()


def loaded_machine_code(
    form: str,
    identity: Sequence[str],
    text: Callable[[], str],
    only: bool,
    level: int = native.SOUND,
    numbers: Sequence[float] = (),
    passes: Sequence[str] = (),
) -> native.Loaded | None:
    """The machine code of a program in this form, of which `text` writes the IR.

    With `only`, None if it has to be compiled; `level` is that of the code generator, before which `passes` run.  Code
    with `numbers` is in memory once for each set of them.
    """
    name = cache.cache_key(form, str(level), *native.native_processor(), native.llvmlite_version(), *identity)
    own = name, tuple(numbers)
    with _lock:
        known = _loaded.get(own)
        if known is not None:
            _loaded.move_to_end(own)
            return known
    code = _common.get(name) or cache.object_code_from_cache(
        name, lambda: native.compile_ir(text(), level, passes), only
    )
    if code is None:
        return None
    made = native.Loaded(code, numbers)
    with _lock:
        if len(numbers):
            _common[name] = code
            while len(_common) > MOST:
                _common.popitem(last=False)
        _loaded[own] = made
        while len(_loaded) > MOST:
            _loaded.popitem(last=False)
    return made


def forget_machine_code() -> None:
    """Keep no code in memory any more, apart from what is in use."""
    with _lock:
        _loaded.clear()
        _common.clear()


def machine_code_numbers_vary(form: str, identity: Sequence[str], own: Sequence[str]) -> bool:
    """Whether a program of this identity was asked for with other numbers before, here or where the cache is shared.

    `own` is the identity with the numbers, which is remembered.
    """
    name, one = cache.cache_key("varies", form, *identity), cache.cache_key(*own)
    with _lock:
        first = _first.setdefault(name, one)
    return first != one or cache.note_from_cache(name, one) != one
