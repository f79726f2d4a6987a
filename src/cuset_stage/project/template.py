"""Which of LLaMA-Factory's chat templates is a model's: by its name in LLaMA-Factory's list, else by what its own chat template writes.

templates.json beside this file, which scripts/templates.py writes, has the list, and digests of what the templates write, because
LLaMA-Factory takes ten seconds to import.
"""

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from ..text import InputError, nearest


BOS, EOS, QUESTION = "<bos>", "<eos>", "QUESTION"  # what stands for them where a template is rendered


def digest(question: str) -> str:
    """What templates.json has of a question that a template has written."""
    return hashlib.sha256(question.encode()).hexdigest()[:16]


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return json.loads(Path(__file__).with_name("templates.json").read_text(encoding="utf-8"))


def template_of(model: str, template: str | None = None) -> str:
    """LLaMA-Factory's template for a model's folder or its name on the Hub; or the one that was given.

    Raises:
        InputError: no such template, or none is known for the model.
    """
    questions, folder = _table()["questions"], Path(model)
    if template is not None:
        if template not in questions:
            raise InputError(f"template={template}: not one of LLaMA-Factory's; {nearest(template, questions)}")
        return template
    wanted = folder.resolve().name.lower() if folder.is_dir() else model.lower()
    listed = {name for place, name in _table()["models"].items() if wanted in (place, place.rpartition("/")[2])}
    if len(listed) == 1:
        return listed.pop()
    question = _own_question(folder)
    alike = [name for name, known in questions.items() if question and known == digest(question)]
    if not alike:
        why = "none writes what the model's own does" if question else "there is no folder with one of its own"
        raise InputError(
            f"model={model}: LLaMA-Factory lists no chat template for it, and {why}. Give template=, the one of the model it was made "
            "from: qwen (Qwen2.5), qwen3, deepseekcoder, seed_coder, llama3, ...; `default` for a base model."
        )
    # Several templates ask alike, such as qwen3 and chatml: the model's type says more.
    kind = str(_json(folder / "config.json").get("model_type"))
    return next((name for name in reversed(alike) if kind.startswith(name)), alike[0])


def difference(model: str, template: str | None) -> str | None:
    """A warning where a model's folder has a chat template that asks otherwise than LLaMA-Factory's `template`."""
    question, known = _own_question(Path(model)), _table()["questions"].get(template)
    if question is None or known in (None, digest(question)):
        return None
    return f"template={template} asks otherwise than the model's own chat template; models answer best in the form they were trained on."


def _own_question(folder: Path) -> str | None:
    """What the chat template beside a model's tokenizer makes of one question; None where there is none, or it cannot be rendered."""
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    tokenizer, file = _json(folder / "tokenizer_config.json"), folder / "chat_template.jinja"
    text = file.read_text(encoding="utf-8") if file.is_file() else tokenizer.get("chat_template")
    if not isinstance(text, str):
        return None
    options = {"trim_blocks": True, "lstrip_blocks": True, "extensions": ["jinja2.ext.loopcontrols"]}
    known = {"add_generation_prompt": True, "bos_token": BOS, "eos_token": EOS}
    messages = [{"role": "user", "content": QUESTION}]
    try:
        return ImmutableSandboxedEnvironment(**options).from_string(text).render(messages=messages, **known)
    except (TemplateError, TypeError):
        return None


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
