"""The folder of `cuset init`: what a user's data file holds, the recipe of the method with the plan's values, and the commands that follow."""

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .. import bundled
from ..files import write_atomically
from ..jsonl import read_rows
from ..text import InputError, shown
from .plan import Plan


# LLaMA-Factory's column of an alpaca row -> the names that files give it, the commonest first.
ALPACA = {
    "prompt": ("instruction", "prompt", "question"),
    "query": ("input", "query"),
    "response": ("output", "response", "completion", "answer"),
    "history": ("history",),
    "system": ("system",),
    "tools": ("tools",),
}
MESSAGES = {"messages": ("messages", "conversations", "conversation"), "system": ("system",), "tools": ("tools",)}
# What data give of a row, and of a message (docs/data.md): our names -> the file's.
GIVEN = {"weight": ("weight",), "spans": ("spans",)}
GIVEN_TAGS = {"loss_weight_tag": "loss_weight", "spans_tag": "spans"}
# Keys of a message: role and content, then the names of roles as LLaMA-Factory's tags.
TAGS = {
    "openai": {"role_tag": "role", "content_tag": "content"},
    "sharegpt": {"role_tag": "from", "content_tag": "value"},
}
ROLES = {
    "user_tag": ("human", "user"),
    "assistant_tag": ("gpt", "assistant"),
    "observation_tag": ("observation", "tool"),
    "function_tag": ("function_call",),
    "system_tag": ("system",),
}
EXPECTED = "expected alpaca (instruction, input, output), sharegpt (conversations of from and value) or openai (messages of role and content)"
OUTPUT = "output"  # where training writes, in the project's folder
TASKS = "cuset_mini_2.jsonl"
HELD_OUT = 0.05  # of the user's rows, for evaluation
HELD_OUT_FROM = 40  # rows; of fewer, none are held out


@dataclass(frozen=True)
class DataFile:
    """name: in dataset_info.json. form: alpaca, sharegpt or openai. entry: what dataset_info.json says of it."""

    name: str
    form: str
    rows: int
    entry: dict[str, Any]

    @property
    def gives(self) -> list[str]:
        """The file's names of weights and spans."""
        columns, tags = self.entry["columns"], self.entry.get("tags", {})
        named = [columns.get(key) for key in GIVEN] + [tags.get(key) for key in GIVEN_TAGS]
        return list(dict.fromkeys(filter(None, named)))


def read_form(path: Path) -> DataFile:
    """Find out the form of a JSON or JSONL file by its first row, and check that every row has what it needs.

    Raises:
        InputError: not such a file, no rows, another form, or a row unlike the first.
    """
    if path.suffix not in (".json", ".jsonl"):
        raise InputError(f"{path}: expected a .json or .jsonl file, or `bundled`.")
    rows = read_rows(path)
    there = list(dict.fromkeys(key for row in rows for key in row))
    messages = any(isinstance(rows[0].get(name), list) for name in MESSAGES["messages"])
    names, needed, kind = (MESSAGES, ["messages"], list) if messages else (ALPACA, ["prompt", "response"], str)
    columns = {key: name for key, known in (names | GIVEN).items() for name in reversed(known) if name in there}
    if not columns.keys() >= set(needed):
        fix = "Rename them, or write dataset_info.json yourself"
        raise InputError(f"{path}: its columns are {', '.join(there)}; {EXPECTED}. {fix}.")
    for number, row in enumerate(rows, 1):
        if bad := [columns[key] for key in needed if not isinstance(row.get(columns[key]), kind)]:
            value, expected = shown(row.get(bad[0])), "a list" if messages else "text"
            raise InputError(f"{path}, row {number}: {bad[0]} is {value}; expected {expected}.")
    form, formatting, tags = _of_messages(path, columns["messages"], rows) if messages else ("alpaca", "alpaca", {})
    entry = {"file_name": str(path.resolve()), "formatting": formatting, "columns": columns} | tags
    file = DataFile(re.sub(r"\W+", "_", path.stem), form, len(rows), entry)
    if file.gives:
        _check_given(path, file, rows)
    return file


