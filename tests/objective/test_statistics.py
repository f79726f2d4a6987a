"""Statistics in the log: they equal a direct computation and do not depend on the split into micro-batches and ranks."""

import pytest
import torch
from loss_cases import make_batch

from cuset_stage.objective import ObjectiveMeter, ObjectiveSettings, token_terms


CPU, SETTINGS = torch.device("cpu"), ObjectiveSettings(window=8)


def meter_over(*batches):
    meter = ObjectiveMeter()
    for batch in batches:
        meter.update(token_terms(*batch, SETTINGS), SETTINGS.tau)
    return meter


def about(values):
    return {name: pytest.approx(float(value), rel=1e-5) for name, value in values.items()}


def test_averages_are_over_tokens_and_samples():
    whole = make_batch((4, 60, 8, 23), seed=1)
    terms = token_terms(*whole, SETTINGS)
    cuda = terms.is_cuda
    expected = {
        "nll": terms.nll.mean(),
        "confident_share": (terms.confidence > 0.1).float().mean(),
        "cuda_share": cuda.float().mean(),
        "left_out_share": (terms.weight == 0).float().mean(),
    }
    for tokens, which in (("cuda", cuda), ("other", ~cuda)):
        expected |= {f"{tokens}_{name}": getattr(terms, name)[which].mean() for name in ("confidence", "nll")}
    for name in ("region_confidence", "sample_weight"):
        values = getattr(terms, name)
        expected |= {f"{name}_mean": values.mean(), f"{name}_min": values.min(), f"{name}_max": values.max()}
    meter = meter_over(whole)
    assert meter.compute(CPU) == about(expected)
    assert meter.compute(CPU) == {}  # the meter starts again

    logits, labels, mask, ids = whole
    names = meter_over((logits, labels, torch.zeros_like(mask), ids)).compute(CPU)
    assert "cuda_nll" not in names and "other_nll" in names  # there is no mean over zero tokens


def test_micro_batches_and_ranks_do_not_change_the_averages():
    whole = make_batch((4, 60, 8, 23), seed=2)
    whole[1][1, 20:] = -100  # rows differ much in length
    empty = make_batch((1, 60, 8, 23), seed=3)
    empty[1][:] = -100
    expected = meter_over(whole).compute(CPU)
    apart = meter_over(*([tensor[row : row + 1] for tensor in whole] for row in range(4)), empty)
    assert apart.compute(CPU) == about(expected)

    sent = []
    for rows in (slice(0, 1), slice(1, 4)):
        meter_over([tensor[rows] for tensor in whole]).compute(CPU, lambda values: sent.append(values) or values)
    gathered = iter([torch.cat(sent[::2]), torch.cat(sent[1::2])])  # of both ranks: the sums, then the maxima
    assert ObjectiveMeter().compute(CPU, lambda _: next(gathered)) == about(expected)
