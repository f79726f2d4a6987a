"""What can be found wrong with a study before a job starts: keys that nothing reads, and files that are not there."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import bundled
from ..settings import Settings, SettingsError, read_yaml, split_names
from ..stage.pretrained import check_model
from ..stage.retired import check_retired
from ..tasks import load_tasks
from ..tasks.prompt_file import read_prompts
from ..text import InputError, nearest
from .plan import Job, StudyError, model_of
from .settings import Kind, StudySettings


# What the study says itself, by kind of job.
DECIDED: Mapping[Kind, frozenset[str]] = {
    "train": frozenset({"model_name_or_path", "seed", "output_dir", "overwrite_output_dir"}),
    "generate": frozenset({"model", "tasks", "prompts", "output", "seed"}),
    "evaluate": frozenset({"answers", "tasks", "method", "output"}),
    "pairs": frozenset({"models", "output"}),
    "analyze": frozenset({"models", "output"}),
}
# Keys of an entry of dataset_info.json by which its data may be elsewhere.
ELSEWHERE = frozenset({"hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name"})
SERVED = {"model": "any", "endpoint": "http://localhost"}  # a model whose folder is not looked for


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
    known, parts = recipe_keys(), list(_parts(settings))
    recipes = [(str(model.recipe), read_yaml(model.recipe)) for model in settings.models.values()]
    for where, keys in [*recipes, *((where, keys) for where, kind, keys in parts if kind == "train")]:
        try:
            check_retired(keys)
        except InputError as error:
            raise StudyError(f"{where}: {error}") from None
        for key in keys:
            if key not in known:
                raise StudyError(f"{where}: {key}: no such key in a recipe; {nearest(key, known)}")
    for where, kind, keys in parts:
        for key in DECIDED[kind] & keys.keys():
            fix = "give them as seeds" if key == "seed" else "leave it out"
            raise StudyError(f"{where}: {key}: the study sets it; {fix}.")
    for (kind, model), job in {(job.kind, job.run.model): job for job in jobs if job.kind != "train"}.items():
        given = {**job.settings, **({"models": {"any": SERVED}} if "models" in job.settings else {})}
        try:
            commands[kind].checked(given)
        except SettingsError as error:
            raise StudyError(f"{kind} (of {model}): {error}") from None


def _parts(settings: StudySettings) -> Iterator[tuple[str, Kind, Mapping[str, Any]]]:
    """(where they stand, what reads them, keys) of everything that the study's file gives to jobs."""
    yield "keys", "train", settings.keys
    for name, model in settings.models.items():
        yield f"models: {name}: keys", "train", model.keys
        yield f"models: {name}: generate", "generate", model.generate
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
    """What the jobs need and is not there or cannot be read: models, data sets, tasks, each once, with the first that needs it. Of what may be on the
    Hub nothing is said."""
    problems: dict[str, str] = {}  # what is wrong -> where that was seen first

    @functools.cache
    def refusal(check: Callable[..., Any], *given: Any) -> str | None:
        try:
            check(*given)
        except ValueError as error:  # a TaskError, too
            return str(error)
        return None

    def note(where: str, problem: str | None, what: str = "") -> None:
        if problem is not None:
            problems.setdefault(what + problem, where)

    for job in jobs:
        name, keys = job.run.model, job.settings
        if job.kind != "evaluate":
            model = model_of(settings, job.run)
            note(f"models: {name}", refusal(check_model, model), f"model={model}: ")
        if job.kind in ("train", "analyze"):
            finds = {"stage": "cuset"} if job.kind == "analyze" else {}  # it finds data as `stage: cuset` does
            note(f"{name}/{job.run.method}", _missing_data({**keys, **finds}))
        files = [keys.get("pairs", "cuset_mini")] if job.kind == "pairs" else []
        files += split_names(keys.get("code", ())) if job.kind == "analyze" else []
        for file in files:
            if file != "cuset_mini" and not bundled.found(Path(file)).exists():
                note(job.kind, f"{file}: no such file or folder.")
        if job.kind in ("generate", "evaluate"):
            asked = (keys.get("format", "auto"), keys.get("split"), tuple(split_names(keys.get("only", ()))))
            note("tasks", refusal(_load, settings.tasks, *asked))
    if settings.prompts is not None:
        note("prompts", refusal(read_prompts, settings.prompts))
    return [f"{where}: {problem}" for problem, where in problems.items()]


def _load(tasks: Path, format: str, split: str | None, only: tuple[str, ...]) -> None:
    load_tasks(tasks, format=format, split=split, only=only)


def _missing_data(recipe: Mapping[str, Any]) -> str | None:
    """What of a recipe's data is not there, with folders found as a run finds them; other ways to name data are left to it."""
    folder, named = recipe.get("dataset_dir", "data"), []
    for key in ("dataset", "eval_dataset"):
        names = split_names(recipe.get(key)) or []
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise StudyError(f"{key}: {recipe[key]!r}: expected names of data sets, with commas between or as a list.")
        named += [(key, name) for name in names]
    if not named or not isinstance(folder, str) or folder == "ONLINE" or folder.startswith("REMOTE:"):
        return None
    place = Path(folder)
    if recipe.get("stage") == "cuset":
        place = bundled.found(place)
    info = place / "dataset_info.json"
    try:
        known = json.loads(info.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"dataset_dir={folder}: no dataset_info.json can be read there ({error})."
    for key, name in named:
        if name not in known:
            return f"{key}: {name}: not in {info}; {nearest(name, known)}"
        file = known[name].get("file_name")
        if file is not None and known[name].keys().isdisjoint(ELSEWHERE) and not (place / file).exists():
            return f"{key}: {name}: {place / file}: no such file or folder."
    return None
