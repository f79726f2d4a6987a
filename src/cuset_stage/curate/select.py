"""Stage `select`: no row from a benchmark, no row twice, the best answers, in balance.

The rows are read twice: once for fingerprints and lengths, once to write what was decided. The stage is quick and depends on all
rows together, so it is always done afresh. Beside the usual files it writes selection.json, with the length report, and
contamination.jsonl, with every row that was found in a benchmark.

Rows are ranked by what `verify` measured, whatever their source claims: a module by its speed-up over PyTorch, a program by its run
time against the other answers to its task (`ranking.speeds`), unless per_gpu had it share its GPU. A speed-up under one of the
judge's flags counts as not measured.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from ..files import write_atomically
from .contamination import Benchmarks, Contamination
from .folders import input_rows
from .ranking import Candidate, beyond_balance, concur, is_judged, is_single_operator, worse_answers
from .settings import SelectSettings
from .similarity import NearIndex, Print, row_print, same_device_code
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import Row, StageRows, content_key, digest
from .training_text import TEMPLATE_TOKENS, Groups, answer_text, length_report, prompt_text, token_counter


_SCHEMA = 3


def run_select(settings: SelectSettings) -> Summary:
    """Select among what `verify` left into `folder`/select/.

    Raises:
        CurationError: a benchmark or the tokenizer cannot be read.
    """
    rows = input_rows(settings, "verify")
    benchmarks = Benchmarks(settings.against, code_threshold=settings.near_code, prompt_threshold=settings.near_prompt)
    decided = _decide(rows, settings, benchmarks)

    def work(row: Row) -> Outcome:
        key = content_key(row)
        if key not in decided.candidates:  # a stage that is running wrote it between the two passes
            return Unsettled(
                "came_later", "the row came while the others were compared; run `cuset curate select` again"
            )
        reason = decided.dropped.get(key)
        return Kept(row) if reason is None else Dropped(*reason)

    folder = settings.folder / "select"
    keys = settings.model_dump(exclude={"folder", "input", "against"})
    summary = run_stage(
        folder,
        "select",
        rows,
        work,
        settings={"schema": _SCHEMA, **keys, "against": benchmarks.record},
        fresh=True,
        notes=decided.notes,
    )
    left = decided.left()
    report = {
        "against": benchmarks.record,
        "found_in_benchmarks": dict(
            Counter(f"{each.benchmark}: {each.method}" for each in decided.contaminated.values())
        ),
        "families": dict(Counter(each.family for each in left).most_common()),
        "tasks": len({each.group for each in left}),
        "lengths": length_report(
            Counter(each.tokens for each in left), cutoff_len=settings.cutoff_len, tokenizer=settings.tokenizer
        ),
        "over_cutoff": [each.id for each in left if each.tokens > settings.cutoff_len][:1000],
    }
    write_atomically(folder / "selection.json", json.dumps(report, indent=2) + "\n")
    found = ({"id": decided.candidates[key].id, **vars(each)} for key, each in decided.contaminated.items())
    write_atomically(folder / "contamination.jsonl", (f"{json.dumps(record)}\n" for record in found))
    return summary


@dataclass
class _Decided:
    """Every candidate by its key, and why some are dropped: (reason, detail)."""

    candidates: dict[str, Candidate] = field(default_factory=dict)
    dropped: dict[str, tuple[str, str]] = field(default_factory=dict)
    contaminated: dict[str, Contamination] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def left(self) -> list[Candidate]:
        return [each for key, each in self.candidates.items() if key not in self.dropped]

    def drop(self, reason: str, details: Mapping[str, str]) -> None:
        self.dropped.update({key: (reason, detail) for key, detail in details.items()})


def _decide(rows: StageRows, settings: SelectSettings, benchmarks: Benchmarks) -> _Decided:
    decided = _Decided()
    prints: dict[str, Print] = {}
    groups = Groups()
    count = token_counter(settings.tokenizer)
    for item in rows:
        if item.row is None or item.key in decided.candidates:
            continue  # run_stage reports the one, and counts the other as repeated
        row, key = item.row, item.key
        candidate = decided.candidates[key] = _candidate(key, row, groups.add(row), count, settings.reasoning)
        contamination = benchmarks.find(row)
        if contamination is not None:
            decided.contaminated[key] = contamination
            decided.drop("contaminated", {key: str(contamination)})
        elif settings.drop_long and candidate.tokens > settings.cutoff_len:
            decided.drop("too_long", {key: f"{candidate.tokens} tokens; cutoff_len is {settings.cutoff_len}"})
        elif (found := row_print(row)) is not None:
            prints[key] = found
    for key, each in decided.candidates.items():  # now that all keys are joined
        decided.candidates[key] = replace(each, group=groups.of(each.group))
    _drop_duplicates(decided, prints, settings.near)
    if settings.concur:
        alone = sum(each.reasoning is not None and not is_judged(each) for each in decided.left())
        if alone:
            decided.notes.append(
                f"concur leaves {alone} rows with reasoning alone: `verify` measured no speed-up of theirs, or one under a flag. It "
                "does of modules, on a GPU; programs have no baseline, and per_task ranks them by their run times."
            )
        decided.drop("concur_rule", concur(decided.left()))
    if settings.per_task is not None:
        decided.drop("not_among_best", worse_answers(decided.left(), settings.per_task, settings.reward))
    if settings.per_family is not None:
        decided.drop("family_full", beyond_balance(decided.left(), settings.per_family))
    return decided


def _drop_duplicates(decided: _Decided, prints: Mapping[str, Print], near: float) -> None:
    """Of programs that are alike the fastest stays, then the shortest, then the first by name. near: 1: only equal ones are alike."""

    def best_first(each: Candidate) -> tuple[float, float, int, str]:
        seconds = round(each.run_s, 1) if each.run_s is not None else inf  # processes differ by tenths of a second
        return (-(each.speedup or 0.0), seconds, each.tokens, each.id)

    exact: dict[str, str] = {}
    normalised: dict[str, str] = {}
    index = None if near == 1 else NearIndex(near)
    for each in sorted(decided.left(), key=best_first):
        found = prints.get(each.key)
        if found is None:  # there is nothing to compare it by
            continue
        if found.exact in exact:
            name = decided.candidates[exact[found.exact]].id
            decided.drop("duplicate_exact", {each.key: f"the same as {name} but for comments and spaces"})
        elif found.normalised in normalised:
            name = decided.candidates[normalised[found.normalised]].id
            decided.drop("duplicate_normalised", {each.key: f"the same as {name} but for names"})
        else:
            matches = index.matches(found.near) if index is not None else []
            like = next((match for match in matches if same_device_code(found, prints[match[0]], near)), None)
            if like is not None:
                detail = f"like {decided.candidates[like[0]].id} (similarity {like[1]:.2f})"
                decided.drop("duplicate_near", {each.key: detail})
                continue
            exact[found.exact] = normalised[found.normalised] = each.key
            if index is not None:
                index.add(each.key, found.near)  # by key: two rows of one id may differ


def _candidate(key: str, row: Row, group: str, count: Callable[[str], int], reasoning: bool) -> Candidate:
    module = row.get("kind") == "module"
    verified, task = row.get("verified") or {}, row.get("task") or {}
    measured = verified if verified.get("per_gpu", 1) == 1 else {}  # rows of old have no such field
    speedup = None if measured.get("module_flags") else measured.get("speedup")  # what may be a trick is not rewarded
    return Candidate(
        key=key,
        id=row["id"],
        group=group,
        family=str(row.get("family") or "other"),
        tokens=count(prompt_text(row)) + count(answer_text(row, reasoning=reasoning)) + TEMPLATE_TOKENS,
        speedup=None if speedup is None else float(speedup),
        reasoning=count(row["reasoning"]) if row.get("reasoning") else None,
        single_operator=module and is_single_operator(row),
        run_s=_run_s(measured),
        bench=digest(json.dumps([task.get("cases"), verified.get("gpu")])),  # other sizes take other times
    )


def _run_s(verified: Row) -> float | None:
    """Seconds of a program's cases, the least disturbed run of each; None: not run."""
    return sum(min(case["run_s"]) for case in verified.get("cases") or ()) or None
