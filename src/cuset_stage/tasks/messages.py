"""What a model is asked: the system and user messages of a task. Standard library only.

tasks/wording.py holds the texts for sets that do not bring whole prompts of their own.
"""

from .base import ProgramTask, Task, TaskError


def chat_messages(task: Task, *, level: int = 1, gpu: str | None = None) -> list[dict[str, str]]:
    """The messages for a task: [{"role": "system", ...},] {"role": "user", ...}.

    level: the level of detail; 1 is the paper's, CUDABench has 1 to 3, other sets 1 only. gpu: the GPU to name in a prompt of a
    set whose prompts name one (CUDABench), in place of the one in the row.

    Raises TaskError when the task has no prompt of that level.
    """
    if level not in task.prompts:
        levels = ", ".join(map(str, sorted(task.prompts)))
        raise TaskError(f"task {task.id} ({task.source}): no prompt of level {level}; it has {levels}")
    prompt = task.prompts[level]
    if isinstance(task, ProgramTask) and task.names_gpu and (gpu or task.gpu):
        prompt = f"{prompt}\n\nGPU: {gpu or task.gpu}"
    messages = [{"role": "user", "content": prompt}]
    if task.system:
        messages.insert(0, {"role": "system", "content": task.system})
    return messages
