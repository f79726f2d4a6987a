#!/usr/bin/env python3
"""Judge mutants of the bundled programs as answers, and report which of them pass.

    python scripts/mutation_table.py --json benchmarks/mutants_h200.json --per-task 6 --jobs 16 --per-gpu 5
    python scripts/mutation_table.py --compile-only --only tiled_sgemm --jsonl verdicts.jsonl    # needs no GPU

Each mutant is compiled, run on every case and compared as `cuset evaluate` does it. What passes is then decided: `same code`
when nvcc makes the machine code of the original from it; `sanitizer` when compute-sanitizer reports an error that the
original does not have; `adverse` when it is wrong and the original right with shared memory full of garbage and delayed
warps (`cuset_stage.mutants.adverse`); `equivalent` when --equivalent gives a reason by hand (an object of "task:sha256" -> a sentence);
else it `survived`. Every verdict is appended to --jsonl immediately; run the same command again to resume.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutation_evidence import compare_code, find_adverse, is_same_code, judge_adversely, sanitize
from mutation_runs import PASSED, Run, Subject

from cuset_stage import __version__
from cuset_stage.files import write_atomically
from cuset_stage.jsonl import LinesError
from cuset_stage.mutants import OPERATORS
from cuset_stage.sandbox import SandboxError, Verdict, list_gpus, resolve_isolation
from cuset_stage.tasks import TaskError, load_tasks


COMPILED = Verdict.COMPILED.value
ROOT = Path(__file__).resolve().parent.parent
CAUGHT = ("compile_error", "compile_timeout", "runtime_error", "timeout", "mismatch", "missing_output")
UNCAUGHT = ("same code", "sanitizer", "adverse", "equivalent", "survived")


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
