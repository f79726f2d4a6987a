"""Section 3 of arXiv 2606.16231 on any model: how sure it is of CUDA-sensitive and neutral tokens, and where its windows are low.

A model reads every row once; its log-probabilities are kept, 12 bytes a token. Counts over all tokens come first, and with the neutral
tokens' mean known, windows, sums by file, and the bootstrap.
"""

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.utils import logging as transformers_logging

from .. import __version__
from ..progress import Progress
from ..settings import SettingsError
from ..spans import KINDS
from ..stage.loading import open_rows
from ..stage.pretrained import chosen_device, explained
from ..stage.token_labels import KIND_BITS, LabelRules
from .distribution import (
    BINS,
    COARSE,
    HIGHEST,
    LOWEST,
    READINGS,
    ClusterBootstrap,
    clustered_ks,
    coarse_bins,
    log_odds_bins,
    windows,
)
from .kinds import KindRow, code_files, code_rows, data_rows
from .readers import open_reader, request_tokenizer
from .requests import AnalyzeSettings, ModelRequest
from .token_probabilities import token_log_probabilities


DENSITY_BINS = 50  # of confidence, 0 to 1
CLASSES = ("sensitive", "neutral")
RECORDED = {  # of the settings
    *("code", "prompt", "dataset", "template", "cutoff_len", "language"),
    *("samples", "tau", "window", "resamples", "seed"),
}


def notions(settings: AnalyzeSettings) -> dict[str, tuple[str, ...]]:
    """What counts as CUDA-sensitive: everything that depends on execution constraints (section 3), and the CUDA mask (Eq. 3)."""
    return {"section3": tuple(KINDS), "eq3": settings.kinds}


def analyze(settings: AnalyzeSettings) -> dict[str, Any]:
    """Read with every model; the record that the JSON file holds.

    Raises:
        SettingsError: a folder, a file, a data set, a template, an adapter or a server that does not exist or does not fit.
    """
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    shown = settings.model_dump(include=RECORDED, mode="json")
    models = {name: _read_model(name, request, settings) for name, request in settings.models.items()}
    kinds = {notion: list(kinds) for notion, kinds in notions(settings).items()}
    return {"cuset_stage": __version__, "settings": shown, "notions": kinds, "models": models}


def _read_model(name: str, request: ModelRequest, settings: AnalyzeSettings) -> dict[str, Any]:
    """The record of one model."""
    device = chosen_device(settings.device)
    tokenizer = request_tokenizer(request, settings)
    total, rows = _rows(request, settings, tokenizer)
    model = open_reader(request, tokenizer, device, trust_remote_code=settings.trust_remote_code)
    has_gpu = device.startswith("cuda")
    if has_gpu:
        torch.cuda.reset_peak_memory_stats(device)
    about = request.model_dump(include={"model", "adapter", "quantization_bit"}, exclude_none=True)
    about |= {"template": request.template_for(settings), "cutoff_len": settings.cutoff_len}

    began, tokens = time.perf_counter(), []
    with Progress(total=total, unit="file", desc=f"{name}: reading") as bar, explained(name):
        rows, read_ahead = itertools.tee(rows)
        found = token_log_probabilities(model, (row._asdict() for row in read_ahead))
        for row, log_p in zip(rows, found, strict=True):
            predicted = (row.labels != -100) & (np.arange(len(row.labels)) > 0)
            if predicted.any():
                # A first token, predicted from nothing, is left out.
                log_p = log_p[len(log_p) - np.count_nonzero(predicted) :]
                lengths = np.unique(row.sample_ids[predicted], return_counts=True)[1]
                tokens.append(_Tokens(log_p, row.kinds[predicted], lengths))
            bar.update()
    if not tokens:
        key, what = ("code", "file") if settings.code else ("dataset", "row")
        raise SettingsError(
            f"{key}={','.join(map(str, settings.code or settings.dataset))}: no {what} of it has a token that {name} predicts: they are empty, "
            f"or cut too short. Give others, or a larger cutoff_len than {settings.cutoff_len}."
        )
    read_s = time.perf_counter() - began
    measured = _statistics(tokens, settings)
    gib = torch.cuda.max_memory_allocated(device) / 2**30 if has_gpu else None
    cost = {"read_s": round(read_s, 2), "statistics_s": round(time.perf_counter() - began - read_s, 2)}
    return {**about, **measured, **cost, "peak_gpu_gib": gib and round(gib, 2)}


