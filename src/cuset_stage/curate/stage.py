"""Run one stage of the pipeline over any number of rows, as a stream.

The work of a stage is a function that takes a row and returns the rows to keep. If it raises `RowError`, the row is
dropped with a reason. `NotSettled` and `SandboxError` mean that the failure is ours and not the row's (the endpoint
timed out, the GPU was lost). Such a row is reported, and the next run tries it again. A stage writes these files to
its folder:

    rows.jsonl         rows that are kept
    dropped.jsonl      rows that are dropped, with the reason
    unsettled.jsonl    rows to be tried again
    summary.json       counts, times and settings, written when the stage has ended

A stage always processes all rows anew. Expensive results, such as a model's replies and the judge's findings, are
stored by `find_once` and reused by the next run.
"""

import fcntl
import json
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from .. import __version__
from ..files import errors_name, write_atomically
from ..progress import Progress
from ..sandbox import SandboxError
from ..text import shown
from .parallel import cpu_count, in_processes, in_threads
from .rows import CurationError, Dropped, NotSettled, Row, RowError, line_of
from .settings import StageSettings
from .store import stored


FILES = ("rows", "dropped", "unsettled")
REPORTED = 20  # unsettled rows that a summary names
Work = Callable[[Row], list[Row]]


@dataclass
class Summary:
    """Statistics of one run of a stage, written to `summary.json`.

    Attributes:
        stage: the stage's name.
        name: the source's name, for stages with a folder per source; else "".
        settings: the settings that the results depend on.
        notes: notes for the user.
        cuset_stage: version of this package.
        created: time of the start, UTC, in ISO format.
        read: number of rows read.
        kept: number of rows written. One row read can produce several.
        dropped: number of rows dropped.
        reasons: reason -> number of rows dropped for it.
        examples: reason -> account of the first row dropped for it.
        unsettled: number of rows to be tried again.
        unsettled_rows: accounts (file, row, reason) of the first REPORTED of these.
        seconds: run time.
    """

    stage: str
    name: str
    settings: Mapping[str, Any]
    notes: Sequence[str]
    cuset_stage: str = __version__
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    read: int = 0
    kept: int = 0
    dropped: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    unsettled: int = 0
    unsettled_rows: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, file: str, kept: int, account: dict[str, Any]) -> None:
        """Count a row. The arguments are parts of what `_outcome` returns."""
        self.read += 1
        self.kept += kept
        if file == "dropped":
            reason = account["reason"]
            self.dropped += 1
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
            self.examples.setdefault(reason, account)
        elif file == "unsettled":
            self.unsettled += 1
            self.unsettled_rows += [account] if self.unsettled <= REPORTED else []


def run_stage(
    folder: Path,
    stage: str,
    rows: Iterable[Row],
    work: Work,
    *,
    settings: Mapping[str, Any] | None = None,
    name: str = "",
    workers: int | None = 1,
    processes: bool = False,
    notes: Sequence[str] = (),
) -> Summary:
    """Apply `work` to every row, and write the results to the stage's folder.

    Args:
        folder: the curation's folder. The stage's folder is created in it.
        stage: the stage's name.
        rows: the rows to read.
        work: function from a row to the rows to keep. It must be thread-safe if there are several workers.
        settings: the settings that the results depend on, for the summary.
        name: the source's name, for stages with a folder per source.
        workers: rows processed at a time. 1: in the calling thread. None: as many as there are CPUs.
        processes: use processes instead of threads, for work that Python itself computes.
        notes: notes for the summary.

    Returns:
        The summary that was also written to summary.json.

    Raises:
        CurationError: another process is working in the same folder.
    """
    started, summary = time.perf_counter(), Summary(stage, name, settings or {}, notes)
    folder = folder / stage / name
    take = in_processes if processes else in_threads
    with locked(folder), errors_name(folder):
        (folder / "summary.json").unlink(missing_ok=True)
        with ExitStack() as stack:
            files = {
                file: stack.enter_context((folder / f"{file}.jsonl.part").open("w", encoding="utf-8"))
                for file in FILES
            }
            bar = stack.enter_context(Progress(desc=name or stage, unit="row", total=getattr(rows, "total", None)))
            for file, lines, kept, account in take(partial(_outcome, work), rows, workers or cpu_count()):
                bar.update()
                files[file].write(lines)
                summary.add(file, kept, account)
        for file in FILES:  # not before, because `input` may name the rows of an earlier run
            (folder / f"{file}.jsonl.part").replace(folder / f"{file}.jsonl")
        summary.reasons = dict(Counter(summary.reasons).most_common())
        summary.seconds = round(time.perf_counter() - started, 3)
        write_atomically(folder / "summary.json", json.dumps(asdict(summary), indent=2, default=str) + "\n")
    return summary


