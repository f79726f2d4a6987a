"""Present the record of `cuset analyze`: as tables, as a picture like the paper's Fig. 1, and as one page with both.

The numbers of the paper's Fig. 2 (low windows) are given as a table.
"""

import io
import math
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from ..report.cells import (
    ABSENT,
    Cell,
    Column,
    Section,
    Table,
    decimal,
    interval_cell,
    number_column,
    p_cell,
    percent,
    points,
    print_table,
    render_page,
    text_column,
)
from ..stage.artifacts import CUDA_COLOR


NOTIONS = {"section3": "Section 3: everything that depends on execution constraints", "eq3": "Eq. 3: the CUDA mask"}
CLASSES = {"sensitive": "CUDA-sensitive", "neutral": "neutral"}
COLORS = (CUDA_COLOR, "#c2410c")  # one for each of CLASSES
READING_NAMES = {"centre": "middle token", "majority": "more than half", "any": "any token"}
HOW_TO_READ = (
    "Confidence is the probability a model gives the token that stands there. The KS distance D is the largest gap between the two cumulative "
    "distributions: 0 if they are the same, 1 if they do not overlap. Tokens of one file depend on each other, so the p-value that takes them for "
    "independent is far too small. The other draws whole files. Both only ask whether the two distributions are exactly the same, and they never "
    "are, even of random weights: other tokens stand in kernels than around them. What a model has learned shows in how large D and the gap of the "
    "means are, against an untrained model on the same files. A window is low when its mean is below the neutral tokens' mean. Low windows that "
    "stand on CUDA say something only against all windows: in a file that is mostly kernels most windows are on CUDA anyway. The difference is in "
    "percentage points."
)


def token_table(record: dict[str, Any], notion: str) -> Table:
    """Return the numbers behind Fig. 1, one row per model."""
    models, tau = record["models"], record["settings"]["tau"]
    notions = [model["notions"][notion] for model in models.values()]
    sizes = [(of["sensitive"]["tokens"], model["tokens"]) for of, model in zip(notions, models.values(), strict=True)]
    columns = [text_column("model", models)]
    columns.append(Column("CUDA-sensitive tokens", [Cell(f"{n:,}", detail=f"of {of_all:,}") for n, of_all in sizes]))
    for key, name, write in (
        ("mean", "mean confidence", decimal),
        ("at_most_tau", f"confidence at most {tau:g} (%)", percent),
    ):
        for kind, named in CLASSES.items():
            columns.append(Column(f"{name}, {named}", [interval_cell(of[kind][key], write) for of in notions]))
    tests = [of["ks"] for of in notions]
    columns.append(Column("KS distance D", [interval_cell(ks and ks["d"], decimal) for ks in tests]))
    for key, name in (("p_clustered", "p, files independent"), ("p_naive", "p, tokens independent")):
        columns.append(Column(name, [p_cell(ks and ks[key]) for ks in tests]))
    return Table("tokens", "Tokens", columns)


def window_table(record: dict[str, Any], notion: str) -> Table:
    """Return the numbers behind Fig. 2, one row per model.

    These are the threshold of a low window, the number of low windows, and the shares of windows that stand on CUDA,
    by each of the three readings.
    """
    by_model = [model["notions"][notion]["windows"] for model in record["models"].values()]
    limits = [of["threshold"] for of in by_model]
    columns = [
        text_column("model", record["models"]),
        number_column("windows", [of["count"] for of in by_model]),
        number_column("samples", [model["samples"] for model in record["models"].values()]),
        Column("low below", [Cell(ABSENT if limit is None else decimal(limit)) for limit in limits]),
        Column("low windows (%)", [interval_cell(of["low"], percent) for of in by_model]),
        Column("samples with one (%)", [interval_cell(of["samples_with_low"], percent) for of in by_model]),
    ]
    for reading, name in READING_NAMES.items():
        columns += _on_structures([of["on_sensitive"][reading] for of in by_model], f"on CUDA (%): {name}")
    return Table("windows", "Windows", columns)


def kind_table(record: dict[str, Any], notion: str) -> Table:
    """Return one row per kind of structure and model.

    Columns: number of tokens, mean confidence, share of tokens at most tau, and the share of windows whose middle
    token is on the structure, among low and among all windows.
    """
    models, tau = record["models"], record["settings"]["tau"]
    kinds = next(iter(models.values()))["kinds"]
    rows = [(kind, name) for kind in kinds for name, model in models.items() if model["kinds"][kind]["tokens"]]
    by_row = [models[name]["kinds"][kind] for kind, name in rows]
    columns = [
        text_column("kind", [kind for kind, _ in rows]),
        text_column("model", [name for _, name in rows]),
        number_column("tokens", [of["tokens"] for of in by_row]),
        Column("mean confidence", [interval_cell(of["mean"], decimal) for of in by_row]),
        Column(f"confidence at most {tau:g} (%)", [interval_cell(of["at_most_tau"], percent) for of in by_row]),
    ]
    windows = [models[name]["notions"][notion]["windows"]["on_kind"][kind]["centre"] for kind, name in rows]
    columns += _on_structures(windows)
    return Table("kinds", "By kind of structure (windows by their middle token)", columns)


