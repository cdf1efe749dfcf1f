"""Values on disk, written as they come, found again only by all that they depend on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from glosseme.errors import WORK_FAILED, GlossemeError

__all__ = ["Store"]

_LOOKUP = 500
_MOVE_AWAY = "move the file away; its values are computed again"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS value (
    identity TEXT NOT NULL,
    key BLOB NOT NULL,
    logprobs BLOB NOT NULL,
    PRIMARY KEY (identity, key)
) WITHOUT ROWID
"""


class Store:
    """An SQLite file in write-ahead mode: for (identity, key) the values of a question's reads, in nats.

    `identity` stands for the model's weights and tokenizer, the dtype and the options; a key for the tokens.

    >>> import tempfile, pathlib, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder, Store(pathlib.Path(folder) / "values.sqlite", "model") as store:
    ...     store.put([(b"k", np.float32([-1.5, -0.25]))])
    ...     store.get([b"k", b"unknown"])
    {b'k': array([-1.5 , -0.25], dtype=float32)}
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        self.identity = identity
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(_SCHEMA)
        except (OSError, sqlite3.OperationalError) as error:
            raise GlossemeError(
                f"the store of values can't be opened ({error})",
                where=str(path),
                todo="give a folder that can be written with -o, or move a broken file away",
            ) from None
        except sqlite3.Error as error:  # the file is there, and is no such store
            raise self._damaged(error) from None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """Return the values of those `keys` that are known."""
        found: dict[bytes, npt.NDArray[np.float32]] = {}
        unique = list(dict.fromkeys(keys))
        try:
            if self._is_empty():
                return {}
            for start in range(0, len(unique), _LOOKUP):
                found.update(self._look_up(unique[start : start + _LOOKUP]))
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise self._damaged(error) from None
        return found

    def _damaged(self, error: Exception) -> GlossemeError:
        return GlossemeError(f"the store of values is damaged ({error})", where=str(self.path), todo=_MOVE_AWAY)

    def _is_empty(self) -> bool:
        one = self._db.execute("SELECT 1 FROM value WHERE identity = ? LIMIT 1", [self.identity]).fetchone()
        return one is None

    def _look_up(self, keys: Sequence[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(
            f"SELECT key, logprobs FROM value WHERE identity = ? AND key IN ({marks})",  # noqa: S608
            [self.identity, *keys],
        )
        return {bytes(k): np.frombuffer(v, "<f4") for k, v in rows}

    def put(self, values: Iterable[tuple[bytes, npt.NDArray[np.float32]]]) -> None:
        """Write values in one transaction; a value that is there already is replaced."""
        rows = [(self.identity, key, logprobs.astype("<f4").tobytes()) for key, logprobs in values]
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("INSERT OR REPLACE INTO value VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise self._unwritten(error) from None

    def _unwritten(self, error: Exception) -> GlossemeError:
        return GlossemeError(
            f"values can't be written ({error})",
            where=str(self.path),
            todo="free some disk space or wait for the other run; the same command goes on where it stopped",
            exit_code=WORK_FAILED,
        )

    def forget(self, keys: Iterable[bytes]) -> None:
        """Take values out again."""
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                rows = [(self.identity, key) for key in keys]
                self._db.executemany("DELETE FROM value WHERE identity = ? AND key = ?", rows)
        except sqlite3.Error as error:
            raise self._unwritten(error) from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
