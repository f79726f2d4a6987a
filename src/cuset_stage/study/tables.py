"""The rows of a study, every judged sample in one file, and its tables: pass rates in the layout of the paper's Tables 2 to 5, comparisons, and costs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..files import write_atomically
from ..jsonl import to_line
from ..judge.results import read_results
from ..report.cells import Column, Table, estimate_cell, interval_cell, number_column, p_cell, points, text_column
from ..report.collection import CRITERIA
from ..report.statistics import Estimate, Rule, crossed, holm, task_scores
from ..report.tables import VERDICTS
from ..tasks.messages import prompts_of
from .plan import OUTPUTS, StudyError, runs_of
from .run import gpu_hours, record_of
from .settings import StudySettings


COLUMNS = ("task", "family", "sample", "verdict", "compiled", "passed", "tokens")  # of a line of `cuset evaluate`
BOUND = 0.05  # differences below are called equivalent: study plans say so before the runs
PERCENT = "Percent; in brackets the 95 % interval over tasks (of CUDABench over its operations, which count alike) and seeds."
Run = tuple[str, str]  # model, method


def collect(settings: StudySettings) -> pd.DataFrame:
    """Write results.jsonl of a study: a row a model, method, seed, task and sample, in that order, of the runs that are judged to their end;
    of CUDABench's tasks with `prompts`, whose wording was answered. Returns the rows.

    Raises:
        ResultsError: a judged sample lacks what `cuset evaluate` writes.
        StudyError: two runs were judged on different tasks, or no sample is judged.
    """
    path, rows = settings.output / "results.jsonl", list(_judged_rows(settings))
    write_atomically(path, map(to_line, rows))
    if not rows:
        raise StudyError(f"{path}: no sample is judged, so there is nothing to report.")
    return pd.DataFrame(rows)


def _judged_rows(settings: StudySettings) -> Iterator[dict[str, Any]]:
    first = None
    for run in runs_of(settings):
        if record_of(settings.output, f"evaluate/{run.name}") is None:
            continue
        file = settings.output / "runs" / run.name / OUTPUTS["evaluate"]
        judged = read_results(file)
        tasks = (judged.run.get("tasks") or {}).get("sha256")
        first = first or tasks
        if tasks != first:
            raise StudyError(
                f"{file}: judged on other tasks than the runs before it: the task set has changed. To judge the run again, remove this file "
                "and the run's record in done/evaluate, and run the study."
            )
        prompts = prompts_of(judged.run)
        about = {"model": run.model, "method": run.method, "seed": run.seed}
        wording = {} if prompts is None else {"prompts": prompts}
        for line in judged.samples:
            yield {**about, **{key: line.get(key) for key in COLUMNS}, **wording}


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


def tables_of(settings: StudySettings, rows: pd.DataFrame) -> Iterator[Table]:
    """The paper's Tables 2, 3 and 4 as one, then by model Table 5, the numbers of Fig. 4, comparisons and costs."""
    ablations = list(settings.ablations.runs) if settings.ablations else []
    main = [*settings.methods, *ablations]  # comparisons are of these, and not of values of a sweep
    swept = dict.fromkeys(run.method for run in runs_of(settings) if run.method not in main)
    baseline = "sft" if "sft" in settings.methods else next(iter(settings.methods))
    judged = set(zip(rows["model"], rows["method"], strict=True))

    def of(model: str, *methods: str) -> list[Run]:
        return [(model, method) for method in dict.fromkeys(methods) if (model, method) in judged]

    if runs := [run for name in settings.models for run in of(name, *settings.methods)]:
        yield rate_table(settings.k, rows, runs, "rates", "methods")
    for name in settings.models:
        if of(name, *ablations):
            # from none, which is SFT, to all
            runs = of(name, "sft", *ablations, settings.ablations.of)
            yield rate_table(settings.k, rows, runs, f"parts_{name}", f"{name}: parts of the objective")
        if values := of(name, *swept):  # of a sweep, or of an ablation that lists values
            varied = settings.sweeps or settings.ablations
            of_seeds = rows if varied.seeds is None else rows[rows["seed"].isin(varied.seeds)]
            runs = [*of(name, varied.of), *values]  # which has one of the values
            yield rate_table(settings.k, of_seeds, runs, f"sweeps_{name}", f"{name}: values of a key")
        compared = [method for _, method in of(name, *main)]
        if table := comparison_table(rows, name, compared, baseline):
            yield table
        if compared:
            yield verdict_table(rows, name, compared)
            yield cost_table(settings, name, compared)


def rate_table(ks: Sequence[int], rows: pd.DataFrame, of: Sequence[Run], key: str, title: str) -> Table:
    """pass@k with intervals over tasks and seeds and tokens of an answer, a row a model and method."""
    groups = rows.groupby(["model", "method"])
    seeds, tokens = groups["seed"].nunique(), groups["tokens"].mean()
    columns = [text_column("model", [model for model, _ in of]), text_column("method", [method for _, method in of])]
    columns.append(number_column("seeds", [float(seeds.get(run, 0)) for run in of]))
    for k in (k for k in ks if k <= rows["sample"].max() + 1):
        for criterion, name in CRITERIA.items():
            scores = score_table(rows, criterion, k)
            means = [crossed(scores[run]) if run in scores else None for run in of]
            rates = [mean and Estimate(mean.value, *mean.rate_interval(), mean.tasks, left_out=0) for mean in means]
            columns.append(Column(name, list(map(estimate_cell, rates)), f"Pass@{k}"))
    columns.append(number_column("tokens of an answer", [tokens.get(run) for run in of]))
    return Table(key, title, columns, PERCENT)


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
    ends = [mean.interval() if mean.se else (None, None) for mean in means.values()]
    values = zip(means.values(), ends, strict=True)
    gaps = [{"value": mean.value, "low": low, "high": high} for mean, (low, high) in values]
    columns = [
        text_column("method", means),
        number_column("seeds", [float(mean.seeds) for mean in means.values()]),
        Column("difference", [interval_cell(gap, points, 100) for gap in gaps]),
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


def cost_table(settings: StudySettings, model: str, methods: Sequence[str]) -> Table:
    """Preference for right programs, and GPU hours: means over seeds."""
    costs = []
    for run in (run for run in runs_of(settings) if run.model == model):
        hours = {kind: gpu_hours(settings, run, kind) for kind in ("train", "generate", "evaluate")}
        file, right = settings.output / "runs" / run.name / OUTPUTS["pairs"], None
        if file.exists():
            [of] = json.loads(file.read_text(encoding="utf-8"))["models"].values()
            right = of["accuracy"]["from_change"]  # None without a wrong program among the pairs
        costs.append({"method": run.method, "pairs": right and 100 * right["value"], **hours})
    means = pd.DataFrame(costs).set_index("method").astype(float).groupby("method").mean().reindex(methods)
    columns = [text_column("method", methods)]
    if settings.pairs is not None:
        columns.append(number_column("pairs right, %", means["pairs"], digits=1))
    for kind, name in (("train", "training"), ("generate", "sampling"), ("evaluate", "judging")):
        columns.append(number_column(name, means[kind], "GPU hours", digits=3))
    return Table(f"cost_{model}", f"{model}: costs", columns, "Means over seeds.")
