"""Write src/cuset_stage/project/templates.json: LLaMA-Factory's chat templates, so that `cuset init` need not import it.

    python scripts/templates.py

A test holds the file to the LLaMA-Factory that is installed; run this when the version that cuset-stage takes changes.
"""

import json
from pathlib import Path

from llamafactory.data.mm_plugin import BasePlugin
from llamafactory.data.template import TEMPLATES, Template
from llamafactory.extras.constants import DEFAULT_TEMPLATE, SUPPORTED_MODELS

from cuset_stage.project.template import BOS, EOS, QUESTION, digest


FILE = Path(__file__).parents[1] / "src" / "cuset_stage" / "project" / "templates.json"


def question(template: Template) -> str:
    """What the template makes of one question, up to where the answer begins."""
    parts = [*template.format_prefix.apply()]
    if template.default_system:
        parts += template.format_system.apply(content=template.default_system)
    parts += template.format_user.apply(content=QUESTION, idx="0")
    special = {"bos_token": BOS, "eos_token": EOS}
    text = ""
    for part in parts:
        if isinstance(part, set):
            part = special.get(min(part), min(part))
        text += part["token"] if isinstance(part, dict) else part
    return text


def table() -> dict[str, dict[str, str | None]]:
    """models: a name on the Hub in lower case -> its template. questions: a template -> the digest of its `question`; null for templates of
    images and sound."""
    models: dict[str, set[str]] = {}
    for name, places in SUPPORTED_MODELS.items():
        for place in places.values():
            if template := DEFAULT_TEMPLATE.get(name):
                models.setdefault(place.lower(), set()).add(template)
    plain = {name: type(template.mm_plugin) is BasePlugin for name, template in TEMPLATES.items()}
    return {
        "models": {place: min(names) for place, names in sorted(models.items()) if len(names) == 1},
        "questions": {name: digest(question(TEMPLATES[name])) if plain[name] else None for name in sorted(TEMPLATES)},
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(table(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written: {FILE}")
