"""A study as jobs: the runs of models x methods x seeds, and what trains, samples, judges and measures each of them."""

from __future__ import annotations

import fnmatch
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..settings import read_yaml
from ..text import InputError, nearest
from .settings import NAME, Kind, StudySettings


ADAPTERS = frozenset({"lora", "oft"})  # what a training writes beside the model that it is on
NEEDS: Mapping[Kind, tuple[Kind, ...]] = {
    "train": (), "generate": ("train",), "evaluate": ("generate",), "pairs": ("train",), "analyze": ("train",),
}  # fmt: skip
OUTPUTS: Mapping[Kind, str] = {
    "train": "model",
    "generate": "answers.jsonl",
    "evaluate": "results.jsonl",
    "pairs": "pairs.json",
    "analyze": "confidence",
}  # fmt: skip - in the folder of its run


class StudyError(InputError):
    """A study that cannot be made, or that contradicts what lies in its folder."""


@dataclass(frozen=True)
class Run:
    """A model under a method with a seed. keys: what the method says over the recipe; None: the model is left as it is."""

    model: str
    method: str
    seed: int
    keys: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        return f"{self.model}/{self.method}/seed{self.seed}"


@dataclass(frozen=True)
class Job:
    """A command on a file of settings. gpus: how many it takes, in quarters below one where jobs share this machine's; needs: kinds of jobs
    of its run that come before."""

    kind: Kind
    run: Run
    settings: Mapping[str, Any]
    gpus: float
    needs: tuple[Kind, ...]

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.run.name}"


def runs_of(settings: StudySettings) -> list[Run]:
    """Every run once: methods, ablations, sweeps, each over its models and seeds. A swept value that a method has is that method's run.

    Raises:
        StudyError: names a method, model or name that does not fit.
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
            methods += ((f"{variations.of}_{name}={value}", {**base, name: value}, *over) for value in values)
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
    """The jobs of every run, each after what it needs.

    Raises:
        StudyError, SettingsError: a name that does not fit, a recipe that cannot be read.
    """
    recipes = {name: read_yaml(model.recipe) for name, model in settings.models.items()}
    return [job for run in runs_of(settings) for job in _jobs_of_run(settings, run, recipes[run.model])]


def wanted(settings: StudySettings, jobs: Sequence[Job]) -> list[Job]:
    """The jobs that `only` asks for.

    Raises:
        StudyError: a pattern that no run matches.
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
    model = settings.models[run.model]
    folder = settings.output / "runs" / run.name
    trained, places = {"model": model.model}, {kind: str(folder / name) for kind, name in OUTPUTS.items()}

    def job(kind: Kind, given: Mapping[str, Any]) -> Job:
        needs = tuple(needed for needed in NEEDS[kind] if needed != "train" or run.keys is not None)
        gpus = model.gpus.get(kind, 1)
        return Job(kind, run, given, gpus if settings.executor == "local" else math.ceil(gpus), needs)

    keys = {**recipe, **settings.keys, **model.keys, **(run.keys or {})}
    keys |= {"model_name_or_path": model.model, "seed": run.seed}
    if run.keys is not None:
        yield job("train", {**keys, "output_dir": places["train"], "overwrite_output_dir": False})
        is_adapter = keys.get("finetuning_type", "lora") in ADAPTERS
        trained = {**trained, "adapter": places["train"]} if is_adapter else {"model": places["train"]}
    template = {"template": keys["template"]} if "template" in keys else {}
    tasks = str(settings.tasks)
    prompts = {} if settings.prompts is None else {"prompts": str(settings.prompts)}
    sampling = {**template, **prompts, **settings.generate, **trained, "seed": run.seed}
    yield job("generate", {**sampling, "tasks": tasks, "output": places["generate"]})
    judging = {**settings.evaluate, "answers": places["generate"], "tasks": tasks, "method": run.method}
    yield job("evaluate", {**judging, "output": places["evaluate"]})
    for kind, given in (("pairs", settings.pairs), ("analyze", settings.analyze)):
        if given is not None:
            yield job(kind, {**template, **given, "models": {run.method: trained}, "output": places[kind]})
