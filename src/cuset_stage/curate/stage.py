"""One stage of the pipeline over any number of rows: streamed, counted, and where its results are dear resumed after kill -9.

A stage is a function of a row: what it returns, `Kept`, goes on; a `RowError` drops the row with a reason; `NotSettled` and `SandboxError`
mean that we failed and not the row (the endpoint timed out, the GPU was lost): it is reported and tried again by the next run. In the
stage's folder lie

    rows.jsonl       what goes on              summary.json     counts, times, hashes
    dropped.jsonl    what does not, and why    settings.json    what the results depend on
    unsettled.jsonl  what is to be tried again, rewritten by each run

A result is an appended line, or several, that begin with the key of what was read. A stage that costs little is done anew each time; for
`prove`, which is dear, rows.jsonl and dropped.jsonl are the journal that a run resumes from.
"""

from __future__ import annotations

import json
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..files import write_atomically
from ..jsonl import Appender, to_line
from ..progress import Progress
from ..sandbox import SandboxError
from .folders import JOURNAL, empty, forget, hashes, locked, read_journal, read_state
from .parallel import cpu_count, in_processes, in_threads
from .stage_rows import CurationError, Item, NotSettled, Row, RowError, StageRows, as_json, with_provenance


REPORTED = 20  # unsettled rows that a summary names


