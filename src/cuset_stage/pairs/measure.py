"""The work of `cuset pairs`: measure every model on the same pairs, and make the record of the results."""

import datetime
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from llamafactory.hparams import DataArguments

from .. import __version__
from ..analysis.readers import open_reader, silence_transformers
from ..analysis.requests import ModelRequest
from ..analysis.token_probabilities import token_log_probabilities
from ..progress import Progress
from ..stage.loading import open_template, open_tokenizer
from ..stage.pretrained import chosen_device, explained
from .likelihood import Difference, Row, differences
from .rows import Pair, evenly, read_pairs
from .settings import PairsSettings
from .summary import compare_models, summarise


FORMAT = 1


def measure(settings: PairsSettings) -> dict[str, Any]:
    """Return the record of `cuset pairs`: the results of each model on the pairs, and the comparisons of the models.

    Raises:
        PairsError: if the pair file cannot be used.
        SettingsError: if a model, an adapter or a template does not exist or does not fit.
    """
    silence_transformers()
    pairs = evenly(read_pairs(settings.pairs, settings.tasks), settings.samples)
    by_model = {}
    models = {}
    for name, request in settings.models.items():
        began = time.perf_counter()
        by_model[name] = _ask(name, request, pairs, settings)
        models[name] = {
            **request.model_dump(exclude_none=True),
            **summarise(pairs, by_model[name], settings.seed),
            "seconds": round(time.perf_counter() - began, 1),
            "differences": [round(difference.from_change, 4) for difference in by_model[name]],
        }
    kinds = Counter(pair.kind for pair in pairs)
    about = {"name": settings.pairs, "count": len(pairs), "tasks": len({pair.task for pair in pairs}), "kinds": kinds}
    return {
        "type": "pairs",
        "format": FORMAT,
        "cuset_stage": __version__,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "pairs": about,
        "template": settings.template,
        "seed": settings.seed,
        "models": models,
        "comparisons": compare_models(pairs, by_model, settings.seed),
    }


def _ask(name: str, request: ModelRequest, pairs: Sequence[Pair], settings: PairsSettings) -> list[Difference]:
    """Load one model and return its difference for each pair, in order."""
    tokenizer = open_tokenizer(request.model, request.adapter, trust_remote_code=settings.trust_remote_code)
    with explained():
        template = open_template(tokenizer, DataArguments(template=request.template_for(settings)))
    device = chosen_device(settings.device)
    model = open_reader(request, tokenizer, device, trust_remote_code=settings.trust_remote_code)

    def score(rows: Iterable[Row]) -> Iterator[np.ndarray]:
        rows = list(rows)
        return iter(Progress(token_log_probabilities(model, rows), total=len(rows), unit="response", desc=name))

    with explained(name):
        return list(differences(pairs, template, tokenizer, score))
