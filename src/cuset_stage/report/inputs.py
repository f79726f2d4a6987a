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
    """Of one model: the accuracy on pairs of a right and a wrong program, and its entry in `cuset analyze`'s record; None: not measured."""

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
            read = _confidence if key == "confidence" else _accuracy
            values = {name: read(record) for name, record in models.items()}
        except OSError as error:
            raise ReportError(f"{key}={path}: cannot be read ({error.strerror}).") from None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ReportError(f"{key}={path}: expected the JSON file that `cuset {command}` writes.") from None
        if not values:
            raise ReportError(
                f"{key}={path}: models is empty; expected what `cuset {command}` measured on the methods' models."
            )
        if not values.keys() & set(labels):
            raise ReportError(
                f"{key}={path}: its models are called {', '.join(values)}, the methods {', '.join(labels)}. Call the models by the "
                f"methods' names (models: of `cuset {command}`)."
            )
        for name, value in values.items():
            measures.setdefault(name, {})[key] = value
    return {name: Measures(**values) for name, values in measures.items()}


def _accuracy(record: dict[str, Any]) -> Estimate | None:
    accuracy = record["accuracy"]["from_change"]
    return accuracy and Estimate(**accuracy)


def _confidence(record: dict[str, Any]) -> dict[str, Any]:
    """The record of a model, in which what the table shows is there."""
    for place in ("mean", "at_most_tau"):
        for kind in ("sensitive", "neutral"):
            record["notions"][NOTION][kind][place]["value"]
    record["notions"][NOTION]["windows"]["on_sensitive"]["centre"]["difference"]["value"]
    return record
