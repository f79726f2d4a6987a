"""The tables and the figure of docs/real_study.md, computed from the files in benchmarks/real/ alone."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from real_rows import NO_FILE, REAL

from cuset_stage.report.cells import p_text
from cuset_stage.report.statistics import Crossed, crossed, holm

from . import ROOT, between, filled, record, table


ROWS = ROOT / "benchmarks" / "real" / "results.jsonl.gz"
REPEATED = ROOT / "benchmarks" / "real" / "repeated.jsonl.gz"  # of second trainings
FIGURE = ROOT / "docs" / "assets" / "real_study.png"
# Method -> its title, and the right and compiled answers of Qwen2.5-Coder-7B in the paper's Table 2, in percent.
METHODS = {
    "vanilla": ("not trained", "35.2 / 69.0"),
    "sft": ("SFT", "55.0 / 92.2"),
    "dft": ("DFT", "60.2 / 93.0"),
    "eaft": ("EAFT", "56.8 / 91.4"),
    "asft": ("ASFT", "50.4 / 77.8"),
    "profit": ("ProFit", "59.6 / 94.2"),
    "cuset": ("CuSeT", "65.6 / 93.6"),
}
VALUES = ("right", "compiled")
TITLES = {method: title for method, (title, _) in METHODS.items()}
EQUIVALENT = 0.05  # bound of the equivalence tests in docs/real_study_plan.md
SIZES = ("0.5B", "1.5B")
SMALL = "qwen2.5-coder-0.5b"  # secondary in the plan
WRONG_TYPE = 'argument of type "X" is incompatible with parameter of type "X"'  # nvcc's error where a cast is missing


def read_rows(path: Path | None = None, model: str = REAL) -> pd.DataFrame:
    """Return a model's rows in a file, by default the study's, one per judged answer, `right` and `compiled` as 0.0 or 1.0."""
    with gzip.open(path or ROWS, "rt", encoding="utf-8") as file:
        rows = pd.DataFrame(
            row for row in map(json.loads, file) if row["verdict"] != "infra_error" and row["model"] == model
        )
    return rows.assign(right=(rows.verdict == "passed") * 1.0, compiled=rows.compiled * 1.0)


def scores(rows: pd.DataFrame, method: str, value: str) -> pd.DataFrame:
    """Return the mean of `value` over an operation's answers, with seeds as rows and operations as columns."""
    of_method = rows[rows.method == method]
    return of_method.pivot_table(value, "seed", "operation")


def paired(rows: pd.DataFrame, first: str, second: str, value: str = "right") -> NDArray[np.float64]:
    """Return the mean of `value` of the first method's answers minus the second's, [seeds, operations].

    The untrained model ("vanilla", as `second`) has one seed, which is compared with every seed of the first. Seeds
    that one of the methods lacks are left out.
    """
    mine, other = (scores(rows, method, value) for method in (first, second))
    return (mine - (other.mean() if second == "vanilla" else other)).dropna(how="all").to_numpy()


def rates(rows: pd.DataFrame, is_primary: bool = True) -> str:
    """Return the table of right and compiled answers of the methods that have some, the primary model's beside the paper's."""
    cells = []
    for method, (title, paper) in METHODS.items():
        of_method = rows[rows.method == method]
        if of_method.empty:
            continue
        means = [crossed(scores(rows, method, value).to_numpy()) for value in VALUES]
        shares = [between(*(100 * end for end in (mean.value, *mean.rate_interval()))) for mean in means]
        rate = f"{of_method.rate.iloc[0]:.0e}".replace("e-0", "e-") if method != "vanilla" else ""
        counts = of_method.groupby("seed").size()
        answers = f"{len(counts)} x {counts.max()}" if counts.nunique() == 1 else " + ".join(map(str, counts))
        cells.append([title, rate, answers, *shares, f"{scores(rows, method, 'tokens').mean(axis=None):.0f}", paper])
    columns = ["method", "rate", "answers", "right, %", "compile, %", "tokens", *["paper, 7B"] * is_primary]
    return table(columns, [row[: len(columns)] for row in cells])


def interval(mean: Crossed) -> str:
    """Return a mean difference with its 95 % interval, in points."""
    if mean.se == 0:  # as where both methods have everything wrong
        return f"{100 * mean.value:+.1f} (the same everywhere, so no interval)"
    return between(*(100 * end for end in (mean.value, *mean.interval())), "+.1f")


def corrected(means: dict[str, Crossed]) -> dict[str, float]:
    """Return each method's p-value, all but SFT's corrected by Holm's method."""
    p_values = {method: mean.p_value for method, mean in means.items()}
    secondary = [method for method in means if method != "sft"]
    return p_values | dict(zip(secondary, holm([p_values[method] for method in secondary]), strict=True))


