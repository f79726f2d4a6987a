"""The record of `cuset analyze` as one HTML page that loads nothing, as pictures of the paper's Fig. 1 and 2, and in the terminal."""

import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from ..pages import template
from ..stage.artifacts import CUDA_COLOR
from .windows import READINGS


NOTIONS = {"section3": "Section 3: everything that depends on execution constraints", "eq3": "Eq. 3: the CUDA mask"}
CLASSES = {"sensitive": "CUDA-sensitive", "neutral": "neutral"}
COLORS = (CUDA_COLOR, "#c2410c")  # of their tokens
READING_NAMES = {"centre": "middle token", "majority": "more than half", "any": "any token"}


def number(value: float | None) -> str:
    """Three decimals from 0.1 on, below it two significant digits."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    return f"{value:.3f}" if abs(value) >= 0.0995 else f"{value:#.2g}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"


def points(value: float | None) -> str:
    """A difference of two shares, in percentage points, with a true minus."""
    return "–" if value is None else f"{100 * value:+z.1f}".replace("-", "−")


def interval(of: dict[str, float | None], form: Any) -> tuple[str, str]:
    """A value, and its interval where there is one."""
    return form(of["value"]), "" if of["low"] is None else f"{form(of['low'])} to {form(of['high'])}"


def p_text(value: float | None) -> str:
    """A p-value; a floating-point number ends at 1e-300."""
    if value is None:
        return "–"
    return "< 1e-300" if value < 1e-300 else f"{value:.2g}"


def token_rows(record: dict[str, Any], notion: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Of each model what Fig. 1 says: (model, cells of a text and a smaller one), in the order of TOKEN_COLUMNS."""
    rows = []
    for name, model in record["models"].items():
        of = model["notions"][notion]
        ks = of["ks"]
        cells = [(f"{of['sensitive']['tokens']:,}", f"of {model['tokens']:,}")]
        cells += [interval(of[kind]["mean"], number) for kind in CLASSES]
        cells += [interval(of[kind]["at_most_tau"], percent) for kind in CLASSES]
        if ks is None:
            cells += [("–", "")] * 3
        else:
            cells += [interval(ks["d"], number), (p_text(ks["p_clustered"]), ""), (p_text(ks["p_naive"]), "")]
        rows.append((name, cells))
    return rows


def token_columns(tau: float) -> list[str]:
    return [
        "CUDA-sensitive tokens",
        *(f"mean confidence, {name}" for name in CLASSES.values()),
        *(f"confidence at most {tau:g}, {name}" for name in CLASSES.values()),
        "KS distance D",
        "p, files independent",
        "p, tokens independent",
    ]


WINDOW_COLUMNS = ["low below", "low windows", "samples with one"]


