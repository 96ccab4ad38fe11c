"""A study read from its file: what each run changes, and mistakes reported at their places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import DenocError, InputError, allowed_names
from ...scenario import name_of_scenario
from ...text import Document, Keys, document_from_mapping, find_library_file, read_yaml_document
from ...text.expressions import NAMES, Dimension, ExpressionError, Quantity, UndefinedError, evaluate_expression
from ...text.fields import checked_document_model
from .design import Design, Listed, Value, sweep_design_size
from .schema import MOST_RUNS, SAMPLED, SEARCHED, SEARCHES, StudyFile, VariedEntry, study_dimension_of_alike_numbers

_KEY = re.compile(r"variations\[\d+\]: ([^,]+)")
_SYMBOL = re.compile(r"[^\W\d]\w*")
# columns of the table that a study may have, and stems of its files
RESERVED = ("run", "repeat", "unbeaten", "ended", "as_expected", "reason", "energy", "energy_share", "pareto", "rows")
FIXED = ("robot", "name", "task")  # keys of the scenario that are the same in all runs
Changes = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """A study; `whole` names numbers that keys for whole numbers take, `switched` has keys of `record` in all runs."""

    file: StudyFile
    document: Document
    name: str
    scenario: Path
    robot: Path | None
    whole: frozenset[str] = frozenset()
    switched: Mapping[str, Any] = field(default_factory=dict)  # which make columns that are kept
    listed: Listed | None = None  # the runs of a search, in place of those that the file lists

    @cached_property
    def design(self) -> Design | Listed:
        return self.listed or Design(self.file)

    def at(self, points: Sequence[Mapping[str, Value]]) -> Study:
        """The study with runs at these points."""
        return replace(self, listed=Listed({name: [one[name] for one in points] for name in self.file.vary}))

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """The dimensions of the numbers that vary, without those that take words."""
        found = {name: dimension_of_varied_number(one) for name, one in self.file.vary.items()}
        return {name: one for name, one in found.items() if one is not None}

    def quantities(self, point: Mapping[str, Value]) -> dict[str, Quantity]:
        """The numbers of a point with their dimensions, as expressions take them."""
        return {name: Quantity(float(point[name]), one, f"{point[name]:g}") for name, one in self.dimensions.items()}

    def changes(self, k: int) -> Changes:
        """The values of all keys that run k changes."""
        return {key: values[k] for key, values in self.changed.items()}

    @cached_property
    def changed(self) -> dict[str, list[Any]]:
        """The values of each key that changes, in all runs."""
        made: dict[str, list[Any]] = {}
        for name, one in self.file.vary.items():
            column: list[Any] = self.design.columns[name]
            if name in self.whole:
                column = [_whole(x) for x in column]
            made.update(dict.fromkeys(one.key, column))
        for key, text in self.file.set_.items():
            runs = range(self.design.count)
            if isinstance(text, str):
                tied = (self._tied(text, self.quantities(self.design.point(k))) for k in runs)
                made[key] = [x if isinstance(x, str) else float(x) for x in tied]
            else:
                made[key] = [text if isinstance(text, bool) else float(text)] * len(runs)
        made.update({key: [value] * self.design.count for key, value in self.switched.items()})
        return made

    def measured_changes(self, k: int) -> Changes:
        """The values of all keys that run k changes, numbers with their dimensions."""
        point = self.design.point(k)
        given = self.quantities(point)
        made: Changes = {}
        for name, one in self.file.vary.items():
            value = _whole(point[name]) if name in self.whole else point[name]
            made.update(dict.fromkeys(one.key, value if isinstance(value, int) else given.get(name, value)))
        for key, text in self.file.set_.items():
            if isinstance(text, str):
                made[key] = self._tied(text, given)
            else:
                made[key] = text if isinstance(text, bool) else Quantity(float(text))
        return {**made, **self.switched}

    @staticmethod
    def _tied(text: str, given: Mapping[str, Quantity]) -> Quantity | str:
        """The value of an expression; where these numbers give none, a text that a run refuses with the reason."""
        try:
            return evaluate_expression(text, given)
        except UndefinedError as error:
            return f"{text}: {error}"

    def words(self, k: int) -> tuple[Value, ...]:
        """What in run k is no number: runs with other words have other programs."""
        return self.all_words[k]

    @cached_property
    def all_words(self) -> list[tuple[Value, ...]]:
        """What is no number in each of the runs."""
        columns = [self.design.columns[name] for name in self._wordy]
        return list(zip(*columns)) if columns else [()] * self.design.count

    @cached_property
    def _wordy(self) -> list[str]:
        """What takes words or whole numbers."""
        return [name for name in self.file.vary if name not in self.dimensions or name in self.whole]

    def path_of(self, key: str) -> Keys:
        """The path in the study's file of what changes a key."""
        for name, one in self.file.vary.items():
            if key in one.key:
                written = self.document.data["vary"][name]["key"]
                return ("vary", name, "key", list(one.key).index(key)) if isinstance(written, list) else (
                    "vary", name, "key",
                )  # fmt: skip
        return "set", key

    def placed(self, error: DenocError) -> DenocError:
        """An error of a run's plan at the place in the study where the key or its value stands."""
        match = _KEY.search(error.key) if isinstance(error, InputError) else None
        if match is None or not isinstance(error, InputError):
            return error
        key, _, rest = match[1].partition("=")
        message = error.message if not rest else f"{key}: {error.message}"
        return self.document.error(self.path_of(key), message, **error.words)

    def with_whole(self, name: str) -> Study:
        return replace(self, whole=self.whole | {name})


