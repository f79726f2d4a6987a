"""`cuset init` and `cuset recipes`: from a model and a data file to a folder that trains."""

import os
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from pydantic import Field, NonNegativeInt

from .. import bundled
from ..project.folder import Project, next_steps, read_form, write_project
from ..project.plan import BATCH, Tuning, choose_plan, shape_of, template_of
from ..settings import Settings
from ..stage.pretrained import check_model
from ..text import nearest
from ._app import app, command, fail


Method = StrEnum("Method", ["cuset", "sft", "dft", "eaft", "asft", "profit"])


class InitSettings(Settings):
    positional: ClassVar[tuple[str, ...]] = ("folder",)

    folder: Path = Field(description="the folder to make")
    model: str = Field(description="a model's folder, or its name on the Hub")
    data: str = Field(
        "bundled",
        description="a JSON or JSONL file in alpaca, sharegpt or openai form; without it the bundled kernels",
    )
    gpus: NonNegativeInt | None = Field(None, description="GPUs to train on, 0 for the CPU; without it those here")
    memory_gib: float | None = Field(
        None, ge=1, description="memory of each GPU (of the machine for a CPU); without it what is here"
    )
    method: Method = Field(Method.cuset, description="the loss")
    tuning: Tuning | None = Field(
        None, description="full fine-tuning, LoRA or LoRA on 4-bit weights; without it what fits"
    )
    template: str | None = Field(
        None, description="LLaMA-Factory's chat template; without it the one it lists for the model"
    )


@command(app, "init", InitSettings)
def init(settings: InitSettings) -> None:
    """Write a folder that trains: a recipe for your model, data and GPUs, and print the commands that come next."""
    folder, model, data, gpus = settings.folder, settings.model, settings.data, settings.gpus
    memory_gib, method, tuning, template = settings.memory_gib, settings.method, settings.tuning, settings.template
    found, found_gib, bf16 = _machine()
    gpus = found if gpus is None else gpus
    if gpus and not (memory_gib or found):
        problem = "no GPU is found here, so say how much memory each one has, such as 24."
        raise fail(f"init: memory_gib is missing: {problem}")
    if not memory_gib:
        memory_gib = found_gib if gpus else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    recipe, here = folder.expanduser() / "train.yaml", Path(model).expanduser()
    if recipe.exists():
        raise fail(f"init: {recipe} exists; give another folder, or remove that file.")
    try:
        check_model(model)
        file = None if data == "bundled" else read_form(Path(data).expanduser())
        model = str(here.resolve()) if here.is_dir() else model
        template, shape = template_of(model, template), shape_of(model)
        plan = choose_plan(shape, gpus, memory_gib, tuning=tuning, method=method)
        project = Project(recipe.parent, model, template, method.value, file, plan, bf16)
        write_project(project)
    except ValueError as error:  # InputError is one
        raise fail(f"init: {error}") from None
    except OSError as error:
        raise fail(f"init: {error.filename}: {error.strerror}.") from None

    typer.echo(f"written: {recipe}")
    typer.echo(f"model: {shape.parameters / 1e6:,.1f} million parameters, template {template}")
    given = f", weights and spans from {', '.join(file.gives)}" if file and file.gives else ""
    form = f"{file.rows:,} rows, {file.form} form{given}" if file else "the bundled kernels"
    typer.echo(f"data: {form}")
    where = f"{gpus} x {memory_gib:g} GiB" if gpus else "the CPU"
    way = f"{plan.tuning}, ZeRO-{plan.zero}" if plan.zero else plan.tuning
    typer.echo(f"plan: {way} on {where}, rows of {plan.cutoff_len} tokens, needs about {plan.gib:.1f} GiB")
    if plan.batch != BATCH:
        typer.echo(f"note: {gpus} GPUs do not divide the paper's batch of {BATCH}: a step has {plan.batch} rows")
    if plan.tuning == "qlora" and find_spec("bitsandbytes") is None:
        typer.echo("note: 4-bit weights need bitsandbytes: pip install bitsandbytes")
    for number, (purpose, step) in enumerate(next_steps(project, found), 1):
        typer.echo(f"\n{number}. {purpose}\n   {step}")


def _machine() -> tuple[int, float, bool]:
    """GPUs here, GiB of the smallest, and whether they know bfloat16."""
    import torch

    count = torch.cuda.device_count()
    if not count:
        return 0, 0.0, True
    memory = min(torch.cuda.get_device_properties(index).total_memory for index in range(count)) / 2**30
    return count, round(memory, 1), torch.cuda.is_bf16_supported(including_emulation=False)


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(help="A name, for its path alone.", show_default=False)] = None,
) -> None:
    """List the recipes that come with cuset-stage: llamafactory-cli train "$(cuset recipes cuset_qwen7b)"."""
    found = {path.stem: path for path in sorted(bundled.recipes().rglob("*.yaml"))}
    if name is None:
        for stem, path in found.items():
            typer.echo(f"{stem}: {path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}")
        return
    if name not in found:
        raise fail(f"recipes: there is no recipe {name}; {nearest(name, found)}")
    typer.echo(found[name])
