"""Answers from a Hugging Face model (`hf`) or an OpenAI-compatible endpoint (`endpoint`), written one by one (`plan`).

Nothing heavy is imported here: torch, transformers, peft and httpx are loaded by the back end that needs them.
"""

from .plan import Failure, Reply, Request, Summary, generate, make_plan
from .settings import Backend, GenerationError, Settings, weights_fingerprint


__all__ = [
    "Backend",
    "Failure",
    "GenerationError",
    "Reply",
    "Request",
    "Settings",
    "Summary",
    "generate",
    "make_plan",
    "weights_fingerprint",
]
