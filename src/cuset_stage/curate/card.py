"""The data card: what is in a set, where it comes from, what was left out and why, and on which GPU it was verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment

from .. import __version__
from ..jsonl import read_objects
from .funnel import read_funnel
from .pass_rates import pass_rates, sentences
from .settings import ExportSettings
from .stage_rows import CurationError
from .training_text import length_report


_CARD = """\
# Data card: {{ name }}

Written by cuset-stage {{ version }} on {{ today }}.

## Contents

| split | rows | tasks |
|---|---:|---:|
{% for split in ("train", "eval") %}
| {{ split }} | {{ facts.counts.split[split] | n }} | {{ facts.tasks.values() | select("equalto", split) | list | length | n }} |
{% endfor %}

Entries of dataset_info.json: {% for key, entry in entries.items() %}`{{ key }}` ({{ entry.file_name }}){{ ", " if not loop.last }}\
{% else %}none: no row was left{% endfor %}. No task is in both splits.

{% if steps | selectattr("stale") | list %}
## Out of date

{% for step in steps if step.stale %}
- {{ step.stale }}
{% endfor %}

{% endif %}
## Verification

Rows by verdict: {{ facts.counts.verdict | counts(": ") or "no rows" }}.

{% if prove is none %}
The programs were not verified.
{% else %}
{% if prove.stopped %}
The verification was stopped: {{ prove.unsettled | n }} of {{ prove.read | n }} rows are still to come.

{% endif %}
{% set given = prove.settings %}
{% if given.compile_only %}
Programs were compiled and not run: nvcc {{ given.toolkit or "unknown" }}, `-arch={{ given.arch }}`.
{% else %}
Every program passed every case {{ given.times }} times on: \
{{ given.gpu + ", driver " + (given.driver or "unknown") if given.gpu else "no GPU (host programs)" }}; \
nvcc {{ given.toolkit or "unknown" }}, `-arch={{ given.arch }}`, `{{ (given.flags or ()) | join(" ") }}`.\
{% if given.gpu and given.mutants %}
 Of up to {{ given.mutants }} wrong versions of each, at least one was found out by its cases\
{% if facts.without_mutants %}; {{ facts.without_mutants | n }} rows have none (modules, or nothing that compiled){% endif %}.\
{% endif %}

{% endif %}
{% endif %}

{% if rates %}
## Sampled answers

{% for sentence in rates %}
- {{ sentence }}
{% endfor %}

{% endif %}
{% for title, column, counter in tables if counter %}
## {{ title }}

| {{ column }} | rows |
|---|---:|
{% for key, count in counter.most_common() %}
| {{ key }} | {{ count | n }} |
{% endfor %}

{% endfor %}
## Funnel

| stage | read | kept | dropped | to try again | why dropped |
|---|---:|---:|---:|---:|---|
{% for step in steps %}
| {{ step.stage }} | {{ step.read | n }} | {{ step.kept | n }} | {{ step.dropped | n }} | {{ step.unsettled | n }} | {{ step.reasons | counts(" ") }} |
{% endfor %}

{% if lengths.rows %}
## Lengths

Tokens of prompt and answer ({{ lengths.counted_by }}): \
{% for q, value in lengths.quantiles.items() %}{{ "{:.0%}".format(q | float) }}: {{ value | n }}, {% endfor %}\
longest {{ lengths.longest | n }}. {{ lengths.over | n }} rows are longer than cutoff_len {{ lengths.cutoff_len | n }}; training would \
cut {{ lengths.tokens_lost | n }} of {{ lengths.tokens | n }} tokens.

{% endif %}
## Benchmarks

{% if against %}
Held against {% for key, entry in against.items() %}{{ key }} ({{ entry.tasks | n }} tasks, sha256 {{ entry.sha256[:12] }})\
{{ ", " if not loop.last }}{% endfor %}. Rows removed: {{ found | counts(" ") or "none" }}.
{% else %}
The set was not held against any benchmark.
{% endif %}
"""


def data_card(settings: ExportSettings, facts: Any, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown. facts: `export.Facts`. entries: of dataset_info.json."""
    steps = []
    with suppress(CurationError):
        steps = [step for step in read_funnel(settings.folder) if step.stage != "export"]
    by_stage = {step.stage: step for step in steps}
    contaminated = settings.folder / "deduplicate" / "contamination.jsonl"
    rows = read_objects(contaminated) if contaminated.is_file() else ()
    found = Counter(f"{row['benchmark']}: {row['method']}" for _, row in rows)
    page = Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False, keep_trailing_newline=True)
    page.filters["n"] = "{:,}".format
    page.filters["counts"] = lambda counts, sign: ", ".join(f"{what}{sign}{n:,}" for what, n in counts.items())
    return page.from_string(_CARD).render(
        name=settings.name,
        version=__version__,
        today=f"{datetime.now(UTC):%Y-%m-%d}",
        facts=facts,
        lengths=length_report(facts.tokens, settings),
        entries=entries,
        steps=steps,
        prove=by_stage.get("prove"),
        rates=sentences(pass_rates(settings.folder / "prove")),
        tables=[
            ("Families", "family", facts.counts["family"]),
            ("Answers", "written by", facts.counts["answered_by"]),
            ("Licences", "licence", facts.counts["licence"]),
            ("Sources", "source and revision", facts.counts["source"]),
        ],
        against=by_stage["deduplicate"].settings.get("against", {}) if "deduplicate" in by_stage else {},
        found=found,
    )
