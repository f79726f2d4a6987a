"""Make a pair file: choose versions of right programs, evenly over tasks, kinds and lengths, have the judge confirm what they are, write what
it confirms.

The choice takes for granted that a mutant is wrong and an equivalent version right until the judge has said otherwise; then the next
choice is made without it. Verdicts are kept in a file, so that no program is judged twice.
"""

from __future__ import annotations

import hashlib
import logging
import random
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..cuda_source import tokens
from ..files import write_atomically
from ..jsonl import Appender, read_objects, to_line
from ..judge.bench import Bench
from ..judge.judgement import Judgement
from ..judge.pipeline import Job
from ..mutants import make_equivalents, make_mutants
from ..progress import Progress
from ..sandbox import SandboxError, Verdict, list_gpus
from ..tasks import ProgramTask, TaskError, load_tasks
from ..tasks.messages import chat_messages
from ..text import shorten
from .likelihood import common_ends
from .rows import ALTERNATIVE, FLOOR, PairsError, as_response
from .settings import MakeSettings


logger = logging.getLogger(__name__)
WRONG = frozenset(
    {
        *(Verdict.MISMATCH, Verdict.MISSING_OUTPUT, Verdict.RUNTIME_ERROR, Verdict.TIMEOUT),
        *(Verdict.RACE, Verdict.MEMORY_ERROR, Verdict.UNDEFINED),  # found with thorough=true alone
    }
)
"""What is verified to be wrong. A program that does not compile is not in it: a compiler tells that at once."""
RIGHT = "right"  # the kind of a task's own program, which has to pass first
MESSAGE_CHARS = 160
PER_KIND = 40  # versions of one kind of one program: more than most have
Key = tuple[str, str]  # fingerprint of the task, SHA-256 of the program: what a verdict depends on beside the judge
SEED = 0  # decides among programs that are equally good
MOST_LONGER = 8  # tokens of C++ by which a version may be longer or shorter than the program


@dataclass(frozen=True)
class Candidate:
    """A changed version of a task's right program.

    kind: of the change. longer: tokens of C++ more than the right program has; a model's own tokens differ little from these in sign.
    0 for another program of the task. exchange: what the change takes out and puts in, in C++ between spaces.
    """

    task: ProgramTask
    kind: str
    change: str
    code: str
    longer: int
    exchange: tuple[str, str] = ("", "")

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.code.encode()).hexdigest()

    @property
    def key(self) -> Key:
        """Of what a verdict depends on beside the judge."""
        return self.task.fingerprint, self.sha256

    @property
    def is_floor(self) -> bool:
        return self.kind in FLOOR


def find_candidates(tasks: Sequence[ProgramTask], seed: int) -> list[Candidate]:
    """The mutants and the equivalent versions of the tasks' own programs that are about as long as these, and the tasks' other right
    programs, which may be of any length: in a pair either comes first as often. Deterministic.
    """
    candidates = []
    for task in tasks:
        right = [token.text for token in tokens(task.solution)]
        versions = make_mutants(task.solution, per_operator=PER_KIND, seed=seed)
        versions += make_equivalents(task.solution, count=PER_KIND, seed=seed)
        for version in versions:
            changed = [token.text for token in tokens(version.source)]
            longer = len(changed) - len(right)
            if abs(longer) <= MOST_LONGER:
                begin, end = common_ends(right, changed)
                exchange = " ".join(right[begin : len(right) - end]), " ".join(changed[begin : len(changed) - end])
                candidates.append(
                    Candidate(task, version.operator, version.description, version.source, longer, exchange)
                )
    others = [task for task in tasks if task.alternative]
    return candidates + [
        Candidate(task, ALTERNATIVE, "the task's other program", task.alternative, 0) for task in others
    ]


