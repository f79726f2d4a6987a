"""The page docs/keys.md, written from the settings of the stage and the commands."""

import re
from dataclasses import fields

from . import NOTE, table


# Commands in the same tuple share a section. The keys of `cuset init` and `spans` are shown by `--help` only.
GROUPS = (
    ("generate", "evaluate", "audit-tasks", "report"),
    ("label", "heatmap", "analyze", "pairs"),
    ("curate",),
    ("study",),
)


def page() -> str:
    from cuset_stage.objective.rules import STATISTICS
    from cuset_stage.spans.kinds import DEFAULT_KINDS, KINDS

    kinds = [[f"`{kind}`", prose(meaning), "yes" if kind in DEFAULT_KINDS else ""] for kind, meaning in KINDS.items()]
    base_names = [name for name in STATISTICS if name.startswith("base_")]
    attributes = [[f"`{name}`", prose(meaning)] for name, meaning in STATISTICS.items() if name not in base_names]
    attributes.append([", ".join(f"`{name}`" for name in base_names), "the same of the base model"])
    parts = [
        "# Keys\n",
        NOTE.format("the settings in the code"),
        "## In a recipe\n",
        "Beside LLaMA-Factory's own keys, of which `eaft_alpha` and `asft_alpha` count for [their objectives](methods.md), a recipe with\n"
        "`stage: cuset` takes:\n",
        recipe_keys() + "\n",
        "A value out of range stops the run before a model is loaded, and names the range.\n",
        "## Kinds of span\n",
        "For `cuset_sensitive_kinds`; those in the last column are the default, the paper's mask.\n",
        table(["kind", "what it covers", "default"], kinds) + "\n",
        "## What a rule reads\n",
        "Attributes of the `tokens` that [an objective of your own](objectives.md) gets, each a vector with one entry a supervised token:\n",
        table(["attribute", "meaning"], attributes) + "\n",
        "## Of the commands\n",
        "A command takes `[FILE.yaml] key=value`: keys in the file, on the command line, or both; the command line wins. `--help` prints a\n"
        "command's keys, and is the only list of those of `cuset init` and `cuset spans`.\n",
        *command_keys(),
    ]
    return "\n".join(parts)


def prose(text: str) -> str:
    """Return a help text for a Markdown table, with CUDA names such as `__global__` as code."""
    return re.sub(r"__\w+__|<<<|>>>", r"`\g<0>`", text).replace("|", "\\|")


def recipe_keys() -> str:
    """Return the table of the keys that the stage adds to those of LLaMA-Factory."""
    from llamafactory.hparams.finetuning_args import FinetuningArguments

    rows = []
    for argument in fields(FinetuningArguments):
        if argument.name.startswith("cuset_") or argument.name in ("prob_threshold", "threshold_direction"):
            default = "" if argument.default is None else f"`{str(argument.default).lower()}`"
            rows.append([f"`{argument.name}`", default, prose(argument.metadata["help"])])
    return table(["key", "default", "meaning"], rows)


def command_keys() -> list[str]:
    """Return the Markdown parts of the commands, one section per group.

    A key that several commands of a group share is described once. Keys that an earlier section has described are
    only named.
    """
    import cuset_stage.cli  # noqa: F401 - registers the commands
    from cuset_stage.cli._app import COMMANDS

    assert {name.split()[0] for name in COMMANDS} - {"init", "spans"} == {name for group in GROUPS for name in group}
    parts, written = [], set()
    for group in GROUPS:
        commands_of: dict[tuple[str, ...], list[str]] = {}  # row of a key -> its commands
        for command in (name for first in group for name in COMMANDS if name.split()[0] == first):
            for row in COMMANDS[command].describe():
                commands_of.setdefault(row, []).append(command.partition(" ")[2] or command)
        rows: list[list[str]] = []
        named: dict[str, list[str]] = {}  # commands -> keys that an earlier section has
        for (key, kind, default, text), commands in commands_of.items():
            of = ", ".join(commands)
            if (key, kind, default, text) in written:
                named.setdefault(of, []).append(f"`{key}`")
                continue
            cells = [kind, "required" if default == "required" else f"`{default}`" if default else "", prose(text), of]
            alike = [row for row in rows if row[1:] == cells]
            if alike:  # keys with the same meaning share a row, such as `ablations: of` and `sweeps: of`
                alike[0][0] += f", `{key}`"
            else:
                rows.append([f"`{key}`", *cells])
        written |= set(commands_of)
        if len(group) > 1:  # keys that more commands share come first
            rows.sort(key=lambda row: -row[-1].count(","))
        header = ["key", "value", "default", "meaning", "of"]
        if len({row[-1] for row in rows}) == 1:
            header, rows = header[:-1], [row[:-1] for row in rows]
        parts += [f"### cuset {', '.join(group)}\n", table(header, rows) + "\n"]
        if named:
            also = [f"**{of}**: {', '.join(keys)}" for of, keys in named.items()]
            parts += [f"Also, as above: {'; '.join(also)}.\n"]
    return parts
