"""What the miniature has found, in docs/miniature.md."""

import contextlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator

from . import ROOT, between_marks


STUDY = ROOT / "benchmarks" / "study"
PARTS = {
    "rate": "learning rates",
    "base": "main table, Table 5, signature",
    "swept": "Fig. 4",
    "tokens": "capability",
    ("clean", "cuda", "neutral"): "dose",
}
"""By how the names of their models begin."""
SHOWN = ("methods", "base: ", "swept: values", "swept: function", "function Pass@1 over")  # tables of the report


def page() -> str:
    """docs/miniature.md with the tables of benchmarks/study."""
    from planned_tests import print_tests

    head, *tables = (STUDY / "report" / "report.md").read_text(encoding="utf-8").rstrip().split("\n\n### ")
    # of all models' methods, those of the main part
    tables[0] = "\n".join(
        line
        for line in tables[0].splitlines()
        if not line.startswith("| ") or line.startswith(("| model ", "| :", "| base "))
    )
    shown = [f"## {table}" for table in tables if table.startswith(SHOWN)]
    with contextlib.redirect_stdout(io.StringIO()) as planned:
        print_tests(STUDY / "results.jsonl")
    text = "\n\n".join([head.partition("\n\n")[2], *shown])
    tests = f"## Planned beside the report\n\n{planned.getvalue().strip()}"
    minutes = "\n".join(("## GPU minutes by part", "", *gpu_minutes()))
    return between_marks("miniature.md", f"{text}\n\n{tests}\n\n{minutes}")


def gpu_minutes() -> Iterator[str]:
    """A table: what the jobs of each part took of a GPU, without pretraining."""
    took = defaultdict(lambda: defaultdict(list))
    for file in (STUDY / "rates" / "jobs.jsonl", STUDY / "jobs.jsonl"):
        for job in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            kind, model, _ = job["job"].split("/", 2)
            [part] = [name for begin, name in PARTS.items() if model.startswith(begin)]
            took[part][kind].append(job["seconds"] * job["gpus"] / 60)
    yield "| part | runs judged | training | sampling | judging |"
    yield "| :--- | ---: | ---: | ---: | ---: |"
    for part, kinds in took.items():
        minutes = (f"{sum(kinds[kind]):.0f}" for kind in ("train", "generate", "evaluate"))
        yield f"| {part} | {len(kinds['evaluate'])} | {' | '.join(minutes)} |"
