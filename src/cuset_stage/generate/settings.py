"""What decides an answer, as it is recorded in every line of an answers file. Standard library only."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any


class GenerationError(ValueError):
    """Something the user gave cannot be used, or generation cannot go on; the message says what to do instead."""


# Keys of a request's body that the other settings decide.
BODY_KEYS = frozenset(
    ("model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "n", "stream")
)


class Backend(StrEnum):
    HF = "hf"
    ENDPOINT = "endpoint"


@dataclass(frozen=True)
class Settings:
    """All that two answers must have in common to stand in one file.

    Args:
        model: folder or Hub name of the model, or the name under which an endpoint serves it.
        adapter: folder of a LoRA adapter on `model`.
        weights: fingerprint of the files of model and adapter (`weights_fingerprint`); None where there are none.
        level: the prompt's level, 1 to 3.
        temperature: 0 is greedy decoding.
        top_p: nucleus sampling; 1 keeps every token.
        seed: what every sample's own seed is drawn from.
        max_tokens: most tokens an answer may have, reasoning included.
        gpu: the GPU that prompts speak of, in place of the task set's; None keeps the set's.
        system: instead of the task's own system prompt; "" sends none (a chat template may then put in its own); None
            keeps the task's.
        template: a chat template of LLaMA-Factory; None is the tokenizer's own (hf) or the server's (endpoint).
        template_args: further arguments of the tokenizer's chat template, such as {"enable_thinking": False}.
        dtype: of weights and activations (hf).
        extra_body: further keys of a request's body (endpoint).

    Raises:
        GenerationError: a value is out of its range.
    """

    backend: Backend
    model: str
    adapter: str | None = None
    weights: str | None = None
    level: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 4096
    gpu: str | None = None
    system: str | None = None
    template: str | None = None
    template_args: Mapping[str, Any] | None = None
    dtype: str | None = None
    extra_body: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise GenerationError(f"--temperature {self.temperature}: 0 (greedy) or more.")
        if not 0 < self.top_p <= 1:
            raise GenerationError(f"--top-p {self.top_p}: a probability in (0, 1]; 1 keeps every token.")
        if self.level not in (1, 2, 3):
            raise GenerationError(f"--level {self.level}: 1, 2 or 3.")
        if self.max_tokens < 1:
            raise GenerationError(f"--max-tokens {self.max_tokens}: at least 1.")
        for key in BODY_KEYS & (self.extra_body or {}).keys():
            raise GenerationError(f"--extra-body: {key!r} is not for it; the other options decide it.")

    def to_record(self) -> dict[str, Any]:
        """The keys of an answers line."""
        return {item.name: vars(self)[item.name] for item in fields(self)}


def check_samples(settings: Settings, samples: int) -> None:
    """Raises GenerationError when so many samples of a task make no sense."""
    if samples < 1:
        raise GenerationError(f"--samples {samples}: at least 1.")
    if samples > 1 and settings.temperature == 0:
        raise GenerationError(
            f"--samples {samples} with --temperature 0: greedy decoding writes the same answer every time. Give a "
            "temperature such as 0.8, or take one sample."
        )


def weights_fingerprint(*folders: str | None) -> str | None:
    """SHA-256 over the sizes of the weight files in the folders and over 16 stretches of 64 KiB of each.

    It tells models apart that were trained one after the other into one folder, without reading all of them. None
    when a folder is not there (a name on the Hub), or holds no weights.
    """
    digest = hashlib.sha256()
    found = False
    for folder in folders:
        if folder is None:
            continue
        files = [
            file for file in sorted(Path(folder).expanduser().glob("*")) if file.suffix in (".safetensors", ".bin")
        ]
        if not files:
            return None
        for file in files:
            size = file.stat().st_size
            digest.update(f"{file.name}:{size};".encode())
            with file.open("rb") as handle:
                for part in range(16):
                    handle.seek(part * max(0, size - (1 << 16)) // 15)
                    digest.update(handle.read(1 << 16))
            found = True
    return digest.hexdigest() if found else None
