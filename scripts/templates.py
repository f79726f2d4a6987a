"""Write src/cuset_stage/project/templates.json, a table of LLaMA-Factory's chat templates.

    python scripts/templates.py

With it `cuset init` knows the templates without importing LLaMA-Factory. A test compares the file with the installed
LLaMA-Factory. Run this script when cuset-stage moves to another version of LLaMA-Factory.
"""

import json
from pathlib import Path

from llamafactory.data.mm_plugin import BasePlugin
from llamafactory.data.template import TEMPLATES, Template
from llamafactory.extras.constants import DEFAULT_TEMPLATE, SUPPORTED_MODELS

from cuset_stage.project.template import BOS, EOS, QUESTION, digest


FILE = Path(__file__).parents[1] / "src" / "cuset_stage" / "project" / "templates.json"


def question(template: Template) -> str:
    """Return the text that the template makes of one question, up to where the answer begins."""
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
    """Return the content of templates.json.

    Returns:
        "models" maps a name on the Hub in lower case to its template. Names with more than one template are left out.
        "questions" maps a template to the digest of its `question`, or None for templates of images and sound.
    """
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
