#!/usr/bin/env python3
"""Judge mutants of the bundled programs as answers, and report which of them pass.

    python scripts/mutation_table.py --json benchmarks/mutants_h200.json --per-task 6 --jobs 16 --per-gpu 5
    python scripts/mutation_table.py --compile-only --only tiled_sgemm --jsonl verdicts.jsonl    # needs no GPU

Each mutant is compiled, run on every case and compared as `cuset evaluate` does it. What passes is then decided: `same code`
when nvcc makes the machine code of the original from it; `sanitizer` when compute-sanitizer reports an error that the
original does not have; `adverse` when it is wrong and the original right with shared memory full of garbage and delayed
warps (`mutants/adverse.py`); `equivalent` when --equivalent gives a reason by hand (an object of "task:sha256" -> a sentence);
else it `survived`. Every verdict is appended to --jsonl immediately; run the same command again to resume.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import platform
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mutation_evidence import PASSED, compare_code, find_adverse, is_same_code, judge_adversely, sanitize
from tqdm import tqdm

from cuset_stage import __version__
from cuset_stage.files import write_atomically
from cuset_stage.jsonl import Appender, LinesError, read_objects
from cuset_stage.judge.devices import GpuPool
from cuset_stage.judge.judgement import Judgement
from cuset_stage.judge.oracle import CaseCache, OracleError
from cuset_stage.judge.pipeline import Job, Pipeline
from cuset_stage.judge.programs import ProgramJudge
from cuset_stage.mutants import OPERATORS, Mutant, make_mutants
from cuset_stage.sandbox import Compiler, Gpu, Limits, SandboxError, Verdict, list_gpus, resolve_isolation
from cuset_stage.tasks import ProgramTask, TaskError, TaskSet, load_tasks


COMPILED, TIMEOUT = Verdict.COMPILED.value, Verdict.TIMEOUT.value
ROOT = Path(__file__).resolve().parent.parent
CAUGHT = ("compile_error", "compile_timeout", "runtime_error", "timeout", "mismatch", "missing_output")
UNCAUGHT = ("same code", "sanitizer", "adverse", "equivalent", "survived")


@dataclass(frozen=True)
class Subject:
    """One mutant of one task."""

    task: ProgramTask
    mutant: Mutant

    @cached_property
    def sha256(self) -> str:
        return sha256_text(self.mutant.source)

    @property
    def name(self) -> str:
        """Its key in the file of reasons."""
        return f"{self.task.id}:{self.sha256}"


def sha256_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def choose_mutants(source: str, count: int) -> list[Mutant]:
    """`count` mutants, or as many as there are; with `count` at least 5 every named operator that has a place is in."""
    mutants: list[Mutant] = []
    for per_operator in (1, 2, 4, 8):
        mutants = make_mutants(source, per_operator=per_operator)
        if len(mutants) >= count:
            break
    return mutants[:count]


class Ledger:
    """What is known already, in a JSONL file: (kind, key) -> record."""

    def __init__(self, path: Path) -> None:
        self._guard = threading.Lock()
        self._finding: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)
        self._appender = Appender(path)
        self._records = {(record["kind"], record["key"]): record for _, record in read_objects(path)}
        self.resumed = len(self._records)  # of earlier calls
        self.close = self._appender.close

    def get(self, kind: str, key: str) -> dict[str, Any] | None:
        return self._records.get((kind, key))

    def put(self, kind: str, key: str, record: Mapping[str, Any]) -> None:
        whole = {"kind": kind, "key": key, **record}
        with self._guard:
            self._appender.append(whole)
            self._records[kind, key] = whole

    def once(self, kind: str, parts: Sequence[Any], find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The record of these parts; where there is none, what `find` returns, which is stored. One thread runs it."""
        key = self.key(parts)
        with self._finding[kind, key]:
            if self.get(kind, key) is None:
                self.put(kind, key, find())
            return self._records[kind, key]

    @staticmethod
    def key(parts: Sequence[Any]) -> str:
        return sha256_text(json.dumps(parts))


