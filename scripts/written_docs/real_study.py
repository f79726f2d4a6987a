"""The tables and the figure of docs/real_study.md, from the rows in benchmarks/real/ alone."""

import gzip
import json
from collections.abc import Iterable

import pandas as pd

from cuset_stage.report.cells import p_text
from cuset_stage.report.statistics import Crossed, crossed, holm

from . import ROOT, filled, record, table


ROWS = ROOT / "benchmarks" / "real" / "results.jsonl.gz"
FIGURE = ROOT / "docs" / "assets" / "real_study.png"
TITLES = {
    "vanilla": "not trained",
    "sft": "SFT",
    "dft": "DFT",
    "eaft": "EAFT",
    "asft": "ASFT",
    "profit": "ProFit",
    "cuset": "CuSeT",
}
PAPER = {"vanilla": (35.2, 69.0), "sft": (55.0, 92.2), "dft": (60.2, 93.0), "eaft": (56.8, 91.4)}
PAPER |= {
    "asft": (50.4, 77.8),
    "profit": (59.6, 94.2),
    "cuset": (65.6, 93.6),
}  # Table 2, Qwen2.5-Coder-7B: right, compiled
EQUIVALENT = 0.05  # the plan's bounds


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


def difference(rows: pd.DataFrame, first: str, second: str, value: str = "right") -> Crossed:
    """First minus second over the seeds that both have; a method that is not trained has one seed, which stands for all."""
    one, other = scores(rows, first, value), scores(rows, second, value)
    if "vanilla" in (first, second):
        one, other = (
            each if len(each) > 1 else pd.concat([each] * max(len(one), len(other))) for each in (one, other)
        )
        return crossed(one.to_numpy() - other.to_numpy())
    seeds = one.index.intersection(other.index)
    return crossed((one.loc[seeds] - other.loc[seeds]).to_numpy())


def points(value: float) -> str:
    return f"{100 * value:+.1f}"


def rates(rows: pd.DataFrame, methods: Iterable[str]) -> str:
    cells = []
    for method in methods:
        of_method = rows[rows.method == method]
        right, compiled = (crossed(scores(rows, method, value).to_numpy()) for value in ("right", "compiled"))
        shares = [f"{100 * each.value:.1f} ({100 * low:.1f} to {100 * high:.1f})" for each in (right, compiled) for low, high in [each.rate_interval()]]  # fmt: skip
        rate = f"{of_method.rate.iloc[0]:.0e}".replace("e-0", "e-") if method != "vanilla" else ""
        tokens = f"{of_method.tokens.mean():.0f}"
        answers = f"{right.seeds} x {len(of_method) // right.seeds}"
        cells.append([TITLES[method], rate, answers, *shares, tokens, " / ".join(map(str, PAPER[method]))])
    header = ["method", "rate", "answers", "right, %", "compile, %", "tokens", "paper, 7B"]
    return table(header, cells)


def differences(rows: pd.DataFrame, methods: list[str]) -> str:
    """CuSeT minus each other method; the p values beside SFT's are Holm's."""
    others = [method for method in methods if method != "cuset"]
    found = {method: difference(rows, "cuset", method) for method in others}
    secondary = [method for method in others if method != "sft"]
    p = {method: found[method].p_value for method in others}
    p |= dict(zip(secondary, holm([p[method] for method in secondary]), strict=True))
    cells = []
    for method, each in found.items():
        low, high = each.interval()
        by_seed = ", ".join(points(seed) for seed in each.by_seed)
        equal = p_text(each.equivalence_p(EQUIVALENT))
        interval = f"{points(each.value)} ({points(low)} to {points(high)})"
        cells.append([f"CuSeT minus {TITLES[method]}", interval, by_seed, p_text(p[method]), equal, f"{100 * each.detectable():.1f}"])  # fmt: skip
    header = ["", "points (95 %)", "each seed", "p", "p of more than 5 points", "smallest true difference found with power 0.8"]  # fmt: skip
    return table(header, cells)


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

    def between(part: dict[str, float], digits: int = 1, scale: float = 100) -> str:
        value, low, high = (f"{scale * part[key]:.{digits}f}" for key in ("value", "low", "high"))
        return f"{value} ({low} to {high})"

    columns = [["higher than of the others", "", "", "4.6e-39", "74.47", "91.18", ""]]
    for part in record("real/section3_qwen2.5-coder-0.5b.json")["notions"].values():
        windows, low = part["windows"], part["windows"]["on_sensitive"]["centre"]
        column = [between(part[kind]["mean"], 3, 1) for kind in ("sensitive", "neutral")]
        column.append(f"{between(part['ks']['d'], 3, 1)}, p {p_text(part['ks']['p_clustered'])}")
        column.append(f"{part['ks']['p_naive']:.1e}")
        columns.append([*column, between(windows["samples_with_low"]), between(low["low"]), between(low["all"])])
    names = [
        "mean confidence of CUDA tokens",
        "of the others",
        "KS distance D, over files",
        "p over tokens",
        "files with a low window, %",
    ]
    names += ["low windows on CUDA, % (middle token)", "all windows on CUDA, %"]
    header = ["", "the paper, Qwen3-8B", "0.5B, any dependence on execution", "0.5B, the CUDA mask"]
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
    causes = failures(rows, methods) + "\n\n" + errors(rows, methods)
    tables = {
        "rates": rates(rows, methods),
        "differences": differences(rows, methods),
        "failures": causes,
        "section3": section3(),
    }
    return filled("real_study.md", **tables)
