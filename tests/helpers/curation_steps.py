"""The stages of a curation with their settings as keywords, and its commands."""

import json
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from pathlib import Path

from commands import cuset

from cuset_stage.curate.settings import STAGE_SETTINGS
from cuset_stage.curate.stage import Summary


def _run(stage: str, work: Path, /, *files: Path, **keys) -> Summary:
    module = import_module(f"cuset_stage.curate.{'importing' if stage == 'import' else stage}")
    given = {"path": files[0]} if stage == "import" else {"input": files}
    return getattr(module, f"run_{stage}")(STAGE_SETTINGS[stage](folder=work, **given, **keys))


run = partial(cuset, "curate")
take_in, split, deduplicate, write, answer, select, export = (
    partial(_run, name) for name in ("import", "split", "deduplicate", "write", "answer", "select", "export")
)


def adapt(work: Path, **keys) -> Summary:
    """What was imported, through the stages between."""
    split(work)
    deduplicate(work)
    write(work)
    return _run("adapt", work, **keys)


def prove(work: Path, *files: Path, **keys) -> Summary:
    """What was adapted, or what is in the files."""
    if not files:
        answer(work)
    return _run("prove", work, *files, **keys)


def lines(path: Path) -> list[dict]:
    """The rows of a JSONL file; none where there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def put(path: Path, rows: Iterable[dict]) -> Path:
    """Write rows to a JSONL file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
