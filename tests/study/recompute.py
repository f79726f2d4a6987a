"""Every number of a study's tables, computed from results.jsonl alone: json, numpy and scipy, and nothing of this package.

A row is {"model", "method", "seed", "task", "family", "sample", "verdict", "compiled", "passed", "tokens"}. `recompute` gives for each model the rates of
each method, in percent with the ends of their 95 % intervals, and each method's difference from the baseline, in points, with its tests.
"""

import itertools
import json
from collections import Counter, defaultdict

import numpy as np
from scipy import stats


CRITERIA = (("compiled", "Compilation"), ("passed", "Function"))


def scores(rows, criterion, k):
    """{(seed, task): pass@k}: the share of the sets of k samples with one that is right; without what the judge failed at."""
    unknown = {"infra_error"} | ({"compiled"} if criterion == "passed" else set())
    samples = defaultdict(list)
    for row in rows:
        samples[row["seed"], row["task"]].append(None if row["verdict"] in unknown else bool(row[criterion]))
    found = {}
    for key, known in samples.items():
        sets = list(itertools.combinations([one for one in known if one is not None], k))
        if sets:
            found[key] = sum(map(any, sets)) / len(sets)
    return found


def estimate(values):
    """(mean, standard error, degrees of freedom, seeds; with one seed tasks) of {(seed, task): value}, over the tasks that every seed has."""
    seeds = sorted({seed for seed, _ in values})
    tasks = sorted({task for _, task in values})
    tasks = [task for task in tasks if all((seed, task) in values for seed in seeds)]
    if not tasks:
        return None
    s, t = len(seeds), len(tasks)
    mean = sum(values[seed, task] for seed in seeds for task in tasks) / (s * t)
    of_task = {task: sum(values[seed, task] for seed in seeds) / s for task in tasks}
    of_seed = {seed: sum(values[seed, task] for task in tasks) / t for seed in seeds}
    if s == 1 or t == 1:
        groups = list((of_task if s == 1 else of_seed).values())
        return mean, (float(stats.sem(groups)) if len(groups) > 1 else 0.0), max(len(groups) - 1, 1), s if s > 1 else t
    both = ((values[seed, task] - of_task[task] - of_seed[seed] + mean) ** 2 for seed in seeds for task in tasks)
    degrees = (t - 1, s - 1, (s - 1) * (t - 1))
    by_task = s * sum((of_task[task] - mean) ** 2 for task in tasks) / degrees[0]
    by_seed = t * sum((of_seed[seed] - mean) ** 2 for seed in seeds) / degrees[1]
    rest = sum(both) / degrees[2]
    variance = max(by_task + by_seed - rest, rest)
    parts = zip((by_task, by_seed, rest), degrees, strict=True)
    df = variance**2 / sum(square**2 / free for square, free in parts) if variance else t - 1
    return mean, (variance / (s * t)) ** 0.5, df, s


def rate(rows, criterion, k):
    """Percent, with the ends of the interval; None without a task that is known."""
    found = estimate(scores(rows, criterion, k))
    if found is None:
        return None
    mean, se, df, equal = found
    half = stats.t.ppf(0.975, df) * se
    low, high = mean - half, mean + half
    if se == 0:
        low, high = mean * 0.025 ** (1 / equal), 1 - (1 - mean) * 0.025 ** (1 / equal)
    return [100 * mean, 100 * max(low, 0), 100 * min(high, 1)]


def differences(by_method, baseline, bound=0.05):
    """{method: difference in points, its interval, p, Holm's p, Holm's p of equivalence, the difference seen with power 0.8}."""
    base, found = scores(by_method[baseline], "passed", 1), {}
    for method, rows in by_method.items():
        own = scores(rows, "passed", 1)
        both = {key: own[key] - base[key] for key in own if key in base}
        if method != baseline and both and (one := estimate(both)) and one[1]:
            mean, se, df, _ = one
            p = 2 * stats.t.sf(abs(mean) / se, df)
            outside = max(stats.t.sf((mean + bound) / se, df), stats.t.sf((bound - mean) / se, df))
            half = stats.t.ppf(0.975, df) * se
            seen = (stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * se
            found[method] = [100 * mean, 100 * (mean - half), 100 * (mean + half), p, p, outside, 100 * seen]
    for source, target in ((3, 4), (5, 5)):  # Holm's correction of both tests
        largest = 0.0
        for place, method in enumerate(sorted(found, key=lambda one: found[one][source])):
            largest = max(largest, min(1.0, (len(found) - place) * found[method][source]))
            found[method][target] = largest
    return found


def recompute(path, baseline="sft"):
    """Everything of one results.jsonl. The tests are corrected over all methods but values of a sweep."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    models = defaultdict(lambda: defaultdict(list))
    for row in rows:
        models[row["model"]][row["method"]].append(row)
    ks = [k for k in (1, 3) if k <= max(row["sample"] for row in rows) + 1]
    report = {}
    for model, by_method in models.items():
        methods = {
            method: {f"Pass@{k}: {name}": rate(of, key, k) for k in ks for key, name in CRITERIA}
            | {"seeds": len({row["seed"] for row in of}), "tokens": float(np.mean([row["tokens"] for row in of]))}
            for method, of in by_method.items()
        }
        among = {one: of for one, of in by_method.items() if "=" not in one}
        tests = differences(among, baseline) if baseline in among else {}
        verdicts = {
            method: {one: 100 * count / len(of) for one, count in Counter(row["verdict"] for row in of).items()}
            for method, of in by_method.items()
        }
        report[model] = {"rates": methods, "differences": tests, "verdicts": verdicts}
    return report
