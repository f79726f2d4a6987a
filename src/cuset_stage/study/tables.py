"""The rows of a study, every judged sample in one file, and its tables: pass rates in the layout of the paper's Tables 2 to 5, comparisons, and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..files import write_atomically
from ..jsonl import read_objects, to_line
from ..report.cells import (
    Cell,
    Column,
    Table,
    estimate_cell,
    interval_cell,
    number_column,
    p_cell,
    points,
    text_column,
)
from ..report.collection import CRITERIA
from ..report.notes import counted
from ..report.statistics import Crossed, Estimate, Rule, crossed, holm, task_scores
from ..report.tables import VERDICTS
from ..tasks.messages import prompts_of
from .plan import OUTPUTS, StudyError, runs_of
from .run import record_of
from .settings import StudySettings


COLUMNS = ("task", "family", "sample", "verdict", "compiled", "passed", "tokens")  # of a line of `cuset evaluate`
BOUND = 0.05  # differences below are called equivalent: study plans say so before the runs
PERCENT = "Percent; in brackets the 95 % interval over tasks (of CUDABench over its operations, which count alike) and seeds."
# What each of a method's published numbers is: (criterion, k), then tokens of an answer. They are of so many tasks.
PUBLISHED = (("compiled", 1), ("passed", 1), ("compiled", 3), ("passed", 3), ("tokens", None))
PUBLISHED_TASKS = 500
Run = tuple[str, str]  # model, method


def collect(settings: StudySettings) -> Path:
    """Write results.jsonl of a study: a row a model, method, seed, task and sample, in that order, of the runs that are judged to their end;
    of CUDABench's tasks with `prompts`, whose wording was answered. Returns its path.

    Raises:
        StudyError: a judged sample lacks what a study's rows have, or two runs were judged on different tasks.
    """
    path = settings.output / "results.jsonl"
    write_atomically(path, map(to_line, _judged_rows(settings)))
    return path


def _judged_rows(settings: StudySettings) -> Iterator[dict[str, Any]]:
    first = None
    for run in runs_of(settings):
        if record_of(settings.output, f"evaluate/{run.name}") is None:
            continue
        file = settings.output / "runs" / run.name / OUTPUTS["evaluate"]
        anew = "To judge the run again, remove this file and the run's record in done/evaluate, and run the study."
        lines = list(read_objects(file))
        header, samples = lines[0][1], [(place, line) for place, line in lines if line.get("type") == "sample"]
        tasks = (header.get("tasks") or {}).get("sha256")
        first = first or tasks
        if tasks != first:
            raise StudyError(
                f"{file}: judged on other tasks than the runs before it: the task set has changed. {anew}"
            )
        prompts = prompts_of(header)
        about = {"model": run.model, "method": run.method, "seed": run.seed}
        wording = {} if prompts is None else {"prompts": prompts}
        for place, line in samples:
            if missing := [key for key in COLUMNS if key not in line]:
                raise StudyError(f"{file}, line {place}: no {', '.join(missing)}: another version wrote it. {anew}")
        for _, line in sorted(samples, key=lambda sample: (sample[1]["task"], sample[1]["sample"])):
            yield {**about, **{key: line[key] for key in COLUMNS}, **wording}


def read_results(path: Path) -> pd.DataFrame:
    """The rows of a results.jsonl. StudyError: it has none."""
    rows = pd.DataFrame([row for _, row in read_objects(path)])
    if rows.empty:
        raise StudyError(f"{path}: no sample is judged, so there is nothing to report.")
    return rows


def score_table(rows: pd.DataFrame, criterion: str, k: int) -> dict[Run, pd.DataFrame]:
    """pass@k [seeds, tasks] of every (model, method); criterion: compiled or passed. The estimator is Chen et al.'s (2107.03374, Eq. 1).

    What the judge failed at (infra_error) is unknown and leaves its task out where fewer than k samples are known. CUDABench asks for each
    of its operations at several sizes, and answers to these resemble each other: there [seeds, operations], and each operation counts alike.
    """
    # `compiled`: with compile_only nothing ran.
    unknown = ["infra_error", "compiled"] if criterion == "passed" else ["infra_error"]
    known = rows.assign(score=rows[criterion].astype(float).where(~rows["verdict"].isin(unknown)))
    scores = {}
    for key, of_method in known.groupby(["model", "method"], sort=False):
        wide = of_method.pivot(index=["seed", "task"], columns="sample", values="score")
        values = task_scores(wide.to_numpy(), k, Rule.UNBIASED) if wide.shape[1] >= k else np.nan
        scores[key] = pd.Series(values, index=wide.index).unstack("task")
        if "prompts" in of_method and of_method["prompts"].notna().all():  # `collect` writes it for CUDABench alone
            operations = of_method.groupby("task")["family"].first()
            scores[key] = scores[key].T.groupby(operations).mean().T
    return scores


def rate_table(settings: StudySettings, rows: pd.DataFrame, of: Sequence[Run], key: str, title: str) -> Table:
    """pass@k with intervals over tasks and seeds and tokens of an answer, a row a model and method; the paper's numbers beside them."""
    columns = [text_column("model", [model for model, _ in of]), text_column("method", [method for _, method in of])]
    groups = rows.groupby(["model", "method"])
    seeds, tokens = groups["seed"].nunique(), groups["tokens"].mean()
    columns.append(number_column("seeds", [float(seeds.get(run, 0)) for run in of]))

    def beside(name: str, criterion: str, k: int | None, group: str = "", digits: int = 1) -> list[Column]:
        numbers = [published_number(settings, run, criterion, k) for run in of]
        return [number_column(f"{name}, paper", numbers, group, digits)] if any(numbers) else []

    for k in (k for k in settings.k if k <= rows["sample"].max() + 1):
        for criterion, name in CRITERIA.items():
            columns.append(Column(name, _rates(score_table(rows, criterion, k), of), f"Pass@{k}"))
            columns += beside(name, criterion, k, f"Pass@{k}")
    columns.append(number_column("tokens of an answer", [tokens.get(run) for run in of]))
    columns += beside("tokens", "tokens", None, digits=0)
    text = PERCENT
    if any(column.name.endswith(", paper") for column in columns):
        counts = {int(count) for run, count in groups["task"].nunique().items() if run in of}
        text += (
            f" The paper's numbers are of CUDABench's {PUBLISHED_TASKS} tasks of Level 1, of models trained on 6,278 pairs of its authors, and of "
            f"one run each. Ours are of {' or '.join(counted(count, 'task') for count in sorted(counts))} of {settings.tasks.name}"
            f"{': do not compare the two' if counts != {PUBLISHED_TASKS} else ''}."
        )
    return Table(key, title, columns, text)