def window_rows(record: dict[str, Any], notion: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Of each model what Fig. 2 says: the threshold, the low windows, and by each reading which of them stand on CUDA."""
    rows = []
    for name, model in record["models"].items():
        of = model["notions"][notion]["windows"]
        cells = [
            (number(of["threshold"]), ""),
            interval(of["low"], percent),
            interval(of["samples_with_low"], percent),
        ]
        for reading in READINGS:
            on = of["on_sensitive"][reading]
            cells += [interval(on["low"], percent), interval(on["all"], percent), interval(on["difference"], points)]
        rows.append((name, cells))
    return rows


def kind_rows(record: dict[str, Any], notion: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """By kind of structure and model: tokens, mean, share at most tau, and windows whose middle token is on it, low and all."""
    rows = []
    for kind in next(iter(record["models"].values()))["kinds"]:
        for name, model in record["models"].items():
            of, on = model["kinds"][kind], model["notions"][notion]["windows"]["on_kind"][kind]["centre"]
            if not of["tokens"]:
                continue
            cells = [(f"{of['tokens']:,}", ""), interval(of["mean"], number), interval(of["at_most_tau"], percent)]
            cells += [interval(on["low"], percent), interval(on["all"], percent), interval(on["difference"], points)]
            rows.append((kind, name, cells))
    return rows


def render(record: dict[str, Any]) -> str:
    """The page."""
    first = next(iter(record["models"].values()))
    of = record["settings"]
    source = ", ".join(map(str, of["code"] or of["dataset"]))
    return template("analysis/analyze.html").render(
        record=record,
        source=source,
        first=first,
        notions={notion: _notion(record, notion) for notion in NOTIONS},
        token_columns=token_columns(of["tau"]),
        window_columns=WINDOW_COLUMNS,
        readings=READING_NAMES,
        examples=_examples(record),
        classes=CLASSES,
    )


def _notion(record: dict[str, Any], notion: str) -> dict[str, Any]:
    return {
        "title": NOTIONS[notion],
        "kinds": record["notions"][notion],
        "tokens": token_rows(record, notion),
        "windows": window_rows(record, notion),
        "window_counts": {
            name: (model["notions"][notion]["windows"]["count"], model["samples"])
            for name, model in record["models"].items()
        },
        "by_kind": kind_rows(record, notion),
        "densities": {name: _densities(model["notions"][notion]) for name, model in record["models"].items()},
        "curves": {name: _curves(record, notion, name) for name in record["models"]},
    }


def densities(of: dict[str, Any]) -> dict[str, list[float]]:
    """Each class's density over equal bins of confidence, whose area is 1."""
    found = {}
    for kind in CLASSES:
        counts = of[kind]["density"]
        found[kind] = [count * len(counts) / max(1, sum(counts)) for count in counts]
    return found


def _densities(of: dict[str, Any]) -> dict[str, Any]:
    """Steps of both densities in a square of 1: x from 0 to 1, y down from the top."""
    found = densities(of)
    top = max(max(values) for values in found.values()) or 1
    paths = {}
    for kind, values in found.items():
        width = 1 / len(values)
        steps = [
            f"{at * width:.4g},{1 - value / top:.4g} {(at + 1) * width:.4g},{1 - value / top:.4g}"
            for at, value in enumerate(values)
        ]
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
    found = []
    for at, example in enumerate(next(iter(models.values()))["examples"]):
        same = {
            name: model["examples"][at]
            for name, model in models.items()
            if at < len(model["examples"]) and model["examples"][at]["tokens"] == example["tokens"]
        }
        limits = {name: models[name]["notions"]["section3"]["windows"]["threshold"] or 0 for name in same}
        top = 1.05 * max([*(max(one["means"]) for one in same.values()), *limits.values()])
        curves = {
            name: " ".join(
                f"{one['first_middle'] + place + 0.5:g},{1 - mean / top:.4f}"
                for place, mean in enumerate(one["means"])
            )
            for name, one in same.items()
        }
        runs = [(start, end - start, kind) for kind, all_runs in example["runs"].items() for start, end in all_runs]
        limits = {name: 1 - limit / top for name, limit in limits.items()}
        found.append({**example, "top": top, "curves": curves, "limits": limits, "runs": runs})
    return found


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
        columns = [Column(name, justify="right", no_wrap=True) for name in names]
        table = Table(
            Column("model", overflow="fold"), *columns, title=title, title_justify="left", box=None, pad_edge=False
        )
        windows = dict(window_rows(record, notion))
        for name, cells in token_rows(record, notion):
            low = windows[name]
            table.add_row(name, cells[1][0], cells[2][0], *cells[5], low[1][0], low[3][0], low[4][0])
        Console().print(table)


def draw(record: dict[str, Any], folder: Path) -> list[Path]:
    """tokens.png (Fig. 1, a column a model, a row a notion) and windows.png (Fig. 2: along a sample, and shares by each reading)."""
    from matplotlib.figure import Figure

    models = record["models"]
    figure = Figure(figsize=(max(6.4, 4.4 * len(models)), 10), layout="constrained")
    grid = figure.subplots(4, len(models), squeeze=False)
    for (upper, lower), (notion, written) in zip(
        (grid[:2], grid[2:]), (("section3", "section 3"), ("eq3", "Eq. 3")), strict=True
    ):
        low, high = odds_range(record, notion)
        for density, cumulative, (name, model) in zip(upper, lower, models.items(), strict=True):
            of = model["notions"][notion]
            for kind, curve, color in zip(CLASSES, of["curve"], COLORS, strict=True):
                values = densities(of)[kind]
                edges = [at / len(values) for at in range(len(values) + 1)]
                density.stairs(values, edges, fill=True, alpha=0.3, color=color)
                density.stairs(values, edges, color=color, label=CLASSES[kind])
                cumulative.plot(*zip(*curve, strict=True), color=color, label=CLASSES[kind])
            value, ends = ("–", "") if of["ks"] is None else interval(of["ks"]["d"], number)
            sizes = f"{of['sensitive']['tokens']:,} and {of['neutral']['tokens']:,} tokens of {model['files']:,} files"
            density.set_title(
                f"{name}: D = {value}{ends and f' (95%: {ends})'}\n{sizes}", fontsize="medium", loc="left"
            )
            density.set(xlabel="confidence", ylabel=f"density, {written}", xlim=(0, 1))
            marks = [low + at / 3 * (high - low) for at in range(4)]
            cumulative.set_xticks(marks, [probability(mark) for mark in marks])
            cumulative.set(
                xlabel="confidence (log-odds scale)",
                ylabel=f"share of tokens, {written}",
                xlim=(low, high),
                ylim=(0, 1),
            )
            density.legend(fontsize="small")
            cumulative.legend(fontsize="small", loc="lower right")
    paths = [folder / "tokens.png"]
    figure.savefig(paths[0], dpi=120)

    examples = _examples(record)
    groups = [(name, reading) for name in models for reading in READINGS]
    figure = Figure(
        figsize=(max(10, len(groups)), 7), layout="constrained"
    )  # the groups' names stand beside each other
    along, shares = figure.subplots(2, 1)
    first_model = next(iter(models.values()))
    first = first_model["examples"][0]
    for start, length, _ in examples[0]["runs"]:
        along.axvspan(start, start + length, color=COLORS[0], alpha=0.12, linewidth=0)
    for at, name in enumerate(examples[0]["curves"]):
        means = models[name]["examples"][0]["means"]
        (line,) = along.plot(
            [first["first_middle"] + place for place in range(len(means))], means, label=name, color=f"C{at}"
        )
        along.axhline(
            models[name]["notions"]["section3"]["windows"]["threshold"] or 0, color=line.get_color(), linestyle="--"
        )
    along.set(xlabel="token", ylabel="mean confidence of a window", ylim=(0, None), xlim=(0, first["tokens"]))
    along.set_title(
        f"{first['name'][-60:]}: shaded, CUDA-sensitive code; dashed, the neutral tokens' mean",
        loc="left",
        fontsize="medium",
    )
    along.legend(fontsize="small")
    for offset, key, color in ((-0.2, "low", COLORS[1]), (0.2, "all", "#8a939b")):
        of = [models[name]["notions"]["section3"]["windows"]["on_sensitive"][reading][key] for name, reading in groups]
        values = [100 * (one["value"] or 0) for one in of]
        gaps = [
            [0, 0]
            if one["low"] is None
            else [100 * max(0, one["value"] - one["low"]), 100 * max(0, one["high"] - one["value"])]
            for one in of
        ]
        places = [at + offset for at in range(len(of))]
        shares.bar(
            places,
            values,
            width=0.38,
            color=color,
            label=f"{key} windows",
            yerr=list(zip(*gaps, strict=True)),
            ecolor="#101418",
        )
    counts = {name: model["notions"]["section3"]["windows"] for name, model in models.items()}
    sizes = {
        name: f"{(of['low']['value'] or 0) * of['count']:,.0f} low\nof {of['count']:,}" for name, of in counts.items()
    }
    shares.set_xticks(
        range(len(groups)),
        [f"{name}\n{READING_NAMES[reading]}\n{sizes[name]}" for name, reading in groups],
        fontsize="small",
    )
    shares.set_title(f"windows of {first_model['samples']:,} samples, by section 3", loc="left", fontsize="medium")
    shares.set(ylabel="on CUDA code (%, 95% intervals)", ylim=(0, 105))
    shares.legend(fontsize="small")
    paths.append(folder / "windows.png")
    figure.savefig(paths[1], dpi=120)
    return paths
