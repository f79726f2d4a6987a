"""The first line of a results file: what was judged, with what, on what."""

import datetime
import hashlib
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..files import file_sha256
from ..tasks import TaskSet
from ..tasks.answers_file import Answer


GENERATION_KEYS = ("model", "adapter", "temperature", "top_p", "seed", "max_tokens")
NOT_AUDITED: Mapping[str, Any] = {"findings": {}, "notes": {}, "audited": 0}


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
    audit: Mapping[str, Any] = NOT_AUDITED,
) -> dict[str, Any]:
    """The header of a run.

    chosen: how many of the answers a finished run judges. spec: how it is judged (`Bench.describe`). extract: the rule that found the
    code in answers. audit: findings, notes and audited, as `NOT_AUDITED` has them: task -> what `cuset audit-tasks` found, code of a
    note -> task -> what it notes, and of how many tasks these speak.
    """
    asked = [task.id for task in tasks if split is None or task.split == split]
    levels = Counter(str(one.level or 1) for one in answers if split is None or tasks.by_id(one.task).split == split)
    generation = {name: list(dict.fromkeys(vars(answer)[name] for answer in answers)) for name in GENERATION_KEYS}
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
        "extract": extract,
        **spec,
        "generation": {name: found[0] if len(found) == 1 else found for name, found in generation.items()},
        **audit,
    }


def content_sha256(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        if file is not path:
            digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        digest.update(bytes.fromhex(file_sha256(file)))
    return digest.hexdigest()
