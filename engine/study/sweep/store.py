"""The store of a study's runs: an SQLite file that only the starting process writes, and that no kill can damage.

Each row has a digest, so that one that has been damaged otherwise counts as none, and its run is computed anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import InputError, Place

APPLICATION = 0x64656E6F  # which says in the file's head whose it is: `deno`
FORM = 3  # version of the rows' form
ENDING = ".runs.sqlite"
TABLE = (
    "CREATE TABLE runs (key BLOB PRIMARY KEY, ended TEXT, as_expected INTEGER, reason TEXT, numbers BLOB, rows BLOB, "
    "digest BLOB) WITHOUT ROWID"
)
TYPES = [bytes, str, int, str, bytes, bytes, bytes]
NO_STORE, OTHER = "this is not a store of runs", "another --out, or remove the file"
SOME = 500  # keys that are asked for at once


class Outcome(NamedTuple):
    """What is kept of a run: how it ended, and its numbers, the energy balance's residual and its measure last.

    `rows` are those of the columns that are kept whole, as bytes.
    """

    ended: str
    as_expected: bool  # by the scenario
    reason: str
    numbers: tuple[float, ...]
    rows: bytes = b""

    def cells(self, key: bytes) -> tuple[bytes, str, int, str, bytes, bytes, bytes]:
        """The row of a store, at whose end is the digest of all that is before it."""
        numbers = struct.pack(f"<{len(self.numbers)}d", *self.numbers)
        words = repr((key, self.ended, int(self.as_expected), self.reason, len(numbers)))
        digest = hashlib.sha256(words.encode() + numbers + self.rows).digest()
        return key, self.ended, int(self.as_expected), self.reason, numbers, self.rows, digest


class Memory:
    """The runs by the hashes of their inputs, as long as this object."""

    def __init__(self) -> None:
        self._outcomes: dict[bytes, Outcome] = {}

    def clear(self) -> None:
        """Forgets all runs."""
        self._outcomes.clear()

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Outcome]:
        """The outcomes of those runs that are kept."""
        return {key: self._outcomes[key] for key in keys if key in self._outcomes}

    def keep(self, outcomes: Iterable[tuple[bytes, Outcome]]) -> None:
        """Takes outcomes."""
        self._outcomes.update(outcomes)

    def close(self) -> None:
        pass


class Store(Memory):
    """The runs in a file by the hashes of their inputs.

    What was read or written once is known: in a file whose keys have been damaged, later rows may hide earlier ones.
    """

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        with self._guarded():
            self._base = sqlite3.connect(path, timeout=1.0, isolation_level=None)
            self._base.text_factory = partial(str, encoding="utf-8", errors="replace")  # damaged text has no digest
            try:
                self._open()
            except BaseException:
                self._base.close()
                raise

    def _open(self) -> None:
        """Takes the file for this process alone, and makes the table in an empty one."""
        self._base.execute("PRAGMA locking_mode=EXCLUSIVE")
        mark, form = (self._base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = self._base.execute("SELECT type, sql FROM sqlite_master").fetchall()
        older = mark == APPLICATION and form < FORM  # whose runs other sources have computed: none of them counts
        if not older and (mark, form, tables) not in ((APPLICATION, FORM, [("table", TABLE)]), (0, 0, [])):
            raise self._error(NO_STORE, OTHER)
        if tables and not older and self._base.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise self._error("this store of runs is damaged", OTHER)  # before anything is written to it
        try:
            self._base.execute("BEGIN EXCLUSIVE")  # kept until the file is closed
        except sqlite3.OperationalError as error:
            if "readonly" in str(error) and tables:  # what is in it can be read
                return
            raise
        if older or not tables:
            self._base.execute("DROP TABLE IF EXISTS runs")
            self._base.execute(f"PRAGMA application_id={APPLICATION}")
            self._base.execute(f"PRAGMA user_version={FORM}")
            self._base.execute(TABLE)
        self._base.execute("COMMIT")

    def clear(self) -> None:
        """Forgets all runs."""
        super().clear()
        with self._guarded():
            self._base.execute("DELETE FROM runs")

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Outcome]:
        """The outcomes of those runs that are kept, as they were written."""
        keys = list(keys)
        found = super().known(keys)
        wanted = [key for key in keys if key not in found]
        with self._guarded():
            for first in range(0, len(wanted), SOME):
                some = wanted[first : first + SOME]
                marks = ",".join("?" * len(some))
                rows = self._base.execute(f"SELECT * FROM runs WHERE key IN ({marks})", some)  # noqa: S608
                for row in rows:
                    if (one := _outcome(row)) is not None:
                        found[row[0]] = one
        super().keep(found.items())
        return found

    def keep(self, outcomes: Iterable[tuple[bytes, Outcome]]) -> None:
        """Writes outcomes, all of them or none."""
        outcomes = list(outcomes)
        rows = [one.cells(key) for key, one in outcomes]
        with self._guarded():
            self._base.execute("BEGIN")
            try:
                self._base.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise
        super().keep(outcomes)

    def close(self) -> None:
        self._base.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A context in which errors of the database say what to do."""
        try:
            yield
        except UnicodeDecodeError:  # of an error's own words, where these are the file's
            raise self._error(NO_STORE, OTHER) from None
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise self._error("another process has this store open", "wait for it, or another --out") from None
            if "not a database" in str(error) or "malformed" in str(error):
                raise self._error(NO_STORE, OTHER) from None
            raise self._error(
                f"the store of runs can't be read or written: {error}",
                "another --out; the runs that are kept stay, and the next start goes on with them",
            ) from None

    def _error(self, message: str, hint: str) -> InputError:
        return InputError(message, place=Place(str(self.path)), hint=hint)


def _outcome(row: Sequence[Any]) -> Outcome | None:
    """The outcome in a row; None if it isn't what was written."""
    if [*map(type, row)] != TYPES or len(row[4]) % 8:
        return None
    key, ended, as_expected, reason, numbers, rows, _ = row
    one = Outcome(ended, bool(as_expected), reason, struct.unpack(f"<{len(numbers) // 8}d", numbers), rows)
    return one if one.cells(key) == row else None