@dataclass(frozen=True)
class Kept:
    """The row as it goes on, or several that were made of it; `details` enter their provenance."""

    row: Row
    details: Mapping[str, Any] = field(default_factory=dict)
    more: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The account of a run of a stage; `summary.json`.

    Attributes:
        read: rows that this run was given.
        kept: rows that go on, of this run and those it resumed; a row that was read can make several of them.
        dropped, reasons: rows that end here, of this run and those it resumed, and how many for which reason.
        unsettled, unsettled_rows: rows to be tried again, and the first of them with file, row and reason.
        resumed: rows of which an earlier run has the result.
        repeated: rows that were given twice and count once.
        inputs: SHA-256 of the files that were read, unless they were a part.
        notes: what people should know of the run.
    """

    stage: str
    name: str
    created: str
    cuset_stage: str
    read: int
    kept: int
    dropped: int
    reasons: dict[str, int]
    unsettled: int
    unsettled_rows: list[dict[str, Any]]
    resumed: int
    repeated: int
    seconds: float
    peak_memory_mib: float
    inputs: dict[str, str]
    notes: tuple[str, ...] = ()


def run_stage(
    folder: Path,
    stage: str,
    items: Iterable[Item],
    work: Callable[[Row], Kept],
    *,
    settings: Mapping[str, Any],
    name: str = "",
    workers: int | None = 1,
    processes: bool = False,
    dear: bool = False,
    fresh: bool = False,
    notes: Sequence[str] = (),
) -> Summary:
    """Take every item through `work` and write what becomes of it.

    Args:
        folder: the stage's own folder.
        settings: what the results depend on.
        name: of the source, for stages that have several folders.
        workers: rows at a time; None: one a CPU. 1: this thread.
        processes: whether `work` is Python's own, and is done by processes and not threads.
        dear: results are flushed to the disk one by one, and kept for the next run: what has one is not done again, and a folder made
            with other settings is refused. Results of rows that `items` have no longer are removed, unless they are a part
            (`StageRows.part`). Else the stage is done anew.
        fresh: delete earlier results of a dear stage.
        notes: for the summary.

    Raises:
        CurationError: other settings, an edited journal, a second process in the same folder.
    """
    started = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        if dear and not fresh:
            _check_settings(folder, stage, settings)
        else:
            empty(folder)
        write_atomically(folder / "settings.json", _as_text(settings))
        whole = isinstance(items, StageRows) and not items.part
        # Before they are read: what is appended shows as a change.
        inputs = hashes(folder.parent, items.files if whole else ())
        count: Counter[str] = Counter()
        seen: set[int] = set()
        unsettled: list[dict[str, Any]] = []
        with (
            Appender(folder / JOURNAL[0]) as kept,
            Appender(folder / JOURNAL[1]) as dropped,
            (folder / "unsettled.jsonl").open("w", encoding="utf-8") as retry,
            Progress(desc=name or stage, unit="row", total=getattr(items, "total", None)) as bar,
        ):
            journal = read_journal(folder)

            def todo() -> Iterator[Item]:
                """The items without a result, read as they are asked for. A row given twice counts once."""
                for item in items:
                    count["read"] += 1
                    key = int(item.key, 16)  # half the memory of a text
                    is_repeated = key in seen
                    seen.add(key)
                    if is_repeated or key in journal.keys:
                        count["repeated" if is_repeated else "resumed"] += 1
                        bar.update()
                    else:
                        yield item

            make_result = partial(_result, work, stage)
            if workers == 1:
                results = ((item, make_result(item)) for item in todo())
            else:
                results = (in_processes if processes else in_threads)(make_result, todo(), workers or cpu_count())
            for item, result in results:
                bar.update()
                if isinstance(result, NotSettled):  # its process was lost
                    result = _Result(again=_account(item, result.reason, str(result)))
                if result.again:
                    count["unsettled"] += 1
                    retry.write(json.dumps(result.again) + "\n")
                    retry.flush()
                    unsettled += [result.again] if len(unsettled) < REPORTED else []
                    continue
                (dropped if result.reason else kept).append_lines(result.lines, sync=dear)
                journal.kept += result.rows
                if result.reason:
                    journal.reasons[result.reason] += 1
        if count["resumed"] < len(journal.keys) and not getattr(items, "part", False):
            forget(folder, seen)
            journal = read_journal(folder)
        summary = Summary(
            stage=stage,
            name=name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            cuset_stage=__version__,
            **{key: count[key] for key in ("read", "unsettled", "resumed", "repeated")},
            kept=journal.kept,
            dropped=journal.reasons.total(),
            reasons=dict(journal.reasons.most_common()),
            unsettled_rows=unsettled,
            seconds=round(time.perf_counter() - started, 3),
            peak_memory_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            inputs=inputs,
            notes=tuple(notes),
        )
        write_atomically(folder / "summary.json", json.dumps(asdict(summary), indent=2) + "\n")
    return summary


def _as_text(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, indent=2, sort_keys=True, default=str) + "\n"


def _check_settings(folder: Path, stage: str, settings: Mapping[str, Any]) -> None:
    """Raise CurationError where earlier results in the folder were made with other settings."""
    path, new = folder / "settings.json", json.loads(_as_text(settings))
    old = read_state(path) if path.exists() else new
    changes = [
        f"{key}: {old.get(key)!r}, now {new.get(key)!r}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    if changes:
        raise CurationError(
            f"{folder}: its results were made with other settings ({'; '.join(changes)}). Give the same settings to resume, say fresh=true to do "
            f"the stage ({stage}) again, or give another folder."
        )


class _Result(NamedTuple):
    """The text that is written of an item: `lines` of the journal, `rows` of them for the next stage; or `again`, why it is to be tried again."""

    lines: str = ""
    rows: int = 0
    reason: str = ""
    again: dict[str, Any] | None = None


def _result(work: Callable[[Row], Kept], stage: str, item: Item) -> _Result:
    """Do the work on an item. Returns what becomes of it, ready to be written: the writing process has little else to do.

    What `work` raises about the row is what becomes of the row, and a defect of ours in one row does not end the run. CurationError
    does: the settings are wrong, not the row.
    """
    try:
        if item.row is None:
            raise RowError(item.reason, item.detail)
        kept = work(item.row)
        rows = [with_provenance(row, stage, **kept.details) for row in (kept.row, *kept.more)]
        rows = [{"key": item.key, **{name: value for name, value in row.items() if name != "key"}} for row in rows]
        return _Result("".join(as_json(to_line, row) for row in rows), len(rows))
    except CurationError:
        raise
    except RowError as error:
        saved = item.saved() if error.row is None else error.row
        line = {"key": item.key, **_account(item, error.reason, str(error)), "data": saved}
        return _Result(as_json(to_line, line), reason=error.reason)
    except NotSettled as error:
        return _Result(again=_account(item, error.reason, str(error)))
    except SandboxError as error:
        return _Result(again=_account(item, "judge", str(error)))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return _Result(again=_account(item, "internal_error", detail))


def _account(item: Item, reason: str, detail: str) -> dict[str, Any]:
    """The reason why an item does not go on, for people. File and number are those of the source, which a row brings with it from `import` on."""
    row = item.row or {}
    source = row.get("source")
    file, number = (source.get("file"), source.get("row")) if isinstance(source, dict) else (item.file, item.number)
    return {"reason": reason, "detail": detail, "file": file, "row": number, "id": row.get("id")}