def _whole(value: Value) -> Value | int:
    """A whole number as such."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def dimension_of_varied_number(one: VariedEntry) -> Dimension | None:
    """The dimension of a number that varies; None where it takes words."""
    if one.grid is not None:
        return study_dimension_of_alike_numbers(one.grid.from_, one.grid.to)
    if one.list_ is not None:
        numbers = [x for x in one.list_ if isinstance(x, Quantity)]
        return study_dimension_of_alike_numbers(*numbers) if len(numbers) == len(one.list_) else None
    return study_dimension_of_alike_numbers(*one.given(one.way), *([one.start] if one.start is not None else []))


def open_study(study: str | Path | Mapping[str, Any], *, search: bool = False) -> Study:
    """The study in a file or a mapping, checked as far as that goes without its scenario; a `search` has `minimise`."""
    if isinstance(study, Mapping):
        document, name, beside = document_from_mapping(study), "study", None
    else:
        path = find_library_file(study, "studies")
        document, name, beside = read_yaml_document(path), name_of_scenario(path), path.parent
    if isinstance(document.data, dict) and "task" in document.data:
        raise document.error(("task",), "this is a scenario, not a study", key=True, hint="`denoc run` runs it")
    file = checked_document_model(StudyFile, document, document.data)
    _check_purpose(document, file, search)
    _check(document, file)
    made = [_found(document, key, kind, beside) for key, kind in (("scenario", "scenarios"), ("robot", "robots"))]
    assert made[0] is not None
    return Study(file, document, file.name or name, made[0], made[1])


def _found(document: Document, key: str, kind: str, beside: Path | None) -> Path | None:
    """The file that a key names."""
    name = document.data.get(key)
    if name is None:
        return None
    try:
        return find_library_file(name, kind, beside).absolute()
    except InputError as error:
        raise document.error((key,), error.message, **error.words) from None


def _check_purpose(document: Document, file: StudyFile, search: bool) -> None:
    """Raises an error if a sweep is asked of a study that seeks a minimum, or the other way round."""
    if file.minimise is None:
        if search:
            raise document.error((), "`minimise` is missing: the study seeks nothing", hint="`denoc sweep` runs it")
        for field in SEARCHES:
            if field in file.model_fields_set:
                key = StudyFile.model_fields[field].alias or field
                raise document.error((key,), f"`{key}` is for a study with `minimise`", key=True)
        for name, one in file.vary.items():
            if one.way == SEARCHED:
                path = ("vary", name, SEARCHED)
                raise document.error(path, f"`{SEARCHED}` is for a study with `minimise`", key=True)
        return
    if not search:
        raise document.error(("minimise",), "this study seeks a minimum", key=True, hint="`denoc optimise` does that")
    for name, one in file.vary.items():
        if one.way != SEARCHED:
            raise document.error(
                ("vary", name, one.way), f"`{name}` isn't sought", key=True, allowed=f"{SEARCHED}: [low, high]"
            )
    for section, names in (("minimise", file.minimise), ("subject-to", file.subject_to)):
        for name in names:
            if name not in file.keep:
                at: Keys = (section, name) if isinstance(document.data[section], dict) else (section,)
                raise document.error(at, "no such output", found=f"`{name}`", **allowed_names(name, file.keep))
    for name, limits in file.subject_to.items():
        low, high = limits.at_least, limits.at_most
        if low is None and high is None:
            raise document.error(("subject-to", name), f"`{name}` has no limit", key=True, allowed="at_least, at_most")
        if low is not None and high is not None and not low <= high:
            found = f"from {low.written} to {high.written}"
            raise document.error(("subject-to", name), "the limits are upside down", found=found)


def _check(document: Document, file: StudyFile) -> None:
    """Raises an error if the parts of a study don't fit together."""
    some = [name for name, one in file.vary.items() if one.way in SAMPLED]
    if some and file.samples is None:
        raise document.error(
            ("vary", some[0]), "`samples` is missing", hint="`samples: 100` says how many points there are"
        )
    if file.samples is not None and not some:
        raise document.error(
            ("samples",), "nothing is sampled", key=True, allowed="`random`, `latin` or `sobol` under `vary`"
        )
    if (runs := sweep_design_size(file)) > MOST_RUNS:
        found = f"{runs:.4g}" if runs < MOST_RUNS**2 else f"more than {MOST_RUNS**2:g}"
        raise document.error(("vary",), "too many runs", key=True, found=found, allowed=f"at most {MOST_RUNS}")
    for section in ("vary", "keep"):
        for name in getattr(file, section):
            if why := _no_name(name):
                allowed = "a name of letters, digits and _ that means nothing else"
                raise document.error((section, name), f"`{name}` {why}", key=True, allowed=allowed)
    _check_keys(document, file)
    for name in file.keep:
        if name in file.vary:
            raise document.error(("keep", name), f"`{name}` varies already", key=True, allowed="another name")
    for path in [*(("expect", "outputs", name) for name in file.expect.outputs), *(("pareto", x) for x in file.pareto)]:
        if path[-1] not in file.keep:
            raise document.error(path, f"`{path[-1]}` isn't kept", key=True, allowed=", ".join(file.keep))
    if file.repeat > 1 and not any(one.way in SAMPLED for one in file.vary.values()):
        allowed = f"1, as long as nothing is {', '.join(SAMPLED)}"
        raise document.error(("repeat",), "all runs would be the same again", found=str(file.repeat), allowed=allowed)
    if len(file.pareto) == 1:
        raise document.error(("pareto",), "one output has a best run, no front", key=True, allowed="two or more")


