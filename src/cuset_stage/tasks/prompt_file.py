"""CUDABench's own prompts, read from the user's clone. Standard library only.

The benchmark keeps them in Generate/prompt.py, as the texts SYSTEM_PROMPT and PROMPT. It has no licence, so neither is kept here. The file
is parsed and never run.
"""

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path

from .base import TaskError


FILE = "Generate/prompt.py"
NAMES = ("SYSTEM_PROMPT", "PROMPT")
PLACEHOLDERS = ("task_name", "task_description", "input_spec", "output_spec", "gpu")
_EXPECTED = (
    f"expected CUDABench's {FILE}, or the folder of your clone, where {' and '.join(NAMES)} are string literals and PROMPT has the "
    f"placeholders {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}, other braces doubled"
)


@dataclass(frozen=True)
class PromptFile:
    """The two texts of a prompt file, and `label`, which names them in answers and reports."""

    system: str
    prompt: str
    label: str


def read_prompts(path: Path) -> PromptFile:
    """Read the prompts of a clone of CUDABench, of its folder Generate, or of the file itself.

    The system prompt is sent as it stands, as the benchmark does: braces that are doubled in it stay doubled, and a placeholder in it
    is not filled.

    Raises:
        TaskError: there is no such file, it does not assign a string literal to both names, or PROMPT has other placeholders than
            PLACEHOLDERS.
    """
    file = next((place for place in (path / FILE, path / Path(FILE).name) if place.is_file()), path)
    try:
        texts = {}
        for statement in ast.parse(file.read_text(encoding="utf-8")).body:
            for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
                if isinstance(target, ast.Name) and target.id in NAMES:
                    texts[target.id] = ast.literal_eval(statement.value)
        system, prompt = (texts[name] for name in NAMES)
        prompt.format(**dict.fromkeys(PLACEHOLDERS, ""))
        if not isinstance(system, str) or "{task_description}" not in prompt:
            raise ValueError("SYSTEM_PROMPT is no text, or PROMPT asks all tasks alike")
    except (OSError, SyntaxError, LookupError, ValueError, AttributeError) as error:
        raise TaskError(f"prompts={file}: {error!r}; {_EXPECTED}.") from None
    digest = hashlib.sha256(f"{system}\0{prompt}".encode()).hexdigest()
    return PromptFile(system, prompt, f"{file.name}, SHA-256 {digest[:16]}")
