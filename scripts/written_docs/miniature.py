"""What the miniature has found so far, in docs/miniature.md."""

import contextlib
import io

from . import ROOT, between_marks


def page() -> str:
    """docs/miniature.md with the tables of benchmarks/study."""
    from planned_tests import print_tests

    folder = ROOT / "benchmarks" / "study"
    _, summary, *tables = (folder / "report" / "report.md").read_text(encoding="utf-8").split("\n\n")
    with contextlib.redirect_stdout(io.StringIO()) as planned:
        print_tests(folder / "results.jsonl")
    text = "\n\n".join([summary, *tables]).replace("\n### ", "\n## ").rstrip()
    return between_marks("miniature.md", f"{text}\n\n## Planned beside the report\n\n{planned.getvalue().strip()}")