def _no_name(name: str) -> str:
    """What keeps a text from being a name in expressions and in the table; empty if nothing does."""
    if not _SYMBOL.fullmatch(name):
        return "can't stand in expressions"
    return "is a unit or a function" if name in NAMES else "is a column of every table" if name in RESERVED else ""


def _check_keys(document: Document, file: StudyFile) -> None:
    """Raises an error for keys that can't vary, or that two entries change."""
    places: list[tuple[str, Keys]] = [
        (key, ("vary", name, "key")) for name, one in file.vary.items() for key in one.key
    ]
    places += [(key, ("set", key)) for key in file.set_]
    seen: set[str] = set()
    for key, path in places:
        if key in FIXED or not key:
            allowed = "keys with dots between, such as `robot.links.link6.mass` or `initial.joint1`"
            raise document.error(path, "this is the same in all runs of a study", found=f"`{key}`", allowed=allowed)
        if key in seen:
            raise document.error(path, "another entry changes this key already", found=f"`{key}`")
        seen.add(key)
    if not seen:
        raise document.error(("vary",), "nothing in the files varies", key=True, hint="`key` says what does, or `set`")
    used = {name for x in file.set_.values() for name in _SYMBOL.findall(str(x))}
    for name, one in file.vary.items():
        if not one.key and name not in used:
            raise document.error(
                ("vary", name), f"`{name}` changes nothing", key=True, hint="`key` says what, or `set`"
            )
    given = {
        name: Quantity(1.0, d) for name, one in file.vary.items() if (d := dimension_of_varied_number(one)) is not None
    }
    for key, text in file.set_.items():
        try:
            evaluate_expression("0" if isinstance(text, bool) else str(text), given)
        except UndefinedError:
            continue
        except ExpressionError as error:
            raise document.error(("set", key), str(error), found=f"`{text}`", allowed=", ".join(given)) from None


__all__ = ["Changes", "Study", "dimension_of_varied_number", "open_study"]
