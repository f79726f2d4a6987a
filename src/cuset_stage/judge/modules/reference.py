"""What all answers to a module task are held against: the task's own module, in processes of its own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...sandbox import Gpu, scratch_folder
from ...tasks import ModuleTask
from ..gpu_activity import Recorder
from ..oracle_runs import OracleError
from .process import Worker
from .session import Module, ModuleFailed


class Trusted(Module):
    """The task's own module: when it fails, the judge's side fails (OracleError)."""

    task = ""
    believed = True

    def failure(self, error: Mapping[str, str] | None = None) -> Exception:
        failed = super().failure(error)
        if not isinstance(failed, ModuleFailed):
            return failed
        said = failed.error.get("message", failed.first_line)
        return OracleError(f"task {self.task}: the reference's {failed.doing} failed: {said[-1000:]}")


@contextmanager
def reference(
    worker: Worker, task: ModuleTask, gpu: Gpu | None, recorder: Recorder | None = None
) -> Iterator[Trusted]:
    """The reference, imported. Raises OracleError when it fails."""
    with scratch_folder() as folder:
        (folder / "answer.py").write_text(task.reference, encoding="utf-8", newline="\n")
        kind = type("Reference", (Trusted,), {"task": task.id})
        with worker.hold(folder, gpu, kind=kind, recorder=recorder) as module:
            module.find("Model")
            yield module
