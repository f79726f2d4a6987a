"""`cuset analyze`: section 3 of the paper on any model, as JSON, pictures and a page."""

import json

import typer

from ..analysis.requests import AnalyzeSettings
from ..settings import check_writable
from ._app import app, command


@command(app, "analyze", AnalyzeSettings)
def analyze(settings: AnalyzeSettings) -> None:
    """Measure how sure models are of CUDA-sensitive and neutral tokens, and where their confidence is low (the paper's Fig. 1 and 2)."""
    check_writable("output", settings.output / "confidence.json")  # before torch is imported
    from ..analysis.analyze import analyze as measure
    from ..analysis.analyze_page import draw, print_summary, render
    from ..files import write_atomically

    record = measure(settings)
    numbers, page, picture = (settings.output / name for name in ("confidence.json", "confidence.html", "tokens.png"))
    write_atomically(numbers, json.dumps(record, indent=1) + "\n")
    picture.write_bytes(drawn := draw(record))
    write_atomically(page, render(record, drawn))
    print_summary(record)
    for path in (page, numbers, picture):
        typer.echo(str(path))
