"""The record of `cuset analyze` as one HTML page that loads nothing, as pictures of the paper's Fig. 1 and 2, and in the terminal."""

import math
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..pages import template
from ..report.cells import (
    ABSENT,
    Cell,
    Column,
    Table,
    decimal,
    interval_cell,
    number_column,
    percent,
    points,
    text_column,
)
from ..stage.artifacts import CUDA_COLOR
from .distribution import READINGS


NOTIONS = {"section3": "Section 3: everything that depends on execution constraints", "eq3": "Eq. 3: the CUDA mask"}
CLASSES = {"sensitive": "CUDA-sensitive", "neutral": "neutral"}
COLORS = (CUDA_COLOR, "#c2410c")  # of their tokens
READING_NAMES = {"centre": "middle token", "majority": "more than half", "any": "any token"}


def share(value: float) -> str:
    return f"{percent(value)}%"


def p_text(value: float | None) -> str:
    """A p-value; a floating-point number ends at 1e-300."""
    if value is None:
        return ABSENT
    return "< 1e-300" if value < 1e-300 else f"{value:.2g}"


def token_table(record: dict[str, Any], notion: str) -> Table:
    """What Fig. 1 says of each model."""
    models, tau = record["models"], record["settings"]["tau"]
    notions = [model["notions"][notion] for model in models.values()]
    sizes = [(of["sensitive"]["tokens"], model["tokens"]) for of, model in zip(notions, models.values(), strict=True)]
    columns = [text_column("model", models)]
    columns.append(Column("CUDA-sensitive tokens", [Cell(f"{n:,}", detail=f"of {of_all:,}") for n, of_all in sizes]))
    for kind, named in CLASSES.items():
        means = [interval_cell(of[kind]["mean"], decimal) for of in notions]
        columns.append(Column(f"mean confidence, {named}", means))
    for kind, named in CLASSES.items():
        shares = [interval_cell(of[kind]["at_most_tau"], share) for of in notions]
        columns.append(Column(f"confidence at most {tau:g}, {named}", shares))
    tests = [of["ks"] for of in notions]
    columns.append(Column("KS distance D", [interval_cell(ks and ks["d"], decimal) for ks in tests]))
    for key, name in (("p_clustered", "p, files independent"), ("p_naive", "p, tokens independent")):
        columns.append(Column(name, [Cell(p_text(ks and ks[key])) for ks in tests]))
    return Table("tokens", "Tokens", columns)


def window_table(record: dict[str, Any], notion: str) -> Table:
    """What Fig. 2 says of each model: the threshold, the low windows, and by each reading which of them stand on CUDA."""
    by_model = [model["notions"][notion]["windows"] for model in record["models"].values()]
    limits = [of["threshold"] for of in by_model]
    columns = [
        text_column("model", record["models"]),
        Column("low below", [Cell(ABSENT if limit is None else decimal(limit)) for limit in limits]),
        Column("low windows", [interval_cell(of["low"], share) for of in by_model]),
        Column("samples with one", [interval_cell(of["samples_with_low"], share) for of in by_model]),
    ]
    for reading, name in READING_NAMES.items():
        columns += _on_structures([of["on_sensitive"][reading] for of in by_model], f"on CUDA: {name}")
    return Table("windows", "Windows", columns)


def kind_table(record: dict[str, Any], notion: str) -> Table:
    """By kind of structure and model: tokens, mean, share at most tau, and windows whose middle token is on it, low and all."""
    models, tau = record["models"], record["settings"]["tau"]
    kinds = next(iter(models.values()))["kinds"]
    rows = [(kind, name) for kind in kinds for name, model in models.items() if model["kinds"][kind]["tokens"]]
    by_row = [models[name]["kinds"][kind] for kind, name in rows]
    columns = [
        text_column("kind", [kind for kind, _ in rows]),
        text_column("model", [name for _, name in rows]),
        Column("tokens", [Cell(f"{of['tokens']:,}") for of in by_row]),
        Column("mean confidence", [interval_cell(of["mean"], decimal) for of in by_row]),
        Column(f"confidence at most {tau:g}", [interval_cell(of["at_most_tau"], share) for of in by_row]),
    ]
    windows = [models[name]["notions"][notion]["windows"]["on_kind"][kind]["centre"] for kind, name in rows]
    return Table("kinds", "By kind", columns + _on_structures(windows))


