"""The tables and the figure of docs/real_study.md, from the rows in benchmarks/real/ alone."""

import gzip
import json
from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cuset_stage.report.cells import p_text
from cuset_stage.report.statistics import crossed, holm

from . import ROOT, between, filled, record, table


ROWS = ROOT / "benchmarks" / "real" / "results.jsonl.gz"
FIGURE = ROOT / "docs" / "assets" / "real_study.png"
# What a method is called, and Table 2's right and compiled answers of Qwen2.5-Coder-7B.
METHODS = {
    "vanilla": ("not trained", "35.2 / 69.0"),
    "sft": ("SFT", "55.0 / 92.2"),
    "dft": ("DFT", "60.2 / 93.0"),
    "eaft": ("EAFT", "56.8 / 91.4"),
    "asft": ("ASFT", "50.4 / 77.8"),
    "profit": ("ProFit", "59.6 / 94.2"),
    "cuset": ("CuSeT", "65.6 / 93.6"),
}
TITLES = {method: title for method, (title, _) in METHODS.items()}
EQUIVALENT = 0.05  # the plan's bounds
SIZES = ("0.5B", "1.5B")


def read_rows() -> pd.DataFrame:
    """A row an answer, with 0 or 1 for right and for compiled."""
    with gzip.open(ROWS, "rt", encoding="utf-8") as file:
        rows = pd.DataFrame(map(json.loads, file))
    return rows.assign(right=(rows.verdict == "passed") * 1.0, compiled=rows.compiled * 1.0)


def methods_of(rows: pd.DataFrame) -> list[str]:
    return [method for method in TITLES if method in set(rows.method)]


def scores(rows: pd.DataFrame, method: str, value: str) -> pd.DataFrame:
    """The mean of an operation's answers, a row a seed and a column an operation."""
    of_method = rows[rows.method == method]
    return of_method.pivot_table(value, "seed", "operation")


def paired(rows: pd.DataFrame, first: str, second: str) -> NDArray[np.float64]:
    """Right answers of the first minus the second's, [seeds, operations], of the seeds that both have. The untrained model has one, for all."""
    one, other = scores(rows, first, "right"), scores(rows, second, "right")
    if second != "vanilla":
        seeds = one.index.intersection(other.index)
        one, other = one.loc[seeds], other.loc[seeds]
    return one.to_numpy() - other.to_numpy()


def rates(rows: pd.DataFrame, methods: Iterable[str]) -> str:
    cells = []
    for method in methods:
        of_method = rows[rows.method == method]
        means = [crossed(scores(rows, method, value).to_numpy()) for value in ("right", "compiled")]
        shares = [between(*(100 * end for end in (mean.value, *mean.rate_interval()))) for mean in means]
        rate = f"{of_method.rate.iloc[0]:.0e}".replace("e-0", "e-") if method != "vanilla" else ""
        answers = f"{means[0].seeds} x {len(of_method) // means[0].seeds}"
        title, paper = METHODS[method]
        cells.append([title, rate, answers, *shares, f"{of_method.tokens.mean():.0f}", paper])
    return table(["method", "rate", "answers", "right, %", "compile, %", "tokens", "paper, 7B"], cells)


def differences(rows: pd.DataFrame, methods: list[str]) -> str:
    """CuSeT minus each other method; the p values beside SFT's are Holm's. Below it the primary one without the seeds' variance."""
    found = {method: crossed(paired(rows, "cuset", method)) for method in methods if method != "cuset"}
    p = {method: mean.p_value for method, mean in found.items()}
    secondary = [method for method in found if method != "sft"]
    p |= dict(zip(secondary, holm([p[method] for method in secondary]), strict=True))
    cells = []
    for method, mean in found.items():
        interval = between(*(100 * end for end in (mean.value, *mean.interval())), "+.1f")
        by_seed = ", ".join(f"{100 * seed:+.1f}" for seed in mean.by_seed)
        tests = [p_text(p[method]), p_text(mean.equivalence_p(EQUIVALENT)), f"{100 * mean.detectable():.1f}"]
        cells.append([f"CuSeT minus {TITLES[method]}", interval, by_seed, *tests])
    tested = ["p", "p of more than 5 points", "smallest true difference found with power 0.8"]
    alone = crossed(paired(rows, "cuset", "sft").mean(axis=0, keepdims=True))
    interval = between(*(100 * end for end in (alone.value, *alone.interval())), "+.1f")
    note = f"With the operations alone taken as random, CuSeT minus SFT is {interval}, p {p_text(alone.p_value)}."
    return f"{table(['', 'points (95 %)', 'each seed', *tested], cells)}\n\n{note}"


def failures(rows: pd.DataFrame, methods: list[str]) -> str:
    shares = pd.crosstab(rows.method, rows.verdict, normalize="index").mul(100)
    verdicts = [name for name in shares.mean().sort_values(ascending=False).index if name != "passed"]
    cells = [[TITLES[method], *(f"{shares.loc[method, name]:.1f}" for name in verdicts)] for method in methods]
    return table(["% of answers", *(name.replace("_", " ") for name in verdicts)], cells)


def errors(rows: pd.DataFrame, methods: list[str]) -> str:
    """The commonest first errors of nvcc; X stands for a name."""
    shares = pd.crosstab(rows.method, rows.error).div(rows.groupby("method").size(), axis=0).mul(100)
    commonest = shares.sum().sort_values(ascending=False, kind="stable").index[:8]
    cells = [[f"`{error}`", *(f"{shares.loc[method, error]:.1f}" for method in methods)] for error in commonest]
    return table(["% of answers", *(TITLES[method] for method in methods)], cells)


def section3() -> str:
    """Section 3 of the paper on TensorRT's code, beside the paper's own numbers."""

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
    """The figure: the mean and its interval a method, and a bar a seed."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    rows = read_rows()
    methods = methods_of(rows)
    figure, axes = plt.subplots(figsize=(7, 0.6 + 0.45 * len(methods)), layout="constrained")
    for place, method in enumerate(reversed(methods)):
        mean = crossed(scores(rows, method, "right").to_numpy())
        low, high = mean.rate_interval()
        color = "#d55e00" if method == "cuset" else "#4c5a67"
        axes.plot([100 * low, 100 * high], [place, place], color=color, linewidth=2)
        axes.plot(100 * mean.value, place, "o", color=color)
        axes.plot([100 * seed for seed in mean.by_seed], [place] * mean.seeds, "|", color=color, markersize=14)
    axes.set_yticks(range(len(methods)), [TITLES[method] for method in reversed(methods)])
    axes.set(
        xlabel="right answers, % (mean, 95 % interval; a bar a seed)", xlim=(0, None), ylim=(-0.5, len(methods) - 0.5)
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, dpi=150, metadata={"Software": None})
    plt.close(figure)


def page() -> str:
    rows = read_rows()
    methods = methods_of(rows)
    return filled(
        "real_study.md",
        rates=rates(rows, methods),
        differences=differences(rows, methods),
        failures=f"{failures(rows, methods)}\n\n{errors(rows, methods)}",
        section3=section3(),
    )
