"""What a stage has to remember of every row, in temporary files, so that memory does not grow with the data. Standard library only."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator, MutableMapping


def temporary_store(owner: object, schema: str) -> sqlite3.Connection:
    """A database in a nameless file, which is removed with its owner. Nothing in it outlives the process, so it has no journal.

    Any thread may use it, one at a time.
    """
    store = sqlite3.connect("", check_same_thread=False, isolation_level=None)
    weakref.finalize(owner, store.close)
    store.executescript(f"PRAGMA journal_mode = OFF; BEGIN; {schema}")
    return store


def packed(text: str) -> bytes:
    """A text as SQLite can hold it, which takes no lone surrogates; in the order of the texts."""
    return text.encode("utf-8", errors="surrogatepass")


def unpacked(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogatepass")


class DiskMap(MutableMapping[str, str]):
    """A dictionary of texts without lone surrogates that lies in a file. It is gone through in the order of its keys."""

    def __init__(self) -> None:
        self._store = temporary_store(
            self, "CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
        )

    def __getitem__(self, key: str) -> str:
        found = self._store.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        if found is None:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key: str, value: str) -> None:
        self._store.execute("INSERT OR REPLACE INTO entries VALUES (?, ?)", (key, value))

    def __delitem__(self, key: str) -> None:
        if not self._store.execute("DELETE FROM entries WHERE key = ?", (key,)).rowcount:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for (key,) in self._store.execute("SELECT key FROM entries ORDER BY key"))

    def __len__(self) -> int:
        return self._store.execute("SELECT COUNT(*) FROM entries").fetchone()[0]
