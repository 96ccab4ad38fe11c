"""The store of a study's runs: an SQLite file that only the starting process writes, and that no kill can damage."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ...errors import InputError, Place

APPLICATION = 0x64656E6F  # which says in the file's head whose it is: `deno`
FORM = 2  # version of the rows' form
ENDING = ".runs.sqlite"
TABLE = (
    "CREATE TABLE IF NOT EXISTS runs (key BLOB PRIMARY KEY, ended TEXT, reason TEXT, numbers BLOB, rows BLOB) "
    "WITHOUT ROWID"
)
NO_STORE, OTHER = "this is not a store of runs", "another --out, or remove the file"
SOME = 500  # keys that are asked for at once


class Outcome(NamedTuple):
    """What is kept of a run: how it ended, and its numbers, the energy balance's residual and its measure last.

    `rows` are those of the columns that are kept whole, as bytes.
    """

    ended: str
    reason: str
    numbers: tuple[float, ...]
    rows: bytes = b""


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


class Store:
    """The runs in a file by the hashes of their inputs."""

    def __init__(self, path: Path):
        self.path = path
        with self._guarded():
            self._base = sqlite3.connect(path, timeout=1.0, isolation_level=None)
            try:
                self._open()
            except BaseException:
                self._base.close()
                raise

    def _open(self) -> None:
        """Takes the file for this process alone, and makes the table in an empty one."""
        self._base.execute("PRAGMA locking_mode=EXCLUSIVE")
        mark, form = (self._base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if (mark, form) != (APPLICATION, FORM) and (mark or form or tables):
            raise self._error(NO_STORE, OTHER)
        try:
            self._base.execute("BEGIN EXCLUSIVE")  # kept until the file is closed
        except sqlite3.OperationalError as error:
            if "readonly" in str(error) and tables:  # what is in it can be read
                return
            raise
        if not tables:
            self._base.execute(f"PRAGMA application_id={APPLICATION}")
            self._base.execute(f"PRAGMA user_version={FORM}")
            self._base.execute(TABLE)
        self._base.execute("COMMIT")

    def clear(self) -> None:
        """Forgets all runs."""
        with self._guarded():
            self._base.execute("DELETE FROM runs")

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Outcome]:
        """The outcomes of those runs that are kept."""
        wanted, found = list(keys), dict[bytes, Outcome]()
        with self._guarded():
            for first in range(0, len(wanted), SOME):
                some = wanted[first : first + SOME]
                marks = ",".join("?" * len(some))
                rows = self._base.execute(f"SELECT * FROM runs WHERE key IN ({marks})", some)  # noqa: S608
                for key, ended, reason, numbers, kept in rows:
                    found[key] = Outcome(ended, reason, struct.unpack(f"<{len(numbers) // 8}d", numbers), kept)
        return found

    def keep(self, outcomes: Iterable[tuple[bytes, Outcome]]) -> None:
        """Writes outcomes, all of them or none."""
        rows = [
            (key, one.ended, one.reason, struct.pack(f"<{len(one.numbers)}d", *one.numbers), one.rows)
            for key, one in outcomes
        ]
        with self._guarded():
            self._base.execute("BEGIN")
            try:
                self._base.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", rows)
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._base.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A context in which errors of the database say what to do."""
        try:
            yield
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
