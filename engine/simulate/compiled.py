"""A plant's equations as compiled code: one evaluation at a time, or a whole time loop; one program for each mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..machine import kernel, march
from ..machine.choice import Ledger, give_up
from ..machine.kernel import Single
from ..machine.march import March
from .integrate import scheme
from .tableau import DORMAND_PRINCE

if TYPE_CHECKING:
    from .plant import Plant

MOST_BODIES = 150  # straight-line code of a longer chain takes too long to compile


class Compiled:
    """What has been compiled of a plant so far."""

    def __init__(self, plant: Plant):
        self._plant = plant
        self._ledger = Ledger(len(plant.bodies))
        self._found: dict[tuple, Any] = {}
        self._missed: set[tuple] = set()  # looked for in the cache in vain

    def single(self, held: tuple[int, ...], signals: int) -> Single | None:
        """One evaluation of these modes, if compiling it pays by now."""
        plant = self._plant
        outputs = [plant.measured + 2, plant.robot.nq + 3 * plant.robot.nv + len(held)]
        outputs += [1] * (plant.guard is not None)

        def build(identity: Sequence[str], cached: bool) -> Single | None:
            inputs = [signals, plant.measured]
            return kernel.build_single(lambda: plant.program(held, signals), inputs, outputs, identity, cached)

        return self._built(("single", held), held, signals, 1, build)

    def march(self, held: tuple[int, ...], signals: int) -> March | None:
        """The time loop of these modes, likewise."""
        plant = self._plant

        def build(identity: Sequence[str], cached: bool) -> March | None:
            sizes = plant.measured + 2, plant.measured, plant.units
            program = lambda: plant.program(held, signals)  # noqa: E731
            return march.build(program, scheme(DORMAND_PRINCE), *sizes, 1, identity, cached)

        return self._built(("march", held), held, signals, 0, build)

    def _built(
        self, key: tuple, held: tuple[int, ...], signals: int, samples: int, build: Callable[[Sequence[str], bool], Any]
    ) -> Any:
        found = self._found.get(key)
        if found is not None:
            return found
        plain = self._plant.numeric or len(self._plant.bodies) > MOST_BODIES
        wanted = "plain" if plain else self._ledger.wants(samples)
        if wanted == "plain" or (wanted == "cached" and key in self._missed):
            return None
        self._missed.add(key)
        try:
            found = build((repr(self._plant.identity()), repr(held), repr(signals)), wanted == "cached")
        except (ImportError, RuntimeError, OSError) as error:
            give_up(error)
        if found is not None:
            self._found[key] = found
        return found
