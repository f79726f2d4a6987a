"""Stage `write`: of a kernel a model makes a task, and the machine proves it; what fails goes back to the model with the message.

For each kernel one question shows it and asks for the task, its program, inputs and a reference; another shows the prompt and the formats
alone and asks for a second reference. A task goes on when

- its program compiles, and the first reference makes all cases;
- no output that nobody computed passes them (zeros, a constant, an input handed back, 10 % off: `cuset audit-tasks`);
- both references agree in all cases;
- on a GPU: the program passes all cases twice, by its kernel (`judge.gpu_work`), and not all of its mutants pass.

Without a GPU the last is left out, and the row's `verified` says `compiled`. Replies and findings are kept in `replies` and `proofs` beside
the stages: the same command on a machine with a GPU asks nothing again but what fails there. Rows that come as tasks pass through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..text import shorten
from .adapt import task_identity
from .contamination import Benchmarks
from .fingerprints import fingerprints_of
from .folders import input_rows
from .proofs import Proofs
from .questions import (
    ANSWERER,
    TO_AUTHOR,
    Draft,
    ask_again,
    ask_for_reference,
    ask_for_task,
    read_draft,
    read_reference,
)
from .replies import Replies, Reply
from .settings import WriteSettings
from .split import is_whole
from .stage import Kept, Summary, run_stage
from .stage_rows import Row, RowError


def run_write(settings: WriteSettings) -> Summary:
    """Write tasks of the kernels that `deduplicate` left, into `folder`/write/; without a model all rows pass as they are.

    Raises:
        CurationError: the stage before has not run, or the endpoint refuses.
        SandboxError: no GPU where one is wanted, no nvcc, or a GPU that cannot run what `arch` says.
    """
    rows = input_rows(settings, "deduplicate")
    folder = settings.folder / "write"
    if settings.model is None:
        return run_stage(folder, "write", rows, Kept, settings={})
    replies = Replies(settings.folder / "replies", settings)
    proofs = Proofs(settings.folder / "proofs", settings.proof)
    benchmarks = Benchmarks(settings.against)
    writer = Writer(settings, replies, proofs, benchmarks)
    recorded = {
        "against": benchmarks.record,
        **settings.sampling,
        "tries": settings.tries,
        "gpu": settings.runs_on_gpus,
    }
    with replies.interruptible():
        return run_stage(folder, "write", rows, writer, settings=recorded, workers=settings.concurrency)


@dataclass
class _Try:
    """The outcome of a reply to the question about a kernel."""

    reached: str = ""
    reason: str = ""
    message: str = ""
    replies: list[Reply] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        return {
            "reached": self.reached,
            "reason": self.reason,
            "message": shorten(self.message, 1000),
            "questions": [reply.question for reply in self.replies],
            "tokens": sum(reply.tokens for reply in self.replies),
            "prompt_tokens": sum(reply.prompt_tokens for reply in self.replies),
            "estimated": sum(not reply.counted for reply in self.replies),
            "seconds": round(sum(reply.seconds for reply in self.replies), 1),
        }


@dataclass(frozen=True)
class Writer:
    """The stage's work on one row."""

    settings: WriteSettings
    replies: Replies
    proofs: Proofs
    benchmarks: Benchmarks

    def __call__(self, row: Row) -> Kept:
        if is_whole(row):
            return Kept(row)
        question = messages = ask_for_task(row, self.settings.arch)
        tried: list[_Try] = []
        while len(tried) < self.settings.tries:
            reply = self.replies.ask(messages)
            if tried and reply.question == tried[-1].replies[0].question:
                break  # the model repeats itself, and the same question has the same reply
            tried.append(_Try(replies=[reply]))
            try:
                draft = read_draft(reply.text, reply.cut_off, task_identity(row), row.get("kernel"))
                verified = self._prove(draft, row.get("kernel"), tried[-1])
            except RowError as error:
                tried[-1].reason, tried[-1].message = error.reason, str(error)
                if error.reason == "refused":
                    break
                messages = ask_again(question, reply.text, str(error))
            else:
                return self._done(row, draft, verified, self._record(row, tried))
        last = tried[-1]
        raise RowError(last.reason, shorten(last.message), {**row, "written": self._record(row, tried)})

    def _prove(self, draft: Draft, kernel: str | None, tried: _Try) -> dict[str, Any]:
        """Prove a task as far as this machine can. Returns the finding. Raises RowError with what is to be put right."""
        tried.reached = "written"
        wrong: list[RowError] = []  # both are said at once: a try is dear
        for step, check in (("compiled", self.proofs.check_program), ("cases_made", self.proofs.check_cases)):
            try:
                check(draft)
            except RowError as error:
                wrong.append(error)
            tried.reached = tried.reached if wrong else step
        if wrong:
            raise RowError(wrong[0].reason, "\n\n".join(map(str, wrong)))
        self._second_reference(draft, tried)
        tried.reached = "references_agree"
        try:
            verified = self.proofs.run(draft, kernel)
        except RowError as error:
            tried.reached = "right" if error.reason == "weak_cases" else tried.reached
            raise
        if verified is None:
            return {"verdict": "compiled", "gpu": None}
        tried.reached = "mutants_caught" if verified["mutants"]["failed"] else "right"
        return verified

    def _second_reference(self, draft: Draft, tried: _Try) -> None:
        """Have a second reference written, and mended where it does not work; what speaks against the task is raised as RowError."""
        question = messages = ask_for_reference(draft)
        for _ in range(self.settings.tries):
            reply = self.replies.ask(messages)
            if reply.question == tried.replies[-1].question:
                break  # as above
            tried.replies.append(reply)
            try:
                self.proofs.check_reference(draft, read_reference(reply.text, reply.cut_off))
                return
            except RowError as error:
                if error.reason in TO_AUTHOR:
                    raise RowError(error.reason, TO_AUTHOR[error.reason].format(error)) from None
                messages, why = ask_again(question, reply.text, str(error)), error
        raise RowError(
            "no_second_reference", TO_AUTHOR["unclear"].format(f"No reference could be written from it: {why}")
        )

    def _done(self, row: Row, draft: Draft, verified: dict[str, Any], record: dict[str, Any]) -> Kept:
        """As a row that comes with its task: `adapt` takes it from here. What was written may be a benchmark's task, as the kernel was not."""
        made = {
            **{key: value for key, value in row.items() if key != "fingerprints"},
            "name": draft.record["name"],
            "prompt": draft.record["prompt"],
            "kernel_code": row["code"],
            "code": draft.program,
            "task": {**draft.record, "system": ANSWERER},
            "verified": verified,
            "written": record,
        }
        made["fingerprints"] = fingerprints_of(made)
        if match := self.benchmarks.find(made):
            raise RowError("contaminated", str(match), made)
        return Kept(made, {"model": self.settings.model})

    def _record(self, row: Row, tried: list[_Try]) -> dict[str, Any]:
        alone = self.proofs.compiles_alone(row["code"])
        return {"model": self.settings.model, "compiles_alone": alone, "tries": [each.record() for each in tried]}
