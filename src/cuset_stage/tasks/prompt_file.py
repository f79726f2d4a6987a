"""CUDABench's own prompts, read from the user's clone. Standard library only.

The benchmark keeps them in Generate/prompt.py, as the texts SYSTEM_PROMPT and PROMPT. It has no licence, so this
package contains no copy of them. The file is parsed and never run.
"""

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path

from .base import TaskError


FILE = "Generate/prompt.py"
NAMES = ("SYSTEM_PROMPT", "PROMPT")
PLACEHOLDERS = ("task_name", "task_description", "input_spec", "output_spec", "gpu")
_EXPECTED = f"expected CUDABench's {FILE}, or the folder of your clone"


@dataclass(frozen=True)
class PromptFile:
    """The two texts of a prompt file.

    Attributes:
        system: The system prompt.
        prompt: The template of the user's message, with PLACEHOLDERS.
        label: The name of the texts in answers and reports.
    """

    system: str
    prompt: str
    label: str


def read_prompts(path: Path) -> PromptFile:
    """Read CUDABench's prompts.

    The system prompt is sent as it stands, as the benchmark does it. Doubled braces in it stay doubled, and
    placeholders in it are not filled.

    Args:
        path: A clone of CUDABench, its folder Generate, or the file itself.

    Raises:
        TaskError: There is no such file, it does not assign a string literal to both names, PROMPT has other
            placeholders than PLACEHOLDERS, or it lacks {task_description}.
    """
    file = next((place for place in (path / FILE, path / Path(FILE).name) if place.is_file()), path)
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskError(f"prompts={path}: {error.strerror}; {_EXPECTED}.") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TaskError(f"prompts={file}: not Python in UTF-8 ({error}); {_EXPECTED}.") from None
    texts = {}
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and target.id in NAMES:
                texts[target.id] = getattr(getattr(statement, "value", None), "value", None)
    for name in NAMES:
        if not isinstance(texts.get(name), str) or not texts[name].strip():
            what = "is not a string literal" if name in texts else "is not there"
            expected = f"{_EXPECTED}, where {' and '.join(NAMES)} are string literals"
            raise TaskError(f"prompts={file}: {name} {what}; {expected}.")
    system, prompt = (texts[name] for name in NAMES)
    placeholders = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    expected = f"expected {placeholders}, each as it is here, other braces doubled"
    try:
        prompt.format(**dict.fromkeys(PLACEHOLDERS, ""))
    except (LookupError, ValueError, AttributeError) as error:
        raise TaskError(f"prompts={file}: PROMPT cannot be filled ({error!r}); {expected}.") from None
    if "{task_description}" not in prompt:
        lacks = "PROMPT lacks {task_description}, so all tasks are asked alike"
        raise TaskError(f"prompts={file}: {lacks}; {expected}.")
    digest = hashlib.sha256(f"{system}\0{prompt}".encode()).hexdigest()
    return PromptFile(system, prompt, f"{file.name}, SHA-256 {digest[:16]}")
