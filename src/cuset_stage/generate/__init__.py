"""Answers from a Hugging Face model (`hf`) or an OpenAI-compatible endpoint (`endpoint`), written one by one (`plan`).

Only the settings are imported here: the command line reads them whenever it starts.
"""

from .settings import BackendSettings, GenerationError, RecordedSettings


__all__ = ["BackendSettings", "GenerationError", "RecordedSettings"]