def _check_given(path: Path, file: DataFile, rows: list[dict[str, Any]]) -> None:
    """Refuse weights and spans that training would refuse."""
    from ..stage.given import giving_dataset_list, read_given

    (names,) = giving_dataset_list([file.name], {file.name: file.entry})
    for number, row in enumerate(rows, 1):
        try:
            read_given(row, names)
        except InputError as error:
            fix = f"{', '.join(file.gives)} are taken for weights and spans: rename what means something else."
            raise InputError(f"{path}, row {number}: {error} {fix}") from None


def _of_messages(path: Path, column: str, rows: list[dict[str, Any]]) -> tuple[str, str, dict[str, dict[str, str]]]:
    """(form, LLaMA-Factory's formatting, {"tags": its name of a key or role -> the file's})"""
    messages = [message for row in rows for message in row[column]]
    plain = all(isinstance(message, dict) for message in messages)
    keys = {form: set(tags.values()) for form, tags in TAGS.items() if plain and messages}
    form = next((form for form in keys if all(keys[form] <= message.keys() for message in messages)), None)
    if form is None:
        raise InputError(f"{path}: not every message in {column} has role and content, or from and value.")
    used = {str(message[TAGS[form]["role_tag"]]) for message in messages}
    roles = {tag: next((name for name in names if name in used), names[0]) for tag, names in ROLES.items()}
    if unknown := used - set(roles.values()):
        raise InputError(f"{path}: messages of {', '.join(sorted(unknown))}; known are {', '.join(roles.values())}.")
    # LLaMA-Factory's own `openai` adds "detailed thinking off" to every system prompt; its `sharegpt` reads the same messages
    # unchanged, but knows no tool_calls.
    calls = form == "openai" and any("tool_calls" in message for message in messages)
    given = {tag: key for tag, key in GIVEN_TAGS.items() if any(key in message for message in messages)}
    return form, "openai" if calls else "sharegpt", {"tags": TAGS[form] | roles | given}


@dataclass(frozen=True)
class Project:
    """What was asked for, and the plan for it. data: the user's file; None: the bundled kernels."""

    folder: Path
    model: str
    template: str
    method: str
    data: DataFile | None
    plan: Plan
    bf16: bool = True


def write_project(project: Project) -> None:
    """Write train.yaml, chat.yaml and data/. Paths in them are absolute, so the recipe trains from any working directory."""
    folder, plan = project.folder.resolve(), project.plan
    (folder / "data").mkdir(parents=True, exist_ok=True)
    copied = [bundled.data() / TASKS]
    if project.data is None:
        copied += [
            bundled.data() / f"{name}.json"
            for name in ("cuset_kernels", "cuset_kernels_hard", "cuset_kernels_eval", "dataset_info")
        ]
    else:
        info = json.dumps({project.data.name: project.data.entry}, indent=2, ensure_ascii=False)
        write_atomically(folder / "data" / "dataset_info.json", info + "\n")
    for path in copied:
        shutil.copy(path, folder / "data")
    if plan.zero:
        shutil.copy(bundled.recipes() / "deepspeed" / f"ds_z{plan.zero}_config.json", folder)
    write_atomically(folder / "train.yaml", _train_recipe(project, folder))
    # For `llamafactory-cli chat`, `api` and `export`.
    key = "adapter_name_or_path" if plan.tuning != "full" else "model_name_or_path"
    chat = {"model_name_or_path": project.model, key: str(folder / OUTPUT), "template": project.template}
    write_atomically(folder / "chat.yaml", f"# The trained model. Made by `cuset init`.\n\n{_yaml(chat)}")


