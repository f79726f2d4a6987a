"""docs/keys.md, from the settings of the stage and the commands."""

import re
from dataclasses import fields

from . import NOTE, table


# The commands that have a section together; those of `cuset init` and `spans` are for `--help` alone.
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
    of_base = [f"`{name}`" for name in STATISTICS if name.startswith("base_")]
    attributes = [[f"`{name}`", prose(meaning)] for name, meaning in STATISTICS.items() if f"`{name}`" not in of_base]
    attributes.append([", ".join(of_base), "the same of the base model"])
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
        "command's keys; those of `cuset init` and `spans` stand nowhere else.\n",
        *command_keys(),
    ]
    return "\n".join(parts)


def prose(text: str) -> str:
    """A help text for a table of Markdown: names of CUDA as code."""
    return re.sub(r"__\w+__|<<<|>>>", r"`\g<0>`", text).replace("|", "\\|")


def recipe_keys() -> str:
    """The keys that the stage adds to LLaMA-Factory's."""
    from llamafactory.hparams.finetuning_args import FinetuningArguments

    own = {"prob_threshold", "threshold_direction"}
    rows = [
        [f"`{one.name}`", "" if one.default is None else f"`{str(one.default).lower()}`", prose(one.metadata["help"])]
        for one in fields(FinetuningArguments)
        if one.name.startswith("cuset_") or one.name in own
    ]
    return table(["key", "default", "meaning"], rows)


def command_keys() -> list[str]:
    """A section a group of commands, each key of one meaning in it once; what an earlier section has is named."""
    import cuset_stage.cli  # noqa: F401 - registers the commands
    from cuset_stage.cli._app import COMMANDS

    assert {name.split()[0] for name in COMMANDS} - {"init", "spans"} == {name for group in GROUPS for name in group}
    parts, written = [], set()
    for group in GROUPS:
        commands_of: dict[tuple[str, ...], list[str]] = {}  # a key with its value, default and meaning -> its commands
        for command in (name for first in group for name in COMMANDS if name.split()[0] == first):
            for row in COMMANDS[command].describe():
                commands_of.setdefault(row, []).append(command.partition(" ")[2] or command)
        rows: list[list[str]] = []
        named: dict[str, list[str]] = {}  # commands -> keys of an earlier section
        for (key, kind, default, text), commands in commands_of.items():
            of = ", ".join(commands)
            if (key, kind, default, text) in written:
                named.setdefault(of, []).append(f"`{key}`")
                continue
            cells = [kind, "required" if default == "required" else f"`{default}`" if default else "", prose(text), of]
            alike = [row for row in rows if row[1:] == cells]
            if alike:  # two keys of one meaning, such as `ablations: of` and `sweeps: of`
                alike[0][0] += f", `{key}`"
            else:
                rows.append([f"`{key}`", *cells])
        written |= set(commands_of)
        if len(group) > 1:  # first what several commands have, then a command after another
            rows.sort(key=lambda row: -row[-1].count(","))
        header = ["key", "value", "default", "meaning", "of"]
        if len({row[-1] for row in rows}) == 1:
            header, rows = header[:-1], [row[:-1] for row in rows]
        parts += [f"### cuset {', '.join(group)}\n", table(header, rows) + "\n"]
        if named:
            also = [f"**{of}**: {', '.join(keys)}" for of, keys in named.items()]
            parts += [f"Also, as above: {'; '.join(also)}.\n"]
    return parts