def choose(candidates: Iterable[Candidate], count: int, seed: int, judged: Container[str] = ()) -> list[Candidate]:
    """At most `count` of them: as evenly over tasks as they allow, then as many longer than the right program as shorter, then those in
    `judged`, then as many that exchange a for b as b for a, then evenly over kinds, then those of about its length; chance, from the
    seed, decides what is left. In the order of the choice.

    Without `judged`, a few candidates that drop out would change the whole choice. Without the exchanges, what random weights think of
    a few tokens (`0` and `1`, `<` and `<=`) would decide about whole groups of pairs at once.
    """
    left = sorted(candidates, key=lambda candidate: (candidate.task.id, candidate.sha256))
    random.Random(seed).shuffle(left)
    per_task: Counter[str] = Counter()
    per_kind: Counter[str] = Counter()
    exchanged: Counter[tuple[str, str]] = Counter()
    balance = 0  # of those chosen, longer ones less shorter ones
    chosen: list[Candidate] = []
    while left and len(chosen) < count:
        best = min(
            left,
            key=lambda candidate: (
                per_task[candidate.task.id],
                sign(candidate.longer) * sign(balance) > 0,
                candidate.sha256 not in judged,
                max(0, exchanged[candidate.exchange] - exchanged[candidate.exchange[::-1]]),
                per_kind[candidate.kind],
                abs(candidate.longer),
            ),
        )
        left.remove(best)
        chosen.append(best)
        per_task[best.task.id] += 1
        per_kind[best.kind] += 1
        exchanged[best.exchange] += 1
        balance += sign(best.longer)
    return chosen


def sign(number: float) -> int:
    return (number > 0) - (number < 0)


def read_evidence(path: Path, thorough: bool = False) -> dict[Key, Verdict]:
    """What the judge said of programs, from a JSONL file with a line each, which need not exist.

    thorough: whether what has passed without compute-sanitizer is to be judged again.

    Raises:
        PairsError: a line that `cuset pairs make` did not write.
    """
    verdicts = {}
    for number, record in read_objects(path) if path.exists() else ():
        try:
            key, verdict = (record["fingerprint"], record["sha256"]), Verdict(record["verdict"])
            is_unsure = thorough and verdict is Verdict.PASSED and not record["thorough"]
            has_failed = record["kind"] == RIGHT and verdict is not Verdict.PASSED  # perhaps that was the machine
        except (KeyError, ValueError) as error:
            raise PairsError(f"{path}:{number}: {error}; expected what `cuset pairs make` writes.") from None
        if not is_unsure and not has_failed:
            verdicts[key] = verdict
    return verdicts


def make_pairs(settings: MakeSettings) -> list[dict[str, Any]]:
    """Write the pair file and return its rows.

    Raises:
        TaskError: no task has a right program.
        SandboxError: programs are left to judge, and there is no GPU or no nvcc here.
    """
    task_set = load_tasks(settings.tasks, split=settings.split, only=settings.only)
    tasks = [task for task in task_set if isinstance(task, ProgramTask) and task.solution and not task.project]
    if not tasks:
        raise TaskError(f"{settings.tasks}: no task has a `solution`, a whole right program to make wrong ones of.")
    path = settings.output.with_suffix(".evidence.jsonl")
    verdicts = read_evidence(path, settings.thorough)

    def judge(candidates: Sequence[Candidate]) -> bool:
        """Judge those without a verdict; whether there were any."""
        left = [candidate for candidate in candidates if candidate.key not in verdicts]
        if left:
            _judge(left, verdicts, settings, path)
        return bool(left)

    right = [Candidate(task, RIGHT, "", task.solution, 0) for task in tasks]
    judge(right)
    if failed := [one for one in right if verdicts[one.key] is not Verdict.PASSED]:
        names = ", ".join(f"{candidate.task.id} ({verdicts[candidate.key]})" for candidate in failed)
        logger.warning("left out, because their own solution does not pass (see %s): %s", path, names)
    tasks = [candidate.task for candidate in right if verdicts[candidate.key] is Verdict.PASSED]
    if not tasks:
        raise TaskError(f"{settings.tasks}: no task's own solution passes on this machine; {path} says why.")
    candidates = find_candidates(tasks, SEED)
    # What the judge refutes makes room for others, until it has confirmed all that are chosen.
    while judge(chosen := _choose(candidates, verdicts, settings)):
        pass
    order = {task.id: at for at, task in enumerate(tasks)}
    chosen.sort(key=lambda chosen: (chosen.is_floor, order[chosen.task.id], chosen.kind, chosen.change))
    rows = [pair_row(candidate, verdicts[candidate.key]) for candidate in chosen]
    write_atomically(settings.output, map(to_line, rows))
    return rows