def _on_structures(windows: list[dict[str, Any]], group: str = "") -> list[Column]:
    """Of low and of all windows how many stand on a structure."""
    names = {"low": ("of low windows", share), "all": ("of all windows", share), "difference": ("difference", points)}
    cells = {name: [interval_cell(of[key], form) for of in windows] for key, (name, form) in names.items()}
    return [Column(name, of_name, group) for name, of_name in cells.items()]


def model_table(record: dict[str, Any]) -> Table:
    """What the models are, and what reading with them took."""
    models = record["models"].values()
    served = (f" at {model['endpoint']}" if model.get("endpoint") else "" for model in models)
    columns = [
        text_column("name", record["models"]),
        text_column("model", [model["model"] + at for model, at in zip(models, served, strict=True)]),
        text_column("adapter", [model.get("adapter") or ABSENT for model in models]),
        number_column("bits", [model.get("quantization_bit") for model in models]),
        number_column("tokens", [model["tokens"] for model in models]),
        number_column("read in (s)", [model["read_s"] for model in models]),
        number_column("GPU memory (GiB)", [model["peak_gpu_gib"] for model in models], digits=1),
    ]
    return Table("models", "Models", columns)


def render(record: dict[str, Any]) -> str:
    """The page."""
    models, settings = record["models"], record["settings"]
    notions = {}
    for notion, title in NOTIONS.items():
        by_model = {name: model["notions"][notion] for name, model in models.items()}
        notions[notion] = {
            "title": title,
            "kinds": record["notions"][notion],
            "tokens": token_table(record, notion),
            "windows": window_table(record, notion),
            "window_counts": {
                name: (of["windows"]["count"], models[name]["samples"]) for name, of in by_model.items()
            },
            "by_kind": kind_table(record, notion),
            "densities": {name: _density_steps(of) for name, of in by_model.items()},
            "curves": {name: _curves(record, notion, name) for name in models},
        }
    return template("analysis/analyze.html").render(
        record=record,
        source=", ".join(map(str, settings["code"] or settings["dataset"])),
        first=next(iter(models.values())),
        notions=notions,
        models=model_table(record),
        examples=_examples(record),
        classes=CLASSES,
    )


def densities(of: dict[str, Any]) -> dict[str, list[float]]:
    """Each class's density over equal bins of confidence, whose area is 1."""
    counts = {kind: of[kind]["density"] for kind in CLASSES}
    return {kind: [count * len(bins) / max(1, sum(bins)) for count in bins] for kind, bins in counts.items()}


def _density_steps(of: dict[str, Any]) -> dict[str, Any]:
    """Steps of both densities in a square of 1: x from 0 to 1, y down from the top."""
    by_class = densities(of)
    top = max(max(values) for values in by_class.values()) or 1
    paths = {}
    for kind, values in by_class.items():
        width, heights = 1 / len(values), [f"{1 - value / top:.4g}" for value in values]
        steps = [f"{at * width:.4g},{y} {(at + 1) * width:.4g},{y}" for at, y in enumerate(heights)]
        paths[kind] = " ".join(["0,1", *steps, "1,1"])
    return {"top": top, "paths": paths}


def odds_range(record: dict[str, Any], notion: str) -> tuple[int, int]:
    """The log odds between which the tokens of every model lie, all but a thousandth on either side."""
    curves = [curve for model in record["models"].values() for curve in model["notions"][notion]["curve"] if curve]
    low = min(next(x for x, y in curve if y >= 0.001) for curve in curves)
    high = max(next(x for x, y in curve if y >= 0.999) for curve in curves)
    return math.floor(low), math.ceil(high) + (math.floor(low) == math.ceil(high))


