"""The plan of a study: its runs (models x methods x seeds) and the jobs that train, sample and judge each of them."""

import contextlib
import fnmatch
import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import bundled
from ..files import file_sha256, read_json, weights_fingerprint
from ..settings import read_yaml, split_names
from ..tasks import TaskError, load_tasks
from ..text import InputError, nearest
from .settings import NAME, Kind, StudySettings


ADAPTERS = frozenset({"lora", "oft"})  # values of finetuning_type whose training writes an adapter and no full model
NEEDS: Mapping[Kind, tuple[Kind, ...]] = {
    "train": (), "generate": ("train",), "evaluate": ("generate",), "pairs": ("train",), "analyze": ("train",),
}  # fmt: skip
OUTPUTS: Mapping[Kind, str] = {
    "train": "model",
    "generate": "answers.jsonl",
    "evaluate": "results.jsonl",
    "pairs": "pairs.json",
    "analyze": "confidence",
}  # fmt: skip - file or folder that each kind of job writes, in the folder of its run
DATA_SETS = ("dataset", "eval_dataset")  # keys of a recipe that name data sets
INPUTS = "inputs.json"  # file in the folder of a run: `inputs_of` when its training began


class StudyError(InputError):
    """A study cannot be planned, or contradicts the files in its folder."""


@dataclass(frozen=True)
class Run:
    """A model under a method with a seed.

    Attributes:
        model: name of the model in the study.
        method: name of the method.
        seed: seed of training and of sampling.
        keys: keys of the method, which override those of the recipe. None means that the model is not trained.
    """

    model: str
    method: str
    seed: int
    keys: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        """Name of the run, which is also its folder."""
        return f"{self.model}/{self.method}/seed{self.seed}"


@dataclass(frozen=True)
class Job:
    """A command with its settings.

    Attributes:
        kind: kind of job.
        run: the run that it belongs to.
        settings: settings of the command, which are written to a file.
        gpus: number of GPUs that the job takes. On this machine it may be in quarters below one, as jobs share GPUs.
        needs: kinds of jobs of the same run that must be done before.
    """

    kind: Kind
    run: Run
    settings: Mapping[str, Any]
    gpus: float
    needs: tuple[Kind, ...]

    @property
    def name(self) -> str:
        """Name of the job, such as "train/MODEL/METHOD/seed0"."""
        return f"{self.kind}/{self.run.name}"


def runs_of(settings: StudySettings) -> list[Run]:
    """Return every run of the study once: methods, ablations and sweeps, each over its models and seeds.

    A swept value that the varied method already has gives no run of its own, as the method's run covers it.

    Raises:
        StudyError: a method, a model or a name does not fit. The message names it.
    """
    models, seeds = tuple(settings.models), settings.seeds
    methods: list[tuple[Any, ...]] = [(name, keys, models, seeds) for name, keys in settings.methods.items()]
    for variations in filter(None, (settings.ablations, settings.sweeps)):
        base = settings.methods.get(variations.of)
        if base is None:
            trained = [name for name, keys in settings.methods.items() if keys is not None]
            raise StudyError(f"of: {variations.of}: no method that trains; {nearest(variations.of, trained)}")
        over = variations.models or models, variations.seeds or seeds
        for name, changes in variations.runs.items():
            if isinstance(changes, dict):
                methods.append((name, {**base, **changes}, *over))
                continue
            values = [value for value in changes if base.get(name) != value]
            methods += ((variations.method_of(name, value), {**base, name: value}, *over) for value in values)
    runs: dict[str, Run] = {}
    for method, keys, *over in methods:
        for model, seed in itertools.product(*over):
            if model not in settings.models:
                raise StudyError(f"models: {model}: not in the study; {nearest(model, settings.models)}")
            for name in (model, method):
                if not re.fullmatch(NAME, name):
                    raise StudyError(f"{name!r}: a name has letters, digits and _ . + - =, as folders are called so.")
            run = Run(model, method, seed, keys)
            if runs.setdefault(run.name, run) != run:
                raise StudyError(f"{method}: two methods of this name; call one of them something else.")
    return list(runs.values())


