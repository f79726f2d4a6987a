"""Every number of a study's tables, computed from results.jsonl alone: json, numpy and scipy, and nothing of this package.

A row is {"model", "method", "seed", "task", "family", "sample", "verdict", "compiled", "passed", "tokens"}. `recompute` gives the rates of each method,
in percent with the ends of their 95 % intervals, and each method's difference from the baseline, in points, with its tests.
"""

import itertools
import json
from collections import Counter, defaultdict

import numpy as np
from scipy import optimize, stats


CRITERIA = (("compiled", "Compilation"), ("passed", "Function"))


def power_of_4_in_5(df):
    """The true difference, in standard errors, that a test at 5 % finds with power 0.8."""
    limit = stats.t.ppf(0.975, df)
    return optimize.brentq(lambda shift: stats.nct.sf(limit, df, shift) - 0.8, 0, 10 * limit)


def scores(rows, criterion, k):
    """{(seed, task): pass@k}: the share of the sets of k samples with one that is right; without what the judge failed at.
    None is known of programs that were only compiled."""
    if criterion == "passed" and any(row["verdict"] == "compiled" for row in rows):
        return {}
    samples = defaultdict(list)
    for row in rows:
        if row["verdict"] != "infra_error":
            samples[row["seed"], row["task"]].append(row[criterion])
    sets = {key: list(itertools.combinations(known, k)) for key, known in samples.items() if len(known) >= k}
    return {key: sum(map(any, of)) / len(of) for key, of in sets.items()}


def estimate(values):
    """(mean, standard error, degrees of freedom, seeds; with one seed tasks) of {(seed, task): value}, over the tasks that every seed has."""
    seeds = {seed for seed, _ in values}
    tasks = [task for task in sorted({task for _, task in values}) if all((seed, task) in values for seed in seeds)]
    if not tasks:
        return None
    table = np.array([[values[seed, task] for task in tasks] for seed in seeds])
    (s, t), mean = table.shape, float(table.mean())
    if s == 1 or t == 1:
        return mean, float(stats.sem(table, axis=None)) if table.size > 1 else 0.0, max(table.size - 1, 1), table.size
    of_task, of_seed = table.mean(axis=0), table.mean(axis=1)
    degrees = (t - 1, s - 1, (s - 1) * (t - 1))
    by_task = s * sum((of_task - mean) ** 2) / degrees[0]
    by_seed = t * sum((of_seed - mean) ** 2) / degrees[1]
    rest = np.sum((table - of_task - of_seed[:, None] + mean) ** 2) / degrees[2]
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
            seen = power_of_4_in_5(df) * se
            found[method] = [100 * mean, 100 * (mean - half), 100 * (mean + half), p, p, outside, 100 * seen]
    for source, target in ((3, 4), (5, 5)):  # Holm's correction of both tests
        largest = 0.0
        for place, method in enumerate(sorted(found, key=lambda one: found[one][source])):
            largest = max(largest, min(1.0, (len(found) - place) * found[method][source]))
            found[method][target] = largest
    return found


def recompute(path):
    """Everything of the results.jsonl of one model. The tests are corrected over all methods but values of a sweep."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    by_method = defaultdict(list)
    for row in rows:
        by_method[row["method"]].append(row)
    rates = {
        method: {f"Pass@{k}: {name}": rate(of, key, k) for k in (1, 3) for key, name in CRITERIA}
        | {"seeds": len({row["seed"] for row in of}), "tokens": float(np.mean([row["tokens"] for row in of]))}
        for method, of in by_method.items()
    }
    verdicts = {
        method: {one: 100 * count / len(of) for one, count in Counter(row["verdict"] for row in of).items()}
        for method, of in by_method.items()
    }
    tests = differences({method: of for method, of in by_method.items() if "=" not in method}, "sft")
    return {"rates": rates, "differences": tests, "verdicts": verdicts}
