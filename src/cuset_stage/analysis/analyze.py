"""The analysis of Section 3 of arXiv 2606.16231, for any model.

It measures how confident a model is on CUDA-sensitive and on neutral tokens, and where its sliding windows have low
confidence.

A model reads every row once. The log-probabilities and kinds of its tokens are kept, 12 bytes a token. The statistics
need two passes over them: the first one counts tokens and finds the mean confidence of the neutral tokens. The second
one uses this mean as the threshold of a low window, and collects the sums per file from which the bootstrap draws.
"""

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import __version__
from ..objective.cuset import IGNORE_INDEX
from ..progress import Progress
from ..settings import SettingsError
from ..spans import KINDS
from ..stage.loading import open_rows, open_tokenizer
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
    window_means,
    windows_on,
)
from .kinds import KindRow, code_files, code_rows, data_rows
from .readers import open_reader, silence_transformers
from .requests import AnalyzeSettings, ModelRequest
from .token_probabilities import token_log_probabilities


DENSITY_BINS = 50  # histogram bins of confidence, from 0 to 1
CLASSES = ("sensitive", "neutral")
RECORDED = {  # settings that are copied into the record
    *("code", "prompt", "dataset", "template", "cutoff_len", "language"),
    *("samples", "tau", "window", "resamples", "seed"),
}


def notions(settings: AnalyzeSettings) -> dict[str, tuple[str, ...]]:
    """Return the two definitions of "CUDA-sensitive", each as the kinds of span that it covers.

    `section3` covers everything that depends on execution constraints (Section 3 of the paper). `eq3` covers what the
    CUDA mask covers (Eq. 3), which is set by `settings.kinds`.
    """
    return {"section3": tuple(KINDS), "eq3": settings.kinds}


def analyze(settings: AnalyzeSettings) -> dict[str, Any]:
    """Read the rows with every model and return the record that is written to the JSON file.

    Raises:
        SettingsError: a folder, a file, a data set, a template or an adapter does not exist or does not fit.
    """
    silence_transformers()
    shown = settings.model_dump(include=RECORDED, mode="json")
    models = {name: _read_model(name, request, settings) for name, request in settings.models.items()}
    kinds = {notion: list(kinds) for notion, kinds in notions(settings).items()}
    return {"cuset_stage": __version__, "settings": shown, "notions": kinds, "models": models}


def _read_model(name: str, request: ModelRequest, settings: AnalyzeSettings) -> dict[str, Any]:
    """Return the record of one model."""
    device = chosen_device(settings.device)
    tokenizer = open_tokenizer(request.model, request.adapter, trust_remote_code=settings.trust_remote_code)
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
        log_probabilities = token_log_probabilities(model, (row._asdict() for row in read_ahead))
        for row, log_p in zip(rows, log_probabilities, strict=True):
            predicted = (row.labels != IGNORE_INDEX) & (np.arange(len(row.labels)) > 0)
            if predicted.any():
                # Nothing predicts a row's first token: if it is supervised, its NaN comes first and is dropped.
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
    statistics = _statistics(tokens, settings)
    gib = torch.cuda.max_memory_allocated(device) / 2**30 if has_gpu else None
    cost = {"read_s": round(read_s, 2), "statistics_s": round(time.perf_counter() - began - read_s, 2)}
    return {**about, **statistics, **cost, "peak_gpu_gib": gib and round(gib, 2)}


def _rows(request: ModelRequest, settings: AnalyzeSettings, tokenizer: Any) -> tuple[int, Iterator[KindRow]]:
    """Return the number of rows, for the progress bar, and an iterator over the rows.

    The number includes the rows of a data set that training drops. The iterator skips them.
    """
    rules = LabelRules(tuple(KINDS), settings.aliases, language=settings.language)
    options = {"template": request.template_for(settings), "cutoff_len": settings.cutoff_len}
    if settings.code:
        files = code_files(settings.code, settings.samples)
        return len(files), code_rows(files, tokenizer, rules, prompt=settings.prompt, **options)

    opened = []
    for name in settings.dataset:
        source = {"dataset": [name], "dataset_dir": settings.dataset_dir, "max_samples": settings.samples}
        with explained():
            opened.append(open_rows(tokenizer, request.model, rules, **source, **options))
    return sum(map(len, opened)), itertools.chain.from_iterable(map(data_rows, opened))