def _train_recipe(project: Project, folder: Path) -> str:
    """The bundled recipe of the method with other values; keys without a change keep their comments."""
    plan, data = project.plan, project.data
    changes: dict[str, Any] = {  # None removes a line
        "model_name_or_path": project.model,
        "dataset_dir": str(folder / "data"),
        "template": project.template,
        "cutoff_len": plan.cutoff_len,
        "output_dir": str(folder / OUTPUT),
        "gradient_accumulation_steps": plan.accumulation,
        "deepspeed": str(folder / f"ds_z{plan.zero}_config.json") if plan.zero else None,
    }
    added: dict[str, Any] = {}
    if plan.tuning == "full":
        changes |= {"finetuning_type": "full", "learning_rate": 1.0e-5}
        changes |= dict.fromkeys(("lora_rank", "lora_alpha", "lora_dropout", "lora_target"))
    if plan.tuning == "qlora":
        added["quantization_bit"] = 4
    if not plan.gpus:
        changes |= {"preprocessing_num_workers": 2, "dataloader_num_workers": 0, "bf16": None}
        added["use_cpu"] = True
    elif not project.bf16:
        changes["bf16"] = None
        added["fp16"] = True
    if data is not None:
        changes |= {"dataset": data.name, "eval_dataset": None}
        if data.rows >= HELD_OUT_FROM:
            added["val_size"] = HELD_OUT
        else:
            changes |= dict.fromkeys(("### eval", "per_device_eval_batch_size", "eval_strategy"))
    name = "cuset_qwen7b.yaml" if project.method == "cuset" else f"baselines/{project.method}_qwen7b.yaml"
    text = (bundled.recipes() / name).read_text(encoding="utf-8")
    tuning = {"full": "full fine-tuning", "lora": "LoRA", "qlora": "LoRA on 4-bit weights"}[plan.tuning]
    machine = f"{plan.gpus} GPU{'s' * (plan.gpus > 1)}, about {plan.gib:.0f} GiB" if plan.gpus else "a CPU"
    made = f"# {project.method} on {project.model}: {tuning} on {machine}, {plan.batch} rows a step. Made by `cuset init`.\n\n"
    for line in text[text.index("### model") :].splitlines(keepends=True):
        key = line.strip().partition(":")[0]
        made += line if key not in changes else "" if changes[key] is None else _yaml({key: changes[key]})
    return made.rstrip() + ("\n\n### for this machine and data\n" + _yaml(added) if added else "\n")


def _yaml(keys: dict[str, Any]) -> str:
    return yaml.safe_dump(keys, allow_unicode=True, width=10_000, sort_keys=False)


def next_steps(project: Project, found_gpus: int) -> list[tuple[str, str]]:
    """(what for, command) of what comes after `cuset init`. found_gpus: how many GPUs this machine has."""
    plan, full = project.plan, project.plan.tuning == "full"

    def path(*parts: str) -> str:
        return shlex.quote(str(project.folder.joinpath(*parts)))

    model, tasks, answers = shlex.quote(project.model), path("data", TASKS), path("answers.jsonl")
    trained = f"model={path(OUTPUT)}" if full else f"model={model} adapter={path(OUTPUT)}"
    compared = f"{trained} before={model}" if full else trained
    dataset = "cuset_kernels_eval" if project.data is None else project.data.name
    as_trained = f"dataset_dir={path('data')} template={project.template} cutoff_len={plan.cutoff_len}"
    few = found_gpus > plan.gpus  # LLaMA-Factory trains on every GPU it sees
    chosen = f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(plan.gpus)))} " if few else ""
    quantized = " quantization_bit=4" if plan.tuning == "qlora" else ""
    look = f"cuset heatmap {compared} dataset={dataset} {as_trained} output={path('confidence.html')}"
    merge = f"llamafactory-cli export {path('chat.yaml')} export_dir={path('merged')}"
    evaluate = f"cuset evaluate {answers} tasks={tasks} output={path('results.jsonl')}"
    return [
        ("train", f"{chosen}llamafactory-cli train {path('train.yaml')}"),
        ("look at its confidence, token by token", look),
        *([] if full else [("merge the adapter", merge)]),
        ("chat", f"llamafactory-cli chat {path('chat.yaml')}{quantized}"),
        ("evaluate: write answers to held-out tasks", f"cuset generate {trained} tasks={tasks} output={answers}"),
        ("evaluate: compile and run them", evaluate),
    ]
