"""MultiKernelBench's CUDA part (MIT), from a clone of its repository: KernelBench's kind of task, with the set's own prompt.

reference/<category>/<operator>.py holds Model, get_inputs and get_init_inputs. What has get_input_groups in place of get_inputs (the
operators of NPUKernelBench, in some 50 sizes each) is left out.
"""

import ast
import hashlib
from dataclasses import replace
from pathlib import Path

from .base import ModuleTask, TaskError
from .kernelbench import model_task
from .messages import shot_prompt
from .task_rows import Row, read_text


LEFT_OUT = "operators with get_input_groups"
LAYOUT = "reference/<category>/<operator>.py and prompt_generators/ of a whole clone"
_PROMPTS = "prompt_generators/prompt_utils.py"
_TEXTS = ("template_statement", "template_instruction")
_EXAMPLES = ("prompts/cuda_model_add.py", "prompts/cuda_new_model_add.py")


def is_folder(path: Path) -> bool:
    return (path / _PROMPTS).is_file() and (path / "reference").is_dir()


def read_folder(path: Path) -> tuple[list[ModuleTask | None], str]:
    """The tasks of reference/*/*.py, None for what is left out, and a SHA-256 of them. The prompts are those of the strategy add_shot."""
    statement, instruction = _templates(path / _PROMPTS)
    examples = [read_text(path / name) for name in _EXAMPLES]
    digest = hashlib.sha256()
    tasks: list[ModuleTask | None] = []
    for file in sorted(path.glob("reference/*/*.py")):
        if file.name.startswith("_"):
            continue
        code, where = read_text(file), file.relative_to(path).as_posix()
        digest.update(f"{where}\0{code}\0".encode())
        if "def get_input_groups" in code:
            tasks.append(None)
            continue
        task = model_task(Row(where, {}), code, file.parent.name, file.stem)
        prompt = shot_prompt(statement, *examples, code, instruction)
        tasks.append(replace(task, id=file.stem, prompts={1: prompt}, system=None))
    return tasks, digest.hexdigest()


def _templates(file: Path) -> list[str]:
    """The set's own texts, from constants in its source, which is not run."""
    text = read_text(file)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{file}: not Python: {error}") from None
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    if missing := [name for name in _TEXTS if not isinstance(constants.get(name), str)]:
        raise TaskError(f"{file}: {missing[0]}: expected a text that is assigned to it at the top level")
    return [constants[name].replace("{}", "CUDA") for name in _TEXTS]