def jobs_of(settings: StudySettings) -> list[Job]:
    """Return the jobs of every run. Each job comes after the jobs that it needs.

    Raises:
        StudyError: a name does not fit.
        SettingsError: a recipe cannot be read.
    """
    recipes = {name: read_yaml(model.recipe) for name, model in settings.models.items()}
    return [job for run in runs_of(settings) for job in _jobs_of_run(settings, run, recipes[run.model])]


def wanted(settings: StudySettings, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs of the runs that `only` selects, or all jobs without it.

    Raises:
        StudyError: no run matches a pattern.
    """
    if settings.only is None:
        return list(jobs)
    names = dict.fromkeys(job.run.name for job in jobs)
    for pattern in settings.only:
        if not fnmatch.filter(names, pattern):
            hint = nearest(pattern, names)
            raise StudyError(f"only: {pattern}: no run has such a name; expected MODEL/METHOD/seedN. {hint}")
    return [job for job in jobs if any(fnmatch.fnmatchcase(job.run.name, pattern) for pattern in settings.only)]


def _jobs_of_run(settings: StudySettings, run: Run, recipe: Mapping[str, Any]) -> Iterator[Job]:
    """Yield the jobs of one run. A run whose method has no keys has no training job."""
    model = settings.models[run.model]
    folder = settings.output / "runs" / run.name
    trained_model, outputs = {"model": model.model}, {kind: str(folder / name) for kind, name in OUTPUTS.items()}

    def job(kind: Kind, given: Mapping[str, Any]) -> Job:
        needs = tuple(needed for needed in NEEDS[kind] if needed != "train" or run.keys is not None)
        gpus = model.gpus.get(kind, 1)
        return Job(kind, run, given, gpus if settings.executor == "local" else math.ceil(gpus), needs)

    keys = {**recipe, **settings.keys, **model.keys, **(run.keys or {})}
    keys |= {"model_name_or_path": model.model, "seed": run.seed}
    if run.keys is not None:
        yield job("train", {**keys, "output_dir": outputs["train"], "overwrite_output_dir": False})
        is_adapter = keys.get("finetuning_type", "lora") in ADAPTERS
        trained_model = {**trained_model, "adapter": outputs["train"]} if is_adapter else {"model": outputs["train"]}
    template = {"template": keys["template"]} if "template" in keys else {}
    tasks = str(settings.tasks)
    prompts = {} if settings.prompts is None else {"prompts": str(settings.prompts)}
    generate_keys = {**template, **prompts, **settings.generate, **trained_model, "seed": run.seed}
    yield job("generate", {**generate_keys, "tasks": tasks, "output": outputs["generate"]})
    evaluate_keys = {**settings.evaluate, "answers": outputs["generate"], "tasks": tasks, "method": run.method}
    yield job("evaluate", {**evaluate_keys, "output": outputs["evaluate"]})
    for kind, given in (("pairs", settings.pairs), ("analyze", settings.analyze)):
        if given is not None:
            yield job(kind, {**template, **given, "models": {run.method: trained_model}, "output": outputs[kind]})


def inputs_of(keys: Mapping[str, Any]) -> dict[str, str]:
    """Return fingerprints of the data sets, the model and the task set that a job with these keys reads, by their keys.

    A data set's fingerprint covers its entry in dataset_info.json and its file. A model on the Hub has none, and a task
    set that cannot be read.
    """
    folder = bundled.found(Path(str(keys.get("dataset_dir", "data"))))
    info, weights = read_json(folder / "dataset_info.json"), weights_fingerprint(keys.get("model_name_or_path"))
    inputs = {} if weights is None else {"model_name_or_path": weights}
    if "tasks" in keys:
        with contextlib.suppress(TaskError):
            inputs["tasks"] = load_tasks(keys["tasks"], format=keys.get("format", "auto")).sha256
    for key in DATA_SETS:
        digest = hashlib.sha256()
        for name in split_names(keys.get(key)) or ():
            entry = info.get(name) if isinstance(info, dict) else None
            file_name = entry.get("file_name") if isinstance(entry, dict) else None
            given = [folder / file_name] if isinstance(file_name, str) else []
            files = [file for path in given for file in (path, *sorted(path.rglob("*"))) if file.is_file()]
            digest.update(json.dumps([entry, *map(file_sha256, files)]).encode())
        inputs[key] = digest.hexdigest()
    return inputs
