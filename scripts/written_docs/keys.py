"""docs/keys.md, from the settings of the stage and the commands."""

import re
from dataclasses import fields

from . import NOTE, table


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
        "A command takes `[FILE.yaml] key=value`: keys in the file, on the command line, or both; the command line wins. A key that several\n"
        "commands have is [below](#of-several-commands). `--help` prints a command's keys; those of `cuset init`\n"
        "and `spans` stand nowhere else.\n",
        *command_keys(),
    ]
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


def command_keys() -> list[str]:
    """A section a command, or group of them such as `cuset curate`, each key in it once; those of several sections come last."""
    import cuset_stage.cli  # noqa: F401 - registers the commands
    from cuset_stage.cli._app import COMMANDS

    listed = {name: settings for name, settings in COMMANDS.items() if name.split()[0] not in ("init", "spans")}
    commands_of: dict[tuple[str, ...], list[str]] = {}
    for command, settings in listed.items():
        for row in settings.describe():
            commands_of.setdefault(row, []).append(command)
    sections: dict[str, list[list[str]]] = {command.split()[0]: [] for command in listed}
    several: dict[str, list[str]] = {section: [] for section in sections}
    shared = []
    for (key, kind, default, text), commands in commands_of.items():
        cells = [f"`{key}`", kind, "required" if default == "required" else f"`{default}`" if default else ""]
        cells.append(prose(text))
        names = list(dict.fromkeys(command.split()[0] for command in commands))
        if len(names) > 1:
            shared.append([*cells, ", ".join(names)])
            for name in names:
                several[name].append(f"`{key}`")
        else:
            *meaning, group = *cells[1:], ", ".join(command.partition(" ")[2] or command for command in commands)
            alike = [row for row in sections[names[0]] if row[1:] == [*meaning, group]]
            if alike:  # two keys of one meaning, such as `ablations: of` and `sweeps: of`
                alike[0][0] += f", {cells[0]}"
            else:
                sections[names[0]].append([*cells, group])
    parts = []
    for section, rows in sections.items():
        header = ["key", "value", "default", "meaning", "of"]
        if sum(command.split()[0] == section for command in listed) == 1:
            header, rows = header[:-1], [row[:-1] for row in rows]
        parts += [f"### cuset {section}\n", table(header, rows) + "\n"]
        if several[section]:
            parts += [f"Also {', '.join(dict.fromkeys(several[section]))}.\n"]
    return [*parts, "### Of several commands\n", table(["key", "value", "default", "meaning", "of"], shared) + "\n"]
