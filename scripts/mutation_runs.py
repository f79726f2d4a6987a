"""The runs that scripts/mutation_table.py and scripts/mutation_evidence.py share: mutants, their judge, and what is known of them."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cuset_stage.jsonl import Appender, read_objects
from cuset_stage.judge.devices import GpuPool
from cuset_stage.judge.judgement import Judgement
from cuset_stage.judge.oracle import CaseCache, OracleError
from cuset_stage.judge.pipeline import Job, Pipeline
from cuset_stage.judge.programs import ProgramJudge
from cuset_stage.mutants import Mutant, make_mutants
from cuset_stage.sandbox import Compiler, Gpu, Limits, SandboxError, Verdict
from cuset_stage.tasks import ProgramTask, TaskSet


PASSED, TIMEOUT = Verdict.PASSED.value, Verdict.TIMEOUT.value


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
        jobs = [Job(task, task.solution) for task in self.originals]
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
        jobs = [Job(subject.task, subject.mutant.source, (subject,)) for subject in left.values()]
        for job, judgement in self._judged(jobs, "mutants"):
            self._record(job.samples[0], judgement)

    def confirm_timeouts(self) -> None:
        """Judge what ran out of time once more, alone on its GPU: the first time others may have slowed it down."""
        alone = ProgramJudge(self.compiler, self.judge.cases, self.gpus and GpuPool(self.gpus), self.judge.limits)
        for subject in self.with_verdict(TIMEOUT):
            if not self.known("verdict", subject)["alone"] and not self.is_late():
                self._record(subject, alone.judge(subject.task, subject.mutant.source), alone=True)

    def _judged(self, jobs: Sequence[Job], what: str) -> Iterator[tuple[Job, Judgement]]:
        """Jobs with their judgements, until time is up."""
        runs = len(self.pool) if self.pool else 1
        pipeline = Pipeline(self.judge, jobs=self.options.jobs, runs=runs)
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