@dataclass
class _Tokens:
    """The values that are kept of a row.

    Attributes:
        log_p: [tokens], log-probability of each predicted token, in nats.
        kinds: [tokens], the `KIND_BITS` of each predicted token.
        lengths: [samples], number of predicted tokens of each sample.
    """

    log_p: NDArray[np.float32]
    kinds: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Probability of each token, [tokens], at most 1."""
        return np.minimum(np.exp(self.log_p.astype(np.float64)), 1.0)


def _class_sums(chosen: NDArray[np.bool_], confidence: NDArray[np.float64], tau: float) -> list[float]:
    """Return three sums over the chosen tokens: their number, their total confidence, and how many are at most tau."""
    return [chosen.sum(), confidence[chosen].sum(), (confidence[chosen] <= tau).sum()]


class _Notion:
    """One definition of sensitivity, with its counts over all tokens.

    The counts are made first, because the sums over each row depend on the threshold and on the coarse bins.

    Attributes:
        name: key of the definition in `notions`.
        mask: the `KIND_BITS` of the kinds that count as sensitive.
        fine: [2, BINS], sensitive and neutral tokens, counted over bins of the log odds.
        density: [2, DENSITY_BINS], sensitive and neutral tokens, counted over bins of confidence.
        threshold: mean confidence of the neutral tokens. A window with a lower mean is low. None without neutral
            tokens.
    """

    def __init__(self, name: str, kinds: Sequence[str], rows: Sequence[_Tokens]) -> None:
        self.name, self.mask = name, sum(KIND_BITS[kind] for kind in kinds)
        self.fine = np.zeros((2, BINS), dtype=np.int64)
        self.density = np.zeros((2, DENSITY_BINS), dtype=np.int64)
        neutral_sum = 0.0
        for row in rows:
            confidence, bins = row.confidence, log_odds_bins(row.log_p)
            shares = np.minimum((confidence * DENSITY_BINS).astype(np.int64), DENSITY_BINS - 1)
            for class_index, chosen in enumerate(self._classes(row.kinds)):
                self.fine[class_index] += np.bincount(bins[chosen], minlength=BINS)
                self.density[class_index] += np.bincount(shares[chosen], minlength=DENSITY_BINS)
            neutral_sum += confidence[chosen].sum()  # the loop ends with the neutral class
        neutral_count = int(self.fine[1].sum())
        self.threshold = neutral_sum / neutral_count if neutral_count else None
        self._coarse = coarse_bins(*self.fine)

    def _classes(self, kinds: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two masks, [tokens] each: the sensitive and the neutral tokens."""
        is_sensitive = (kinds & self.mask) != 0
        return is_sensitive, ~is_sensitive

    def sums(self, row: _Tokens, settings: AnalyzeSettings) -> dict[str, Any]:
        """Return the sums over one row, as the bootstrap takes them.

        Returns:
            Arrays under the keys "NAME classes", "NAME windows" and so on, with the name of this definition:

            classes: [2, 3], `_class_sums` of the sensitive and of the neutral tokens.
            windows: [4], the number of windows, of low windows, of samples, and of samples with a low window.
            on: [1 + kinds, 3, 2], the number of windows that stand on the sensitive tokens (first entry) or on the
                tokens of each kind, by each of `READINGS`: all such windows, and the low ones.
            coarse: [2, COARSE], sensitive and neutral tokens, counted over coarse bins.
        """
        confidence, classes = row.confidence, self._classes(row.kinds)
        bins = self._coarse[log_odds_bins(row.log_p)]
        counts, on = np.zeros(4), np.zeros((1 + len(KINDS), len(READINGS), 2))
        for end, length in zip(np.cumsum(row.lengths), row.lengths, strict=True):
            part = slice(end - length, end)
            means = window_means(confidence[part], settings.window)
            is_low = means < (-np.inf if self.threshold is None else self.threshold)
            counts += [len(is_low), is_low.sum(), 1, is_low.any()]
            for entry, mask in enumerate((self.mask, *KIND_BITS.values())):
                is_on_mask = windows_on((row.kinds[part] & mask) != 0, settings.window)
                on[entry] += np.stack([is_on_mask.sum(axis=1), (is_on_mask & is_low).sum(axis=1)], axis=1)
        by_name = {
            "classes": [_class_sums(chosen, confidence, settings.tau) for chosen in classes],
            "windows": counts,
            "on": on,
            "coarse": [np.bincount(bins[chosen], minlength=COARSE) for chosen in classes],
        }
        return {f"{self.name} {name}": sums for name, sums in by_name.items()}

    def record(self, bootstrap: ClusterBootstrap) -> dict[str, Any]:
        """Return the numbers behind Fig. 1 and Fig. 2 for this definition of sensitivity."""
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
    """Return the part of a model's record that is computed from its tokens: counts, and statistics with intervals."""
    by_notion = [_Notion(name, kinds, rows) for name, kinds in notions(settings).items()]
    bootstrap = ClusterBootstrap(len(rows), settings.resamples, settings.seed)
    for row in rows:
        sums = {name: of for notion in by_notion for name, of in notion.sums(row, settings).items()}
        kind_masks = [(row.kinds & bit) != 0 for bit in KIND_BITS.values()]
        bootstrap.add(sums | {"kinds": [_class_sums(on, row.confidence, settings.tau) for on in kind_masks]})
    return {
        "files": len(rows),
        "samples": sum(len(row.lengths) for row in rows),
        "tokens": sum(len(row.log_p) for row in rows),
        "notions": {notion.name: notion.record(bootstrap) for notion in by_notion},
        "kinds": {kind: _class_record(bootstrap, at) for kind, at in zip(KINDS, bootstrap.at["kinds"], strict=True)},
    }


def _class_record(bootstrap: ClusterBootstrap, at: NDArray[np.int64]) -> dict[str, Any]:
    """Return the number of tokens of a class, their mean confidence, and the share whose confidence is at most tau.

    Args:
        bootstrap: the sums over all rows.
        at: [3], the indices of the class's `_class_sums` among the sums of `bootstrap`.
    """
    tokens, confidence, few = at
    mean, share = bootstrap.ratio(confidence, tokens), bootstrap.ratio(few, tokens)
    return {"tokens": int(bootstrap.total[tokens]), "mean": mean, "at_most_tau": share}


def _curve(counts: NDArray[np.int64]) -> list[list[float]]:
    """Return a cumulative distribution as at most about 200 points.

    Args:
        counts: [BINS], tokens counted over bins of the log odds of their confidence.

    Returns:
        Pairs (log odds, share of the tokens up to there). Empty without tokens.
    """
    if not (size := counts.sum()):
        return []
    cumulated = np.cumsum(counts) / size
    chosen = np.unique(np.searchsorted(cumulated, np.linspace(0, 1, 201)[1:] - 1e-12))
    odds = LOWEST + (chosen + 1) * (HIGHEST - LOWEST) / BINS
    return [[float(f"{x:.4g}"), round(float(y), 5)] for x, y in zip(odds, cumulated[chosen], strict=True)]