def _choose(
    candidates: Sequence[Candidate], verdicts: Mapping[Key, Verdict], settings: MakeSettings
) -> list[Candidate]:
    """Of those against which nothing is known."""
    wrong, right = [], []
    for candidate in candidates:
        expected = {Verdict.PASSED} if candidate.is_floor else WRONG
        if candidate.key not in verdicts or verdicts[candidate.key] in expected:
            (right if candidate.is_floor else wrong).append(candidate)
    judged = {sha256 for _, sha256 in verdicts}
    return choose(wrong, settings.pairs, SEED, judged) + choose(right, settings.floor, SEED, judged)


def _judge(candidates: Sequence[Candidate], verdicts: dict[Key, Verdict], settings: MakeSettings, path: Path) -> None:
    """Judge each candidate as an answer to its task; verdicts are kept, and written to the file of evidence.

    Raises:
        SandboxError: there is nothing to judge with, or the judge failed on a program.
    """
    if settings.runs_on_gpus and not list_gpus():
        raise SandboxError(
            f"{len(candidates)} programs are not verified yet, and there is no NVIDIA GPU here to run them on. Run the same command on a "
            f"machine with a GPU and nvcc, or bring {path} from there. The bundled pairs (pairs=cuset_mini) need neither."
        )
    bench = Bench(settings, "cuda")
    machine = {"gpu": ", ".join(bench.pool.names) if bench.pool else None, "toolkit": bench.settings["toolkit"]}
    machine["thorough"] = settings.thorough
    pipeline = bench.pipeline()
    judged = pipeline.run([Job(one.task, one.code, (one,)) for one in candidates])
    problem = ""
    try:
        with closing(Appender(path)) as evidence:
            for job, judgement in Progress(judged, total=len(candidates), unit="program", desc="judged"):
                (candidate,) = job.samples
                if judgement.infra:
                    problem = judgement.message
                else:
                    evidence.append({**evidence_row(candidate, judgement), **machine})
                    verdicts[candidate.key] = judgement.verdict
    finally:
        judged.close()
        pipeline.join()
    if problem:
        raise SandboxError(f"the judge itself failed: {problem}. Run the same command again for what is left.")


def evidence_row(candidate: Candidate, judgement: Judgement) -> dict[str, Any]:
    """The line of the file of evidence, but for the machine."""
    fingerprint, sha256 = candidate.key
    row = {"task": candidate.task.id, "fingerprint": fingerprint, "sha256": sha256, "kind": candidate.kind}
    row |= {"change": candidate.change, "verdict": judgement.verdict.value, "case": judgement.case}
    return {**row, "message": shorten(judgement.message, MESSAGE_CHARS)}


def pair_row(candidate: Candidate, verdict: Verdict) -> dict[str, Any]:
    """The line of the pair file. Of two programs of a task the digest decides which is called right: they differ in length."""
    right, wrong = candidate.task.solution, candidate.code
    if candidate.kind == ALTERNATIVE and int(candidate.sha256, 16) % 2:
        right, wrong = wrong, right
    row = {"task": candidate.task.id, "right": as_response(right), "wrong": as_response(wrong)}
    asked = {message["role"]: message["content"] for message in chat_messages(candidate.task)}
    row |= {"kind": candidate.kind, "change": candidate.change, "verdict": verdict.value, "prompt": asked["user"]}
    return row | ({"system": asked["system"]} if "system" in asked else {})
