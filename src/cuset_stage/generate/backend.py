"""Choose the back end that a command's settings ask for: a model in this process, or an endpoint.

torch or httpx are imported only when they are needed.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..files import weights_fingerprint
from ..stage.pretrained import check_adapter, check_model, chosen_device
from .settings import BackendSettings, GenerationError, RecordedSettings, Sampling


FEW = 8  # default for samples at a time on a CPU, and for requests in flight


def choose_backend(
    settings: BackendSettings, *, prompts: str | None = None
) -> tuple[RecordedSettings, Callable[[], Any]]:
    """Choose the back end, without loading a model or opening a connection yet.

    Args:
        settings: what the user asked for.
        prompts: see `RecordedSettings`.

    Returns:
        The settings to record with each answer, and a function that opens the back end.

    Raises:
        GenerationError: there is no such model, adapter or device, the endpoint's address is invalid, or the
            environment variable with the API key is not set.
    """
    sampling = settings.model_dump(include=set(Sampling.model_fields)) | {"prompts": prompts}
    if settings.endpoint is None:
        for key, check in (("model", check_model), ("adapter", check_adapter)):
            if sampling[key] is not None:
                try:
                    check(sampling[key])
                except ValueError as error:
                    raise GenerationError(f"{key}={sampling[key]}: {error}") from None
        from .hf import HFBackend, resolve_dtype
        from .slots import WIDTH

        device = chosen_device(settings.device, gpu="cuda")  # "cuda" means all GPUs
        weights = weights_fingerprint(settings.model, settings.adapter)
        dtype = resolve_dtype(settings.dtype, device)
        recorded = RecordedSettings(**sampling, backend="hf", weights=weights, dtype=dtype)
        batch_size = settings.batch_size or (WIDTH if device.startswith("cuda") else FEW)
        options = {"batch_size": batch_size, "trust_remote_code": settings.trust_remote_code}
        return recorded, partial(HFBackend, recorded, device=device, **options)
    from .completion import api_key, base_url
    from .endpoint import EndpointBackend

    url, key = base_url(settings.endpoint), api_key(settings.api_key_env)
    recorded = RecordedSettings(**sampling, backend="endpoint")
    options = {"concurrency": settings.batch_size or FEW, "timeout_s": settings.timeout}
    return recorded, partial(EndpointBackend, recorded, url, api_key=key, **options)
