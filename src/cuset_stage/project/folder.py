"""Write the folder of `cuset init`.

This file finds out the form of a user's data file, writes the recipe of the chosen method with the plan's values, and
lists the commands that come next.
"""

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
from ..stage.row_forms import check_texts, check_turns
from ..text import InputError, shown
from .plan import LENGTHS, Plan, Schedule, Shape, choose_learning_rate, choose_schedule, disk_gib, pass_seconds


# LLaMA-Factory's column of an alpaca row -> the names that files use for it, the most common first.
ALPACA = {
    "prompt": ("instruction", "prompt", "question"),
    "query": ("input", "query"),
    "response": ("output", "response", "completion", "answer"),
    "history": ("history",),
    "system": ("system",),
    "tools": ("tools",),
}
MESSAGES = {"messages": ("messages", "conversations", "conversation"), "system": ("system",), "tools": ("tools",)}
# The weights and spans that data may give (docs/data.md). Our names -> the file's names, of a row and of a message.
GIVEN = {"weight": ("weight",), "spans": ("spans",)}
GIVEN_TAGS = {"loss_weight_tag": "loss_weight", "spans_tag": "spans"}
# LLaMA-Factory's tags for the two keys of a message, in each form, and then its tags for the names of roles.
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
OUTPUT = "output"  # the training's output folder, in the project's folder
TASKS = "cuset_mini_2.jsonl"
BYTES_A_TOKEN = 3.6  # bytes of JSON per token, for the bundled kernels and Qwen2.5's tokenizer


@dataclass(frozen=True)
class DataFile:
    """A file with training rows.

    Attributes:
        name: its name in dataset_info.json.
        form: alpaca, sharegpt or openai.
        rows: number of rows.
        size: size in bytes.
        entry: its entry in dataset_info.json.
        notes: what the user should know of how training reads the file, a sentence each.
    """

    name: str
    form: str
    rows: int
    size: int
    entry: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def gives(self) -> list[str]:
        """The file's own names of the columns and keys that hold weights and spans."""
        columns, tags = self.entry["columns"], self.entry.get("tags", {})
        named = [columns.get(key) for key in GIVEN] + [tags.get(key) for key in GIVEN_TAGS]
        return list(dict.fromkeys(filter(None, named)))


def read_form(path: Path) -> DataFile:
    """Find out the form of a JSON or JSONL file from its first row, and check that every row has what this form needs.

    Raises:
        InputError: if the file is neither JSON nor JSONL, has no rows or another form, or if a row is unlike the
            first.
    """
    if path.suffix not in (".json", ".jsonl"):
        fix = "`cuset curate write` makes rows from a folder of kernels (docs/write.md)"
        raise InputError(f"{path}: expected a .json or .jsonl file, or `bundled`. {fix}.")
    rows = read_rows(path)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    messages = any(isinstance(rows[0].get(name), list) for name in MESSAGES["messages"])
    names, needed, kind = (MESSAGES, ["messages"], list) if messages else (ALPACA, ["prompt", "response"], str)
    columns = {key: name for key, known in (names | GIVEN).items() for name in reversed(known) if name in keys}
    if not columns.keys() >= set(needed):
        fix = "Rename them, or write dataset_info.json yourself"
        raise InputError(f"{path}: its columns are {', '.join(keys)}; {EXPECTED}. {fix}.")
    for number, row in enumerate(rows, 1):
        if bad := [columns[key] for key in needed if not isinstance(row.get(columns[key]), kind)]:
            value, expected = shown(row.get(bad[0])), "a list" if messages else "text"
            raise InputError(f"{path}, row {number}: {bad[0]} is {value}; expected {expected}.")
    form, formatting, tags = _of_messages(path, columns["messages"], rows) if messages else ("alpaca", "alpaca", {})
    entry = {"file_name": str(path.resolve()), "formatting": formatting, "columns": columns} | tags
    name, notes = re.sub(r"\W+", "_", path.stem), _notes(entry, rows)
    file = DataFile(name, form, len(rows), path.stat().st_size, entry, notes)
    _check_rows(path, file, rows)
    if file.gives:
        _check_given(path, file, rows)
    return file


