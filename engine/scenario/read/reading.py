"""The state that the readers of all sections share: the scenario's document, its model, and the robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import InputError, did_you_mean
from ...laws import OF_JOINT, Law
from ...robot import Joint, Robot
from ...text import Document, Keys, count_with_noun
from ...text.expressions import DIMENSIONS, misfit_of_unit
from ...text.fields import Numbers, checked_document_model
from ..schema import ScenarioFile


class Reading:
    """A scenario file that is being read for a robot."""

    def __init__(self, document: Document, robot: Robot):
        self.document, self.robot = document, robot
        self.file = checked_document_model(ScenarioFile, document, document.data)
        self.error = document.error
        self.folder = Path(document.name).parent  # of tables
        self.simulating = self.file.task == "simulate"
        self.span = float(self.file.time.start), float(self.file.time.end)

    # ---- joints named in mappings

    def joint(self, key: str, name: str, others: Iterable[str] = ()) -> Joint:
        """The joint that an entry under `key` names."""
        joints = self.robot.joints
        if name not in joints:
            fixed = any(link.joint.name == name for link in self.robot.links)
            raise self.error(
                (key, name),
                f"the joint `{name}` is fixed" if fixed else f"{self.robot.name} has no joint `{name}`",
                key=True,
                allowed=", ".join([*others, *joints]),
                hint=did_you_mean(name, joints) if fixed else self._hint_at_joint(name),
            )
        return self.robot.joint(name)

    def _hint_at_joint(self, name: str) -> str:
        """A hint at the joint that an unknown name may stand for."""
        joint = next((link.joint for link in self.robot.links if link.name == name and link.joint.type.nv), None)
        return f"the joint of the link `{name}` is `{joint.name}`" if joint else did_you_mean(name, self.robot.joints)

    def each(self, key: str, entries: dict[str, Any], others: Sequence[str] = ()) -> dict[Joint, tuple[Any, Keys]]:
        """The entry and its path for each joint, in the joints' order, with `all` spread over the actuated joints.

        `others` are names that are allowed besides those of joints.
        """
        named = {self.joint(key, name, ("all", *others)).name: name for name in entries if name != "all"}
        by_joint: dict[Joint, tuple[Any, Keys]] = {}
        for joint in self.robot.moving:
            if joint.name in named:
                by_joint[joint] = (entries[joint.name], (key, joint.name))
            elif "all" in entries and joint.actuated:
                by_joint[joint] = (entries["all"], (key, "all"))
        return by_joint

    def values(
        self, key: str, entries: dict[str, Numbers], sizes: Callable[[Joint], tuple[str, ...]]
    ) -> Iterator[tuple[Joint, list[float]]]:
        """The joints and their numbers in `initial` or `rates`."""
        for name, value in entries.items():
            joint = self.joint(key, name)
            wanted = sizes(joint)
            values = list(value) if isinstance(value, tuple) else [value]
            if len(values) != len(wanted):
                raise self.error(
                    (key, name),
                    f"`{name}` needs {count_with_noun(len(wanted), 'number')} here: {', '.join(wanted)}",
                    found=str(len(values)),
                    allowed=f"[{', '.join('…' * len(wanted))}]" if len(wanted) > 1 else "one number",
                )
            yield joint, values

    # ---- units

    def fits(self, value: Any, kind: str, path: Keys) -> None:
        """Raises an error if a number's unit is not of this kind."""
        if message := misfit_of_unit(value, kind):
            raise self.error(path, message, allowed=DIMENSIONS[kind][1])

    def all_fit(self, value: Numbers, kinds: Sequence[str], path: Keys, joint: Joint) -> None:
        """Raises an error if a list has another length than `kinds`, or a number has a unit of another kind."""
        if isinstance(value, tuple) and len(value) != len(kinds):
            raise self.error(
                path,
                f"`{joint.name}` needs {count_with_noun(len(kinds), 'number')} here",
                found=str(len(value)),
                allowed=f"one number, or [{', '.join('…' * len(kinds))}]",
            )
        for k, kind in enumerate(kinds):
            listed = isinstance(value, tuple)
            self.fits(value[k] if isinstance(value, tuple) else value, kind, (*path, k) if listed else path)

    def law_fits(self, law: Law, path: Keys, joint: Joint) -> None:
        """Raises an error if units of a law's parameters don't fit the joint."""
        for key, kind, value in law.measured():
            turns, slides = OF_JOINT[kind]
            kinds = [turns if turning else slides for turning in joint.type.turning]
            self.all_fit(value, kinds, (*path, key), joint)

    # ---- tables

    def tabled(self, law: Law, path: Keys, kinds: Sequence[str], who: str, made: Callable[[], list[Any]]) -> list[Any]:
        """The functions that a law makes for coordinates of these kinds; a table's mistakes are at the law's entry."""
        count, columns = len(kinds), law.columns_by_key()
        for name, names in columns.items():
            if len(names) != count:
                raise self.error(
                    (*path, name),
                    f"`{who}` needs {count_with_noun(count, 'column')}",
                    found=str(len(names)),
                    allowed=f"{'columns' if name == 'column' else name}: [{', '.join('…' * count)}]",
                )
        try:
            functions = made()
            law.refuse_units(self.folder, kinds)
            return functions
        except InputError as error:
            key: Keys = ("file",)
            for name, names in columns.items():
                if error.key in names:
                    key = ("column",) if name == "column" else (name, names.index(error.key))
                    break
            where = f"{error.place}: " if error.place else ""
            raise self.error((*path, *key), where + error.message, **error.words) from None


def follows_from_ties(robot: Robot) -> str:
    """Where what messages are about comes from, in words before `given` or `prescribed`."""
    return f"follows from the {robot.ties_in_words} and what else is"


def numbers_in_words(values: Sequence[float] | Mapping[int, float], places: Sequence[int]) -> str:
    """The numbers at these places, one or a list of them, as text."""
    texts = [f"{float(values[k]):.9g}" for k in places]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
