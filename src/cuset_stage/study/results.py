"""Every judged sample of a study in one file, and what is read of it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..files import write_atomically
from ..jsonl import read_objects, to_line
from ..report.statistics import Rule, task_scores
from ..tasks.messages import prompts_of
from .plan import OUTPUTS, StudyError
from .run import record_of


COLUMNS = ("model", "method", "seed", "task", "family", "sample", "verdict", "compiled", "passed", "tokens")


def collect(folder: Path) -> Path:
    """Write results.jsonl of a study: a row a model, method, seed, task and sample, in that order, of the runs that are judged to their end;
    of CUDABench's tasks with `prompts`, whose wording was answered. Returns its path."""
    path = folder / "results.jsonl"
    write_atomically(path, (to_line(row) for row in _rows(folder)))
    return path


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    runs = {tuple(job["run"].values()): job["run"] for job in study["jobs"].values()}
    for run in runs.values():
        name = "{model}/{method}/seed{seed}".format(**run)
        if record_of(folder, f"evaluate/{name}") is not None:
            file = folder / "runs" / name / OUTPUTS["evaluate"]
            prompts = prompts_of(next(read_objects(file))[1])
            said = {} if prompts is None else {"prompts": prompts}
            yield from ({**run, **sample, **said} for sample in samples_of(file))


def samples_of(file: Path, keys: Sequence[str] = COLUMNS[3:]) -> list[dict[str, Any]]:
    """The judged samples of a run in order of task and sample. keys: what of them; without it what a study's rows have.

    Raises:
        StudyError: a sample lacks what a study's rows have.
    """
    lines = []
    for number, line in read_objects(file):
        if line.get("type") != "sample":
            continue
        if missing := [key for key in COLUMNS[3:] if key not in line]:
            raise StudyError(
                f"{file}, line {number}: no {', '.join(missing)}; expected what `cuset evaluate` writes. To judge the run again, remove this file "
                "and the run's record in done/evaluate, and run the study."
            )
        lines.append(line)
    return [
        {key: line.get(key) for key in keys} for line in sorted(lines, key=lambda one: (one["task"], one["sample"]))
    ]


def read_results(path: Path) -> pd.DataFrame:
    """The rows of a results.jsonl.

    Raises:
        StudyError: it has no rows, or none with some column.
    """
    rows = pd.DataFrame([row for _, row in read_objects(path)])
    if rows.empty:
        raise StudyError(f"{path}: no sample is judged, so there is nothing to report.")
    if missing := [key for key in COLUMNS if key not in rows]:
        raise StudyError(f"{path}: no row has {', '.join(missing)}; expected what `cuset study run` writes.")
    return rows


def score_table(rows: pd.DataFrame, criterion: str, k: int) -> Mapping[tuple[str, str], pd.DataFrame]:
    """pass@k [seeds, tasks] of every (model, method); criterion: compiled or passed. The estimator is Chen et al.'s (2107.03374, Eq. 1).

    What the judge failed at (infra_error) is unknown and leaves its task out where fewer than k samples are known.
    """
    # `compiled`: with compile_only nothing ran.
    unknown = ["infra_error", "compiled"] if criterion == "passed" else ["infra_error"]
    known = rows.assign(score=rows[criterion].astype(float).where(~rows["verdict"].isin(unknown)))
    return {key: _scores(of_method, k) for key, of_method in known.groupby(["model", "method"], sort=False)}


def _scores(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    wide = rows.pivot(index=["seed", "task"], columns="sample", values="score")
    values: NDArray[np.float64] = (
        task_scores(wide.to_numpy(), k, Rule.UNBIASED) if wide.shape[1] >= k else np.full(len(wide), np.nan)
    )
    return pd.Series(values, index=wide.index).unstack("task")