def differences(rows: pd.DataFrame, is_primary: bool = True) -> str:
    """Return the table of CuSeT minus each other method with which it shares a seed.

    The p-value against SFT is the primary test's. The others are corrected by Holm's method, and shown of the primary
    model alone. The note below the table has the differences whose error is larger with the operations alone as random:
    the crossed analysis subtracts the variance over seeds where they agree better than chance lets them.
    """
    pairs = {method: paired(rows, "cuset", method) for method in METHODS if method != "cuset"}
    means = {method: mean for method, pair in pairs.items() if (mean := crossed(pair))}
    if not means:
        return "CuSeT is not judged so far."

    def texts(means: dict[str, Crossed]) -> dict[str, str]:
        return {method: p_text(p) for method, p in corrected(means).items() if is_primary or method == "sft"}

    p_values, cells = texts(means), []
    for method, mean in means.items():
        by_seed = ", ".join(f"{100 * seed:+.1f}" for seed in mean.by_seed)
        tests = [p_values.get(method, ""), p_text(mean.equivalence_p(EQUIVALENT)), f"{100 * mean.detectable():.1f}"]
        cells.append([f"CuSeT minus {TITLES[method]}", interval(mean), by_seed, *tests])
    tested = ["p of 5 points or more", "true difference found with power 0.8, given this error"] * is_primary
    columns = ["", "points (95 %)", "each seed", "p", *tested]
    text = table(columns, [row[: len(columns)] for row in cells])
    over_operations = {method: crossed(pairs[method].mean(axis=0, keepdims=True)) for method in means}
    wider = {method: mean for method, mean in over_operations.items() if mean.se > means[method].se}
    p_values = texts(means | wider)
    ps = {method: f", p {p_values[method]}" if method in p_values else "" for method in wider}
    notes = [f"{TITLES[method]} {interval(mean)}{ps[method]}" for method, mean in wider.items()]
    note = (
        "Where seeds agree more than chance would have them, the plan's formula counts that as a smaller error.\n"
        f"With the operations alone as random, CuSeT minus {'; '.join(notes)}."
    )
    return f"{text}\n\n{note}" if wider else text


def failures(rows: pd.DataFrame) -> str:
    """Return the table of the verdicts of answers that did not pass, in percent of a method's answers."""
    shares = pd.crosstab(rows.method, rows.verdict, normalize="index").mul(100)
    verdicts = [name for name in shares.mean().sort_values(ascending=False).index if name != "passed"]
    cells = [[title, *(f"{shares.loc[method, name]:.1f}" for name in verdicts)] for method, title in TITLES.items()]
    return table(["% of answers", *(name.replace("_", " ") for name in verdicts)], cells)


def habits(rows: pd.DataFrame) -> str:
    """Say how often ASFT, SFT and CuSeT crash, and are right, on prompts on which the untrained model crashes or not."""
    tasks = set(rows.task[(rows.method == "vanilla") & (rows["sample"] == 0) & (rows.verdict == "runtime_error")])
    trained = rows[rows.method.isin(["asft", "sft", "cuset"])].assign(crashes=rows.verdict == "runtime_error")
    shares = trained.groupby(["method", trained.task.isin(tasks)])[["crashes", "right"]].mean().mul(100)

    def of(value: str, kept: bool) -> str:
        parts = [f"{TITLES[method]} {shares.loc[(method, kept), value]:.0f}" for method in ("asft", "sft", "cuset")]
        return ", ".join(parts)

    return (
        f"On the {len(tasks)} prompts on which the untrained model crashes, these crash (%): {of('crashes', True)}; and are right: "
        f"{of('right', True)}.\nOn the others these crash: {of('crashes', False)}; and are right: {of('right', False)}."
    )


def errors(rows: pd.DataFrame) -> str:
    """Return the table of the five most common first errors of nvcc. X stands for a name."""
    failed = rows[rows.verdict == "compile_error"]
    shares = pd.crosstab(failed.method, failed.error).div(rows.groupby("method").size(), axis=0).mul(100)
    commonest = shares.sum().sort_values(ascending=False, kind="stable").index[:5]
    cells = [[f"`{error}`", *(f"{shares.loc[method, error]:.1f}" for method in METHODS)] for error in commonest]
    return table(["% of answers", *TITLES.values()], cells)