def _rows(request: ModelRequest, settings: AnalyzeSettings, tokenizer: Any) -> tuple[int, Iterator[KindRow]]:
    """How many rows there are, and the rows; those of a data set that training drops are counted and not among them."""
    rules = LabelRules(tuple(KINDS), settings.aliases, language=settings.language)
    options = {"template": request.template_for(settings), "cutoff_len": settings.cutoff_len}
    if settings.code:
        files = code_files(settings.code, settings.samples)
        with explained():
            return len(files), code_rows(files, tokenizer, rules, prompt=settings.prompt, **options)

    opened = []
    for name in settings.dataset:
        more = {"dataset": [name], "dataset_dir": settings.dataset_dir, "max_samples": settings.samples}
        with explained():
            opened.append((name, open_rows(tokenizer, request.model, rules, **more, **options)))
    return sum(len(rows) for _, rows in opened), (row for name, rows in opened for row in data_rows(rows, name))


@dataclass
class _Tokens:
    """What is kept of a row: the predicted tokens' log-probability and kinds, and the length of each sample."""

    log_p: NDArray[np.float32]
    kinds: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The probability of each token, at most 1."""
        return np.minimum(np.exp(self.log_p.astype(np.float64)), 1.0)


def _class_sums(chosen: NDArray[np.bool_], confidence: NDArray[np.float64], tau: float) -> list[float]:
    """Of the chosen tokens how many, the sum of their confidence, how many at most tau."""
    return [chosen.sum(), confidence[chosen].sum(), (confidence[chosen] <= tau).sum()]


class _Notion:
    """One notion of sensitivity: counts over all tokens, from which follow its sums over each row and its record.

    fine [2, BINS]: sensitive and neutral tokens over bins of the log odds. density [2, DENSITY_BINS]: over bins of confidence. threshold: the
    mean confidence of the neutral tokens, below which a window is low; None without such a token.
    """

    def __init__(self, name: str, kinds: Sequence[str], rows: Sequence[_Tokens]) -> None:
        self.name, self.mask = name, sum(KIND_BITS[kind] for kind in kinds)
        self.fine = np.zeros((2, BINS), dtype=np.int64)
        self.density = np.zeros((2, DENSITY_BINS), dtype=np.int64)
        neutral = 0.0
        for row in rows:
            confidence, bins = row.confidence, log_odds_bins(row.log_p)
            shares = np.minimum((confidence * DENSITY_BINS).astype(np.int64), DENSITY_BINS - 1)
            for number, chosen in enumerate(self._classes(row.kinds)):
                self.fine[number] += np.bincount(bins[chosen], minlength=BINS)
                self.density[number] += np.bincount(shares[chosen], minlength=DENSITY_BINS)
            neutral += confidence[chosen].sum()
        count = int(self.fine[1].sum())
        self.threshold = neutral / count if count else None
        self._coarse = coarse_bins(*self.fine)

    def _classes(self, kinds: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which tokens are sensitive, and which neutral."""
        is_sensitive = (kinds & self.mask) != 0
        return is_sensitive, ~is_sensitive

    def sums(self, row: _Tokens, settings: AnalyzeSettings) -> dict[str, Any]:
        """The sums over one row, for the bootstrap.

        classes [2, 3]: as `_class_sums`. windows [4]: windows, low ones, samples, samples with a low one. on [1 + kinds, 3, 2]: of the windows
        on the notion's tokens and on each kind's, by each reading, all and low ones. coarse [2, COARSE]: tokens by class.
        """
        confidence, classes = row.confidence, self._classes(row.kinds)
        bins = self._coarse[log_odds_bins(row.log_p)]
        counts, on = np.zeros(4), np.zeros((1 + len(KINDS), len(READINGS), 2))
        for end, length in zip(np.cumsum(row.lengths), row.lengths, strict=True):
            part = slice(end - length, end)
            found = windows(confidence[part], settings.window)
            is_low = found.means < (-np.inf if self.threshold is None else self.threshold)
            counts += [len(is_low), is_low.sum(), 1, is_low.any()]
            for number, mask in enumerate((self.mask, *KIND_BITS.values())):
                on_mask = found.on((row.kinds[part] & mask) != 0)
                on[number] += np.stack([on_mask.sum(axis=1), (on_mask & is_low).sum(axis=1)], axis=1)
        by_name = {
            "classes": [_class_sums(chosen, confidence, settings.tau) for chosen in classes],
            "windows": counts,
            "on": on,
            "coarse": [np.bincount(bins[chosen], minlength=COARSE) for chosen in classes],
        }
        return {f"{self.name} {name}": sums for name, sums in by_name.items()}

    def record(self, bootstrap: ClusterBootstrap) -> dict[str, Any]:
        """Fig. 1 and Fig. 2 by this notion."""
        names = ("classes", "windows", "on", "coarse")
        classes, of_windows, on, coarse = (bootstrap.at[f"{self.name} {name}"] for name in names)
        ratio, (sensitive, neutral), (count, low, samples, with_low) = bootstrap.ratio, classes, of_windows

        def shares(columns: NDArray[np.int64]) -> dict[str, Any]:
            return {
                reading: {
                    "low": ratio(of_low, low),
                    "all": ratio(of_all, count),
                    "difference": bootstrap.difference((of_low, low), (of_all, count)),
                }
                for reading, (of_all, of_low) in zip(READINGS, columns, strict=True)
            }

        return {
            **{
                kind: {**_class_record(bootstrap, columns), "density": density.tolist()}
                for kind, columns, density in zip(CLASSES, classes, self.density, strict=True)
            },
            "mean_difference": bootstrap.difference((sensitive[1], sensitive[0]), (neutral[1], neutral[0])),
            "ks": clustered_ks(self.fine, bootstrap, *coarse),
            "curve": [_curve(of_class) for of_class in self.fine],
            "windows": {
                "threshold": self.threshold,
                "count": int(bootstrap.total[count]),
                "low": ratio(low, count),
                "samples_with_low": ratio(with_low, samples),
                "on_sensitive": shares(on[0]),
                "on_kind": {kind: shares(columns) for kind, columns in zip(KINDS, on[1:], strict=True)},
            },
        }