def published_number(settings: StudySettings, run: Run, criterion: str, k: int | None = None) -> float | None:
    """The paper's number of a model and method; None where it has none."""
    model, method = run
    return dict(zip(PUBLISHED, settings.models[model].published.get(method, ()), strict=False)).get((criterion, k))


def _rates(scores: Mapping[Run, pd.DataFrame], of: Sequence[Run]) -> list[Cell]:
    """The rate of each (model, method) of `of`, from a `score_table`; absent where it has no row."""
    means = [crossed(scores[run]) if run in scores else None for run in of]
    return [
        estimate_cell(mean and Estimate(mean.value, *mean.rate_interval(), mean.tasks, left_out=0)) for mean in means
    ]


def verdict_table(rows: pd.DataFrame, model: str, methods: Sequence[str]) -> Table:
    """Shares of the samples' verdicts: how answers fail."""
    rows = rows[rows["model"] == model]
    shares = 100 * pd.crosstab(rows["method"], rows["verdict"], normalize="index")
    columns = [text_column("method", methods)]
    for verdict, named in VERDICTS.items():
        if verdict in shares:
            columns.append(number_column(named, list(shares[verdict].reindex(methods)), digits=1))
    return Table(f"verdicts_{model}", f"{model}: verdicts", columns, "Percent of the samples.")


def comparison_table(rows: pd.DataFrame, model: str, methods: Sequence[str], baseline: str) -> Table | None:
    """Function pass@1 of each method less the baseline's, paired by seed and task; Holm's correction over the methods. None without a pair."""
    scores = score_table(rows[rows["model"] == model], "passed", 1)
    means = {}
    for method in methods:
        if method != baseline and {(model, method), (model, baseline)} <= scores.keys():
            first, second = scores[model, method].align(scores[model, baseline], join="inner")
            if (mean := crossed((first - second).to_numpy())) is not None:
                means[method] = mean
    if not means:
        return None
    spread = {method: mean for method, mean in means.items() if mean.se}  # without any nothing can be tested
    different = dict(zip(spread, holm([mean.p_value for mean in spread.values()]), strict=True))
    alike = dict(zip(spread, holm([mean.equivalence_p(BOUND) for mean in spread.values()]), strict=True))

    columns = [
        text_column("method", means),
        number_column("seeds", [float(mean.seeds) for mean in means.values()]),
        Column("difference", [_difference(mean) for mean in means.values()]),
        Column("p", [p_cell(mean.p_value if mean.se else None) for mean in means.values()]),
        Column("p, Holm", [p_cell(different.get(method)) for method in means]),
        Column(f"p, beyond ±{100 * BOUND:g}, Holm", [p_cell(alike.get(method)) for method in means]),
        number_column("seen with power 0.8", [100 * mean.detectable() or None for mean in means.values()], digits=1),
    ]
    text = (
        f"Function Pass@1 less that of {baseline}, in points, paired by seed and task; the error is over both. A small p says that they differ; "
        f"a small p of the last test that they differ by less than {100 * BOUND:g} points. The last column is the difference that this study "
        "could have seen. With one seed nothing is said of other trainings."
    )
    return Table(f"differences_{model}", f"{model}: against {baseline}", columns, text)


def _difference(mean: Crossed) -> Cell:
    low, high = mean.interval() if mean.se else (None, None)
    return interval_cell({"value": mean.value, "low": low, "high": high}, points, 100)