def probability(odds: float) -> str:
    """Log odds as a probability that tells them apart: 1e-05, 0.5, 0.98, 1 − 3e-06."""
    p = 1 / (1 + math.exp(-odds))
    rest = 1 / (1 + math.exp(odds))
    if rest < 0.0005:
        return f"1 − {rest:.1g}"
    return f"{p:.1g}" if p <= 0.9 else f"{p:.{-math.floor(math.log10(rest))}f}"


def _curves(record: dict[str, Any], notion: str, name: str) -> dict[str, Any]:
    """Both cumulative distributions over log odds in a square of 1, y down from the top, with marks on the axis."""
    low, high = odds_range(record, notion)
    paths = {}
    for kind, curve in zip(CLASSES, record["models"][name]["notions"][notion]["curve"], strict=True):
        paths[kind] = " ".join(f"{(x - low) / (high - low):.4g},{1 - y:.4g}" for x, y in curve if low <= x <= high)
    marks = [(at / 4, probability(low + at / 4 * (high - low))) for at in range(5)]
    return {"paths": paths, "marks": marks}


def _examples(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The windows along the first samples: a curve for each model that reads the same tokens, and the first model's structures."""
    models = record["models"]
    examples = []
    for at, example in enumerate(next(iter(models.values()))["examples"]):
        readings = {name: model["examples"][at] for name, model in models.items() if at < len(model["examples"])}
        same = {name: reading for name, reading in readings.items() if reading["tokens"] == example["tokens"]}
        limits = {name: models[name]["notions"]["section3"]["windows"]["threshold"] or 0 for name in same}
        top = 1.05 * max([*(max(reading["means"]) for reading in same.values()), *limits.values()])
        curves = {}
        for name, reading in same.items():
            middles = enumerate(reading["means"], start=reading["first_middle"])
            curves[name] = " ".join(f"{middle + 0.5:g},{1 - mean / top:.4f}" for middle, mean in middles)
        runs = [(start, end - start, kind) for kind, all_runs in example["runs"].items() for start, end in all_runs]
        limits = {name: 1 - limit / top for name, limit in limits.items()}
        examples.append({**example, "top": top, "curves": curves, "limits": limits, "runs": runs})
    return examples


def print_summary(record: dict[str, Any]) -> None:
    """The main numbers of every model, on the terminal."""
    names = (
        "sensitive\nmean",
        "neutral\nmean",
        "KS\nD",
        "95%\ninterval",
        "low\nwindows",
        "of them\non CUDA",
        "of all\non CUDA",
    )
    for notion, title in NOTIONS.items():
        shown = RichTable("model", title=title, title_justify="left", box=None, pad_edge=False)
        for name in names:
            shown.add_column(name, justify="right", no_wrap=True)
        rows = zip(token_table(record, notion).rows, window_table(record, notion).rows, strict=True)
        for (model, _, sensitive, neutral, _, _, distance, *_), (_, _, low, _, low_on, all_on, *_) in rows:
            means = sensitive.text, neutral.text
            shown.add_row(Text(model.text), *means, distance.text, distance.detail, low.text, low_on.text, all_on.text)
        Console().print(shown)


def draw(record: dict[str, Any], folder: Path) -> list[Path]:
    """tokens.png (Fig. 1, a column a model, a row a notion) and windows.png (Fig. 2: along a sample, and shares by each reading)."""
    paths = [folder / "tokens.png", folder / "windows.png"]
    for path, figure in zip(paths, (_draw_tokens(record), _draw_windows(record)), strict=True):
        figure.savefig(path, dpi=120)
    return paths


def _draw_tokens(record: dict[str, Any]) -> Figure:
    models = record["models"]
    figure = Figure(figsize=(max(6.4, 4.4 * len(models)), 10), layout="constrained")
    grid = figure.subplots(4, len(models), squeeze=False)
    for rows, notion, written in ((grid[:2], "section3", "section 3"), (grid[2:], "eq3", "Eq. 3")):
        low, high = odds_range(record, notion)
        ticks = [low + at / 3 * (high - low) for at in range(4)]
        for density, cumulative, (name, model) in zip(*rows, models.items(), strict=True):
            of = model["notions"][notion]
            for (kind, values), curve, color in zip(densities(of).items(), of["curve"], COLORS, strict=True):
                edges = [at / len(values) for at in range(len(values) + 1)]
                density.stairs(values, edges, fill=True, alpha=0.3, color=color)
                density.stairs(values, edges, color=color, label=CLASSES[kind])
                cumulative.plot(*zip(*curve, strict=True), color=color, label=CLASSES[kind])
            distance = interval_cell(of["ks"] and of["ks"]["d"], decimal)
            ends = distance.detail and f" (95%: {distance.detail})"
            sizes = f"{of['sensitive']['tokens']:,} and {of['neutral']['tokens']:,} tokens of {model['files']:,} files"
            density.set_title(f"{name}: D = {distance.text}{ends}\n{sizes}", fontsize="medium", loc="left")
            density.set(xlabel="confidence", ylabel=f"density, {written}", xlim=(0, 1))
            density.legend(fontsize="small")
            cumulative.set_xticks(ticks, [probability(tick) for tick in ticks])
            cumulative.set(xlabel="confidence (log-odds scale)", ylabel=f"share of tokens, {written}")
            cumulative.set(xlim=(low, high), ylim=(0, 1))
            cumulative.legend(fontsize="small", loc="lower right")
    return figure


def _draw_windows(record: dict[str, Any]) -> Figure:
    windows = {name: model["notions"]["section3"]["windows"] for name, model in record["models"].items()}
    groups = [(name, reading) for name in windows for reading in READINGS]
    # The groups' names stand beside each other.
    figure = Figure(figsize=(max(10, len(groups)), 7), layout="constrained")
    along, shares = figure.subplots(2, 1)
    example = _examples(record)[0]
    for start, length, _ in example["runs"]:
        along.axvspan(start, start + length, color=COLORS[0], alpha=0.12, linewidth=0)
    for at, name in enumerate(example["curves"]):
        means = record["models"][name]["examples"][0]["means"]
        middles = range(example["first_middle"], example["first_middle"] + len(means))
        along.plot(middles, means, label=name, color=f"C{at}")
        along.axhline(windows[name]["threshold"] or 0, color=f"C{at}", linestyle="--")
    along.set(xlabel="token", ylabel="mean confidence of a window", ylim=(0, None), xlim=(0, example["tokens"]))
    title = f"{example['name'][-60:]}: shaded, CUDA-sensitive code; dashed, the neutral tokens' mean"
    along.set_title(title, loc="left", fontsize="medium")
    along.legend(fontsize="small")

    for offset, key, color in ((-0.2, "low", COLORS[1]), (0.2, "all", "#8a939b")):
        of = [windows[name]["on_sensitive"][reading][key] for name, reading in groups]
        values = [one["value"] or 0 for one in of]
        # Of one file there is no interval.
        ends = [(one["low"], one["high"]) if one["low"] is not None else (one["value"] or 0,) * 2 for one in of]
        below = [100 * max(0, value - low) for value, (low, _) in zip(values, ends, strict=True)]
        above = [100 * max(0, high - value) for value, (_, high) in zip(values, ends, strict=True)]
        bars = {"width": 0.38, "color": color, "label": f"{key} windows", "yerr": (below, above), "ecolor": "#101418"}
        shares.bar([at + offset for at in range(len(of))], [100 * value for value in values], **bars)
    sizes = {}
    for name, of in windows.items():
        sizes[name] = f"{(of['low']['value'] or 0) * of['count']:,.0f} low\nof {of['count']:,}"
    names = [f"{name}\n{READING_NAMES[reading]}\n{sizes[name]}" for name, reading in groups]
    shares.set_xticks(range(len(groups)), names, fontsize="small")
    samples = next(iter(record["models"].values()))["samples"]
    shares.set_title(f"windows of {samples:,} samples, by section 3", loc="left", fontsize="medium")
    shares.set(ylabel="on CUDA code (%, 95% intervals)", ylim=(0, 105))
    shares.legend(fontsize="small")
    return figure