class Run:
    """One call: the mutants, the judge and the ledger."""

    def __init__(self, options: argparse.Namespace, tasks: TaskSet, gpus: Sequence[Gpu]) -> None:
        self.options, self.gpus = options, gpus
        self.originals = [task for task in tasks if isinstance(task, ProgramTask) and task.solution]
        self.subjects = [
            Subject(task, mutant)
            for task in self.originals
            for mutant in choose_mutants(task.solution, options.per_task)
        ]
        self.compiler = Compiler(arch=gpus[0].arch if gpus else options.arch)
        self.pool = GpuPool(gpus, per_gpu=options.per_gpu) if gpus else None
        self.judge = ProgramJudge(
            self.compiler,
            None if options.compile_only else CaseCache(),
            self.pool,
            Limits(wall_s=options.timeout),
            compile_only=options.compile_only,
            confirms=False,  # almost all fail; `confirm_timeouts` does it where others can have been in the way
        )
        self.settings = json.dumps(self.judge.settings(), sort_keys=True, default=str)
        self.deadline = time.monotonic() + 60 * options.minutes
        self.ledger = Ledger(options.jsonl)

    def key(self, subject: Subject) -> str:
        """Of all that a verdict depends on."""
        return self.ledger.key([subject.task.fingerprint, subject.task.solution, subject.sha256, self.settings])

    def known(self, kind: str, subject: Subject) -> dict[str, Any] | None:
        return self.ledger.get(kind, self.key(subject))

    def with_verdict(self, verdict: str | None) -> list[Subject]:
        return [one for one in self.subjects if (self.known("verdict", one) or {}).get("verdict") == verdict]

    def judge_originals(self) -> list[dict[str, Any]]:
        """Every original twice; its verdicts, which have to be `passed`."""
        jobs = [Job(task, task.solution, sha256_text(task.solution), ()) for task in self.originals]
        found: dict[str, list[Judgement]] = {job.task.id: [] for job in jobs}
        for job, judgement in self._judged(2 * jobs, "originals, twice"):
            found[job.task.id].append(judgement)
        return [
            {
                "task": task,
                "verdicts": [judgement.verdict.value for judgement in judgements],
                "run_s": [judgement.run_s and round(judgement.run_s, 3) for judgement in judgements],
                "message": next((judgement.message for judgement in judgements if judgement.message), ""),
            }
            for task, judgements in found.items()
        ]

    def judge_mutants(self) -> None:
        left = {(subject.task.id, subject.sha256): subject for subject in self.with_verdict(None)}
        jobs = [Job(subject.task, subject.mutant.source, subject.sha256, ()) for subject in left.values()]
        for job, judgement in self._judged(jobs, "mutants"):
            self._record(left[job.task.id, job.code_sha256], judgement)

    def confirm_timeouts(self) -> None:
        """Judge what ran out of time once more, alone on its GPU: the first time others may have slowed it down."""
        alone = ProgramJudge(self.compiler, self.judge.cases, self.gpus and GpuPool(self.gpus), self.judge.limits)
        for subject in self.with_verdict(TIMEOUT):
            if not self.known("verdict", subject)["alone"] and not self.is_late():
                self._record(subject, alone.judge(subject.task, subject.mutant.source), alone=True)

    def _judged(self, jobs: Sequence[Job], what: str) -> Iterator[tuple[Job, Judgement]]:
        """Jobs with their judgements, until time is up."""
        runs = len(self.pool) if self.pool else 1
        pipeline = Pipeline({"cuda": self.judge}, jobs=self.options.jobs, runs=runs)
        judged = pipeline.run(jobs)
        try:
            for pair in _bar(judged, what, len(jobs)):
                yield pair
                if self.is_late():
                    break
        finally:
            judged.close()
            pipeline.join()

    def _record(self, subject: Subject, judgement: Judgement, alone: bool = False) -> None:
        if judgement.infra:
            print(f"{subject.task.id}: the judge failed: {judgement.message}", file=sys.stderr)
            return
        record = {"task": subject.task.id, "sha256": subject.sha256, "verdict": judgement.verdict.value}
        record |= {"case": judgement.case, "message": judgement.message[:300]}
        record |= {"run_s": judgement.run_s and round(judgement.run_s, 3), "alone": alone}
        self.ledger.put("verdict", self.key(subject), record)

    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def each(self, step: Callable[[Subject], Any], subjects: Sequence[Subject], threads: int, what: str) -> None:
        """Run a step on each subject until time is up; an error in one does not stop the others."""
        with ThreadPoolExecutor(max(1, threads)) as pool:
            futures = {pool.submit(lambda one: self.is_late() or step(one), subject): subject for subject in subjects}
            for future in _bar(as_completed(futures), what, len(futures)):
                error = future.exception()
                if isinstance(error, OracleError | SandboxError | OSError):
                    print(f"{futures[future].name}: {error}", file=sys.stderr)
                elif error is not None:
                    raise error


