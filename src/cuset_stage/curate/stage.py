"""One stage of the pipeline over any number of rows: streamed, journalled, resumable, counted.

A stage is a function from a row to what becomes of it: `Kept` goes on, `Dropped` ends with a reason, `Unsettled` means that we
failed and not the row (the endpoint timed out, the GPU was lost): it is reported and tried again by the next run. In the
stage's folder lie

    rows.jsonl       what goes on              summary.json     counts, times, hashes
    dropped.jsonl    what does not, and why    settings.json    what the results depend on
    unsettled.jsonl  what is to be tried again, rewritten by each run
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
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .. import __version__
from ..files import file_sha256, write_atomically
from .folders import hashes, inputs_before, is_part, read_state
from .journal import Journal
from .parallel import unordered_map
from .settings import Executor
from .stage_rows import CurationError, Item, Problem, Row, StageRows, dumps, with_provenance


REPORTED = 20  # unsettled rows that a summary names


@dataclass(frozen=True)
class Kept:
    """The row as it goes on; `details` enter its provenance."""

    row: Row
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Dropped:
    """Why the row ends here: a reason that is counted, and a detail for people. `row` when more is known of it by now."""

    reason: str
    detail: str
    row: Row | None = None


@dataclass(frozen=True)
class Unsettled:
    """Why nothing can be said about the row yet."""

    reason: str
    detail: str


Outcome = Kept | Dropped | Unsettled


@dataclass(frozen=True)
class Summary:
    """What a stage did; `summary.json`. `kept`, `dropped` and `reasons` count every run so far, `resumed` the rows found done.

    elsewhere: results of rows that this run was not given, as with `input`. inputs: SHA-256 of what was read, by file.
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
    repaired_bytes: int
    seconds: float
    peak_memory_mib: float
    rows_sha256: str
    settings: dict[str, Any]
    elsewhere: int = 0
    inputs: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def run_stage(
    folder: Path,
    stage: str,
    items: Iterable[Item],
    work: Callable[[Row], Outcome],
    *,
    settings: Mapping[str, Any],
    name: str = "",
    executor: Executor = Executor.INLINE,
    workers: int | None = None,
    per_gpu: int | None = None,
    sync_s: float = 1.0,
    fresh: bool = False,
    notes: Sequence[str] = (),
) -> Summary:
    """Take every item that has no result yet through `work` and write what becomes of it.

    Args:
        folder: the stage's own folder.
        items: of a part of the stage before (`read_stage_rows` of other files than its) results of other rows are kept; otherwise
            a result whose row is gone is dropped, too.
        settings: what the results depend on; a folder made with other settings is refused.
        name: of the source, for stages that have several folders.
        executor, workers, per_gpu: as in `unordered_map`.
        sync_s: as in `Journal`.
        fresh: delete earlier results of the stage.
        notes: for the summary.

    Raises:
        CurationError: other settings, an edited journal, a second process in the same folder.
    """
    started = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder, sync_s=sync_s, fresh=fresh) as journal:
        _check_settings(folder, stage, settings)
        files = items.files if isinstance(items, StageRows) else ()
        part = is_part(folder.parent, stage, files) if files else False
        inputs = hashes(folder.parent, files)  # before they are read: rows that are appended later show as a change
        seen: set[bytes] = set()
        count: Counter[str] = Counter()
        bar = tqdm(desc=name or stage, unit="row", disable=None, dynamic_ncols=True)

        def todo() -> Iterator[Item]:
            """The items without a result, read as they are asked for. A row given twice counts once."""
            for item in items:
                count["read"] += 1
                key = bytes.fromhex(item.key)
                if key in seen or key in journal.done:
                    count["repeated" if key in seen else "resumed"] += 1
                    bar.update()
                    seen.add(key)
                else:
                    seen.add(key)
                    yield item

        unsettled: list[dict[str, Any]] = []
        with (folder / "unsettled.jsonl").open("w", encoding="utf-8") as retry:
            guarded = _Guarded(work)
            for item, outcome in unordered_map(
                guarded, todo(), executor=executor, workers=workers, per_gpu=per_gpu, lost=_worker_lost
            ):
                if isinstance(outcome, Kept):
                    journal.keep(item.key, with_provenance(outcome.row, stage, **outcome.details))
                elif isinstance(outcome, Dropped):
                    saved = item.saved() if outcome.row is None else outcome.row
                    journal.drop(item.key, outcome.reason, {"detail": outcome.detail, **_place(item), "data": saved})
                else:
                    count["unsettled"] += 1
                    record = {"reason": outcome.reason, "detail": outcome.detail, **_place(item)}
                    retry.write(dumps(record) + "\n")
                    retry.flush()
                    unsettled += [record] if len(unsettled) < REPORTED else []
                bar.update()
        bar.close()
        others = journal.done - seen
        if part and others:
            inputs = {**inputs_before(folder / "summary.json"), **inputs}
        elif others:  # rows that the input no longer has
            journal.forget(others)
        summary = Summary(
            stage=stage,
            name=name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            cuset_stage=__version__,
            read=count["read"],
            kept=journal.kept,
            dropped=sum(journal.reasons.values()),
            reasons=dict(journal.reasons.most_common()),
            unsettled=count["unsettled"],
            unsettled_rows=unsettled,
            resumed=count["resumed"],
            repeated=count["repeated"],
            repaired_bytes=journal.repaired,
            seconds=round(time.perf_counter() - started, 3),
            peak_memory_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            rows_sha256=file_sha256(journal.rows),
            settings=dict(settings),
            elsewhere=len(others) if part else 0,
            inputs=inputs,
            notes=tuple(notes),
        )
        write_atomically(folder / "summary.json", json.dumps(asdict(summary), indent=2) + "\n")
    return summary


def _worker_lost(why: str) -> Outcome:
    return Unsettled("worker_lost", why)


def _place(item: Item) -> dict[str, Any]:
    """File and number of a row for people: those of the source, which a row that went through `import` brings with it."""
    row = item.row or {}
    source = row.get("source")
    found = (source.get("file"), source.get("row")) if isinstance(source, dict) else (item.file, item.number)
    return {"file": found[0], "row": found[1], "id": row.get("id")}


@dataclass(frozen=True)
class _Guarded:
    """`work` on an item; a defect of ours in one row is reported with that row and does not end the run."""

    work: Callable[[Row], Outcome]

    def __call__(self, item: Item) -> Outcome:
        if item.row is None:
            problem = item.problem or Problem("empty", "there is nothing in the row")
            return Dropped(problem.reason, problem.detail)
        try:
            return self.work(item.row)
        except CurationError:
            raise  # the settings are wrong, not the row
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            detail = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            return Unsettled("internal_error", detail)


def _check_settings(folder: Path, stage: str, settings: Mapping[str, Any]) -> None:
    path = folder / "settings.json"
    text = json.dumps(settings, indent=2, sort_keys=True, default=str) + "\n"
    if not path.exists():
        write_atomically(path, text)
        return
    old, new = read_state(path), json.loads(text)
    changes = [
        f"{key}: {old.get(key)!r}, now {new.get(key)!r}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    if changes:
        raise CurationError(
            f"{folder}: its results were made with other settings ({'; '.join(changes)}). Give the same settings to resume, say "
            f"fresh=true to do the stage ({stage}) again, or give another folder."
        )
