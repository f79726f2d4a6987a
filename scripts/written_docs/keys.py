"""docs/keys.md, from the settings of the stage and the commands."""

import re
from dataclasses import fields

from . import NOTE, table


def page() -> str:
    import cuset_stage.cli  # noqa: F401 - registers the commands
    from cuset_stage.cli._app import COMMANDS
    from cuset_stage.objective.rules import STATISTICS
    from cuset_stage.spans.kinds import DEFAULT_KINDS, KINDS

    kinds = [[f"`{kind}`", prose(meaning), "yes" if kind in DEFAULT_KINDS else ""] for kind, meaning in KINDS.items()]
    attributes = [[f"`{name}`", prose(meaning)] for name, meaning in STATISTICS.items()]
    parts = [
        "# Keys\n",
        NOTE.format("the settings in the code"),
        "## In a recipe\n",
        "Beside LLaMA-Factory's own keys, a recipe with `stage: cuset` takes:\n",
        recipe_keys() + "\n",
        "A value out of range stops the run before a model is loaded, and names the range.\n",
        "## Kinds of span\n",
        "For `cuset_sensitive_kinds`; those in the last column are the default, the paper's mask.\n",
        table(["kind", "what it covers", "default"], kinds) + "\n",
        "## What a rule reads\n",
        "Attributes of the `tokens` that [an objective of your own](objectives.md) gets, each a vector with one entry a supervised token:\n",
        table(["attribute", "meaning"], attributes) + "\n",
        "## Of the commands\n",
        "A command takes `[FILE.yaml] key=value`: keys in the file, on the command line, or both; the command line wins.\n",
    ]
    for name, settings in COMMANDS.items():
        rows = [
            [f"`{key}`", kind, "required" if default == "required" else f"`{default}`" if default else "", prose(text)]
            for key, kind, default, text in settings.describe()
        ]
        parts += [f"### cuset {name}\n", table(["key", "value", "default", "meaning"], rows) + "\n"]
    return "\n".join(parts)


def prose(text: str) -> str:
    """A help text for a table of Markdown: names of CUDA as code."""
    return re.sub(r"__\w+__|<<<|>>>", r"`\g<0>`", text).replace("|", "\\|")


def recipe_keys() -> str:
    """The keys that the stage adds to LLaMA-Factory's, and those of its own losses that it reads."""
    from llamafactory.hparams.finetuning_args import FinetuningArguments

    own = {"prob_threshold", "threshold_direction", "eaft_alpha", "asft_alpha"}
    rows = [
        [f"`{one.name}`", "" if one.default is None else f"`{str(one.default).lower()}`", prose(one.metadata["help"])]
        for one in fields(FinetuningArguments)
        if one.name.startswith("cuset_") or one.name in own
    ]
    return table(["key", "default", "meaning"], rows)