def all_but(dropped: Dropped) -> Work:
    """Return the work of a stage that has decided beforehand which rows to drop.

    The work counts the rows that it is called with, so it must get them in order, in one thread.
    """
    numbers = count()

    def work(row: Row) -> list[Row]:
        if why := dropped.get(next(numbers)):
            raise RowError(*why)
        return [row]

    return work


def _outcome(work: Work, row: Row) -> tuple[str, str, int, dict[str, Any]]:
    """Apply `work` to a row.

    An unexpected error in one row does not end the run. CurationError does, because then the settings are wrong and
    not the row.

    Returns:
        - The name of the file that the row goes to: "rows", "dropped" or "unsettled".
        - The text to write. It is made here, in the worker, to relieve the process that writes.
        - The number of rows kept.
        - An account of a row that is not kept (reason, detail, and its place in the source); else empty.
    """
    try:
        kept = work(row)
        return "rows", "".join(map(line_of, kept)), len(kept), {}
    except CurationError:
        raise
    except (RowError, NotSettled, SandboxError) as error:
        failure, reason, detail = error, getattr(error, "reason", "judge"), str(error)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        failure, reason = error, "internal_error"
        detail = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    place = row.get("source", row)
    account = {
        "reason": reason,
        "detail": detail,
        "file": place.get("file"),
        "row": place.get("row"),
        "id": row.get("id"),
    }
    if isinstance(failure, RowError):
        return "dropped", line_of({**account, "data": failure.row or row.get("given", row)}), 0, account
    return "unsettled", line_of(account), 0, account


# --------------------------------------------------------------------------------------------- the results of a stage


_KINDS = {"id": str, "source": dict, "task": dict | None}  # what every stage reads in a row -> its type


class StageRows:
    """The rows that stages wrote to `files`. Each iteration reads the files anew.

    Attributes:
        files: paths of rows.jsonl files.
        total: number of rows; None if unknown.

    Raises:
        CurationError: on iteration, if a line is not a row.
    """

    def __init__(self, files: Sequence[Path], total: int | None = None) -> None:
        self.files, self.total = files, total

    def __iter__(self) -> Iterator[Row]:
        for path in self.files:
            with path.open("rb") as stream:
                for number, line in enumerate(stream, start=1):
                    row = None
                    with suppress(ValueError, RecursionError):
                        row = json.loads(line.decode())
                    typed = row if isinstance(row, dict) else {}
                    if wrong := [key for key, kind in _KINDS.items() if not isinstance(typed.get(key), kind)]:
                        what = f"no row of a stage: `{wrong[0]}` is {shown(typed.get(wrong[0]))}"
                        fix = "give a file that `cuset curate import` or a later stage wrote"
                        raise CurationError(f"{path}, line {number}: {what}; {fix}.")
                    yield row


def input_rows(settings: StageSettings, before: str) -> StageRows:
    """Return the rows that a stage reads: those of its `input` setting, or else those of the stage `before` it.

    Raises:
        CurationError: the stage `before` has not run to its end.
    """
    if settings.input:
        return StageRows(settings.input)
    folders = sorted(settings.folder.glob("import/*" if before == "import" else before))
    ended = {path: summary for path in folders if (summary := stored(path / "summary.json"))}
    if not ended or len(ended) < len(folders):
        what = f"the stage `{before}` has not run there to its end; run `cuset curate {before}` first"
        raise CurationError(f"{settings.folder}: {what}.")
    return StageRows([path / "rows.jsonl" for path in ended], sum(summary["kept"] for summary in ended.values()))


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Lock a folder for this process, and yield the lock's file descriptor. A folder that is missing is made.

    A child process that inherits the descriptor holds the lock as well. The lock is on the folder itself, so it leaves
    no file behind. On a file system without locks this does nothing.

    Raises:
        CurationError: another process holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CurationError(f"{folder}: another process is working in it; wait for it, or stop it.") from None
        yield descriptor
    finally:
        os.close(descriptor)
