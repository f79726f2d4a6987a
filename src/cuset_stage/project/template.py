"""Find the LLaMA-Factory chat template of a model.

It is found by the model's name in LLaMA-Factory's list, or else by comparing the text that the model's own chat
template writes with the texts of LLaMA-Factory's templates. scripts/templates.py writes the list and digests of these
texts to templates.json beside this file, because importing LLaMA-Factory takes ten seconds.
"""

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from ..files import read_json
from ..text import InputError, nearest


BOS, EOS, QUESTION = "<bos>", "<eos>", "QUESTION"  # placeholders with which templates are rendered


def digest(question: str) -> str:
    """Return the digest of a rendered question, as templates.json has it."""
    return hashlib.sha256(question.encode()).hexdigest()[:16]


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return json.loads(Path(__file__).with_name("templates.json").read_text(encoding="utf-8"))


def template_of(model: str, template: str | None = None) -> str:
    """Return the name of LLaMA-Factory's template for a model.

    Args:
        model: the model's folder, or its name on the Hub.
        template: the template that the user chose. It is only checked. None means to look for the model's own.

    Raises:
        InputError: if there is no such template, or if none is known for the model.
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
    alike = [name for name, known_digest in questions.items() if question and known_digest == digest(question)]
    if not alike:
        why = "none writes what the model's own does" if question else "there is no folder with one of its own"
        raise InputError(
            f"model={model}: LLaMA-Factory lists no chat template for it, and {why}. Give template=, the one of the model it was made "
            "from: qwen (Qwen2.5), qwen3, deepseekcoder, seed_coder, llama3, ...; `default` for a base model."
        )
    # Several templates write the same text, such as qwen3 and chatml. The model's type decides between them.
    model_type = str((read_json(folder / "config.json") or {}).get("model_type"))
    return next((name for name in reversed(alike) if model_type.startswith(name)), alike[0])


def difference(model: str, template: str | None) -> str | None:
    """Return a warning if the chat template in a model's folder writes something else than LLaMA-Factory's `template`.

    Returns:
        None if both write the same, or if one of the two is not known.
    """
    question, known = _own_question(Path(model)), _table()["questions"].get(template)
    if question is None or known in (None, digest(question)):
        return None
    return f"template={template} asks otherwise than the model's own chat template; models answer best in the form they were trained on."


def _own_question(folder: Path) -> str | None:
    """Return a question as the chat template beside a model's tokenizer renders it.

    It is None if the folder has no chat template, or if that cannot be rendered.
    """
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    tokenizer, file = read_json(folder / "tokenizer_config.json") or {}, folder / "chat_template.jinja"
    text = file.read_text(encoding="utf-8") if file.is_file() else tokenizer.get("chat_template")
    if not isinstance(text, str):
        return None
    options = {"trim_blocks": True, "lstrip_blocks": True, "extensions": ["jinja2.ext.loopcontrols"]}
    variables = {"add_generation_prompt": True, "bos_token": BOS, "eos_token": EOS}
    messages = [{"role": "user", "content": QUESTION}]
    try:
        return ImmutableSandboxedEnvironment(**options).from_string(text).render(messages=messages, **variables)
    except (TemplateError, TypeError):
        return None