def _bar(found: Iterable[Any], what: str, total: int) -> tqdm:
    return tqdm(found, what, total, mininterval=1 if sys.stderr.isatty() else 20)


def read_reasons(path: Path) -> dict[str, str]:
    """Reasons by hand, task:sha256 of the mutant's source -> a sentence. Raises ValueError with the key at fault."""
    if not path.is_file():
        return {}
    reasons = json.loads(path.read_text(encoding="utf-8"))
    for key, reason in reasons.items():
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"{path}: {key}: expected a sentence that says why the mutant computes the same")
    return reasons


def count_outcomes(rows: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """operator -> outcome -> number, in the order of OPERATORS; "all" sums them up."""
    counts = {operator: Counter() for operator in OPERATORS}
    for row in rows:
        counts[row["operator"]][row["outcome"]] += 1
    counts = {operator: counter for operator, counter in counts.items() if counter}
    return counts | {"all": sum(counts.values(), Counter())}


def print_table(counts: Mapping[str, Counter[str]]) -> None:
    """Markdown. The last column: what the outputs gave away, of all that compile and are not known to be equivalent."""
    total = counts["all"]
    columns = [name for name in (*CAUGHT, *UNCAUGHT, COMPILED, PASSED, "not judged") if total[name]]
    print(f"| operator | mutants | {' | '.join(columns)} | caught by outputs |")
    print(f"|---|{'---:|' * (len(columns) + 2)}")
    for operator, counter in counts.items():
        wrong, caught = detectable(counter)
        share = f"{caught} of {wrong} ({caught / wrong:.1%})" if wrong else ""
        cells = " | ".join(str(counter[name]) for name in columns)
        print(f"| {operator} | {counter.total()} | {cells} | {share} |")


def detectable(counter: Mapping[str, int]) -> tuple[int, int]:
    """Mutants that ran and are not known to be equivalent, and how many of these failed when they ran."""
    caught = sum(counter[name] for name in ("runtime_error", "timeout", "mismatch", "missing_output"))
    return caught + counter["sanitizer"] + counter["adverse"] + counter["survived"], caught


def outcome(run: Run, subject: Subject, reasons: Mapping[str, str]) -> dict[str, Any]:
    """A row of the JSON: what the judge said, and what is made of it."""
    judged = run.known("verdict", subject) or {"verdict": None, "case": None, "message": "", "run_s": None}
    mutant = subject.mutant
    row = {
        "task": subject.task.id,
        "operator": mutant.operator,
        "line": mutant.line,
        "description": mutant.description,
    }
    row |= {"sha256": subject.sha256} | {key: judged[key] for key in ("verdict", "case", "message", "run_s")}
    row |= {"outcome": judged["verdict"] or "not judged", "evidence": ""}
    if is_same_code(run, subject):
        return row | {"outcome": "same code", "evidence": "nvcc makes the machine code of the original from it"}
    if judged["verdict"] != PASSED:
        return row
    sanitized = run.known("sanitizer", subject)
    if sanitized is not None and sanitized["found"]:
        return row | {"outcome": "sanitizer", "evidence": sanitized["found"]}
    found, forms = find_adverse(run, subject)
    if found:
        return row | {"outcome": "adverse", "evidence": found}
    if subject.name in reasons:
        return row | {"outcome": "equivalent", "evidence": reasons[subject.name]}
    clean = [f"clean under {', '.join(sanitized['complete'])}"] if sanitized is not None else []
    return row | {"outcome": "survived", "evidence": "; ".join(clean + ["right in its adverse form"] * (forms > 0))}


def build(options: argparse.Namespace) -> int:
    reasons = read_reasons(options.equivalent)
    tasks = load_tasks(options.tasks, only=options.only)
    gpus = [] if options.compile_only else list_gpus()
    if not options.compile_only and not gpus:
        raise SandboxError("no NVIDIA GPU found by nvidia-smi; --compile-only needs none")
    begin = time.monotonic()
    run = Run(options, tasks, gpus)
    if not run.subjects:
        raise TaskError(f"{tasks.path}: no task with a solution that has a mutant")
    print(f"{len(run.subjects)} mutants of {len(tasks)} programs; {', '.join(gpu.name for gpu in gpus) or 'no GPU'}")
    problem = ""
    try:
        originals = run.judge_originals() if options.originals else []
        run.judge_mutants()
        run.confirm_timeouts()
        passed = run.with_verdict(COMPILED if options.compile_only else PASSED)
        if not options.compile_only or options.machine_code:
            compare_code(run, passed)
        if not options.no_sanitizer:
            problem = sanitize(run, passed)
        if not options.compile_only:
            judge_adversely(run, passed)
        rows = [outcome(run, subject, reasons) for subject in run.subjects]
    finally:
        run.ledger.close()
    counts = count_outcomes(rows)
    print_table(counts)
    good = COMPILED if options.compile_only else PASSED
    bad = [one for one in originals if one["verdicts"] != [good, good]]
    for one in bad:
        print(f"ORIGINAL {one['task']}: {' and '.join(one['verdicts']) or 'not judged'}: {one['message'][:300]}")
    for subject, row in zip(run.subjects, rows, strict=True):
        if row["outcome"] == "survived":
            print(f"SURVIVED {subject.name} {row['operator']}: {row['description']} ({row['evidence']})")
    for key in sorted(reasons.keys() - {subject.name for subject in run.subjects}) if not options.only else ():
        print(f"{options.equivalent}: {key}: no such mutant; the program or the choice of mutants has changed")
    if problem:
        print(problem)
    if options.json:
        record = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "cuset_stage": __version__,
            "python": platform.python_version(),
            "gpus": [{"name": gpu.name, "driver": gpu.driver} for gpu in gpus],
            "toolkit": run.compiler.toolkit.version,
            "arch": run.compiler.arch,
            "flags": list(run.compiler.flags),
            "isolation": str(resolve_isolation()),
            "limits": asdict(run.judge.limits),
            "per_gpu": options.per_gpu,
            "tasks": {"sha256": tasks.sha256, "count": len(tasks)},
            "seconds": round(time.monotonic() - begin, 1),  # of this call, which found so many answers in the ledger:
            "resumed": run.ledger.resumed,
            "sanitizer_problem": problem,
            "originals": originals,
            "operators": counts,
            "mutants": rows,
        }
        write_atomically(options.json, json.dumps(record, indent=1) + "\n")
    missing = counts["all"]["not judged"]
    wrong, caught = detectable(counts["all"])
    print(f"{caught} of {wrong} wrong programs caught by their outputs, {time.monotonic() - begin:.0f} s", end="")
    print(f"; {missing} not judged: run the command again" if missing else "")
    return 1 if bad or missing else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=Path, default=ROOT / "data" / "kernels", help="a task set with solutions")
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK", help="ids of tasks; default: all")
    parser.add_argument("--per-task", type=int, default=10, help="mutants of a program (10)")
    parser.add_argument("--json", type=Path, help="write the record here")
    parser.add_argument("--jsonl", type=Path, help="where verdicts are kept; default: the name of --json, .jsonl")
    default = ROOT / "benchmarks" / "mutants_equivalent.json"
    parser.add_argument("--equivalent", type=Path, default=default, help="reasons by hand (benchmarks/...)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilations at a time")
    parser.add_argument("--per-gpu", type=int, default=3, help="programs at a time on one GPU (3)")
    parser.add_argument("--timeout", type=float, default=12.0, help="seconds for one run of a program (12)")
    parser.add_argument("--minutes", type=float, default=9.0, help="start nothing new after this time (9)")
    parser.add_argument("--originals", action="store_true", help="judge every original twice, too; all have to pass")
    parser.add_argument("--no-sanitizer", action="store_true", help="leave compute-sanitizer out")
    parser.add_argument("--sanitizer-cases", type=int, default=2, help="cases of a survivor under each tool (2)")
    parser.add_argument("--sanitizer-timeout", type=float, default=30.0, help="seconds for one run under a tool (30)")
    parser.add_argument("--compile-only", action="store_true", help="compile the mutants; runs nothing")
    parser.add_argument("--machine-code", action="store_true", help="with --compile-only: compare machine code, too")
    parser.add_argument("--arch", default="sm_90", help="with --compile-only: nvcc's -arch (sm_90)")
    options = parser.parse_args(arguments)
    if options.per_task < 5:
        print("note: with --per-task below 5 not every named operator can be represented", file=sys.stderr)
    if options.jsonl is None:
        if options.json is None:
            parser.error("give --json or --jsonl: verdicts are kept in a file")
        options.jsonl = options.json.with_suffix(".jsonl")
    try:
        return build(options)
    except (TaskError, SandboxError, LinesError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
