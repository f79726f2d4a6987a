"""Stage `select`: no row from a benchmark, no row twice, the best answers, in balance.

The rows are read twice: once for fingerprints and lengths, which are kept in a temporary file, once to write what was decided. The
stage is quick and depends on all rows together, so it is always done afresh. Beside the usual files it writes selection.json, with
the length report, and contamination.jsonl, with every row that was found in a benchmark.

Rows are ranked by what `verify` measured, whatever their source claims: a module by its speed-up over PyTorch, a program by its run
time against the other answers to its task (`ranking.speeds`), unless per_gpu had it share its GPU. A speed-up under one of the
judge's flags counts as not measured.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from ..files import write_atomically
from .candidates import Candidates
from .contamination import Benchmarks
from .folders import input_files
from .lengths import TEMPLATE_TOKENS, length_report, token_counter
from .ranking import Candidate, best_answers, concur, is_judged, is_single_operator
from .settings import SelectSettings
from .similarity import row_print
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import Row, StageRows, content_key, digest, dumps, read_stage_rows
from .training_text import Groups, answer_text, prompt_text


_SCHEMA = 3


def run_select(settings: SelectSettings) -> Summary:
    """Select among what `verify` left into `folder`/select/.

    Raises:
        CurationError: a benchmark or the tokenizer cannot be read.
    """
    rows = read_stage_rows(input_files(settings, "verify"))
    benchmarks = Benchmarks(settings.against, code_threshold=settings.near_code, prompt_threshold=settings.near_prompt)
    candidates = Candidates()
    found, notes = _decide(rows, settings, benchmarks, candidates)

    def work(row: Row) -> Outcome:
        key = content_key(row)
        if key not in candidates:  # a stage that is running wrote it between the two passes
            return Unsettled(
                "came_later", "the row came while the others were compared; run `cuset curate select` again"
            )
        reason = candidates.decision(key)
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
        notes=notes,
    )
    report = {
        "against": benchmarks.record,
        "found_in_benchmarks": dict(found),
        "families": candidates.families(),
        "tasks": candidates.task_count(),
        "lengths": length_report(candidates.lengths(), cutoff_len=settings.cutoff_len, tokenizer=settings.tokenizer),
        "over_cutoff": candidates.longer_than(settings.cutoff_len, most=1000),
    }
    write_atomically(folder / "selection.json", json.dumps(report, indent=2) + "\n")
    write_atomically(folder / "contamination.jsonl", (f"{line}\n" for line in candidates.reports()))
    return summary


def _decide(
    rows: StageRows, settings: SelectSettings, benchmarks: Benchmarks, candidates: Candidates
) -> tuple[Counter[str], list[str]]:
    """Note every row in `candidates`, and why some are dropped; what was found in benchmarks, counted, and what people should know."""
    found: Counter[str] = Counter()
    notes: list[str] = []
    count = token_counter(settings.tokenizer)
    groups = Groups()
    for item in rows:
        if item.row is None:
            continue  # run_stage reports it
        row = item.row
        candidate = _candidate(item.key, row, groups.add(row), count, settings.reasoning)
        if not candidates.add(
            candidate
        ):  # a row given twice is not its own duplicate; run_stage counts it as repeated
            continue
        contamination = benchmarks.find(row)
        if contamination is not None:
            candidates.drop(candidate.key, "contaminated", str(contamination))
            candidates.report(dumps({"id": row["id"], **vars(contamination)}))
            found[f"{contamination.benchmark}: {contamination.method}"] += 1
        elif settings.drop_long and candidate.tokens > settings.cutoff_len:
            detail = f"{candidate.tokens} tokens; cutoff_len is {settings.cutoff_len}"
            candidates.drop(candidate.key, "too_long", detail)
        else:
            candidates.add_print(candidate.key, row_print(row))
    candidates.settle(groups)
    candidates.drop_duplicates(settings.near)
    if settings.concur:
        alone = 0
        for answers in candidates.tasks():
            alone += sum(each.reasoning is not None and not is_judged(each) for each in answers)
            for key, detail in concur(answers)[1].items():
                candidates.drop(key, "concur_rule", detail)
        if alone:
            notes.append(
                f"concur leaves {alone} rows with reasoning alone: `verify` measured no speed-up of theirs, or one under a flag. It "
                "does of modules, on a GPU; programs have no baseline, and per_task ranks them by their run times."
            )
    if settings.per_task is not None:
        for answers in candidates.tasks():
            for key, detail in best_answers(answers, settings.per_task, settings.reward)[1].items():
                candidates.drop(key, "not_among_best", detail)
    if settings.per_family is not None:
        candidates.balance(settings.per_family)
    return found, notes


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
        bench=digest(dumps([task.get("cases"), verified.get("gpu")])),  # other sizes take other times
    )


def _run_s(verified: Row) -> float | None:
    """Seconds of a program's cases, the least disturbed run of each; None: not run."""
    return sum(min(case["run_s"]) for case in verified.get("cases") or ()) or None
