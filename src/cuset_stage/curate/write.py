"""Stage `write`: have a model make a task from each kernel, and verify the task. Failures go back to the model.

For each kernel there are two questions. The first shows the kernel and asks for a task with its program, inputs and a
reference. The second shows only the prompt and the formats and asks for a second reference. A task is kept if

- its program compiles, and the first reference makes all cases,
- no output that nobody computed passes (zeros, a constant, a returned input, values 10 % off; see `cuset
  audit-tasks`),
- both references agree in all cases,
- on a GPU, the program passes all cases twice, its kernel runs (`judge.gpu_work`), and not all of its mutants pass.

Without a GPU the last check is left out, and the row's `verified` has the verdict `compiled`. Replies and findings are
stored in the folders `replies` and `proofs` next to the stages. The same command on a machine with a GPU therefore
asks again only about tasks that fail there. Rows that are already tasks pass through unchanged.
"""

from dataclasses import replace
from typing import Any

from ..text import shorten
from . import questions
from .adapt import task_identity
from .contamination import Benchmarks
from .fingerprints import fingerprints_of
from .proofs import Proofs
from .questions import Draft
from .replies import Replies
from .rows import Row, RowError
from .settings import WriteSettings
from .split import is_whole
from .stage import Summary, input_rows, run_stage


def run_write(settings: WriteSettings) -> Summary:
    """Have tasks written for the kernels of `deduplicate`, and write the results to `folder`/write/.

    Without a model all rows pass through unchanged.

    Raises:
        CurationError: the previous stage has not run, or the endpoint refuses.
        SandboxError: there is no GPU although one is wanted, there is no nvcc, or the GPU cannot run code for `arch`.
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
    """The stage's work on a row, as a callable.

    Attributes:
        settings: the settings of the stage.
        replies: stored replies and the endpoint.
        proofs: stored findings and the judge.
        benchmarks: benchmarks that no task may come from.
    """

    def __init__(self, settings: WriteSettings) -> None:
        self.settings = settings
        self.replies = Replies(settings.folder / "replies", settings)
        self.proofs = Proofs(settings.folder / "proofs", settings.proof)
        self.benchmarks = Benchmarks(settings.against)

    def __call__(self, row: Row) -> list[Row]:
        """Return a list with the row as a task. Raises RowError with an account of all tries if none succeeds."""
        if is_whole(row):
            return [row]
        question = messages = questions.ask_for_task(row, self.settings.arch)
        tries: list[dict[str, Any]] = []
        record = {"model": self.settings.model, "tries": tries}
        while len(tries) < self.settings.tries:
            reply = self.replies.ask(messages)
            if tries and reply.question == tries[-1]["questions"][0]:
                break  # the model repeated its reply, so the question is the same, and its stored reply would be, too
            tries.append({"reason": "", "message": "", "questions": [reply.question]})
            try:
                draft = questions.read_draft(reply.text, reply.cut_off, task_identity(row), row.get("kernel"))
                self.proofs.check_program(draft)
                self.proofs.check_cases(draft)
                self._second_reference(draft, tries[-1]["questions"])
                verified = self.proofs.run(draft, row.get("kernel")) or {"verdict": "compiled", "gpu": None}
            except RowError as error:
                reason, message = error.reason, str(error)
                tries[-1] |= {"reason": reason, "message": shorten(message, 1000)}
                if reason == "refused":
                    break
                messages = questions.ask_again(question, reply.text, message)
            else:
                return [self._made(row, draft, verified, record)]
        raise RowError(reason, shorten(message), {**row, "written": record})

    def _second_reference(self, draft: Draft, asked: list[str]) -> None:
        """Have a second reference written and compared with the first. If it does not work, the model may correct it.

        Args:
            draft: the task.
            asked: the hashes of this try's questions so far. New ones are appended.

        Raises:
            RowError: something is wrong with the task. The message is for the model that wrote it.
        """
        question = messages = questions.ask_for_reference(draft)
        for _ in range(self.settings.tries):
            reply = self.replies.ask(messages)
            if reply.question == asked[-1]:
                break  # the same reply again, as above
            asked.append(reply.question)
            try:
                self.proofs.check_reference(draft, questions.read_reference(reply.text, reply.cut_off))
                return
            except RowError as error:
                if error.reason in questions.TO_AUTHOR:
                    raise RowError(error.reason, questions.TO_AUTHOR[error.reason].format(error)) from None
                messages, why = questions.ask_again(question, reply.text, str(error)), error
        unclear = questions.TO_AUTHOR["unclear"].format(f"No reference could be written from it: {why}")
        raise RowError("no_second_reference", unclear)

    def _made(self, row: Row, draft: Draft, verified: dict[str, Any], record: dict[str, Any]) -> Row:
        """Return the row in the form of a row that came with its task, which `adapt` reads.

        Benchmarks are checked again here, because the written task may be one of a benchmark although the kernel was
        not.
        """
        task_row = {
            **{key: value for key, value in row.items() if key != "fingerprints"},
            "name": draft.record["name"],
            "prompt": draft.record["prompt"],
            "kernel_code": row["code"],
            "code": draft.program,
            "task": {**draft.record, "system": questions.ANSWERER},
            "verified": verified,
            "written": record,
        }
        task_row["fingerprints"] = fingerprints_of(task_row)
        if match := self.benchmarks.find(task_row):
            raise RowError("contaminated", str(match), task_row)
        return task_row
