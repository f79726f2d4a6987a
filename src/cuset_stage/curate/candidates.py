"""The candidates of a selection, and what was decided of them, in a temporary file: memory does not grow with the rows."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from .ranking import Candidate
from .similarity import NearIndex, Print, same_device_code
from .store import packed, temporary_store, unpacked
from .training_text import Groups


LENGTH_BINS = 4
_SCHEMA = """
CREATE TABLE candidates (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE, id BLOB, task TEXT, family BLOB, tokens INTEGER, speedup REAL, run_s REAL, record BLOB
);
CREATE TABLE prints (key TEXT PRIMARY KEY, print BLOB) WITHOUT ROWID;
CREATE TABLE decisions (key TEXT PRIMARY KEY, reason TEXT, detail BLOB) WITHOUT ROWID;
CREATE TABLE reports (line BLOB);
CREATE TABLE known (reason TEXT, value TEXT, key TEXT, PRIMARY KEY (reason, value)) WITHOUT ROWID;
CREATE VIEW undecided AS SELECT * FROM candidates WHERE key NOT IN (SELECT key FROM decisions);
"""
# Of programs that are alike: the fastest, then the shortest, then the first by name. Times of processes differ by tenths of a second.
_BEST_FIRST = "ifnull(speedup, 0) DESC, ifnull(round(run_s, 1), 1e9), tokens, id"
# A family's rows in turns from its length bins: within a bin faster ones first, then those whose key is smaller, which is as good as
# chance, and repeatable.
_BEYOND = f"""
WITH ordered AS (
    SELECT key, family, speedup, COUNT(*) OVER (PARTITION BY family) AS members,
           ROW_NUMBER() OVER (PARTITION BY family ORDER BY tokens, key) - 1 AS place
    FROM undecided
), binned AS (
    SELECT *, place / ((members + {LENGTH_BINS - 1}) / {LENGTH_BINS}) AS bin FROM ordered
), turned AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY family, bin ORDER BY ifnull(speedup, 0) DESC, key) AS turn FROM binned
), taken AS (
    SELECT key, family, members, ROW_NUMBER() OVER (PARTITION BY family ORDER BY turn, bin) AS place FROM turned
)
SELECT key, family, members FROM taken WHERE place > ?
"""


class Candidates:
    """Every candidate that was added, and why some of them go.

    What is gone through is sorted before its first element comes, so that rows may be dropped meanwhile.
    """

    def __init__(self) -> None:
        self._store = temporary_store(self, _SCHEMA)

    def add(self, candidate: Candidate) -> bool:
        """False: it is there already."""
        values = (
            candidate.key, packed(candidate.id), candidate.group, packed(candidate.family), candidate.tokens, candidate.speedup,
            candidate.run_s, pickle.dumps(candidate),
        )  # fmt: skip
        columns = "key, id, task, family, tokens, speedup, run_s, record"
        return bool(
            self._store.execute(
                f"INSERT OR IGNORE INTO candidates ({columns}) VALUES (?,?,?,?,?,?,?,?)", values
            ).rowcount
        )

    def settle(self, groups: Groups) -> None:
        """Give every candidate its task, now that all keys are joined."""
        self._store.create_function("group_of", 1, groups.of)
        self._store.execute("UPDATE candidates SET task = group_of(task)")

    def drop(self, key: str, reason: str, detail: str) -> None:
        self._store.execute("INSERT INTO decisions VALUES (?, ?, ?)", (key, reason, packed(detail)))

    def report(self, line: str) -> None:
        """Keep a line for a file that is written once the stage's folder is empty."""
        self._store.execute("INSERT INTO reports VALUES (?)", (packed(line),))

    def reports(self) -> Iterator[str]:
        return (unpacked(line) for (line,) in self._store.execute("SELECT line FROM reports ORDER BY rowid"))

    def __contains__(self, key: str) -> bool:
        return self._store.execute("SELECT 1 FROM candidates WHERE key = ?", (key,)).fetchone() is not None

    def decision(self, key: str) -> tuple[str, str] | None:
        """(reason, detail) of a candidate that goes."""
        found = self._store.execute("SELECT reason, detail FROM decisions WHERE key = ?", (key,)).fetchone()
        return None if found is None else (found[0], unpacked(found[1]))

    def tasks(self) -> Iterator[list[Candidate]]:
        """The answers to each task that are left; held are those to one."""
        rows = self._store.execute("SELECT task, record FROM undecided ORDER BY task, number")
        found = (replace(pickle.loads(record), group=task) for task, record in rows)
        return (list(members) for _, members in groupby(found, key=attrgetter("group")))

    def add_print(self, key: str, found: Print | None) -> None:
        """None: there is nothing to compare the row by, and it is no duplicate."""
        if found is not None:
            self._store.execute("INSERT INTO prints VALUES (?, ?)", (key, pickle.dumps(found)))

    def drop_duplicates(self, near: float) -> None:
        """Of programs that are alike the best stays.

        Args:
            near: similarity from which two are alike; at 1 only equal ones are.
        """
        index = None if near == 1 else NearIndex(near)
        for (key,) in self._store.execute(f"SELECT key FROM undecided ORDER BY {_BEST_FIRST}"):
            found = self._print(key)
            if found is None:
                continue
            why = self._like(found, index)
            if why is not None:
                self.drop(key, *why)
                continue
            known = [("duplicate_exact", found.exact, key), ("duplicate_normalised", found.normalised, key)]
            self._store.executemany("INSERT INTO known VALUES (?, ?, ?)", known)
            if index is not None:
                index.add(key, found.near)  # by key: two rows of one id may differ

    def _like(self, found: Print, index: NearIndex | None) -> tuple[str, str] | None:
        for reason, value, but in (
            ("duplicate_exact", found.exact, "comments and spaces"),
            ("duplicate_normalised", found.normalised, "names"),
        ):
            known = self._store.execute(
                "SELECT key FROM known WHERE reason = ? AND value = ?", (reason, value)
            ).fetchone()
            if known is not None:
                return reason, f"the same as {self._name(known[0])} but for {but}"
        for key, similarity in () if index is None else index.matches(found.near):
            other = self._print(key)
            if other is not None and same_device_code(found, other, index.threshold):
                return "duplicate_near", f"like {self._name(key)} (similarity {similarity:.2f})"
        return None

    def _print(self, key: str) -> Print | None:
        found = self._store.execute("SELECT print FROM prints WHERE key = ?", (key,)).fetchone()
        return None if found is None else pickle.loads(found[0])

    def _name(self, key: str) -> str:
        return unpacked(self._store.execute("SELECT id FROM candidates WHERE key = ?", (key,)).fetchone()[0])

    def balance(self, most: int) -> None:
        """At most `most` rows a family, taken in turns from its length quartiles, so that short programs do not crowd out long ones."""
        for key, family, members in self._store.execute(_BEYOND + " ORDER BY key", (most,)):
            self.drop(key, "family_full", f"the family {unpacked(family)} has {members} rows; {most} are taken")

    def families(self) -> dict[str, int]:
        """Rows that are left, by family, the largest first."""
        rows = self._store.execute(
            "SELECT family, COUNT(*) FROM undecided GROUP BY family ORDER BY COUNT(*) DESC, MIN(number)"
        )
        return {unpacked(family): count for family, count in rows}

    def task_count(self) -> int:
        """Tasks of which an answer is left."""
        return self._store.execute("SELECT COUNT(DISTINCT task) FROM undecided").fetchone()[0]

    def lengths(self) -> dict[int, int]:
        """Length in tokens -> how many of the rows that are left have it."""
        return dict(self._store.execute("SELECT tokens, COUNT(*) FROM undecided GROUP BY tokens"))

    def longer_than(self, tokens: int, most: int) -> list[str]:
        """The first `most` rows that are left and longer than so many tokens."""
        rows = self._store.execute("SELECT id FROM undecided WHERE tokens > ? ORDER BY number LIMIT ?", (tokens, most))
        return [unpacked(name) for (name,) in rows]
