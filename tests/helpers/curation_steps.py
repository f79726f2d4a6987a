"""Functions that run one curation stage each, with the stage's settings as keyword arguments.

`take_in`, `split`, `deduplicate`, `write`, `answer`, `select` and `export` call the package directly. `run` runs
`cuset curate`.
"""

import json
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from pathlib import Path

from commands import cuset
from host_programs import HOST_FLAGS
from task_factory import write_lines

from cuset_stage.curate.settings import STAGE_SETTINGS
from cuset_stage.curate.stage import Summary


def _run(stage: str, work: Path, /, *files: Path, **keys) -> Summary:
    module = import_module(f"cuset_stage.curate.{'importing' if stage == 'import' else stage}")
    source = {"path": files[0]} if stage == "import" else {"input": files}
    return getattr(module, f"run_{stage}")(STAGE_SETTINGS[stage](folder=work, **source, **keys))


run = partial(cuset, "curate")
take_in, split, deduplicate, write, answer, select, export = (
    partial(_run, name) for name in ("import", "split", "deduplicate", "write", "answer", "select", "export")
)


def adapt(work: Path, **keys) -> Summary:
    """Adapt what was imported, after running the stages in between."""
    split(work)
    deduplicate(work)
    write(work)
    return _run("adapt", work, **keys)


def prove(work: Path, *files: Path, **keys) -> Summary:
    """Prove what is in these files, with HOST_FLAGS. Without files, first answer what was adapted, and prove that."""
    if not files:
        answer(work)
    return _run("prove", work, *files, flags=" ".join(HOST_FLAGS), **keys)


def lines(path: Path) -> list[dict]:
    """Return the rows of a JSONL file, or an empty list if there is no such file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def put(path: Path, rows: Iterable[dict]) -> Path:
    """Write rows to a JSONL file, in a folder that need not be there, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_lines(path, *rows)
