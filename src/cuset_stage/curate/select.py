"""Stage `select`: no row from a benchmark, no row twice, the best answers, in balance.

The rows are read twice: once for fingerprints and lengths, which are kept in a temporary file, once to write what was decided. The
stage is quick and depends on all rows together, so it is always done afresh. Beside the usual files it writes selection.json, with
the length report, and contamination.jsonl, with every row that was found in a benchmark.

Rows are ranked by what `verify` measured, whatever their source claims: a module by its speed-up over PyTorch, a program by its run
time against the other answers to its task (`ranking.speeds`), unless --per-gpu had it share its GPU. A speed-up under one of the
judge's flags counts as not measured.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..files import write_atomically
from .candidates import Candidates
from .contamination import CODE_THRESHOLD, PROMPT_THRESHOLD, Benchmarks
from .lengths import TEMPLATE_TOKENS, length_report, token_counter
from .ranking import REWARDS, Candidate, best_answers, concur, is_judged, is_single_operator
from .response import Groups, answer_text, prompt_text
from .similarity import row_print
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import CurationError, Row, content_key, digest, dumps, read_stage_rows


_SCHEMA = 3


@dataclass(frozen=True)
class Selection:
    """What is selected by.

    Args:
        near: Jaccard similarity of two programs from which one is a duplicate; 1 turns near duplicates off.
        near_code, near_prompt: the same against a benchmark.
        concur: apply ConCuR's rule to answers with reasoning and a measured speed-up; others, such as programs, it leaves alone,
            and the summary says how many.
        per_task: most answers to one task, by `reward` of what was measured; None: all.
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
    candidates = Candidates()
    found, notes = _decide(files, selection, benchmarks, candidates)

    def work(row: Row) -> Outcome:
        key = content_key(row)
        if key not in candidates:  # a stage that is running wrote it between the two passes
            return Unsettled(
                "came_later", "the row came while the others were compared; run `cuset curate select` again"
            )
        reason = candidates.decision(key)
        return Kept(row) if reason is None else Dropped(*reason)

    summary = run_stage(
        folder / "select",
        "select",
        read_stage_rows(files),
        work,
        settings={"schema": _SCHEMA, **asdict(selection), "against": benchmarks.record},
        fresh=True,
        notes=notes,
    )
    report = {
        "against": benchmarks.record,
        "found_in_benchmarks": dict(found),
        "families": candidates.families(),
        "tasks": candidates.task_count(),
        "lengths": length_report(candidates.lengths(), cutoff_len=selection.cutoff_len, tokenizer=selection.tokenizer),
        "over_cutoff": candidates.longer_than(selection.cutoff_len, most=1000),
    }
    write_atomically(folder / "select" / "selection.json", json.dumps(report, indent=2) + "\n")
    write_atomically(folder / "select" / "contamination.jsonl", (f"{line}\n" for line in candidates.reports()))
    return summary


def _decide(
    files: Sequence[Path], selection: Selection, benchmarks: Benchmarks, candidates: Candidates
) -> tuple[Counter[str], list[str]]:
    """Note every row in `candidates`, and why some go; what was found in benchmarks, counted, and what people should know."""
    found: Counter[str] = Counter()
    notes: list[str] = []
    count = token_counter(selection.tokenizer)
    groups = Groups()
    for item in read_stage_rows(files):
        if item.row is None:
            continue  # run_stage reports it
        row = item.row
        candidate = _candidate(item.key, row, groups.add(row), count, selection.reasoning)
        if not candidates.add(
            candidate
        ):  # a row given twice is not its own duplicate; run_stage counts it as repeated
            continue
        contamination = benchmarks.find(row)
        if contamination is not None:
            candidates.drop(candidate.key, "contaminated", str(contamination))
            candidates.report(dumps({"id": row["id"], **asdict(contamination)}))
            found[f"{contamination.benchmark}: {contamination.method}"] += 1
        elif selection.drop_long and candidate.tokens > selection.cutoff_len:
            detail = f"{candidate.tokens} tokens; cutoff_len is {selection.cutoff_len}"
            candidates.drop(candidate.key, "too_long", detail)
        else:
            candidates.add_print(candidate.key, row_print(row))
    candidates.settle(groups)
    candidates.drop_duplicates(selection.near)
    if selection.concur:
        alone = 0
        for answers in candidates.tasks():
            alone += sum(each.reasoning is not None and not is_judged(each) for each in answers)
            for key, detail in concur(answers)[1].items():
                candidates.drop(key, "concur_rule", detail)
        if alone:
            notes.append(
                f"--concur leaves {alone} rows with reasoning alone: `verify` measured no speed-up of theirs, or one under a flag. It "
                "does of modules, on a GPU; programs have no baseline, and --per-task ranks them by their run times."
            )
    if selection.per_task is not None:
        for answers in candidates.tasks():
            for key, detail in best_answers(answers, selection.per_task, selection.reward)[1].items():
                candidates.drop(key, "not_among_best", detail)
    if selection.per_family is not None:
        candidates.balance(selection.per_family)
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
