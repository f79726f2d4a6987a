"""Sample answers from a Hugging Face model (`hf`) or an OpenAI-compatible endpoint (`endpoint`).

`plan` decides which samples are missing, and writes each answer to the file as soon as it exists.

Only the settings are imported here, because the command line imports this package whenever it starts.
"""

from .settings import BackendSettings, GenerationError, RecordedSettings
