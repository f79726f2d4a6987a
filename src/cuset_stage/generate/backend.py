"""The back end that a command's settings name, a model of our own or an endpoint. Loads torch or httpx when it is opened."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..files import weights_fingerprint
from ..stage.pretrained import check_adapter, check_model, chosen_device
from .settings import BackendSettings, GenerationError, RecordedSettings, Sampling


FEW = 8  # samples at a time on a CPU, requests in flight


def choose_backend(
    settings: BackendSettings, *, prompts: str | None = None
) -> tuple[RecordedSettings, Callable[[], Any]]:
    """What is recorded of the settings, and what opens the back end. prompts: see `RecordedSettings`.

    Raises:
        GenerationError: no such model, adapter or device, an address that is none, or an environment variable that is not set.
    """
    said = settings.model_dump(include=set(Sampling.model_fields)) | {"prompts": prompts}
    if settings.endpoint is None:
        for key, check in (("model", check_model), ("adapter", check_adapter)):
            if said[key] is not None:
                try:
                    check(said[key])
                except ValueError as error:
                    raise GenerationError(f"{key}={said[key]}: {error}") from None
        from .hf import HFBackend, resolve_dtype
        from .slots import WIDTH

        device = chosen_device(settings.device, gpu="cuda")  # all of them
        weights = weights_fingerprint(settings.model, settings.adapter)
        dtype = resolve_dtype(settings.dtype, device)
        recorded = RecordedSettings(**said, backend="hf", weights=weights, dtype=dtype)
        batch_size = settings.batch_size or (WIDTH if device.startswith("cuda") else FEW)
        options = {"batch_size": batch_size, "trust_remote_code": settings.trust_remote_code}
        return recorded, partial(HFBackend, recorded, device=device, **options)
    from .completion import api_key, base_url
    from .endpoint import EndpointBackend

    url, key = base_url(settings.endpoint), api_key(settings.api_key_env)
    recorded = RecordedSettings(**said, backend="endpoint")
    options = {"concurrency": settings.batch_size or FEW, "timeout_s": settings.timeout}
    return recorded, partial(EndpointBackend, recorded, url, api_key=key, **options)
