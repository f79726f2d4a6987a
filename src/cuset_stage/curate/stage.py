"""One stage of the pipeline over any number of rows, streamed and counted.

A stage is a function of a row that returns the rows that go on. A `RowError` drops the row with a reason; `NotSettled` and `SandboxError`
mean that we failed and not the row (the endpoint timed out, the GPU was lost): it is reported and tried again by the next run. In the
stage's folder lie

    rows.jsonl         what goes on
    dropped.jsonl      what does not, and why
    unsettled.jsonl    what is to be tried again
    summary.json       counts, times and settings, once the stage has ended

A stage is done anew each time. What is dear, replies of models and findings of the judge, is kept by `find_once`, which finds it in
the next run.
"""

from __future__ import annotations

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
from ..files import write_atomically
from ..progress import Progress
from ..sandbox import SandboxError
from .parallel import cpu_count, in_processes, in_threads
from .rows import CurationError, NotSettled, Row, RowError, line_of
from .settings import StageSettings


REPORTED = 20  # unsettled rows that a summary names
Work = Callable[[Row], list[Row]]


@dataclass
class Summary:
    """The account of a run of a stage; `summary.json`.

    Attributes:
        settings: what the results depend on.
        notes: what people should know of the run.
        read: rows that were given.
        kept: rows that go on; one that was read can make several of them.
        dropped, reasons: rows that end here, and how many for which reason.
        examples: reason -> the first row that was dropped for it.
        unsettled, unsettled_rows: rows to be tried again, and the first of them with file, row and reason.
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
        """Count a row: see `_outcome`."""
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
    """Take every row through `work` and write what becomes of it.

    Args:
        folder: the curation's; the stage's own is in it.
        settings: what the results depend on, for the summary.
        name: of the source, for stages that have several folders.
        workers: rows at a time; None: one a CPU. 1: this thread.
        processes: whether `work` is Python's own, and is done by processes and not threads.
        notes: for the summary.

    Raises:
        CurationError: a second process in the same folder.
    """
    started, summary = time.perf_counter(), Summary(stage, name, settings or {}, notes)
    folder = folder / stage / name
    folder.mkdir(parents=True, exist_ok=True)
    take = in_processes if processes else in_threads
    with locked(folder):
        (folder / "summary.json").unlink(missing_ok=True)
        with ExitStack() as opened:
            files = {
                file: opened.enter_context((folder / f"{file}.jsonl").open("w", encoding="utf-8"))
                for file in ("rows", "dropped", "unsettled")
            }
            bar = opened.enter_context(Progress(desc=name or stage, unit="row", total=getattr(rows, "total", None)))
            for file, lines, kept, account in take(partial(_outcome, work), rows, workers or cpu_count()):
                bar.update()
                files[file].write(lines)
                summary.add(file, kept, account)
        summary.reasons = dict(Counter(summary.reasons).most_common())
        summary.seconds = round(time.perf_counter() - started, 3)
        write_atomically(folder / "summary.json", json.dumps(asdict(summary), indent=2, default=str) + "\n")
    return summary


def all_but(dropped: Mapping[int, tuple[str, str]]) -> Work:
    """The work of a stage that has decided about all rows together. dropped: number of a row (from 0) -> reason and detail."""
    numbers = count()

    def work(row: Row) -> list[Row]:
        if why := dropped.get(next(numbers)):
            raise RowError(*why)
        return [row]

    return work


def _outcome(work: Work, row: Row) -> tuple[str, str, int, dict[str, Any]]:
    """Do the work on a row. Returns a file's name and the lines for it, ready to be written: the writing process has little else to do;
    the number of rows that go on; and else why the row does not, with the place in its source, for people.

    A defect of ours in one row does not end the run. CurationError does: the settings are wrong, not the row.
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


# ------------------------------------------------------------------------------------------- what a stage left behind


class StageRows:
    """The rows that stages left in `files`, read anew each time they are asked for. total: how many they are, where that is known."""

    def __init__(self, files: Sequence[Path], total: int | None = None) -> None:
        self.files, self.total = files, total

    def __iter__(self) -> Iterator[Row]:
        for path in self.files:
            with path.open(encoding="utf-8") as stream:
                for number, line in enumerate(stream, start=1):
                    row = None
                    with suppress(ValueError):
                        row = json.loads(line)
                    if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("source"), dict):
                        fix = "give a file that `cuset curate import` or a later stage wrote"
                        raise CurationError(f"{path}, line {number}: no row with `id` and `source`; {fix}.")
                    yield row


def input_rows(settings: StageSettings, before: str) -> StageRows:
    """The rows that a stage reads: those of its `input`, else those that the stage before it left.

    Raises:
        CurationError: the stage before has not run to its end.
    """
    if settings.input:
        return StageRows(settings.input)
    folders = sorted(settings.folder.glob("import/*" if before == "import" else before))
    ended = [path / "summary.json" for path in folders if (path / "summary.json").is_file()]
    if not ended or len(ended) < len(folders):
        what = f"the stage `{before}` has not run there to its end; run `cuset curate {before}` first"
        raise CurationError(f"{settings.folder}: {what}.")
    kept = sum(json.loads(path.read_text(encoding="utf-8"))["kept"] for path in ended)
    return StageRows([path.with_name("rows.jsonl") for path in ended], kept)


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """The folder to ourselves, and to a process that is given the descriptor. The lock is on the folder and leaves no file behind.

    Raises:
        CurationError: another process has it.
    """
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CurationError(f"{folder}: another process is working in it; wait for it, or stop it.") from None
        yield place
    finally:
        os.close(place)
