"""The first line of a results file: what was judged, with what, on what."""

import datetime
import hashlib
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..tasks import TaskSet
from ..tasks.answers_file import Answer


GENERATION_KEYS = ("model", "adapter", "temperature", "top_p", "seed", "max_tokens")


def describe_run(
    *,
    answers_path: Path,
    answers: Sequence[Answer],
    chosen: int,
    tasks: TaskSet,
    spec: Mapping[str, Any],
    method: str | None = None,
    level: int | None = None,
    split: str | None = None,
    extract: str | None = None,
    findings: Mapping[str, Sequence[str]] | None = None,
    notes: Mapping[str, Mapping[str, str]] | None = None,
    audited: int = 0,
) -> dict[str, Any]:
    """The header of a run.

    Args:
        chosen: How many of the answers a finished run judges.
        spec: How it is judged: gpus, toolkit, arch, flags, isolation, limits, compile_only.
        extract: The rule that found the code in answers; None when unknown.
        findings: task id -> what the audit of the task set found.
        notes: code of a note -> task id -> what the audit notes that puts no verdict in doubt, such as unseeded inputs.
        audited: How many of the tasks were audited: no finding says something of these alone.
    """
    asked = [task.id for task in tasks if split is None or task.split == split]
    levels = Counter(str(one.level or 1) for one in answers if split is None or tasks.by_id(one.task).split == split)
    return {
        "run": answers_path.stem if answers_path.is_file() else answers_path.name,
        "method": method,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cuset_stage": __version__,
        "python": platform.python_version(),
        "tasks": {
            "path": str(tasks.path),
            "format": tasks.format,
            "sha256": tasks.sha256,
            "count": len(asked),
            "ids": asked,  # a report tells lines of this split from those that an earlier part left in the file
            "level": level,
            "split": split,
        },
        "answers": {
            "path": str(answers_path),
            "sha256": content_sha256(answers_path),
            "count": len(answers),
            "chosen": chosen,
            "levels": dict(levels),  # how many answers to these tasks each level has, chosen or not
        },
        "extract": None if extract is None else str(extract),
        **spec,
        "generation": {name: _common(vars(answer)[name] for answer in answers) for name in GENERATION_KEYS},
        "findings": {task: list(found) for task, found in (findings or {}).items()},
        "notes": {code: dict(found) for code, found in (notes or {}).items()},
        "audited": audited,
    }


def content_sha256(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        if file is not path:
            digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _common(values: Iterable[Any]) -> Any:
    """The value that all have, or the list of those there are."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else distinct
