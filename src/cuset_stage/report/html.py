"""The report as one HTML page that loads nothing: tables, charts, and every sample behind them."""

import base64
import hashlib
from importlib import resources
from urllib.parse import quote, urlencode

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from .build import Report
from .cells import Cell
from .charts import pass_charts, token_chart, verdict_chart
from .details import (
    audit_note_table,
    audit_table,
    audit_text,
    case_table,
    flag_table,
    score_table,
    settings_tables,
    timing_table,
)
from .payload import make_payload
from .statistics import Rule
from .tables import comparison_table, family_table, main_table, token_table, verdict_table


def render_html(report: Report) -> str:
    """The page. What programs and models wrote is escaped, and a content security policy lets no script run but the page's own."""
    files = resources.files(__package__)
    script = files.joinpath("page.js").read_text(encoding="utf-8")
    style = files.joinpath("page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals["href"] = _href
    payload = make_payload(report)
    template = environment.from_string(files.joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        report=report,
        collection=report.collection,
        main=[main_table(report, rule) for rule in Rule],
        unflagged=[main_table(report, rule, unflagged=True) for rule in Rule] if report.unflagged_rates else [],
        comparisons=comparison_table(report),
        verdicts=verdict_table(report),
        tokens=token_table(report),
        families=family_table(report),
        cases=case_table(report),
        scores=score_table(report),
        timing=timing_table(report),
        flags=flag_table(report),
        audit=audit_table(report),
        audit_text=audit_text(report),
        audit_notes=audit_note_table(report),
        settings=settings_tables(report),
        pass_charts=pass_charts(report),
        verdict_chart=verdict_chart(report),
        token_chart=token_chart(report),
        payload=payload,
        index=Markup(payload.index),
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _href(cell: Cell) -> str:
    """A link to the samples behind a number: the page's script reads the filter from the fragment."""
    return "#" + urlencode(cell.link, quote_via=quote)
