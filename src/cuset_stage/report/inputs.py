"""What a report reads beside results: what `cuset analyze` and `cuset pairs` measured on the models of its methods."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .collection import ReportError, Run
from .statistics import Estimate


NOTION = "section3"  # of sensitivity, in the table of methods


@dataclass(frozen=True)
class Measures:
    """Of one model: the accuracy on pairs of a right and a wrong program, and what `cuset analyze` says of `NOTION`; None: not measured."""

    pairs: Estimate | None = None
    confidence: dict[str, Any] | None = None


def read_measures(confidence: Path | None, pairs: Path | None, runs: Sequence[Run]) -> dict[str, Measures]:
    """The measures by the names that the files give their models. A method finds its own by its label.

    Raises:
        ReportError: a file that is none, or one whose models are called by the name of no method.
    """
    measures: dict[str, dict[str, Any]] = {}
    labels = [run.label for run in runs]
    for key, path, command in (("confidence", confidence, "analyze"), ("pairs", pairs, "pairs")):
        if path is None:
            continue
        try:
            models = json.loads(path.read_text(encoding="utf-8"))["models"]
            for name, record in models.items():
                value = record["notions"][NOTION] if key == "confidence" else record["accuracy"]["from_change"]
                measures.setdefault(name, {})[key] = Estimate(**value) if key == "pairs" and value else value
        except OSError as error:
            raise ReportError(f"{key}={path}: cannot be read ({error.strerror}).") from None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ReportError(f"{key}={path}: expected the JSON file that `cuset {command}` writes.") from None
        if not models.keys() & set(labels):
            raise ReportError(
                f"{key}={path}: its models are called {', '.join(models)}, the methods {', '.join(labels)}. Call the models by the "
                f"methods' names (models: of `cuset {command}`)."
            )
    return {name: Measures(**values) for name, values in measures.items()}