def _on_structures(windows: list[dict[str, Any]], group: str = "") -> list[Column]:
    """Return three columns: the percentage of low and of all windows on a structure, and their difference."""
    return [
        Column(name, [interval_cell(of[key], write) for of in windows], group)
        for key, name, write in (
            ("low", "of low windows", percent),
            ("all", "of all windows", percent),
            ("difference", "difference", points),
        )
    ]


def render(record: dict[str, Any], picture: bytes) -> str:
    """Return the HTML page of what `analyze` and `draw` return."""
    settings, any_model = record["settings"], next(iter(record["models"].values()))
    parts = [Section("reading", "How to read it", text=HOW_TO_READ)]
    for notion, title in NOTIONS.items():
        tables = [table(record, notion) for table in (token_table, window_table, kind_table)]
        text = f"CUDA-sensitive: tokens of {', '.join(record['notions'][notion])}."
        parts.append(Section(notion, title, tables, text))
    parts.append(Section("tokens", "Fig. 1", pictures={"density and cumulative distribution of confidence": picture}))
    summary = (
        f"{any_model['files']:,} {'files' if settings['code'] else 'rows'}, cut at {settings['cutoff_len']:,} tokens; windows of "
        f"{settings['window']} tokens, stride 1. Intervals are 95%, by a bootstrap of {settings['resamples']:,} draws of whole files. cuset-stage "
        f"{record['cuset_stage']}."
    )
    return render_page(f"Confidence on {', '.join(map(str, settings['code'] or settings['dataset']))}", summary, parts)


def print_summary(record: dict[str, Any]) -> None:
    """Print the main numbers of every model to the terminal."""
    for notion, title in NOTIONS.items():
        tokens, windows = token_table(record, notion).columns, window_table(record, notion).columns
        shown = [*tokens[:1], *tokens[2:4], tokens[6], windows[4], *windows[6:8]]
        names = ("model", "CUDA mean", "other mean", "KS distance", "low windows (%)", "on CUDA (%), of low", "of all")
        columns = [replace(column, name=name, group="") for column, name in zip(shown, names, strict=True)]
        print_table(Table(notion, title, columns))


def draw(record: dict[str, Any]) -> bytes:
    """Return Fig. 1 as a PNG, with one column per model and two rows per definition of sensitivity."""
    models = record["models"]
    figure = Figure(figsize=(max(6.4, 4.4 * len(models)), 10), layout="constrained")
    grid = figure.subplots(4, len(models), squeeze=False)
    for rows, notion, written in ((grid[:2], "section3", "section 3"), (grid[2:], "eq3", "Eq. 3")):
        for density, cumulative, (name, model) in zip(*rows, models.items(), strict=True):
            of = model["notions"][notion]
            for (kind, label), curve, color in zip(CLASSES.items(), of["curve"], COLORS, strict=True):
                counts = of[kind]["density"]
                values = [count * len(counts) / max(1, sum(counts)) for count in counts]  # scaled to an area of 1
                edges = [at / len(counts) for at in range(len(counts) + 1)]
                density.stairs(values, edges, fill=True, alpha=0.3, color=color)
                density.stairs(values, edges, color=color, label=label)
                # A thousandth of the tokens on either side is cut off.
                shown = [(1 / (1 + math.exp(-odds)), y) for odds, y in curve if 0.001 <= y <= 0.999]
                cumulative.plot([x for x, _ in shown], [y for _, y in shown], color=color, label=label)
            distance = interval_cell(of["ks"] and of["ks"]["d"], decimal)
            ends = distance.detail and f" (95%: {distance.detail})"
            sizes = f"{of['sensitive']['tokens']:,} and {of['neutral']['tokens']:,} tokens of {model['files']:,} files"
            density.set_title(f"{name}: D = {distance.text}{ends}\n{sizes}", fontsize="medium", loc="left")
            density.set(xlabel="confidence", ylabel=f"density, {written}", xlim=(0, 1))
            cumulative.set(xscale="logit", xlabel="confidence (log-odds scale)", ylabel=f"share of tokens, {written}")
            for axes in (density, cumulative):
                axes.legend(fontsize="small")
    figure.savefig(file := io.BytesIO(), format="png", dpi=120)
    return file.getvalue()
