"""The settings that determine an answer. They are recorded in every line of an answers file.

Of large packages it imports only pydantic, because the command line reads the settings whenever it starts.
"""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PositiveFloat, PositiveInt, model_validator

from ..settings import QuantizationBit, Settings
from ..text import InputError


class GenerationError(InputError):
    """Something that the user gave cannot be used, or generation cannot go on. The message says what to do."""


# Keys of a request's body that are set by the other settings.
BODY_KEYS = frozenset(
    ("model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "n", "stream")
)


def _leaves_the_rest_alone(body: dict[str, Any] | None) -> dict[str, Any] | None:
    if decided := BODY_KEYS & (body or {}).keys():
        raise ValueError(f"{min(decided)!r} is not for it; the other settings decide it")
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"no JSON ({error}); expected text, finite numbers, lists and mappings") from None
    return body


ExtraBody = Annotated[dict[str, Any] | None, AfterValidator(_leaves_the_rest_alone)]
"""Further keys of an endpoint's requests."""


class Sampling(Settings):
    """The user's settings of an answer, which are recorded as they are."""

    model: str = Field(description="a model's folder or Hub name; with endpoint= the name it is served by")
    adapter: str | None = Field(None, description="a folder with a LoRA adapter on the model")
    quantization_bit: QuantizationBit = None
    level: int = Field(
        1,
        ge=1,
        le=3,
        description="the prompt's level (CUDABench); of our own format 2 is the bare wording, 3 the detailed one",
    )
    temperature: float = Field(0.0, ge=0, description="sampling temperature; 0 is greedy")
    top_p: float = Field(1.0, gt=0, le=1, description="nucleus sampling; 1 keeps every token")
    seed: int = Field(0, description="what the seed of each sample is drawn from")
    max_tokens: int = Field(4096, ge=1, description="most tokens of an answer, reasoning included")
    system: str | None = Field(
        None, description="system prompt in place of the task set's; \"\" for none but the chat template's own"
    )
    template: str | None = Field(
        None, description="LLaMA-Factory's chat template, as in the recipe; without it the tokenizer's own"
    )
    template_args: dict[str, Any] | None = Field(
        None, description="for the tokenizer's chat template, such as {enable_thinking: false}"
    )
    extra_body: ExtraBody = Field(None, description="further keys of requests to the endpoint, such as {top_k: -1}")


class BackendSettings(Sampling):
    """The model that answers, and how it is asked: the settings of every command that samples."""

    endpoint: str | None = Field(None, description="an OpenAI-compatible server, such as http://localhost:8000/v1")
    samples: PositiveInt = Field(1, description="answers to each task")
    batch_size: PositiveInt | None = Field(
        None, description="samples at a time, at most 128; by default 128 on a GPU, 8 on a CPU; requests in flight: 8"
    )
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1, ...")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field("auto", description="of weights and activations")
    trust_remote_code: bool = Field(False, description="run code that comes with the model")
    api_key_env: str = Field("OPENAI_API_KEY", description="the environment variable with the endpoint's API key")
    timeout: PositiveFloat = Field(600.0, description="seconds a request may take")

    @model_validator(mode="after")
    def _fits_the_backend(self) -> Self:
        ours, theirs = ("adapter", "quantization_bit", "template", "template_args"), ("extra_body",)
        for key in ours if self.endpoint else theirs:
            if getattr(self, key) is not None:
                whose = "an endpoint: the server decides it" if self.endpoint else "a model of our own"
                raise ValueError(f"{key} is not for {whose}")
        if self.samples > 1 and self.temperature == 0:
            raise ValueError(
                f"samples={self.samples} with temperature=0: greedy decoding writes the same answer every time. Give a temperature "
                "such as 0.8, or take one sample"
            )
        return self


class RecordedSettings(Sampling):
    """All settings that answers in the same file must have in common.

    Attributes:
        backend: "hf" for a model in this process, or "endpoint".
        prompts: the wording of CUDABench's tasks (`tasks.messages.EDITIONS`, or a prompt file's label). None for other
            task sets.
        weights: fingerprint of the files of model and adapter (`files.weights_fingerprint`). None if there are no
            files.
        dtype: dtype of weights and activations. None for an endpoint.
    """

    backend: Literal["hf", "endpoint"]
    prompts: str | None = None
    weights: str | None = None
    dtype: str | None = None
