"""`cuset init` and `cuset recipes`: make a folder that trains from a model and data, and list the bundled recipes."""

import os
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer
from pydantic import Field, NonNegativeInt

from .. import bundled
from ..project.folder import Project, next_steps, read_form, write_project
from ..project.plan import BATCH, HELD_OUT_FROM, Tuning, choose_plan, shape_of
from ..project.template import difference, template_of
from ..settings import Settings
from ..stage.pretrained import Model
from ..text import nearest
from ._app import app, command, fail


class InitSettings(Settings):
    positional: ClassVar[tuple[str, ...]] = ("folder",)

    folder: Path = Field(description="the folder to make")
    model: Model = Field(description="a model's folder, or its name on the Hub")
    data: str = Field("bundled", description="a JSON or JSONL file in alpaca, sharegpt or openai form, or bundled")
    gpus: NonNegativeInt | None = Field(None, description="GPUs to train on, 0 for the CPU; without it those here")
    memory_gib: float | None = Field(None, ge=1, description="of each GPU, or of the machine; without it what is here")
    method: Literal["cuset", "sft", "dft", "eaft", "asft", "profit"] = Field("cuset", description="the loss")
    tuning: Tuning | None = Field(None, description="without it LoRA, or LoRA on 4-bit weights where no more fits")
    template: str | None = Field(None, description="LLaMA-Factory's chat template; without it the model's")


@command(app, "init", InitSettings)
def init(settings: InitSettings) -> None:
    """Write a folder that trains: a recipe for your model, data and GPUs, and print the commands that come next."""
    from ..sandbox.gpus import list_gpus

    gpus_here, memory_gib = list_gpus(), settings.memory_gib
    gpus = len(gpus_here) if settings.gpus is None else settings.gpus
    if gpus and not (memory_gib or gpus_here):
        raise fail("init: memory_gib is missing: no GPU is found here, so say what memory each one has, such as 24.")
    if not memory_gib:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory_gib = round((min(gpu.memory_bytes for gpu in gpus_here) if gpus else memory) / 2**30, 1)
    recipe, local = settings.folder.expanduser() / "train.yaml", Path(settings.model).expanduser()
    if recipe.exists():
        raise fail(f"init: {recipe} exists; give another folder, or remove that file.")
    try:
        is_own = settings.data != "bundled"
        file = read_form(Path(settings.data).expanduser() if is_own else bundled.data() / "cuset_kernels.json")
        model = str(local.absolute()) if local.is_dir() else settings.model
        template, shape = template_of(model, settings.template), shape_of(model)
        bf16 = all(float(gpu.compute_capability) >= 8 for gpu in gpus_here)
        plan = choose_plan(shape, gpus, memory_gib, tuning=settings.tuning, lays_rows=bf16)
        project = Project(recipe.parent, model, shape, template, settings.method, file, plan, is_own, bf16)
        write_project(project)
    except ValueError as error:  # InputError is one
        raise fail(f"init: {error}") from None

    typer.echo(f"written: {recipe}")
    unit, size = ("billion", 1e9) if shape.parameters >= 1e9 else ("million", 1e6)
    guessed = ", by its name" if shape.guessed else ""
    typer.echo(f"model: {shape.parameters / size:.2f} {unit} parameters{guessed}, template {template}")
    if settings.template and (note := difference(model, template)):
        typer.echo(f"warning: {note} Leave the key out to have that one")
    given_names = f", weights and spans from {', '.join(file.gives)}" if file.gives else ""
    typer.echo(f"data: {file.rows:,} rows, {file.form} form{given_names}" if is_own else "data: the bundled kernels")
    for note in file.notes:
        typer.echo(f"note: {note}")
    where = f"{gpus} x {memory_gib:g} GiB" if gpus else "the CPU"
    tuning = f"{plan.tuning}, ZeRO-{plan.zero}" if plan.zero else plan.tuning
    rows = f"{plan.rows} row{'s' * (plan.rows > 1)} of up to {plan.cutoff_len} tokens at a time"
    rate, needs = f"learning rate {project.learning_rate:g}", f"needs at most {plan.gib:.1f} GiB"
    typer.echo(f"plan: {tuning} on {where}, {rate}, {rows}, {needs}")
    typer.echo(f"run: {project.length(gpus_here[0].name if gpus_here else None)}")
    if plan.batch != BATCH:
        typer.echo(f"note: {gpus} GPUs do not divide the paper's batch of {BATCH}: a step has {plan.batch} rows")
    if is_own and not project.schedule.held_out:
        typer.echo(f"note: from {HELD_OUT_FROM} rows on, some are held out, whose eval_loss compares methods")
    if plan.tuning == "qlora" and find_spec("bitsandbytes") is None:
        typer.echo("note: 4-bit weights need bitsandbytes: pip install bitsandbytes")
    for number, (purpose, commands) in enumerate(next_steps(project, len(gpus_here)), 1):
        typer.echo("\n   ".join([f"\n{number}. {purpose}", *map(_folded, commands)]))


def _folded(command: str) -> str:
    """Fold a command to lines of at most 100 columns that can be pasted as one.

    With a quoted path it stays on one line.
    """
    lines = textwrap.wrap(command, 92, break_long_words=False, break_on_hyphens=False)
    return command if "'" in command else " \\\n     ".join(lines)


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(help="A name, for its path alone.", show_default=False)] = None,
) -> None:
    """List the recipes that come with cuset-stage: llamafactory-cli train "$(cuset recipes cuset_qwen7b)"."""
    paths = {path.stem: path for path in sorted(bundled.recipes().rglob("*.yaml"))}
    if name is None:
        for stem, path in paths.items():
            typer.echo(f"{stem}: {path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}")
        return
    if name not in paths:
        raise fail(f"recipes: there is no recipe {name}; {nearest(name, paths)}")
    typer.echo(paths[name])