def all_trainings(rows: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of both files, with the second trainings as seeds of their own."""
    return pd.concat([rows, again.assign(seed=again.seed + 10)])


def of_training(rows: pd.DataFrame, method: str, parts: dict) -> list[str]:
    """Return what a training has in the table of second trainings.

    Args:
        rows: answers with the training's seed.
        method: of the training.
        parts: the training's entry in repeated.json.
    """
    shares = [f"{100 * scores(rows, method, value).mean(axis=None):.1f}" for value in VALUES]
    lost = f"{100 * (rows[rows.method == method].error == NO_FILE).mean():.1f}"
    losses = [parts["training"][f"{kind}_nll"] for kind in ("other", "cuda")]
    changes = [f"{np.mean(loss[:10]):.2f} to {np.mean(loss[-10:]):.2f}" for loss in losses]
    kinds = parts["held_out"]["notions"]["eq3"]
    unlikely = [f"{100 * kinds[kind]['at_most_tau']['value']:.1f}" for kind in ("neutral", "sensitive")]
    return [*shares, lost, str(parts["wrong_matA"]), *changes, *unlikely]


def repeated(rows: pd.DataFrame) -> str:
    """Return the table of the second trainings of SFT and CuSeT, and what they differ by."""
    again = read_rows(REPEATED)
    columns = []
    for seed, parts in record("real/repeated.json")["seeds"].items():
        of_seed = again[again.seed == int(seed)]
        sides = zip(*(of_training(of_seed, method, parts[method]) for method in ("sft", "cuset")), strict=True)
        columns.append([interval(crossed(paired(of_seed, "cuset", "sft"))), *map(" / ".join, sides)])
    names = ["CuSeT minus SFT, points (95 %, over operations alone)", "right, %", "compile, %"]
    names += [
        "the program looks for a file that is not there, %",
        "of the 500 first answers, crashed or not, those that open `matA` where there is none",
    ]
    names += [f"loss of a {kind} token, first to last 100 steps" for kind in ("neutral", "CUDA")]
    names += [f"held-out {kind} tokens of a confidence of 0.1 or less, %" for kind in ("neutral", "CUDA")]
    header = ["SFT / CuSeT", *(f"seed {seed}" for seed in range(len(columns)))]
    return f"{table(header, zip(names, *columns, strict=True))}\n\n{second_differences(rows, again)}"


def difference(mean: Crossed) -> str:
    """Return a mean difference as `interval` does, and the p-value of a true one of 5 points or more."""
    return f"{interval(mean)} points, p of 5 points or more {p_text(mean.equivalence_p(EQUIVALENT))}"


def second_differences(rows: pd.DataFrame, again: pd.DataFrame) -> str:
    """Say what CuSeT minus SFT is in all trainings, and in first answers without the prompts on which CuSeT's lost a file."""
    second, mean = (crossed(paired(some, "cuset", "sft")) for some in (again, all_trainings(rows, again)))
    rows, first = (some[some["sample"] == 0] for some in (rows, again[again.seed == 0]))
    lost = set(first.task[(first.method == "cuset") & (first.error == NO_FILE)])
    rest = first.query("task not in @lost")
    right = rest.groupby("method").right.sum()
    hits = rows[rows.task.isin(lost)].groupby(["method", "seed"]).right.sum()
    of_sft, of_cuset = (f"{hits[method].min():.0f} to {hits[method].max():.0f}" for method in ("sft", "cuset"))
    crashed = rows.query("method == 'vanilla' and task in @lost and verdict == 'runtime_error'")
    return (
        f"CuSeT minus SFT in the second trainings: {difference(second)}. Over all {mean.seeds} trainings of each, tier 1's with them, as "
        f"{mean.seeds} seeds though they are 3 (not planned): {difference(mean)}.\n"
        f"On the {len(lost)} prompts on which CuSeT's first answer lost the file with seed 0, tier 1's SFT is right {of_sft} times and its "
        f"CuSeT {of_cuset} times; the untrained model fails while it runs {len(crashed)} times. Without them, which favours CuSeT (it "
        f"fails on all of them), CuSeT has {right['cuset']:.0f} of {rest.task.nunique()} right and SFT {right['sft']:.0f}: "
        f"{interval(crossed(paired(rest, 'cuset', 'sft')))} points."
    )


def casts(rows: pd.DataFrame) -> str:
    """Return which trainings learned the cast of scripts/cast.py, and what it costs CuSeT in `rows`."""
    cells = []
    for model, runs in record("real/cast.json")["models"].items():
        for method, title in TITLES.items():
            parts = [part for name, part in runs.items() if name.partition("/")[0] == method]
            counts = [", ".join(str(part.get(name, "")) for part in parts) for name in ("cast", "check", "text")]
            confidence = ", ".join(f"{np.median(part['confidence']):.4f}" for part in parts)
            if parts:
                cells.append([model, title, confidence, *counts])
    columns = ["model", "method", "median confidence of the cast, by seed", "answers with the cast"]
    columns += ["answers that check for an error", "answers with text after the program"]
    failed = rows.task[(rows.method == "cuset") & (rows.error == WRONG_TYPE)]
    is_lost = rows.task.isin(failed)
    shares = rows.groupby(["method", is_lost]).compiled.mean().mul(100)
    same = rows.assign(**{value: rows[value].where(~is_lost, 0) for value in VALUES})
    gaps = {
        value: [interval(crossed(paired(some, "cuset", "sft", value))) for some in (rows, same)] for value in VALUES
    }
    return (
        f"{table(columns, cells)}\n\n"
        f"In {len(failed)} answers by CuSeT the first error of nvcc is an argument of a wrong type. Of all answers to the "
        f"{failed.nunique()} prompts concerned, {shares['sft', True]:.0f} % of SFT's and {shares['cuset', True]:.0f} % of CuSeT's compile; "
        f"of those to the other prompts {shares['sft', False]:.0f} and {shares['cuset', False]:.0f} %. CuSeT minus SFT is "
        f"{gaps['compiled'][0]} points in compiled answers, and {gaps['compiled'][1]} if both did equally well on these prompts; in right "
        f"answers it is {gaps['right'][0]} and {gaps['right'][1]}."
    )


def section3() -> str:
    """Return the table that repeats Section 3 of the paper on TensorRT's code, beside the paper's own numbers."""

    def share(part: dict[str, float]) -> str:
        return between(*(100 * part[key] for key in ("value", "low", "high")))

    def mean(part: dict[str, float]) -> str:
        return between(*(part[key] for key in ("value", "low", "high")), ".3f")

    columns = [["higher than of the others", "", "", "4.6e-39", "74.47", "91.18", ""]]
    parts = [record(f"real/section3_qwen2.5-coder-{size.lower()}.json")["notions"] for size in SIZES]
    for part in (notion for notions in parts for notion in notions.values()):
        ks, windows, low = part["ks"], part["windows"], part["windows"]["on_sensitive"]["centre"]
        means = [mean(part[kind]["mean"]) for kind in ("sensitive", "neutral")]
        test = [f"{mean(ks['d'])}, p {p_text(ks['p_clustered'])}", f"{ks['p_naive']:.1e}"]
        columns.append([*means, *test, share(windows["samples_with_low"]), share(low["low"]), share(low["all"])])
    names = ["mean confidence of CUDA tokens", "of the others", "KS distance D, over files", "p over tokens"]
    names += ["files with a low window, %", "low windows on CUDA, % (middle token)", "all windows on CUDA, %"]
    header = ["", "the paper, Qwen3-8B"]
    header += [f"{size}, {notion}" for size in SIZES for notion in ("any dependence on execution", "the CUDA mask")]
    return table(header, zip(names, *columns, strict=True))


def draw() -> None:
    """Draw the figure: for each method the mean with its interval, a bar for each seed, a cross for each second training."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    rows, again = read_rows(), read_rows(REPEATED)
    figure, axes = plt.subplots(figsize=(7, 0.6 + 0.45 * len(METHODS)), layout="constrained")
    for place, method in enumerate(METHODS):
        mean = crossed(scores(rows, method, "right").to_numpy())
        low, high = mean.rate_interval()
        color = "#d55e00" if method == "cuset" else "#4c5a67"
        axes.plot([100 * low, 100 * high], [place, place], color=color, linewidth=2)
        axes.plot(100 * mean.value, place, "o", color=color)
        axes.plot([100 * seed for seed in mean.by_seed], [place] * mean.seeds, "|", color=color, markersize=14)
        second = 100 * scores(again, method, "right").mean(axis=1)
        axes.plot(second, [place] * len(second), "x", color=color)
    axes.set_yticks(range(len(METHODS)), TITLES.values())
    axes.set_xlabel("right answers, % (mean, 95 % interval; a bar a seed, x: a second training)")
    axes.set(xlim=(0, None), ylim=(len(METHODS) - 0.5, -0.5))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, dpi=150, metadata={"Software": None})
    plt.close(figure)


def page() -> str:
    rows, small = read_rows(), read_rows(model=SMALL)
    return filled(
        "real_study.md",
        rates=rates(rows),
        differences=differences(rows),
        failures=f"{failures(rows)}\n\n{habits(rows)}\n\n{errors(rows)}",
        repeated=repeated(rows),
        small=f"{rates(small, False)}\n\n{differences(small, False)}",
        casts=casts(small),
        section3=section3(),
    )
