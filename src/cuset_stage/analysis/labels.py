"""A data set's labels before anyone trains: how much of it is CUDA, what cutoff_len takes, which rows have nothing to label.

Imports `factory`, and with it LLaMA-Factory, when it is called.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .collect import AnalysisError


EDGES = (0, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384)  # of the length histogram, in tokens
NAMED_ROWS = 50  # rows that a summary names for each finding
SHOWN_CHARS = 12_000  # of a response in the page


@dataclass(frozen=True)
class LabelRequest:
    """What to label, as a recipe would say it.

    Args:
        model: folder or Hub name of the model; only its tokenizer is loaded.
        datasets: names in dataset_dir/dataset_info.json.
        kinds, aliases: as cuset_sensitive_kinds and cuset_kernel_aliases.
        examples: rows that the page shows in full.
        workers: processes; None: one a CPU.

    Raises:
        AnalysisError: a value out of its range.
    """

    model: str
    datasets: tuple[str, ...]
    dataset_dir: str = "data"
    template: str = "qwen"
    cutoff_len: int = 4096
    kinds: tuple[str, ...] = ("kernel_body", "launch_config")
    aliases: tuple[str, ...] = ()
    max_samples: int | None = None
    examples: int = 5
    workers: int | None = None
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        if not self.datasets:
            raise AnalysisError(
                "--dataset is empty: give one or more names of dataset_info.json, separated by commas."
            )
        for option, value, least in (
            ("--cutoff-len", self.cutoff_len, 2),
            ("--examples", self.examples, 0),
            ("--workers", self.workers, 1),
            ("--max-samples", self.max_samples, 1),
        ):
            if value is not None and value < least:
                raise AnalysisError(f"{option} {value}: at least {least}.")


@dataclass(frozen=True)
class Example:
    """A row as the page shows it: the responses of all turns, and (start, end, kind) of their spans in the chosen kinds."""

    row: int
    prompt: str
    response: str
    spans: list[tuple[int, int, str]]
    cut_off: int  # tokens of the response that cutoff_len takes


@dataclass
class LabelSummary:
    """A data set's labels in numbers; row numbers count from 0. Tokens are those of responses unless they say `row`."""

    rows: int = 0
    unusable: int = 0
    supervised_tokens: int = 0
    cuda_tokens: int = 0
    row_tokens: int = 0
    rows_without_cuda: int = 0
    rows_truncated: int = 0
    rows_without_response: int = 0
    lost_tokens: int = 0
    lost_cuda_tokens: int = 0
    rows_cuda_lost: int = 0
    spans: Counter[str] = field(default_factory=Counter)
    rows_with_kind: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)  # index of EDGES -> rows
    shares: Counter[int] = field(default_factory=Counter)  # tenth of the CUDA share -> rows
    longest: int = 0
    named: dict[str, list[int]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)

    @property
    def cuda_share(self) -> float | None:
        """CUDA tokens among the supervised ones; None where nothing is supervised."""
        return self.cuda_tokens / self.supervised_tokens if self.supervised_tokens else None

    def add(self, counts: Any) -> None:
        """Count one row (`factory.survey.RowCounts`)."""
        self.rows += 1
        if not counts.usable:
            self.unusable += 1
            self._name("unusable", counts.row)
            return
        self.row_tokens += counts.tokens
        self.supervised_tokens += counts.supervised
        self.cuda_tokens += counts.cuda
        self.lost_tokens += counts.lost_supervised
        self.lost_cuda_tokens += counts.lost_cuda
        self.longest = max(self.longest, counts.tokens)
        self.lengths[sum(counts.tokens >= edge for edge in EDGES) - 1] += 1
        self.spans.update(counts.spans)
        self.rows_with_kind.update(counts.spans.keys())
        if counts.supervised:
            self.shares[min(9, 10 * counts.cuda // counts.supervised)] += 1
        for finding, found in (
            ("rows_truncated", counts.kept < counts.tokens),
            ("rows_without_response", counts.supervised == 0),
            ("rows_without_cuda", counts.cuda == 0),
            ("rows_cuda_lost", counts.lost_cuda > 0),
        ):
            if found:
                setattr(self, finding, getattr(self, finding) + 1)
                self._name(finding, counts.row)

    def _name(self, finding: str, row: int) -> None:
        rows = self.named.setdefault(finding, [])
        if len(rows) < NAMED_ROWS:
            rows.append(row)

    def as_json(self) -> dict[str, Any]:
        """Everything but the examples' text."""
        from ..spans import KINDS, LABEL_VERSION

        return {
            "label_version": LABEL_VERSION,
            **self.settings,
            "rows": self.rows,
            "unusable_rows": self.unusable,
            "row_tokens": self.row_tokens,
            "longest_row": self.longest,
            "supervised_tokens": self.supervised_tokens,
            "cuda_tokens": self.cuda_tokens,
            "cuda_share": self.cuda_share,
            "rows_without_cuda": self.rows_without_cuda,
            "truncation": {
                "rows": self.rows_truncated,
                "rows_without_response": self.rows_without_response,
                "rows_losing_cuda": self.rows_cuda_lost,
                "lost_tokens": self.lost_tokens,
                "lost_cuda_tokens": self.lost_cuda_tokens,
            },
            "spans": {kind: {"spans": self.spans[kind], "rows": self.rows_with_kind[kind]} for kind in KINDS},
            "length_histogram": [
                {"from": edge, "to": EDGES[index + 1] if index + 1 < len(EDGES) else None, "rows": self.lengths[index]}
                for index, edge in enumerate(EDGES)
            ],
            "cuda_share_histogram": [
                {"from": tenth / 10, "to": (tenth + 1) / 10, "rows": self.shares[tenth]} for tenth in range(10)
            ],
            "row_numbers": self.named,
        }


def summarise(
    request: LabelRequest, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> LabelSummary:
    """Label every row of the data sets, as a run with these settings would, and count.

    Raises:
        AnalysisError: a tokenizer, a data set or a template that does not exist or cannot be read.
    """
    from datasets.exceptions import DatasetsError

    from ..spans.kinds import check_aliases, check_kinds
    from ..spans.tokenizers import AlignmentError
    from ..stage import inspect
    from ..stage.processors import LabelRules
    from ..stage.survey import open_survey

    try:
        rules = LabelRules(check_kinds(request.kinds), tuple(check_aliases(request.aliases)))
    except ValueError as error:
        raise AnalysisError(str(error)) from None
    try:
        tokenizer = inspect.open_tokenizer(request.model, trust_remote_code=request.trust_remote_code)
    except (OSError, ValueError) as error:
        raise AnalysisError(
            f"--model {request.model}: no tokenizer can be loaded from there ({str(error).splitlines()[0]})."
        ) from None
    summary = LabelSummary()
    try:
        survey = open_survey(
            tokenizer,
            request.model,
            request.datasets,
            request.dataset_dir,
            request.template,
            request.cutoff_len,
            rules,
            request.max_samples,
        )
        total = len(survey)
        shown = _spread(total, request.examples)
        lost: dict[int, int] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of forking with threads: the children use none of them
            for batch in survey.count(request.workers or len(os.sched_getaffinity(0))):
                for counts in batch:
                    summary.add(counts)
                    if counts.row in shown:
                        lost[counts.row] = counts.lost_supervised
                progress(summary.rows, total)
    except AlignmentError as error:
        raise AnalysisError(str(error)) from None
    except KeyError as error:  # LLaMA-Factory looks columns up without a check
        raise AnalysisError(
            f"--dataset {','.join(request.datasets)}: its rows have no column {error}; see `columns` in "
            f"{Path(request.dataset_dir) / 'dataset_info.json'}."
        ) from error
    except DatasetsError as error:  # bytes that are no UTF-8, a column of several types
        reason = next(iter(str(error.__cause__ or error).splitlines()), "")
        raise AnalysisError(
            f"--dataset {','.join(request.datasets)}: a file of it cannot be read ({reason}); `cuset curate import` tells which rows are broken."
        ) from error
    except (ValueError, OSError) as error:
        raise AnalysisError(str(error)) from error
    # What the page shows first is what needs looking at: rows without CUDA, then some from everywhere.
    chosen = dict.fromkeys([*summary.named.get("rows_without_cuda", [])[: request.examples // 2], *sorted(shown)])
    summary.examples = [_example(survey, row, rules, lost.get(row, 0)) for row in list(chosen)[: request.examples]]
    summary.settings = {
        "model": request.model,
        "datasets": list(request.datasets),
        "dataset_dir": str(Path(request.dataset_dir)),
        "template": request.template,
        "cutoff_len": request.cutoff_len,
        "kinds": list(rules.kinds),
        "aliases": list(rules.aliases),
    }
    return summary


def _spread(total: int, count: int) -> set[int]:
    return {total * index // count for index in range(count)} if count else set()


def _example(survey: Any, row: int, rules: Any, cut_off: int) -> Example:
    from ..spans import find_spans

    shown, spans = "", []
    for response in survey.responses(row):
        shown += "\n\n" * bool(shown)
        start = len(shown)
        shown += response[: max(0, SHOWN_CHARS - start)]
        found = find_spans(shown[start:], rules.kinds, aliases=rules.aliases)
        spans += [(start + span.start, start + span.end, span.kind) for span in found]
    return Example(row, "\n\n".join(survey.prompts(row))[:600], shown, spans, cut_off)
