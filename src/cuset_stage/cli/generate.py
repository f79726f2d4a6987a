"""`cuset generate`: ask a model for the answers to a task set."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import typer
from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from ..generate import Sampling
from ..settings import Names, OutputFile
from ..stage.pretrained import check_adapter, check_model
from ._app import TASKS, TaskFormat, app, command, fail


class GenerateSettings(Sampling):
    positional: ClassVar[tuple[str, ...]] = ("tasks",)

    tasks: Path = Field(description=TASKS)
    output: OutputFile = Field(description="the answers file (JSONL); an interrupted run is resumed in it")
    endpoint: str | None = Field(None, description="an OpenAI-compatible server, such as http://localhost:8000/v1")
    samples: PositiveInt = Field(1, description="answers to each task")
    format: TaskFormat = Field("auto", description="of the task set")
    split: str | None = Field(None, description="only the tasks of this split")
    only: Names = Field((), description="only these tasks, by id")
    limit: PositiveInt | None = Field(None, description="only the first so many tasks")
    batch_size: PositiveInt = Field(8, description="samples in a batch, or requests in flight")
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1, ...")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field("auto", description="of weights and activations")
    trust_remote_code: bool = Field(False, description="run code that comes with the model")
    api_key_env: str = Field("OPENAI_API_KEY", description="the environment variable with the endpoint's API key")
    timeout: PositiveFloat = Field(600.0, description="seconds a request may take")
    retries: NonNegativeInt = Field(5, description="further tries of a request that fails")
    tokenizer: str | None = Field(None, description="counts tokens when the endpoint does not: a folder or Hub name")

    @model_validator(mode="after")
    def _fits_the_backend(self) -> Self:
        ours, theirs = ("adapter", "template", "template_args"), ("extra_body", "tokenizer")
        for key in ours if self.endpoint else theirs:
            if getattr(self, key) is not None:
                whose = "an endpoint: the server decides it" if self.endpoint else "a model of our own"
                raise ValueError(f"{key} is not for {whose}")
        return self


@command(app, "generate", GenerateSettings)
def generate(settings: GenerateSettings) -> None:
    """Write a model's answers to a task set: one line a sample, with all settings and the tokens used.

    The exit code is 1 when samples are missing at the end; run the same command again for them.
    """
    from ..generate.plan import generate as fill
    from ..progress import Progress
    from ..tasks import load_tasks

    output, samples = settings.output, settings.samples
    task_set = load_tasks(settings.tasks, format=settings.format, split=settings.split, only=settings.only)
    chosen = list(task_set.tasks)[: settings.limit]
    recorded, open_backend = _backend(settings)
    with Progress(total=len(chosen) * samples, unit="sample", desc="answers") as bar:
        summary = fill(
            chosen,
            recorded,
            samples=samples,
            output=output,
            open_backend=open_backend,
            progress=lambda done, total: bar.update(done - bar.n),
        )
    failed = len(summary.failures)
    typer.echo(f"answers: {output} ({summary.made} made, {summary.kept} there before, {failed} failed)")
    if failed:
        first = summary.failures[0]
        what = f"the first, {first.request.task} sample {first.request.sample}: {first.message}"
        typer.echo(
            f"cuset: samples that are missing: {failed}; {what}. Run the same command again for them.", err=True
        )
        raise typer.Exit(1)


def _backend(settings: GenerateSettings) -> tuple[Any, Callable[[], Any]]:
    """What is recorded of the settings, and what opens the back end."""
    from ..generate import Settings

    said = settings.model_dump(include=set(Sampling.model_fields))
    if settings.endpoint is None:
        from ..generate.hf import HFBackend, resolve_device, resolve_dtype
        from ..generate.plan import weights_fingerprint

        for key, check in (("model", check_model), ("adapter", check_adapter)):
            if said[key] is not None:
                try:
                    check(said[key])
                except ValueError as error:
                    raise fail(f"{key}={said[key]}: {error}") from None
        device = resolve_device(settings.device)
        weights = weights_fingerprint(settings.model, settings.adapter)
        dtype = resolve_dtype(settings.dtype, device)
        recorded = Settings(**said, backend="hf", weights=weights, dtype=dtype)
        options = {"batch_size": settings.batch_size, "trust_remote_code": settings.trust_remote_code}
        return recorded, partial(HFBackend, recorded, device=device, **options)
    from ..generate.endpoint import EndpointBackend, base_url

    url, name = base_url(settings.endpoint), settings.api_key_env
    if name not in os.environ and name != "OPENAI_API_KEY":
        raise fail(f"api_key_env={name}: this environment variable is not set.")
    recorded = Settings(**said, backend="endpoint")
    options = {"retries": settings.retries, "timeout_s": settings.timeout, "tokenizer": settings.tokenizer}
    return recorded, partial(
        EndpointBackend, recorded, url, api_key=os.environ.get(name), concurrency=settings.batch_size, **options
    )