def _notes(entry: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return `DataFile.notes`."""
    column, notes = entry["columns"].get("messages"), []
    if any("loss_weight" in row for row in rows):
        notes.append("loss_weight of rows is not read; a row's weight is called weight (docs/data.md)")
    if column and any(message.get("weight") is not None for row in rows for message in row[column]):
        notes.append("weight of messages is not read; a message's weight is called loss_weight (docs/data.md)")
    if entry["formatting"] == "openai":
        added = "which LLaMA-Factory's formatting openai reads: it adds `detailed thinking off` to the system prompt of rows without tools"
        notes.append(f"some messages have tool_calls, {added}")
    return tuple(notes)


def _check_rows(path: Path, file: DataFile, rows: list[dict[str, Any]]) -> None:
    """Raise InputError for rows that training would refuse, for turns that do not alternate, and if no row has an answer."""
    names = {"formatting": file.entry["formatting"], **file.entry["columns"], **file.entry.get("tags", {})}
    for number, row in enumerate(rows, 1):
        try:
            check_texts(row, names)
            if file.form != "alpaca":
                check_turns(row, names)
        except InputError as error:
            raise InputError(f"{path}, row {number}: {error}") from None
    if file.form == "alpaca":
        column = names["response"]
        answers = [row[column] for row in rows]
    else:
        column = names["messages"]
        last = [row[column][-1] for row in rows]
        answers = [str(message.get("tool_calls") or message[names["content_tag"]] or "") for message in last]
    if not any(answer.strip() for answer in answers):
        raise InputError(
            f"{path}: no row has an answer in {column!r}; expected the text to learn. Training would drop all rows."
        )


def _check_given(path: Path, file: DataFile, rows: list[dict[str, Any]]) -> None:
    """Raise InputError for weights and spans that training would refuse."""
    from ..stage.given import giving_dataset_list, read_given

    (names,) = giving_dataset_list([file.name], {file.name: file.entry})
    for number, row in enumerate(rows, 1):
        try:
            read_given(row, names)
        except InputError as error:
            fix = f"These keys give weights and spans: {', '.join(file.gives)}. Rename what means something else."
            raise InputError(f"{path}, row {number}: {error} {fix}") from None


def _of_messages(path: Path, column: str, rows: list[dict[str, Any]]) -> tuple[str, str, dict[str, dict[str, str]]]:
    """Find out the form of rows that hold messages.

    Returns:
        (form, LLaMA-Factory's formatting, {"tags": LLaMA-Factory's name of a key or role -> the file's name})
    """
    messages, forms = [message for row in rows for message in row[column]], list(TAGS)
    for number, row in enumerate(rows if messages else [{column: [None]}], 1):
        keys = [message.keys() if isinstance(message, dict) else set() for message in row[column]]
        forms = [form for form in forms if all({*TAGS[form].values()} <= of_message for of_message in keys)]
        if not forms:
            problem = f"not every message in {column} has role and content, or from and value"
            raise InputError(f"{path}, row {number}: {problem}; all rows have the same two keys.")
    form = forms[0]
    used = {str(message[TAGS[form]["role_tag"]]) for message in messages}
    roles = {tag: next((name for name in names if name in used), names[0]) for tag, names in ROLES.items()}
    for number, row in enumerate(rows, 1):
        if unknown_roles := {str(message[TAGS[form]["role_tag"]]) for message in row[column]} - set(roles.values()):
            named, known = ", ".join(sorted(unknown_roles)), ", ".join(roles.values())
            raise InputError(f"{path}, row {number}: messages of {named}; all rows use the same of {known}.")
    # LLaMA-Factory's own formatting `openai` adds "detailed thinking off" to every system prompt. Its `sharegpt` reads
    # the same messages unchanged, but does not support tool_calls.
    has_tool_calls = form == "openai" and any(message.get("tool_calls") for message in messages)
    given = {tag: key for tag, key in GIVEN_TAGS.items() if any(key in message for message in messages)}
    return form, "openai" if has_tool_calls else "sharegpt", {"tags": TAGS[form] | roles | given}


@dataclass(frozen=True)
class Project:
    """The user's request, and the plan for it.

    Attributes:
        folder: the folder to write.
        model: the model's folder, or its name on the Hub.
        shape: the model's size.
        template: LLaMA-Factory's chat template.
        method: the loss, such as cuset or sft.
        data: the training rows.
        plan: the training that fits into the memory.
        is_own: whether the data are the user's, and not the bundled kernels.
        bf16: whether the GPUs compute in bfloat16. If not, the recipe uses float16.
    """

    folder: Path
    model: str
    shape: Shape
    template: str
    method: str
    data: DataFile
    plan: Plan
    is_own: bool
    bf16: bool = True

    @property
    def schedule(self) -> Schedule:
        return choose_schedule(self.data.rows, self.plan.batch, has_evaluation=not self.is_own)

    @property
    def learning_rate(self) -> float:
        return choose_learning_rate(self.shape, self.plan.tuning, self.method)

    def length(self, card: str | None) -> str:
        """Return a text about the run's steps, time and disk space.

        Args:
            card: the name of this machine's GPU, or None (see `pass_seconds`).
        """
        run, gpus = self.schedule, self.plan.gpus
        tokens = min(self.data.size / BYTES_A_TOKEN / self.data.rows, self.plan.cutoff_len)
        times = []
        passes = run.epochs * run.rows / self.plan.rows / max(gpus, 1)
        for name, seconds in pass_seconds(self.shape, self.plan.rows * tokens, card, gpus).items():
            minutes = passes * seconds / 60
            written = f"{minutes / 60:.0f} h" if minutes > 90 else f"{max(1, minutes):.0f} min"
            times.append(f"{written} on {name}")
        held_out = f", {run.held_out} more to evaluate" if run.held_out else ""
        return (
            f"{run.steps:,} steps ({run.epochs} epochs of {run.rows:,} rows{held_out}), very roughly {' or '.join(times)}; "
            f"writes {disk_gib(self.shape, self.plan.tuning):.1f} GiB"
        )


def write_project(project: Project) -> None:
    """Write train.yaml, chat.yaml and data/.

    The paths in them are absolute, so the recipe works from any working directory.
    """
    folder, plan = project.folder.resolve(), project.plan
    (folder / "data").mkdir(parents=True, exist_ok=True)
    copied = [TASKS]
    if project.is_own:
        info = json.dumps({project.data.name: project.data.entry}, indent=2, ensure_ascii=False)
        write_atomically(folder / "data" / "dataset_info.json", info + "\n")
    else:
        copied += ["cuset_kernels.json", "cuset_kernels_hard.json", "cuset_kernels_eval.json", "dataset_info.json"]
    for name in copied:
        shutil.copy(bundled.data() / name, folder / "data")
    if plan.zero:
        shutil.copy(bundled.recipes() / "deepspeed" / f"ds_z{plan.zero}_config.json", folder)
    write_atomically(folder / "train.yaml", _train_recipe(project, folder))
    # chat.yaml is for `llamafactory-cli chat`, `api` and `export`.
    key = "adapter_name_or_path" if plan.tuning != "full" else "model_name_or_path"
    chat = {"model_name_or_path": project.model, key: str(folder / OUTPUT), "template": project.template}
    write_atomically(folder / "chat.yaml", f"# The trained model. Made by `cuset init`.\n\n{_yaml(chat)}")


def _train_recipe(project: Project, folder: Path) -> str:
    """Return the bundled recipe of the method with the plan's values. Lines that do not change keep their comments."""
    plan, data, run = project.plan, project.data, project.schedule
    changes: dict[str, Any] = {  # a value of None removes the line
        "model_name_or_path": project.model,
        "dataset_dir": str(folder / "data"),
        "template": project.template,
        "cutoff_len": plan.cutoff_len,
        "output_dir": str(folder / OUTPUT),
        "logging_steps": run.logging_steps,
        "per_device_train_batch_size": plan.rows,
        "gradient_accumulation_steps": plan.accumulation,
        "num_train_epochs": float(run.epochs),
        "learning_rate": project.learning_rate,
        "deepspeed": str(folder / f"ds_z{plan.zero}_config.json") if plan.zero else None,
    }
    added: dict[str, Any] = {"save_total_limit": 1}
    if plan.tuning == "full":
        changes["finetuning_type"] = "full"
        changes |= dict.fromkeys(("lora_rank", "lora_alpha", "lora_dropout", "lora_target"))
        added["save_only_model"] = True
    if plan.tuning == "qlora":
        added["quantization_bit"] = 4
    if not plan.gpus:
        changes |= {"preprocessing_num_workers": 2, "dataloader_num_workers": 0, "bf16": None}
        added["use_cpu"] = True
    elif not project.bf16:
        changes["bf16"] = None
        added["fp16"] = True
    if project.is_own:
        changes |= {"dataset": data.name, "eval_dataset": None}
        if run.held_out:
            added["val_size"] = run.held_out
        else:
            changes |= dict.fromkeys(("### eval", "per_device_eval_batch_size", "eval_strategy"))
    name = "cuset_qwen7b.yaml" if project.method == "cuset" else f"baselines/{project.method}_qwen7b.yaml"
    text = (bundled.recipes() / name).read_text(encoding="utf-8")
    tuning = {"full": "full fine-tuning", "lora": "LoRA", "qlora": "LoRA on 4-bit weights"}[plan.tuning]
    machine = f"{plan.gpus} GPU{'s' * (plan.gpus > 1)}, at most {plan.gib:.0f} GiB" if plan.gpus else "a CPU"
    recipe = f"# {project.method} on {project.model}: {tuning} on {machine}, {plan.batch} rows a step.\n# Made by `cuset init`; docs/one_gpu.md says how it chooses.\n\n"
    for line in text[text.index("### model") :].splitlines(keepends=True):
        key = line.strip().partition(":")[0]
        recipe += line if key not in changes else "" if changes[key] is None else _yaml({key: changes[key]})
    return f"{recipe.rstrip()}\n\n### for this machine and data\n{_yaml(added)}"


def _yaml(keys: dict[str, Any]) -> str:
    return yaml.safe_dump(keys, allow_unicode=True, width=10_000, sort_keys=False)


def next_steps(project: Project, found_gpus: int) -> list[tuple[str, list[str]]]:
    """Return the steps that come after `cuset init`, in order, as pairs of a purpose and its commands."""
    plan, full = project.plan, project.plan.tuning == "full"

    def path(*parts: str) -> str:
        return shlex.quote(str(project.folder.joinpath(*parts)))

    model, tasks, recipe, chat = shlex.quote(project.model), path("data", TASKS), path("train.yaml"), path("chat.yaml")
    # A model that is trained in 4 bits is also read in 4 bits, because it would not fit into the GPU otherwise.
    bits = " quantization_bit=4" if plan.tuning == "qlora" else ""
    # Without a GPU, only a few short answers can be sampled in minutes. They can be compiled, but not run.
    short = "" if plan.gpus else " limit=5 max_tokens=512"
    compiled = "" if plan.gpus else " limit=5 compile_only=true"
    few = found_gpus > plan.gpus  # LLaMA-Factory would train on every GPU that it sees
    chosen = f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(plan.gpus)))} " if few else ""
    train = f"{chosen}llamafactory-cli train {recipe}"
    data = f"dataset_dir={path('data')} template={project.template}"
    if plan.cutoff_len != LENGTHS[0]:  # LENGTHS[0] is the default of these commands
        data += f" cutoff_len={plan.cutoff_len}"
    dataset = project.data.name if project.is_own else "cuset_kernels_eval"

    def trained(output: str) -> str:
        return f"model={path(output)}" if full else f"model={model} adapter={path(output)}"

    def results(output: str, name: str) -> list[str]:
        answers, judged = path(f"{name}_answers.jsonl"), path(f"{name}.jsonl")
        sampled = f"{trained(output)}{bits} template={project.template} tasks={tasks}{short} output={answers}"
        evaluate = f"cuset evaluate {answers} tasks={tasks}{compiled} method={name} seed=0 output={judged}"
        return [f"cuset generate {sampled}", evaluate]

    before = f" before={model}" if full else ""
    look = f"cuset heatmap {trained(OUTPUT)}{before}{bits} dataset={dataset} {data} output={path('confidence.html')}"
    generate, evaluate = results(OUTPUT, project.method)
    label = f"cuset label model={model} dataset={project.data.name} {data} output={path('labels.html')}"
    trial = f"{train} max_steps=2 logging_steps=1 output_dir={path('trial')}"
    asked = "the package's 200 tasks"
    if not plan.gpus:
        asked = f"five of {asked}: enough to see that it works, too few to compare (more: limit=, max_tokens=)"
    steps = [
        ("see which tokens of your data are CUDA, and which rows have none", [label]),
        ("try two steps of the training, in a folder of their own, then train", [trial, train]),
        (f"look at its confidence in {'your rows' if project.is_own else 'held-out rows'}, token by token", [look]),
        (f"write answers to {asked}", [generate]),
        (f"compile {'and run them (needs nvcc and a GPU)' if plan.gpus else 'them (needs nvcc)'}", [evaluate]),
        ("talk to it", [f"llamafactory-cli chat {chat}{bits}"]),
    ]
    if not full:
        merge = f"llamafactory-cli export {chat} export_dir={path('merged')}"
        steps.append(("merge the adapter into the model", [merge]))
    if project.method != "sft":
        again, compared = [f"{train} cuset_objective=sft output_dir={path('sft')}"], "the answers"
        if project.schedule.held_out or not project.is_own:
            again.append(f"grep eval_loss {path(OUTPUT, 'all_results.json')} {path('sft', 'all_results.json')}")
            compared = "eval_loss on the held-out rows, and the answers"
        again += results("sft", "sft")
        compare = f"cuset report {path(f'{project.method}.jsonl')} {path('sft.jsonl')} output={path('report')}"
        steps.append((f"the same run with plain SFT: compare {compared}", [*again, compare]))
    return steps
