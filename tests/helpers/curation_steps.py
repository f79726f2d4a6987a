"""The stages of a curation with their settings as keywords."""

import json
from pathlib import Path

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.answer import run_answer
from cuset_stage.curate.deduplicate import run_deduplicate
from cuset_stage.curate.export import run_export
from cuset_stage.curate.importing import run_import
from cuset_stage.curate.prove import run_prove
from cuset_stage.curate.select import run_select
from cuset_stage.curate.settings import (
    AdaptSettings,
    AnswerSettings,
    DeduplicateSettings,
    ExportSettings,
    ImportSettings,
    ProveSettings,
    SelectSettings,
    SplitSettings,
    WriteSettings,
)
from cuset_stage.curate.split import run_split
from cuset_stage.curate.stage import Summary
from cuset_stage.curate.write import run_write


def take_in(work: Path, path: Path, **keys) -> Summary:
    return run_import(ImportSettings(folder=work, path=path, **keys))


def split(work: Path, *files: Path, **keys) -> Summary:
    return run_split(SplitSettings(folder=work, input=files, **keys))


def deduplicate(work: Path, *files: Path, **keys) -> Summary:
    return run_deduplicate(DeduplicateSettings(folder=work, input=files, **keys))


def write(work: Path, *files: Path, **keys) -> Summary:
    return run_write(WriteSettings(folder=work, input=files, **keys))


def adapt(work: Path, **keys) -> Summary:
    """What was imported, through the stages between."""
    split(work)
    deduplicate(work)
    write(work)
    return run_adapt(AdaptSettings(folder=work, **keys))


def answer(work: Path, **keys) -> Summary:
    return run_answer(AnswerSettings(folder=work, **keys))


def prove(work: Path, *files: Path, **keys) -> Summary:
    """What was adapted, or what is in the files."""
    if not files:
        answer(work)
    return run_prove(ProveSettings(folder=work, input=files, **keys))


def select(work: Path, *files: Path, **keys) -> Summary:
    return run_select(SelectSettings(folder=work, input=files, **keys))


def export(work: Path, *files: Path, **keys) -> Summary:
    return run_export(ExportSettings(folder=work, input=files, **keys))


def lines(path: Path) -> list[dict]:
    """The rows of a JSONL file; none where there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def put(path: Path, rows: list[dict]) -> Path:
    """Write rows to a JSONL file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
