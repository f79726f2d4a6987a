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

from dataclasses import replace
from typing import Any

from ..text import shorten
from .adapt import task_identity
from .contamination import Benchmarks
from .fingerprints import fingerprints_of
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
from .replies import Replies
from .rows import Row, RowError
from .settings import WriteSettings
from .split import is_whole
from .stage import Summary, input_rows, run_stage


def run_write(settings: WriteSettings) -> Summary:
    """Write tasks of the kernels that `deduplicate` left, into `folder`/write/; without a model all rows pass as they are.

    Raises:
        CurationError: the stage before has not run, or the endpoint refuses.
        SandboxError: no GPU where one is wanted, no nvcc, or a GPU that cannot run what `arch` says.
    """
    rows = input_rows(settings, "deduplicate")
    if settings.model is None:
        return run_stage(settings.folder, "write", rows, lambda row: [row])
    writer = Writer(settings)
    keys = {"tries": settings.tries, "gpu": settings.runs_on_gpus, "against": writer.benchmarks.record}
    recorded, replies = settings.sampling | keys, writer.replies
    summary = run_stage(settings.folder, "write", rows, writer, settings=recorded, workers=settings.concurrency)
    return replace(summary, notes=(f"replies: {replies.folder} ({replies.used:,} tokens, their questions included)",))


class Writer:
    """The stage's work on one row."""

    def __init__(self, settings: WriteSettings) -> None:
        self.settings = settings
        self.replies = Replies(settings.folder / "replies", settings)
        self.proofs = Proofs(settings.folder / "proofs", settings.proof)
        self.benchmarks = Benchmarks(settings.against)

    def __call__(self, row: Row) -> list[Row]:
        if is_whole(row):
            return [row]
        question = messages = ask_for_task(row, self.settings.arch)
        tries: list[dict[str, Any]] = []
        record = {"model": self.settings.model, "tries": tries}
        while len(tries) < self.settings.tries:
            reply = self.replies.ask(messages)
            if tries and reply.question == tries[-1]["questions"][0]:
                break  # the model repeats itself, and the same question has the same reply
            tries.append({"reason": "", "message": "", "questions": [reply.question]})
            try:
                draft = read_draft(reply.text, reply.cut_off, task_identity(row), row.get("kernel"))
                self.proofs.check_program(draft)
                self.proofs.check_cases(draft)
                self._second_reference(draft, tries[-1]["questions"])
                verified = self.proofs.run(draft, row.get("kernel")) or {"verdict": "compiled", "gpu": None}
            except RowError as error:
                reason, message = error.reason, str(error)
                tries[-1] |= {"reason": reason, "message": shorten(message, 1000)}
                if reason == "refused":
                    break
                messages = ask_again(question, reply.text, message)
            else:
                return [self._made(row, draft, verified, record)]
        raise RowError(reason, shorten(message), {**row, "written": record})

    def _second_reference(self, draft: Draft, questions: list[str]) -> None:
        """Have a second reference written, and mended where it does not work; what speaks against the task is raised as RowError.

        questions: those of this try, to which these are added.
        """
        question = messages = ask_for_reference(draft)
        for _ in range(self.settings.tries):
            reply = self.replies.ask(messages)
            if reply.question == questions[-1]:
                break  # as above
            questions.append(reply.question)
            try:
                self.proofs.check_reference(draft, read_reference(reply.text, reply.cut_off))
                return
            except RowError as error:
                if error.reason in TO_AUTHOR:
                    raise RowError(error.reason, TO_AUTHOR[error.reason].format(error)) from None
                messages, why = ask_again(question, reply.text, str(error)), error
        unclear = TO_AUTHOR["unclear"].format(f"No reference could be written from it: {why}")
        raise RowError("no_second_reference", unclear)

    def _made(self, row: Row, draft: Draft, verified: dict[str, Any], record: dict[str, Any]) -> Row:
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
        return made
