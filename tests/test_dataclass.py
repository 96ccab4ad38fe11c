"""denoc's dataclasses beside Python's own, which they shall not be told apart from."""

import copy
import dataclasses
import inspect
import math
import pickle
import re
from dataclasses import field
from itertools import product
from pathlib import Path
from threading import Barrier, Thread
from typing import ClassVar

import numpy as np
import pytest

import denoc
import denoc.cli
from denoc.dataclass import dataclass

pytestmark = pytest.mark.smoke

WAYS = [dict(zip(("frozen", "eq", "repr"), way)) for way in product((True, False), repeat=3)]


def classes(decorate, **way):
    """A base class with fields of all kinds, one that inherits from it, and two with methods of their own."""

    @decorate(**way)
    class Base:
        """With words."""

        x: float
        y: "list[int]" = field(default_factory=list)
        z: tuple = ()
        hidden: int = field(default=3, repr=False, compare=False)
        own: dict = field(default_factory=dict, init=False)
        fixed: str = field(default="so", init=False)
        shared: ClassVar[int] = 7

    @decorate(**way)
    class Further(Base):
        w: float = math.inf

        def __post_init__(self):
            self.own["sum"] = self.x + self.w

    @decorate(**way)
    class Stubborn:
        x: int

        def __eq__(self, other):
            return "never the same"

        def __repr__(self):
            return "unspeakable"

    @decorate(**way)
    class Hashed:
        x: int

        def __hash__(self):
            return 5

    @decorate(**way)
    class Empty:
        pass

    return {"Base": Base, "Further": Further, "Stubborn": Stubborn, "Hashed": Hashed, "Empty": Empty}


def outcome(action, *words, **more):
    """What a call gives, without the places of objects in memory; an error stands for itself."""
    try:
        found = action(*words, **more)
    except (TypeError, AttributeError, ValueError) as error:
        return type(error)
    return found.split(" at 0x")[0] if isinstance(found, str) else found


CALLS = {
    "Base": [((1,), {}), ((1, [2], (3,)), {"hidden": 9}), ((), {"x": 2.5}), ((), {}), ((1,), {"own": {}})],
    "Further": [((1,), {}), ((1, [2], (3,), 4, 5), {}), ((1,), {"w": 2}), ((), {"w": 1})],
    "Stubborn": [((1,), {}), ((2,), {})],
    "Hashed": [((1,), {}), ((1,), {})],
    "Empty": [((), {}), ((1,), {})],
}


def account(kind, calls):
    """What can be seen of a class and its objects."""
    made = [outcome(kind, *words, **more) for words, more in calls]
    good = [x for x in made if isinstance(x, kind)]
    yield [type(x) is kind or x for x in made]
    yield [vars(x).copy() for x in good]
    yield [outcome(repr, x) for x in good]
    yield [x == y for x, y in product(good, repeat=2)]
    yield [x == copy.copy(x) for x in good]
    yield [(outcome(hash, x) == outcome(hash, copy.copy(x)), isinstance(outcome(hash, x), int)) for x in good]
    yield [outcome(setattr, x, name, 1) for x in good for name in ("x", "new")]
    yield [outcome(delattr, x, name) for x in good for name in ("z", "absent")]
    for x in good:
        changed = outcome(dataclasses.replace, x, x=-1)
        yield changed if isinstance(changed, type) else vars(changed)
    yield [dataclasses.asdict(x) for x in good if hasattr(x, "hidden")]
    yield [(f.name, f.type, f.default, f.init) for f in dataclasses.fields(kind)]
    yield [(p.name, p.kind, p.default is p.empty) for p in inspect.signature(kind).parameters.values()]
    yield kind.__match_args__, kind.__hash__ is None, good[0] == 1, good[0] != 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CALLS)
def test_all_that_objects_do(way, name):
    ours, theirs = (classes(decorate, **way)[name] for decorate in (dataclass, dataclasses.dataclass))
    assert [*account(ours, CALLS[name])] == [*account(theirs, CALLS[name])]


@dataclass(frozen=True)
class Kept:
    """Module level, so that it can be pickled."""

    x: int
    y: tuple[int, ...] = (1, 2)


def test_objects_survive_a_pickle():
    kept = Kept(3)
    assert pickle.loads(pickle.dumps(kept)) == kept
    assert hash(pickle.loads(pickle.dumps(kept))) == hash(kept)


def test_defaults_are_made_anew():
    @dataclass
    class Made:
        a: np.ndarray = field(default_factory=lambda: np.zeros(2))

    first, second = Made(), Made()
    first.a[0] = 1.0
    assert second.a[0] == 0.0


def test_objects_that_hold_themselves_can_be_shown():
    @dataclass
    class Ring:
        inner: list = field(default_factory=list)

    ring = Ring()
    ring.inner.append(ring)
    assert "Ring(inner=[...])" in repr(ring)


def test_a_field_that_has_no_value_is_missed_as_in_any_class():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Kept()


def test_threads_that_make_the_first_objects_at_once():
    for _ in range(50):

        @dataclass(frozen=True)
        class Fresh:
            x: int
            y: int = 2

        together, made = Barrier(4), []

        def make(kind=Fresh, together=together, made=made):
            together.wait()
            made.append(kind(1))

        threads = [Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Fresh(1)] * 4


def test_all_dataclasses_of_denoc_are_these():
    home = Path(denoc.__file__).parent
    files = [*home.rglob("*.py"), *Path(denoc.cli.__file__).parent.rglob("*.py")]
    assert len(files) > 400
    usual = [f for f in files if re.search(r"^from dataclasses import .*\bdataclass\b", f.read_text(), re.M)]
    assert usual == []
