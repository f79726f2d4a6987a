"""From names (a model, an adapter, a data set) to the page's samples, with a sentence for everything that can be wrong with them.

Imports peft and `factory.inspect`, and with them LLaMA-Factory, when it is called: loading them takes seconds.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .page_data import Page


BEFORE, AFTER, ONLY = "before", "after", "model"


class AnalysisError(ValueError):
    """Something the user gave cannot be used; the message says what to give instead."""


@dataclass(frozen=True)
class Request:
    """What to read.

    Args:
        model: folder or Hub name of the model; with an adapter, of its base.
        datasets: names in dataset_dir/dataset_info.json; `samples` rows are taken from the head of each.
        adapter: folder of a LoRA adapter on `model`.
        before: the model before training. None: with an adapter its base, otherwise there is only one reading.
        compare: False: no reading before training.
        window, tau: l and tau of the paper; kinds: the spans the CUDA mask covers.
        device: "auto", or a torch device.
    """

    model: str
    datasets: tuple[str, ...]
    dataset_dir: str = "data"
    adapter: str | None = None
    before: str | None = None
    compare: bool = True
    template: str = "qwen"
    samples: int = 3
    cutoff_len: int = 4096
    window: int = 256
    tau: float = 0.1
    kinds: tuple[str, ...] = ("kernel_body", "launch_config")
    device: str = "auto"
    trust_remote_code: bool = False


def check_request(request: Request) -> None:
    """Refuse what needs no library to tell wrong. Raises AnalysisError."""
    for name, value in (("--model", request.model), ("--before", request.before)):
        if value is not None:
            _check_model_folder(name, value)
    if request.adapter is not None and not (Path(request.adapter) / "adapter_config.json").is_file():
        raise AnalysisError(
            f"--adapter {request.adapter}: no adapter_config.json there; give the output_dir of a LoRA run or one of its checkpoints."
        )
    for name, value, least in (
        ("--samples", request.samples, 1),
        ("--cutoff-len", request.cutoff_len, 2),
        ("--window", request.window, 1),
    ):
        if value < least:
            raise AnalysisError(f"{name} {value}: at least {least}.")
    if not 0 <= request.tau < 1:
        raise AnalysisError(f"--tau {request.tau}: a probability in [0, 1).")
    if not request.datasets:
        raise AnalysisError("--dataset is empty: give one or more names of dataset_info.json, separated by commas.")


def _check_model_folder(option: str, path: str) -> None:
    folder = Path(path).expanduser()
    if folder.is_dir():
        if (folder / "config.json").is_file():
            return
        if (folder / "adapter_config.json").is_file():
            raise AnalysisError(
                f"{option} {path}: this is an adapter; give it as --adapter and its base model as --model."
            )
        raise AnalysisError(
            f"{option} {path}: no config.json there, so it is not a model; was the training run finished?"
        )
    # Hub names have one slash; such a folder may be meant too, so a missing parent folder is no proof either way.
    if path.count("/") != 1 or path.startswith((".", "/", "~")) or Path(path).parent.is_dir():
        raise AnalysisError(
            f"{option} {path}: there is no such folder; give a model's folder or its name on the Hub (owner/name)."
        )


def collect(request: Request, progress: Callable[[str, int, int], None] = lambda *_: None) -> Page:
    """Read every sample with the model, and with what it was before training.

    `progress` is called with a description, the steps done and the number of steps.

    Raises:
        AnalysisError: a folder, a data set, a template or an adapter that does not exist or does not fit.
    """
    check_request(request)
    from ..spans.kinds import check_kinds
    from ..stage import inspect
    from ..stage.processors import LabelRules
    from .confidence import make_sample, read_sample

    names = _reading_names(request)
    total = len(names) * request.samples * len(request.datasets) + 2
    progress("tokens and labels", 0, total)
    with _explained("tokenizer", request.model):
        tokenizer = inspect.open_tokenizer(request.model, trust_remote_code=request.trust_remote_code)
    rows = []
    try:
        rules = LabelRules(check_kinds(request.kinds))
        for dataset in request.datasets:
            found = inspect.labelled_rows(
                tokenizer,
                request.model,
                dataset,
                request.dataset_dir,
                request.template,
                request.cutoff_len,
                request.samples,
                rules,
            )
            rows += [(f"{dataset}, row {number}", row) for number, row in enumerate(found, start=1)]
        samples = [make_sample(tokenizer, row, source) for source, row in rows]
    except (ValueError, RuntimeError) as error:
        raise AnalysisError(_sentence(error)) from error

    done = 1
    for name, path, adapter in names:
        progress(f"loading {adapter or path}", done, total)
        with _explained("model", path):
            _check_same_tokens(request, tokenizer, path, rows)
            model = inspect.open_model(
                path, tokenizer, _device(request.device), trust_remote_code=request.trust_remote_code
            )
        if adapter is not None:
            model = _with_adapter(model, adapter)
        for sample, (source, row) in zip(samples, rows, strict=True):
            progress(f"{name}: {source}", done, total)
            try:
                sample.readings[name] = read_sample(model, row, request.window)
            except ValueError as error:
                raise AnalysisError(f"{path}: {error}") from error
            done += 1
        del model  # one model in memory at a time
    progress("done", total, total)
    settings = {
        "model": request.model,
        "adapter": request.adapter,
        "before": names[0][1] if len(names) == 2 else None,
        "dataset": ",".join(request.datasets),
        "template": request.template,
        "cutoff_len": request.cutoff_len,
        "window": request.window,
        "tau": request.tau,
        "kinds": list(rules.kinds),
    }
    title = "Token confidence of " + "/".join(Path(request.adapter or request.model).parts[-2:])
    return Page(title + ", before and after training" * (len(names) == 2), samples, settings)


def _reading_names(request: Request) -> list[tuple[str, str, str | None]]:
    """(name, model, adapter) of each reading, in the order to show them."""
    before = request.before or (request.model if request.adapter else None)
    if not request.compare or before is None:
        return [(ONLY, request.model, request.adapter)]
    return [(BEFORE, before, None), (AFTER, request.model, request.adapter)]


@contextlib.contextmanager
def _explained(what: str, path: str) -> Iterator[None]:
    """Turn the errors of loading into a sentence."""
    try:
        yield
    except AnalysisError:
        raise
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        cause = error.__cause__ or error
        raise AnalysisError(
            f"cannot load the {what} of {path}: {_sentence(cause)} Give a folder with config.json, weights and tokenizer, or a model "
            "on the Hub that can be reached."
        ) from error


def _sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if lines[0].endswith((".", "?", "!")) else lines[0].rstrip(":") + "."


def _device(wanted: str) -> str:
    import torch

    if wanted != "auto":
        return wanted
    return "cuda:0" if torch.cuda.is_available() else "cpu"


def _check_same_tokens(request: Request, tokenizer: Any, path: str, rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Refuse a model before training that spells the samples otherwise: its confidence would be that of another text."""
    if path == request.model:
        return
    from ..stage import inspect

    ids = sorted({token for _, row in rows for token in row["input_ids"]})
    other = inspect.open_tokenizer(path, trust_remote_code=request.trust_remote_code)
    differing = [
        token
        for token, here, there in zip(
            ids, tokenizer.convert_ids_to_tokens(ids), other.convert_ids_to_tokens(ids), strict=True
        )
        if here != there
    ]
    if differing:
        raise AnalysisError(
            f"--before {path}: {len(differing)} of the samples' {len(ids)} tokens mean something else to its tokenizer (the first is "
            f"{differing[0]}), so the two cannot be compared. Give the model that the training started from."
        )


def _with_adapter(model: Any, adapter: str) -> Any:
    """Put a LoRA adapter on a model, and make sure that all of it, and nothing else, was put there."""
    from peft import PeftModel, get_peft_model_state_dict
    from peft.utils import load_peft_weights

    way_out = "Give as --model the base that the adapter was trained on (base_model_name_or_path in its adapter_config.json)."
    try:
        adapted = PeftModel.from_pretrained(model, adapter)
        saved = set(load_peft_weights(adapter, device="cpu"))
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise AnalysisError(f"--adapter {adapter} does not fit the model: {_sentence(error)} {way_out}") from error
    # peft only warns about weights that have no place, or a place without weights.
    expected = set(get_peft_model_state_dict(adapted))
    if saved != expected:
        raise AnalysisError(
            f"--adapter {adapter} does not fit the model: {len(saved - expected)} of its {len(saved)} weights have no place in it, and "
            f"{len(expected - saved)} places stay empty. {way_out}"
        )
    return adapted.eval()
