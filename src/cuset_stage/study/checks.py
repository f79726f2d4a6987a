"""What can be found wrong with a study before a job starts: keys that nothing reads, and models, tasks and prompts that are not there."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..settings import Settings, SettingsError, read_yaml, split_names
from ..stage.pretrained import check_model
from ..stage.retired import check_retired
from ..tasks import load_tasks
from ..tasks.prompt_file import read_prompts
from ..text import InputError, nearest
from .plan import Job, StudyError
from .settings import StudySettings


# What the study says itself, by kind of job.
DECIDED: Mapping[str, frozenset[str]] = {
    "train": frozenset({"model_name_or_path", "seed", "output_dir", "overwrite_output_dir"}),
    "generate": frozenset({"model", "tasks", "prompts", "output", "seed"}),
    "evaluate": frozenset({"answers", "tasks", "method", "output"}),
    "pairs": frozenset({"models", "output"}),
    "analyze": frozenset({"models", "output"}),
}


@functools.cache
def recipe_keys() -> frozenset[str]:
    """The keys of a recipe: fields of the dataclasses that llamafactory-cli parses it into.

    They are read from the classes' source: to import them takes torch, and seconds.
    """
    groups = ("model", "data", "training", "finetuning", "generating")
    files = {
        "llamafactory": [f"hparams/{group}_args.py" for group in groups],
        "transformers": ["training_args.py", "training_args_seq2seq.py"],
        "cuset_stage": ["stage/arguments.py"],
    }
    keys = set()
    for package, names in files.items():
        [folder] = importlib.util.find_spec(package).submodule_search_locations
        for name in names:
            tree = ast.parse(Path(folder, name).read_text(encoding="utf-8"))
            bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
            fields = [field for body in bodies for field in body if isinstance(field, ast.AnnAssign)]
            keys |= {field.target.id for field in fields if not re.search("init=False|ClassVar", ast.unparse(field))}
    return frozenset(keys)


def check_keys(settings: StudySettings, jobs: Iterable[Job], commands: Mapping[str, type[Settings]]) -> None:
    """Refuse a key that a recipe or a command does not have, or that the study decides. commands: their settings by name.

    Raises:
        StudyError: names where the key stands, and the nearest one that there is.
    """
    known = recipe_keys()
    for where, kind, keys in _parts(settings):
        if kind in ("recipe", "train"):
            try:
                check_retired(keys)
            except InputError as error:
                raise StudyError(f"{where}: {error}") from None
            for key in keys:
                if key not in known:
                    raise StudyError(f"{where}: {key}: no such key in a recipe; {nearest(key, known)}")
        for key in DECIDED.get(kind, frozenset()) & keys.keys():  # over a recipe's own it says them
            fix = "give them as seeds" if key == "seed" else "leave it out"
            raise StudyError(f"{where}: {key}: the study sets it; {fix}.")
    for (kind, model), job in {(job.kind, job.run.model): job for job in jobs if job.kind != "train"}.items():
        given = dict(job.settings)
        if "models" in given:  # whose folders training will make
            given["models"] = {"any": {"model": "any/name"}}
        try:
            commands[kind].checked(given)
        except SettingsError as error:
            raise StudyError(f"{kind} (of {model}): {error}") from None


def _parts(settings: StudySettings) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(where they stand, what reads them, keys) of everything that the study's file gives to jobs."""
    yield "keys", "train", settings.keys
    for name, model in settings.models.items():
        yield str(model.recipe), "recipe", read_yaml(model.recipe)
        yield f"models: {name}: keys", "train", model.keys
    for name, keys in settings.methods.items():
        yield f"methods: {name}", "train", keys or {}
    for part in ("ablations", "sweeps"):
        if (variations := getattr(settings, part)) is not None:
            for name, variation in variations.runs.items():
                is_ablation = isinstance(variation, dict)
                yield (f"{part}: {name}", "train", variation) if is_ablation else (part, "train", {name: variation})
    for kind in ("generate", "evaluate", "pairs", "analyze"):
        yield kind, kind, getattr(settings, kind) or {}


def missing(settings: StudySettings, jobs: Iterable[Job]) -> list[str]:
    """Models, tasks and prompts that the jobs need and that are not there or cannot be read. Of what may be on the Hub nothing is said."""
    names, asked = {}, {}
    for job in jobs:
        if job.kind != "evaluate":
            names[job.run.model] = settings.models[job.run.model].model
        if job.kind in ("generate", "evaluate"):
            of_tasks = {key: job.settings[key] for key in ("format", "split", "only") if key in job.settings}
            asked[repr(of_tasks)] = of_tasks
    problems: dict[str, None] = {}

    def check(where: str, function: Callable[..., Any], *given: Any, **options: Any) -> None:
        try:
            function(*given, **options)
        except ValueError as error:  # a TaskError, too
            problems[f"{where}{error}"] = None

    for name, model in names.items():
        check(f"models: {name}: model={model}: ", check_model, model)
    for options in asked.values():
        check("tasks: ", load_tasks, settings.tasks, **{**options, "only": split_names(options.get("only", ()))})
    if settings.prompts is not None:
        check("prompts: ", read_prompts, settings.prompts)
    return list(problems)
