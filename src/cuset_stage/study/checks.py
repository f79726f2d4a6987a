"""Checks of a study before any job starts.

They find keys that nothing reads, and models, data sets, tasks and prompts that do not exist.
"""

import ast
import functools
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import bundled
from ..named_functions import is_function_name
from ..settings import Settings, SettingsError, check_datasets, read_yaml, split_names
from ..stage.pretrained import check_model
from ..tasks import load_tasks
from ..tasks.prompt_file import read_prompts
from ..text import nearest, shown
from .plan import DATA_SETS, Job, StudyError
from .settings import StudySettings


# Keys that the study itself sets, by kind of job. Users must not give them.
DECIDED: Mapping[str, frozenset[str]] = {
    "train": frozenset({"model_name_or_path", "seed", "output_dir", "overwrite_output_dir"}),
    "generate": frozenset({"model", "adapter", "tasks", "prompts", "output", "seed"}),
    "evaluate": frozenset({"answers", "tasks", "method", "output"}),
    "pairs": frozenset({"models", "output"}),
    "analyze": frozenset({"models", "output"}),
}


@functools.cache
def recipe_keys() -> Mapping[str, str]:
    """Return the keys that a recipe may have, each with its type as it is written in Python.

    They are the fields of the dataclasses into which llamafactory-cli parses a recipe.

    The fields are read from the source of the classes, because importing them would import torch and take seconds.
    """
    groups = ("model", "data", "training", "finetuning", "generating")
    files = {
        "llamafactory": [f"hparams/{group}_args.py" for group in groups],
        "transformers": ["training_args.py", "training_args_seq2seq.py"],
        "cuset_stage": ["stage/arguments.py"],
    }
    keys = {}
    for package, names in files.items():
        [folder] = importlib.util.find_spec(package).submodule_search_locations
        for name in names:
            tree = ast.parse(Path(folder, name).read_text(encoding="utf-8"))
            class_bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
            fields = [field for body in class_bodies for field in body if isinstance(field, ast.AnnAssign)]
            given = (field for field in fields if not re.search("init=False|ClassVar", ast.unparse(field)))
            keys |= {field.target.id: ast.unparse(field.annotation) for field in given}
    return keys


@functools.cache
def objectives() -> list[str]:
    """Return the names of the built-in objectives, read from their source for the same reason."""
    source = Path(__file__).parents[1] / "objective" / "rules.py"
    return re.findall(r"^@rule\(.*?^def (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def check_keys(settings: StudySettings, jobs: Sequence[Job], commands: Mapping[str, type[Settings]]) -> None:
    """Check the keys of the study.

    Each one must belong to a recipe or a command, have an effect there, and not be one that the study itself sets.
    Numbers, names of data sets and values out of a fixed list must be such.

    Raises:
        StudyError: a key does not fit. The message names the place of the key and the nearest valid key, or the fix.
    """
    known_keys = recipe_keys()
    for where, kind, keys in _parts(settings):
        if kind in ("recipe", "train"):
            for key in keys:
                if key not in known_keys:
                    raise StudyError(f"{where}: {key}: no such key in a recipe; {nearest(key, known_keys)}")
        # A recipe itself may have these keys: the study overrides its values.
        for key in DECIDED.get(kind, frozenset()) & keys.keys():
            fix = "give them as seeds" if key == "seed" else "leave it out"
            raise StudyError(f"{where}: {key}: the study sets it; {fix}.")
    for job in (job for job in jobs if job.kind == "train"):
        for key, value in job.settings.items():
            is_number = re.fullmatch(r"(int|float)( \| None)?", known_keys[key])
            if is_number and not isinstance(value, int | float | None):
                raise StudyError(f"{job.name}: {key}={shown(value)}: expected a number.")
            names = value if isinstance(value, list) else [value or ""]
            if key in DATA_SETS and not all(isinstance(name, str) for name in names):
                raise StudyError(f"{job.name}: {key}={shown(value)}: expected a data set's name, or a list of names.")
            allowed = re.fullmatch(r"Literal(\[.+\])( \| None)?", known_keys[key])
            if allowed or (key == "cuset_objective" and not is_function_name(value)):
                values = ast.literal_eval(allowed[1]) if allowed else objectives()
                if isinstance(value, str) and value not in values:  # YAML reads a bare on and off as booleans
                    raise StudyError(f"{job.name}: {key}={value}: no such value; {nearest(value, values)}")
        # A recipe and the study may have such keys: of a method that is plain SFT they are another method's.
        unused = sorted(key for key in job.run.keys or () if key.startswith("cuset_"))
        if unused and (stage := job.settings.get("stage", "sft")) != "cuset":
            fix = f"Add stage: cuset to {job.run.method}, or leave the key out"
            raise StudyError(f"{job.name}: {unused[0]} has no effect under stage: {stage}. {fix}.")
    for (kind, model), job in {(job.kind, job.run.model): job for job in jobs if job.kind != "train"}.items():
        job_keys = dict(job.settings)
        if "models" in job_keys:  # the folders of these models will only exist after training
            job_keys["models"] = {"any": {"model": "any/name"}}
        try:
            commands[kind].checked(job_keys)
        except SettingsError as error:
            raise StudyError(f"{kind} (of {model}): {error}") from None


def _parts(settings: StudySettings) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (place in the study's file, kind of job or "recipe", keys) for all keys that the study gives to jobs."""
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
    """Return a message for each model, data set, task set and prompt file of the jobs that is missing or unreadable.

    A model that may be on the Hub is not reported.
    """
    model_of_name, data_sets, task_options = {}, {}, {}
    for job in jobs:
        if job.kind != "evaluate":
            model_of_name[job.run.model] = settings.models[job.run.model].model
        if job.kind == "train":
            names = [name for key in DATA_SETS for name in split_names(job.settings.get(key)) or ()]
            data_sets.setdefault(str(job.settings.get("dataset_dir", "data")), {}).update(dict.fromkeys(names))
        if job.kind in ("generate", "evaluate"):
            of_tasks = {key: job.settings[key] for key in ("format", "split", "only") if key in job.settings}
            task_options[repr(of_tasks)] = of_tasks
    problems: dict[str, None] = {}

    def check(where: str, function: Callable[..., Any], *given: Any, **options: Any) -> None:
        try:
            function(*given, **options)
        except ValueError as error:  # a TaskError is a ValueError as well
            problems[f"{where}{error}"] = None

    for name, model in model_of_name.items():
        check(f"models: {name}: model={model}: ", check_model, model)
    for folder, names in data_sets.items():
        is_remote = folder == "ONLINE" or folder.startswith("REMOTE:")  # LLaMA-Factory's words for data on the Hub
        if names and not is_remote and not (bundled.found(Path(folder)) / "dataset_info.json").is_file():
            problems[f"dataset_dir={folder}: no dataset_info.json there"] = None
        for name in names:
            check("", check_datasets, [name], folder)
    for options in task_options.values():
        only = [str(name) for name in split_names(options.get("only", ()))]  # CUDABench calls its tasks by numbers
        check("tasks: ", load_tasks, settings.tasks, **{**options, "only": only})
    if settings.prompts is not None:
        check("", read_prompts, settings.prompts)
    return list(problems)
