"""The rows and tables of a study.

The rows are all judged samples, in one file; `rows` stands for what `collect` returns of them. The tables are pass
rates in the layout of the paper's Tables 2 to 5, comparisons of methods, verdicts, and costs.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..files import write_atomically
from ..jsonl import to_line
from ..judge.results import read_results
from ..report.cells import Column, Table, estimate_cell, interval_cell, number_column, p_cell, points, text_column
from ..report.collection import CRITERIA, INFRA_ERROR
from ..report.statistics import Estimate, Rule, crossed, holm, task_scores
from ..report.tables import VERDICTS
from ..tasks.messages import prompts_of
from .plan import OUTPUTS, StudyError, jobs_of, runs_of
from .run import check_inputs, read_written
from .settings import StudySettings


# Keys that are taken from a line of `cuset evaluate`.
COLUMNS = ("task", "family", "sample", "verdict", "compiled", "passed", "tokens")
BOUND = 0.05  # methods that differ by less are called equivalent; study plans fix this before the runs
PERCENT = "Percent; in brackets the 95 % interval over tasks (of CUDABench over its operations, which count alike) and seeds; n, where it stands, is how many tasks (or operations) are known under every seed."
Run = tuple[str, str]  # model, method
Records = Mapping[str, Mapping[str, Any]]  # of `run.records_of`


def collect(settings: StudySettings, records: Records) -> pd.DataFrame:
    """Write results.jsonl of a study, and return its rows.

    There is one row per model, method, seed, task and sample, in that order. Only runs that are judged completely are
    included. For CUDABench's tasks, the column `prompts` says which wording of the prompts was answered.

    Raises:
        ResultsError: a judged sample lacks what `cuset evaluate` writes.
        StudyError: runs were judged on different tasks, samples are lost, none is judged, or a data set or model changed.
    """
    path, rows = settings.output / "results.jsonl", list(_judged_rows(settings, records))
    write_atomically(path, map(to_line, rows))
    if not rows:
        raise StudyError(f"{path}: no sample is judged, so there is nothing to report.")
    return pd.DataFrame(rows)


def _judged_rows(settings: StudySettings, records: Records) -> Iterator[dict[str, Any]]:
    """Yield the rows of all runs that are judged completely."""
    # task and wording -> the digest of its prompt, and the first run's folder; the summary says where wordings differ
    first: dict[str, tuple[str, Path]] = {}
    check_inputs(settings, (job for job in jobs_of(settings) if f"evaluate/{job.run.name}" in records))
    for run in runs_of(settings):
        if f"evaluate/{run.name}" not in records:
            continue
        file = settings.output / "runs" / run.name / OUTPUTS["evaluate"]
        judged = read_results(file)
        tasks, prompts = judged.run.get("tasks") or {}, prompts_of(judged.run)
        digests = {line["task"]: line.get("prompt_sha256") for line in judged.samples}
        for what, digest in ((f"{task} ({prompts})", digest) for task, digest in digests.items() if digest):
            known, where = first.setdefault(what, (digest, file.parent))
            if digest != known:
                raise StudyError(
                    f"{file.parent}: another prompt of task {what} than in {where}: the task set has changed between them. For all "
                    "runs from before the change, remove results.jsonl and answers.jsonl, and run the study."
                )
        wanted = (tasks.get("count") or 0) * int(settings.generate.get("samples", 1))
        judged_once = {(line["task"], line["sample"]) for line in judged.samples}
        if not wanted == len(judged.samples) == len(judged_once):
            raise StudyError(
                f"{file}: {len(judged.samples)} lines with {len(judged_once)} of {wanted} samples: it was cut off or joined with another, or the "
                f"answers beside it were. Remove it, and if answers are missing {settings.output / 'done/generate' / run.name}.json as "
                "well, and run the study."
            )
        run_keys = {"model": run.model, "method": run.method, "seed": run.seed}
        wording = {} if prompts is None else {"prompts": prompts}
        for line in judged.samples:
            yield {**run_keys, **{key: line.get(key) for key in COLUMNS}, **wording}


def score_table(rows: pd.DataFrame, criterion: str, k: int) -> dict[Run, pd.DataFrame]:
    """Return pass@k of every (model, method), by the unbiased estimator of Chen et al. (arXiv 2107.03374, Eq. 1).

    The criterion is "compiled" or "passed". Samples on which the judge failed (infra_error) are unknown. A task with
    fewer than k known samples is left out.

    CUDABench asks for each of its operations at several sizes, and the answers to these resemble each other. So the
    scores of its tasks are averaged by operation, and each operation has the same weight.

    Returns:
        A data frame [seeds, tasks] per (model, method), or [seeds, operations] for CUDABench. Unknown scores are NaN.
    """
    scored_rows = rows.assign(score=rows[criterion].astype(float).where(rows["verdict"] != INFRA_ERROR))
    if criterion == "passed" and (rows["verdict"] == "compiled").any():
        scored_rows["score"] = np.nan  # compile_only holds for a whole study, also where nothing compiled
    scores = {}
    for key, of_method in scored_rows.groupby(["model", "method"], sort=False):
        by_sample = of_method.pivot(index=["seed", "task"], columns="sample", values="score")
        values = task_scores(by_sample.to_numpy(), k, Rule.UNBIASED) if by_sample.shape[1] >= k else np.nan
        scores[key] = pd.Series(values, index=by_sample.index).unstack("task")
        if "prompts" in of_method and of_method["prompts"].notna().all():  # only CUDABench's rows have it
            operations = of_method.groupby("task")["family"].first()
            scores[key] = scores[key].T.groupby(operations).mean().T
    return scores


def tables_of(settings: StudySettings, records: Records, rows: pd.DataFrame) -> Iterator[Table]:
    """Yield the tables of a study.

    The first one holds the paper's Tables 2, 3 and 4 together. Then follow, by model, Table 5 (parts of the
    objective), the numbers of Fig. 4 (sweeps), comparisons, verdicts and costs.
    """
    ablations = list(settings.ablations.runs) if settings.ablations else []
    main = [*settings.methods, *ablations]  # methods to compare: values of a sweep are not among them
    baseline = "sft" if "sft" in settings.methods else next(iter(settings.methods))
    judged = set(zip(rows["model"], rows["method"], strict=True))

    def of(model: str, *methods: str) -> list[Run]:
        return [(model, method) for method in dict.fromkeys(methods) if (model, method) in judged]

    if runs := [run for name in settings.models for run in of(name, *settings.methods)]:
        yield rate_table(settings.k, rows, runs, "rates", "methods")
    for name in settings.models:
        if of(name, *ablations):
            # From no part of the objective (SFT) to all parts.
            runs = of(name, "sft", *ablations, settings.ablations.of)
            yield rate_table(settings.k, rows, runs, f"parts_{name}", f"{name}: parts of the objective")
        for part in ("sweeps", "ablations"):  # ablations may list values too
            if (varied := getattr(settings, part)) and (values := of(name, *varied.values(named=part == "sweeps"))):
                of_seeds = rows if varied.seeds is None else rows[rows["seed"].isin(varied.seeds)]
                runs = [*of(name, varied.of), *values]  # the varied method itself has one of the values
                yield rate_table(settings.k, of_seeds, runs, f"{part}_{name}", f"{name}: values of a key")
        compared = [method for _, method in of(name, *main)]
        if table := comparison_table(rows, name, compared, baseline):
            yield table
        if compared:
            yield verdict_table(rows, name, compared)
            yield cost_table(settings, records, name, compared)


def rate_table(ks: Sequence[int], rows: pd.DataFrame, of: Sequence[Run], key: str, title: str) -> Table:
    """Return a table of pass@k with one row per model and method.

    Any of `ks` above the number of samples is left out. Intervals are over tasks and seeds. The last column is the
    mean number of tokens of an answer.
    """
    groups = rows.groupby(["model", "method"])
    seeds, tokens = groups["seed"].nunique(), groups["tokens"].mean()
    columns = [text_column("model", [model for model, _ in of]), text_column("method", [method for _, method in of])]
    columns.append(number_column("seeds", [float(seeds.get(run, 0)) for run in of]))
    for k in (k for k in ks if k <= rows["sample"].max() + 1):
        for criterion, name in CRITERIA.items():
            scores = score_table(rows, criterion, k)
            cells = [estimate_cell(rate_of(scores[run]) if run in scores else None) for run in of]
            columns.append(Column(name, cells, f"Pass@{k}"))
    columns.append(number_column("tokens of an answer", [tokens.get(run) for run in of]))
    return Table(key, title, columns, PERCENT)


def rate_of(scores: pd.DataFrame) -> Estimate | None:
    """Return the mean of scores [seeds, tasks] with its interval, or None if no task is known under all seeds."""
    if (mean := crossed(scores)) is None:
        return None
    return Estimate(mean.value, *mean.rate_interval(), mean.tasks, left_out=scores.shape[1] - mean.tasks)


def verdict_table(rows: pd.DataFrame, model: str, methods: Sequence[str]) -> Table:
    """Return the percentage of samples by method and verdict, which shows how answers fail."""
    rows = rows[rows["model"] == model]
    shares = 100 * pd.crosstab(rows["method"], rows["verdict"], normalize="index")
    columns = [text_column("method", methods)]
    for verdict, named in VERDICTS.items():
        if verdict in shares:
            columns.append(number_column(named, list(shares[verdict].reindex(methods)), digits=1))
    return Table(f"verdicts_{model}", f"{model}: verdicts", columns, "Percent of the samples.")


def comparison_table(rows: pd.DataFrame, model: str, methods: Sequence[str], baseline: str) -> Table | None:
    """Return the differences in function pass@1 between each method and the baseline, None if none can be paired.

    Differences are paired by seed and task. The p-values of the test of a difference and of the test of equivalence
    (within ±BOUND) have Holm's correction over the methods.
    """
    scores = score_table(rows[rows["model"] == model], "passed", 1)
    means = {}
    for method in methods:
        if method != baseline and {(model, method), (model, baseline)} <= scores.keys():
            first, second = scores[model, method].align(scores[model, baseline], join="inner")
            if (mean := crossed((first - second).to_numpy())) is not None:
                means[method] = mean
    if not means:
        return None
    # Where the standard error is 0, nothing can be tested.
    testable = {method: mean for method, mean in means.items() if mean.se}
    difference_p = dict(zip(testable, holm([mean.p_value for mean in testable.values()]), strict=True))
    equivalence_p = dict(zip(testable, holm([mean.equivalence_p(BOUND) for mean in testable.values()]), strict=True))
    ends = [mean.interval() if mean.se else (None, None) for mean in means.values()]
    values = zip(means.values(), ends, strict=True)
    gaps = [{"value": mean.value, "low": low, "high": high} for mean, (low, high) in values]
    columns = [
        text_column("method", means),
        number_column("seeds", [float(mean.seeds) for mean in means.values()]),
        Column("difference", [interval_cell(gap, points, 100) for gap in gaps]),
        Column("p", [p_cell(mean.p_value if mean.se else None) for mean in means.values()]),
        Column("p, Holm", [p_cell(difference_p.get(method)) for method in means]),
        Column(f"p, beyond ±{100 * BOUND:g}, Holm", [p_cell(equivalence_p.get(method)) for method in means]),
        number_column("seen with power 0.8", [100 * mean.detectable() or None for mean in means.values()], digits=1),
    ]
    text = (
        f"Function Pass@1 less that of {baseline}, in points, paired by seed and task; the error is over both. A small p says that they differ; "
        f"a small p of the last test that they differ by less than {100 * BOUND:g} points. The last column is the difference that this study "
        "could have seen. With one seed nothing is said of other trainings."
    )
    return Table(f"differences_{model}", f"{model}: against {baseline}", columns, text)


def cost_table(settings: StudySettings, records: Records, model: str, methods: Sequence[str]) -> Table:
    """Return the preference for right programs and the GPU hours of each method, as means over seeds."""
    cost_rows = []
    for run in (run for run in runs_of(settings) if run.model == model):
        done = {kind: records.get(f"{kind}/{run.name}") for kind in ("train", "generate", "evaluate")}
        hours = {kind: record and record["seconds"] / 3600 * record["gpus"] for kind, record in done.items()}
        file, preference = settings.output / "runs" / run.name / OUTPUTS["pairs"], None
        if file.exists():
            [of] = read_written(file)["models"].values()
            preference = of["accuracy"]["from_change"]  # None if no pair has a wrong program
        cost_rows.append({"method": run.method, "pairs": preference and 100 * preference["value"], **hours})
    means = pd.DataFrame(cost_rows).set_index("method").astype(float).groupby("method").mean().reindex(methods)
    columns = [text_column("method", methods)]
    if settings.pairs is not None:
        columns.append(number_column("pairs right, %", means["pairs"], digits=1))
    for kind, name in (("train", "training"), ("generate", "sampling"), ("evaluate", "judging")):
        columns.append(number_column(name, means[kind], "GPU hours", digits=3))
    return Table(f"cost_{model}", f"{model}: costs", columns, "Means over seeds.")
