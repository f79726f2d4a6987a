"""Stage `select`: no row from a benchmark, no row twice, the best answers, in balance.

The rows are read twice: once for fingerprints and lengths (about 3 KB a row are held), once to write what was decided. The stage
is quick and depends on all rows together, so it is always done afresh. Beside the usual files it writes selection.json, with the
length report, and contamination.jsonl, with every row that was found in a benchmark.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..sandbox.files import write_atomically
from .contamination import CODE_THRESHOLD, PROMPT_THRESHOLD, Benchmarks
from .lengths import TEMPLATE_TOKENS, length_report, token_counter
from .ranking import REWARDS, Candidate, balance, best_answers, concur, is_single_operator
from .response import Groups, answer_text, prompt_text
from .rows import CurationError, Row, content_key, dumps, read_stage_rows
from .similarity import NearIndex, Print, row_print, same_device_code
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage


_SCHEMA = 2


@dataclass(frozen=True)
class Selection:
    """What is selected by.

    Args:
        near: Jaccard similarity of two programs from which one is a duplicate; 1 turns near duplicates off.
        near_code, near_prompt: the same against a benchmark.
        concur: apply ConCuR's rule to answers with reasoning.
        per_task: most answers to one task, by `reward`; None: all.
        per_family: most rows of one family; None: all.
        cutoff_len: what the length report is about; tokenizer: what counts tokens, None: an estimate.
        drop_long: leave rows out that are longer than cutoff_len.
        reasoning: `write` will put a row's reasoning into its answer, so that it counts in its length.

    Raises:
        CurationError: a value out of its range.
    """

    near: float = 0.7
    near_code: float = CODE_THRESHOLD
    near_prompt: float = PROMPT_THRESHOLD
    concur: bool = False
    per_task: int | None = None
    reward: str = "kevin"
    per_family: int | None = None
    cutoff_len: int = 4096
    tokenizer: str | None = None
    drop_long: bool = False
    reasoning: bool = False

    def __post_init__(self) -> None:
        for option, value in (
            ("--near", self.near),
            ("--near-code", self.near_code),
            ("--near-prompt", self.near_prompt),
        ):
            if not 0 < value <= 1:
                raise CurationError(f"{option} {value}: a similarity in (0, 1].")
        for option, count in (
            ("--per-task", self.per_task),
            ("--per-family", self.per_family),
            ("--cutoff-len", self.cutoff_len),
        ):
            if count is not None and count < 1:
                raise CurationError(f"{option} {count}: at least 1.")
        if self.reward not in REWARDS:
            raise CurationError(f"--reward {self.reward}: one of {', '.join(REWARDS)}.")


def run_select(folder: Path, files: Sequence[Path], selection: Selection, against: dict[str, Path]) -> Summary:
    """Select among the rows of `files` into `folder`/select/.

    Raises:
        CurationError: a benchmark or the tokenizer cannot be read.
    """
    benchmarks = Benchmarks(against, code_threshold=selection.near_code, prompt_threshold=selection.near_prompt)
    decisions, candidates, found = _decide(files, selection, benchmarks)
    compared = {each.key for each in candidates}

    def work(row: Row) -> Outcome:
        key = content_key(row)
        if key not in compared:  # a stage that is running wrote it between the two passes
            return Unsettled(
                "came_later", "the row came while the others were compared; run `cuset curate select` again"
            )
        reason = decisions.get(key)
        return Kept(row) if reason is None else Dropped(*reason)

    summary = run_stage(
        folder / "select",
        "select",
        read_stage_rows(files),
        work,
        settings={"schema": _SCHEMA, **asdict(selection), "against": benchmarks.record},
        fresh=True,
    )
    kept = [each for each in candidates if each.key not in decisions]
    report = {
        "against": benchmarks.record,
        "found_in_benchmarks": dict(Counter(f"{each['benchmark']}: {each['method']}" for each in found)),
        "families": dict(Counter(each.family for each in kept).most_common()),
        "tasks": len({each.group for each in kept}),
        "lengths": length_report(
            [each.tokens for each in kept], cutoff_len=selection.cutoff_len, tokenizer=selection.tokenizer
        ),
        "over_cutoff": [each.id for each in kept if each.tokens > selection.cutoff_len][:1000],
    }
    write_atomically(folder / "select" / "selection.json", json.dumps(report, indent=2) + "\n")
    write_atomically(folder / "select" / "contamination.jsonl", "".join(dumps(each) + "\n" for each in found))
    return summary


Decisions = dict[str, tuple[str, str]]


def _decide(
    files: Sequence[Path], selection: Selection, benchmarks: Benchmarks
) -> tuple[Decisions, list[Candidate], list[dict[str, Any]]]:
    """Why rows go, by key; all candidates; what was found in benchmarks."""
    decisions: Decisions = {}
    candidates: list[Candidate] = []
    found: list[dict[str, Any]] = []
    duplicates = _Duplicates(selection.near)
    count = token_counter(selection.tokenizer)
    groups = Groups()
    seen: set[str] = set()
    for item in read_stage_rows(files):
        if item.row is None:
            continue  # run_stage reports it
        if item.key in seen:  # a row given twice is not its own duplicate; run_stage counts it as repeated
            continue
        seen.add(item.key)
        row = item.row
        candidate = _candidate(item.key, row, groups.add(row), count, selection.reasoning)
        candidates.append(candidate)
        contamination = benchmarks.find(row)
        if contamination is not None:
            decisions[candidate.key] = ("contaminated", str(contamination))
            found.append({"id": row["id"], **asdict(contamination)})
        elif selection.drop_long and candidate.tokens > selection.cutoff_len:
            decisions[candidate.key] = ("too_long", f"{candidate.tokens} tokens; cutoff_len is {selection.cutoff_len}")
        else:
            duplicates.add(candidate, row_print(row))

    candidates = [replace(each, group=groups.of(each.group)) for each in candidates]

    def left() -> list[Candidate]:
        return [each for each in candidates if each.key not in decisions]

    decisions.update(duplicates.resolve())
    if selection.concur:
        decisions.update({key: ("concur_rule", detail) for key, detail in concur(left())[1].items()})
    if selection.per_task is not None:
        reasons = best_answers(left(), selection.per_task, selection.reward)[1]
        decisions.update({key: ("not_among_best", detail) for key, detail in reasons.items()})
    if selection.per_family is not None:
        decisions.update(
            {key: ("family_full", detail) for key, detail in balance(left(), selection.per_family)[1].items()}
        )
    return decisions, candidates, found


def _candidate(key: str, row: Row, group: str, count: Callable[[str], int], reasoning: bool) -> Candidate:
    module = row.get("kind") == "module"
    measured = (row.get("verified") or {}).get("speedup")
    speedup = measured if measured is not None else row.get("speedup")
    return Candidate(
        key=key,
        id=row["id"],
        group=group,
        family=str(row.get("family") or "other"),
        tokens=count(prompt_text(row)) + count(answer_text(row, reasoning=reasoning)) + TEMPLATE_TOKENS,
        speedup=None if speedup is None else float(speedup),
        reasoning=count(row["reasoning"]) if row.get("reasoning") else None,
        single_operator=module and is_single_operator(row),
    )


class _Duplicates:
    """Of programs that are alike the best stays: the fastest, then the shortest, then the first by name."""

    def __init__(self, near: float) -> None:
        self._near = near
        self._prints: list[tuple[Candidate, Print]] = []

    def add(self, candidate: Candidate, found: Print | None) -> None:
        """None: there is nothing to compare it by, and it is no duplicate."""
        if found is not None:
            self._prints.append((candidate, found))

    def resolve(self) -> Decisions:
        index = NearIndex(self._near)
        exact: dict[str, str] = {}
        normalised: dict[str, str] = {}
        kept: dict[str, tuple[Candidate, Print]] = {}
        decisions: Decisions = {}
        order = sorted(self._prints, key=lambda each: (-(each[0].speedup or 0.0), each[0].tokens, each[0].id))
        for candidate, found in order:
            if found.exact in exact:
                decisions[candidate.key] = (
                    "duplicate_exact",
                    f"the same as {exact[found.exact]} but for comments and spaces",
                )
                continue
            if found.normalised in normalised:
                detail = f"the same as {normalised[found.normalised]} but for names"
                decisions[candidate.key] = ("duplicate_normalised", detail)
                continue
            like = self._like(found, index, kept)
            if like is not None:
                decisions[candidate.key] = ("duplicate_near", f"like {like[0]} (similarity {like[1]:.2f})")
                continue
            exact[found.exact] = normalised[found.normalised] = candidate.id
            kept[candidate.key] = (candidate, found)  # by key: two rows of one id may differ
            index.add(candidate.key, found.near)
        return decisions

    def _like(
        self, found: Print, index: NearIndex, kept: dict[str, tuple[Candidate, Print]]
    ) -> tuple[str, float] | None:
        if self._near == 1:
            return None
        for key, similarity in index.matches(found.near):
            candidate, other = kept[key]
            if same_device_code(found, other, self._near):
                return candidate.id, similarity
        return None
