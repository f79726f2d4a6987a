"""The files of `cuset init`, made from the bundled recipe of the method, and the commands that come after it."""

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
from .data import DataFile
from .plan import Plan


OUTPUT = "output"  # where training writes, in the project's folder
TASKS = "cuset_mini.jsonl"
HELD_OUT = 0.05  # of the user's rows, for evaluation
HELD_OUT_FROM = 40  # rows; of fewer, none are held out


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
    folder = project.folder.resolve()
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    shutil.copy(bundled.data() / TASKS, data)
    if project.data is None:
        for name in ("cuset_kernels.json", "cuset_kernels_eval.json", "dataset_info.json"):
            shutil.copy(bundled.data() / name, data)
    else:
        info = {project.data.name: project.data.entry}
        write_atomically(data / "dataset_info.json", json.dumps(info, indent=2, ensure_ascii=False) + "\n")
    write_atomically(folder / "train.yaml", _train_recipe(project, folder))
    write_atomically(folder / "chat.yaml", _chat_recipe(project, folder))


def _train_recipe(project: Project, folder: Path) -> str:
    """The bundled recipe of the method with the project's values; a value None removes the key."""
    plan, data = project.plan, project.data
    name = "cuset_qwen7b.yaml" if project.method == "cuset" else f"baselines/{project.method}_qwen7b.yaml"
    text = (bundled.recipes() / name).read_text(encoding="utf-8")
    changes: dict[str, Any] = {
        "model_name_or_path": project.model,
        "dataset_dir": str(folder / "data"),
        "template": project.template,
        "cutoff_len": plan.cutoff_len,
        "output_dir": str(folder / OUTPUT),
        "gradient_accumulation_steps": plan.accumulation,
        "deepspeed": str(folder / f"ds_z{plan.zero}_config.json") if plan.zero else None,
    }
    new: dict[str, dict[str, Any]] = {}  # heading -> keys that the bundled recipe lacks
    if plan.tuning == "full":
        changes |= {"finetuning_type": "full", "learning_rate": 1.0e-5}
        changes |= dict.fromkeys(("lora_rank", "lora_alpha", "lora_dropout", "lora_target"))
    if plan.tuning == "qlora":
        new["### model"] = {"quantization_bit": 4}
    if not plan.gpus:
        new["### train"] = {"use_cpu": True}
        changes |= {"preprocessing_num_workers": 2, "dataloader_num_workers": 0}
    if not (plan.gpus and project.bf16):
        changes["bf16"] = None
        if plan.gpus:
            new["### train"] = {"fp16": True}
    if data is not None:
        changes |= {"dataset": data.name, "eval_dataset": None}
        if data.rows >= HELD_OUT_FROM:
            new["### eval"] = {"val_size": HELD_OUT}
        else:
            changes |= {"per_device_eval_batch_size": None, "eval_strategy": None}
    if plan.zero:
        shutil.copy(bundled.recipes() / "deepspeed" / f"ds_z{plan.zero}_config.json", folder)
    tuning = {"full": "full fine-tuning", "lora": "LoRA", "qlora": "LoRA on 4-bit weights"}[plan.tuning]
    machine = f"{plan.gpus} GPU{'s' * (plan.gpus > 1)}, about {plan.gib:.0f} GiB" if plan.gpus else "a CPU"
    header = f"# {project.method} on {project.model}: {tuning} on {machine}, {plan.batch} rows a step. Made by `cuset init`.\n\n"
    return header + _edited(text[text.index("### model") :], changes, new)


def _edited(recipe: str, changes: dict[str, Any], new: dict[str, dict[str, Any]]) -> str:
    """The recipe with other values; keys without a change keep their comments."""
    lines = []
    for line in recipe.splitlines():
        key = line.partition(":")[0]
        if key not in changes:
            lines.append(line)
        elif changes[key] is not None:
            lines.append(_line(key, changes[key]))
        lines += [_line(*item) for item in new.get(line, {}).items()]
    return re.sub(r"\n### \w+\n*$", "", "\n".join(lines) + "\n")  # the last section, when its keys are all gone


def _line(key: str, value: Any) -> str:
    return yaml.safe_dump({key: value}, allow_unicode=True, width=10_000).rstrip("\n")


def _chat_recipe(project: Project, folder: Path) -> str:
    """For `llamafactory-cli chat`, `api` and `export`."""
    keys = {"model_name_or_path": project.model, "adapter_name_or_path": str(folder / OUTPUT)}
    if project.plan.tuning == "full":
        keys = {"model_name_or_path": keys["adapter_name_or_path"]}
    keys["template"] = project.template
    return "# The trained model. Made by `cuset init`.\n\n" + "\n".join(_line(*item) for item in keys.items()) + "\n"


def next_steps(project: Project, found_gpus: int) -> list[tuple[str, str]]:
    """(what for, command) of what comes after `cuset init`. found_gpus: how many GPUs this machine has."""
    plan, root = project.plan, project.folder
    full = plan.tuning == "full"

    def path(*parts: str) -> str:
        return shlex.quote(str(root.joinpath(*parts)))

    model = shlex.quote(project.model)
    trained = f"model={path(OUTPUT)}" if full else f"model={model} adapter={path(OUTPUT)}"
    dataset = "cuset_kernels_eval" if project.data is None else project.data.name
    few = found_gpus > plan.gpus  # LLaMA-Factory trains on every GPU it sees
    chosen = f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(plan.gpus)))} " if few else ""
    heatmap = (
        f"cuset heatmap {trained}{f' before={model}' if full else ''} dataset={dataset} dataset_dir={path('data')} "
    )
    heatmap += f"template={project.template} cutoff_len={plan.cutoff_len} output={path('confidence.html')}"
    quantized = " quantization_bit=4" if plan.tuning == "qlora" else ""
    answers, tasks = path("answers.jsonl"), path("data", TASKS)
    steps = [
        ("train", f"{chosen}llamafactory-cli train {path('train.yaml')}"),
        ("look at its confidence, token by token", heatmap),
        ("merge the adapter", f"llamafactory-cli export {path('chat.yaml')} export_dir={path('merged')}"),
        ("chat", f"llamafactory-cli chat {path('chat.yaml')}{quantized}"),
        ("evaluate: write answers to 20 tasks", f"cuset generate {trained} tasks={tasks} output={answers}"),
        ("evaluate: compile and run them", f"cuset evaluate {answers} tasks={tasks} output={path('results.jsonl')}"),
    ]
    return [step for step in steps if not (full and step[0] == "merge the adapter")]