def _statistics(rows: Sequence[_Tokens], settings: AnalyzeSettings) -> dict[str, Any]:
    """Everything that the record says of a model's tokens and windows."""
    by_notion = [_Notion(name, kinds, rows) for name, kinds in notions(settings).items()]
    bootstrap = ClusterBootstrap(len(rows), settings.resamples, settings.seed)
    for row in rows:
        sums = {name: of for notion in by_notion for name, of in notion.sums(row, settings).items()}
        of_kinds = [(row.kinds & bit) != 0 for bit in KIND_BITS.values()]
        bootstrap.add(sums | {"kinds": [_class_sums(on, row.confidence, settings.tau) for on in of_kinds]})
    return {
        "files": len(rows),
        "samples": sum(len(row.lengths) for row in rows),
        "tokens": sum(len(row.log_p) for row in rows),
        "notions": {notion.name: notion.record(bootstrap) for notion in by_notion},
        "kinds": {kind: _class_record(bootstrap, at) for kind, at in zip(KINDS, bootstrap.at["kinds"], strict=True)},
    }


def _class_record(bootstrap: ClusterBootstrap, at: NDArray[np.int64]) -> dict[str, Any]:
    """Of the tokens of a class how many, their mean confidence and the share at most tau. at [3]: where their sums stand."""
    tokens, confidence, few = at
    mean, share = bootstrap.ratio(confidence, tokens), bootstrap.ratio(few, tokens)
    return {"tokens": int(bootstrap.total[tokens]), "mean": mean, "at_most_tau": share}


def _curve(counts: NDArray[np.int64]) -> list[list[float]]:
    """A cumulative distribution as at most some 200 points (confidence, share of tokens up to it)."""
    if not (size := counts.sum()):
        return []
    cumulated = np.cumsum(counts) / size
    chosen = np.unique(np.searchsorted(cumulated, np.linspace(0, 1, 201)[1:] - 1e-12))
    odds = LOWEST + (chosen + 1) * (HIGHEST - LOWEST) / BINS
    return [[float(f"{x:.4g}"), round(float(y), 5)] for x, y in zip(odds, cumulated[chosen], strict=True)]
