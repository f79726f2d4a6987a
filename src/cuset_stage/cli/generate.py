"""`cuset generate`: ask a model for the answers to a task set."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ._app import app, fail, names


@app.command()
def generate(
    tasks: Annotated[Path, typer.Option(help="The task set: CUDABench's JSONL, our own, or KernelBench's folder.")],
    output: Annotated[Path, typer.Option(help="The answers file (JSONL); a run that was stopped goes on in it.")],
    model: Annotated[
        str, typer.Option(help="A model's folder or Hub name; with --endpoint the name it is served by.")
    ],
    adapter: Annotated[str | None, typer.Option(help="A LoRA adapter on the model.")] = None,
    endpoint: Annotated[
        str | None, typer.Option(help="Ask an OpenAI-compatible server, such as http://localhost:8000/v1.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Answers to each task.")] = 1,
    temperature: Annotated[float, typer.Option(help="Sampling temperature; 0 is greedy.")] = 0.0,
    top_p: Annotated[float, typer.Option(help="Nucleus sampling; 1 keeps every token.")] = 1.0,
    seed: Annotated[int, typer.Option(help="What the seed of each sample is drawn from.")] = 0,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of an answer, reasoning included.")] = 4096,
    level: Annotated[int, typer.Option(help="The prompt's level, 1 to 3 (CUDABench).")] = 1,
    gpu: Annotated[str | None, typer.Option(help="The GPU that prompts speak of, in place of the task set's.")] = None,
    system: Annotated[
        str | None,
        typer.Option(help="System prompt in place of the task set's; \"\" for none but the chat template's own."),
    ] = None,
    task_format: Annotated[str, typer.Option("--format", help="auto, cudabench, cuset or kernelbench.")] = "auto",
    split: Annotated[str | None, typer.Option(help="Only the tasks of this split.")] = None,
    only: Annotated[str, typer.Option(help="Only these tasks, ids separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(help="Only the first so many tasks.")] = None,
    batch_size: Annotated[int, typer.Option(help="Samples in a batch, or requests in flight.")] = 8,
    template: Annotated[
        str | None, typer.Option(help="LLaMA-Factory's chat template, when the tokenizer has none of its own.")
    ] = None,
    template_args: Annotated[
        str | None,
        typer.Option(help="JSON for the tokenizer's chat template, such as '{\"enable_thinking\": false}'."),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, ...")] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, bfloat16, float16 or float32.")] = "auto",
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the model.")] = False,
    api_key_env: Annotated[
        str, typer.Option(help="The environment variable with the endpoint's API key.")
    ] = "OPENAI_API_KEY",
    timeout: Annotated[float, typer.Option(help="Seconds a request may take.")] = 600.0,
    retries: Annotated[int, typer.Option(help="Further tries of a request that fails.")] = 5,
    extra_body: Annotated[
        str | None, typer.Option(help="JSON with further keys of a request, such as '{\"top_k\": -1}'.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="Counts tokens when the endpoint does not: a folder or a Hub name.")
    ] = None,
) -> None:
    """Write a model's answers to a task set: one line a sample, with all settings and the tokens used.

    The exit code is 1 when samples are missing at the end; run the same command again for them.
    """
    from tqdm import tqdm

    from ..generate import Backend, GenerationError, Settings
    from ..generate import generate as fill
    from ..generate.settings import check_samples
    from ..jsonl import LinesError
    from ..tasks import TaskError, load_tasks
    from ..tasks.answers_file import AnswersError

    unused = {
        "--adapter": adapter, "--template": template, "--template-args": template_args,
    } if endpoint else {"--extra-body": extra_body, "--tokenizer": tokenizer}  # fmt: skip
    for option, value in unused.items():
        if value is not None:
            raise fail(
                f"{option} is not for {'an endpoint: the server decides it' if endpoint else 'a model of our own'}."
            )
    if output.is_dir():
        raise fail(
            f"--output {output}: this is a folder; give the name of a file, such as {output / 'answers.jsonl'}."
        )
    if limit is not None and limit < 1:
        raise fail(f"--limit {limit}: at least 1.")
    shared: dict[str, Any] = dict(
        level=level, temperature=temperature, top_p=top_p, seed=seed, max_tokens=max_tokens, gpu=gpu, system=system
    )
    try:
        check_samples(Settings(Backend.HF, model, **shared), samples)  # before what takes seconds
        task_set = load_tasks(tasks, format=task_format, split=split, only=names(only))
        chosen = list(task_set.tasks)[:limit]
        if endpoint:
            key = os.environ.get(api_key_env)
            if key is None and api_key_env != "OPENAI_API_KEY":
                raise fail(f"--api-key-env {api_key_env}: this environment variable is not set.")
            settings = Settings(Backend.ENDPOINT, model, extra_body=_json_object("--extra-body", extra_body), **shared)

            def open_backend() -> Any:
                from ..generate.endpoint import EndpointBackend

                return EndpointBackend(
                    settings, endpoint, api_key=key, concurrency=batch_size, timeout_s=timeout, retries=retries,
                    tokenizer=tokenizer,
                )  # fmt: skip
        else:
            settings = _model_settings(
                model, adapter, device, dtype, template=template,
                template_args=_json_object("--template-args", template_args), **shared,
            )  # fmt: skip

            def open_backend() -> Any:
                from ..generate.hf import HFBackend, resolve_device

                return HFBackend(
                    settings,
                    batch_size=batch_size,
                    device=resolve_device(device),
                    trust_remote_code=trust_remote_code,
                )

        with tqdm(total=len(chosen) * samples, unit="sample", desc="answers") as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            summary = fill(
                chosen, settings, samples=samples, output=output, open_backend=open_backend, progress=progress
            )
    except (GenerationError, TaskError, AnswersError, LinesError) as error:
        raise fail(str(error)) from None
    except KeyboardInterrupt:
        typer.echo(
            f"\ncuset: stopped; {output} keeps what is done, and the same command goes on from there.", err=True
        )
        raise typer.Exit(130) from None
    typer.echo(f"answers: {output} ({summary.made} made, {summary.kept} there before, {len(summary.failures)} failed)")
    if summary.failures:
        first = summary.failures[0]
        typer.echo(
            f"cuset: samples that are missing: {len(summary.failures)}; the first, {first.request.task} sample "
            f"{first.request.sample}: {first.message}. Run the same command again for them.",
            err=True,
        )
        raise typer.Exit(1)


def _model_settings(model: str, adapter: str | None, device: str, dtype: str, **others: Any) -> Any:
    from ..generate import Backend, Settings, weights_fingerprint
    from ..generate.hf import check_model_folders, resolve_device, resolve_dtype

    check_model_folders(model, adapter)
    return Settings(
        Backend.HF,
        model,
        adapter=adapter,
        weights=weights_fingerprint(model, adapter),
        dtype=resolve_dtype(dtype, resolve_device(device)),
        **others,
    )


def _json_object(option: str, text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise fail(f"{option}: not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise fail(f"{option} {text}: expected a JSON object, such as {{}}.")
    return value
